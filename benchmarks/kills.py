"""Kills every stage at random moments, runs the same command again, and compares the results.

Each command first runs twice undisturbed: files that differ between the two (they hold durations)
are not compared, all others are, byte by byte. Then it is killed by SIGKILL, SIGTERM and SIGINT at
moments drawn from its duration, and run again until it ends. Models are tiny; commands are forked
from this process, which has loaded all libraries, so that a moment is one of their work.

    python -m benchmarks.kills --kills 20    # of each signal; results/kills/kills.json
"""

import argparse
import hashlib
import json
import math
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from numerate.cli import main as run_command
from numerate.files import list_versions, write_json
from tests.conftest import make_model, save_encoder
from tests.run_folder import make_run

RESULTS = Path(__file__).parents[1] / "results" / "kills" / "kills.json"
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
_SEED = 23
_CATCHABLE = SIGNALS[1:]
_INTERRUPTED = 130
_ENDS_OF = {  # how a command may end that got a signal: by it, or with the code for interrupts
    signal.SIGKILL: (-signal.SIGKILL,),
    signal.SIGTERM: (-signal.SIGTERM,),
    signal.SIGINT: (_INTERRUPTED,),
}
_TRAINING = ["--batch-size", "2", "--checkpoint-minutes", "1e-9", "--precision", "fp32"]
_PROBE = ["--protocol", "demo", "--tasks", "decoding,geometry", "--range", "[1,100]"]
COMMANDS: dict[str, list[str]] = {
    "extract": ["extract", "a.txt", "--out", "out.json"],
    "fit": ["fit", "counts.json", "--components", "300", "--scale", "ln", "--out", "out.json"],
    "prime": ["prime", "a.txt", "--anchors", "anchors.json", "--out", "out"],
    "pretrain": [
        *("pretrain", "primed", "--base", "model", "--out", "out", "--max-tokens", "3000"),
        *("--max-length", "48", "--resume", *_TRAINING),
    ],
    "tune": [
        *("tune", "encoder", "--texts", "small.txt", "--out", "out", "--max-steps", "10"),
        *("--most-sentences", "60", "--most-kept", "30", "--resume", *_TRAINING),
    ],
    "embed": ["embed", "model", "--from", "numerals.txt", "--out", "out.npz"],
    "probe": ["probe", "model", "--out", "out.jsonl", *_PROBE, "--seeds", "2", "--workers", "1"],
    "report": ["report", "ready", "--compare", "paper"],
    "run": ["run", "small.toml", "--out", "out", "--workers", "1"],
}
_OUTPUTS = ("out*", ".out*", "ready/report")  # the command `report` writes into the run folder
_CONFIG = """
corpus = ["small.txt"]
base = "model"
systems = ["base", "ln-anchors"]
[fit]
components = 20
[pretrain]
max_tokens = 1000
max_length = 48
batch_size = 2
precision = "fp32"
checkpoint_minutes = 1e-9
[probe]
protocol = "demo"
tasks = ["decoding"]
ranges = ["[1,100]"]
domains = ["in"]
anchor = ["masked"]
seeds = 1
"""


def make_inputs(folder: Path) -> None:
    """Write what the commands read: texts, counts, anchors, a run folder and tiny models."""
    from numerate import extract_counts, fit_anchors, open_corpus, prime_corpus

    # Rayon's threads would not be there in forked processes.
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    lines = [f"in the year {1900 + n % 99} some {n * n} people paid ${n}." for n in range(1, 400)]
    (folder / "small.txt").write_text("\n".join(lines))
    (folder / "a.txt").write_text("\n".join(lines * 100))
    (folder / "numerals.txt").write_text("\n".join(map(str, range(1, 3000))))
    (folder / "small.toml").write_text(_CONFIG)
    corpus = open_corpus([str(folder / "small.txt")])
    counts = extract_counts(corpus)
    counts.save(folder / "counts.json")
    anchors = fit_anchors(counts, n_components=60, scale="ln")
    anchors.save(folder / "anchors.json")
    prime_corpus(corpus, anchors, folder / "primed")
    model, tokenizer = make_model("bert")
    model.save_pretrained(folder / "model")
    tokenizer.save_pretrained(folder / "model")
    save_encoder(folder, model, tokenizer)
    make_run(folder / "ready")


