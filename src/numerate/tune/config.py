"""The settings of tuning a sentence encoder."""

from typing import Annotated

from pydantic import Field

from numerate.errors import InputError
from numerate.options import Domain, NumberPieces
from numerate.pretrain.config import BatchSize, BudgetConfig, LearningRate, Share, checked


@checked
class TuneConfig(BudgetConfig):
    """The settings of tuning; the defaults are those of our results."""

    base: Annotated[
        str, Field(description="Sentence encoder to start from: a folder or a hub name.")
    ] = "sentence-transformers/all-MiniLM-L6-v2"
    teacher: Annotated[
        str | None,
        Field(description="Encoder that says what sentences mean; by default the base as it is."),
    ] = None
    max_steps: Annotated[
        int, Field(gt=0, description="Steps of training, unless --max-minutes is given.")
    ] = 2000
    max_minutes: Annotated[
        float | None, Field(gt=0, description="Train for this many minutes, not --max-steps.")
    ] = None
    batch_size: Annotated[
        BatchSize,
        Field(description="Examples per batch: each has three sentences in six versions."),
    ] = 2
    learning_rate: LearningRate = 3e-4
    warmup: Annotated[
        Share, Field(description="Share of the training in which the learning rate rises.")
    ] = 0.05
    domain: Annotated[
        Domain, Field(description="Which numbers of the text are read, and how they are written.")
    ] = "quantities"
    pieces: Annotated[
        NumberPieces,
        Field(
            description="anchors: the first three digits of a number are one token, which says "
            "how large it is, and only the vectors of such tokens are trained; digits (numbers are "
            "split) and words (as they are): all layers are trained."
        ),
    ] = "anchors"
    most_sentences: Annotated[
        int, Field(gt=1, description="Sentences with numbers to draw from the text.")
    ] = 8000
    most_kept: Annotated[
        int, Field(gt=0, description="Texts to draw whose vectors must not change.")
    ] = 12_000

    def __post_init__(self) -> None:
        if self.teacher is not None and not self.teacher:
            raise InputError("teacher must name an encoder, got ''")
