"""How a model's text is primed: what a model folder says of it, and what a model is shown.

A model folder keeps its anchors in `anchors.json`, for people and for `numerate prime`, and in
`config.json`, where they stay when others fine-tune the model and save it elsewhere.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

from numerate.errors import InputError
from numerate.fit.anchors import AnchorSet
from numerate.options import Anchor, Marker, NumeralForm
from numerate.prime.text import PrimedNumeral, PrimedText, Span, check_marker, prime_texts

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

CONFIG_KEY = "numerate"
_KEYS = ("anchors", "marker", "numeral_form")


@dataclass(frozen=True)
class Priming:
    """The anchors of a model, what stands before them, and how numerals are written."""

    anchors: AnchorSet
    marker: Marker = "anc"
    numeral_form: NumeralForm = "as-is"

    def __post_init__(self) -> None:
        check_marker(self.marker, self.anchors)
        if self.numeral_form not in get_args(NumeralForm):
            raise ValueError(f"numeral_form must be as-is or digits, got {self.numeral_form!r}")

    def describe(self) -> dict[str, Any]:
        """Return what goes into a model's `config.json`."""
        return {
            "anchors": self.anchors.describe(),
            "marker": self.marker,
            "numeral_form": self.numeral_form,
        }

    @classmethod
    def read(cls, document: Any, place: object) -> "Priming":  # noqa: ANN401
        """Return the priming that a model's `config.json` describes."""
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
        """Return texts as a model is to see them, with where everything is.

        Args:
            texts: Without markers.
            anchor: `visible`; `masked`, the same masks whatever the anchor, so that not even its
                length is given away; or `absent`, without marker and anchor.
            tokenizer: The model's, which masks and cuts anchors into pieces.
        """
        primed = prime_texts(
            texts, self.anchors, marker=self.marker, numeral_form=self.numeral_form
        )
        if anchor == "visible":
            return primed
        masks = self._mask(tokenizer) if anchor == "masked" else None
        return [_rewrite(text, masks) for text in primed]

    def _mask(self, tokenizer: "PreTrainedTokenizerBase") -> str:
        """The masks that stand for any anchor: one, or as many as all anchors of a width have."""
        if self.anchors.width == 1:
            return str(tokenizer.mask_token)
        pieces = tokenizer(list(self.anchors.texts), add_special_tokens=False)["input_ids"]
        lengths = set(map(len, pieces))
        return str(tokenizer.mask_token) * (lengths.pop() if len(lengths) == 1 else 1)


def _rewrite(primed: PrimedText, masks: str | None) -> PrimedText:
    """A primed text with masks in place of each anchor, or without markers and anchors."""
    pieces: list[str] = []
    spans: list[PrimedNumeral] = []
    done = length = 0

    def write(piece: str) -> Span:
        nonlocal length
        pieces.append(piece)
        length += len(piece)
        return length - len(piece), length

    for numeral, marker, anchor in primed.spans:
        write(primed.text[done : numeral[0]])
        where = write(primed.text[slice(*numeral)])
        if masks is None:
            spans.append(PrimedNumeral(where, (length, length), (length, length)))
        else:
            write(" ")
            mark = write(primed.text[slice(*marker)])
            write(" ")
            spans.append(PrimedNumeral(where, mark, write(masks)))
        done = anchor[1]
    write(primed.text[done:])
    return PrimedText("".join(pieces), tuple(spans))
