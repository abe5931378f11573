"""`numerate run --dry-run` of small configs on little text."""

import pytest

CONFIG = """
corpus = ["{folder}/a.txt"]
base = "{base}"
systems = ["base"]
[probe]
protocol = "demo"
seeds = 1
"""


@pytest.fixture
def plan(run, tiny_models, tmp_path):
    """Write a text and a config, and return what `--dry-run` with some changes ends with."""

    def plan_text(text, *changes):
        (tmp_path / "a.txt").write_text(text)
        config = CONFIG.format(folder=tmp_path, base=tiny_models("bert"))
        (tmp_path / "a.toml").write_text(config)
        sets = [part for change in changes for part in ("--set", change)]
        return run("run", tmp_path / "a.toml", "--dry-run", "--workers", 1, *sets)

    return plan_text


@pytest.mark.parametrize("task", ["list-maximum", "addition", "comparison"])
def test_little_text_of_which_no_cell_can_be_probed(plan, task):
    one = (f"probe.tasks=['decoding','{task}']", "probe.ranges=['[1,100]']", "probe.domains=['in']")
    code, out, err = plan("in 5 of 7 there were 12", *one)
    assert (code, err) == (0, "")
    assert "probe base" in out


def test_tasks_on_texts_are_not_in_the_estimate(plan):
    code, out, err = plan("in 5 of 7", "probe.tasks=['distance']")
    assert (code, err) == (0, "")
    assert "unknown" in out
    assert "tasks on texts" in out.replace("\n", " ")
    assert plan("in 5 of 7", "probe.tasks=['distance','decoding']")[0] == 0


def test_numerals_are_those_of_the_domain(plan):
    assert plan("some two million people", "extract.domain=quantities")[0] == 0
    code, _, err = plan("some two million people")
    assert (code, err.count("\n")) == (2, 1)