def start(command: Sequence[str]) -> int:
    """Fork a process that runs a command in the current folder; return its number.

    A signal that comes before the command has begun waits until it begins.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, _CATCHABLE)
    child = os.fork()
    if child:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _CATCHABLE)
        return child
    code, begun = 1, False
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background
        log = os.open("log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(log, 1)
        os.dup2(log, 2)
        sys.argv = ["numerate", *command, "--quiet"]
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _CATCHABLE)
        begun = True
        run_command()
    except SystemExit as ended:
        code = int(ended.code or 0)
    except KeyboardInterrupt:
        code = 1 if begun else _INTERRUPTED  # what begins catches its own
    finally:
        os._exit(code)


def finish(child: int) -> int:
    """Wait for a process, and return its exit code; minus the signal if one ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def run_whole(command: Sequence[str]) -> None:
    """Run a command to its end, which must be good."""
    code = finish(start(command))
    if code:
        told = Path("log").read_text(errors="replace").strip().splitlines()[-1:]
        raise SystemExit(f"numerate {' '.join(command)}: exit code {code}: {told}")


def hash_outputs() -> dict[str, str]:
    """Return the digests of all files that a command has made in the current folder.

    A process that is killed while it writes a file leaves a hidden one, `.NAME.….tmp`, which is
    left out: nothing reads it.
    """
    made = [path for output in list_outputs() for path in (output, *output.rglob("*"))]
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in made
        if path.is_file() and path.suffix != ".tmp"
    }


def list_outputs() -> list[Path]:
    """Return the files and folders that a command has made in the current folder."""
    return [path for pattern in _OUTPUTS for path in Path().glob(pattern)]


def clear_outputs() -> None:
    """Remove what a command has made."""
    for path in list_outputs():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    Path("log").unlink(missing_ok=True)


def kill_stage(command: Sequence[str], n_kills: int, rng: random.Random) -> dict[str, Any]:
    """Return what kills of a command, as many of each signal, have led to."""
    wholes, seconds = [], math.inf
    for _ in range(2):
        clear_outputs()
        began = time.monotonic()
        run_whole(command)
        seconds = min(seconds, time.monotonic() - began)
        wholes.append(hash_outputs())
    whole = wholes[0]
    timed = sorted(name for name in whole if wholes[1].get(name) != whole[name])
    signals = {}
    for number in SIGNALS:
        trials = [_kill_once(command, number, rng.uniform(0, seconds)) for _ in range(n_kills)]
        differing = {
            name
            for _, found in trials
            for name in found.keys() | whole.keys()
            if (name in found) != (name in whole)
            or (name not in timed and found[name] != whole[name])
        }
        ends = [code for code, _ in trials]
        signals[number.name] = {
            "kills": n_kills,
            "cut off": sum(code in _ENDS_OF[number] for code in ends),
            "ended before": ends.count(0),
            "other ends": [code for code in ends if code not in (0, *_ENDS_OF[number])],
            "differing files": sorted(differing),
        }
    return {"seconds": round(seconds, 2), "not compared": timed, "signals": signals}


def _kill_once(
    command: Sequence[str], number: signal.Signals, after: float
) -> tuple[int, dict[str, str]]:
    """Kill a command and run it again; return how it ended first, and the digests at last."""
    clear_outputs()
    child = start(command)
    time.sleep(after)
    os.kill(child, number)
    code = finish(child)
    run_whole(command)
    return code, hash_outputs()


def kill_stages(
    stages: Sequence[str], n_kills: int, *, seed: int = _SEED
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each stage with what kills of it have led to, in a new folder."""
    rng, before = random.Random(seed), Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        try:
            make_inputs(Path(name))
            for stage in stages:
                yield stage, kill_stage(COMMANDS[stage], n_kills, rng)
        finally:
            os.chdir(before)


def is_good(stages: dict[str, Any]) -> bool:
    """Return whether all kills ended as they should, and all results were the same."""
    parts = [part for stage in stages.values() for part in stage["signals"].values()]
    return not any(part["other ends"] or part["differing files"] for part in parts)


def main() -> None:
    """Kill all stages, or those that are named, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stages", nargs="*", default=list(COMMANDS))
    parser.add_argument("--kills", type=int, default=20, help="of each signal")
    given = parser.parse_args()
    stages = json.loads(RESULTS.read_bytes())["stages"] if RESULTS.exists() else {}
    for stage, found in kill_stages(given.stages, given.kills):
        stages[stage] = found
        total = sum(part["kills"] for one in stages.values() for part in one["signals"].values())
        write_json(RESULTS, {"kills": total, "versions": list_versions(), "stages": stages})
        told = "all results are equal" if is_good({stage: found}) else "SOME DIFFER"
        print(f"{stage}: {3 * given.kills} kills, {told}", flush=True)


if __name__ == "__main__":
    main()
