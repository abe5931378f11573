"""Variants by name: a scale and a marker, with settings of their own where they need them.

The paper's four, `exp` of its scripts, and ours, `ln-digits` and the better `ln-spread`.
"""

from typing import Any

PAPER_VARIANTS: dict[str, dict[str, str]] = {
    "anchors": {"scale": "linear", "marker": "anc"},
    "anchors-lr": {"scale": "linear", "marker": "lr"},
    "ln-anchors": {"scale": "ln", "marker": "anc"},
    "ln-anchors-lr": {"scale": "ln", "marker": "lr"},
}
_DIGITS: dict[str, Any] = {
    "scale": "ln",
    "marker": "anc",
    "pretrain": {"pieces": "digits", "rehearse": 0.5},
}
VARIANTS: dict[str, dict[str, Any]] = {
    **PAPER_VARIANTS,
    "exp": {"scale": "log10", "marker": "exp"},
    "ln-digits": _DIGITS,
    "ln-spread": {**_DIGITS, "fit": {"start": "spread", "width": 3}, "read": "anchor"},
}


def name_twin(name: str) -> str:
    """Return what the untrained twin of a trained system is called.

    >>> name_twin("ln-spread (masked)")
    'untrained ln-spread (masked)'
    """
    return f"untrained {name}"
