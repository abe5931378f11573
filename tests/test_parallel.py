import ctypes
import os
import signal
import subprocess
import sys
import time

import pytest

from numerate.errors import InputError
from numerate.parallel import map_ordered


@pytest.mark.parametrize("workers", [1, 2])
def test_results_come_in_order_and_items_are_drawn_as_needed(workers):
    drawn = []

    def numbers():
        for number in range(100):
            drawn.append(number)
            yield number

    results = map_ordered(str, numbers(), workers=workers)
    assert next(results) == (0, "0")
    assert len(drawn) <= 2 * workers
    assert [result for _, result in results] == [str(number) for number in range(1, 100)]


def test_workers_must_be_at_least_one():
    with pytest.raises(InputError, match="workers must be at least 1, got 0"):
        list(map_ordered(str, [1], workers=0))


def test_workers_end_when_their_parent_is_killed(tmp_path):
    code = (
        "import os, time\n"
        "from numerate.parallel import map_ordered\n"
        "results = map_ordered(os.getpgid, [0, 1, 2, 3], workers=2)\n"
        "print(next(results), flush=True)\n"
        "time.sleep(600)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, start_new_session=True
    )
    process.stdout.readline()
    process.kill()
    process.wait()
    for _ in range(3000):
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    pytest.fail("workers still run five minutes after their parent was killed")


def test_no_more_processes_are_started_than_there_are_items(monkeypatch):
    from numerate import parallel

    asked = []
    make = parallel.ProcessPoolExecutor

    def count(workers, *arguments):
        asked.append(workers)
        return make(workers, *arguments)

    monkeypatch.setattr(parallel, "ProcessPoolExecutor", count)
    assert list(parallel.map_ordered(abs, [-1, 2], workers=150)) == [(-1, 1), (2, 2)]
    assert list(parallel.map_ordered(abs, [-1], workers=150)) == [(-1, 1)]
    assert asked == [2]


def find_death_signal(_):
    found = ctypes.c_int()
    ctypes.CDLL(None).prctl(2, ctypes.byref(found))  # PR_GET_PDEATHSIG
    return found.value


@pytest.mark.skipif(sys.platform != "linux", reason="a call of Linux")
@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_the_system_ends_workers_with_their_parent(start):
    """Else they would keep the locks of a killed process for as long as their work takes."""
    found = list(map_ordered(find_death_signal, range(2), workers=2, start=start))
    assert [result for _, result in found] == [signal.SIGKILL] * 2
