"""A tokenizer that begins a number with its anchor: a token for its first three digits and length.

`12,345` becomes `<123·10^2> <45>`: up to three more digits are a second token, and others are
dropped, so that a number has at most two tokens, however large it is. A scale word counts: `1.23
million` and `1,230 thousand` begin with `<123·10^4>`, as `1,230,000` does. So does a bound: the
anchor of `more than 50` is that of a number that is likely meant, e times as large. Names such as
`B12` or `IL-6` stay as they were, and so do numbers that are no amounts, such as years.

The vectors of these tokens start in order: those of near magnitudes are similar, those of far ones
are not. All of it stands in the saved tokenizer and the model's embeddings, so that nothing of
numerate is needed to use them.
"""

import itertools
import json
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import torch

from numerate.errors import InputError
from numerate.models.bounds import BOUND, BOUNDS
from numerate.models.digit_tokenizer import COMMA, rebuild_tokenizer, replace_step
from numerate.models.no_amounts import NO_AMOUNTS

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

_COUNTS = {n: chr(0xE103 + n) for n in range(-2, 14)}
"""A character that no text has for each number of digits before the point.

0.05 has -1, as many as there are zeros behind the point; the last one is for more, too.
"""
_DIGITS = {digit: chr(0xE120 + int(digit)) for digit in "0123456789"}
"""A character for each digit of the second token, so that those of names are not meant."""
_PREFIX = "##"  # of pieces that go on with a word
_BOUND_MARKS = {BOUND: "\ue130", -BOUND: "\ue131"}
_OTHER_MARK, _NUMBER_MARK = "\ue132", "\ue133"  # before numbers, while amounts are looked for
_SCALES = {12: "trillion|tn", 9: "billion|bn", 6: "million|mn", 3: "thousand|k"}
_MONEY_SCALES = {9: "b", 6: "m"}  # of amounts with a sign: $55B, but 55 m is a length
_MOST_DIGITS, _MOST_OF_BOUNDS = 3, 2  # of an anchor
_MOST_BEHIND = 3  # digits of the second token
_MOST_BEFORE_POINT = 6  # digits of a number with decimals
_SHORTEST, _LONGEST = 0.3, 80.0  # wavelengths of the vectors' waves, in ln
_TILT = 0.25  # long waves are stronger: their amplitude is the wavelength to this power
_STRENGTH = 2.0  # how far anchors differ from each other, beside how far digits do
_STRENGTH_BEHIND = 0.2  # the same for second tokens


def list_anchors() -> dict[str, float]:
    """Return the magnitude of each token that begins a number.

    A token without digits begins what starts with a zero, such as 007. Of a number with more
    digits than its token has, the magnitude is in the middle of those that begin like it.

    >>> anchors = list_anchors()
    >>> [anchors[_COUNTS[n] + digits] for n, digits in ((0, "5"), (1, "7"), (2, "52"), (5, "123"))]
    [0.5, 7.0, 52.0, 12350.0]
    """
    anchors = _list_anchors("", _MOST_DIGITS)
    for shift, mark in _BOUND_MARKS.items():
        bounds = _list_anchors(mark, _MOST_OF_BOUNDS)
        anchors |= {token: value * math.exp(shift) for token, value in bounds.items()}
    return anchors


def _list_anchors(before: str, most_digits: int) -> dict[str, float]:
    anchors = {f"{before}{_COUNTS[1]}0": 0.0005}
    for count, mark in _COUNTS.items():
        anchors[before + mark] = 10 ** (count - 0.5)
        for n_digits in range(1, most_digits + 1):
            middle = 0.5 if n_digits == most_digits and count > most_digits else 0.0
            anchors |= {
                f"{before}{mark}{n}": (n + middle) * 10.0 ** (count - n_digits)
                for n in range(10 ** (n_digits - 1), 10**n_digits)
            }
    return anchors


def add_anchors(tokenizer: "PreTrainedTokenizerBase", name: str) -> "PreTrainedTokenizerBase":
    """Return a tokenizer that begins each number with its anchor.

    Commas are dropped, digits before the point are counted, and the point is dropped. The anchors
    and the second tokens are new entries of the vocabulary, for which a model needs rows.
    Messages name the model.
    """
    document = json.loads(tokenizer.backend_tokenizer.to_str())
    model = document["model"]
    if model.get("type") != "WordPiece" or model["continuing_subword_prefix"] != _PREFIX:
        raise InputError(
            f"{name}: pieces must be digits or words, since its tokenizer is not a WordPiece one"
        )
    vocabulary = model["vocab"]
    if _COUNTS[1] in vocabulary:
        return tokenizer
    first = 1 + max(tokenizer.get_vocab().values())
    new = [*list_rests(), *list_anchors()]
    vocabulary |= {token: first + place for place, token in enumerate(new)}
    own = document["normalizer"]
    document["normalizer"] = {"type": "Sequence", "normalizers": [own] if own else []}
    document["normalizer"]["normalizers"] += [replace_step(*step) for step in _list_replacements()]
    return rebuild_tokenizer(tokenizer, document)


