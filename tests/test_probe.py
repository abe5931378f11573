"""The command line of embed, similar and probe, and going on with scores."""

import json
import sys

import numpy as np
import pytest

from numerate import load
from numerate.cli import main
from numerate.probe import System, make_systems, probe_system
from numerate.scores import read_scores


@pytest.fixture
def run(monkeypatch, capsys):
    """Run the command line here, where the libraries are loaded already: code, output, errors."""

    def run_line(*arguments):
        monkeypatch.setattr(sys, "argv", ["numerate", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        return ended.value.code or 0, out, err

    return run_line


def embed_by_chance(texts):
    return np.random.default_rng(len(texts)).normal(size=(len(texts), 8))


def test_embed_writes_what_python_computes(run, anchored_models, tmp_path):
    folder, out = anchored_models(), tmp_path / "vectors.npz"
    (tmp_path / "more.txt").write_text("7\n\n99999\n")
    code, shown, _ = run(
        "embed", folder, "1999", "12,345", "--from", tmp_path / "more.txt", "--out", out,
        "--anchor", "masked", "--read", "anchor", "--layers", "-1",
    )  # fmt: skip
    assert code == 0
    assert "1999 <ANC> [MASK]" in shown
    saved = np.load(out)
    assert saved["inputs"].tolist() == ["1999", "12,345", "7", "99999"]
    expected = load(str(folder)).embed_numerals(
        saved["inputs"].tolist(), anchor="masked", read="anchor", layers=[-1]
    )
    np.testing.assert_array_equal(saved["vectors"], expected)
    assert json.loads(str(saved["settings"]))["anchor"] == "masked"


def test_embed_takes_sentences(run, anchored_models, tmp_path):
    text = "in 1999 some people came"
    code, shown, _ = run("embed", anchored_models(), "--texts", text, "--out", tmp_path / "a.npz")
    assert code == 0
    assert "in 1999 <ANC> 86" in shown
    expected = load(str(anchored_models())).embed_texts([text])
    np.testing.assert_array_equal(np.load(tmp_path / "a.npz")["vectors"], expected)


def test_similar_shows_as_many_as_asked_for(run, anchored_models):
    code, shown, _ = run("similar", anchored_models(), "1999", "--among", "1990:2009", "--top", 3)
    assert code == 0
    assert "What is most like 1999" in shown
    assert sum(" 19" in line or " 20" in line for line in shown.splitlines()[3:]) == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["embed", "MODEL", "0"], "numerals[0] must be a whole number from 1 to 10^10, got '0'"),
        (["embed", "MODEL", "--", "7", "-5"], "numerals[1] must be a whole number"),
        (["embed", "MODEL", str(10**12)], "numerals[0] must be a whole number"),
        (["embed", "MODEL", "NaN"], "got 'NaN'"),
        (["embed", "MODEL", "abc"], "got 'abc'"),
        (["embed", "MODEL"], "numerals must not be empty; give at least one"),
        (["embed", "MODEL", "7", "--from", "no.txt"], "no.txt: No such file"),
        (["embed", "MODEL", "7", "--out", "a.npy"], "--out must end in .npz, got a.npy"),
        (["embed", "MODEL", "7", "--layers", "x"], "layers must be like -1 or -4,-3,-2,-1"),
        (["embed", "PLAIN", "7", "--anchor", "visible"], "has no anchors, so none can be visible"),
        (["embed", "FOLDER", "7"], "not a model folder; it has no config.json"),
        (["embed", "MODEL", "7", "--device", "abacus"], "device must be one of this machine"),
        (["similar", "MODEL", "abc"], "numerals[0] must be a whole number"),
        (["similar", "MODEL", "7", "--among", "x"], "among must be like 1900:2100"),
        (["probe", "MODEL", "--out", "s.jsonl", "--tasks", "rhyme"], "tasks must be among"),
        (["probe", "MODEL", "--out", "s.jsonl", "--anchor", "x"], "anchor must be among visible"),
        (
            ["probe", "MODEL", "--out", "s.jsonl", "--seeds", "0"],
            "should be greater than or equal to 1",
        ),
        (["probe", "FOLDER", "--out", "s.jsonl"], "not a model folder"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(
    arguments, message, run, anchored_models, tiny_models, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    folders = {"MODEL": anchored_models(), "PLAIN": tiny_models("bert"), "FOLDER": tmp_path}
    capsys.readouterr()
    code, _, err = run(*(folders.get(argument, argument) for argument in arguments))
    assert code == 2
    assert message in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_model_with_anchors_is_a_system_for_each_way_to_show_them(anchored_models, tiny_models):
    anchored = list(make_systems(load(str(anchored_models())), ["visible", "masked"]))
    assert [system.name.rsplit(" ", 1)[1] for system in anchored] == ["(visible)", "(masked)"]
    texts = ["in 1999", "the town"]
    visible, masked = (system.embed_texts(texts) for system in anchored)
    assert not np.allclose(visible[0], masked[0])
    np.testing.assert_allclose(visible[1], masked[1], atol=1e-6)
    assert len(list(make_systems(load(str(tiny_models("bert"))), ["visible"]))) == 1


def test_scores_that_are_there_are_not_computed_again(tmp_path):
    path = tmp_path / "scores.jsonl"
    calls = []
    system = System("a", lambda texts: calls.append(1) or embed_by_chance(texts))
    tasks = ["paraphrases", "retrieval"]
    first = probe_system(system, path, tasks=tasks, seeds=[0, 1])
    n_cells = len(calls)
    assert n_cells == 2 * (1 + 5)
    assert probe_system(system, path, tasks=tasks, seeds=[0, 1]) == first
    assert len(calls) == n_cells
    path.write_text(path.read_text()[:-30])  # as a kill would leave it
    assert probe_system(system, path, tasks=tasks, seeds=[0, 1]) == first
    assert len(calls) == n_cells + 1
    again = probe_system(System("b", embed_by_chance), path, tasks=tasks, seeds=[0])
    assert [score.value for score in again] == [score.value for score in first[: len(again)]]


def test_probe_shows_every_task_and_range(run, anchored_models, tmp_path):
    code, shown, _ = run(
        "probe", anchored_models(), "--seeds", 2, "--anchor", "visible,absent", "--tasks",
        "retrieval", "--out", tmp_path / "scores.jsonl",
    )  # fmt: skip
    assert code == 0
    assert all(f"retrieval: {metric}" in shown for metric in ("first", "subject", "nearest"))
    assert len(read_scores(tmp_path / "scores.jsonl")) == 2 * 2 * 5 * 3
