"""What a command costs: its seconds, those of the processor, and the memory of its processes."""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

Cost = dict[str, float]
_PAUSE = 0.1  # seconds between two looks at the processes


def measure_command(*arguments: str | Path) -> Cost:
    """Run a numerate command, and return what `measure_process` does."""
    return measure_process([sys.executable, "-m", "numerate", *map(str, arguments), "--quiet"])


def measure_process(command: Sequence[str]) -> Cost:
    """Run a command; return its seconds and its memory in MB.

    `seconds` passed, and `processor` are the seconds of all its processes together, which other
    work on the machine hardly changes. `megabytes` is the peak of its largest process, `all` the
    largest sum over all of them at one time. Memory is what processes have for themselves
    (anonymous pages): pages of files that they map, and of Ray's store, which has a fixed size, are
    left out. What happens in less than a tenth of a second may be missed.
    """
    largest = together = 0
    ticks: dict[int, int] = {}
    began = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            family = _find_family(process.pid)
            sizes = [_read_memory(pid) for pid in family]
            largest, together = max(largest, *sizes), max(together, sum(sizes))
            ticks.update(family)
            time.sleep(_PAUSE)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)}: ended with {process.returncode}")
    seconds = time.perf_counter() - began
    return {
        "seconds": round(seconds, 2),
        "processor": round(sum(ticks.values()) / os.sysconf("SC_CLK_TCK"), 2),
        "megabytes": round(largest / 1000),
        "all": round(together / 1000),
    }


def _find_family(first: int) -> dict[int, int]:
    """Return a process and all that it and they have started, with the ticks of each so far."""
    children: dict[int, list[int]] = {}
    ticks: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()  # from the third on
        except OSError:  # it has ended
            continue
        process = int(path.parent.name)
        children.setdefault(int(fields[1]), []).append(process)
        ticks[process] = int(fields[11]) + int(fields[12])
    family = [first]
    for process in family:
        family += children.get(process, [])
    return {process: ticks.get(process, 0) for process in family}


def _read_memory(process: int) -> int:
    """Return the anonymous memory of a process in kB; 0 if it has ended."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("RssAnon:")), 0)
