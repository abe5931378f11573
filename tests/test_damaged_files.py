"""Files of ours that somebody has edited or damaged: one line that names the file."""

import json

import numpy as np
import pytest

from numerate.errors import InputError
from numerate.extract.counts import Counts
from numerate.fit.anchors import AnchorSet
from numerate.probe.systems import NumeralSystem, embed_cached
from numerate.probe.word_vectors import open_word_vectors

COUNTS = {"format": "numerate-counts", "version": 1, "counts": {"5": 1}}
ANCHORS = {"format": "numerate-anchors", "version": 1, "scale": "ln", "values": [10, 17]}


@pytest.mark.parametrize(
    "counts",
    [
        {"inf": 1},
        {"1e400": 1},
        {"nan": 1},
        {"5": 1e400},
        {"5": 10**30},
        {"5": None},
        {"1e12": 1},
        [],
        None,
    ],
)
def test_damaged_counts(counts, tmp_path):
    path = tmp_path / "counts.json"
    path.write_text(json.dumps({**COUNTS, "counts": counts}))
    with pytest.raises(InputError, match=r"counts.json: damaged counts \(.*run 'numerate extract'"):
        Counts.load(path)


@pytest.mark.parametrize(
    "change",
    [
        {"fit": None},
        {"fit": []},
        {"fit": "x"},
        {"resolution": 1e18},
        {"resolution": 1e300},
        {"resolution": 1e-300},
        {"resolution": float("inf")},
        {"resolution": float("nan")},
        {"width": 10**13},
        {"values": [10, 10**300]},
        {"values": 5},
    ],
)
def test_damaged_anchors(change, tmp_path):
    path = tmp_path / "anchors.json"
    path.write_text(json.dumps({**ANCHORS, **change}))
    with pytest.raises(InputError, match=r"anchors.json: damaged anchors \(.*run 'numerate fit'"):
        AnchorSet.load(path)


@pytest.mark.parametrize("content", [b"[" * 100_000, b"\xff\xfe", b'{"format":' * 50_000, b""])
@pytest.mark.parametrize("kind", [Counts, AnchorSet])
def test_what_is_no_json(kind, content, tmp_path):
    path = tmp_path / "file.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"file.json: not valid JSON"):
        kind.load(path)


def write_arrays(path, **arrays):
    with path.open("wb") as file:
        np.savez(file, **arrays)


VECTORS = {"numerals": np.array([3, 5]), "vectors": np.eye(2)}


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(path.read_bytes()[:50]),
        lambda path: path.write_bytes(b"not an archive"),
        lambda path: np.save(path.open("wb"), np.arange(3)),
        lambda path: write_arrays(path, numerals=np.array([3, 5])),
        lambda path: write_arrays(path, **{**VECTORS, "vectors": np.full((2, 2), np.nan)}),
        lambda path: write_arrays(path, **{**VECTORS, "vectors": np.array([{}, {}], object)}),
        lambda path: write_arrays(path, **{**VECTORS, "vectors": np.eye(3)}),
        lambda path: write_arrays(path, **{**VECTORS, "numerals": np.array(["3", "5"])}),
    ],
)
def test_damaged_vectors_are_made_again(damage, tmp_path):
    system = NumeralSystem("a", lambda numerals: np.array(numerals, float)[:, None], "print")
    expected = embed_cached(system, np.array([3, 5]), tmp_path)
    [path] = tmp_path.iterdir()
    damage(path)
    np.testing.assert_array_equal(embed_cached(system, np.array([3, 5]), tmp_path), expected)


@pytest.mark.parametrize(
    "arrays",
    [
        {"numerals": np.array([3]), "vectors": np.ones((1, 7))},  # of another width
        {"numerals": np.array([5, 3]), "vectors": np.array([[5.0], [3.0]])},  # not in order
        {"numerals": np.array([3, 3]), "vectors": np.array([[9.0], [9.0]])},
    ],
)
def test_cached_vectors_that_cannot_be_of_this_system_are_made_again(arrays, tmp_path):
    system = NumeralSystem("a", lambda numerals: np.array(numerals, float)[:, None], "print")
    expected = embed_cached(system, np.array([3, 5]), tmp_path)
    [path] = tmp_path.iterdir()
    write_arrays(path, **arrays)
    np.testing.assert_array_equal(embed_cached(system, np.array([3, 5]), tmp_path), expected)


def test_vectors_that_are_not_finite_are_refused_where_they_are_made(tmp_path):
    system = NumeralSystem("a", lambda numerals: np.full((len(numerals), 2), np.nan), "print")
    with pytest.raises(InputError, match="a: its vectors are not finite"):
        embed_cached(system, np.array([3, 5]), tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("header", ["1 999999999999999", "1 100001", f"1 {'9' * 5000}"])
def test_word_vectors_of_absurd_width(header, tmp_path):
    (tmp_path / "v.txt").write_text(f"{header}\n5 1 2\n")
    with pytest.raises(InputError, match="at most 100,000 numbers"):
        open_word_vectors(str(tmp_path / "v.txt"))


@pytest.mark.parametrize("number", ["1e400", "1e300"])  # no float64, and no float32
@pytest.mark.parametrize("line", [1, 2])
def test_word_vectors_that_overflow_are_one_line(number, line, tmp_path, recwarn):
    lines = ["the 1 2\n", f"5 {number} 2\n"]
    (tmp_path / "v.txt").write_text("".join(lines[2 - line :]))
    with pytest.raises(InputError, match=f"line {line}: must be a word and 2 numbers"):
        open_word_vectors(str(tmp_path / "v.txt")).embed_numerals([5])
    assert not list(recwarn)
