"""Numbers as text: means, intervals and gains, the same in every table and sentence."""

import math

from numerate.probe.statistics import Summary
from numerate.report.tables.comparisons import Gain

MISSING = "–"


def format_mean(summary: Summary, *, digits: int = 4, signed: bool = False) -> str:
    """Return a mean as text, with a sign if it is a difference.

    >>> format_mean(Summary(-0.01, 0.1, 3)), format_mean(Summary(0.5, 0.1, 3), signed=True)
    ('−0.0100', '+0.5000')
    """
    return f"{summary.mean:{'+' if signed else ''}.{digits}f}".replace("-", "−")


def format_interval(summary: Summary, *, digits: int = 4) -> str:
    """Return the interval behind a mean; nothing if there is none.

    >>> format_interval(Summary(0.95, 0.02, 3), digits=2)
    ' ± 0.02'
    >>> format_interval(Summary(0.01, math.log(2), 3, geometric=True))
    ' (0.0050 to 0.0200)'
    """
    if math.isnan(summary.half):
        return ""
    if summary.geometric:
        return f" ({summary.low:.{digits}f} to {summary.high:.{digits}f})"
    return f" ± {summary.half:.{digits}f}"


def format_summary(summary: Summary, *, digits: int = 4, signed: bool = False) -> str:
    """Return a mean with its interval as one text, which is not broken at the sign.

    >>> format_summary(Summary(0.01, math.log(2), 3, geometric=True))
    '0.0100 (0.0050 to 0.0200)'
    """
    text = format_mean(summary, digits=digits, signed=signed) + format_interval(
        summary, digits=digits
    )
    return text.replace(" ± ", "\u00a0±\u00a0")


def format_gain(gain: Gain | None, *, digits: int = 4) -> str:
    """Return what training adds, and whether that is better or worse if it can be told.

    >>> format_gain(Gain(Summary(-0.012, 0.01, 3), low_is_good=True))
    '−0.0120 ± 0.0100 better'
    """
    if gain is None:
        return MISSING
    mean = format_mean(gain.difference, digits=digits, signed=True)
    interval = format_interval(gain.difference, digits=digits)
    return f"{mean}{interval} {gain.effect}".rstrip()
