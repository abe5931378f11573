import json
import pickle
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numerate.errors import InputError
from numerate.extract.corpus import open_corpus
from numerate.extract.counts import extract_counts
from numerate.extract.pieces import cut_corpus
from numerate.fit.anchors import AnchorSet
from numerate.prime.primed_corpus import prime_corpus, unprime_corpus

LINES = [f"line {n} of {n * n:,} in {1900 + n % 100}" for n in range(1, 300)]
LN = AnchorSet("ln", tuple(range(10, 241)))


@dataclass(frozen=True)
class PartsEngine:
    """Runs everything in this process, but as if the pieces were sent to other machines."""

    part_bytes: int

    def map(self, function, items):
        for item in items:
            call, sent = pickle.loads(pickle.dumps((function, item)))
            yield item, pickle.loads(pickle.dumps(call(sent)))


@pytest.fixture
def folder(tmp_path):
    """A folder with the same lines in every format."""
    parquet = pytest.importorskip("pyarrow.parquet")
    import pyarrow

    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.txt").write_text("\n".join(LINES))
    (folder / "b.jsonl").write_text("\n".join(json.dumps({"text": line}) for line in LINES))
    table = pyarrow.table({"text": LINES})
    parquet.write_table(table, folder / "c.parquet", row_group_size=20)
    return folder


@given(st.binary(max_size=60).map(lambda data: data.replace(b"0", b"\n")), st.integers(1, 70))
def test_the_parts_of_a_file_are_its_lines_each_once(tmp_path_factory, data, size):
    path = tmp_path_factory.mktemp("parts") / "a.txt"
    path.write_bytes(data.decode("latin-1").encode())
    pieces = list(cut_corpus(open_corpus([str(path)]), size))
    parts = [b"".join(block.data for block in piece.blocks) for piece in pieces]
    assert b"".join(parts) == path.read_bytes()
    assert all(part.endswith(b"\n") for part in [part for part in parts if part][:-1])
    assert len({piece.name for piece in pieces}) == len(pieces)


@pytest.mark.parametrize("size", [700, 5_000, 10**9])
def test_counts_do_not_depend_on_parts(folder, size):
    corpus, seen = open_corpus([str(folder), "almanac:"]), []
    engine = PartsEngine(size)
    assert extract_counts(corpus, engine=engine, progress=seen.append) == extract_counts(corpus)
    assert seen == sorted(seen)
    assert len(seen) > 20 or size > 700


def test_primed_documents_do_not_depend_on_parts(folder, tmp_path):
    corpus = open_corpus([str(folder)])
    whole = prime_corpus(corpus, LN, tmp_path / "whole")
    parts = prime_corpus(corpus, LN, tmp_path / "parts", engine=PartsEngine(2_000))
    assert list(parts.documents()) == list(whole.documents())
    assert len(parts.manifest["shards"]) > 10 > len(whole.manifest["shards"])
    for key in ("documents", "numerals", "settings"):
        assert parts.manifest[key] == whole.manifest[key]
    back = unprime_corpus(parts, tmp_path / "back")
    assert [path.name for path in back] == ["a.txt", "b.jsonl", "c.jsonl"]
    assert back[0].read_bytes() == (folder / "a.txt").read_bytes()


def test_another_engine_may_finish_what_one_began(folder, tmp_path):
    corpus, out = open_corpus([str(folder)]), tmp_path / "out"
    expected = list(prime_corpus(corpus, LN, tmp_path / "whole").documents())

    def stop(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prime_corpus(corpus, LN, out, engine=PartsEngine(2_000), progress=stop)
    assert (out / "part-00000-00000.txt").exists()
    primed = prime_corpus(corpus, LN, out)
    assert list(primed.documents()) == expected
    assert not list(out.glob("part-*"))


def test_an_error_says_from_where_lines_are_counted(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"line 1\n" * 10 + b"\xff\n")
    with pytest.raises(InputError, match=r"a\.txt from byte 70, line 1, byte 1: not UTF-8"):
        extract_counts(open_corpus([str(path)]), engine=PartsEngine(70))
    with pytest.raises(InputError, match="'-' is read by this process alone"):
        extract_counts(open_corpus(["-"]), engine=PartsEngine(70))


def test_files_at_a_url_are_those_on_disk(folder):
    pytest.importorskip("pyarrow")
    (folder / ".hidden").write_text("5")
    here, there = open_corpus([str(folder)]), open_corpus([f"file://{folder}"])
    assert [f"file://{name}" for name in here.sources] == list(there.sources)
    assert there.size == here.size
    found = extract_counts(there, engine=PartsEngine(2_000))
    assert found.counts == extract_counts(here).counts
    with pytest.raises(InputError, match="nosuch: no such file or folder"):
        open_corpus([f"file://{folder}/nosuch"])
    with pytest.raises(InputError, match="cannot be reached"):
        open_corpus(["nosuch://bucket/key"])
