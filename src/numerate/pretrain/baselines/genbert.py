"""The recipe of GenBERT: a BERT that learns to write the answers to questions about numbers.

Question and answer are one sequence: the tokens of the question attend to the whole question, those
of the answer to the question and to the answer before them. Encoder and decoder thus share their
weights, as in GenBERT. Masked language modelling on ordinary text goes with it.
"""

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pad_sequence

from numerate.errors import InputError
from numerate.extract.corpus import open_corpus
from numerate.models.base_model import find_positions, max_tokens
from numerate.models.digit_tokenizer import split_digits
from numerate.models.head import LabelledHead, evaluating
from numerate.pretrain.baselines.genbert_questions import KINDS, NumericalData
from numerate.pretrain.batches import hash_seed
from numerate.pretrain.config import GenbertConfig
from numerate.pretrain.masking import IGNORED, Batch, Masking
from numerate.pretrain.recipe import Measure, NestedBatch, Recipe, linear_rate
from numerate.pretrain.sequences import Ids, Sequences, TokenSequence, read_sequences

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

EPOCH = 990_000  # questions; GenBERT had a million, ten thousand of them for validation
QUESTION_LENGTH, ANSWER_LENGTH, TEXT_LENGTH = 50, 11, 128  # maximum number of tokens
TEXTS_PER_QUESTION, TEXT_WEIGHT, MASKED = 48 / 800, 0.5, 0.15
WARMUP, WEIGHT_DECAY, MAX_GRAD_NORM = 0.1, 0.01, 1.0
QUESTIONS_PER_KIND = 100  # for validation
# A batch goes through the model in up to four parts of similar length, of at least 32 questions:
# less padding for the same loss.
_PARTS, _MIN_PART = 4, 32


class EncodedQuestion(NamedTuple):
    """The token ids of a question and its answer.

    `shift` is added to all positions. `text` is a sequence for masked language modelling, with the
    seed of its masks; most questions have none.
    """

    question: list[int]
    answer: list[int]
    shift: int
    text: tuple[int, Ids] | None = None

    @property
    def length(self) -> int:
        """The number of input tokens: all but the last of the answer, which is only a label."""
        return len(self.question) + len(self.answer) - 1


