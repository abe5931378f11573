"""Config: one TOML file with a section for each stage, checked before anything runs.

A variant is a scale and a marker, with settings of its own where it needs them. The built-in
variants (`prime/variants.py`) are always there. An unknown key is an error that suggests the
nearest known one.
"""

import difflib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationError, field_validator, model_validator

from numerate.errors import InputError
from numerate.extract.stage import ExtractSettings, RunText
from numerate.files import refuse_pipe
from numerate.fit.stage import FitSettings
from numerate.models.labels import READ_BY_DIGITS
from numerate.models.names import has_prefix
from numerate.options import Anchor, Marker, Readout, Scale
from numerate.pretrain.config import BaselineConfig, GenbertConfig, MwpBertConfig, PretrainConfig
from numerate.pretrain.stage import OF_RUN
from numerate.prime.stage import PrimeSettings
from numerate.prime.text import MARKERS_OF
from numerate.prime.variants import PAPER_VARIANTS, VARIANTS
from numerate.probe.stage import ProbeSettings
from numerate.report.stage import ReportSettings
from numerate.settings import Section
from numerate.tune.config import TuneConfig
from numerate.tune.stage import TUNED

BUILT_IN = ("demo", "laptop", "paper")
RECIPES = ("genbert-recipe", "mwp-bert-recipe")
UNTRAINED = ("primed:", "twin:")
_SEED = 42
_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"


class Variant(Section):
    """A way to prime and train; sections that it leaves out are those of the config.

    `anchor` and `read`, if given, replace how the config shows anchors and which tokens it reads.
    """

    scale: Scale
    marker: Marker
    anchor: tuple[Anchor, ...] | None = None
    read: Readout | None = None
    fit: FitSettings
    prime: PrimeSettings
    pretrain: PretrainConfig

    @model_validator(mode="after")
    def _marker_of_scale(self) -> "Variant":
        if self.marker not in MARKERS_OF[self.scale]:
            known = " or ".join(MARKERS_OF[self.scale])
            raise InputError(f"marker must be {known} on the {self.scale} scale")
        return self


class Config(Section):
    """A whole run.

    `systems` are names of variants, `base` (the base model as it is), `twin:VARIANT` (the base
    model, untrained, shown the same text as the variant and read at the same place),
    `primed:VARIANT` (the same with visible anchors, however the variant is shown them),
    `genbert-recipe` and `mwp-bert-recipe` (the base model, trained by a baseline's recipe), `tuned`
    (the base, a sentence encoder, tuned to know how large its numbers are), or anything else that
    can be probed, as MODEL or TITLE=MODEL. The twins of variants and of `tuned` are probed, whether
    they are named or not. Each of these is trained `trainings` times, with the seeds `seed`,
    `seed + 1` and so on. `trust_remote_code` lets code run that model folders bring.
    """

    name: str = Field(default="run", pattern=_NAME)
    corpus: tuple[str, ...] = Field(min_length=1)
    base: str
    systems: tuple[str, ...] = ("base", *PAPER_VARIANTS)
    seed: int = _SEED
    trainings: int = Field(default=1, gt=0)
    trust_remote_code: bool = False
    extract: ExtractSettings = ExtractSettings()
    fit: FitSettings = FitSettings()
    prime: PrimeSettings = PrimeSettings()
    pretrain: PretrainConfig
    genbert: GenbertConfig
    mwp_bert: MwpBertConfig
    tune: TuneConfig
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
        untrained = [f"{prefix}{name}" for prefix in UNTRAINED for name in self.variants]
        known = ["base", *self.variants, *untrained, *RECIPES, TUNED]
        for system in self.systems:
            is_model = "/" in system or "=" in system or has_prefix(system)
            if system not in known and not is_model and not Path(system).exists():
                raise InputError(f"systems: {system!r} is unknown{_nearest(system, known)}")
        if RECIPES[1] in self.systems and not self.mwp_bert.problems:
            raise InputError(f"mwp_bert.problems: must be given for the system {RECIPES[1]}")
        return self

    @property
    def text(self) -> RunText:
        """The corpus and how to read it."""
        return RunText(self.corpus, self.extract)

    @property
    def trained(self) -> list[str]:
        """The variants to train."""
        return [system for system in self.systems if system in self.variants]

    @property
    def probed(self) -> tuple[str, ...]:
        """The systems to probe: those that are named, and behind every variant its twin.

        Beside `base` and variants that read digits, the base model is also probed by digits.
        """
        trained = {*self.variants, TUNED}
        pairs = [(s, f"twin:{s}") if s in trained else (s,) for s in self.systems]
        by_digits = any(self.variants[name].pretrain.pieces == "digits" for name in self.trained)
        if by_digits and "base" in self.systems:
            pairs.append((f"{READ_BY_DIGITS}=digits:{self.base}",))
        return tuple(dict.fromkeys(system for pair in pairs for system in pair))

    @property
    def recipes(self) -> list[str]:
        """The baselines to train."""
        return [system for system in self.systems if system in RECIPES]

    def baseline(self, system: str) -> BaselineConfig:
        """Return the settings of a baseline's training."""
        return self.genbert if system == RECIPES[0] else self.mwp_bert

    @property
    def fits(self) -> dict[str, tuple[Scale, FitSettings]]:
        """The fits that variants need, by name: those to train, then those to prime the base."""
        primed = [s.partition(":")[2] for s in self.systems if s.startswith(UNTRAINED)]
        chosen = {name: self.variants[name] for name in (*self.trained, *primed)}
        return {self.fit_name(name): (part.scale, part.fit) for name, part in chosen.items()}

    def fit_name(self, variant: str) -> str:
        """Return the name of a variant's fit: its scale, or its own name if its settings differ."""
        chosen = self.variants[variant]
        return chosen.scale if chosen.fit == self.fit else variant


