"""Config: one TOML file with a section for each stage, checked before anything runs.

A variant is a scale and a marker, with settings of its own where it needs them; the paper's four,
`exp` of its scripts, and ours, `ln-digits` and the better `ln-spread`, are always there. An unknown
key is an error that names the nearest one that is known.
"""

import difflib
import tomllib
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, get_args

from pydantic import Field, ValidationError, field_validator, model_validator

from numerate.errors import InputError
from numerate.options import Kind
from numerate.pretrain.config import BaselineConfig, GenbertConfig, MwpBertConfig, PretrainConfig
from numerate.prime.variants import PAPER_VARIANTS, VARIANTS
from numerate.run.sections import (
    ExtractSettings,
    FitSettings,
    GenbertSettings,
    MwpBertSettings,
    PretrainSettings,
    PrimeSettings,
    ProbeSettings,
    ReportSettings,
    Section,
    Variant,
)

BUILT_IN = ("demo", "laptop", "paper")
_KINDS = ("control:", *(f"{kind}:" for kind in get_args(Kind)))
RECIPES = ("genbert-recipe", "mwp-bert-recipe")
_OWN_SECTIONS = ("fit", "prime", "pretrain")
_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"


class Config(Section):
    """A whole run.

    `systems` are names of variants, `base` (the base model as it is), `twin:VARIANT` (the base
    model, untrained, shown the same text as the variant and read at the same place),
    `primed:VARIANT` (the same with the anchors visible, whatever the variant is shown),
    `genbert-recipe` and `mwp-bert-recipe` (the base
    model, trained by a baseline's recipe), or [NAME=]MODEL: whatever can be probed.
    """

    name: str = Field(default="run", pattern=_NAME)
    corpus: tuple[str, ...] = Field(min_length=1)
    base: str
    systems: tuple[str, ...] = ("base", *PAPER_VARIANTS)
    seed: int = 42
    extract: ExtractSettings = ExtractSettings()
    fit: FitSettings = FitSettings()
    prime: PrimeSettings = PrimeSettings()
    pretrain: PretrainSettings = PretrainSettings()  # type: ignore[valid-type]
    genbert: GenbertSettings = GenbertSettings()  # type: ignore[valid-type]
    mwp_bert: MwpBertSettings = MwpBertSettings()  # type: ignore[valid-type]
    probe: ProbeSettings = ProbeSettings()
    report: ReportSettings = ReportSettings()
    variants: dict[Annotated[str, Field(pattern=_NAME)], Variant]

    @field_validator("systems")
    @classmethod
    def _named_once(cls, systems: tuple[str, ...]) -> tuple[str, ...]:
        for system in systems:
            if systems.count(system) > 1:
                raise InputError(f"{system!r} is named twice")
        return systems

    @model_validator(mode="after")
    def _known_systems(self) -> "Config":
        untrained = [f"{kind}:{name}" for kind in ("primed", "twin") for name in self.variants]
        known = ["base", *self.variants, *untrained, *RECIPES]
        for system in self.systems:
            is_model = "/" in system or "=" in system or system.startswith(_KINDS)
            if system not in known and not is_model and not Path(system).exists():
                raise InputError(f"systems: {system!r} is none{_nearest(system, known)}")
        for name in self.variants:
            self.training(name)
        for system in self.recipes:
            self.baseline(system)
        return self

    @property
    def trained(self) -> list[str]:
        """The variants that are to be trained."""
        return [system for system in self.systems if system in self.variants]

    def training(self, variant: str) -> PretrainConfig:
        """Return how a variant is trained."""
        settings = self.variants[variant].pretrain.model_dump()  # type: ignore[attr-defined]
        return PretrainConfig(base=self.base, seed=self.seed, **settings)

    @property
    def recipes(self) -> list[str]:
        """The baselines that are to be trained."""
        return [system for system in self.systems if system in RECIPES]

    def baseline(self, system: str) -> BaselineConfig:
        """Return how a baseline is trained."""
        shared: dict[str, Any] = {"base": self.base, "seed": self.seed}
        if system == "mwp-bert-recipe":
            settings = self.mwp_bert.model_dump()  # type: ignore[attr-defined]
            if not settings["problems"]:
                raise InputError("mwp_bert.problems: must be given for the system mwp-bert-recipe")
            return MwpBertConfig(**shared, **settings)
        shared |= {"field": self.extract.field, "errors": self.extract.errors}
        settings = self.genbert.model_dump()  # type: ignore[attr-defined]
        return GenbertConfig(corpus=self.corpus, **shared, **settings)

    def fit_name(self, variant: str) -> str:
        """Return which fit a variant uses: that of its scale, or one of its own."""
        chosen = self.variants[variant]
        return chosen.scale if chosen.fit == self.fit else variant


