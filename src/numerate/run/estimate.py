"""Estimate: how long the steps of a run will take, from what this machine does in a few seconds.

Every rate is measured on the real thing in small: the corpus' first blocks, the base model's own
training step, its vectors, and cells of the protocol with a part of their trees and epochs.
"""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import islice
from pathlib import Path

import numpy as np

from numerate.extract.corpus import open_corpus
from numerate.extract.counts import Counts, extract_counts
from numerate.extract.sources import Block
from numerate.fit.anchors import AnchorSet
from numerate.fit.fitting import fit_anchors
from numerate.prime.text import prime_block
from numerate.probe.plan import Plan, draw_samples
from numerate.probe.protocols import Protocol, find_protocol
from numerate.probe.score_cell import Cell, Question, score_question
from numerate.run.config import Config
from numerate.run.steps import Step

_SAMPLE_BYTES, _SAMPLE_NUMERALS, _PARTS = 2_000_000, 1000, 20
_TOKENS_PER_WORD = 1.4
_START = 5.0  # seconds to load libraries and a model


@dataclass(frozen=True)
class Estimator:
    """Says how many seconds a step may take, or None where that cannot be known yet."""

    config: Config
    root: Path
    workers: int

    def expect(self, step: Step) -> float | None:
        """Return the seconds that a step may take."""
        expect: dict[str, Callable[[Step], float | None]] = {
            "extract": self._expect_text,
            "fit": self._expect_fit,
            "prime": self._expect_text,
            "pretrain": self._expect_training,
            "baseline": self._expect_baseline,
            "probe": self._expect_probe,
        }
        return expect[step.stage](step) if step.stage in expect else _START

    def _expect_text(self, step: Step) -> float | None:
        if self._sample is None:
            return None
        return self._sample.times / self.workers * _clock(partial(self._work_on, step.stage))

    def _expect_fit(self, step: Step) -> float:
        if step.settings["scale"] == "log10":  # without a mixture
            return 0.0
        values = np.random.default_rng(0).integers(1, 10**6, 5000)
        counts = Counts(dict.fromkeys(values.tolist(), 1), documents=1, words=1)
        sizes = [step.settings["components"], *step.settings["sweep"]]
        return sum(
            _clock(partial(fit_anchors, counts, n_components=size, scale="ln")) for size in sizes
        )

    def _expect_training(self, step: Step) -> float | None:
        settings = step.settings
        if settings["max_minutes"]:
            return 60 * float(settings["max_minutes"])
        if not settings["max_tokens"] and self._words is None:
            return None
        epoch = _TOKENS_PER_WORD * (self._words or 0)
        tokens = settings["max_tokens"] or settings["epochs"] * epoch
        return _START + float(tokens) / self._tokens_per_second

    def _expect_baseline(self, step: Step) -> float | None:
        has_budget = step.settings["max_minutes"] or step.settings["max_tokens"]
        return self._expect_training(step) if has_budget else None

    def _expect_probe(self, step: Step) -> float | None:
        if self._counts is None:
            return None
        asked = self.config.probe
        plan = Plan(
            asked.tasks,
            (0,),
            find_protocol(asked.protocol),
            self._counts,
            asked.domains,
            asked.ranges,
        )
        samples = draw_samples(plan, plan.cells)
        rows = [part.ravel() for s in samples.values() for part in vars(s).values()]
        embedding = len(np.unique(np.concatenate(rows))) * self._seconds_per_numeral
        cells = sum(self._seconds_per_cell[cell.task] for cell in samples)
        seeds = int(step.settings["seeds"])
        return _START + embedding * (1 + 0.3 * (seeds - 1)) + seeds * cells / self.workers

    @cached_property
    def _sample(self) -> "_SampleOfText | None":
        """The beginning of the corpus; None if it would have to be fetched."""
        if any(name.startswith("hf:") for name in self.config.corpus):
            return None
        reading = self.config.extract
        corpus = open_corpus(self.config.corpus, field=reading.field, errors=reading.errors)
        blocks = list(_take_blocks(corpus.blocks()))
        times = corpus.size / max(1, blocks[-1].position) if corpus.size else 1.0
        return _SampleOfText(tuple(blocks), times)

    def _work_on(self, stage: str) -> object:
        blocks = self._sample.blocks if self._sample else ()
        if stage == "extract":
            return extract_counts([block.data.decode() for block in blocks])
        return [prime_block(block, AnchorSet("ln", (10, 20, 30))) for block in blocks]

    @cached_property
    def _counts(self) -> Counts | None:
        """Those of the run, or of the beginning of its corpus."""
        path = self.root / "extract" / "counts.json"
        if path.exists():
            return Counts.load(path)
        if self._sample is None:
            return None
        return extract_counts([block.data.decode() for block in self._sample.blocks])

    @property
    def _words(self) -> float | None:
        if self._counts is None:
            return None
        whole = (self.root / "extract" / "counts.json").exists() or self._sample is None
        return self._counts.words * (1.0 if whole or not self._sample else self._sample.times)

    @cached_property
    def _tokens_per_second(self) -> float:
        """Of a training step on the base model, with labels at every twentieth token."""
        import torch

        from numerate.models.base_model import load_base
        from numerate.models.head import LabelledHead

        base = load_base(self.config.base, ())
        training = self.config.training(next(iter(self.config.variants)))
        shape = training.batch_size, min(training.max_length, 512)
        ids = torch.randint(5, len(base.tokenizer), shape)
        chosen = torch.zeros_like(ids, dtype=torch.bool)
        chosen[:, ::20] = True
        head = LabelledHead(base.model)
        optimizer = torch.optim.AdamW(base.model.parameters(), 1e-9, fused=True)

        def train() -> None:
            with head.at(chosen):
                logits = base.model(input_ids=ids).logits[0]
            torch.nn.functional.cross_entropy(logits, ids[chosen]).backward()  # type: ignore[no-untyped-call]
            optimizer.step()

        train()
        return ids.numel() / _clock(train)

    @cached_property
    def _width_and_pace(self) -> tuple[int, float]:
        from numerate.embed.load import load

        encoder = load(self.config.base)
        numerals = np.random.default_rng(0).integers(1, 10**6, _SAMPLE_NUMERALS).tolist()
        seconds = _clock(lambda: encoder.embed_numerals(numerals))
        return int(encoder.model.config.hidden_size), seconds / len(set(numerals))

    @property
    def _seconds_per_numeral(self) -> float:
        return self._width_and_pace[1]

    @cached_property
    def _seconds_per_cell(self) -> dict[str, float]:
        """Of each task: what a few trees or epochs cost on noise, and what each more does."""
        few, more = (_take_part(find_protocol(self.config.probe.protocol), n) for n in (1, 2))
        seconds = {}
        for task in self.config.probe.tasks:
            self._time_cell(task, few)  # the first one loads libraries
            first, second = self._time_cell(task, few), self._time_cell(task, more)
            seconds[task] = first + max(0.0, second - first) * (_PARTS - 1)
        return seconds

    def _time_cell(self, task: str, protocol: Protocol) -> float:
        known = np.arange(1, 1 + min(protocol.most or 2000, 2000))
        counts = Counts(dict.fromkeys(known.tolist(), 1), documents=1, words=1)
        noise = np.random.default_rng(0).standard_normal((len(known), self._width_and_pace[0]))
        cell = Cell(task, "in", "all", 0)
        [sample] = draw_samples(Plan((task,), (0,), protocol, counts), [cell]).values()
        vectors = noise.astype(np.float32)
        question = Question(cell, sample, known, vectors, protocol, ("trees", "ridge"), "cpu")
        return _clock(partial(score_question, question))


def _take_part(protocol: Protocol, parts: int) -> Protocol:
    """A protocol with so many twentieths of its trees and epochs."""
    epochs = max(1, parts * protocol.lists.epochs // _PARTS)
    trees = max(1, parts * protocol.trees // _PARTS)
    return replace(protocol, trees=trees, lists=replace(protocol.lists, epochs=epochs))


@dataclass(frozen=True)
class _SampleOfText:
    """The first blocks of a corpus, and how many times as much there is."""

    blocks: tuple[Block, ...]
    times: float


def _take_blocks(blocks: Iterable[Block]) -> Iterable[Block]:
    taken = 0
    for block in islice(blocks, 64):
        yield block
        taken += len(block.data)
        if taken > _SAMPLE_BYTES:
            return


def _clock(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
