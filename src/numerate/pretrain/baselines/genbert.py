"""The recipe of GenBERT: a BERT that learns to write the answers to questions on numbers.

Question and answer are one sequence through one model: the question sees itself in both directions,
the answer sees the question and what of itself is written already. So encoder and decoder share all
of their weights, as GenBERT's do. Beside it goes masked language modelling on ordinary text.
"""

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from numerate.errors import InputError
from numerate.extract.corpus import open_corpus
from numerate.models.base_model import Base, fit_length
from numerate.models.digit_tokenizer import split_digits
from numerate.models.head import LabelledHead
from numerate.pretrain.baselines.genbert_questions import KINDS, NumericalData
from numerate.pretrain.baselines.trainer import Lesson, Lessons, Measure
from numerate.pretrain.batches import hash_seed
from numerate.pretrain.config import GenbertConfig
from numerate.pretrain.masking import IGNORED, Batch, Masking
from numerate.pretrain.sequences import Sequences, join_sequences, tokenize_documents

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

EPOCH = 990_000  # examples; GenBERT had a million, ten thousand of them for validation
QUESTION_LENGTH, ANSWER_LENGTH, TEXT_LENGTH = 50, 11, 128  # tokens at most
TEXTS_PER_QUESTION, TEXT_WEIGHT, MASKED = 48 / 800, 0.5, 0.15
WARMUP, WEIGHT_DECAY, CLIP = 0.1, 0.01, 1.0
DEV_PER_KIND = 100
_PARTS, _SMALLEST = 4, 32
"""A batch goes through the model in parts of like length, of so many questions at least: less
padding, and the same loss."""
Ids = list[int]


class Task(NamedTuple):
    """A question and its answer as tokens, where its positions start, and perhaps a text."""

    question: Ids
    answer: Ids
    shift: int
    text: tuple[int, npt.NDArray[np.int32]] | None = None

    @property
    def length(self) -> int:
        """How many tokens the model sees: all but the answer's last, which it only has to say."""
        return len(self.question) + len(self.answer) - 1


def prepare_genbert(base: Base, config: GenbertConfig, folder: Path) -> Lessons:
    """Return the lessons of the recipe; tokens of the text are kept in a folder."""
    tokenizer = split_digits(base.tokenizer, base.name)
    writer = Writer(base.model, LabelledHead(base.model), int(tokenizer.pad_token_id or 0))
    masking = Masking.of(tokenizer, base.model.config.vocab_size, mlm_probability=MASKED)
    texts = _read_texts(config, base, tokenizer, folder / "sequences") if config.corpus else None
    tasks = _Tasks(
        NumericalData("train", config.seed), tokenizer, writer.n_positions, texts, config
    )
    return Lessons(
        tokenizer=tokenizer,
        draw=tasks.draw,
        collate=partial(_collate, writer, masking),
        measure=writer.measure,
        judge=partial(_judge, writer, _draw_dev(tokenizer, config.seed)),
        rate=_rate,
        epoch=EPOCH,
        weight_decay=WEIGHT_DECAY,
        clip=CLIP,
        facts={"kinds": list(KINDS), "texts": len(texts) if texts else 0},
    )


def _rate(done: float) -> float:
    """The share of the learning rate: up over the warm-up, then down to nothing."""
    return done / WARMUP if done < WARMUP else (1 - done) / (1 - WARMUP)


@dataclass(frozen=True)
class _Tasks:
    """Makes the task of a number: tokens, a random start of its positions, now and then a text."""

    data: NumericalData
    tokenizer: "PreTrainedTokenizerBase"
    n_positions: int
    texts: Sequences | None
    config: GenbertConfig

    def draw(self, number: int) -> Task:
        seed = hash_seed(self.config.seed, number)
        rng = np.random.default_rng(seed)
        task = make_task(self.data[number], self.tokenizer)
        shift = int(rng.integers(max(1, self.n_positions - task.length)))
        if self.texts is None or not _has_text(number):
            return task._replace(shift=shift)
        ids, _ = self.texts[int(rng.integers(len(self.texts)))]
        return task._replace(shift=shift, text=(seed, ids))


def _has_text(number: int) -> bool:
    """Whether a text goes with a task: with 48 in 800, spread evenly."""
    return int((number + 1) * TEXTS_PER_QUESTION) > int(number * TEXTS_PER_QUESTION)


def make_task(example: Sequence[str], tokenizer: "PreTrainedTokenizerBase") -> Task:
    """Return an example as tokens; the answer ends with the separator, and has at most 11."""
    question = tokenizer(example[0], truncation=True, max_length=QUESTION_LENGTH)["input_ids"]
    answer = tokenizer(example[1], add_special_tokens=False)["input_ids"]
    return Task(question, [*answer[: ANSWER_LENGTH - 1], tokenizer.sep_token_id], 0)


def _draw_dev(tokenizer: "PreTrainedTokenizerBase", seed: int) -> dict[str, list[Task]]:
    """The tasks of each kind to validate on, the same for a seed."""
    data = NumericalData("dev", seed)
    tasks: dict[str, list[Task]] = {kind: [] for kind in KINDS}
    for number in range(DEV_PER_KIND * len(KINDS)):
        example = data[number]
        tasks[example.kind].append(make_task(example, tokenizer))
    return tasks


