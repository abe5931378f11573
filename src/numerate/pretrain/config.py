"""Settings of training: of pre-training on anchors, and of the baselines' recipes.

The defaults are those of the papers.
"""

from dataclasses import dataclass
from typing import ClassVar

from numerate.errors import InputError
from numerate.options import Errors, Pieces, Precision

_SHARES = ("mlm_probability", "anchor_visible", "rehearse", "warmup", "dropout")
_AMOUNTS = (
    "epochs",
    "max_tokens",
    "max_minutes",
    "max_length",
    "batch_size",
    "accumulate",
    "learning_rate",
    "validation_share",
)


@dataclass(frozen=True)
class PretrainConfig:
    """How to train; the defaults are the paper's. A budget of tokens or minutes replaces epochs."""

    base: str = "google-bert/bert-base-uncased"
    epochs: float = 6.0
    max_tokens: int | None = None
    max_minutes: float | None = None
    max_length: int = 512
    batch_size: int = 8
    accumulate: int = 1
    learning_rate: float = 5e-5
    warmup: float = 0.0
    scheduler: str = "linear"
    weight_decay: float = 0.0
    dropout: float = 0.0
    mlm_probability: float = 0.0
    anchor_visible: float = 0.0
    rehearse: float = 0.0
    hold_out: str | None = None
    pieces: Pieces = "words"
    validation_share: float = 0.01
    validation_most: int = 2000
    precision: Precision = "auto"
    checkpoint_minutes: float = 5.0
    report_to: str = "none"
    seed: int = 42

    def __post_init__(self) -> None:
        for name in _SHARES:
            if not 0 <= (value := getattr(self, name)) < 1:
                raise InputError(f"{name} must be at least 0 and below 1, got {value}")
        for name in _AMOUNTS:
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise InputError(f"{name} must be above 0, got {value}")
        if self.max_tokens is not None and self.max_minutes is not None:
            raise InputError("max_tokens and max_minutes must not both be given")
        if self.max_minutes is not None and self.scheduler != "linear":
            raise InputError(f"scheduler must be linear with max_minutes, got {self.scheduler}")
        if self.hold_out and not self.rehearse:
            raise InputError("hold_out must go with rehearse: nothing else draws numerals")


_BASELINE_AMOUNTS = (
    "epochs",
    "max_tokens",
    "max_minutes",
    "batch_size",
    "accumulate",
    "learning_rate",
)


@dataclass(frozen=True)
class BaselineConfig:
    """What both recipes can be told; a budget of tokens or minutes replaces epochs."""

    recipe: ClassVar[str]
    title: ClassVar[str]  # what tables call the result
    base: str = "google-bert/bert-base-uncased"
    epochs: float = 1.0
    max_tokens: int | None = None
    max_minutes: float | None = None
    batch_size: int = 128
    accumulate: int = 1
    learning_rate: float = 1e-5
    dropout: float = 0.0
    precision: Precision = "auto"
    checkpoint_minutes: float = 5.0
    seed: int = 42

    def __post_init__(self) -> None:
        for name in _BASELINE_AMOUNTS:
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise InputError(f"{name} must be above 0, got {value}")
        if not 0 <= self.dropout < 1:
            raise InputError(f"dropout must be at least 0 and below 1, got {self.dropout}")
        if self.max_tokens is not None and self.max_minutes is not None:
            raise InputError("max_tokens and max_minutes must not both be given")


@dataclass(frozen=True)
class GenbertConfig(BaselineConfig):
    """The recipe of GenBERT; `corpus` is the text for masked language modelling beside it.

    `field` and `errors` say how it is read.
    """

    recipe: ClassVar[str] = "genbert"
    title: ClassVar[str] = "GenBERT recipe"
    epochs: float = 60.0
    batch_size: int = 800
    learning_rate: float = 6e-5
    corpus: tuple[str, ...] = ()
    field: str = "text"
    errors: Errors = "strict"


@dataclass(frozen=True)
class MwpBertConfig(BaselineConfig):
    """The recipe of MWP-BERT; `problems` is the file of math word problems."""

    recipe: ClassVar[str] = "mwp-bert"
    title: ClassVar[str] = "MWP-BERT recipe"
    epochs: float = 150.0
    problems: str = ""


Recipe = GenbertConfig | MwpBertConfig