def load_config(name: str, changes: Sequence[str] = ()) -> Config:
    """Return the config of a TOML file or a built-in name, changed by `KEY=VALUE` texts."""
    if name in BUILT_IN and not Path(name).is_file():
        data = resources.files("numerate").joinpath("data", f"{name}.toml").read_bytes()
    else:
        refuse_pipe(Path(name))
        try:
            data = Path(name).read_bytes()
        except FileNotFoundError:
            known = ", ".join(BUILT_IN)
            raise InputError(f"{name}: no such file; built in are {known}") from None
        except IsADirectoryError:
            raise InputError(f"{name}: a folder; name a config, a TOML file") from None
    try:
        raw = tomllib.loads(data.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{name}: not valid TOML ({error})") from None
    for change in changes:
        _change(raw, change)
    return read_config(raw, name)


def read_config(raw: Mapping[str, Any], place: str) -> Config:
    """Return a checked config; `place` names it in messages."""
    try:
        return Config.model_validate(_fill_sections(raw))
    except ValidationError as error:
        raise InputError(f"{place}: {_explain(error)}") from None
    except InputError as error:
        raise InputError(f"{place}: {error}") from None


def _fill_sections(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return the config with all variants, and with the settings of the run in every training.

    A section that is not a table stays as it is: pydantic explains what is wrong with it.
    """
    trainings = ("pretrain", "genbert", "mwp_bert", "tune")
    filled = {key: _fill(raw, raw.get(key, {}), key) for key in trainings}
    own = raw.get("variants", {})
    if isinstance(own, dict):
        own = {name: _fill_variant(raw, name, part) for name, part in {**VARIANTS, **own}.items()}
    return {**raw, **filled, "variants": own}


def _fill_variant(raw: Mapping[str, Any], name: str, part: Any) -> Any:  # noqa: ANN401
    if not isinstance(part, dict):
        return part
    part = {**VARIANTS.get(name, {}), **part}
    keys = ("fit", "prime", "pretrain")
    sections = {key: _merge(raw.get(key, {}), part.get(key, {})) for key in keys}
    sections["pretrain"] = _fill(raw, sections["pretrain"], f"variants.{name}.pretrain")
    return {**part, **sections}


def _merge(shared: Any, own: Any) -> Any:  # noqa: ANN401
    return {**shared, **own} if isinstance(shared, dict) and isinstance(own, dict) else own


def _fill(raw: Mapping[str, Any], section: Any, place: str) -> Any:  # noqa: ANN401
    """Return a section on training with the settings that the config gives for the whole run."""
    if not isinstance(section, dict):
        return section
    for key in OF_RUN:
        if key in section:
            raise InputError(f"{place}.{key}: no such setting; it is one of the whole run")
    filled = {**section, "base": raw.get("base"), "seed": raw.get("seed", _SEED)}
    filled["trust_remote_code"] = raw.get("trust_remote_code", False)
    if place == "genbert":  # it reads the corpus itself
        reading = raw.get("extract", {})
        given = reading if isinstance(reading, dict) else {}
        filled |= {key: given[key] for key in ("field", "errors") if key in given}
        filled["corpus"] = raw.get("corpus")
    return filled


def _change(raw: dict[str, Any], change: str) -> None:
    """Change one setting by `KEY=VALUE`; the value is TOML, or a word without quotes."""
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
    if first["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
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
    if is_dataclass(model):
        return [field.name for field in fields(model) if field.name not in OF_RUN]
    return list(model.model_fields)


def _nearest(word: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(word, known, 1, 0.5)
    return f"; did you mean {near[0]}?" if near else f"; there are {', '.join(known)}"
