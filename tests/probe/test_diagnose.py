import numpy as np
import pytest

from numerate.errors import InputError
from numerate.extract.counts import Counts
from numerate.extract.ranges import spread_numerals
from numerate.probe.controls import CONTROLS
from numerate.probe.diagnose import diagnose_system
from numerate.probe.diagnostics import DecodedValues, Diagnostics
from numerate.probe.layers import probe_layers
from numerate.probe.plan import Plan
from numerate.probe.protocols import PROTOCOLS
from numerate.probe.systems import NumeralSystem

SMALL = Counts(dict.fromkeys(range(1, 1000), 1), documents=1, words=1)


def make_plan(counts=SMALL, **settings):
    return Plan(
        tasks=("decoding",), seeds=(0, 1), protocol=PROTOCOLS["demo"], counts=counts, **settings
    )


class LayeredOracle(NumeralSystem):
    """Its only layer holds the logarithm, the embeddings below it nothing."""

    n_layers = 1

    def embed_layers(self, numerals):
        values = np.log(np.asarray(numerals, float))[:, None]
        return [np.ones_like(values), values]


LAYERED = LayeredOracle("ours", CONTROLS["control:oracle"])


def test_every_layer_and_the_vectors_of_the_probes_are_decoded():
    found = diagnose_system(LAYERED, make_plan())
    nothing, last = (layer.values for layer in found.layers)
    assert len(nothing) == len(last) == len(found.pooled) == 2
    assert max(last) < 0.001 < 0.05 < min(nothing)
    np.testing.assert_allclose(found.pooled, last, rtol=1e-6)


def test_layers_have_the_errors_that_a_probe_of_layers_writes(tmp_path):
    plan = make_plan(domains=("in",), ranges=("all",))
    scores = probe_layers(LAYERED, plan, tmp_path / "scores.jsonl")
    for layer in diagnose_system(LAYERED, plan).layers:
        expected = [
            score.value
            for score in scores
            if (score.system, score.metric) == (f"ours layer {layer.layer}", "ridge log-rmse")
        ]
        assert list(layer.values) == expected


def test_the_neighbours_of_a_number_are_found_by_cosine_alone():
    def embed_on_a_circle(numerals):
        angles = np.log(np.asarray(numerals, float)) / 10
        return np.stack((np.cos(angles), np.sin(angles)), axis=1)

    known = spread_numerals()[::2].tolist()
    counts = Counts(dict.fromkeys([*known, *range(1, 200)], 1), documents=1, words=1)
    found = diagnose_system(NumeralSystem("ours", embed_on_a_circle), make_plan(counts)).neighbours
    spread = spread_numerals().tolist()
    assert set(found.asked) == set(spread) - set(counts.counts)
    for asked, nearest in zip(found.asked, found.nearest.tolist(), strict=True):
        others = [n for n in spread if n != asked]
        assert nearest == sorted(others, key=lambda n: abs(np.log(n / asked)))[:10]
    expected = sorted(spread, key=lambda n: abs(np.log(n / 1999)))[:10]
    assert found.examples[1999] == tuple(expected)


def test_diagnostics_are_loaded_as_they_were_saved(tmp_path):
    saved = diagnose_system(LAYERED, make_plan())
    saved.save(tmp_path / "portrait.json")
    loaded = Diagnostics.load(tmp_path / "portrait.json")
    assert (loaded.system, loaded.layers, loaded.pooled) == ("ours", saved.layers, saved.pooled)
    for name in ("line", "decoded"):
        for part in ("true", "predicted", "r2"):
            one, other = (getattr(getattr(found, name), part) for found in (saved, loaded))
            np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(loaded.cosines, saved.cosines)
    np.testing.assert_array_equal(loaded.neighbours.nearest, saved.neighbours.nearest)
    assert loaded.neighbours.examples == saved.neighbours.examples


def test_later_trainings_have_only_the_cosines_and_the_layers(tmp_path):
    path = tmp_path / "portrait.json"
    diagnose_system(LAYERED, make_plan(training=2)).save(path)
    found = Diagnostics.load(path)
    assert found.training == 2
    assert found.line is found.decoded is found.neighbours is None
    assert len(found.cosines) == 100
    assert len(found.layers) == 2


def test_a_plan_without_counts_has_nothing_to_diagnose(tmp_path):
    plan = Plan(tasks=("paraphrases",), seeds=(0,), protocol=PROTOCOLS["demo"])
    diagnose_system(LAYERED, plan).save(tmp_path / "portrait.json")
    assert Diagnostics.load(tmp_path / "portrait.json") == Diagnostics(system="ours")


def test_damaged_diagnostics_are_refused_in_one_line(tmp_path):
    path = tmp_path / "portrait.json"
    for part in ('"line": 3', '"cosines": [[1, 2]]', '"layers": [{}]'):
        path.write_text(f'{{"format": "numerate-portrait", "version": 1, "system": "a", {part}}}')
        with pytest.raises(InputError, match=r"portrait\.json: damaged diagnostics"):
            Diagnostics.load(path)
    with pytest.raises(ValueError, match="same length"):
        DecodedValues(np.ones(2), np.ones(3))
