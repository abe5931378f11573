"""`Priming`: how the input of a model is primed, and its entry in the model's `config.json`.

Texts go in; texts as the model gets them, with anchors visible, masked, unsaid or absent, come out.
A model folder has its anchors twice: in `anchors.json`, for people and for `numerate prime`, and in
`config.json`, where they stay when someone fine-tunes the model and saves it elsewhere.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from numerate.errors import InputError
from numerate.fit.anchors import AnchorSet
from numerate.options import Anchor, Marker, NumeralForm, check_option
from numerate.prime.text import PrimedNumeral, PrimedText, Span, check_priming, prime_texts

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

CONFIG_KEY = "numerate"
_KEYS = ("anchors", "marker", "numeral_form")


@dataclass(frozen=True)
class Priming:
    """How the input of a model is primed: with which anchors, marker and form of numerals."""

    anchors: AnchorSet
    marker: Marker = "anc"
    numeral_form: NumeralForm = "as-is"

    def __post_init__(self) -> None:
        check_priming(self.anchors, self.marker, self.numeral_form)

    def describe(self) -> dict[str, Any]:
        """Return the entry for a model's `config.json`."""
        return {
            "anchors": self.anchors.describe(),
            "marker": self.marker,
            "numeral_form": self.numeral_form,
        }

    @classmethod
    def read(cls, document: Any, place: object) -> "Priming":  # noqa: ANN401
        """Return the priming from the entry of a model's `config.json`; errors name `place`."""
        if not isinstance(document, Mapping) or any(key not in document for key in _KEYS):
            raise InputError(f"{place}: damaged '{CONFIG_KEY}' entry; it needs {', '.join(_KEYS)}")
        anchors = AnchorSet.read(document["anchors"], place)
        try:
            return cls(anchors, document["marker"], document["numeral_form"])
        except (TypeError, ValueError) as error:
            raise InputError(f"{place}: {error}") from None

    def show(
        self, texts: Sequence[str], anchor: Anchor, tokenizer: "PreTrainedTokenizerBase"
    ) -> list[PrimedText]:
        """Return texts without markers as input for the model, with the positions of all parts.

        An anchor is `visible`; `masked`, with the same masks for every anchor, so that not even its
        length is visible; or `absent`, without its marker too. If it is `unsaid`, the text ends at
        the marker of its last numeral: there a causal model is about to say the anchor. Numerals
        before it stand bare.
        """
        check_option("anchor", anchor, Anchor)
        primed = prime_texts(
            texts, self.anchors, marker=self.marker, numeral_form=self.numeral_form
        )
        if anchor == "visible":
            return primed
        if anchor == "unsaid":
            return [_end_at_marker(text) for text in primed]
        masks = self._mask(tokenizer) if anchor == "masked" else None
        return [_rewrite(text, masks) for text in primed]

    def _mask(self, tokenizer: "PreTrainedTokenizerBase") -> str:
        """Return the masks that replace an anchor.

        One mask; for zero-padded anchors as many as each has pieces, if all have the same number.
        """
        if self.anchors.width == 1:
            return str(tokenizer.mask_token)
        pieces = tokenizer(list(self.anchors.texts), add_special_tokens=False)["input_ids"]
        lengths = set(map(len, pieces))
        return str(tokenizer.mask_token) * (lengths.pop() if len(lengths) == 1 else 1)


def _end_at_marker(primed: PrimedText) -> PrimedText:
    """Return a text up to the marker of its last numeral, without any anchor.

    The place of the anchor is that of the marker, where it would be said next.
    """
    if not primed.spans:
        return primed
    last = primed.spans[-1]
    before = primed.text[: last.numeral[0]]
    bare = _rewrite(PrimedText(before, primed.spans[:-1]), None)
    behind = primed.text[last.numeral[0] : last.marker[1]]
    moved = len(bare.text) - last.numeral[0]
    numeral, marker = ((start + moved, end + moved) for start, end in (last.numeral, last.marker))
    return PrimedText(bare.text + behind, (*bare.spans, PrimedNumeral(numeral, marker, marker)))


def _rewrite(primed: PrimedText, masks: str | None) -> PrimedText:
    """Return a primed text with each anchor replaced by masks; None removes marker and anchor."""
    pieces: list[str] = []
    spans: list[PrimedNumeral] = []
    done = length = 0

    def write(piece: str) -> Span:
        """Append a piece and return its position in the new text."""
        nonlocal length
        pieces.append(piece)
        length += len(piece)
        return length - len(piece), length

    for numeral, marker, anchor in primed.spans:
        write(primed.text[done : numeral[0]])
        where = write(primed.text[slice(*numeral)])
        if masks is None:
            empty = (length, length)
            spans.append(PrimedNumeral(where, empty, empty))
        else:
            write(" ")
            mark = write(primed.text[slice(*marker)])
            write(" ")
            spans.append(PrimedNumeral(where, mark, write(masks)))
        done = anchor[1]
    write(primed.text[done:])
    return PrimedText("".join(pieces), tuple(spans))
