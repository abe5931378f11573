"""Primes text: `1999` becomes `1999 <ANC> 2000`, with its nearest anchor (the paper's section 2).

Text and anchors go in; primed text, and the positions of numerals, markers and anchors in it, come
out. Priming inserts ` <ANC> 2000` after a numeral and changes nothing else, so that unpriming
returns the text byte for byte. A text that contains a marker already is refused. The paper's four
variants differ in the scale of the anchors and in the marker: `anc`, or `lr` with the anchor's
direction. Its scripts have a fifth, scientific notation: `1999 <EXP> 3`, the marker `exp`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from numerate.errors import InputError, check_strings
from numerate.extract.number_words import LAST_WORDS
from numerate.extract.numerals import plain_number, scan_numerals, to_characters
from numerate.extract.sources import Block
from numerate.fit.anchors import AnchorSet
from numerate.options import Domain, Marker, NumeralForm, Scale, check_option

MARKERS: dict[Marker, tuple[str, ...]] = {
    "anc": ("<ANC>",),
    "lr": ("<LA>", "<RA>"),
    "exp": ("<EXP>",),
}
MARKERS_OF: dict[Scale, tuple[Marker, ...]] = {
    "linear": ("anc", "lr"),
    "ln": ("anc", "lr"),
    "log10": ("exp",),
}

_MARKER = re.compile(rb"<(?:ANC|LA|RA|EXP)>")
# What priming inserts after a numeral. The pattern starts with ` <`, which the regular expression
# engine searches fast; what numerals may end in (a digit, raised or not, a brace, a word) follows.
_ENDS = "|".join(
    [r"(?<=[\d}\xb0\xb2-\xb9] <)", *(rf"(?<=(?i:{word}) <)" for word in sorted(LAST_WORDS))]
)
_INSERTED = re.compile(rf" (<(?:{_ENDS})(?:ANC|LA|RA|EXP)>) (-?\d+)".encode())

Span = tuple[int, int]


class PrimedNumeral(NamedTuple):
    """The positions of a numeral, its marker and its anchor in primed text, as (start, end)."""

    numeral: Span
    marker: Span
    anchor: Span


class PrimedText(NamedTuple):
    """A primed text and its numerals from left to right."""

    text: str
    spans: tuple[PrimedNumeral, ...]


@dataclass(frozen=True)
class PrimedBytes:
    """Primed UTF-8 and the byte offsets of its numerals.

    `spans` has one row per numeral: start and end of the numeral, of the marker and of the anchor
    in the primed data. `ends` has the ends of the numerals in the original data.
    """

    data: bytes
    spans: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]

    def move(self, offsets: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Convert offsets into the original data, not inside numerals, to the primed data."""
        # An offset moves by as much as all text up to the last numeral before it has grown: the
        # end of that numeral's anchor in the primed data, less its own end in the original.
        before = np.searchsorted(self.ends, offsets, side="right")
        grown = np.concatenate((np.zeros(1, np.int64), self.spans[:, 5] - self.ends))
        return np.asarray(offsets, np.int64) + grown[before]


def prime_text(
    text: str, anchors: AnchorSet, *, marker: Marker = "anc", numeral_form: NumeralForm = "as-is"
) -> PrimedText:
    """Return the text with an anchor after each numeral, and the positions of all three parts.

    >>> primed = prime_text("about 1,990 people", AnchorSet("linear", (10, 2000)))
    >>> primed.text
    'about 1,990 <ANC> 2000 people'
    >>> primed.spans
    (PrimedNumeral(numeral=(6, 11), marker=(12, 17), anchor=(18, 22)),)

    The marker is `anc`; `lr` for the direction of the anchor; or `exp` for anchors on log10. The
    numeral form `digits` removes thousands separators from numerals.
    """
    return prime_texts([text], anchors, marker=marker, numeral_form=numeral_form)[0]


