import gzip
import lzma

import numpy as np
import pytest

from numerate.errors import InputError
from numerate.extract import sources
from numerate.extract.counts import Counts
from numerate.probe.plan import Plan, probe_system
from numerate.probe.protocols import PROTOCOLS
from numerate.probe.systems import Reading, open_systems
from numerate.probe.word_vectors import open_word_vectors

GLOVE = "the 0.5 -1 2e-1\n1999 1 2 3\nat name 9 9 9\n12 -4 0.25 6\n1999 7 7 7\n5,0 8 8 8\n5 0 0 1"
HEADERS = {"glove": "", "word2vec": "6 3\n"}


def write(folder, text, name="vectors.txt"):
    pack = {"gz": gzip.compress, "xz": lzma.compress}.get(name.rpartition(".")[2], bytes)
    (folder / name).write_bytes(pack(text.encode()))
    return str(folder / name)


@pytest.mark.parametrize("layout", HEADERS)
@pytest.mark.parametrize("name", ["vectors.txt", "vectors.vec.gz", "vectors.txt.xz"])
@pytest.mark.parametrize("end", ["\n", " \n", "\r\n"])
def test_a_numeral_has_the_vector_of_its_written_form(layout, name, end, tmp_path):
    text = (HEADERS[layout] + GLOVE).replace("\n", end)
    words = open_word_vectors(write(tmp_path, text, name))
    assert (words.width, words.has_header) == (3, layout == "word2vec")
    vectors = words.embed_numerals([12, 7, 1999, 5])
    assert vectors.tolist() == [[-4, 0.25, 6], [0, 0, 0], [1, 2, 3], [0, 0, 1]]


def test_a_header_is_no_vector_of_a_numeral(tmp_path):
    words = open_word_vectors(write(tmp_path, "6 3\n7 1 2 3\n6 4 5 6\n"))
    assert words.embed_numerals([6, 7]).tolist() == [[4, 5, 6], [1, 2, 3]]


def test_a_file_is_read_in_blocks_and_places_are_right(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "BLOCK_BYTES", 64)
    lines = [f"{n} {n / 2} {-n}" for n in range(1, 500)]
    words = open_word_vectors(write(tmp_path, "\n".join(lines)))
    asked = [1, 250, 499]
    assert words.embed_numerals(asked).tolist() == [[n / 2, -n] for n in asked]
    lines[411] = "412 1"
    words = open_word_vectors(write(tmp_path, "\n".join(lines)))
    with pytest.raises(InputError, match=r"vectors.txt, line 412: must be a word and 2 numbers"):
        words.embed_numerals([412])


def test_another_file_has_another_fingerprint(tmp_path):
    first = open_word_vectors(write(tmp_path, GLOVE, "a.txt"))
    same = open_word_vectors(write(tmp_path, GLOVE, "b.txt"))
    other = open_word_vectors(write(tmp_path, GLOVE.replace("-4", "-5"), "c.txt"))
    assert first.fingerprint == same.fingerprint != other.fingerprint


@pytest.mark.parametrize("row", ["1999 1 2", "1999 1 2 3 4", "1999 1 x 3", "1999 nan 2 3", "1999 "])
def test_a_damaged_row_is_named(row, tmp_path):
    words = open_word_vectors(write(tmp_path, f"the 1 2 3\n{row}\n"))
    with pytest.raises(InputError, match="line 2: must be a word and 3 numbers"):
        words.embed_numerals([1999])


@pytest.mark.parametrize("text", ["", "\n", "the\n", "once upon a time\n", "12 men\n"])
def test_what_is_no_word_vectors_is_refused(text, tmp_path):
    with pytest.raises(InputError, match=r"vectors.txt, line 1: must be a word and its numbers"):
        open_word_vectors(write(tmp_path, text))


def test_a_missing_file_and_a_folder_are_named(tmp_path):
    with pytest.raises(InputError, match=r"no.txt: no such file; name word vectors"):
        open_word_vectors(str(tmp_path / "no.txt"))
    with pytest.raises(InputError, match="a folder, not a file; name word vectors"):
        open_word_vectors(str(tmp_path))


def test_all_numerals_are_asked_and_the_share_that_is_not_known_is_told(tmp_path):
    rows = [f"{n} {np.log(n)} 1" for n in range(1, 1000) if n % 4]
    name = f"words=vectors:{write(tmp_path, chr(10).join(rows))}"
    [system] = open_systems(name, reading=Reading())
    assert system.name == "words"
    counts = Counts(dict.fromkeys(range(1, 1000), 1), documents=1, words=1)
    plan = Plan(
        tasks=("decoding",),
        seeds=(0,),
        protocol=PROTOCOLS["demo"],
        counts=counts,
        domains=("in",),
        ranges=("[100,1k]",),
    )
    notes = []
    scores = probe_system(system, plan, tmp_path / "s.jsonl", note=notes.append)
    assert {score.range for score in scores} == {"[100,1k]"}
    [note] = notes
    assert note.startswith("words knows no vector of ")
    assert "of 500 numerals" in note
    unknown = int(note.split(" of ")[1])
    assert 100 < unknown < 150
    assert f"({unknown / 500:.1%}); they are zeros" in note


def test_a_file_without_any_of_the_numerals_is_refused(tmp_path):
    [system] = open_systems(f"vectors:{write(tmp_path, 'the 1 2')}", reading=Reading())
    counts = Counts(dict.fromkeys(range(1, 1000), 1), documents=1, words=1)
    plan = Plan(
        tasks=("decoding",),
        seeds=(0,),
        protocol=PROTOCOLS["demo"],
        counts=counts,
        domains=("in",),
        ranges=("[100,1k]",),
    )
    with pytest.raises(InputError, match="has no vector of any numeral asked for"):
        probe_system(system, plan, tmp_path / "s.jsonl")