def list_rests() -> dict[str, float]:
    """Return the fraction that each second token stands for: its digits behind a point."""
    rests = {}
    for n_digits in range(1, _MOST_BEHIND + 1):
        for digits in itertools.product(_DIGITS, repeat=n_digits):
            token = _PREFIX + "".join(_DIGITS[digit] for digit in digits)
            rests[token] = int("".join(digits)) / 10**n_digits
    return rests


def _list_replacements() -> Iterator[tuple[str, str]]:
    """Yield patterns of the text and what to write there."""
    longest = max(_COUNTS)
    marks = f"{_COUNTS[min(_COUNTS)]}-{_COUNTS[longest]}"
    for pattern in NO_AMOUNTS:
        yield pattern, _OTHER_MARK
    yield COMMA, ""
    # What begins with one character is found at once, or found missing.
    yield rf"(?<![\w.,{_OTHER_MARK}])(?<!\p{{L}}-)(?=[0-9])", f" {_NUMBER_MARK}"
    scales = [("(?<=[$€£] .)", *scale) for scale in _MONEY_SCALES.items()]
    scales += [("", *scale) for scale in _SCALES.items()]
    for before, exponent, words in [*scales, ("", 0, "")]:
        after = rf"[ \u00a0-]?(?i:{words})(?!\w)" if words else r"(?!\w)"
        for n_zeros in range(1 - min(_COUNTS)):
            fraction = rf"0\.0{{{n_zeros}}}[1-9][0-9]*{after}"
            yield rf"{_NUMBER_MARK}{before}(?={fraction})", _COUNTS[exponent - n_zeros]
        for n_digits in range(1, longest - exponent + 1):
            more = "," if n_digits + exponent == longest else ""
            number = rf"[0-9]{{{n_digits}{more}}}(?:\.[0-9]+)?"
            yield rf"{_NUMBER_MARK}{before}(?={number}{after})", _COUNTS[n_digits + exponent]
    yield rf"(?<=[{marks}])0\.0{{0,{-min(_COUNTS)}}}(?=[1-9])", ""
    before = "|".join(f"[{marks}][0-9]{{{n}}}" for n in range(1, _MOST_BEFORE_POINT + 1))
    yield rf"(?<={before})\.(?=[0-9])", ""
    first, either = f"[{marks}][0-9]{{{_MOST_DIGITS}}}", f"[0-9{_DIGITS['0']}-{_DIGITS['9']}]"
    yield rf"(?<={first}[0-9]{{{_MOST_BEHIND}}})[0-9]+", ""
    before = "|".join(f"{first}{either}{{{n}}}" for n in range(_MOST_BEHIND))
    for digit, character in _DIGITS.items():
        yield rf"(?<={before}){digit}", character
    for shift, mark in _BOUND_MARKS.items():
        words = "|".join(
            rf"\b{word} [ $€£]{space}"
            for word, bound in BOUNDS.items()
            if bound == shift
            for space in ("", " ")
        )
        yield rf"(?=[{marks}])(?<={words})", mark
    bounds = "".join(_BOUND_MARKS.values())
    yield rf"(?<=[{bounds}][{marks}][0-9]{{{_MOST_OF_BOUNDS}}}){either}+", ""
    yield rf"{_OTHER_MARK}| {_NUMBER_MARK}", ""


def start_anchors(embeddings: torch.Tensor, tokenizer: "PreTrainedTokenizerBase") -> None:
    """Set the rows of the anchors, and of the second tokens, in an embedding matrix.

    The row of an anchor is the mean of the digits plus waves of the logarithm, from short to long
    ones, in random directions that are the same for every training. That of a second token is the
    same mean plus half a wave, much weaker.
    """
    digits = embeddings[tokenizer.convert_tokens_to_ids([*"0123456789"])].detach()
    spread = (digits - digits.mean(dim=0)).norm(dim=1).mean()
    width = embeddings.shape[1]
    n_waves = width // 8
    random = torch.Generator().manual_seed(0)
    directions = torch.linalg.qr(torch.randn(width, 2 * n_waves, generator=random))[0]
    ends = math.log(_SHORTEST), math.log(_LONGEST)
    lengths = torch.linspace(*ends, n_waves, dtype=torch.float64).exp()
    amplitudes = lengths**_TILT
    anchors, rests = list_anchors(), list_rests()
    logs = torch.tensor([*anchors.values()], dtype=torch.float64).log()
    turns = 2 * math.pi * logs.unsqueeze(1) / lengths
    waves = torch.cat([turns.cos() * amplitudes, turns.sin() * amplitudes], dim=1)
    waves *= _STRENGTH * spread / amplitudes.norm()
    half_turns = math.pi * torch.tensor([*rests.values()], dtype=torch.float64).unsqueeze(1)
    half_waves = _STRENGTH_BEHIND * spread * torch.cat([half_turns.cos(), half_turns.sin()], dim=1)
    with torch.no_grad():
        for tokens, moved in ((anchors, waves), (rests, half_waves)):
            rows = tokenizer.convert_tokens_to_ids([*tokens])
            around = moved.to(directions) @ directions[:, : moved.shape[1]].T
            embeddings[rows] = digits.mean(dim=0) + around.to(embeddings)
