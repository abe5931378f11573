"""Configs of runs and options of commands, changed: the same promise as for files."""

import shutil
import tomllib

from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.commands import check, working_folder
from tests.fuzz.effort import fuzz
from tests.fuzz.mutations import changed_bytes
from tests.fuzz.test_models import PROBLEMS

CONFIG = """\
name = "small"
corpus = ["a.txt"]
base = "model"
systems = ["base", "ln-anchors", "control:oracle"]
seed = 7
trainings = 1
[extract]
domain = "integers"
field = "text"
[fit]
components = 40
sweep = [5, 40]
[pretrain]
max_tokens = 2000
max_length = 32
batch_size = 2
learning_rate = 1e-4
[probe]
protocol = "demo"
tasks = ["decoding"]
domains = ["in"]
anchor = ["masked"]
seeds = 1
[variants.own]
scale = "ln"
marker = "lr"
"""
VALUES = st.sampled_from(
    [
        *("0", "-1", "1", "2", "7", "1.5", "1e300", "inf", "nan", "-inf", "9" * 30, "true", '""'),
        *('"x"', "[]", "{}", "[1]", '["x"]', '["x", "x"]', "[[]]", "{x = 1}", "1979-05-27", "0x7"),
        *(
            '"control:"',
            '"control:oracle"',
            '"package:os/x"',
            '"twin:ln-anchors"',
            '"../x"',
            '"a=b"',
        ),
    ]
)


@st.composite
def changed_configs(draw):
    """A config with one or two values replaced, a line moved or removed, or bytes changed."""
    lines = CONFIG.splitlines()
    for _ in range(draw(st.integers(1, 2))):
        place = draw(st.integers(0, len(lines) - 1))
        key, equals, _ = lines[place].partition(" = ")
        kind = draw(st.sampled_from(["value", "value", "value", "remove", "move"]))
        if kind == "value" and equals:
            lines[place] = f"{key} = {draw(VALUES)}"
        elif kind == "move":
            lines.insert(draw(st.integers(0, len(lines) - 1)), lines.pop(place))
        else:
            del lines[place]
    data = "\n".join(lines).encode()
    return draw(st.sampled_from([data, data, data, draw(changed_bytes(data))]))


@fuzz(2, 400)
@given(changed_configs())
def test_config_of_a_run(valid, tiny_models, data):
    with working_folder() as folder:
        shutil.copy(valid / "a.txt", ".")
        shutil.copytree(tiny_models("bert"), "model")
        (folder / "small.toml").write_bytes(data)
        check("run", "small.toml", "--dry-run", "--workers", 1, "-q")


def test_the_config_to_change_is_valid(valid, tiny_models):
    assert set(tomllib.loads(CONFIG)) > {"extract", "fit", "pretrain", "probe"}
    with working_folder() as folder:
        shutil.copy(valid / "a.txt", ".")
        shutil.copytree(tiny_models("bert"), "model")
        (folder / "small.toml").write_text(CONFIG)
        assert check("run", "small.toml", "--dry-run", "--workers", 1, "-q") == (0, "", "")


