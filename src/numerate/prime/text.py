"""Prime: beside each numeral its nearest anchor, `1999 <ANC> 2000`, and back (section 2).

Priming inserts ` <ANC> 2000` behind a numeral and touches nothing else, so that taking it out again
gives back the text byte for byte. A text that holds a marker already is refused. The paper's four
variants are the scale of the anchors and the marker: `anc`, or `lr` with the anchor's direction.
Its scripts know a fifth, scientific notation: `1999 <EXP> 3`, the marker `exp` with exponents.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from numerate.errors import InputError
from numerate.extract.numerals import plain_number, scan_numerals, to_characters
from numerate.extract.sources import Block
from numerate.fit.anchors import AnchorSet
from numerate.options import Marker, NumeralForm, Scale

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
# What priming inserts, behind a numeral and so behind a digit; ` <` first, which is found fast.
_INSERTED = re.compile(rb" <(?<=\d <)(?:ANC|LA|RA|EXP)> -?\d+")
_ANCHORED = re.compile(r"(?<=[0-9]) (<(?:ANC|LA|RA|EXP)>) (-?[0-9]+)")
_NUMERAL_BEFORE = re.compile(r"[0-9](?:[0-9.,]| @[.,]@ |[eE][-+−]?(?=[0-9]))*\Z")
_LONGEST = 64  # characters in which to look for the start of a numeral

Span = tuple[int, int]


class PrimedNumeral(NamedTuple):
    """Where a numeral, its marker and its anchor stand in the primed text, each (start, end)."""

    numeral: Span
    marker: Span
    anchor: Span


class PrimedText(NamedTuple):
    """A primed text and its numerals from left to right."""

    text: str
    spans: tuple[PrimedNumeral, ...]


@dataclass(frozen=True)
class PrimedBytes:
    """Primed UTF-8, with one row per numeral: byte offsets where its parts start and end.

    `spans` has the columns numeral start, numeral end, marker start, marker end, anchor start,
    anchor end, in the primed data; `ends` are the numerals' ends in the data as it was.
    """

    data: bytes
    spans: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]

    def move(self, offsets: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return where offsets of the original data, not inside numerals, are now."""
        before = np.searchsorted(self.ends, offsets, side="right")
        grown = np.concatenate((np.zeros(1, np.int64), self.spans[:, 5] - self.ends))
        return np.asarray(offsets, np.int64) + grown[before]


def prime_text(
    text: str,
    anchors: AnchorSet,
    *,
    marker: Marker = "anc",
    numeral_form: NumeralForm = "as-is",
) -> PrimedText:
    """Return the text with an anchor behind each numeral, and where everything is.

    >>> primed = prime_text("about 1,990 people", AnchorSet("linear", (10, 2000)))
    >>> primed.text
    'about 1,990 <ANC> 2000 people'
    >>> primed.spans
    (PrimedNumeral(numeral=(6, 11), marker=(12, 17), anchor=(18, 22)),)

    Args:
        text: Any text that holds no marker.
        anchors: The anchors, which also say on which scale and which numerals.
        marker: `anc`, `lr` for the side on which the anchor lies, or `exp` on the scale log10.
        numeral_form: `as-is`, or `digits` to write the numerals without thousands separators.
    """
    return prime_texts([text], anchors, marker=marker, numeral_form=numeral_form)[0]


def prime_texts(
    texts: Sequence[str],
    anchors: AnchorSet,
    *,
    marker: Marker = "anc",
    numeral_form: NumeralForm = "as-is",
) -> list[PrimedText]:
    """Return what `prime_text` returns for each of many texts, all primed in one pass."""
    if not texts:
        return []
    parts = [text.encode("utf-8", "surrogatepass") for text in texts]
    ends = np.cumsum([len(part) + 1 for part in parts], dtype=np.int64) - 1
    data = b"\n".join(parts)
    clash = find_marker(data)
    if clash is not None:
        index = int(np.searchsorted(ends, clash, side="right"))
        place = texts[index].index(_MARKER.search(data)[0].decode())  # type: ignore[index]
        where = f" of texts[{index}]" if len(texts) > 1 else ""
        raise InputError(
            f"text must not hold a marker, got one at character {place}{where}; unprime it"
        )
    primed = prime_bytes(data, anchors, marker=marker, numeral_form=numeral_form)
    ends = to_characters(primed.data, primed.move(ends))
    spans = to_characters(primed.data, primed.spans.ravel()).reshape(-1, 6)
    whole = primed.data.decode("utf-8", "surrogatepass")
    starts = np.concatenate(([0], ends[:-1] + 1))
    cuts = np.searchsorted(spans[:, 0], [*starts.tolist(), len(whole) + 1])
    owner = np.repeat(starts, np.diff(cuts))
    rows = [
        PrimedNumeral((a, b), (c, d), (e, f))
        for a, b, c, d, e, f in (spans - owner[:, None]).tolist()
    ]
    bounds = zip(starts.tolist(), ends.tolist(), cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)
    return [PrimedText(whole[a:b], tuple(rows[c:d])) for a, b, c, d in bounds]


