"""Labels of systems: the text that scores, tables and figures call a system by.

A label such as `ln-spread (masked) at anchor` is made and read here alone, so that a report can ask
for its parts in place of searching the text. Everything else of a label is the system's name.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, get_args

from numerate.options import Anchor, Readout

READ_BY_DIGITS = "base read by digits"
"""The untrained base model, bare, with every digit a token."""
_PAPER, _CONTROL = "paper: ", "control:"
_PRIMED, _TWIN = "base primed as ", "untrained "
_PARTS = re.compile(
    rf"(?P<name>.*?)(?: \((?P<shown>{'|'.join(get_args(Anchor))})\))?"
    rf"(?: at (?P<read>{'|'.join(get_args(Readout))}))?"
    r"(?: layers (?P<layers>-?\d+(?:,-?\d+)*))?(?: layer (?P<layer>\d+))?",
    re.DOTALL,
)


@dataclass(frozen=True, kw_only=True)
class SystemLabel:
    """The parts of a system's label; `str()` writes it and `parse` reads it.

    The name is that of a variant, `base`, or the title that a user chose. `shown` is None for a
    model without anchors, `layers` for the default, the sum of the last four. `layer` is the one
    layer that is probed on its own; 0 is the embeddings.

    >>> label = SystemLabel.parse("ln-spread (masked) at anchor")
    >>> label.name, label.shown, label.read, str(label)
    ('ln-spread', 'masked', 'anchor', 'ln-spread (masked) at anchor')
    """

    name: str
    shown: Anchor | None = None
    read: Readout = "all"
    layers: tuple[int, ...] | None = None
    layer: int | None = None

    def __str__(self) -> str:
        parts = [
            self.name,
            f" ({self.shown})" if self.shown else "",
            f" at {self.read}" if self.read != "all" else "",
            f" layers {','.join(map(str, self.layers))}" if self.layers else "",
            f" layer {self.layer}" if self.layer is not None else "",
        ]
        return "".join(parts)

    @classmethod
    def parse(cls, text: str) -> "SystemLabel":
        """Return the parts of a label; text that is none of them belongs to the name."""
        found = _PARTS.fullmatch(text)
        parts: dict[str, Any] = found.groupdict() if found else {"name": text}
        layers, layer = parts.get("layers"), parts.get("layer")
        return cls(
            name=parts["name"],
            shown=parts.get("shown"),
            read=parts.get("read") or "all",
            layers=tuple(map(int, layers.split(","))) if layers else None,
            layer=int(layer) if layer else None,
        )

    @classmethod
    def of_primed_base(cls, variant: str) -> "SystemLabel":
        """Return the label of the untrained base model that is shown the text of a variant."""
        return cls(name=f"{_PRIMED}{variant}")

    @classmethod
    def of_paper(cls, model: str) -> "SystemLabel":
        """Return the label of a model whose scores are printed in the paper."""
        return cls(name=f"{_PAPER}{model}")

    @property
    def twin(self) -> "SystemLabel":
        """The label of the untrained model that is shown and read in the same way."""
        return replace(self, name=f"{_TWIN}{self.name}")

    @property
    def trained(self) -> "SystemLabel | None":
        """The label of the system whose twin this is; None for other systems."""
        is_twin = self.name.startswith(_TWIN)
        return replace(self, name=self.name.removeprefix(_TWIN)) if is_twin else None

    @property
    def is_control(self) -> bool:
        """Whether the vectors are made by a rule, without a model.

        >>> [SystemLabel(name=f"control:{name}").is_control for name in ("random", "primed:bert")]
        [True, False]
        """
        return self.name.startswith(_CONTROL) and not self.name.startswith(f"{_CONTROL}primed:")

    @property
    def primed_as(self) -> str | None:
        """The variant whose text the untrained base model is shown; None for other systems."""
        return self.name.removeprefix(_PRIMED) if self.name.startswith(_PRIMED) else None

    @property
    def paper_model(self) -> str | None:
        """The model of the paper whose printed scores these are; None if they are measured."""
        return self.name.removeprefix(_PAPER) if self.name.startswith(_PAPER) else None


def pair_twins(systems: Iterable[str]) -> list[str]:
    """Return different systems in their order, with every twin right behind its trained system.

    >>> pair_twins(["untrained a (masked)", "base", "a (masked)", "untrained b"])
    ['base', 'a (masked)', 'untrained a (masked)', 'untrained b']
    """
    names = list(dict.fromkeys(systems))
    twins = {name: str(SystemLabel.parse(name).twin) for name in names}
    paired = {twin for twin in twins.values() if twin in names}
    behind = [(name, twins[name]) if twins[name] in paired else (name,) for name in names]
    return [name for group in behind if group[0] not in paired for name in group]
