"""A tokenizer that begins a number with its anchor: one token for its first two digits and length.

`12,345` becomes `<12·10^3> ##3 ##4 ##5`. A scale word counts: `1.23 million` and `1,230 thousand`
begin with `<12·10^5>`, as `1,230,000` does. The vectors of these tokens start in order: those of
near magnitudes are similar, those of far ones are not. All of it stands in the saved tokenizer and
the model's embeddings, so that nothing of numerate is needed to use them.
"""

import json
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import torch

from numerate.errors import InputError
from numerate.models.digit_tokenizer import rebuild_tokenizer, replace_step

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

_COUNTS = {n: chr(0xE001 + n) for n in range(14)}
"""A character that no text has for each number of digits; the last one is for more, too."""
_SCALES = {12: "trillion|tn", 9: "billion|bn", 6: "million|mn", 3: "thousand|k"}
_MOST_BEFORE_POINT = 6  # digits of a number with decimals
_SHORTEST, _LONGEST = 0.3, 80.0  # wavelengths of the vectors' waves, in ln
_TILT = 0.25  # long waves are stronger: their amplitude is the wavelength to this power
_STRENGTH = 2.0  # how far anchors differ from each other, beside how far digits do


def list_anchors() -> dict[str, float]:
    """Return the magnitude of each token.

    A token without digits begins what starts with a zero, such as 007. Of a number with more than
    two digits, the magnitude is in the middle of those that begin like it.

    >>> anchors = list_anchors()
    >>> [anchors[_COUNTS[n] + digits] for n, digits in ((0, "5"), (1, "7"), (2, "52"), (5, "12"))]
    [0.5, 7.0, 52.0, 12500.0]
    """
    anchors = {_COUNTS[1] + "0": 0.05}
    for n_digits, token in _COUNTS.items():
        anchors[token] = 10 ** (n_digits - 0.5)
        anchors |= {token + str(n): n * 10.0 ** (n_digits - 1) for n in range(1, 10)}
        middle = 0.5 if n_digits > 2 else 0.0
        anchors |= {token + str(n): (n + middle) * 10.0 ** (n_digits - 2) for n in range(10, 100)}
    return anchors


def add_anchors(tokenizer: "PreTrainedTokenizerBase", name: str) -> "PreTrainedTokenizerBase":
    """Return a tokenizer of `split_digits` that begins each number with its anchor.

    Digits before the point are counted, and the point is dropped. The anchors are new entries of
    the vocabulary, for which a model needs rows. Messages name the model.
    """
    document = json.loads(tokenizer.backend_tokenizer.to_str())
    if document["model"].get("type") != "WordPiece":
        raise InputError(
            f"{name}: pieces must be digits or words, since its tokenizer is not a WordPiece one"
        )
    vocabulary, steps = document["model"]["vocab"], document["normalizer"]["normalizers"]
    if _COUNTS[1] in vocabulary:
        return tokenizer
    first = 1 + max(tokenizer.get_vocab().values())
    vocabulary |= {token: first + place for place, token in enumerate(list_anchors())}
    steps += [replace_step(pattern, content) for pattern, content in _list_replacements()]
    return rebuild_tokenizer(tokenizer, document)


def _list_replacements() -> Iterator[tuple[str, str]]:
    """Yield patterns of the text and what to write there: counts before numbers, no points."""
    longest = max(_COUNTS)
    marks = f"{_COUNTS[0]}-{_COUNTS[longest]}"
    start = rf"(?<![\w.,{marks}])"
    for exponent, words in {**_SCALES, 0: ""}.items():
        after = rf"[ \u00a0-]?(?i:{words})(?!\w)" if words else r"(?!\w)"
        yield rf"{start}(?=0\.[1-9][0-9]*{after})", f" {_COUNTS[exponent]}"
        for n_digits in range(1, longest - exponent + 1):
            more = "," if n_digits + exponent == longest else ""
            number = rf"[0-9]{{{n_digits}{more}}}(?:\.[0-9]+)?"
            yield rf"{start}(?={number}{after})", f" {_COUNTS[n_digits + exponent]}"
    yield rf"(?<=[{marks}])0\.(?=[1-9])", ""
    before = "|".join(f"[{marks}][0-9]{{{n}}}" for n in range(1, _MOST_BEFORE_POINT + 1))
    yield rf"(?<={before})\.(?=[0-9])", ""


def start_anchors(embeddings: torch.Tensor, tokenizer: "PreTrainedTokenizerBase") -> None:
    """Set the rows of the anchors in an embedding matrix.

    A row is the mean of the digits plus waves of the logarithm, from short to long ones, in random
    directions that are the same for every training.
    """
    anchors = list_anchors()
    digits = embeddings[tokenizer.convert_tokens_to_ids([*"0123456789"])].detach()
    centre = digits.mean(dim=0)
    width = embeddings.shape[1]
    n_waves = width // 8
    random = torch.Generator().manual_seed(0)
    directions = torch.linalg.qr(torch.randn(width, 2 * n_waves, generator=random))[0]
    ends = math.log(_SHORTEST), math.log(_LONGEST)
    lengths = torch.linspace(*ends, n_waves, dtype=torch.float64).exp()
    amplitudes = lengths**_TILT
    logs = torch.tensor([*anchors.values()], dtype=torch.float64).log()
    turns = 2 * math.pi * logs.unsqueeze(1) / lengths
    waves = torch.cat([turns.cos() * amplitudes, turns.sin() * amplitudes], dim=1)
    waves *= _STRENGTH * (digits - centre).norm(dim=1).mean() / amplitudes.norm()
    rows = tokenizer.convert_tokens_to_ids([*anchors])
    with torch.no_grad():
        embeddings[rows] = centre + (waves.to(directions) @ directions.T).to(embeddings)