def unprime_text(text: str) -> str:
    """Return a primed text without its anchors: the text that was primed.

    >>> unprime_text("about 1,990 <ANC> 2000 people")
    'about 1,990 people'
    """
    data = unprime_bytes(text.encode("utf-8", "surrogatepass"))
    clash = find_marker(data)
    if clash is not None:
        raise InputError("text must be primed text, got a marker without numeral or anchor")
    return data.decode("utf-8", "surrogatepass")


def find_primed(text: str) -> list[PrimedNumeral]:
    """Return where the numerals (from their first digit on), markers and anchors of a text are.

    A text is primed only if it held no marker before, so that a marker with a numeral before it and
    an anchor behind it is one that priming wrote.

    >>> find_primed("about 1,990 <ANC> 2000 people")
    [PrimedNumeral(numeral=(6, 11), marker=(12, 17), anchor=(18, 22))]
    """
    rows = []
    for found in _ANCHORED.finditer(text):
        end = found.start()
        window = text[max(0, end - _LONGEST) : end]
        numeral = _NUMERAL_BEFORE.search(window)
        length = len(numeral[0]) if numeral else 1
        rows.append(PrimedNumeral((end - length, end), found.span(1), found.span(2)))
    return rows


def prime_bytes(
    data: bytes,
    anchors: AnchorSet,
    *,
    marker: Marker = "anc",
    numeral_form: NumeralForm = "as-is",
) -> PrimedBytes:
    """Prime UTF-8 bytes in one pass; the caller has made sure that they hold no marker."""
    check_marker(marker, anchors)
    scan = scan_numerals(data, anchors.domain)
    index, is_left = anchors.locate(scan.values)
    tokens = MARKERS[marker]
    kind = np.where(is_left, 0, len(tokens) - 1)
    table = [f" {token} {anchor}".encode() for token in tokens for anchor in anchors.texts]
    inserted = [table[i] for i in (kind * len(anchors.values) + index).tolist()]

    starts, ends = scan.starts.tolist(), scan.ends.tolist()
    gaps = [data[a:b] for a, b in zip([0, *ends], [*starts, len(data)], strict=True)]
    numerals = [data[a:b] for a, b in zip(starts, ends, strict=True)]
    if numeral_form == "digits":
        numerals = [plain_number(numeral) for numeral in numerals]

    pieces = [piece for row in zip(gaps, numerals, inserted, strict=False) for piece in row]
    lengths = np.fromiter(map(len, pieces), np.int64, len(pieces))
    numeral_start, numeral_end, anchor_end = np.cumsum(lengths).reshape(-1, 3).T
    marker_start = numeral_end + 1
    marker_end = marker_start + np.array([len(token) for token in tokens])[kind]
    columns = [numeral_start, numeral_end, marker_start, marker_end, marker_end + 1, anchor_end]
    return PrimedBytes(b"".join([*pieces, gaps[-1]]), np.stack(columns, axis=1), scan.ends)


def prime_block(
    block: Block,
    anchors: AnchorSet,
    *,
    marker: Marker = "anc",
    numeral_form: NumeralForm = "as-is",
) -> PrimedBytes:
    """Prime a block of a corpus; a marker in it is an error that says where."""
    clash = find_marker(block.data)
    if clash is not None:
        raise InputError(
            f"{block.place(clash)}: holds a marker already; prime text without anchors, or take "
            "them out with 'numerate prime --undo'"
        )
    return prime_bytes(block.data, anchors, marker=marker, numeral_form=numeral_form)


def check_marker(marker: Marker, anchors: AnchorSet) -> None:
    """Refuse a marker that does not go with the scale of the anchors."""
    known = MARKERS_OF[anchors.scale]
    if marker not in known:
        raise InputError(
            f"marker must be {' or '.join(known)} for anchors on the {anchors.scale} scale, "
            f"got {marker!r}"
        )


def unprime_bytes(data: bytes) -> bytes:
    """Return primed UTF-8 without its anchors; markers that stand elsewhere are left in it."""
    return _INSERTED.sub(b"", data)


def unprime_block(block: Block) -> bytes:
    """Return a block of primed text without its anchors; a marker astray is an error."""
    data = unprime_bytes(block.data)
    clash = find_marker(data)
    if clash is not None:
        place = replace(block, data=data).place(clash)
        raise InputError(f"{place}: a marker without numeral or anchor; is this primed text?")
    return data


def count_markers(data: bytes) -> int:
    """Return how many markers a text holds: as many as it has primed numerals."""
    return len(_MARKER.findall(data))


def find_marker(data: bytes) -> int | None:
    """Return where the first marker of a text is, if there is one."""
    found = _MARKER.search(data)
    return found.start() if found else None
