import os
from dataclasses import replace

import numpy as np
import pytest

from numerate import locks
from numerate.errors import InputError
from numerate.extract.counts import Counts
from numerate.probe.controls import CONTROLS
from numerate.probe.plan import Plan, probe_system
from numerate.probe.protocols import PROTOCOLS
from numerate.probe.scores import read_scores, write_scores
from numerate.probe.systems import NumeralSystem, Reading, open_systems

COUNTS = Counts(dict.fromkeys(range(1, 1000), 1), documents=1, words=1)
PLAN = Plan(
    tasks=("decoding",),
    seeds=(0,),
    protocol=PROTOCOLS["demo"],
    counts=COUNTS,
    domains=("in",),
    ranges=("[100,1k]",),
    regressors=("ridge",),
)


def probe(name, plan, path, notes=None):
    [system] = open_systems(name, reading=Reading())
    return probe_system(system, plan, path, note=(notes if notes is not None else []).append)


def test_the_scores_of_another_control_by_the_same_name_are_refused(tmp_path):
    path = tmp_path / "s.jsonl"
    random = probe("A=control:random", PLAN, path)
    with pytest.raises(InputError, match=r"s.jsonl: has scores of 'A' with another model; choose"):
        probe("A=control:oracle", PLAN, path)
    assert probe("A=control:random", PLAN, path) == random == read_scores(path)
    oracle = probe("B=control:oracle", PLAN, path)
    assert [score.value for score in oracle] != [score.value for score in random]


def test_a_file_that_is_refused_is_left_as_it_is(tmp_path):
    path = tmp_path / "s.jsonl"
    probe("A=control:random", PLAN, path)
    path.write_bytes(path.read_bytes()[:-1])  # the end of its last line is missing
    before = path.read_bytes()
    with pytest.raises(InputError, match="another model"):
        probe("A=control:oracle", PLAN, path)
    assert path.read_bytes() == before


def test_a_model_that_was_trained_again_is_another_model(tiny_models, tmp_path):
    import torch
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    source, folder, path = tiny_models("bert"), tmp_path / "model", tmp_path / "s.jsonl"
    model = AutoModelForMaskedLM.from_pretrained(source)
    AutoTokenizer.from_pretrained(source).save_pretrained(folder)
    model.save_pretrained(folder)
    probe(f"A={folder}", PLAN, path)
    probe(f"A={folder}", PLAN, path)
    with torch.no_grad():
        model.get_input_embeddings().weight += 0.01
    model.save_pretrained(folder)
    with pytest.raises(InputError, match="another model"):
        probe(f"A={folder}", PLAN, path)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"counts": replace(COUNTS, counts={**COUNTS.counts, 5000: 1})}, "counts"),
        ({"protocol": replace(PLAN.protocol, n_train=300)}, "protocol"),
        ({"regressors": ("trees", "ridge")}, "protocol"),
    ],
)
def test_other_counts_and_another_protocol_by_the_same_name_are_refused(change, what, tmp_path):
    probe("control:oracle", PLAN, tmp_path / "s.jsonl")
    with pytest.raises(InputError, match=f"with another {what};"):
        probe("control:oracle", replace(PLAN, **change), tmp_path / "s.jsonl")


def test_a_further_task_of_another_model_is_refused_too(tmp_path):
    """One name never stands for two models in a file, whatever was asked of each."""
    probe("A=control:random", PLAN, tmp_path / "s.jsonl")
    with pytest.raises(InputError, match="another model"):
        probe("A=control:oracle", replace(PLAN, ranges=("[1,100]",)), tmp_path / "s.jsonl")


def test_protocols_of_other_names_tasks_on_texts_and_trainings_stand_side_by_side(tmp_path):
    path = tmp_path / "s.jsonl"
    probe("A=control:oracle", PLAN, path)
    probe("A=control:oracle", replace(PLAN, protocol=PROTOCOLS["laptop"]), path)
    probe("A=control:oracle", replace(PLAN, tasks=("paraphrases",), counts=None), path)
    probe("A=control:random", replace(PLAN, training=1), path)


def test_scores_of_before_are_taken_by_name_and_a_note_says_so(tmp_path):
    path, notes = tmp_path / "s.jsonl", []
    scores = probe("control:oracle", PLAN, path)
    old = [replace(score, origin=None) for score in scores]
    write_scores(path, old)
    assert b"origin" not in path.read_bytes()
    assert probe("control:oracle", PLAN, path, notes) == old
    [note] = notes
    assert note.startswith(f"{len(old)} scores of control:oracle in {path} do not say of which")


def test_a_system_without_a_fingerprint_is_known_by_name(tmp_path):
    for rule in ("oracle", "value"):
        system = NumeralSystem("own", CONTROLS[f"control:{rule}"])
        scores = probe_system(system, PLAN, tmp_path / "s.jsonl")
        assert read_scores(tmp_path / "s.jsonl") == scores


def test_a_probe_that_is_refused_leaves_no_empty_file(tmp_path):
    system = NumeralSystem("zeros", lambda numerals: np.zeros((len(numerals), 2)))
    with pytest.raises(InputError, match="has no vector of any numeral"):
        probe_system(system, PLAN, tmp_path / "s.jsonl")
    assert not (tmp_path / "s.jsonl").exists()


def test_the_second_of_two_probes_into_one_file_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(locks, "PATIENCE", 0)
    path = tmp_path / "s.jsonl"
    path.touch()
    other = os.open(path, os.O_RDONLY)  # a lock belongs to an open file, not to a process
    locks.fcntl.flock(other, locks.fcntl.LOCK_EX)
    with pytest.raises(InputError, match=f"process {os.getpid()} is writing it"):
        probe("control:oracle", PLAN, path)
    os.close(other)
    probe("control:oracle", PLAN, path)
