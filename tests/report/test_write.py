import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from numerate.errors import InputError
from numerate.files import write_json
from numerate.probe.diagnostics import DecodedValues, Diagnostics
from numerate.probe.scores import Score, append_scores, read_scores
from numerate.report.figures.charts import Systems
from numerate.report.figures.system_charts import chart_lines, chart_magnitudes
from numerate.report.headline import summarize_scores
from numerate.report.paper import PAPER_METRICS
from numerate.report.primed_examples import choose_sentences, examples_to_markdown, make_examples
from numerate.report.run_folder import read_run
from numerate.report.tables.formats import to_html, to_latex, to_markdown
from numerate.report.tables.grid import make_grid
from numerate.report.tables.notes import describe_grid
from numerate.report.tables.run_tables import make_tables
from numerate.report.write import make_charts, write_report
from tests.run_folder import HOSTILE, HOSTILE_FILE, SYSTEMS, make_run


def score(system, seed, value, **place):
    place = {"task": "decoding", "domain": "in", "range": "[1,100]", "metric": "log-rmse"} | place
    return Score(system=system, protocol="laptop", seed=seed, value=value, **place)


def lay_out(scores, paper=()):
    return make_grid([*scores, *paper], PAPER_METRICS.items(), name="t", title="T")


def marks_of(grid, column=0):
    return {row.system: row.cells[column].mark for row in grid.rows if row.cells[column]}


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory):
    return make_run(tmp_path_factory.mktemp("runs") / "demo")


