"""The settings of training: of pre-training on anchors, and of the two baselines.

Defaults are those of the papers. Limits and help texts stand beside the fields, so that configs and
the command line can show them.
"""

from collections.abc import Callable
from dataclasses import asdict
from functools import wraps
from typing import Annotated, Any, ClassVar, Literal, TypeVar, dataclass_transform

from annotated_types import Ge, Gt, Lt
from pydantic import ConfigDict, Field, ValidationError
from pydantic.dataclasses import dataclass

from numerate.errors import InputError
from numerate.options import Errors, Objective, Pieces, Precision, check_word

Class = TypeVar("Class", bound=type)
_RULES = ConfigDict(extra="forbid", allow_inf_nan=False)


def _describe(config: Any, error: ValidationError) -> str:  # noqa: ANN401
    """Return the first error as `<parameter> must <condition>, got <value>`."""
    first = error.errors()[0]
    if first["type"] == "value_error":
        return str(first["ctx"]["error"])
    name = str(first["loc"][0])
    if first["type"] == "unexpected_keyword_argument":
        return f"{name}: no such setting of {config.__name__}"
    words: dict[type, Callable[[Any], str]] = {
        Gt: lambda limit: f"above {limit.gt}",
        Ge: lambda limit: f"at least {limit.ge}",
        Lt: lambda limit: f"below {limit.lt}",
    }
    limits = config.__pydantic_fields__[name].metadata
    said = " and ".join(words[type(limit)](limit) for limit in limits if type(limit) in words)
    if not said or first["type"] not in ("greater_than", "greater_than_equal", "less_than"):
        said = first["msg"].removeprefix("Input should be ")
    return f"{name} must be {said}, got {first['input']!r}"


@dataclass_transform(kw_only_default=True, frozen_default=True)
def checked(config: Class) -> Class:
    """Make a class a frozen dataclass that checks its fields, and raises InputError."""
    checked: Any = dataclass(frozen=True, kw_only=True, config=_RULES)(config)
    validate = checked.__init__

    @wraps(validate)
    def init(self: Any, **settings: Any) -> None:  # noqa: ANN401
        try:
            validate(self, **settings)
        except ValidationError as error:
            raise InputError(_describe(checked, error)) from None

    checked.__init__ = init
    made: Class = checked
    return made


BatchSize = Annotated[int, Field(gt=0, lt=20_000)]
SCHEDULERS = (
    *("linear", "cosine", "cosine_with_restarts", "polynomial"),
    *("constant", "constant_with_warmup", "inverse_sqrt"),
)
LOGGERS = ("none", "tensorboard", "wandb", "all")
LearningRate = Annotated[float, Field(gt=0, description="Peak learning rate of AdamW.")]
Share = Annotated[float, Field(ge=0, lt=1)]


@checked
class BudgetConfig:
    """The settings that all trainings share, of sentence encoders too."""

    base: Annotated[
        str, Field(description="Language model to start from: a folder, a hub name, a .gguf file.")
    ] = "google-bert/bert-base-uncased"
    max_minutes: Annotated[
        float | None, Field(gt=0, description="Train for this many minutes instead of --epochs.")
    ] = None
    batch_size: Annotated[BatchSize, Field(description="Examples per batch.")] = 128
    accumulate: Annotated[
        BatchSize, Field(description="Batches per step of the optimizer (gradient accumulation).")
    ] = 1
    learning_rate: LearningRate = 1e-5
    dropout: Annotated[
        Share, Field(description="Dropout rate in training; replaces the rates of the base model.")
    ] = 0.0
    precision: Annotated[
        Precision,
        Field(description="Number format of the computation; auto: bf16 if the machine has it."),
    ] = "auto"
    checkpoint_minutes: Annotated[
        float, Field(ge=0, description="Minutes between checkpoints.")
    ] = 5.0
    seed: Annotated[
        int,
        Field(ge=0, lt=2**32, description="Seed of the order of the data, masks and new weights."),
    ] = 42
    trust_remote_code: Annotated[
        bool, Field(description="Run code that the folder of a model brings.")
    ] = False

    def describe(self) -> dict[str, Any]:
        """Return the settings that the result depends on."""
        settings = asdict(self)
        del settings["trust_remote_code"]
        return settings


@checked
class TrainingConfig(BudgetConfig):
    """The settings of pre-training and baselines. Tokens or minutes replace the epochs."""

    epochs: Annotated[float, Field(gt=0, description="Passes over the training data.")] = 1.0
    max_tokens: Annotated[
        int | None, Field(gt=0, description="Train on this many tokens instead of --epochs.")
    ] = None
    hold_out_gaps: Annotated[
        bool, Field(description="Never train on numerals from 30 to 39, 300 to 399 and so on.")
    ] = False

    def __post_init__(self) -> None:
        if self.max_tokens is not None and self.max_minutes is not None:
            raise InputError("max_tokens and max_minutes must not both be given")


