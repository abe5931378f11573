"""The built-in variants by name: a scale and a marker, and settings that differ from the defaults.

They are the paper's four, `exp` of its scripts, and ours: `ln-digits` and `ln-spread` predict
anchors, `ln-near` learns at the place of the masked anchor how near numbers are.
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
_SPREAD: dict[str, Any] = {"fit": {"start": "spread", "width": 3}, "read": "anchor"}
VARIANTS: dict[str, dict[str, Any]] = {
    **PAPER_VARIANTS,
    "exp": {"scale": "log10", "marker": "exp"},
    "ln-digits": _DIGITS,
    "ln-spread": {**_DIGITS, **_SPREAD},
    "ln-near": {
        **_SPREAD,
        "scale": "ln",
        "marker": "anc",
        "pretrain": {
            "pieces": "digits",
            "rehearse": 0.8,
            "objective": ["value", "geometry"],
            "learning_rate": 6e-4,
        },
    },
}
