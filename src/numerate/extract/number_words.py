"""Numbers in English words: `twenty-five`, `two million`, `half a billion`.

Only the domain `quantities` reads them. All number words in a row are a numeral if together they
are one number. `nineteen ninety` is none, and so no part of it is a numeral either. The rules are
in `docs/stages.md`.
"""

import math
import re
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from numerate.extract.characters import touches_after, touches_before
from numerate.extract.factors import MONEY, SPACE, WORDS

_ONES = "one two three four five six seven eight nine"
_TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_SMALL = {word: n for n, word in enumerate(f"{_ONES} {_TEENS}".split(), 1)}
_SMALL |= {word: 10 * n for n, word in enumerate(_TENS.split(), 2)}
_SPELLED: dict[float, str] = {n: word for word, n in _SMALL.items() if n > 1}
_ARTICLES = {"a": 1.0, "halfa": 0.5}  # `a` and `half a` before a factor
_FACTORS = WORDS | {f"{word}s": exponent for word, exponent in WORDS.items()}
_EXPONENTS = {"hundred": 2, **_FACTORS}
# All words and suffixes that a quantity may end in
LAST_WORDS = frozenset({*_SMALL, *_EXPONENTS, "half", *MONEY})

_ANY = "|".join(sorted({"zero", *_SMALL, *_EXPONENTS}, key=len, reverse=True))
_HYPHEN = rf"(?:{SPACE}|-| @-@ )"
_RUN = re.compile(
    rf"(?i:(?:{_ANY})\b(?:(?:{_HYPHEN}| and | point )(?:{_ANY})\b| and a half\b)*)".encode()
)
_AND = re.compile(rb"(?i: and (?!a half))")
_BELOW_100 = rf"(?:(?:{_TENS.replace(' ', '|')}) (?:{_ONES.replace(' ', '|')})|{'|'.join(_SMALL)})"
_LED = rf"{_BELOW_100}|{'|'.join(_ARTICLES)}"
_GROUP = re.compile(rf"(?:and )?(?:({_LED}) hundred(?: (?:and )?({_BELOW_100}))?|({_LED})( half)?)")
_LEADS = tuple(word.encode() for word in _EXPONENTS)
# What makes an ordinal or a fraction of the words before it: `twenty-first`, `two thirds`.
_PART_AFTER = re.compile(
    (
        rf"(?i:{_HYPHEN}(?:thirds?|quarters?|halves|(?:four|fif|six|seven|eigh|nin|ten|eleven|twelf"
        r"|[a-z]{3,5}teen|[a-z]{3,5}tie|hundred|thousand|million|billion|trillion)ths?)\b"
        r"|(?:-| @-@ )(?:first|second|half)\b)"
    ).encode()
)
_PART_BEFORE = re.compile(rb"(?:quarters?|thirds?|ths?) of \Z")
_PERCENT = re.compile(rf"(?i:{SPACE}?(?:%|per ?cent\b))".encode())
_LONGEST = 250  # more bytes than the words of any number below 10^15

# The first three letters of the number words, in groups of words that resemble each other.
_STARTS = (
    "two twe ten,thr thi tho tri,fou for fiv fif,six sev,eig ele,nin mil bil,one hun,lak cro zer"
)


def spell_number(value: float) -> str | None:
    """Return a number that is one word, or None; `one` alone is none.

    >>> spell_number(12), spell_number(90), spell_number(21), spell_number(1.5)
    ('twelve', 'ninety', None, None)
    """
    return _SPELLED.get(value)


def _group_table(place: int) -> bytes:
    """Return a bit for each group whose words have a letter at a place, for all 256 bytes."""
    table = bytearray(256)
    for bit, group in enumerate(_STARTS.split(",")):
        for letter in {word[place] for word in group.split()}:
            table[ord(letter)] |= 1 << bit
            table[ord(letter.upper())] |= 1 << bit
    return bytes(table)


_GROUPS = tuple(map(_group_table, range(3)))
_LETTER = np.zeros(256, np.int64)  # 1 for a and A, 26 for z and Z, 0 for what is no letter
_LETTER[[*range(65, 91), *range(97, 123)]] = [*range(1, 27)] * 2


def _hash(codes: npt.NDArray[np.uint8], starts: npt.NDArray[np.intp]) -> npt.NDArray[np.int64]:
    """Return the first four letters of words as one number each."""
    first, second, third, fourth = (_LETTER[codes[starts + place]] for place in range(4))
    return first << 15 | second << 10 | third << 5 | fourth