def prime_texts(
    texts: Sequence[str],
    anchors: AnchorSet,
    *,
    marker: Marker = "anc",
    numeral_form: NumeralForm = "as-is",
) -> list[PrimedText]:
    """Prime many texts at once; the result for each is that of `prime_text`."""
    check_strings("texts", texts)
    if not texts:
        return []
    # All texts are primed as one, joined by newlines, which are in no numeral.
    parts = [text.encode("utf-8", "surrogatepass") for text in texts]
    ends = np.cumsum([len(part) + 1 for part in parts], dtype=np.int64) - 1
    data = b"\n".join(parts)
    _refuse_markers(texts, data, ends)
    primed = _prime_bytes(data, anchors, marker, numeral_form)
    whole = primed.data.decode("utf-8", "surrogatepass")
    # From byte offsets in `data` to character offsets in `whole`.
    ends = to_characters(primed.data, primed.move(ends))
    starts = np.concatenate(([0], ends[:-1] + 1))
    spans = to_characters(primed.data, primed.spans.ravel()).reshape(-1, 6)
    # Text i has the numerals cuts[i] to cuts[i + 1]; their offsets will count from its start.
    cuts = np.searchsorted(spans[:, 0], [*starts.tolist(), len(whole) + 1])
    origins = np.repeat(starts, np.diff(cuts))
    rows = [
        PrimedNumeral((a, b), (c, d), (e, f))
        for a, b, c, d, e, f in (spans - origins[:, None]).tolist()
    ]
    bounds = zip(starts.tolist(), ends.tolist(), cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)
    return [PrimedText(whole[a:b], tuple(rows[c:d])) for a, b, c, d in bounds]


def _refuse_markers(texts: Sequence[str], data: bytes, ends: npt.NDArray[np.int64]) -> None:
    """Raise InputError if one of the texts, which end at `ends` in `data`, contains a marker."""
    found = _MARKER.search(data)
    if found:
        index = int(np.searchsorted(ends, found.start(), side="right"))
        place = texts[index].index(found[0].decode())
        where = f" of texts[{index}]" if len(texts) > 1 else ""
        raise InputError(
            f"text must not hold a marker, got one at character {place}{where}; unprime it"
        )


def unprime_text(text: str) -> str:
    """Return the text that was primed: a primed text without its markers and anchors.

    >>> unprime_text("about 1,990 <ANC> 2000 people")
    'about 1,990 people'
    """
    data = unprime_bytes(text.encode("utf-8", "surrogatepass"))
    if _find_marker(data) is not None:
        raise InputError("text must be primed text, got a marker without numeral or anchor")
    return data.decode("utf-8", "surrogatepass")


def find_primed(text: str, domain: Domain = "integers") -> tuple[list[PrimedNumeral], list[float]]:
    """Return the positions of numerals, markers and anchors in primed text, and the values.

    Text with markers is never primed, so that a marker between a numeral and an anchor is always
    one that priming inserted. `domain` is that of the anchors. The anchors of the log10 scale have
    no sign, nor do their values.

    >>> find_primed("about 1,990 <ANC> 2000 people")
    ([PrimedNumeral(numeral=(6, 11), marker=(12, 17), anchor=(18, 22))], [1990])
    """
    data = text.encode("utf-8", "surrogatepass")
    inserted = list(_INSERTED.finditer(data))
    scan = scan_numerals(unprime_bytes(data), domain)
    rows = dict(
        zip(
            scan.ends.tolist(),
            zip(scan.values.tolist(), scan.starts.tolist(), strict=True),
            strict=True,
        )
    )
    spans, values, removed = [], [], 0
    for found in inserted:
        end = found.start() - removed
        removed += len(found[0])
        if end in rows:
            value, start = rows[end]
            spans += [found.start() - (end - start), found.start(), *found.span(1), *found.span(2)]
            values.append(abs(value) if found[1] == b"<EXP>" else value)
    places = to_characters(data, np.array(spans, np.int64)).reshape(-1, 6).tolist()
    return [PrimedNumeral((a, b), (c, d), (e, f)) for a, b, c, d, e, f in places], values


