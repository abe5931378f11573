"""Every command works with the packages of its extra alone, and names the extra otherwise."""

import subprocess
import sys

import pytest

from numerate.extract.counts import Counts
from tests.run_folder import make_run

EXTRAS = {
    "": ("pydantic",),  # which typer brings
    "embed": ("pydantic", "safetensors", "torch", "transformers", "jinja2"),  # torch brings jinja2
    "report": ("pydantic", "jinja2", "matplotlib", "scipy"),
}
EXTRAS["train"] = (*EXTRAS["embed"], "accelerate", "matplotlib")
EXTRAS["probe"] = (*EXTRAS["embed"], "bm25s", "scipy", "sklearn", "threadpoolctl", "xgboost")
EXTRAS["run"] = tuple(name for extra in ("train", "probe", "report") for name in EXTRAS[extra])
OPTIONAL = {*EXTRAS["run"], "datasets", "pyarrow", "ray", "sentence_transformers", "tensorboard"}

TRAIN = ("--base", "model", "--out", "new")

ROOMS = {
    "": "cli cli.show extract.counts extract.corpus fit.fitting prime.primed_corpus prime.scheme",
    "embed": "models.base_model models.card embed.load embed.neighbours",
    "train": "pretrain.train pretrain.baselines.train pretrain.stage report.figures.draw",
    "probe": "probe.plan probe.diagnostics probe.tasks.text_tasks cli.show_probe report.paper",
    "report": "report.write report.figures.draw report.page",
    "run": "run.execute run.stages cli.show_run",
}


# As if the packages were not installed: no finder knows them, and no other package notices.
HIDE = """
import sys

class Hiding:
    def __init__(self, finder):
        self.finder = finder

    def __getattr__(self, name):
        return getattr(self.finder, name)

    def find_spec(self, name, *rest):
        is_hidden = name.partition(".")[0] in {hidden}
        return None if is_hidden else self.finder.find_spec(name, *rest)

sys.meta_path = [Hiding(finder) for finder in sys.meta_path]
"""


def run_with(extra, code):
    """Run Python without the packages that an extra does not bring: code, output, errors."""
    hidden = sorted(OPTIONAL.difference(EXTRAS[extra]))
    lines = HIDE.replace("{hidden}", repr(hidden)) + code
    done = subprocess.run(
        [sys.executable, "-c", lines], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


def run_command(extra, *arguments):
    words = ["numerate", *map(str, arguments)]
    return run_with(extra, f"sys.argv = {words!r}; from numerate.cli import main; main()")


@pytest.mark.parametrize(("extra", "modules"), ROOMS.items())
def test_a_room_is_imported_with_the_packages_of_its_extra(extra, modules):
    code = "".join(f"import numerate.{module}\n" for module in modules.split())
    assert run_with(extra, code) == (0, "", "")


def test_report_needs_nothing_but_its_extra(tmp_path):
    folder = make_run(tmp_path / "run")
    assert run_command("report", "report", folder, "--quiet") == (0, "", "")
    assert (folder / "report" / "index.html").exists()


def test_the_commands_on_text_need_no_extra(tmp_path):
    (tmp_path / "a.txt").write_text("in 1999 some 20 of 300 people paid 5")
    counts, anchors = tmp_path / "counts.json", tmp_path / "anchors.json"
    for command in (
        ["extract", tmp_path / "a.txt", "--out", counts, "--workers", 0],
        ["fit", counts, "--components", 2, "--out", anchors],
        ["prime", tmp_path / "a.txt", "--anchors", anchors, "--out", tmp_path / "primed"],
    ):
        assert run_command("", *command, "--quiet") == (0, "", "")


def test_probing_needs_nothing_but_its_extra(tmp_path):
    Counts(dict.fromkeys(range(1, 300), 1), documents=1, words=1).save(tmp_path / "counts.json")
    options = ["--tasks", "decoding", "--domains", "in", "--range", "all", "--protocol", "demo"]
    files = ["--counts", tmp_path / "counts.json", "--out", tmp_path / "scores.jsonl"]
    command = ["probe", "control:oracle", *options, *files, "--seeds", 1, "--workers", 1, "-q"]
    assert run_command("probe", *command) == (0, "", "")


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["embed", "model", "7"], "numerate embed needs torch: pip install 'numerate[embed]'"),
        (["similar", "model", "7"], "numerate similar needs torch: pip install 'numerate[embed]'"),
        (["probe", "model", "--out", "s"], "numerate probe needs torch: pip install 'numerate[pro"),
        (
            ["extract", "almanac:", "--out", "c", "--engine", "ray"],
            "--engine ray needs ray: pip install 'numerate[ray]'",
        ),
        (["baseline", "genbert", *TRAIN], "numerate genbert needs transformers: pip install 'num"),
    ],
)
def test_a_missing_package_is_one_line_that_names_the_extra(command, message):
    code, out, errors = run_command("", *command)
    assert (code, out) == (2, "")
    assert errors.startswith(f"numerate: {message}")
    assert errors.count("\n") == 1


def test_help_needs_no_extra():
    code, out, _ = run_command("", "--help")
    assert code == 0
    assert "pretrain" in out
