import json
import subprocess
import sys
import time

import pytest

from numerate.errors import InputError
from numerate.layout import RunContext, RunLayout
from numerate.probe.scores import read_scores
from numerate.run.config import load_config
from numerate.run.execute import plan_run, run_config
from numerate.run.systems import list_targets

CONFIG = """
name = "small"
corpus = ["{corpus}"]
base = "{base}"
systems = ["base", "primed:ln-anchors", "ln-anchors", "control:oracle"]

[fit]
components = 40
sweep = [5, 40]

[pretrain]
max_tokens = 2000
max_length = 32
batch_size = 2
checkpoint_minutes = 0.005

[probe]
protocol = "demo"
tasks = ["decoding"]
domains = ["in"]
anchor = ["masked"]
seeds = 1
"""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Lines with some hundred numerals each below 100, 1,000 and 10,000."""
    path = tmp_path_factory.mktemp("text") / "a.txt"
    lines = [f"in the year {1900 + n} some {n} people paid {3 * n + 7}." for n in range(1, 250)]
    path.write_text("\n".join(lines))
    return path


@pytest.fixture
def config_file(corpus, tiny_models, tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(CONFIG.format(corpus=corpus, base=tiny_models("bert")))
    return path


def run_all(config_file, out, *changes):
    """Run, and return in which state each step was."""
    told = {}
    config = load_config(str(config_file), changes)
    run_config(
        config,
        out,
        workers=1,
        quiet=True,
        report=lambda step, state, _: told.update({step.title: state}),
    )
    return told


def context(folder):
    return RunContext(RunLayout(folder))


def again(told):
    return [title for title, state in told.items() if state != "done"]


def test_only_what_depends_on_a_changed_setting_runs_again(config_file, tmp_path):
    out = tmp_path / "run"
    first = run_all(config_file, out)
    probes = ["probe base", "probe primed-ln-anchors", "probe ln-anchors-masked"]
    probes += ["probe twin-ln-anchors-masked", "probe control-oracle"]
    training = ["prime ln-anchors", "pretrain ln-anchors"]
    assert list(first) == ["extract", "fit ln", *training, *probes, "report"]
    assert set(first.values()) == {"new"}
    assert again(run_all(config_file, out)) == []
    assert again(run_all(config_file, out, "probe.seeds=2")) == [*probes, "report"]
    assert {score.seed for score in read_scores(out / "probe" / "scores.jsonl")} == {0, 1}
    assert again(run_all(config_file, out)) == [*probes, "report"]  # and back: fewer seeds
    assert {score.seed for score in read_scores(out / "probe" / "scores.jsonl")} == {0}
    changed = again(run_all(config_file, out, "fit.components=30"))
    # the plain base and the oracle do not know of anchors
    assert changed == ["fit ln", *training, *probes[1:4], "report"]
    assert again(run_all(config_file, out, "fit.components=30", "report.compare=paper")) == [
        "report"
    ]


def test_every_step_leaves_a_record_and_the_run_its_config(config_file, tmp_path):
    out = tmp_path / "run"
    run_all(config_file, out)
    config = json.loads((out / "config.json").read_text())
    assert config["fit"]["components"] == 40
    for step in plan_run(load_config(str(config_file)), out):
        record = json.loads((step.folder(out) / "run.json").read_text())
        assert (record["stage"], record["name"]) == (step.stage, step.name)
        assert record["seconds"] > 0
    scores = read_scores(out / "probe" / "scores.jsonl")
    assert list(dict.fromkeys(score.system for score in scores)) == [
        "base",
        "base primed as ln-anchors (visible)",
        "ln-anchors (masked)",
        "untrained ln-anchors (masked)",
        "control:oracle",
    ]
    portrait = json.loads((out / "probe" / "ln-anchors-masked" / "portrait.json").read_text())
    assert portrait["system"] == "ln-anchors (masked)"
    assert len(portrait["line"]["true"]) == len(portrait["line"]["predicted"])
    assert len(portrait["cosines"]) == 100
    assert [layer["layer"] for layer in portrait["layers"]] == [0, 1]
    assert len(portrait["pooled"]) == len(portrait["layers"][0]["values"])
    oracle = json.loads((out / "probe" / "control-oracle" / "portrait.json").read_text())
    assert oracle["line"]["r2"] > 0.95  # by a hundred trees on a few hundred numerals
    assert "layers" not in oracle
    assert (out / "report" / "index.html").exists()


def test_a_run_cut_off_in_any_step_goes_on_to_the_same_scores(config_file, tmp_path):
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    run_all(config_file, whole)

    class CutError(Exception):
        pass

    config = load_config(str(config_file))
    for n_steps in range(len(plan_run(config, cut))):
        seen = []

        def report(step, state, _, seen=seen, n_steps=n_steps):
            seen.append(step)
            if len(seen) > n_steps:
                raise CutError

        with pytest.raises(CutError):
            run_config(config, cut, workers=1, quiet=True, report=report)
    run_all(config_file, cut)
    same = "probe/scores.jsonl"
    assert (cut / same).read_bytes() == (whole / same).read_bytes()


def test_exponents_go_through_every_stage(config_file, tmp_path):
    out = tmp_path / "run"
    told = run_all(config_file, out, 'systems=["primed:exp","exp"]')
    assert list(told)[1:4] == ["fit log10", "prime exp", "pretrain exp"]
    assert not (out / "fit" / "log10" / "sweep.json").exists()
    scores = read_scores(out / "probe" / "scores.jsonl")
    assert {score.system for score in scores} == {
        "base primed as exp (visible)",
        "exp (masked)",
        "untrained exp (masked)",
    }
    assert "1874 **&lt;EXP&gt;** **3**" in (out / "report/tables/sentences.md").read_text()


def test_rehearsal_holds_out_what_probes_will_ask(config_file, tmp_path):
    out = tmp_path / "run"
    changes = ["pretrain.rehearse=0.5", 'systems=["ln-anchors"]']
    run_all(config_file, out, *changes)
    trained = json.loads((out / "pretrain" / "ln-anchors" / "model" / "run.json").read_text())
    assert trained["config"]["hold_out"] == str(out / "extract" / "counts.json")
    assert again(run_all(config_file, out, *changes, "probe.seeds=2")) == [
        "probe ln-anchors-masked",
        "probe twin-ln-anchors-masked",
        "report",
    ]


def test_a_variant_can_be_read_in_a_way_of_its_own(config_file, tmp_path):
    own = ['systems=["ln-anchors","mine"]', 'variants.mine={scale="ln",marker="anc",read="anchor"}']
    run_all(config_file, tmp_path / "run", *own)
    scores = read_scores(tmp_path / "run" / "probe" / "scores.jsonl")
    values = {}
    for score in scores:
        values.setdefault(score.system, []).append(score.value)
    assert [name for name in values if not name.startswith("untrained")] == [
        "ln-anchors (masked)",
        "mine (masked) at anchor",
    ]
    assert values["ln-anchors (masked)"] != values["mine (masked) at anchor"]


def test_without_an_anchor_the_numeral_is_all_there_is_to_read(config_file, tmp_path):
    own = ['variants.exp={anchor=["masked","absent"],read="anchor"}', 'systems=["exp"]']
    entries = list_targets(load_config(str(config_file), own), context(tmp_path))
    assert [(entry.shown, entry.read) for entry in entries] == [
        ("masked", "anchor"),
        ("absent", "all"),
        ("masked", "anchor"),  # and its twin
        ("absent", "all"),
    ]


def test_a_variant_can_be_shown_in_some_ways_only(config_file, tmp_path):
    own = ['systems=["ln-anchors","exp"]', 'variants.exp.anchor=["absent","visible"]']
    config = load_config(str(config_file), own)
    assert [entry.folder for entry in list_targets(config, context(tmp_path))] == [
        "ln-anchors-masked",
        "twin-ln-anchors-masked",
        "exp-absent",
        "exp-visible",
        "twin-exp-absent",
        "twin-exp-visible",
    ]


def test_the_control_of_a_variant_that_reads_digits_does_so_too(config_file, tmp_path):
    config = load_config(str(config_file), ["pretrain.pieces=digits"])
    base, primed, *_ = (target.system for target in list_targets(config, context(tmp_path)))
    assert (base.kind, base.path, base.primed) == ("model", config.base, False)
    assert (primed.kind, primed.path, primed.primed) == ("digits", config.base, True)


def test_a_twin_is_the_untrained_model_shown_and_read_as_its_variant_is(config_file, tmp_path):
    own = ['variants.mine={scale="ln",marker="anc",read="anchor",pretrain={pieces="digits"}}']
    own += ['systems=["twin:mine","mine"]', 'probe.anchor=["masked","absent"]']
    config = load_config(str(config_file), own)
    targets = list_targets(config, context(tmp_path))
    twins, ours = targets[:2], targets[2:]
    for twin, trained in zip(twins, ours, strict=True):
        assert twin.system.title == f"untrained {trained.system.title}"
        assert (twin.shown, twin.read) == (trained.shown, trained.read)
        assert (twin.system.model, twin.system.primed) == (f"digits:{config.base}", True)
        assert twin.priming.anchors == RunLayout(tmp_path).anchors("ln")
    run_all(config_file, tmp_path / "run", 'systems=["twin:ln-anchors","ln-anchors"]')
    systems = {score.system for score in read_scores(tmp_path / "run/probe/scores.jsonl")}
    assert systems == {"untrained ln-anchors (masked)", "ln-anchors (masked)"}
    page = (tmp_path / "run/report/index.html").read_text()
    assert "numbers most like a given one are off by a factor of" in page


def test_systems_with_like_names_have_folders_of_their_own(config_file, tmp_path):
    config = load_config(str(config_file), ['systems=["a b=control:oracle","a:b=control:value"]'])
    assert [entry.folder for entry in list_targets(config, context(tmp_path))] == [
        "a-b",
        "a-b~2",
    ]


def test_a_run_folder_may_have_an_equals_sign(config_file, tmp_path):
    out = tmp_path / "fit.components=40"
    run_all(config_file, out, 'systems=["ln-anchors"]')
    scores = read_scores(out / "probe" / "scores.jsonl")
    assert {score.system for score in scores} == {
        "ln-anchors (masked)",
        "untrained ln-anchors (masked)",
    }


def test_each_training_has_a_seed_a_folder_and_scores_of_its_own(config_file, tmp_path):
    out = tmp_path / "run"
    told = run_all(config_file, out, 'systems=["ln-anchors"]', "trainings=2", "seed=5")
    trained = [title for title in told if title.startswith("pretrain")]
    assert trained == ["pretrain ln-anchors", "pretrain ln-anchors~1"]
    for name, seed in (("ln-anchors", 5), ("ln-anchors~1", 6)):
        record = json.loads((out / "pretrain" / name / "model" / "run.json").read_text())
        assert record["config"]["seed"] == seed
    values = {}
    for score in read_scores(out / "probe" / "scores.jsonl"):
        values.setdefault((score.system, score.training), []).append(score.value)
    first, second = (values["ln-anchors (masked)", training] for training in (0, 1))
    assert len(first) == len(second)
    assert first != second
    assert ("untrained ln-anchors (masked)", 1) not in values


def test_standard_input_is_refused(config_file, tmp_path):
    config = load_config(str(config_file), ['corpus=["-"]'])
    with pytest.raises(InputError, match="reads it more than once; name a file"):
        plan_run(config, tmp_path)


def test_a_dry_run_says_what_would_run_and_runs_nothing(config_file, tmp_path, run):
    out = tmp_path / "run"
    command = ("run", config_file, "--out", out, "--workers", 1)
    code, shown, _ = run(*command, "--dry-run")
    assert code == 0
    assert "pretrain ln-anchors" in shown
    assert "to do" in shown
    assert not out.exists()
    run(*command, "--quiet")
    code, shown, _ = run(*command, "--dry-run")
    assert "All is done." in shown
    code, shown, _ = run(*command, "--dry-run", "--set", "fit.components=20")
    states = {line.split("│")[1].strip(): line for line in shown.splitlines() if "│" in line}
    assert "done" in states["extract"]
    assert "again: changed" in states["fit ln"]
    assert "again: changed" in states["pretrain ln-anchors"]  # for its anchors will be others
    assert "done" in states["probe base"]
    code, shown, errors = run(*command, "--set", "fit.componets=20")
    assert (code, shown) == (2, "")
    assert errors.count("\n") == 1


def test_too_little_text_is_one_line(config_file, tmp_path, run):
    (tmp_path / "b.txt").write_text("in 1999 some 20 people and 5 more")
    changes = [f'corpus=["{tmp_path / "b.txt"}"]', 'systems=["base"]']
    options = [part for change in changes for part in ("--set", change)]
    code, _, errors = run("run", config_file, *options, "--out", tmp_path / "run", "--quiet")
    assert code == 2
    assert errors.startswith("numerate: no cell can be probed: decoding, in-domain [1,100] is left")
    assert errors.count("\n") == 1


@pytest.mark.slow
def test_a_run_killed_at_ten_moments_ends_with_the_scores_of_one_left_alone(config_file, tmp_path):
    command = [sys.executable, "-m", "numerate", "run", str(config_file), "-q", "--out"]
    began = time.monotonic()
    subprocess.run([*command, tmp_path / "whole"], check=True)
    duration = time.monotonic() - began
    for n in range(10):
        process = subprocess.Popen([*command, tmp_path / "cut"])
        time.sleep(duration * (0.15 + 0.07 * n))
        process.kill()
        process.wait()
    subprocess.run([*command, tmp_path / "cut"], check=True)
    same = "probe/scores.jsonl"
    assert (tmp_path / "cut" / same).read_bytes() == (tmp_path / "whole" / same).read_bytes()


@pytest.mark.slow
def test_the_papers_config_runs_on_stand_ins(corpus, tiny_models, tmp_path):
    """A tiny BERT and a small text in place of the two names on the hub.

    The protocol is the paper's with its 150 epochs, asked of one range: the classifier has twice
    the width of the vectors, and the controls left out here have wide ones.
    """
    text = tmp_path / "text.txt"  # with as many numerals as the largest mixture has components
    text.write_text("\n".join([corpus.read_text()] * 3))
    changes = [
        f'corpus=["{text}"]',
        f"base={tiny_models('bert')}",
        "pretrain.max_length=32",
        'systems=["base","primed:ln-anchors","anchors","anchors-lr","ln-anchors","ln-anchors-lr"]',
        'probe.anchor=["masked"]',
        'probe.tasks=["decoding","list-maximum"]',
        'probe.ranges=["[1,100]"]',
        "probe.seeds=1",
    ]
    options = [part for change in changes for part in ("--set", change)]
    done = subprocess.run(
        [sys.executable, "-m", "numerate", "run", "paper", *options, "--out", tmp_path / "run"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "The page is" in done.stdout
    assert "genbert" in (tmp_path / "run/report/tables/table-1.md").read_text()
    scores = read_scores(tmp_path / "run" / "probe" / "scores.jsonl")
    assert len({score.system for score in scores}) == 2 + 4 + 4  # each variant has its twin
    for name in ("anchors", "anchors-lr", "ln-anchors", "ln-anchors-lr"):
        record = json.loads((tmp_path / "run/pretrain" / name / "model/run.json").read_text())
        assert record["config"]["epochs"] == 6.0


def test_a_run_on_a_causal_base_ends_with_a_page(config_file, tiny_models, tmp_path):
    base = f"base={tiny_models('llama')}"
    systems = 'systems=["base", "ln-anchors", "ln-near"]'
    short = "pretrain.max_tokens=1000"
    with pytest.raises(InputError, match="must be visible, unsaid or absent, got 'masked'"):
        run_all(config_file, tmp_path / "run", base, systems, short)
    run_all(config_file, tmp_path / "run", base, systems, short, 'probe.anchor=["unsaid"]')
    found = {s.system for p in (tmp_path / "run").rglob("scores.jsonl") for s in read_scores(p)}
    trained = {"ln-anchors (unsaid) at last", "ln-near (unsaid) at anchor"}
    assert found >= {"base", *trained, *(f"untrained {name}" for name in trained)}
    page = (tmp_path / "run" / "report" / "index.html").read_text()
    assert all(name in page for name in trained)


def test_anchors_are_shown_as_the_kind_of_the_base_has_it(config_file, tiny_models, tmp_path):
    for architecture, hidden in (("bert", "masked"), ("gpt2", "unsaid")):
        config = load_config(
            str(config_file), [f"base={tiny_models(architecture)}", "probe.anchor=[]"]
        )
        shown = [target.shown for target in list_targets(config, context(tmp_path))]
        assert [way for way in shown if way] == [
            "absent",
            "visible",
            *["visible", hidden, "absent"] * 2,
        ]


@pytest.mark.parametrize(
    ("system", "said"),
    [
        ("control:orakel", "control:orakel: no such control"),
        ("words=vectors:nosuch.txt", "nosuch.txt: no such file"),
        ("sentence:{base}", "no sentence encoder, it has no modules.json"),
        ("genbert:nosuch", "genbert:nosuch: no such folder"),
    ],
)
def test_a_system_with_a_mistake_in_its_name_costs_no_step(
    system, said, config_file, tiny_models, tmp_path
):
    system = system.format(base=tiny_models("bert"))
    with pytest.raises(InputError, match=said):
        run_all(config_file, tmp_path / "run", f"systems=['base', 'ln-anchors', '{system}']")
    assert not (tmp_path / "run").exists()


def test_a_base_with_a_mistake_in_its_name_costs_no_step(config_file, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="empty: "):
        run_all(config_file, tmp_path / "run", f"base='{tmp_path / 'empty'}'")
    assert not (tmp_path / "run").exists()


def test_a_run_that_its_first_step_refuses_leaves_nothing(config_file, tmp_path):
    (tmp_path / "b.txt").write_text("not one number")
    with pytest.raises(InputError, match=r"b\.txt: no numerals of the domain 'integers'"):
        run_all(config_file, tmp_path / "new" / "run", f"corpus=['{tmp_path / 'b.txt'}']")
    assert not (tmp_path / "new").exists()


def test_a_run_that_a_later_step_refuses_keeps_the_steps_before(config_file, tmp_path):
    out = tmp_path / "run"
    with pytest.raises(InputError, match="components must be from 1 to the number of numerals"):
        run_all(config_file, out, "fit.components=100_000")
    assert sorted(path.name for path in out.iterdir()) == ["config.json", "extract"]
    assert (out / "extract" / "run.json").exists()


def test_the_second_of_two_runs_in_one_folder_is_refused(config_file, tmp_path, monkeypatch):
    import os

    from numerate import locks

    monkeypatch.setattr(locks, "PATIENCE", 0)
    out = tmp_path / "run"
    out.mkdir()
    other = os.open(out, os.O_RDONLY)  # a lock belongs to an open file, not to a process
    locks.fcntl.flock(other, locks.fcntl.LOCK_EX)
    with pytest.raises(InputError, match=f"run: process {os.getpid()} is writing it"):
        run_all(config_file, out)
    os.close(other)
    assert not list(out.iterdir())