def _prime_bytes(
    data: bytes, anchors: AnchorSet, marker: Marker, numeral_form: NumeralForm
) -> PrimedBytes:
    """Prime UTF-8 bytes; they must contain no marker, which the caller checks."""
    check_priming(anchors, marker, numeral_form)
    scan = scan_numerals(data, anchors.domain)
    index, is_left = anchors.locate(scan.values)
    tokens = MARKERS[marker]
    kind = np.where(is_left, 0, len(tokens) - 1)  # 0 for <LA>, 1 for <RA>; 0 for a single marker
    # The text to insert, for each marker and each anchor: made once, not for each numeral.
    table = [f" {token} {anchor}".encode() for token in tokens for anchor in anchors.texts]
    inserted = [table[i] for i in (kind * len(anchors.values) + index).tolist()]

    starts, ends = scan.starts.tolist(), scan.ends.tolist()
    gaps = [data[a:b] for a, b in zip([0, *ends], [*starts, len(data)], strict=True)]
    numerals = [data[a:b] for a, b in zip(starts, ends, strict=True)]
    if numeral_form == "digits":
        numerals = [plain_number(numeral) for numeral in numerals]

    # The primed data is gap, numeral, insertion, gap, numeral, insertion, ..., gap: the running sum
    # of the lengths gives where each numeral starts (a gap ends), ends, and where its anchor ends.
    pieces = [piece for row in zip(gaps, numerals, inserted, strict=False) for piece in row]
    lengths = np.fromiter(map(len, pieces), np.int64, len(pieces))
    numeral_start, numeral_end, anchor_end = np.cumsum(lengths).reshape(-1, 3).T
    marker_start = numeral_end + 1
    marker_end = marker_start + np.array([len(token) for token in tokens])[kind]
    columns = [numeral_start, numeral_end, marker_start, marker_end, marker_end + 1, anchor_end]
    return PrimedBytes(b"".join([*pieces, gaps[-1]]), np.stack(columns, axis=1), scan.ends)


def prime_block(
    block: Block, anchors: AnchorSet, *, marker: Marker = "anc", numeral_form: NumeralForm = "as-is"
) -> PrimedBytes:
    """Prime a block of a corpus; if it contains a marker, the error names the line or record."""
    clash = _find_marker(block.data)
    if clash is not None:
        raise InputError(
            f"{block.place(clash)}: holds a marker already; prime text without anchors, or remove "
            "them with 'numerate prime --undo'"
        )
    return _prime_bytes(block.data, anchors, marker, numeral_form)


def check_priming(anchors: AnchorSet, marker: Marker, numeral_form: NumeralForm) -> None:
    """Refuse an unknown numeral form, and a marker that the scale of the anchors does not allow."""
    check_option("numeral_form", numeral_form, NumeralForm)
    known = MARKERS_OF[anchors.scale]
    if marker not in known:
        raise InputError(
            f"marker must be {' or '.join(known)} for anchors on the {anchors.scale} scale, "
            f"got {marker!r}"
        )


def unprime_bytes(data: bytes) -> bytes:
    """Remove markers and anchors from primed UTF-8; markers elsewhere stay."""
    return _INSERTED.sub(b"", data)


def unprime_block(block: Block) -> bytes:
    """Remove markers and anchors from a block; a marker elsewhere is an error."""
    data = unprime_bytes(block.data)
    clash = _find_marker(data)
    if clash is not None:
        place = replace(block, data=data).place(clash)
        raise InputError(f"{place}: a marker without numeral or anchor; is this primed text?")
    return data


def count_markers(data: bytes) -> int:
    """Return the number of markers in a text, which is that of its primed numerals."""
    return len(_MARKER.findall(data))


def _find_marker(data: bytes) -> int | None:
    """Return the offset of the first marker in a text, or None."""
    found = _MARKER.search(data)
    return found.start() if found else None
