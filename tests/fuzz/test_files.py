"""Damaged files, ours and others: the command ends well, or in one line that leaves nothing."""

import io
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.commands import check, working_folder
from tests.fuzz.effort import fuzz
from tests.fuzz.mutations import changed_bytes, changed_json, changed_lines

RECORDS = [
    {"text": "In 1999 some 12,345 people", "id": 1},
    {"text": "paid 5 – 7 \ud83d\ude00", "more": {"a": [1, 2.5, None]}},
    {"text": "", "id": "x"},
]
ORIGIN = {"model": "0123456789ab", "counts": "ba9876543210", "protocol": "00"}
SCORES = [
    {
        "system": system,
        "task": "decoding",
        "domain": "in",
        "range": "[1,100]",
        "metric": "log-rmse",
        "protocol": "demo",
        "seed": seed,
        "value": 0.1 + seed,
        "training": 0,
        "origin": ORIGIN,
    }
    for system in ("bert", "control:oracle")
    for seed in (0, 1)
]
PROBE = ("--protocol", "demo", "--tasks", "geometry", "--range", "[1,100]", "--seeds", 1)
PROBE += ("--workers", 1, "-q")
WORDS = [f"{word} {n / 3:.3f} {-n} 1e-{n % 9}" for n, word in enumerate(["the", *range(1, 120)])]


def write(name, data):
    Path(name).parent.mkdir(exist_ok=True)
    Path(name).write_bytes(data)


@fuzz(12, 1500)
@given(st.data())
def test_counts(valid, read_valid, data):
    document = read_valid("counts.json")
    document["counts"] = dict(list(document["counts"].items())[:30])
    with working_folder():
        write("counts.json", data.draw(changed_json(document)))
        scale = data.draw(st.sampled_from(["linear", "ln", "log10"]))
        components = () if scale == "log10" else ("--components", 3)
        out = ("--out", "anchors.json", "--scale", scale, "-q")
        check("fit", "counts.json", *components, *out)


@fuzz(3, 300)
@given(st.data())
def test_counts_of_a_probe(valid, read_valid, data):
    document = read_valid("counts.json")
    with working_folder():
        write("counts.json", data.draw(changed_json(document)))
        check("probe", "control:oracle", "--counts", "counts.json", "--out", "s.jsonl", *PROBE)


@fuzz(12, 1500)
@given(st.data())
def test_anchors(valid, read_valid, data):
    with working_folder():
        write("anchors.json", data.draw(changed_json(read_valid("anchors.json"))))
        shutil.copy(valid / "a.txt", ".")
        code, _, _ = check(
            "prime", "a.txt", "--anchors", "anchors.json", "--out", "p", "--workers", 1, "-q"
        )
        if code == 0:
            assert check("prime", "p", "--undo", "--out", "u", "-q")[0] == 0
            assert Path("u/a.txt").read_bytes() == Path("a.txt").read_bytes()


@fuzz(8, 1000)
@given(st.data())
def test_manifest_of_a_primed_corpus(valid, read_valid, data):
    with working_folder():
        shutil.copytree(valid / "primed", "p")
        write("p/manifest.json", data.draw(changed_json(read_valid("primed/manifest.json"))))
        check("prime", "p", "--undo", "--out", "u", "-q")


@fuzz(8, 1000)
@given(changed_lines(SCORES))
def test_scores(data):
    with working_folder():
        write("s.jsonl", data)
        check("report", "--scores", "s.jsonl", "--out", "page", "-q")


@fuzz(3, 300)
@given(changed_lines(SCORES))
def test_scores_to_continue(data):
    with working_folder():
        write("s.jsonl", data)
        check("probe", "control:oracle", "--out", "s.jsonl", *PROBE)


@fuzz(12, 1500)
@given(st.data())
def test_json_lines(valid, data):
    with working_folder():
        write("a.jsonl", data.draw(changed_lines(RECORDS)))
        options = data.draw(st.sampled_from([(), ("--errors", "replace"), ("--field", "more")]))
        check("extract", "a.jsonl", "--out", "counts.json", "--workers", 1, "-q", *options)
        code, _, _ = check(
            *("prime", "a.jsonl", "--anchors", valid / "anchors.json", "--out", "p"),
            *("--workers", 1, "-q", *options),
        )
        if code == 0:
            check("prime", "p", "--undo", "--out", "u", "-q")


@pytest.fixture(scope="session")
def archives(valid):
    """The corpus in every format that is not plain text."""
    import gzip
    import lzma

    import pyarrow
    from pyarrow import parquet

    from numerate.extract.sources import zstd

    plain = (valid / "a.txt").read_bytes()
    table = io.BytesIO()
    parquet.write_table(pyarrow.table({"text": plain.decode().split("\n")}), table)
    packed = {"a.txt.gz": gzip.compress(plain), "a.txt.xz": lzma.compress(plain)}
    return {**packed, "a.txt.zst": zstd.compress(plain), "a.parquet": table.getvalue()}


@fuzz(8, 1000)
@given(st.data())
def test_archives(archives, data):
    name = data.draw(st.sampled_from(sorted(archives)))
    with working_folder():
        write(name, data.draw(changed_bytes(archives[name])))
        check("extract", name, "--out", "counts.json", "--workers", 1, "-q")


@fuzz(5, 700)
@given(changed_bytes("\n".join(WORDS).encode()))
def test_word_vectors(data):
    with working_folder():
        write("v.txt", data)
        check("probe", "vectors:v.txt", "--out", "s.jsonl", *PROBE)


@st.composite
def changed_vectors(draw):
    """The bytes of cached vectors with other arrays, or with some bytes changed."""
    numerals, vectors = np.arange(1, 100), np.arange(198.0).reshape(99, 2)
    kinds = st.sampled_from(["<i8", "<f4", "<f8", "S3", "?", "<M8[s]", "<c16"])
    shapes = st.sampled_from([(99,), (198,), (99, 2), (2, 99), (99, 2, 1), (0, 2), ()])
    arrays = {"numerals": numerals, "vectors": vectors}
    name = draw(st.sampled_from(sorted(arrays)))
    arrays[name] = np.resize(arrays[name], draw(shapes)).astype(draw(kinds))
    file = io.BytesIO()
    np.savez(file, **arrays)
    return draw(st.one_of(st.just(file.getvalue()), changed_bytes(file.getvalue())))


@fuzz(3, 300)
@given(changed_vectors())
def test_cached_vectors(data):
    with working_folder():
        assert check("probe", "control:oracle", "--out", "s.jsonl", *PROBE)[0] == 0
        [cached] = Path("s.vectors").iterdir()
        expected = Path("s.jsonl").read_bytes()
        cached.write_bytes(data)
        Path("s.jsonl").unlink()
        if check("probe", "control:oracle", "--out", "s.jsonl", *PROBE)[0] == 0:
            scores = [json.loads(line) for line in Path("s.jsonl").read_text().splitlines()]
            assert len(scores) == expected.count(b"\n")