class GenbertRecipe(Recipe[GenbertConfig]):
    """Questions with answers to write, and a few texts with masks."""

    examples_per_epoch = EPOCH

    def __init__(self, config: GenbertConfig) -> None:
        arguments = {"weight_decay": WEIGHT_DECAY, "max_grad_norm": MAX_GRAD_NORM}
        super().__init__(config, own_settings={"recipe": config.recipe}, arguments=arguments)

    def load(self) -> None:
        """Load the base model, with a tokenizer that splits numbers into digits."""
        super().load()
        tokenizer: Any = self.base.tokenizer
        if type(tokenizer.backend_tokenizer.model).__name__ != "WordPiece":
            raise InputError(f"{self.base.name}: must have a WordPiece tokenizer, as BERT has")
        self.base = replace(self.base, tokenizer=split_digits(tokenizer, self.base.name))

    def prepare(self, folder: Path) -> None:
        """Set up the questions, and tokenize the texts."""
        model, tokenizer = self.base.model, self.base.tokenizer
        self._decoder = AnswerDecoder(model, int(tokenizer.pad_token_id or 0))
        self._masking = Masking.of(tokenizer, model.config.vocab_size, other_share=MASKED)
        seed, gaps = self.config.seed, self.config.hold_out_gaps
        self._questions = NumericalData("train", seed, hold_out_gaps=gaps)
        held_out = NumericalData("dev", seed, hold_out_gaps=gaps)
        self._held_out = _encode_held_out(tokenizer, held_out)
        self._texts = self._read_texts(folder / "sequences") if self.config.corpus else None

    def draw(self, index: int) -> EncodedQuestion:
        """Return a question with a random shift of its positions; 48 of 800 have a text."""
        seed = hash_seed(self.config.seed, index)
        rng = np.random.default_rng(seed)
        encoded = encode_question(self._questions[index], self.base.tokenizer)
        shift = int(rng.integers(max(1, len(self._decoder.positions) - encoded.length)))
        if self._texts is None or not _has_text(index):
            return encoded._replace(shift=shift)
        ids, _ = self._texts[int(rng.integers(len(self._texts)))]
        return encoded._replace(shift=shift, text=(seed, ids))

    def collate(self, examples: Sequence[EncodedQuestion]) -> NestedBatch:
        """Return the questions in parts of similar length, and their texts as one batch."""
        ordered = sorted(examples, key=lambda example: example.length)
        size = max(_MIN_PART, -(-len(ordered) // _PARTS))
        starts = range(0, len(ordered), size)
        batch: NestedBatch = {
            "parts": [self._decoder.collate(ordered[start : start + size]) for start in starts]
        }
        n_tokens = sum(example.length for example in examples)
        texts = [example.text for example in examples if example.text is not None]
        if texts:
            text = self._masking.collate(
                [(seed, [TokenSequence.without_anchors(ids)]) for seed, ids in texts]
            )
            if (text["labels"] != IGNORED).any():
                batch["text"] = text
                n_tokens += int(text["attention_mask"].sum())
        return {**batch, "tokens": torch.tensor(n_tokens)}

    def measure(
        self, model: torch.nn.Module, batch: NestedBatch, n_labels: torch.Tensor | None
    ) -> Measure:
        """Compute the loss per token of the answers, plus half of that on the texts."""
        del model, n_labels  # one process trains, on the mean of a batch
        parts = [self._decoder.predict(part) for part in batch["parts"]]
        logits, labels = (torch.cat(side) for side in zip(*parts, strict=True))
        loss = cross_entropy(logits, labels)
        correct = int((logits.argmax(dim=-1) == labels).sum())
        if "text" in batch:
            loss = loss + TEXT_WEIGHT * cross_entropy(*self._decoder.predict(batch["text"]))
        return Measure(loss, len(labels), correct, int(batch["tokens"]))

    def validate(self) -> dict[str, float]:
        """Return the loss per token, and the share of correct answers: in all and per kind."""
        model = self.base.model
        loss, n_labels = 0.0, 0
        accuracy = {}
        with evaluating(model):
            for kind, examples in self._held_out.items():
                batch = self._decoder.collate(examples)
                batch = {name: tensor.to(model.device) for name, tensor in batch.items()}
                logits, labels = self._decoder.predict(batch)
                loss += float(cross_entropy(logits, labels, reduction="sum"))
                n_labels += len(labels)
                row = (batch["labels"] != IGNORED).nonzero()[:, 0]
                wrong = set(row[logits.argmax(dim=-1) != labels].tolist())
                accuracy[kind] = 1 - len(wrong) / len(examples)
        mean = sum(accuracy.values()) / len(accuracy)
        per_kind = {f"accuracy_{kind}": value for kind, value in accuracy.items()}
        return {"loss": loss / n_labels, "accuracy": mean, **per_kind}

    def rate(self, progress: float) -> float:
        """Return a linear schedule with warm-up."""
        return linear_rate(progress, WARMUP)

    def describe(self) -> dict[str, Any]:
        """Return the title, the number of parameters and the data."""
        return {
            "title": self.config.title,
            "parameters": self.base.model.num_parameters(),
            "data": {"kinds": list(KINDS), "texts": len(self._texts) if self._texts else 0},
        }

    def _read_texts(self, folder: Path) -> Sequences:
        tokenizer = self.base.tokenizer
        length = min(TEXT_LENGTH, max_tokens(self.base.model, tokenizer))
        texts = read_sequences(
            folder,
            self._documents,
            tokenizer,
            max_length=length,
            keep="all",
            hold_out_gaps=self.config.hold_out_gaps,
        )
        if not len(texts):
            raise InputError(f"{', '.join(self.config.corpus)}: has no text")
        return texts

    def _documents(self) -> Iterator[str]:
        """Yield the lines or records of the corpus that are not blank."""
        config = self.config
        for block in open_corpus(config.corpus, field=config.field, errors=config.errors).blocks():
            yield from filter(None, map(str.strip, block.texts()))


def _has_text(index: int) -> bool:
    """Return whether a question has a text: 48 of 800, evenly spread."""
    return int((index + 1) * TEXTS_PER_QUESTION) > int(index * TEXTS_PER_QUESTION)


def encode_question(
    example: Sequence[str], tokenizer: "PreTrainedTokenizerBase"
) -> EncodedQuestion:
    """Return the token ids of a (question, answer, ...); the answer ends with the separator."""
    question = tokenizer(example[0], truncation=True, max_length=QUESTION_LENGTH)["input_ids"]
    answer = tokenizer(example[1], add_special_tokens=False)["input_ids"]
    return EncodedQuestion(question, [*answer[: ANSWER_LENGTH - 1], tokenizer.sep_token_id], 0)


def _encode_held_out(
    tokenizer: "PreTrainedTokenizerBase", data: NumericalData
) -> dict[str, list[EncodedQuestion]]:
    """Return the questions of each kind to validate on."""
    encoded: dict[str, list[EncodedQuestion]] = {kind: [] for kind in KINDS}
    for index in range(QUESTIONS_PER_KIND * len(KINDS)):
        example = data[index]
        encoded[example.kind].append(encode_question(example, tokenizer))
    return encoded


class AnswerDecoder:
    """A masked language model that writes answers, one token after the other."""

    def __init__(self, model: "PreTrainedModel", pad_id: int) -> None:
        embeddings = getattr(model.base_model, "embeddings", None)
        known = inspect.signature(model.forward).parameters
        if not hasattr(embeddings, "position_embeddings") or "position_ids" not in known:
            raise InputError(
                f"{model.config.model_type}: its positions cannot be shifted; choose a BERT-like "
                "base"
            )
        self.positions = find_positions(model)
        needed = QUESTION_LENGTH + ANSWER_LENGTH
        if len(self.positions) < needed:
            raise InputError(f"base must take {needed} tokens, got {len(self.positions)}")
        has_types = getattr(model.config, "type_vocab_size", 0) > 1
        self._has_types = has_types and "token_type_ids" in known
        self._model, self._head, self._pad_id = model, LabelledHead(model), pad_id

    def collate(self, examples: Sequence[EncodedQuestion]) -> Batch:
        """Return a padded batch with labels where the model has to write.

        The token before the first of the answer, and each token of the answer but the last, has the
        next token as its label.
        """
        inputs = [torch.tensor([*e.question, *e.answer[:-1]]) for e in examples]
        labels = [torch.tensor([IGNORED] * (len(e.question) - 1) + e.answer) for e in examples]
        n_question = torch.tensor([[len(e.question)] for e in examples])
        length = torch.tensor([[e.length] for e in examples])
        place = torch.arange(int(length.max()))
        # All see the question; the answer sees itself up to the present token.
        seen = (place < n_question)[:, None, :] | (place <= place[:, None])
        seen &= (place < length)[:, None, :]
        shifted = place + torch.tensor([[e.shift] for e in examples])
        batch = {
            "input_ids": pad_sequence(inputs, batch_first=True, padding_value=self._pad_id),
            "attention_mask": seen[:, None],
            "position_ids": self.positions.start + shifted.clamp(max=len(self.positions) - 1),
            "labels": pad_sequence(labels, batch_first=True, padding_value=IGNORED),
        }
        if self._has_types:
            batch["token_type_ids"] = (place >= n_question).long()
        return batch

    def predict(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the logits at every label, shape (labels, vocabulary), and the labels.

        Every token of an answer is predicted from the correct ones before it. If all predictions of
        an answer are correct, greedy decoding writes this answer; otherwise it writes another.
        """
        chosen = batch["labels"] != IGNORED
        inputs = {name: tensor for name, tensor in batch.items() if name != "labels"}
        with self._head.at(chosen):
            logits = self._model(**inputs).logits[0]
        return logits.float(), batch["labels"][chosen]
