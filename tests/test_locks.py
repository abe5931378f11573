import os
import subprocess
import sys
import time

import pytest

from numerate import locks
from numerate.errors import InputError

HOLD = "import sys, time; from pathlib import Path; from numerate.locks import hold\n"
HOLD += "with hold(Path(sys.argv[1])):\n    print('held', flush=True)\n    time.sleep(600)"


@pytest.fixture
def hold_elsewhere():
    """Hold a path in another process; the value is a function that starts and returns it."""
    started = []

    def start(path):
        started.append(
            subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE)
        )
        assert started[-1].stdout.readline() == b"held\n"
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.mark.parametrize("is_folder", [True, False])
def test_what_another_process_holds_is_refused_by_its_number(
    is_folder, hold_elsewhere, tmp_path, monkeypatch
):
    monkeypatch.setattr(locks, "PATIENCE", 0)
    path = tmp_path if is_folder else tmp_path / "a"
    path.touch()
    process = hold_elsewhere(path)
    with pytest.raises(InputError, match=f"process {process.pid} is writing it"), locks.hold(path):
        pytest.fail("both hold it")
    process.kill()
    process.wait()
    with locks.hold(path):  # a killed process leaves nothing behind
        pass


def test_a_lock_that_is_let_go_within_a_moment_is_waited_for(hold_elsewhere, tmp_path, monkeypatch):
    process = hold_elsewhere(tmp_path)
    monkeypatch.setattr(time, "sleep", lambda _: (process.kill(), process.wait()))
    with locks.hold(tmp_path):
        assert process.poll() is not None


def test_a_folder_below_a_file_cannot_be_held(tmp_path):
    (tmp_path / "a").touch()
    told = "a is a file, not a folder; choose another --out"
    with pytest.raises(InputError, match=told), locks.hold_folder(tmp_path / "a" / "b" / "c"):
        pytest.fail("it is held")
    assert [*tmp_path.iterdir()] == [tmp_path / "a"]


def test_a_process_may_hold_again_what_it_holds(tmp_path):
    with locks.hold(tmp_path), locks.hold(tmp_path):
        assert len(locks._held) == 1
    assert not locks._held


def test_without_locks_of_the_system_work_goes_on(tmp_path, monkeypatch):
    def refuse(descriptor, how):
        raise OSError(os.EX_OSERR, "no locks available")

    monkeypatch.setattr(locks.fcntl, "flock", refuse)
    with locks.hold(tmp_path):
        pass
