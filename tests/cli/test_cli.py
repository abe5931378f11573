import json
import subprocess
import sys

import pytest

from numerate.cli import main
from numerate.extract.corpus import open_corpus
from numerate.extract.counts import extract_counts
from numerate.fit.fitting import fit_anchors

TEXT = "In 1999 some 12,345 people paid $5.\nIn 2000, 7 of 9.\n"


@pytest.fixture
def work(tmp_path, monkeypatch):
    """A folder with a small corpus, its counts and its anchors, to work in."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text(TEXT)
    counts = extract_counts(open_corpus(["a.txt"]))
    counts.save(tmp_path / "counts.json")
    fit_anchors(counts, n_components=3, scale="ln").save(tmp_path / "anchors.json")
    return tmp_path


def run(*arguments, stdin=b""):
    """Run the command line in a process of its own: exit code, output, errors."""
    command = [sys.executable, "-m", "numerate", *arguments]
    done = subprocess.run(command, input=stdin, capture_output=True, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_help_names_the_commands_without_heavy_imports():
    heavy = "('numpy', 'pydantic', 'rich', 'torch')"
    code = f"import sys, numerate.cli; print([name for name in {heavy} if name in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert loaded.stdout.decode().strip() == "[]"
    status, out, _ = run("--help")
    assert status == 0
    assert all(command in out for command in ("extract", "fit", "prime", "demo"))


def test_from_a_corpus_to_primed_text_and_back(work):
    status, out, _ = run("extract", "a.txt", "--out", "counts.json")
    assert status == 0
    assert "distinct numerals" in out
    assert json.loads((work / "counts.json").read_text())["counts"] == {
        "5": 1,
        "7": 1,
        "9": 1,
        "1999": 1,
        "2000": 1,
        "12345": 1,
    }
    status, out, _ = run("prime", "a.txt", "--anchors", "anchors.json", "--out", "primed")
    assert status == 0
    assert "6 numerals primed in 2 documents" in out
    status, out, _ = run("prime", "primed", "--undo", "--out", "back")
    assert status == 0
    assert (work / "back" / "a.txt").read_text() == TEXT


def test_exponents_are_laid_primed_and_taken_out_again(work):
    status, shown, _ = run("fit", "counts.json", "--scale", "log10", "--out", "e.json")
    assert status == 0
    assert "11 anchors on the log10 scale: exponents, which need no mixture" in shown
    status, primed, _ = run(
        "prime", "-", "--anchors", "e.json", "--marker", "exp", stdin=b"in 1999 or 12,345\n"
    )
    assert (status, primed) == (0, "in 1999 <EXP> 3 or 12,345 <EXP> 4\n")
    back = run("prime", "-", "--undo", stdin=primed.encode())
    assert back == (0, "in 1999 or 12,345\n", "")


def test_quiet_prints_nothing(work):
    for command in (
        ["extract", "a.txt", "--out", "c.json", "--quiet"],
        ["fit", "counts.json", "--components", "2", "--out", "l.json", "-q"],
        ["prime", "a.txt", "--anchors", "anchors.json", "--out", "p", "-q"],
    ):
        assert run(*command) == (0, "", "")


def test_every_command_can_be_quiet_and_workers_mean_the_same_everywhere():
    import typer

    from numerate.cli import app

    group = typer.main.get_command(app)
    names = [*group.commands, *(f"baseline {name}" for name in group.commands["baseline"].commands)]
    names.remove("baseline")
    helps = {name: run(*name.split(), "--help")[1] for name in names}
    assert [name for name in names if "--quiet" not in helps[name]] == []
    parallel = {name: text for name, text in helps.items() if "--workers" in text}
    assert list(parallel) == ["extract", "prime", "probe", "run", "demo"]
    for text in parallel.values():
        assert "0: all cores. [default: (all cores); 0<=x<=256]" in " ".join(text.split())


def test_options_of_training_come_from_its_config():
    from numerate.pretrain.config import PretrainConfig

    text = " ".join(run("pretrain", "--help")[1].split())
    fields = PretrainConfig.__pydantic_fields__
    for name in ("epochs", "learning_rate", "warmup", "pieces"):
        assert f"{fields[name].description} [default: {fields[name].default}]" in text
    assert "--validation-share" not in text
    status, _, errors = run("pretrain", "p", "--base", "b", "--out", "o", "--warmup", "2")
    assert (status, errors) == (2, "numerate: warmup must be at least 0 and below 1, got 2.0\n")


def test_help_names_all_protocols():
    from numerate.probe.protocols import PROTOCOLS

    assert f"Protocol: {', '.join(PROTOCOLS)}." in " ".join(run("probe", "--help")[1].split())


def test_a_pipe_primes_and_undoes(work):
    for extra in ([], ["--marker", "lr"]):
        status, primed, _ = run(
            "prime", "-", "--anchors", "anchors.json", *extra, stdin=TEXT.encode()
        )
        assert status == 0
        assert primed.count("> ") == 6
        assert run("prime", "-", "--undo", stdin=primed.encode()) == (0, TEXT, "")


def test_a_pipe_gives_each_line_as_soon_as_it_has_come(work):
    command = [sys.executable, "-m", "numerate", "prime", "-", "--anchors", "anchors.json"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        for line in (b"in 1999\n", b"and 7\n"):
            process.stdin.write(line)
            process.stdin.flush()
            assert process.stdout.readline().startswith(line.strip())
        process.stdin.close()
    assert process.returncode == 0


def test_a_reader_that_leaves_is_no_error(work):
    text = TEXT.encode() * 200_000
    command = f"{sys.executable} -m numerate prime - --anchors anchors.json | head -n 1"
    done = subprocess.run(["bash", "-c", command], input=text, capture_output=True, check=True)
    assert done.stdout.startswith(b"In 1999 <ANC>")
    assert done.stderr == b""


def test_undoing_digits_says_what_is_lost(work):
    arguments = ["--anchors", "anchors.json", "--numeral-form", "digits", "--out", "primed"]
    assert run("prime", "a.txt", *arguments)[0] == 0
    status, out, _ = run("prime", "primed", "--undo", "--out", "back")
    assert status == 0
    assert "thousands separators are gone" in " ".join(out.split())
    assert (work / "back" / "a.txt").read_text() == TEXT.replace("12,345", "12345")


def test_a_sweep_is_printed_kept_and_drawn(work):
    status, out, _ = run(
        "fit", "counts.json", "--sweep", "1,2,6", "--out", "sweep.json", "--plot", "sweep.png"
    )
    assert status == 0
    assert "AIC" in out
    assert len(json.loads((work / "sweep.json").read_text())["rows"]) == 3
    assert (work / "sweep.png").read_bytes().startswith(b"\x89PNG")


MISTAKES = [
    (["extract", "nosuch.txt", "--out", "x"], "nosuch.txt: no such file or folder"),
    (["extract", "--out", "x"], "Missing argument 'CORPUS...'"),
    (["extract", "a.txt"], "Missing option '--out'"),
    (["extract", "a.txt", "--out", "x", "--workers", "-1"], "should be greater than or equal to 0"),
    (["extract", "a.txt", "--out", "x", "--workers", "257"], "should be less than or equal to 256"),
    (["extract", "a.txt", "--out", "x", "--domain", "all"], "'all' is not one of"),
    (["fit", "anchors.json", "--out", "x"], "anchors.json: not a numerate-counts file"),
    (["fit", "counts.json"], "fit needs --out"),
    (["fit", "counts.json", "--out", "x", "--components", "9"], "got 9 for 6 numerals"),
    (["fit", "counts.json", "--out", "x", "--resolution", "5"], "--resolution is for --scale ln"),
    (
        ["fit", "counts.json", "--out", "x", "--scale", "ln", "--resolution", "-1"],
        "resolution must be from 1e-06 to 1e+06, got -1",
    ),
    (
        ["fit", "counts.json", "--out", "x", "--scale", "log10", "--components", "5"],
        "--components and --start are for the scales linear and ln; log10 needs no mixture",
    ),
    (["fit", "counts.json", "--sweep", "5", "--scale", "log10"], "got log10, which needs none"),
    (
        ["prime", "a.txt", "--anchors", "anchors.json", "--out", "x", "--marker", "exp"],
        "marker must be anc or lr for anchors on the ln scale, got 'exp'",
    ),
    (["fit", "counts.json", "--sweep", "a"], "sweep must be whole numbers"),
    (["prime", "a.txt", "--out", "x"], "prime needs --anchors"),
    (["prime", "a.txt", "--anchors", "counts.json", "--out", "x"], "not a numerate-anchors file"),
    (["prime", "a.txt", "--anchors", "anchors.json"], "prime needs --out"),
    (["prime", "-", "a.txt", "--anchors", "anchors.json"], "'-' must be the only corpus"),
    (["prime", "a.txt", "--undo", "--out", "x"], "a.txt: a file, not a primed corpus"),
    (["prime", ".", "--undo", "--out", "x"], "manifest.json: no such file; make it with"),
    (["prime", "x", "y", "--undo", "--out", "z"], "one primed folder at a time, got 2"),
    (["frobnicate"], "No such command 'frobnicate'"),
]


@pytest.mark.parametrize(("arguments", "message"), MISTAKES)
def test_a_mistake_is_one_line_and_exit_code_2(work, arguments, message):
    before = set(work.iterdir())
    status, out, errors = run(*arguments)
    assert (status, out) == (2, "")
    assert errors.startswith("numerate: ")
    assert errors.count("\n") == 1
    assert message in errors
    assert set(work.iterdir()) == before


def test_a_bad_line_in_a_pipe_is_named(work):
    status, _, errors = run("prime", "-", "--anchors", "anchors.json", stdin=b"fine 5\n7 <ANC> 8\n")
    assert status == 2
    assert "standard input, line 2: holds a marker already" in errors


def test_what_the_system_refuses_is_one_line(work):
    name = "x" * 300
    status, _, errors = run("extract", "a.txt", "--out", name)
    assert (status, errors) == (2, f"numerate: {name}: File name too long\n")


def test_an_interrupt_says_how_to_go_on(monkeypatch, capsys):
    def interrupted(**options):
        raise KeyboardInterrupt

    monkeypatch.setattr("numerate.cli.app", interrupted)
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 130
    assert capsys.readouterr().err.startswith("numerate: interrupted")


def test_the_version_is_the_packages():
    from numerate import __version__

    assert run("--version") == (0, f"numerate {__version__}\n", "")


@pytest.mark.slow
def test_the_demo_ends_with_a_page_and_is_done_within_seconds_the_second_time(tmp_path):
    """On the real base model, as a newcomer runs it."""
    folder = str(tmp_path / "demo")
    status, out, errors = run("demo", "--out", folder)
    assert status == 0
    assert errors.count("\n") == errors.count("has no masked-LM head") == 2  # once for each model
    assert "ln-near (masked) at anchor" in " ".join(out.split())
    assert "numbers most like a given one are off by a factor of" in " ".join(out.split())
    assert out.rstrip().endswith("index.html")
    status, again, _ = run("demo", "--out", folder)
    assert status == 0
    n_models = 2  # each has a run.json of its own
    n_steps = len(list((tmp_path / "demo").rglob("run.json"))) - n_models
    assert again.count("done already") == n_steps
    assert again[again.index("decoding") :] == out[out.index("decoding") :]
