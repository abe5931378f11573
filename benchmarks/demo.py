"""The demo as a newcomer meets it: a fresh clone, set-up, run, and a second time.

Keeps the times, what it printed, its scores, tables and figures in `results/demo/`, and what the
first Python of the README prints there; the page and the weights stay behind.
`python -m benchmarks.demo kills` runs it once more, kills it at ten random moments, and compares
the scores in the end with those kept.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.keep_results import keep_run
from numerate.files import write_file, write_json

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "results" / "demo"
N_KILLS = 10


def main() -> None:
    """Clone, set up, run twice, and keep what is small."""
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "numerate"
        subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
        seconds = {"set-up": _make(clone, ".venv/demo")[0]}
        seconds["demo"], shown = _make(clone, "demo")
        seconds["demo, again"], _ = _make(clone, "demo")
        _keep(clone / "runs" / "demo", seconds, shown)
        began = time.perf_counter()
        write_file(KEPT / "example.txt", _run_example(clone))
        print(f"the README's example: {time.perf_counter() - began:.0f} s")
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


def _run_example(clone: Path) -> bytes:
    """Run the first block of Python in the README, and return what it prints."""
    code = (clone / "README.md").read_text().split("```python\n", 1)[1].split("```", 1)[0]
    command = [clone / ".venv" / "bin" / "python", "-c", code]
    return subprocess.run(command, cwd=clone / "runs", stdout=subprocess.PIPE, check=True).stdout


def _keep(run: Path, seconds: dict[str, float], shown: str) -> None:
    shutil.rmtree(KEPT, ignore_errors=True)
    lines = [line.rstrip() for line in shown.splitlines() if not line.startswith(".venv/bin")]
    write_file(KEPT / "output.txt", ("\n".join(lines) + "\n").encode())
    steps = keep_run(run, KEPT)
    write_json(KEPT / "times.json", {"seconds": seconds, "steps": steps})


def kill_often() -> None:
    """Kill the demo at random moments, let it end, and say whether its scores are those kept."""
    seconds = json.loads((KEPT / "times.json").read_text())["seconds"]["demo"]
    waits = np.random.default_rng(0).uniform(0.3, 1.7, N_KILLS) * seconds / (N_KILLS + 1)
    moments = []
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "demo"
        command = [sys.executable, "-m", "numerate", "demo", "--quiet", "--out", str(run)]
        for wait in waits.tolist():
            process = subprocess.Popen(command, start_new_session=True)
            time.sleep(wait)
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            begun = [path.relative_to(run).as_posix() for path in run.rglob(".*.begun")]
            moments.append({"seconds": round(wait, 1), "killed in": begun})
            print(moments[-1], flush=True)
        subprocess.run(command, check=True)
        same = (run / "probe" / "scores.jsonl").read_bytes() == (KEPT / "scores.jsonl").read_bytes()
    write_json(KEPT / "kills.json", {"kills": moments, "same scores": same})
    print(f"the same scores: {same}")


if __name__ == "__main__":
    kill_often() if sys.argv[1:] == ["kills"] else main()