@checked
class PretrainConfig(TrainingConfig):
    """The settings of pre-training on anchors; the defaults are those of the paper."""

    epochs: Annotated[float, Field(gt=0, description="Passes over the corpus.")] = 6.0
    max_length: Annotated[int, Field(gt=0, description="Maximum tokens per sequence.")] = 512
    batch_size: Annotated[
        BatchSize, Field(description="Rows of up to --max-length tokens per device and batch.")
    ] = 8
    learning_rate: LearningRate = 5e-5
    warmup: Annotated[
        Share, Field(description="Share of the training in which the learning rate rises.")
    ] = 0.0
    scheduler: Annotated[
        str, Field(description=f"Learning rate schedule: {', '.join(SCHEDULERS)}.")
    ] = "linear"
    weight_decay: Annotated[float, Field(ge=0, description="Weight decay of AdamW.")] = 0.0
    objective: Annotated[
        tuple[Objective, ...],
        Field(
            min_length=1,
            description="What is learned at a hidden anchor; repeatable. tokens: the anchor's "
            "tokens; smooth: the anchor, its neighbours being nearly right; value: the logarithm "
            "of the number; geometry: cosines that fall with the distance of numbers.",
        ),
    ] = ("tokens",)
    kind: Annotated[
        Literal["auto", "masked", "causal"],
        Field(description="Fill in masked anchors, or say them as the next tokens; auto: as base."),
    ] = "auto"
    mlm_probability: Annotated[
        Share, Field(description="Masked models: share of the other tokens to mask as in BERT.")
    ] = 0.0
    lm_share: Annotated[
        float,
        Field(ge=0, le=1, description="Causal models: share of the other tokens to predict, too."),
    ] = 0.0
    anchor_visible: Annotated[
        Share, Field(description="Share of anchors that stay in view and are not asked for.")
    ] = 0.0
    shuffle: Annotated[
        bool, Field(description="A control: train every numeral with another number's anchor.")
    ] = False
    rehearse: Annotated[
        Share, Field(description="Share of tokens that come from bare numerals with anchors.")
    ] = 0.0
    hold_out: Annotated[
        str | None, Field(description="Numerals never to rehearse: a text file, or counts.json.")
    ] = None
    pieces: Annotated[
        Pieces, Field(description="digits: split numbers into digits and drop their commas.")
    ] = "words"
    validation_share: Annotated[
        float, Field(gt=0, description="Share of the sequences to validate on.")
    ] = 0.01
    validation_most: Annotated[
        int, Field(gt=0, description="Maximum number of sequences to validate on.")
    ] = 2000
    report_to: Annotated[str, Field(description="Log to none, tensorboard, wandb or all.")] = "none"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_word("scheduler", self.scheduler, SCHEDULERS)
        check_word("report_to", self.report_to, LOGGERS)
        if self.max_minutes is not None and self.scheduler != "linear":
            raise InputError(f"scheduler must be linear with max_minutes, got {self.scheduler}")
        if self.hold_out and not self.rehearse:
            raise InputError("hold_out must go with rehearse: nothing else draws numerals")


@checked
class GenbertConfig(TrainingConfig):
    """The settings of the GenBERT recipe; the defaults are those of its paper."""

    recipe: ClassVar[str] = "genbert"
    title: ClassVar[str] = "GenBERT recipe"  # the name of the model in tables
    epochs: Annotated[float, Field(gt=0, description="Passes over 990,000 questions.")] = 60.0
    batch_size: Annotated[BatchSize, Field(description="Questions per batch.")] = 800
    learning_rate: LearningRate = 6e-5
    corpus: Annotated[
        tuple[str, ...], Field(description="Text for masked language modelling; repeatable.")
    ] = ()
    field: Annotated[str, Field(description="Field of a record that holds its text.")] = "text"
    errors: Annotated[Errors, Field(description="How to treat bytes that are not UTF-8.")] = (
        "strict"
    )


@checked
class MwpBertConfig(TrainingConfig):
    """The settings of the MWP-BERT recipe; the defaults are those of its paper."""

    recipe: ClassVar[str] = "mwp-bert"
    title: ClassVar[str] = "MWP-BERT recipe"  # the name of the model in tables
    epochs: Annotated[float, Field(gt=0, description="Passes over the problems.")] = 150.0
    batch_size: Annotated[BatchSize, Field(description="Problems per batch.")] = 128
    problems: Annotated[
        str, Field(description="Math word problems: .csv as MAWPS has, or .json as MathQA has.")
    ] = ""


BaselineConfig = GenbertConfig | MwpBertConfig