@pytest.fixture(scope="module")
def page(run_folder):
    return write_report(run_folder, compare="paper").read_text()


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A run whose corpus, systems and sentences are all markup, and its report."""
    folder = tmp_path_factory.mktemp("hostile")
    (folder / HOSTILE_FILE).parent.mkdir()  # the name holds a slash
    systems = {**SYSTEMS, HOSTILE: 2.0, "a|b $x_1$ \\input{z}": 2.5}
    run = make_run(folder / "<b>run", systems=systems, corpus_name=HOSTILE_FILE)
    write_report(run, examples="corpus")
    return run / "report"


def embedded(page):
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    return json.loads(found[1])


def chart_of(page, name):
    return next(chart for chart in embedded(page)["charts"] if chart["name"] == name)


# ------------------------------------------------------------------ tables


def test_an_error_is_a_geometric_mean_with_an_interval_of_logarithms():
    grid = lay_out([score("a", seed, 0.01 * 2.0**seed) for seed in range(3)])
    summary = grid.rows[0].cells[0].summary
    assert summary.mean == pytest.approx(0.02)
    # t of two degrees of freedom; the logarithms are ln 2 apart
    assert summary.high == pytest.approx(0.02 * 2 ** (4.3027 / 3**0.5), rel=1e-4)
    assert "| 0.0200 (0.0036 to 0.1119) |" in to_markdown(grid)
    assert r"0.0200 {\scriptsize (0.0036 to 0.1119)}" in to_latex(grid)
    assert "0.0200 <small>(0.0036 to 0.1119)</small>" in to_html(grid, Systems(("a",)))


def test_other_scores_are_plain_means_with_half_an_interval():
    place = {"task": "list-maximum", "metric": "accuracy"}
    grid = lay_out([score("a", seed, 0.8 + 0.1 * seed, **place) for seed in range(3)])
    assert "| 0.9000 ± 0.2484 |" in to_markdown(grid)  # 4.3027 * 0.1 / sqrt(3)
    assert r"0.9000 {\scriptsize $\pm$ 0.2484}" in to_latex(grid)


def test_what_the_paired_difference_cannot_tell_from_the_best_is_close_and_nothing_is_bold():
    best = [0.10, 0.20, 0.30]
    noisy = [0.10, 0.25, 0.28]  # differences 0, .05, -.02: mean .01, interval ±.09
    worse = [0.11, 0.21, 0.31]  # always .01 more; the intervals of the means overlap all the same
    rows = {"best": best, "noisy": noisy, "worse": worse}
    scores = [score(name, seed, row[seed]) for name, row in rows.items() for seed in range(3)]
    assert marks_of(lay_out(scores)) == {"best": "close", "noisy": "close", "worse": ""}
    del rows["noisy"]
    scores = [score(name, seed, row[seed]) for name, row in rows.items() for seed in range(3)]
    assert marks_of(lay_out(scores)) == {"best": "best", "worse": ""}


def test_of_accuracies_the_highest_is_best():
    place = {"task": "list-maximum", "metric": "accuracy"}
    values = {"a": (0.9, 0.8), "b": (0.7, 0.6)}
    grid = lay_out([score(name, n, values[name][n], **place) for name in values for n in (0, 1)])
    assert marks_of(grid) == {"a": "best", "b": ""}


def test_from_one_seed_nothing_is_marked_and_no_interval_is_shown():
    grid = lay_out([score("a", 0, 0.1), score("b", 0, 0.2)])
    assert marks_of(grid) == {"a": "", "b": ""}
    assert "| 0.1000 |" in to_markdown(grid)
    assert "one seed: no intervals" in describe_grid(grid)


def test_a_system_that_shares_no_seed_with_the_best_cannot_be_told_from_it():
    scores = [score("a", seed, 0.1) for seed in range(3)] + [score("b", 7, 0.2)]
    assert marks_of(lay_out(scores)) == {"a": "close", "b": "close"}


def test_the_paper_and_controls_that_know_the_number_are_never_best():
    rows = {"model": 0.3, "other": 0.4, "control:oracle": 0.1}
    scores = [score(name, seed, value) for name, value in rows.items() for seed in range(2)]
    grid = lay_out(scores, paper=[score("paper: anchors", 0, 0.01)])
    marks = {"model": "best", "other": "", "control:oracle": "", "paper: anchors": ""}
    assert marks_of(grid) == marks
    assert [kind for kind, _ in grid.kinds] == ["probed", "given", "paper"]
    for text in (to_markdown(grid), to_latex(grid), to_html(grid, Systems(()))):
        assert text.index("model") < text.index("as the paper reports") < text.index("anchors")


def test_what_is_no_number_or_missing_is_a_dash():
    scores = [score("a", 0, 0.1), score("b", 0, float("nan")), score("a", 0, 0.2, range="all")]
    grid = lay_out(scores)
    assert grid.rows[1].cells == (None, None)
    assert "| b | – | – |" in to_markdown(grid)


def test_columns_are_tasks_and_ranges_in_the_papers_order():
    cells = [("list-minimum", "accuracy", "all"), ("addition", "log-rmse", "[1,100]")]
    cells += [("decoding", "log-rmse", "all"), ("decoding", "log-rmse", "[1k,10k]")]
    scores = [score("a", 0, 0.5, task=t, metric=m, range=r) for t, m, r in cells]
    columns = [(column.task, column.range) for column in lay_out(scores).columns]
    assert columns == [
        ("decoding", "[1k,10k]"),
        ("decoding", "all"),
        ("addition", "[1,100]"),
        ("list-minimum", "all"),
    ]


def test_latex_has_as_many_cells_in_each_row_and_balanced_braces(run_folder, page):
    text = (run_folder / "report" / "tables" / "table-1.tex").read_text()
    rows = [line for line in text.splitlines() if line.endswith(r" \\") and "multicol" not in line]
    assert {line.count(" & ") for line in rows} == {20}  # four tasks of five ranges
    plain = re.sub(r"\\[{}]", "", text)
    assert plain.count("{") == plain.count("}")
    assert text.count(r"\cmidrule") == 4


def test_names_are_text_in_every_form():
    grid = lay_out([score("a|b <i>$x_1$ \\input{z} [*]\n& 50 %", 0, 0.1)])
    markdown, latex, html = to_markdown(grid), to_latex(grid), to_html(grid, Systems(()))
    assert r"| a&#124;b &lt;i&gt;\$x\_1\$ \\input{z} \[\*\] &amp; 50 % |" in markdown
    assert (
        r"a\textbar{}b \textless{}i\textgreater{}\$x\_1\$ \textbackslash{}input\{z\} "
        r"{[}{*}{]} \& 50 \%" in latex
    )
    assert "a|b &lt;i&gt;$x_1$" in html


# ------------------------------------------------------------------ the report as a whole


def test_every_table_and_figure_is_written(run_folder, page):
    report = run_folder / "report"
    tables = {path.name for path in (report / "tables").iterdir()}
    assert tables == {
        *(f"table-{n}{suffix}" for n in (1, 2) for suffix in (".md", ".tex", ".html")),
        "sentences.md",
    }
    names = ["scores", "number-line", "cosines", "magnitude", "layers", "anchors", "sweep"]
    names += ["curves", "baselines", "neighbours"]
    figures = {path.name for path in (report / "figures").iterdir()}
    drawn = {f"{name}{suffix}" for name in names for suffix in (".png", ".svg")}
    assert figures == {*drawn, "sentences.html"}


def test_the_same_run_gives_the_same_bytes(run_folder, page):
    def read():
        files = (run_folder / "report").rglob("*.*")
        return {path: path.read_bytes() for path in files}

    before = read()
    write_report(run_folder, compare="paper")
    assert read() == before


def test_the_headline_is_what_the_scores_say(page):
    # Over all numerals 0.01 * 1.8 against four times that.
    assert "<h1>ln-anchors (masked) reads numbers with 75\u00a0% less error than base</h1>" in page
    assert "0.0180" in page
    assert "0.0720" in page
    assert "excludes zero" in page


def test_no_headline_without_a_difference_that_the_seeds_bear_out(tmp_path):
    folder = tmp_path / "run"
    (folder / "probe").mkdir(parents=True)
    (folder / "config.json").write_text('{"format": "numerate-config", "version": 1}')
    rows = {"base": [0.10, 0.20, 0.30], "ours": [0.05, 0.25, 0.28]}
    scores = [score(name, seed, row[seed]) for name, row in rows.items() for seed in range(3)]
    append_scores(folder / "probe" / "scores.jsonl", scores)
    page = write_report(folder).read_text()
    assert "<h1>No system reads numbers measurably better than base</h1>" in page
    assert "includes zero" in page
    # Nothing but scores was there, so nothing but scores is shown.
    assert [chart["name"] for chart in embedded(page)["charts"]] == ["scores"]
    assert {path.stem for path in (folder / "report" / "tables").iterdir()} == {"table-1"}
    assert "All settings" in page


def test_a_run_without_trees_is_shown_by_ridge(tmp_path):
    folder = tmp_path / "run"
    (folder / "probe").mkdir(parents=True)
    (folder / "config.json").write_text('{"format": "numerate-config", "version": 1}')
    scores = [score("ours", 0, 0.1, metric="ridge log-rmse")]
    append_scores(folder / "probe" / "scores.jsonl", scores)
    page = write_report(folder, compare="paper").read_text()
    assert "decoding, ridge log-rmse" in page
    assert page.count("<caption>") == 1  # the same table does not come again among other metrics


def test_later_trainings_are_read_and_figures_show_the_first(run_folder, page, tmp_path):
    copy = shutil.copytree(run_folder, tmp_path / "run")
    later = shutil.copytree(copy / "probe" / "system-0", copy / "probe" / "a-later-training")
    document = json.loads((later / "portrait.json").read_text()) | {"training": 1}
    (later / "portrait.json").write_text(json.dumps(document))
    run = read_run(copy)
    assert [one.system for one in run.diagnostics] == list(SYSTEMS)
    assert [one.training for one in run.all_diagnostics][:3] == [0, 1, 0]
    assert len(run.all_diagnostics) == len(SYSTEMS) + 1


def test_leftovers_of_another_run_are_ignored(run_folder, page, tmp_path):
    copy = shutil.copytree(run_folder, tmp_path / "run")
    old = copy / "probe" / "old"
    shutil.copytree(copy / "probe" / "system-0", old)
    document = json.loads((old / "portrait.json").read_text()) | {"system": "gone"}
    (old / "portrait.json").write_text(json.dumps(document))
    shutil.copy(copy / "probe" / "run.json", copy / "report" / "run.json")
    run = read_run(copy)
    assert [one.system for one in run.diagnostics] == list(SYSTEMS)
    assert len(run.steps) == 5  # without the report's own, so that it can be made again
    config = json.loads((copy / "config.json").read_text()) | {"steps": ["extract", "probe"]}
    (copy / "config.json").write_text(json.dumps(config))
    run = read_run(copy)
    assert {step.stage for step in run.steps} == {"extract", "probe"}
    assert (run.anchors, run.primed, run.curves) == ({}, {}, {})


def test_of_several_trainings_figures_show_the_first_and_say_so(run_folder, tmp_path):
    copy = shutil.copytree(run_folder, tmp_path / "run", ignore=shutil.ignore_patterns("report"))
    again = shutil.copytree(copy / "probe" / "system-1", copy / "probe" / "system-1~1")
    document = json.loads((again / "portrait.json").read_text())
    (again / "portrait.json").write_text(
        json.dumps(document | {"notes": ["second"], "training": 1})
    )
    shutil.copytree(copy / "pretrain" / "ln-anchors", copy / "pretrain" / "ln-anchors~1")
    path = copy / "probe" / "scores.jsonl"
    trained = [replace(s, training=1) for s in read_scores(path) if s.system.startswith("ln-")]
    append_scores(path, trained)
    run = read_run(copy)
    assert run.n_trainings == 2
    assert [one.system for one in run.diagnostics] == list(SYSTEMS)
    assert "second" not in run.notes
    assert list(run.curves) == ["ln-anchors"]
    grid = make_tables(run.scores, None)[0]
    sentences = {chart.name: chart.sentence for chart in make_charts(run, grid, run.systems)}
    first = "Of the 2 trainings of each system, this is the first."
    of_one = {name for name, sentence in sentences.items() if sentence.endswith(first)}
    assert {*sentences} - of_one == {"scores", "anchors", "sweep"}
    assert "95 % intervals over 2 trainings, 3 seeds of the probe each" in sentences["scores"]


def test_what_each_part_gives_is_written_and_shown(tmp_path):
    folder = tmp_path / "run"
    systems = {"base": 0.4, "untrained a (masked)": 0.2, "a (masked)": 0.1}
    variant = {"pretrain": {"pieces": "words"}}
    config = {"format": "numerate-config", "version": 1, "variants": {"a": variant}}
    write_json(folder / "config.json", config)
    scores = [score(name, n, value) for name, value in systems.items() for n in range(2)]
    append_scores(folder / "probe" / "scores.jsonl", scores)
    page = write_report(folder).read_text()
    text = (folder / "report" / "tables" / "parts.md").read_text()
    assert "| blank places | −0.2000 ± 0.0000 better |" in text
    assert "| training | −0.1000 ± 0.0000 better |" in text
    assert ">What each part gives</h2>" in page
    assert '<tr class="adds" data-systems="2 1"><th scope="row">training adds</th>' in page
    hollow = {s["name"]: s["hollow"] for s in chart_of(page, "scores")["panels"][0]["series"]}
    assert hollow == {"base": False, "a (masked)": False, "untrained a (masked)": True}
    assert "it is better in 1 and worse in 0 of 1 pairs" in chart_of(page, "scores")["sentence"]
    assert "<h1>After training, a (masked) reads numbers with 50\u00a0% less error" in page


def test_a_control_that_is_given_the_number_is_shown_but_not_called_the_best():
    points = [DecodedValues(np.array([1.0, 5]), np.array([1.0, 5]), r2) for r2 in (1.0, 0.9, 0.5)]
    names = ("control:oracle", "ours", "base")
    diagnostics = [
        Diagnostics(system=name, line=line) for name, line in zip(names, points, strict=True)
    ]
    chart = chart_lines(diagnostics, Systems(names, "base"))
    assert "ours has the highest R² (0.900), base the lowest (0.500)" in chart.sentence
    assert len(chart.panels) == 3


def test_a_twin_has_the_colour_of_its_system_and_is_hollow():
    systems = Systems(("base", "a (masked)", "untrained a (masked)", "b", "untrained c"), "base")
    looks = {name: (systems.slot(name), systems.is_hollow(name)) for name in systems.names}
    assert looks == {
        "base": (0, False),
        "a (masked)": (1, False),
        "untrained a (masked)": (1, True),
        "b": (2, False),
        "untrained c": (3, False),  # its system is not there
    }
    assert systems.series("untrained a (masked)", []).hollow


def test_nine_models_and_two_controls_have_colours_or_dashes_of_their_own():
    names = ("base", *(f"model {n}" for n in range(8)), "control:oracle", "control:random")
    systems = Systems(names, "base")
    looks = [(systems.slot(name), systems.is_dashed(name)) for name in names]
    assert len(set(looks)) == len(names)
    assert looks[0] == (0, False)


def headline_of(rows, base="base"):
    """The headline of systems with given values, one for each seed."""
    scores = [score(name, n, value) for name, row in rows.items() for n, value in enumerate(row)]
    return summarize_scores(lay_out(scores), scores, base)


def test_the_headline_has_the_untrained_model_that_is_shown_anchors():
    rows = {"base": [0.4] * 2, "base primed as ln (visible)": [0.3] * 2, "ours": [0.2] * 2}
    headline = headline_of(rows)
    assert headline.title == "ours reads numbers with 50\u00a0% less error than base"
    assert headline.detail.endswith(
        "Without training, base primed as ln (visible) has 0.3000 (0.3000 to 0.3000). The run has "
        "no untrained twin of ours, so it does not say what training adds."
    )


def test_a_gain_over_base_that_the_twin_has_too_is_no_headline():
    rows = {"base": [0.4, 0.5], "a (masked)": [0.1, 0.2], "untrained a (masked)": [0.1, 0.19]}
    headline = headline_of(rows)
    assert headline.title == "Training did not measurably change how well numbers are read"
    assert "base" not in headline.detail
    assert "+0.0050\u00a0±\u00a00.0635" in headline.detail  # 12.706 * .01 / sqrt(2) / sqrt(2)
    assert (
        "(over 2 seeds of the probe; one training of each model) includes zero" in headline.detail
    )


@pytest.mark.parametrize(
    ("trained", "says"),
    [
        ([0.1, 0.11, 0.1], "with 50\u00a0% less error"),
        ([0.3, 0.33, 0.3], "with 50\u00a0% more error"),
    ],
)
def test_the_headline_is_what_training_adds_to_the_twin(trained, says):
    twins = {"untrained a": [0.2, 0.22, 0.2], "untrained b": [0.2, 0.22, 0.2]}
    headline = headline_of({"base": [0.9] * 3, **twins, "a": trained, "b": [0.4, 0.4, 0.4]})
    assert headline.title == f"After training, a reads numbers {says} than untrained"
    assert "for a, the best of 2 trained systems, and" in headline.detail
    assert "excludes zero" in headline.detail


def test_a_control_is_no_headline():
    headline = headline_of({"base": [0.4] * 2, "control:digits": [0.1] * 2, "ours": [0.2] * 2})
    assert headline.title.startswith("ours reads numbers with 50\u00a0% less error")


def test_one_system_is_not_the_best_of_one():
    headline = headline_of({"ours": [0.2, 0.2]}, base=None)
    assert headline.title == "ours has a log-rmse of 0.2000"


def test_the_lowest_of_several_is_called_best_only_if_the_seeds_bear_it_out():
    rows = {"a": [0.1, 0.2, 0.3], "b": [0.2, 0.3, 0.4]}
    assert headline_of(rows, base=None).title == "a reads numbers best of 2 systems"
    rows["b"] = [0.1, 0.25, 0.28]
    assert headline_of(rows, base=None).title == "a has the lowest log-rmse of 2 systems"


@pytest.mark.parametrize(
    ("part", "gone"),
    [
        ("pretrain", {"curves"}),
        ("baseline", {"baselines"}),
        ("probe/*/portrait.json", {"number-line", "neighbours", "cosines", "magnitude", "layers"}),
        ("fit/*/sweep.json", {"sweep"}),
        ("extract", {"anchors"}),
    ],
)
def test_what_the_run_did_not_make_is_left_out(run_folder, page, tmp_path, part, gone):
    copy = shutil.copytree(run_folder, tmp_path / "run")
    for path in copy.glob(part):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    run = read_run(copy)
    charts = make_charts(run, make_tables(run.scores, None)[0], run.systems)
    everything = {chart["name"] for chart in embedded(page)["charts"]}
    assert everything - {chart.name for chart in charts} == gone


def test_sentences_say_what_the_data_say(page):
    assert "ln-anchors (masked) has the highest R²" in chart_of(page, "number-line")["sentence"]
    assert "finds 81 % of the masked anchors" in chart_of(page, "curves")["sentence"]
    baselines = chart_of(page, "baselines")
    assert baselines["sentence"] == (
        "genbert-recipe ends with 30 % of the sum questions right. The losses of mwp-bert-recipe "
        "end at 25 % (count) and 25 % (number type) of their first values."
    )
    assert baselines["panels"][1]["series"][0]["points"] == [[0, 1], [1, 0.75], [2, 0.5], [3, 0.25]]
    # The made-up layers are best at the fourth: 0.01 + 0.001 * the mean seed.
    layers = chart_of(page, "layers")["sentence"]
    assert "layer 4 of ln-anchors (masked): a log-RMSE of 0.0110" in layers


def test_a_cell_that_was_left_out_is_noted_once(page):
    assert page.count("is left out: &lt;4&gt; numerals") == 1


def test_errors_by_magnitude_are_quartiles_of_each_decade():
    true = np.array([1.0, 2, 3, 4, 5, 10])
    decoded = true * 10.0 ** np.array([0.1, -0.2, 0.3, 0.4, 0.5, 9])  # the last decade has one only
    found = Diagnostics(system="a", decoded=DecodedValues(true, decoded))
    (panel,) = chart_magnitudes([found], Systems(("a",))).panels
    (point,) = panel.series[0].points
    assert point == pytest.approx((10**0.5, 0.3, 0.2, 0.4))


def test_sentences_of_the_corpus_or_our_own(run_folder, page):
    own = (run_folder / "report" / "tables" / "sentences.md").read_text()
    assert "The lighthouse was built in 1874 **&lt;ANC&gt;**" in own
    run = read_run(run_folder)
    theirs = examples_to_markdown(
        make_examples(choose_sentences("corpus", run.primed), run.anchors)
    )
    assert "- *plain*: In 1851 some 2 &lt;b&gt;people&lt;/b&gt; &amp; 2 more paid" in theirs
    assert "lighthouse" not in theirs


def test_the_page_loads_nothing_and_lets_only_its_own_script_run(page):
    assert not re.search(r"https?://", page)
    assert not re.search(r"<(link|img|iframe|object|embed)\b|@import|url\(", page)
    assert "default-src 'none'" in page
    assert page.count("<script") == 2  # the data, and the page's own


def test_hostile_names_and_sentences_are_text(hostile):
    page = (hostile / "index.html").read_text()
    assert page.count("<script") == page.count("</script>") == 2
    assert "<img" not in page
    assert "<b>people" not in page
    assert "&lt;b&gt;people&lt;/b&gt; &amp;" in page
    assert HOSTILE in embedded(page)["systems"]
    for table in (hostile / "tables").iterdir():
        text = table.read_text()
        assert "<img" not in text
        assert "<script" not in text
    assert "<img" not in (hostile / "figures" / "sentences.html").read_text()
    assert "<img" not in (hostile / "figures" / "magnitude.svg").read_text()


@pytest.mark.parametrize("missing", ["config.json", "probe/scores.jsonl"])
def test_a_folder_without_a_finished_run_is_one_line(run_folder, tmp_path, missing):
    copy = shutil.copytree(run_folder, tmp_path / "run")
    (copy / missing).unlink()
    with pytest.raises(InputError, match=f"no finished run, {missing} is missing; run 'numerate"):
        write_report(copy)
    with pytest.raises(InputError, match=r"nowhere: no finished run, config\.json is missing"):
        write_report(tmp_path / "nowhere")


def test_damaged_files_and_wrong_words_are_refused_in_one_line(run_folder, tmp_path):
    copy = shutil.copytree(run_folder, tmp_path / "run")
    with pytest.raises(InputError, match="compare must be paper, got 'me'"):
        write_report(copy, compare="me")
    with pytest.raises(InputError, match="examples must be own or corpus, got 'none'"):
        write_report(copy, examples="none")
    damaged = copy / "probe" / "system-0" / "portrait.json"
    damaged.write_text('{"format": "numerate-portrait", "version": 1, "system": "a", "line": 3}')
    with pytest.raises(InputError, match=r"portrait\.json: damaged diagnostics"):
        write_report(copy)


def test_a_report_needs_only_the_libraries_of_its_extra():
    """`numerate[report]` installs neither torch nor scikit-learn nor pydantic."""
    code = """
import sys
for name in ("torch", "sklearn", "pydantic", "xgboost", "transformers"):
    sys.modules[name] = None
import numerate.report.write
"""
    subprocess.run([sys.executable, "-c", code], check=True)
