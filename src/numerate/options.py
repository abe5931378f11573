"""The options that a user chooses from, as `Literal` types; light, for the command line."""

from typing import Any, Literal, get_args

from numerate.errors import InputError

Domain = Literal["integers", "reals", "quantities"]
"""Which numerals are counted: integers from 1 to 10^10 (the paper); decimals and signs too; or also
what people write for large numbers, such as `1.82 billion`, `3.5k` and `two million`."""

QuantityForm = Literal["digits", "commas", "word", "smaller-word", "suffix"]
"""How a value is written: 1820000, 1,820,000, 1.82 million, 1,820 thousand, or 1.82mn."""

EngineName = Literal["local", "ray"]
"""Where work on a corpus runs: in processes of this machine, or in tasks of Ray."""

Scale = Literal["linear", "ln", "log10"]
"""The scale of the anchors: the values, their logarithms, or their decimal exponents."""

Start = Literal["drawn", "spread"]
"""Where a mixture's components start: at randomly drawn numerals, or evenly over the scale."""

Marker = Literal["anc", "lr", "exp"]
"""The token before an anchor: `<ANC>`; `<LA>` or `<RA>` by its direction; `<EXP>`."""

Kind = Literal["genbert", "mwp-bert", "vectors", "digits", "sentence"]
"""The prefix of a system that needs its own loader: `genbert:FOLDER`, `vectors:FILE`, ..."""

Pieces = Literal["words", "digits"]
"""How a tokenizer splits numbers: into its own word pieces, or into digits."""

NumberPieces = Literal["words", "digits", "counted-digits"]
"""The same for sentence encoders; `counted-digits` has a token before them: how many there are."""

Objective = Literal["tokens", "smooth", "value", "geometry"]
"""What pre-training asks for at an anchor: its tokens (the paper), or see `objectives`."""

NumeralForm = Literal["as-is", "digits"]
"""How priming writes a numeral: unchanged, or without thousands separators."""

Errors = Literal["strict", "replace"]
"""How to treat bytes that are not UTF-8: refuse them, or replace them by U+FFFD."""

Precision = Literal["auto", "fp32", "bf16"]
"""The number format of training; auto is bf16 where the hardware is fast at it, else fp32."""

LmKind = Literal["masked", "causal"]
"""The kind of a language model: it fills in masks, or it says the next token."""

Anchor = Literal["visible", "masked", "unsaid", "absent"]
"""What a model is given of an anchor: `1999 <ANC> 86`, `1999 <ANC> [MASK]` for a masked model,
`1999 <ANC>` and nothing behind it for a causal one, or `1999`."""

SHOWN: dict[LmKind, tuple[Anchor, ...]] = {
    "masked": ("visible", "masked", "absent"),
    "causal": ("visible", "unsaid", "absent"),
}
"""The ways in which each kind of model can be shown its anchors; the second hides them."""

Readout = Literal["all", "numeral", "marker", "anchor", "last"]
"""Which tokens are averaged into a vector: all, those of numeral, marker or anchor, or the last."""


def default_readout(shown: Anchor | None) -> Readout:
    """Return the tokens to read by default: where a text ends, an unsaid anchor is said next."""
    return "last" if shown == "unsaid" else "all"


def check_shown(name: str, shown: Anchor, kind: LmKind) -> None:
    """Refuse a way to show anchors that the kind of a model does not have; name the others."""
    if shown not in SHOWN[kind]:
        *most, last = SHOWN[kind]
        known = f"{', '.join(most)} or {last}"
        raise InputError(f"{name}: anchors of a {kind} model must be {known}, got {shown!r}")


def check_option(name: str, value: object, options: Any) -> None:  # noqa: ANN401
    """Refuse a value that is not one of the strings of a `Literal` type.

    >>> check_option("domain", "naturals", Domain)
    Traceback (most recent call last):
    numerate.errors.InputError: domain must be one of integers, reals, quantities, got 'naturals'
    """
    known = get_args(options)
    if value not in known:
        raise InputError(f"{name} must be one of {', '.join(known)}, got {value!r}")
