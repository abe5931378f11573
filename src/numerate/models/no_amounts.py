"""Numbers that are no amounts: years, days, times, pairs such as 9/11, and names such as type 1.

A sentence encoder that compares amounts leaves them as they were. Each pattern has no width and
matches before such a number; all are patterns of Python as well as of tokenizers.
"""

from numerate.models.bounds import BOUNDS

YEARS = range(1500, 2100)
_NO_YEAR_BEHIND = (*BOUNDS, "nearly", "almost", "up to")
_UNITS = "km|kg|m|cm|mm|g|mg|ml|l|ha|ft|feet|mph|k?w|[mg]w|k?hz|[mg]hz|sq|square|cubic|per ?cent"
_UNITS += "|people|men|women|children|hundred|thousand|million|billion|trillion|mn|bn"
_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_MONTHS += "|jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec"
_LABELS = "type|types|kind|class|category|group|grade|stage|phase|tier|division|series|season"
_LABELS += "|episode|volume|chapter|section|paragraph|clause|article|amendment|rule|part|act"
_LABELS += "|scene|page|pages|verse|figure|table|equation|appendix|footnote|version"
_LABELS += "|model|number|numbers|serial|code|error|port|account|invoice|docket|patent"
_LABELS += "|room|suite|apartment|floor|gate|platform|channel|route|highway|interstate|exit"
_LABELS += "|flight|bus|zone|district|ward|chromosome|protein|formula"
_SHORT_LABELS = "no|nos|nr|vol|ch|sec|art|fig|figs|p|pp|eq|v|apt|rte"
_FREE = r"(?<![\w.,#$€£])(?<![^\W\d_]-)"  # nothing before it that makes it a part of something
_GAP = r"[ \u00a0-]"

YEAR = (
    r"(?i:(?=(?:1[5-9]|20)[0-9]{2}(?!\w|[.,][0-9]| ?%))"
    + _FREE
    + "".join(rf"(?<!\b{words} )" for words in _NO_YEAR_BEHIND)
    + rf"(?:(?<=\bthe )|(?![0-9]{{4}}{_GAP}(?:{_UNITS})\b)"
    + rf"(?!(?:1[5-8][0-9]{{2}}|[0-9]{{2}}[05]0){_GAP}[^\W\d_]{{3,}}(?<![sui])s\b)))"
)
"""Four digits without a comma, in `YEARS`.

No year has a bound or a sign of money before it, or a unit behind it. One before 1900, or a round
one, has no plural behind it either, unless it is *the 2000 elections*.
"""
DAY = (
    rf"(?i:(?=[0-9]{{1,2}}(?!\w|[.,:/][0-9]|{_GAP}?%)){_FREE}(?:"
    + "|".join(rf"(?<=\b{month}{dot} )" for month in _MONTHS.split("|") for dot in ("", r"\."))
    + rf"|(?=[0-9]{{1,2}} (?!may\b)(?:{_MONTHS})\b)))"
)
"""One or two digits with the name of a month before them, or behind them (but for `5 may`)."""
LABELLED = (
    rf"(?i:(?=[0-9]){_FREE}(?:"
    + "|".join(rf"(?<=\b{label}{sign})" for label in _LABELS.split("|") for sign in (" ", " #"))
    + "".join(rf"|(?<=\b{label}\. )" for label in _SHORT_LABELS.split("|"))
    + "))|(?<=#)(?=[0-9])"
)
"""What stands behind a word such as *type*, *page* or *no.*, or a `#`: it says which, not how much.
"""
PAIR = r"(?:(?<![0-9])(?=[0-9]+[:/][0-9])|(?<=[0-9][:/])(?=[0-9]))"
"""Each of two numbers with a colon or a slash between them, such as 12:30 or 9/11."""

NO_AMOUNTS = (PAIR, YEAR, DAY, LABELLED)  # a pair of which one is a year is one, too
