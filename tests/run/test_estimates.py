"""Estimates of duration, each against hand arithmetic; nothing here is timed."""

import pytest

from numerate.extract.corpus import open_corpus
from numerate.extract.counts import extract_counts
from numerate.extract.stage import ExtractSettings, RunText, estimate_counts, estimate_reading
from numerate.fit.stage import FitSettings, estimate_fit
from numerate.pretrain.config import GenbertConfig, PretrainConfig
from numerate.pretrain.stage import estimate_training
from numerate.probe.stage import add_seeds


def never():
    raise AssertionError("the speed does not matter")


@pytest.mark.parametrize(
    ("config", "words", "seconds"),
    [
        (PretrainConfig(max_tokens=2000), None, 5 + 2000 / 100),
        (PretrainConfig(epochs=6), 1000, 5 + 6 * 1000 * 1.4 / 100),
        (PretrainConfig(epochs=6), None, None),
        (GenbertConfig(max_tokens=500), None, 5 + 500 / 100),
    ],
)
def test_training_takes_its_tokens_at_the_speed_of_a_step(config, words, seconds):
    found = estimate_training(config, words, lambda: 100.0)
    assert found == (None if seconds is None else pytest.approx(seconds))


def test_training_for_some_minutes_takes_them():
    assert estimate_training(PretrainConfig(max_minutes=2), None, never) == 120


def test_every_seed_scores_all_cells_and_embeds_few_new_numerals():
    assert add_seeds(10.0, 20.0, 1) == 5 + 10 + 20
    assert add_seeds(10.0, 20.0, 4) == 5 + 10 + 4 * 20


def test_exponents_need_no_time_to_fit():
    assert estimate_fit("log10", FitSettings(sweep=(5, 10))) == 0


def test_the_first_blocks_stand_for_the_whole_corpus(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    path.write_text("in 1999 some 20 people\n" * 600_000)  # 13.8 MB, of which one block is read
    text = RunText((str(path),), ExtractSettings())
    counts, times = estimate_counts(text, tmp_path / "counts.json")
    assert times > 2
    assert counts.words * times == pytest.approx(5 * 600_000, rel=0.01)
    monkeypatch.setattr("numerate.extract.stage.measure_seconds", lambda work: 3.0)
    assert estimate_reading(text, 2, list) == pytest.approx(times / 2 * 3.0)


def test_counts_that_are_there_are_taken_as_they_are(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("in 1999 some 20 people")
    counts = extract_counts(open_corpus([str(path)]))
    counts.save(tmp_path / "counts.json")
    text = RunText((str(path),), ExtractSettings())
    assert estimate_counts(text, tmp_path / "counts.json") == (counts, 1.0)


def test_a_dataset_of_the_hub_is_not_downloaded_for_an_estimate(tmp_path):
    text = RunText(("hf:some/data",), ExtractSettings())
    assert estimate_counts(text, tmp_path / "counts.json") is None
    assert estimate_reading(text, 1, never) is None
