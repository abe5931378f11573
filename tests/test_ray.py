"""The engine Ray, on small clusters in this machine; its processes are gone after every test."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from numerate.engines import RayEngine
from numerate.errors import InputError
from numerate.extract.corpus import open_corpus
from numerate.extract.counts import extract_counts
from numerate.fit.anchors import AnchorSet
from numerate.prime.primed_corpus import open_primed, prime_corpus

pytestmark = pytest.mark.slow
LN = AnchorSet("ln", tuple(range(10, 241)))


def find_processes(folder):
    """Return the processes that a Ray with its files in a folder consists of."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            variables = (path / "environ").read_bytes().split(b"\0")
        except OSError:  # it has ended
            continue
        if f"RAY_TMPDIR={folder}".encode() in variables and int(path.name) != os.getpid():
            found.append(int(path.name))
    return found


def wait_for(condition):
    for _ in range(6000):  # at most ten minutes, on a busy machine
        if condition():
            return True
        time.sleep(0.1)
    return False


@pytest.fixture(autouse=True, scope="module")
def home(tmp_path_factory):
    """A home of its own, so that Ray neither reads nor writes a token in that of the user.

    Ray reads these variables when it is imported.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        patch.setenv("RAY_AUTH_MODE", "token")
        patch.setenv("RAY_AUTH_TOKEN", "0" * 64)
        pytest.importorskip("ray")
        yield


@pytest.fixture(autouse=True)
def ray_folder(monkeypatch):
    """A folder for the files of Ray with a short name: sockets are in it."""
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="ray", ignore_cleanup_errors=True) as name:
        monkeypatch.setenv("RAY_TMPDIR", name)
        yield name
        assert wait_for(lambda: not find_processes(name)), "Ray was left behind"


@pytest.fixture
def corpus_folder(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    for file in range(6):
        lines = (f"{n * n} of {n + file:,} in {1900 + n % 100}\n" for n in range(1, 4000))
        (folder / f"{file}.txt").write_text("".join(lines))
    return folder


def test_a_node_may_die_in_the_middle_of_a_job(corpus_folder, tmp_path):
    import ray
    from ray.cluster_utils import Cluster

    corpus = open_corpus([str(corpus_folder)])
    engine = RayEngine(part_bytes=40_000)
    node = {"num_cpus": 1, "object_store_memory": 80 << 20}
    cluster = Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
    out, doomed, left = tmp_path / "out", [cluster.add_node(**node) for _ in range(2)], []

    def kill(_):
        if not left:
            left.append(len(list(out.glob("part-*"))))
            cluster.remove_node(doomed[0], allow_graceful=False)

    try:
        ray.init(cluster.address, log_to_driver=False)
        assert len([node for node in ray.nodes() if node["Alive"]]) == 3
        counts = extract_counts(corpus, engine=engine)
        primed = prime_corpus(corpus, LN, out, engine=engine, progress=kill)
        assert wait_for(lambda: len([node for node in ray.nodes() if node["Alive"]]) == 2)
    finally:
        ray.shutdown()
        cluster.shutdown()
    assert counts == extract_counts(corpus)
    assert left[0] < len(primed.manifest["shards"])
    whole = prime_corpus(corpus, LN, tmp_path / "whole")
    assert list(primed.documents()) == list(whole.documents())
    assert primed.manifest["numerals"] == whole.manifest["numerals"]


def test_a_killed_command_takes_ray_with_it_and_goes_on(corpus_folder, tmp_path, ray_folder):
    LN.save(tmp_path / "anchors.json")
    out = tmp_path / "out"
    command = [sys.executable, "-c", "from numerate.cli import main; main()", "prime"]
    command += [str(corpus_folder), "--anchors", str(tmp_path / "anchors.json"), "--out", str(out)]
    command += ["--engine", "ray", "--workers", "1", "--quiet"]
    process = subprocess.Popen(command)
    assert wait_for(lambda: list(out.glob("part-*")))
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert wait_for(lambda: not find_processes(ray_folder))
    begun = {path: path.stat().st_mtime_ns for path in out.glob("part-*")}
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")
    assert begun.items() <= {path: path.stat().st_mtime_ns for path in out.glob("part-*")}.items()
    whole = prime_corpus(open_corpus([str(corpus_folder)]), LN, tmp_path / "whole")
    assert list(open_primed(out).documents()) == list(whole.documents())


def test_errors_are_those_of_the_local_engine(corpus_folder):
    import ray

    corpus = open_corpus([str(corpus_folder)])
    (corpus_folder / "3.txt").write_bytes(b"\xff")
    with pytest.raises(InputError, match=r"3\.txt, line 1, byte 1: not UTF-8"):
        extract_counts(corpus, engine=RayEngine())
    (corpus_folder / "3.txt").unlink()
    (corpus_folder / "3.txt").mkdir()  # as on a machine that lacks the file
    with pytest.raises(InputError, match="must be on storage that all machines reach"):
        extract_counts(corpus, engine=RayEngine())
    assert not ray.is_initialized()
    with pytest.raises(InputError, match="ray: cannot start at 'localhost:1'"):
        extract_counts(corpus, engine=RayEngine("localhost:1"))