def load_config(name: str, changes: Sequence[str] = ()) -> Config:
    """Return the config of a TOML file, or of a built-in name, with `KEY=VALUE` changes."""
    if name in BUILT_IN and not Path(name).exists():
        data = resources.files("numerate").joinpath("data", f"{name}.toml").read_bytes()
    else:
        try:
            data = Path(name).read_bytes()
        except FileNotFoundError:
            known = ", ".join(BUILT_IN)
            raise InputError(f"{name}: no such file; built in are {known}") from None
    try:
        raw = tomllib.loads(data.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{name}: not valid TOML ({error})") from None
    for change in changes:
        _change(raw, change)
    return read_config(raw, name)


def read_config(raw: Mapping[str, Any], place: str) -> Config:
    """Return a config that was checked; `place` names it in messages."""
    try:
        return Config.model_validate(_fill_variants(raw))
    except ValidationError as error:
        raise InputError(f"{place}: {_explain(error)}") from None


def _fill_variants(raw: Mapping[str, Any]) -> dict[str, Any]:
    """The built-in variants beside the user's, each with the sections that it does not change."""
    own, shared = raw.get("variants", {}), {name: raw.get(name, {}) for name in _OWN_SECTIONS}
    if not all(isinstance(part, dict) for part in (own, *shared.values())):
        return dict(raw)  # pydantic says what is wrong
    variants: dict[str, Any] = {}
    for name, part in {**VARIANTS, **own}.items():
        if isinstance(part, dict):
            part = {**VARIANTS.get(name, {}), **part}
            sections = {key: part.get(key, {}) for key in _OWN_SECTIONS}
            part |= {
                key: {**shared[key], **section} if isinstance(section, dict) else section
                for key, section in sections.items()
            }
        variants[name] = part
    return {**raw, "variants": variants}


def _change(raw: dict[str, Any], change: str) -> None:
    """Put one `KEY=VALUE` of the command line in its place; the value is TOML, or a bare word."""
    key, equals, text = change.partition("=")
    if not equals or not key:
        raise InputError(f"--set must be KEY=VALUE such as fit.components=200, got {change!r}")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text
    *path, last = key.split(".")
    section = raw
    for part in path:
        section = section.setdefault(part, {})
        if not isinstance(section, dict):
            raise InputError(f"--set {change}: {part!r} is a value, not a section")
    section[last] = value


def _explain(error: ValidationError) -> str:
    first = error.errors()[0]
    path = [str(part) for part in first["loc"]]
    if first["type"] == "extra_forbidden":
        return f"{'.'.join(path)}: no such setting{_nearest(path[-1], _known_keys(path[:-1]))}"
    if first["type"] == "missing":
        return f"{'.'.join(path)}: must be given"
    if first["type"] == "value_error":
        said = str(first["ctx"]["error"])
        return f"{'.'.join(path)}: {said}" if path else said
    message = first["msg"][0].lower() + first["msg"][1:]
    return f"{'.'.join(path)}: {message}, got {first['input']!r}"


def _known_keys(path: Sequence[str]) -> list[str]:
    model: Any = Config
    if path[:1] == ["variants"]:
        model, path = Variant, path[2:]
    for part in path:
        model = model.model_fields[part].annotation
    return list(model.model_fields)


def _nearest(word: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(word, known, 1, 0.5)
    return f"; did you mean {near[0]}?" if near else f"; there are {', '.join(known)}"
