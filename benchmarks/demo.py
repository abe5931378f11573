"""The demo as a newcomer meets it: a fresh clone, set-up, run, and a second time.

Keeps the times, what it printed, its scores, tables and figures in `results/demo/`; the page and
the weights stay behind.
"""

import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from numerate.files import write_file, write_json

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "results" / "demo"


def main() -> None:
    """Clone, set up, run twice, and keep what is small."""
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "numerate"
        subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
        seconds = {"set-up": _make(clone, ".venv/ready")[0]}
        seconds["demo"], shown = _make(clone, "demo")
        seconds["demo, again"], _ = _make(clone, "demo")
        _keep(clone / "runs" / "demo", seconds, shown)
    print(json.dumps(seconds, indent=2))


def _make(clone: Path, target: str) -> tuple[float, str]:
    began = time.perf_counter()
    done = subprocess.run(
        ["make", "--no-print-directory", target],
        cwd=clone,
        env={**os.environ, "COLUMNS": "80", "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return time.perf_counter() - began, done.stdout


def _keep(run: Path, seconds: dict[str, float], shown: str) -> None:
    shutil.rmtree(KEPT, ignore_errors=True)
    lines = [line.rstrip() for line in shown.splitlines() if not line.startswith(".venv/bin")]
    write_file(KEPT / "output.txt", ("\n".join(lines) + "\n").encode())
    for part in ("report/tables", "report/figures"):
        shutil.copytree(run / part, KEPT / Path(part).name)
    shutil.copy(run / "probe" / "scores.jsonl", KEPT / "scores.jsonl")
    shutil.copy(run / "config.json", KEPT / "config.json")
    steps = {
        path.parent.relative_to(run).as_posix(): json.loads(path.read_text())["seconds"]
        for path in sorted(run.glob("*/run.json")) + sorted(run.glob("*/*/run.json"))
    }
    write_json(KEPT / "times.json", {"seconds": seconds, "steps": steps})


if __name__ == "__main__":
    main()
