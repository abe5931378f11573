"""The command line of embed, similar and probe, and going on with scores."""

import json
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

from numerate import InputError, load
from numerate.cli import models
from numerate.extract.counts import Counts
from numerate.extract.ranges import hash_line, list_line
from numerate.fit.anchors import AnchorSet
from numerate.prime.scheme import Priming
from numerate.probe import plan as plan_module
from numerate.probe.controls import CONTROLS
from numerate.probe.layers import probe_layers
from numerate.probe.plan import Plan, draw_samples, probe_system, score_cells
from numerate.probe.protocols import LAPTOP, PROTOCOLS
from numerate.probe.samples import TASKS
from numerate.probe.scores import read_scores
from numerate.probe.stage import ProbeSettings
from numerate.probe.systems import (
    ControlSystem,
    NumeralSystem,
    Reading,
    embed_cached,
    open_systems,
)
from numerate.probe.tasks.draw import NUMERAL_TASKS
from numerate.probe.tasks.text_tasks import TASK_GROUPS, expand_tasks


def embed_by_chance(texts):
    return np.random.default_rng(len(texts)).normal(size=(len(texts), 8))


def test_embed_writes_what_python_computes(run, anchored_models, tmp_path):
    folder, out = anchored_models(), tmp_path / "vectors.npz"
    (tmp_path / "more.txt").write_text("7\n\n99999\n")
    code, shown, _ = run(
        "embed", folder, "1999", "12,345", "--from", tmp_path / "more.txt", "--out", out,
        "--show", "masked", "--read", "anchor", "--layers", "-1",
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
    assert "Most similar to 1999" in shown
    assert sum(" 19" in line or " 20" in line for line in shown.splitlines()[3:]) == 3


SENTENCES = ["--tasks", "paraphrases"]


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
        (["embed", "PLAIN", "7", "--show", "visible"], "has no anchors, so none can be visible"),
        (["embed", "FOLDER", "7"], "not a model folder; it has no config.json"),
        (["embed", "MODEL", "7", "--device", "abacus"], "device must be one of this machine"),
        (["similar", "MODEL", "abc"], "numerals[0] must be a whole number"),
        (["similar", "MODEL", "7", "--among", "x"], "among must be like 1900:2100"),
        (["probe", "MODEL", "--out", "s.jsonl", "--tasks", "rhyme"], "tasks must be among"),
        (
            ["probe", "MODEL", "--out", "s.jsonl", "--show", "x", *SENTENCES],
            "--show must be among",
        ),
        (["probe", "MODEL", "--out", "s.jsonl", "--domains", "x", *SENTENCES], "domains must be"),
        (["probe", "MODEL", "--out", "s.jsonl", "--compare", "x"], "'x' is not one of"),
        (
            ["probe", "MODEL", "--out", "s.jsonl", "--seeds", "0"],
            "should be greater than or equal to 1",
        ),
        (["probe", "MODEL", "--out", "s.jsonl", "--domains", "in"], "'in' needs --counts"),
        (["probe", "MODEL", "--out", "s.jsonl", "--protocol", "x"], "protocol must be one of"),
        (["probe", "control:x", "--out", "s.jsonl", *SENTENCES], "no such control; there are"),
        (["probe", "control:primed:a", "--out", "s.jsonl", *SENTENCES], "needs --anchors"),
        (["probe", "FOLDER", "--out", "s.jsonl", *SENTENCES], "not a model folder"),
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
    reading = Reading(("visible", "masked"))
    anchored = list(open_systems(str(anchored_models()), reading=reading))
    assert [system.name.rsplit(" ", 1)[1] for system in anchored] == ["(visible)", "(masked)"]
    assert len({system.fingerprint for system in anchored}) == 2
    texts = ["in 1999", "the town"]
    visible, masked = (system.embed_texts(texts) for system in anchored)
    assert not np.allclose(visible[0], masked[0])
    np.testing.assert_allclose(visible[1], masked[1], atol=1e-6)
    [plain] = open_systems(str(tiny_models("bert")), reading=reading)
    assert plain.name == str(tiny_models("bert"))


def test_the_untrained_model_can_be_shown_anchors(tiny_models):
    priming = Priming(AnchorSet("ln", (10, 17, 86, 104)))
    name = f"control:primed:{tiny_models('bert')}"
    [primed] = open_systems(name, reading=Reading(), priming=priming)
    expected = load(str(tiny_models("bert")), priming=priming).embed_numerals([1999])
    np.testing.assert_array_equal(primed.embed_numerals([1999]), expected)


def test_vectors_are_computed_once_and_kept(tmp_path):
    calls = []
    system = NumeralSystem(
        "a", lambda n: calls.append(list(n)) or np.array(n, float)[:, None], "print"
    )
    first = embed_cached(system, np.array([5, 3, 5]), tmp_path)
    assert first.tolist() == [[5], [3], [5]]
    assert embed_cached(system, np.array([3, 9]), tmp_path).tolist() == [[3], [9]]
    assert calls == [[3, 5], [9]]
    embed_cached(NumeralSystem("a", system.embed_numerals, "another"), np.array([3]), tmp_path)
    assert calls[2:] == [[3]]


COUNTS = Counts(dict.fromkeys([*range(1, 1000), *range(1000, 10000, 9)], 1), documents=1, words=1)
ORACLE = ControlSystem("control:angle", CONTROLS["control:angle"])
QUICK = replace(LAPTOP, trees=100, learning_rate=0.1)


def make_plan(tasks, seeds=(0,), **settings):
    return Plan(tasks=tuple(tasks), seeds=tuple(seeds), protocol=QUICK, counts=COUNTS, **settings)


def test_a_range_without_numerals_is_left_out_with_a_note(tmp_path):
    notes = []
    plan = make_plan(["decoding"], [0, 1])
    scores = probe_system(
        NumeralSystem("value", CONTROLS["control:value"]),
        plan,
        tmp_path / "s.jsonl",
        note=notes.append,
    )
    assert {score.range for score in scores} == {"[1,100]", "[100,1k]", "[1k,10k]", "all"}
    assert [note.split(" is left out: ")[0] for note in notes] == [
        "decoding, in-domain [10k,10^10]",
        "decoding, out-of-domain [10k,10^10]",
    ]


def test_without_counts_the_whole_number_line_is_asked(tmp_path):
    plan = replace(make_plan(["geometry"]), counts=None, domains=())
    assert [cell.domain for cell in plan.cells] == ["line"] * 5
    samples = {cell.range: sample for cell, sample in draw_samples(plan, plan.cells).items()}
    assert samples["[1,100]"].test.ravel().tolist() == list(range(1, 101))
    assert set(samples["[1k,10k]"].test.ravel()) <= set(list_line("[1k,10k]"))
    scores = probe_system(ORACLE, plan, tmp_path / "s.jsonl")
    assert {(score.domain, score.origin.counts) for score in scores} == {("line", hash_line())}


def test_scores_on_the_line_and_on_a_corpus_may_be_in_one_file(tmp_path):
    path, plan = tmp_path / "s.jsonl", make_plan(["geometry"], domains=("in",), ranges=("[1,100]",))
    scores = probe_system(ORACLE, plan, path)
    line = probe_system(ORACLE, replace(plan, counts=None, domains=()), path)
    assert {score.origin.counts for score in scores} == {COUNTS.digest[:12]}
    assert probe_system(ORACLE, plan, path) == scores
    assert read_scores(path) == [*scores, *line]


@pytest.mark.parametrize("task", ["list-maximum", "list-minimum"])
def test_the_logarithm_in_one_coordinate_finds_every_extreme(task, tmp_path):
    """In close lists too; the other coordinates say nothing."""

    def embed(numerals):
        return np.log(numerals)[:, None] * np.eye(8)[3]

    plan = make_plan([task], domains=("in",))
    scores = probe_system(NumeralSystem("known", embed), plan, tmp_path / "s.jsonl")
    assert {score.range for score in scores} == {"[1,100]", "[100,1k]", "[1k,10k]", "all"}
    assert min(score.value for score in scores) > 0.99


def test_the_oracle_decodes_and_noise_does_no_better_than_the_mean(tmp_path):
    plan = make_plan(["decoding"], domains=("in",))
    best, worst = (
        {(s.range, s.metric): s.value for s in probe_system(system, plan, tmp_path / "s.jsonl")}
        for [system] in (
            list(open_systems(f"control:{name}", reading=Reading()))
            for name in ("oracle", "random")
        )
    )
    for name in ("[100,1k]", "[1k,10k]"):
        assert best[name, "log-rmse"] < 0.002
        assert best[name, "r2"] > 0.999
        assert worst[name, "r2"] < 0.05
        assert worst[name, "ridge r2"] < 0.05


def test_all_systems_get_the_same_samples_and_seeds_differ(tmp_path):
    """A system that is probed later, and with another name, has the scores of its twin."""
    plan = make_plan(["addition"], [0, 1], ranges=("[1,100]",), regressors=("ridge",))
    first, other, twin = (
        probe_system(NumeralSystem(name, CONTROLS[f"control:{rule}"]), plan, tmp_path / "s.jsonl")
        for name, rule in (("first", "chars"), ("other", "random"), ("twin", "chars"))
    )
    assert [score.value for score in first] == [score.value for score in twin]
    assert [score.value for score in first] != [score.value for score in other]
    by_seed = [[score.value for score in first if score.seed == seed] for seed in (0, 1)]
    assert by_seed[0] != by_seed[1]


def test_answers_are_filed_under_their_own_cells_in_whatever_order_they_come(tmp_path, monkeypatch):
    system = NumeralSystem("digits", CONTROLS["control:digits"])
    plan = make_plan(["decoding"], [0, 1], domains=("in",), regressors=("ridge",))
    expected = probe_system(system, plan, tmp_path / "a.jsonl")
    answer = plan_module.map_ordered
    monkeypatch.setattr(
        plan_module,
        "map_ordered",
        lambda *arguments, **settings: iter([*answer(*arguments, **settings)][::-1]),
    )
    assert probe_system(system, plan, tmp_path / "b.jsonl") == expected
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()


def test_progress_counts_every_cell_also_those_that_are_known_or_left_out(tmp_path):
    system, path = NumeralSystem("value", CONTROLS["control:value"]), tmp_path / "s.jsonl"
    plan = make_plan(["decoding"], regressors=("ridge",))
    counts = []
    probe_system(system, replace(plan, ranges=("[1,100]",)), path)
    probe_system(system, plan, path, progress=counts.append)
    assert counts == [2, 3, 4, 5, 6, 7]


def test_the_same_seed_gives_the_same_scores(tmp_path):
    system = NumeralSystem("digits", CONTROLS["control:digits"])
    small = Counts(dict.fromkeys(range(1, 1000), 1), documents=1, words=1)
    plan = replace(make_plan(["addition", "list-minimum"], domains=("in",)), counts=small)
    first = probe_system(system, plan, tmp_path / "a.jsonl")
    assert probe_system(system, plan, tmp_path / "b.jsonl") == first


def test_cells_computed_side_by_side_have_the_scores_of_one_after_the_other(tmp_path):
    system = NumeralSystem("digits", CONTROLS["control:digits"])
    plan = replace(
        make_plan(["decoding", "list-minimum"], domains=("in",)),
        counts=Counts(dict.fromkeys(range(1, 1000), 1), documents=1, words=1),
    )
    alone = probe_system(system, plan, tmp_path / "a.jsonl")
    assert probe_system(system, replace(plan, workers=2), tmp_path / "b.jsonl") == alone
    assert (tmp_path / "a.jsonl").read_text() == (tmp_path / "b.jsonl").read_text()
    assert len(alone) == 3 * (6 + 3)  # trees and ridge; all, close and apart lists


def test_a_system_is_called_what_the_user_calls_it(anchored_models):
    [control] = open_systems("the truth=control:oracle", reading=Reading())
    assert control.name == "the truth"
    [model] = open_systems(f"ours={anchored_models()}", reading=Reading(("masked",)))
    assert model.name == "ours (masked)"


def test_only_the_laptop_protocols_show_trees_fewer_quantiles_and_only_of_wide_inputs():
    assert [protocol.count_bins(1) for protocol in PROTOCOLS.values()] == [256] * 5
    assert {name: protocol.count_bins(384) for name, protocol in PROTOCOLS.items()} == {
        "paper": 256,
        "strict": 256,
        "laptop": 16,
        "leaky": 16,
        "demo": 16,
    }


def test_every_layer_is_decoded_by_ridge(anchored_models, tmp_path):
    [system] = open_systems(str(anchored_models()), reading=Reading(("absent",)))
    scores = probe_layers(system, make_plan(["addition"], domains=("in",)), tmp_path / "s.jsonl")
    assert {score.system.rsplit(" ", 2)[1:][1] for score in scores} == {"0", "1"}
    assert {score.task for score in scores} == {"decoding"}
    assert all(score.metric.startswith("ridge ") for score in scores)


def test_a_killed_run_goes_on_and_ends_with_the_same_scores(tmp_path):
    """Killed hard as soon as there are so many scores, and started again each time."""
    Counts(dict.fromkeys(range(1, 1000), 1), documents=1, words=1).save(tmp_path / "counts.json")
    options = "--counts counts.json --seeds 1 --tasks list-maximum,list-minimum --domains in --out"
    command = [sys.executable, "-m", "numerate", "probe", "control:oracle"]
    whole = subprocess.run(
        [*command, *options.split(), "whole.jsonl"], cwd=tmp_path, capture_output=True, check=True
    )
    assert b"list-minimum, in-domain: accuracy" in whole.stdout
    path = tmp_path / "cut.jsonl"
    for n_scores in (1, 4, 100):
        run = subprocess.Popen(
            [*command, *options.split(), path.name], cwd=tmp_path, stdout=subprocess.DEVNULL
        )
        while run.poll() is None:
            if path.exists() and path.read_bytes().count(b"\n") >= n_scores:
                run.kill()
            time.sleep(0.01)
        assert (run.returncode == 0) == (n_scores == 100)
    assert read_scores(path) == read_scores(tmp_path / "whole.jsonl")


def test_scores_that_are_there_are_not_computed_again(tmp_path):
    path = tmp_path / "scores.jsonl"
    calls = []

    class TextSystem(NumeralSystem):
        def embed_texts(self, texts):
            calls.append(1)
            return embed_by_chance(texts)

    system = TextSystem("a", CONTROLS["control:oracle"])
    plan = Plan(tasks=("paraphrases", "distance"), seeds=(0, 1), protocol=LAPTOP)
    first = probe_system(system, plan, path)
    n_cells = len(calls)
    assert n_cells == 2 * (1 + 5)
    assert probe_system(system, plan, path) == first
    assert len(calls) == n_cells
    path.write_text(path.read_text()[:-30])  # as a kill would leave it
    assert probe_system(system, plan, path) == first
    assert len(calls) == n_cells + 1


def test_word_vectors_make_none_of_sentences():
    plan = Plan(tasks=("paraphrases",), seeds=(0,), protocol=LAPTOP)
    with pytest.raises(InputError, match="words: makes no vectors of sentences"):
        list(score_cells(NumeralSystem("words", CONTROLS["control:oracle"]), plan, plan.cells))


def test_a_control_sums_the_numerals_of_a_text():
    [value] = open_systems("control:value", reading=Reading())
    texts = ["12,345 people in 1999", "no people", "7"]
    assert value.embed_texts(texts).tolist() == [[12_345 + 1999], [0], [7]]


def test_the_string_rule_finds_the_nearest_number_as_often_as_was_counted_by_hand():
    """By length, then by the longest common prefix, over pools of many seeds."""
    plan = Plan(tasks=("retrieval",), seeds=(0, 1, 2), protocol=LAPTOP)
    [rule] = open_systems("control:prefix", reading=Reading())
    found = {name: [] for name in plan.ranges}
    for cell, scores in score_cells(rule, plan, plan.cells):
        found[cell.range] += [score.value for score in scores if score.metric == "nearest"]
    for name, share in zip(plan.ranges, (0.51, 0.48, 0.53, 0.73, 0.79), strict=True):
        assert np.mean(found[name]) == pytest.approx(share, abs=0.08)


def test_geometry_is_also_asked_in_sentences_of_systems_that_read_them():
    plan = make_plan(["geometry"], ranges=("[1,100]",))
    metrics = []
    for kind in (NumeralSystem, ControlSystem):
        [(_, scores)] = score_cells(kind("a", CONTROLS["control:angle"]), plan, plan.cells)
        assert all(s.value == pytest.approx(1) for s in scores if "spearman" in s.metric)
        metrics.append([score.metric for score in scores])
    assert metrics[0] == ["cosine spearman", "distance spearman", "neighbour factor"]
    assert metrics[1] == [*metrics[0], "sentence spearman"]


@pytest.mark.parametrize("task", NUMERAL_TASKS)
def test_a_sample_depends_on_its_cell_alone(task):
    plan = make_plan([task], seeds=(0, 1), domains=("in",), ranges=("[100,1k]", "[1k,10k]"))
    samples = draw_samples(plan, plan.cells)
    last = plan.cells[-1]
    again = draw_samples(plan, [last])[last]
    for part, other in zip(vars(samples[last]).values(), vars(again).values(), strict=True):
        np.testing.assert_array_equal(part, other)
    first = samples[replace(last, seed=0)]
    assert first.test.tolist() != samples[last].test.tolist()


def test_the_command_line_asks_by_default_what_a_run_asks():
    assert tuple(models.DEFAULT_TASKS.split(",")) == ProbeSettings().tasks


def test_an_unknown_task_is_one_line_and_every_task_has_its_cells():
    with pytest.raises(InputError, match=r"tasks must be among decoding, .*, distance, retrieval"):
        Plan(tasks=("distance", "rhyme"), seeds=(0,), protocol=LAPTOP)
    tasks = expand_tasks(["sentences"])
    assert len(Plan(tasks=tasks, seeds=(0,), protocol=LAPTOP).cells) == 5 + 5 + 1 + 1 + 1
    assert len(make_plan(TASKS).cells) == 4 * (5 + 2)


def test_sets_without_a_draw_are_asked_once_and_not_for_each_seed():
    plan = Plan(tasks=("paraphrases", *TASK_GROUPS["retention"]), seeds=(4, 5), protocol=LAPTOP)
    asked = [(cell.task, cell.seed) for cell in plan.cells]
    once = [(task, 4) for task in ("STSBenchmark", "SICK-R", "SciFact-part")]
    assert asked == [("paraphrases", 4), *once, ("paraphrases", 5)]


def test_a_plan_may_ask_of_some_ranges_only():
    plan = make_plan(["decoding"], ranges=("[100,1k]", "[1k,10k]"))
    assert [(cell.domain, cell.range) for cell in plan.cells] == [
        ("in", "[100,1k]"),
        ("in", "[1k,10k]"),
        ("out", "[1k,10k]"),
    ]
    with pytest.raises(InputError, match=r"ranges must be among \[1,100\], .*, got '\[1,7\]'"):
        make_plan(["decoding"], ranges=("[1,7]",))
    with pytest.raises(InputError, match="regressors must be among trees, ridge, got 'tree'"):
        make_plan(["decoding"], regressors=("tree",))


def test_the_demos_protocol_takes_some_of_the_numerals():
    plan = replace(make_plan(["decoding"], domains=("in",)), protocol=PROTOCOLS["demo"])
    samples = draw_samples(plan, plan.cells)
    sizes = {
        cell.range: sum(len(part) for part in vars(sample).values())
        for cell, sample in samples.items()
    }
    assert sizes == {"[1,100]": 100, "[100,1k]": 500, "[1k,10k]": 500, "all": 500}


WIDE = Counts(
    dict.fromkeys([*range(1, 1000), *range(1000, 10_000, 9), *range(10_000, 10**6, 997)], 1),
    documents=1,
    words=1,
)


def draw(tasks, protocol, counts=WIDE, note=lambda line: None, **settings):
    plan = replace(make_plan(tasks, [3], **settings), protocol=PROTOCOLS[protocol], counts=counts)
    return {
        (cell.task, cell.domain, cell.range): sample
        for cell, sample in draw_samples(plan, plan.cells, note).items()
    }


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("task", ["addition", "list-minimum"])
def test_all_ranges_are_the_samples_of_the_four_together(task, protocol):
    samples = draw([task], protocol, domains=("in",))
    pooled = samples.pop((task, "in", "all"))
    assert len(samples) == 4
    for part in ("train", "validation", "test"):
        rows = [getattr(sample, part).tolist() for sample in samples.values()]
        assert getattr(pooled, part).tolist() == [row for some in rows for row in some]
    if PROTOCOLS[protocol].split == "numbers":
        assert not np.isin(pooled.test, np.concatenate((pooled.train, pooled.validation))).any()
    if protocol == "paper":
        assert (len(pooled.train) + len(pooled.validation), len(pooled.test)) == (3200, 800)


def test_the_pool_of_all_ranges_is_without_a_range_of_few_numerals():
    notes = []
    samples = draw(["addition"], "paper", COUNTS, notes.append, domains=("in",))
    assert len(samples["addition", "in", "all"].test) == 3 * 200
    assert notes == [
        "addition, in-domain [10k,10^10] is left out: 0 numerals, but a probe needs at least 90",
        "addition, in-domain all is without [10k,10^10]: 0 numerals, but a probe needs at least 90",
    ]


def test_a_sample_does_not_depend_on_what_else_is_asked():
    together = draw(TASKS, "laptop")
    for task, domain, name in together:
        [alone] = draw([task], "laptop", domains=(domain,), ranges=(name,)).values()
        for part, rows in vars(together[task, domain, name]).items():
            np.testing.assert_array_equal(getattr(alone, part), rows)


def test_some_ranges_alone_have_the_scores_of_all_of_them(tmp_path):
    system = NumeralSystem("chars", CONTROLS["control:chars"])
    plan = make_plan(["decoding", "addition"], regressors=("ridge",))
    scores = probe_system(system, plan, tmp_path / "a.jsonl")
    some = replace(plan, ranges=("[1k,10k]", "all"))
    assert probe_system(system, some, tmp_path / "b.jsonl") == [
        score for score in scores if score.range in some.ranges
    ]


def test_out_of_domain_has_as_many_numerals_as_in_domain_and_the_same_for_all_seeds():
    plan = replace(make_plan(["decoding"], [0, 1], ranges=("[1k,10k]",)), counts=WIDE)
    asked = [
        np.sort(np.concatenate([part.ravel() for part in vars(sample).values()])).tolist()
        for sample in draw_samples(plan, plan.cells).values()
    ]
    inside, outside, again, outside_again = asked
    assert len(inside) == len(outside) == 1000
    assert (inside, outside) == (again, outside_again)


def test_protocols_do_not_share_scores(tmp_path):
    system = NumeralSystem("value", CONTROLS["control:value"])
    for protocol in ("strict", "laptop"):
        quick = replace(QUICK, name=protocol)
        plan = replace(make_plan(["decoding"], domains=("in",)), protocol=quick)
        probe_system(system, plan, tmp_path / "s.jsonl")
    scores = read_scores(tmp_path / "s.jsonl")
    assert {score.protocol for score in scores} == {"strict", "laptop"}


def test_probe_shows_every_task_and_range(run, anchored_models, tmp_path):
    code, shown, _ = run(
        "probe", anchored_models(), "--seeds", 2, "--show", "visible,absent", "--tasks",
        "retrieval", "--out", tmp_path / "scores.jsonl",
    )  # fmt: skip
    assert code == 0
    assert all(f"retrieval: {metric}" in shown for metric in ("first", "subject", "nearest"))
    assert len(read_scores(tmp_path / "scores.jsonl")) == 2 * 2 * 5 * 3


def test_tasks_are_named_in_one_option_or_in_several(run, tmp_path):
    scores = tmp_path / "scores.jsonl"
    tasks = ("--tasks", "retrieval,places", "--tasks", "paraphrases")
    assert run("probe", "control:prefix", *tasks, "--seeds", 1, "--out", scores)[0] == 0
    assert {score.task for score in read_scores(scores)} == {"retrieval", "places", "paraphrases"}


def test_the_papers_figures_and_pairs_stand_beside_the_scores(run, tmp_path):
    Counts(dict.fromkeys(range(1, 1000), 1), documents=1, words=1).save(tmp_path / "counts.json")
    code, shown, _ = run(
        "probe", "control:oracle", "control:value", "--counts", tmp_path / "counts.json",
        "--seeds", 2, "--domains", "in", "--tasks", "decoding", "--compare", "paper",
        "--against", "control:value", "--out", tmp_path / "scores.jsonl",
    )  # fmt: skip
    assert code == 0
    words = " ".join(shown.split())
    assert "Protocol laptop: numbers are split 80/20" in words
    assert "paper: ln-anchors-lr" in shown
    assert "difference to control:value" in words
    assert "[1k,10k] is left out: 0 numerals" in words
    assert (tmp_path / "scores.vectors").is_dir()