COMMANDS = {
    "extract": ("extract", "a.txt", "--out", "c.json", "--workers", 1, "-q"),
    "fit": ("fit", "counts.json", "--out", "x.json", "--components", 3, "-q"),
    "prime": ("prime", "a.txt", "--anchors", "anchors.json", "--out", "p", "--workers", 1, "-q"),
    "embed": ("embed", "model", "1999", "--out", "v.npz", "-q"),
    "similar": ("similar", "model", "1999", "--among", "1:30", "-q"),
    "probe": (
        *("probe", "control:oracle", "--out", "s.jsonl", "--protocol", "demo", "-q"),
        *("--tasks", "geometry", "--range", "[1,100]", "--seeds", 1, "--workers", 1),
    ),
}
OPTIONS = {
    "extract": ["--domain", "--field", "--errors", "--workers", "--engine", "--ray-address", ""],
    "fit": [
        *("--components", "--scale", "--resolution", "--start", "--width", "--seed", "--sweep"),
        *("--plot", "--out"),
    ],
    "prime": ["--marker", "--numeral-form", "--undo", "--field", "--out", "--workers", ""],
    "embed": ["--show", "--read", "--layers", "--precision", "--out", "--texts", "--from", ""],
    "similar": ["--among", "--top", "--show", "--read", "--layers", ""],
    "probe": [
        *(
            "--tasks",
            "--domains",
            "--range",
            "--show",
            "--read",
            "--layers",
            "--anchors",
            "--marker",
        ),
        *("--against", "--compare", "--cache", "--protocol", "--counts", ""),
    ],
}
# The largest are left out where they are a request for so much work: seeds, components, top.
ARGUMENTS = st.sampled_from(
    [
        *(
            "",
            "0",
            "-1",
            "1",
            "2",
            "5",
            "1.5",
            "nan",
            "inf",
            "-inf",
            "1e300",
            "x",
            "x,y",
            ",",
            "1,2",
        ),
        *("1:5", "5:1", "1:2:0", "ln", "log10", "linear", "spread", "lr", "exp", "digits", "reals"),
        *(
            "visible,masked",
            "absent",
            "last",
            "each",
            "-1,-2",
            "99",
            "[1,100]",
            "[0,1]",
            "all",
            "in",
        ),
        *(
            "a.txt",
            "model",
            "nosuch",
            ".",
            "..",
            "counts.json",
            "anchors.json",
            "new.svg",
            "new.npz",
        ),
        *(
            "new.json",
            "new",
            "a.txt/x",
            "\udcff",
            "é",
            "a b",
            "=",
            "--",
            "control:random",
            "geometry",
        ),
        *("/dev/null", "99999999999999999999", "quantities", "paper", "decoding", "control:oracle"),
    ]
)


@fuzz(16, 2500)
@given(st.data())
def test_options(valid, anchored_models, data):
    command = data.draw(st.sampled_from(sorted(COMMANDS)))
    added = []
    for option in data.draw(st.lists(st.sampled_from(OPTIONS[command]), min_size=1, max_size=2)):
        if option:
            added.append(option)
        if option not in ("--undo", "--texts"):
            added.append(data.draw(ARGUMENTS))
    with working_folder():
        for name in ("a.txt", "counts.json", "anchors.json"):
            shutil.copy(valid / name, ".")
        shutil.copytree(anchored_models("bert"), "model")
        check(*COMMANDS[command], *added)


TRAININGS = {
    "pretrain": ("pretrain", "primed", "--base", "model", "--max-tokens", 200),
    "tune": ("tune", "model", "--texts", "a.txt", "--max-steps", 1),
    "genbert": ("baseline", "genbert", "--base", "model", "--max-tokens", 200),
    "mwp-bert": (
        *("baseline", "mwp-bert", "--base", "model", "--max-tokens", 200),
        *("--problems", "problems.csv"),
    ),
}
SHARED = ["--max-minutes", "--batch-size", "--accumulate", "--learning-rate", "--dropout"]
SHARED += ["--precision", "--checkpoint-minutes", "--seed", "--out"]
SETTINGS = {
    "pretrain": [
        *("--epochs", "--max-tokens", "--max-length", "--warmup", "--scheduler", "--weight-decay"),
        *("--objective", "--kind", "--mlm-probability", "--lm-share", "--anchor-visible", "--base"),
        *("--rehearse", "--hold-out", "--pieces", "--report-to"),
    ],
    "tune": ["--teacher", "--max-steps", "--warmup", "--domain", "--pieces", "--texts", "--field"],
    "genbert": ["--epochs", "--max-tokens", "--corpus", "--field", "--errors", "--base"],
    "mwp-bert": ["--epochs", "--max-tokens", "--problems", "--base"],
}
BAD = ["-1", "nan", "inf", "-inf", "x", "", "1e300", "99999999999999999999", "a.txt", "\udcff"]


@fuzz(6, 800)
@given(st.sampled_from(sorted(TRAININGS)), st.data())
def test_settings_of_a_training(valid, tiny_models, command, data):
    setting = data.draw(st.sampled_from(SHARED + SETTINGS[command]))
    with working_folder() as folder:
        shutil.copy(valid / "a.txt", ".")
        shutil.copytree(valid / "primed", "primed")
        shutil.copytree(tiny_models("bert"), "model")
        (folder / "problems.csv").write_text("\n".join(PROBLEMS))
        out = () if setting == "--out" else ("--out", "new")
        check(*TRAININGS[command], *out, "-q", setting, data.draw(st.sampled_from(BAD)))