_MAY_BE_NUMBER = np.zeros(1 << 20, bool)
for _word in {"zero", *_SMALL, *_EXPONENTS}:
    _MAY_BE_NUMBER[_hash(np.frombuffer(f"{_word} ".encode(), np.uint8), np.array([0]))] = True


def read_number_words(data: bytes) -> Iterator[tuple[float, int, int, int]]:
    """Yield value, start and end of each numeral in words, and the exponent that a range shares."""
    done = 0
    for start in _find_candidates(data):
        run = _RUN.match(data, start) if start >= done else None
        if run:
            done = run.end()
            if not (touches_before(data, start) or touches_after(data, done)):
                yield from _read_run(data, start, done)


def _find_candidates(data: bytes) -> list[int]:
    """Return where words start with the first four letters of a number word; few others do."""
    # Translating bytes is the fastest way of looking up each of them.
    first, second, third = (np.frombuffer(data.translate(table), np.uint8) for table in _GROUPS)
    starts = np.flatnonzero((first[:-2] & second[1:-1] & third[2:]) != 0)
    codes = np.frombuffer(b" %b " % data, np.uint8)  # one character more at both ends
    starts = starts[_LETTER[codes[starts]] == 0]
    found: list[int] = starts[_MAY_BE_NUMBER[_hash(codes, starts + 1)]].tolist()
    return found


def _read_run(data: bytes, start: int, end: int) -> list[tuple[float, int, int, int]]:
    """Return the numeral of a run of number words; if it is no number, those of its parts at `and`.

    So `one hundred and two` is one numeral, and `one million and two million` are two.
    """
    whole = _read_number(data, start, end)
    if whole:
        rows = [whole]
    else:
        joints = [place for found in _AND.finditer(data, start, end) for place in found.span()]
        bounds = [start, *joints, end] if joints else []
        parts = zip(bounds[::2], bounds[1::2], strict=True)
        rows = [row for part in parts if (row := _read_number(data, *part))]
    return [] if rows and _PART_AFTER.match(data, end) else rows


def _read_number(data: bytes, start: int, end: int) -> tuple[float, int, int, int] | None:
    """Return value, start, end and shared exponent of number words, or None if they are none."""
    run = data[start:end].lower()
    if len(run) > _LONGEST or (run == b"one" and not _PERCENT.match(data, end)):
        return None
    found = _evaluate(run)
    if not found and run.startswith(_LEADS):
        start, article = _read_article(data, start)
        found = _evaluate(article + run) if article else None
    return (found[0], start, end, found[1]) if found else None


def _read_article(data: bytes, start: int) -> tuple[int, bytes]:
    """Return where `a` or `half a` before a factor starts, and that article; none in a fraction."""
    before = data[max(0, start - 20) : start].lower()
    for text, article in ((b"half a ", b"halfa "), (b"a ", b"a ")):
        place = start - len(text)
        if before.endswith(text) and not touches_before(data, place):
            is_part = _PART_BEFORE.search(before[: len(before) - len(text)])
            return place, b"" if is_part else article
    return start, b""


@lru_cache(maxsize=4096)
def _evaluate(run: bytes) -> tuple[float, int] | None:
    """Return the value of number words in lower case, and the exponent that a range shares."""
    words = _cut_words(run)
    total, least, group = 0.0, math.inf, list[str]()
    while words:
        while words and words[0] not in _FACTORS:
            group.append(words.pop(0))
        exponent = 0
        while words and words[0] in _FACTORS:  # `two lakh crore` has two
            exponent += _FACTORS[words.pop(0)]
        number = _read_group(" ".join(group))
        if not number or number * 10.0**exponent >= least:
            return None
        total, least, group = total + number * 10.0**exponent, 10.0**exponent, []
    return total, _trailing_exponent(_cut_words(run))


def _cut_words(run: bytes) -> list[str]:
    text = run.decode().replace("-", " ").replace("@", " ")
    return text.replace(" and a half", " half").split()


def _read_group(words: str) -> float:
    """Return the number below a factor, such as `two hundred and five`; 0 if it is none."""
    found = _GROUP.fullmatch(words)
    if not found:
        return 0
    hundreds, rest, alone = (
        sum(_ARTICLES.get(word) or _SMALL[word] for word in (part or "").split())
        for part in found.groups()[:3]
    )
    return 100 * hundreds + rest + alone + (0.5 if found[4] else 0)


def _trailing_exponent(words: list[str]) -> int:
    """Return the exponent of the factors that end a number, which the number before it may share.

    It is 5 for `three hundred thousand`, and 0 for `two million three hundred`.
    """
    exponent = 0
    while words and words[-1] in _EXPONENTS:
        exponent += _EXPONENTS[words.pop()]
    return 0 if any(word in _FACTORS for word in words) else exponent
