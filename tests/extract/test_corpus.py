import gzip
import io
import json
import lzma
import os
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from backports import zstd
from hypothesis import example, given
from hypothesis import strategies as st

from numerate.errors import InputError
from numerate.extract import sources
from numerate.extract.corpus import Corpus, open_corpus
from numerate.extract.numerals import scan_numerals
from numerate.extract.records import parse_hub_name
from numerate.extract.sources import block_texts

TEXT = "In 1999 Zoë paid 12,345.\n\nThen 5 came.\n"


def read_all(*names, **options):
    return b"".join(
        block.data for block in open_corpus([str(n) for n in names], **options).blocks()
    )


@pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("a.txt", bytes),
        ("a", bytes),
        ("a.txt.gz", gzip.compress),
        ("a.txt.xz", lzma.compress),
        ("a.txt.zst", zstd.compress),
    ],
)
def test_text_comes_out_as_it_went_in(tmp_path, name, pack):
    path = tmp_path / name
    path.write_bytes(pack(TEXT.encode()))
    assert read_all(path) == TEXT.encode()


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, zstd.compress])
def test_archives_of_several_members_are_read_to_the_end(tmp_path, pack):
    suffix = {gzip.compress: ".gz", lzma.compress: ".xz", zstd.compress: ".zst"}[pack]
    path = tmp_path / f"a{suffix}"
    path.write_bytes(pack(b"one 1\n") + pack(b"two 2\n"))
    assert read_all(path) == b"one 1\ntwo 2\n"


def test_a_folder_is_its_visible_files_in_order(tmp_path):
    (tmp_path / "b" / "c").mkdir(parents=True)
    (tmp_path / "b" / "c" / "2.txt").write_text("two ")
    (tmp_path / "b" / "1.tokens").write_text("one ")
    (tmp_path / "z.txt").write_text("three")
    (tmp_path / ".hidden").write_text("no")
    assert read_all(tmp_path) == b"one two three"


def test_json_lines_give_the_field_of_every_record(tmp_path):
    path = tmp_path / "a.jsonl.gz"
    records = [{"id": 1, "body": "5\n6"}, {"body": "Zoë"}]
    path.write_bytes(gzip.compress("\n\n".join(map(json.dumps, records)).encode()))
    (block,) = open_corpus([str(path)], field="body").blocks()
    assert block.data == "5\n6\nZoë".encode()
    assert block.bounds == (3, 8)
    assert block.documents == 2
    assert block.texts() == ["5\n6", "Zoë"]


def test_a_json_record_longer_than_a_block_stays_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "BLOCK_BYTES", 64)
    texts = ["word " * 50 + str(n) for n in range(5)]
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(json.dumps({"text": text}) for text in texts))
    blocks = list(open_corpus([str(path)]).blocks())
    assert [block.data.decode() for block in blocks] == texts
    assert [block.first for block in blocks] == [1, 2, 3, 4, 5]


def test_parquet_gives_the_field_of_every_record(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": ["in 1999", "in 2000"], "id": [1, 2]}), path)
    assert read_all(path) == b"in 1999\nin 2000"
    with pytest.raises(InputError, match="no field 'body'; its fields are 'text', 'id'"):
        read_all(path, field="body")
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(InputError, match=r"a\.parquet: cannot be read as Parquet"):
        read_all(path)


def test_a_hub_dataset_is_streamed(tmp_path, monkeypatch):
    # A local folder in the place of a repository: load_dataset takes both the same way.
    folder = tmp_path / "owner" / "name"
    folder.mkdir(parents=True)
    (folder / "train.jsonl").write_text('{"text": "in 1999"}\n{"text": "in 2000"}\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "cache"))
    corpus = open_corpus(["hf:owner/name"])
    assert corpus.size is None
    assert [block.data for block in corpus.blocks()] == [b"in 1999\nin 2000"]
    with pytest.raises(InputError, match="hf:owner/name:nosuch: the dataset cannot be loaded"):
        list(open_corpus(["hf:owner/name:nosuch"]).blocks())


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("hf:squad", ("squad", None, "train")),
        ("hf:a/b", ("a/b", None, "train")),
        ("hf:a/b:test[:10%]", ("a/b", None, "test[:10%]")),
        ("hf:a/b/c-v1:validation", ("a/b", "c-v1", "validation")),
    ],
)
def test_hub_names_have_repository_config_and_split(name, parts):
    assert parse_hub_name(name) == parts


@pytest.mark.parametrize("name", ["hf:", "hf:a/", "hf:a/b/"])
def test_hub_names_that_are_none_are_refused(name):
    with pytest.raises(InputError, match="is written hf:OWNER/NAME"):
        parse_hub_name(name)


def test_standard_input_is_a_corpus(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))
    assert read_all("-") == TEXT.encode()


