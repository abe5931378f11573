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

LN = AnchorSet("ln", tuple(range(10, 241)))


def find_processes(folder):
    """Return the processes that have files of a Ray in a folder open: all that it consists of.

    Most of them cannot be told by their environment, which the title that they take overwrites.
    """
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            files = [str(link.readlink()) for link in (path / "fd").iterdir()]
        except OSError:  # it has ended
            continue
        if int(path.name) != os.getpid() and any(file.startswith(folder) for file in files):
            found.append(int(path.name))
    return found


def is_agent(process):
    """Whether a process is one of the two agents of a node."""
    try:
        return b"Agent" in Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:  # it has ended
        return True


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
        # Else each of Ray's many processes compiles its modules, again and again.
        patch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
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


class DoomedEngine(RayEngine):
    """An engine whose tasks never end on one node, and begin elsewhere when one has begun there.

    So that node is at work when the first result arrives, however slow the machine is.
    """

    def doom(self, node, folder):
        object.__setattr__(self, "doomed", (node.node_id, folder))
        return self

    def map(self, function, items):
        doomed, folder = self.doomed

        def call(item):
            import time
            import uuid

            import ray

            node = ray.get_runtime_context().get_node_id()
            (folder / f"{node}-{uuid.uuid4().hex}").write_text(item.name)
            while node == doomed or not list(folder.glob(f"{doomed}-*")):
                time.sleep(0.05)
            return function(item)

        return super().map(call, items)


@pytest.fixture
def cluster():
    """A cluster of three nodes, one processor each."""
    import ray
    from ray.cluster_utils import Cluster

    node = {"num_cpus": 1, "object_store_memory": 80 << 20, "include_log_monitor": False}
    head = {**node, "include_dashboard": False, "no_monitor": True}
    head["_system_config"] = {"worker_niceness": 0}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        for _ in range(2):
            cluster.add_node(**node)
        ray.init(cluster.address, log_to_driver=False, logging_level="ERROR")
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()


def test_a_node_may_die_in_the_middle_of_a_job(cluster, corpus_folder, tmp_path):
    import ray

    corpus = open_corpus([str(corpus_folder)])
    assert len([node for node in ray.nodes() if node["Alive"]]) == 3
    assert extract_counts(corpus, engine=RayEngine(part_bytes=40_000)) == extract_counts(corpus)
    doomed = next(iter(cluster.worker_nodes))
    begun, out = tmp_path / "begun", tmp_path / "out"
    begun.mkdir()
    lost = []

    def kill(_):
        if not lost:
            lost.extend(path.read_text() for path in begun.glob(f"{doomed.node_id}-*"))
            cluster.remove_node(doomed, allow_graceful=False)

    engine = DoomedEngine(part_bytes=40_000).doom(doomed, begun)
    primed = prime_corpus(corpus, LN, out, engine=engine, progress=kill)
    assert lost  # what was under way on the node
    calls = [path.read_text() for path in begun.iterdir()]
    assert sorted(calls) == sorted([*set(calls), *lost])  # it alone was done again
    shards = [shard["name"] for shard in primed.manifest["shards"]]
    assert sorted(shards) == sorted({path.name for path in out.glob("part-*")})
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
    # What works on the corpus has ended. Two agents try for a minute to report it to a Ray that is
    # gone, and end then; nothing waits for them.
    assert wait_for(lambda: all(map(is_agent, find_processes(ray_folder))))
    agents = find_processes(ray_folder)
    begun = {path: path.stat().st_mtime_ns for path in out.glob("part-*")}
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")
    for agent in set(agents).intersection(find_processes(ray_folder)):
        os.kill(agent, signal.SIGKILL)
    assert begun.items() <= {path: path.stat().st_mtime_ns for path in out.glob("part-*")}.items()
    whole = prime_corpus(open_corpus([str(corpus_folder)]), LN, tmp_path / "whole")
    assert list(open_primed(out).documents()) == list(whole.documents())


def test_workers_are_as_nice_as_the_command():
    # By default Ray gives its workers what other programs leave: next to nothing on a busy machine.
    assert list(RayEngine().map(lambda _: os.nice(0), [1])) == [(1, os.nice(0))]


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
