import json
import signal
import subprocess
import sys

import pytest
import torch
from safetensors.torch import load_file

from numerate.errors import InputError
from numerate.probe.scores import read_scores
from numerate.run.config import load_config, read_config
from numerate.run.execute import plan_run, run_config
from tests.pretraining import find_step, wait_for_step

PROBLEMS = "Question,Numbers,Equation,Answer\n" + "\n".join(
    f"some number0 people and number1 came,{n}.0 {n + 3}.0,+ number0 number1,{2 * n + 3}"
    for n in range(1, 40)
)
CONFIG = """
name = "small"
corpus = ["{corpus}"]
base = "{base}"
systems = ["base", "genbert-recipe", "mwp-bert-recipe"]

[genbert]
max_tokens = 3000
batch_size = 16

[mwp_bert]
problems = "{problems}"
max_tokens = 3000
batch_size = 16

[probe]
protocol = "demo"
tasks = ["decoding"]
domains = ["in"]
seeds = 1
"""


@pytest.fixture
def problems(tmp_path):
    path = tmp_path / "problems.csv"
    path.write_text(PROBLEMS)
    return path


def test_the_command_trains_and_shows_what_came_of_it(run, tiny_models, problems, tmp_path):
    base = tiny_models("bert")
    budget = ("--max-tokens", 3000, "--batch-size", 16)
    code, out, _ = run("baseline", "genbert", "--base", base, "--out", tmp_path / "g", *budget)
    assert code == 0
    assert "GenBERT recipe, held out" in out
    assert "accuracy share" in out
    more = ("--problems", problems, *budget)
    code, out, _ = run("baseline", "mwp-bert", "--base", base, "--out", tmp_path / "m", *more)
    assert code == 0
    assert "MWP-BERT recipe, held out" in out
    assert "loss distance" in out
    for name, recipe in (("g", "genbert"), ("m", "mwp-bert")):
        document = json.loads((tmp_path / name / "run.json").read_text())
        assert document["config"]["recipe"] == recipe
        assert (tmp_path / name / "curve.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["mwp-bert", "--problems", "nosuch.csv"], "nosuch.csv: no such file of problems"),
        (["mwp-bert", "--problems", "README.md"], "must be a .csv or .json file"),
        (["mwp-bert"], "Missing option '--problems'"),
        (["genbert", "--max-minutes", "0"], "max_minutes must be above 0"),
        (["genbert", "--corpus", "nosuch.txt"], "nosuch.txt: no such file or folder"),
        (["nosuch"], "No such command 'nosuch'"),
    ],
)
def test_bad_input_is_one_line(options, message, run, tiny_models, tmp_path):
    name, *rest = options
    there = ("--base", tiny_models("bert"), "--out", tmp_path / "out")
    code, _, err = run("baseline", name, *there, *rest)
    assert code == 2
    assert message in err
    assert err.count("\n") == 1
    assert not list(tmp_path.glob("out/*"))


def test_a_killed_run_goes_on_to_the_same_weights(tiny_models, tmp_path):
    command = [sys.executable, "-m", "numerate", "baseline", "genbert", "--quiet"]
    command += ["--base", str(tiny_models("bert")), "--max-tokens", "12000", "--batch-size", "4"]
    command += ["--checkpoint-minutes", "0.001", "--dropout", "0.1", "--out"]
    subprocess.run([*command, tmp_path / "whole"], check=True)
    process = subprocess.Popen([*command, tmp_path / "killed"])
    wait_for_step(process, tmp_path / "killed" / "unfinished", 3)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert find_step(tmp_path / "killed" / "unfinished")
    assert not (tmp_path / "killed" / "run.json").exists()
    subprocess.run([*command, tmp_path / "killed", "--resume"], check=True)
    whole, killed = (load_file(tmp_path / n / "model.safetensors") for n in ("whole", "killed"))
    assert all(torch.equal(whole[name], killed[name]) for name in whole)


def test_a_run_without_its_problems_does_not_begin(tiny_models, tmp_path):
    raw = {"corpus": ["almanac:"], "base": str(tiny_models("bert"))}
    raw |= {"systems": ["mwp-bert-recipe"], "mwp_bert": {"problems": "nosuch.csv"}}
    with pytest.raises(InputError, match=r"mwp_bert\.problems: nosuch\.csv: no such file"):
        plan_run(read_config(raw, "here"), tmp_path / "run")


def test_recipes_are_systems_of_a_run(tiny_models, problems, tmp_path):
    corpus = tmp_path / "a.txt"
    lines = [f"in the year {1900 + n} some {n} people paid {3 * n + 7}." for n in range(1, 250)]
    corpus.write_text("\n".join(lines))
    path = tmp_path / "small.toml"
    text = CONFIG.format(corpus=corpus, base=tiny_models("bert"), problems=problems)
    path.write_text(text)
    config = load_config(str(path))
    titles = [step.title for step in plan_run(config, tmp_path / "run")]
    assert titles[:4] == [
        "extract",
        "baseline genbert-recipe",
        "baseline mwp-bert-recipe",
        "probe base",
    ]
    told = {}
    page = run_config(
        config,
        tmp_path / "run",
        workers=1,
        quiet=True,
        report=lambda step, state, _: told.update({step.title: state}),
    )
    assert "MWP-BERT recipe" in page.read_text()
    scores = read_scores(tmp_path / "run" / "probe" / "scores.jsonl")
    assert {score.system for score in scores} == {"base", "GenBERT recipe", "MWP-BERT recipe"}
    folder = tmp_path / "run" / "baseline" / "genbert-recipe" / "model"
    assert json.loads((folder / "run.json").read_text())["data"]["texts"] == 249
    assert (folder / "curve.png").exists()
    told.clear()
    run_config(
        load_config(str(path), ["mwp_bert.max_tokens=4000"]),
        tmp_path / "run",
        workers=1,
        quiet=True,
        report=lambda step, state, _: told.update({step.title: state}),
    )
    again = [title for title, state in told.items() if state != "done"]
    assert again == ["baseline mwp-bert-recipe", "probe mwp-bert-recipe", "report"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({}, "mwp_bert.problems: must be given for the system mwp-bert-recipe"),
        ({"mwp_bert": {"problem": "x"}}, "no such setting; did you mean problems?"),
        ({"genbert": {"corpus": ["x"]}}, "genbert.corpus: no such setting"),
        ({"genbert": {"max_tokens": 1, "max_minutes": 1}}, "must not both be given"),
    ],
)
def test_settings_of_recipes_are_checked_before_anything_runs(change, message):
    raw = {"corpus": ["a.txt"], "base": "some/model"}
    raw["systems"] = ["genbert-recipe", "mwp-bert-recipe"]
    with pytest.raises(InputError, match=message.replace("?", r"\?")):
        read_config({**raw, **change}, "here")