def test_the_almanac_needs_no_file():
    blocks = list(open_corpus(["almanac:1"]).blocks())
    assert sum(block.documents for block in blocks) > 1000
    with pytest.raises(InputError, match="almanac:x: the almanac's seed must be a whole number"):
        list(open_corpus(["almanac:x"]).blocks())


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.txt", b"fine\nbad \xff 5", "a.txt, line 2, byte 5: not UTF-8 (0xff)"),
        ("a.txt.gz", gzip.compress(os.urandom(999))[:-100], "a.txt.gz: damaged or incomplete"),
        ("a.txt.xz", lzma.compress(os.urandom(999))[:-100], "a.txt.xz: damaged or incomplete"),
        ("a.txt.zst", zstd.compress(os.urandom(999))[:-100], "a.txt.zst: damaged or incomplete"),
        ("a.txt.gz", b"plain text", "a.txt.gz: damaged or incomplete"),
        ("a.txt.xz", b"plain text", "a.txt.xz: damaged or incomplete"),
        ("a.txt.zst", b"plain text", "a.txt.zst: damaged or incomplete"),
        ("a.jsonl", b'{"text": "5"}\n{"body": "5"}', "a.jsonl, line 2: no field 'text'"),
        ("a.jsonl", b'{"text": "5"}\n\n{"text": 5}', "a.jsonl, line 3: field 'text' must be text"),
        ("a.jsonl", b"[1]", "a.jsonl, line 1: a JSON object was expected, got list"),
        ("a.jsonl", b'{"text": ', "a.jsonl, line 1: not valid JSON"),
    ],
)
def test_an_error_of_reading_names_the_place(tmp_path, name, data, message):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError) as error:
        read_all(tmp_path / name)
    assert message in str(error.value)


def test_names_that_lead_nowhere_are_refused(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="nosuch: no such file or folder"):
        open_corpus(["nosuch"])
    with pytest.raises(InputError, match="empty: a folder without files"):
        open_corpus([str(tmp_path / "empty")])
    with pytest.raises(InputError, match="at least one"):
        open_corpus([])
    with pytest.raises(InputError, match="names must be a list of strings, got one: 'almanac:'"):
        open_corpus("almanac:")
    with pytest.raises(InputError, match="errors must be one of strict, replace, got 'ignore'"):
        open_corpus(["almanac:"], errors="ignore")


def test_bytes_that_are_not_utf8_can_be_replaced(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"x \xff 5")
    assert read_all(tmp_path / "a.txt", errors="replace").decode() == "x \ufffd 5"


@given(
    st.text(st.sampled_from("ab5,. @é漢\n-"), max_size=300).map(lambda text: text.encode()),
    st.integers(1, 50),
)
@example(b"  b", 1)
def test_blocks_of_any_size_hold_the_same_text_and_numerals(text, size):
    old, sources.BLOCK_BYTES = sources.BLOCK_BYTES, size
    try:
        blocks = list(sources._read_text(io.BytesIO(text).read, lambda: 0, "x", "strict"))
    finally:
        sources.BLOCK_BYTES = old
    assert b"".join(block.data for block in blocks) == text
    for domain in ("integers", "reals"):
        apart = [value for block in blocks for value in scan_numerals(block.data, domain).values]
        assert apart == scan_numerals(text, domain).values.tolist()
    lines = [line for line in text.split(b"\n") if line.strip()]
    assert sum(block.documents for block in blocks) == len(lines)


def test_a_long_line_is_cut_beside_no_quantity(monkeypatch):
    words = "we saw two million and half a million, $5 m to 7 million of a hundred lakh crore or "
    text = (words * 40).encode()
    expected = scan_numerals(text, "quantities").values.tolist()
    for size in range(90, 250, 7):
        monkeypatch.setattr(sources, "BLOCK_BYTES", size)
        blocks = list(sources._read_text(io.BytesIO(text).read, lambda: 0, "x", "strict"))
        assert len(blocks) > 10
        apart = [
            value for block in blocks for value in scan_numerals(block.data, "quantities").values
        ]
        assert apart == expected


@pytest.mark.parametrize("unit", ["word ", "5 ", "漢", "ACGT"])
def test_a_line_longer_than_memory_is_cut(tmp_path, monkeypatch, unit):
    monkeypatch.setattr(sources, "BLOCK_BYTES", 1000)
    (tmp_path / "a.txt").write_text(unit * 10_000, encoding="utf-8")
    blocks = list(open_corpus([str(tmp_path / "a.txt")]).blocks())
    assert max(len(block.data) for block in blocks) <= 2000
    assert sum(block.documents for block in blocks) == 1


def test_a_place_is_file_and_line_or_record():
    text = sources.Block(source="a.txt", data=b"x\n \n\nz", first=10)
    assert text.place(4) == "a.txt, line 12"
    assert text.texts() == ["x", "z"]
    (records,) = block_texts(["ab", "c", "d"])
    assert [records.place(offset) for offset in (0, 2, 3, 5)] == [
        "text, record 1",
        "text, record 1",
        "text, record 2",
        "text, record 3",
    ]


def test_position_and_size_count_bytes_on_disk(tmp_path):
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("5 words\n" * 10)
    corpus = open_corpus([str(tmp_path)])
    assert corpus.size == 160
    assert [block.position for block in corpus.blocks()] == [80, 160]
    assert Corpus(("-",)).size is None