class Writer:
    """A masked language model that writes answers behind questions."""

    def __init__(self, model: "PreTrainedModel", head: LabelledHead, pad_id: int) -> None:
        table = getattr(getattr(model.base_model, "embeddings", None), "position_embeddings", None)
        known = inspect.signature(model.forward).parameters
        if table is None or "position_ids" not in known:
            raise InputError(
                f"{model.config.model_type}: its positions cannot be shifted; choose a BERT-like "
                "base"
            )
        padding = getattr(table, "padding_idx", None)  # MPNet counts from behind it
        self._first = 0 if padding is None else padding + 1
        self.n_positions = int(table.weight.shape[0]) - self._first
        needed = QUESTION_LENGTH + ANSWER_LENGTH
        if self.n_positions < needed:
            raise InputError(f"base must take {needed} tokens, got {self.n_positions}")
        has_types = getattr(model.config, "type_vocab_size", 0) > 1
        self._has_types = has_types and "token_type_ids" in known
        self.model, self._head, self._pad_id = model, head, pad_id

    def collate(self, tasks: Sequence[Task]) -> Batch:
        """Return tasks as a batch: what the model sees, and labels where it has to write."""
        shape = len(tasks), max(task.length for task in tasks)
        ids = np.full(shape, self._pad_id, np.int64)
        labels = np.full(shape, IGNORED, np.int64)
        n_question = np.array([[len(task.question)] for task in tasks])
        length = np.array([[task.length] for task in tasks])
        for row, task in enumerate(tasks):
            ids[row, : task.length] = [*task.question, *task.answer[:-1]]
            labels[row, len(task.question) - 1 : task.length] = task.answer
        place = np.arange(shape[1])
        shift = np.array([[task.shift] for task in tasks])
        seen = (place < n_question)[:, None, :] | (place <= place[:, None])
        seen &= (place < length)[:, None, :]
        arrays = {
            "input_ids": ids,
            "attention_mask": seen[:, None],
            "position_ids": self._first + np.minimum(place + shift, self.n_positions - 1),
            "labels": labels,
        }
        if self._has_types:
            arrays["token_type_ids"] = (place >= n_question).astype(np.int64)
        return {name: torch.from_numpy(array) for name, array in arrays.items()}

    def write(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        """Return what the model would write at every label, shape (labels, vocabulary), and them.

        Every piece of the answer is asked for with the right ones before it. An answer that is all
        right in this way is what the model writes by itself when it always takes the likeliest
        piece, and one that is not never is.
        """
        chosen = batch["labels"] != IGNORED
        shown = {name: value for name, value in batch.items() if name != "labels"}
        with self._head.at(chosen):
            logits = self.model(**shown).logits[0]
        return logits.float(), batch["labels"][chosen]

    def measure(self, lesson: Lesson) -> Measure:
        """Return the loss of a batch: per piece of the answers, plus half of that on text."""
        written = [self.write(part) for part in lesson["parts"]]
        logits, labels = (torch.cat(side) for side in zip(*written, strict=True))
        loss = torch.nn.functional.cross_entropy(logits, labels)
        right = int((logits.argmax(dim=-1) == labels).sum())
        if "text" in lesson:
            loss = loss + TEXT_WEIGHT * torch.nn.functional.cross_entropy(
                *self.write(lesson["text"])
            )
        return Measure(loss, len(labels), right)


def _collate(writer: Writer, masking: Masking, tasks: Sequence[Task]) -> Lesson:
    """A batch of tasks in parts of like length, with the texts that go with them."""
    ordered = sorted(tasks, key=lambda task: task.length)
    size = max(_SMALLEST, -(-len(ordered) // _PARTS))
    parts = [writer.collate(ordered[at : at + size]) for at in range(0, len(ordered), size)]
    n_tokens = sum(task.length for task in tasks)
    lesson: Lesson = {"parts": parts}
    texts = [task.text for task in tasks if task.text is not None]
    if texts:
        batch = masking.collate([(seed, [(ids, np.zeros(len(ids), bool))]) for seed, ids in texts])
        if (batch["labels"] != IGNORED).any():
            lesson["text"] = batch
            n_tokens += int(batch["attention_mask"].sum())
    return {**lesson, "tokens": torch.tensor(n_tokens)}


def _judge(writer: Writer, dev: dict[str, list[Task]]) -> dict[str, float]:
    """The loss per piece on unseen numbers, and the share of answers that are right, per kind."""
    model = writer.model
    was_training = model.training
    model.train(False)
    loss, n_pieces = 0.0, 0
    accuracy = {}
    with torch.inference_mode():
        for kind, tasks in dev.items():
            batch = {name: x.to(model.device) for name, x in writer.collate(tasks).items()}
            logits, labels = writer.write(batch)
            loss += float(torch.nn.functional.cross_entropy(logits, labels, reduction="sum"))
            n_pieces += len(labels)
            owner = (batch["labels"] != IGNORED).nonzero()[:, 0]
            wrong = set(owner[logits.argmax(dim=-1) != labels].tolist())
            accuracy[kind] = 1 - len(wrong) / len(tasks)
    model.train(was_training)
    mean = sum(accuracy.values()) / len(accuracy)
    return {
        "loss": loss / n_pieces,
        "accuracy": mean,
        **{f"accuracy_{kind}": value for kind, value in accuracy.items()},
    }


def _read_texts(
    config: GenbertConfig, base: Base, tokenizer: "PreTrainedTokenizerBase", folder: Path
) -> Sequences:
    """The sequences of the corpus, from the run before if it got that far."""
    if not (folder / "bounds.npy").exists():
        length = fit_length(base, TEXT_LENGTH)
        found = join_sequences(
            tokenize_documents(_documents(config), tokenizer, max_length=length, keep="all")
        )
        if not len(found):
            raise InputError(f"{', '.join(config.corpus)}: no text to read beside the questions")
        found.save(folder)
    return Sequences.load(folder)


def _documents(config: GenbertConfig) -> Iterator[str]:
    """The lines or records of a corpus that are not blank."""
    for block in open_corpus(config.corpus, field=config.field, errors=config.errors).blocks():
        yield from filter(None, map(str.strip, block.texts()))
