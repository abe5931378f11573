"""Settings: the sections of a config, one for each stage, and what a variant is made of."""

from dataclasses import fields
from typing import Any, Literal, get_args, get_type_hints

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationInfo,
    create_model,
    field_validator,
    model_validator,
)

from numerate.errors import InputError
from numerate.extract.ranges import PROBE_RANGES
from numerate.fit.anchors import RESOLUTION
from numerate.options import Anchor, Domain, Errors, Marker, NumeralForm, Readout, Scale, Start
from numerate.pretrain.config import BaselineConfig, GenbertConfig, MwpBertConfig, PretrainConfig
from numerate.prime.text import MARKERS_OF
from numerate.probe.protocols import find_protocol
from numerate.probe.samples import PROBE_DOMAINS, TASKS


class Section(BaseModel):
    """Settings that cannot be changed, or be misspelt."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ExtractSettings(Section):
    """Which numerals count, and how to read the corpus."""

    domain: Domain = "integers"
    field: str = "text"
    errors: Errors = "strict"


class FitSettings(Section):
    """The mixture and its anchors; `sweep` are numbers of components to compare by AIC and BIC."""

    components: int = Field(default=1000, gt=0)
    resolution: float = Field(default=RESOLUTION, gt=0)
    start: Start = "drawn"
    width: int = Field(default=1, gt=0)
    sweep: tuple[int, ...] = ()


class PrimeSettings(Section):
    """How numerals are written."""

    numeral_form: NumeralForm = "as-is"


def _list_settings(config: type[PretrainConfig | BaselineConfig]) -> dict[str, Any]:
    """What a section on training can have: all but what the whole run has."""
    of_run = ("base", "seed", "corpus", "field", "errors")
    types = get_type_hints(config)
    return {f.name: (types[f.name], f.default) for f in fields(config) if f.name not in of_run}


PretrainSettings = create_model(
    "PretrainSettings", __base__=Section, **_list_settings(PretrainConfig)
)
GenbertSettings = create_model("GenbertSettings", __base__=Section, **_list_settings(GenbertConfig))
MwpBertSettings = create_model("MwpBertSettings", __base__=Section, **_list_settings(MwpBertConfig))


class ProbeSettings(Section):
    """What to ask, and what models with anchors are shown."""

    protocol: str = "laptop"
    tasks: tuple[str, ...] = TASKS
    domains: tuple[str, ...] = PROBE_DOMAINS
    ranges: tuple[str, ...] = tuple(PROBE_RANGES)
    anchor: tuple[Anchor, ...] = get_args(Anchor)
    read: Readout = "all"
    seeds: int = Field(default=3, gt=0)

    @field_validator("protocol")
    @classmethod
    def _known_protocol(cls, name: str) -> str:
        return find_protocol(name).name

    @field_validator("tasks", "domains", "ranges")
    @classmethod
    def _known_words(cls, words: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        choices = {"tasks": TASKS, "domains": PROBE_DOMAINS, "ranges": tuple(PROBE_RANGES)}
        known = choices[info.field_name or ""]
        for word in words:
            if word not in known:
                raise InputError(f"must be among {', '.join(known)}, got {word!r}")
        return words


class ReportSettings(Section):
    """What stands beside the results, and where the sentences shown come from."""

    compare: Literal["paper", "nothing"] = "nothing"
    examples: Literal["own", "corpus"] = "own"


class Variant(Section):
    """A way to prime and train; its sections are those of the config unless it has its own.

    `anchor` and `read` say what it is shown and which tokens make a vector, if it is to be probed
    in a way of its own.
    """

    scale: Scale
    marker: Marker
    anchor: tuple[Anchor, ...] | None = None
    read: Readout | None = None
    fit: FitSettings
    prime: PrimeSettings
    pretrain: PretrainSettings  # type: ignore[valid-type]

    @model_validator(mode="after")
    def _marker_of_scale(self) -> "Variant":
        if self.marker not in MARKERS_OF[self.scale]:
            known = " or ".join(MARKERS_OF[self.scale])
            raise InputError(f"marker must be {known} on the {self.scale} scale")
        return self

    @property
    def sizes(self) -> tuple[int, ...]:
        """The numbers of components to compare; none on log10, which needs no mixture."""
        return () if self.scale == "log10" else self.fit.sweep
