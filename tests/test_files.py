import os
import stat
import threading

import pytest

from numerate.files import open_whole, read_data, write_file


@pytest.fixture
def umask():
    """Set the umask of this process for a test."""
    before = os.umask(0)
    yield os.umask
    os.umask(before)


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_file_has_the_permissions_that_the_umask_leaves(tmp_path, umask, mask, mode):
    umask(mask)
    write_file(tmp_path / "a.json", b"{}")
    assert stat.S_IMODE((tmp_path / "a.json").stat().st_mode) == mode


def test_writing_leaves_the_umask_of_the_process_alone(tmp_path, umask, monkeypatch):
    def refuse(mask):
        raise AssertionError("other threads would create files with this umask")

    umask(0o022)
    monkeypatch.setattr(os, "umask", refuse)
    write_file(tmp_path / "a.json", b"{}")


def test_a_file_that_could_not_be_completed_is_absent(tmp_path):
    write_file(tmp_path / "a", b"old")

    def write_half():
        with open_whole(tmp_path / "a") as file:
            file.write(b"new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_half()
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_bytes() == b"old"


def test_threads_that_write_one_file_leave_one_of_them_whole(tmp_path):
    contents = [bytes([code]) * 100_000 for code in range(65, 73)]
    threads = [
        threading.Thread(target=write_file, args=(tmp_path / "a", content)) for content in contents
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_bytes() in contents


def test_packaged_files_are_read_as_text():
    assert "[" in read_data("demo.toml")
