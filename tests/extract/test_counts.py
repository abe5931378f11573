import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numerate.errors import InputError
from numerate.extract import sources
from numerate.extract.corpus import open_corpus
from numerate.extract.counts import Counts, extract_counts
from numerate.extract.numerals import find_numerals

TEXTS = st.lists(st.text(st.sampled_from("0123456789,. -ax\n"), max_size=40), max_size=8)


@given(TEXTS, st.sampled_from(["integers", "reals", "quantities"]))
def test_counts_are_those_of_the_documents_added_up(texts, domain):
    expected = Counter(n.value for text in texts for n in find_numerals(text, domain))
    if not expected:
        with pytest.raises(InputError):
            extract_counts(texts, domain=domain)
        return
    counts = extract_counts(texts, domain=domain)
    assert counts.counts == expected
    assert list(counts.counts) == sorted(expected)
    assert counts.words == sum(len(text.split()) for text in texts)
    assert counts.documents == len(texts)


def test_counts_depend_neither_on_workers_nor_on_blocks(tmp_path, monkeypatch):
    lines = [f"line {n} of {n * n:,} in {1900 + n % 100}, {n / 7:.2f}" for n in range(1, 3000)]
    (tmp_path / "a.txt").write_text("\n".join(lines))
    (tmp_path / "b.jsonl").write_text("\n".join(json.dumps({"text": line}) for line in lines))
    corpus = open_corpus([str(tmp_path)])
    whole = extract_counts(corpus)
    for size in (100, 5_000, 77_777):
        monkeypatch.setattr(sources, "BLOCK_BYTES", size)
        for workers in (1, 2, 3):
            assert extract_counts(corpus, workers=workers) == whole
    assert whole.documents == 2 * 2999


def test_progress_reaches_the_size_of_the_corpus(tmp_path):
    (tmp_path / "a.txt").write_text("5 words\n" * 10)
    corpus, seen = open_corpus([str(tmp_path)]), []
    extract_counts(corpus, progress=seen.append)
    assert seen[-1] == corpus.size


def test_a_corpus_without_text_or_numerals_is_told_apart(tmp_path):
    (tmp_path / "a.txt").write_text("  \n")
    with pytest.raises(InputError, match=r"a\.txt: the corpus is empty"):
        extract_counts(open_corpus([str(tmp_path)]))
    (tmp_path / "a.txt").write_text("not a single one")
    with pytest.raises(InputError, match="no numerals of the domain 'integers' in 4 words"):
        extract_counts(open_corpus([str(tmp_path)]))


@pytest.mark.parametrize("corpus", ["in 1999 there were 5", b"in 1999 there were 5"])
def test_a_single_text_is_no_list_of_texts(corpus):
    with pytest.raises(InputError, match=r"corpus must be a list of strings, got one: b?'in 1999"):
        extract_counts(corpus)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"counts": {}}, "counts must hold at least one numeral, got none"),
        ({"counts": {5: 0}}, "counts must be 1 or more, got 0"),
        (
            {"domain": "naturals"},
            "domain must be one of integers, reals, quantities, got 'naturals'",
        ),
    ],
)
def test_counts_check_themselves(wrong, message):
    with pytest.raises(InputError, match=message):
        Counts(**{"counts": {5: 1}, **wrong})
    with pytest.raises(InputError, match="domain must be one of"):
        extract_counts(["5"], domain="naturals")


def test_shares_are_by_digits_before_the_point():
    counts = Counts({1: 2, 9: 1, 10: 1, 999: 2, 1000: 1, 10**10: 1})
    assert counts.shares_by_digits() == {1: 3 / 8, 2: 1 / 8, 3: 2 / 8, 4: 1 / 8, 11: 1 / 8}
    reals = Counts({-12.5: 1, 0.25: 3}, domain="reals")
    assert reals.shares_by_digits() == {1: 0.75, 2: 0.25}


def test_the_commonest_come_first_and_of_equals_the_smaller():
    assert Counts({7: 2, 5: 2, 1: 9}).most_common(2) == [(1, 9), (5, 2)]


@given(
    st.dictionaries(
        st.one_of(st.integers(1, 10**10), st.floats(-1e10, 1e10).filter(lambda x: x != int(x))),
        st.integers(1, 10**6),
        min_size=1,
    )
)
def test_save_and_load_are_the_identity(tmp_path_factory, counts):
    saved = Counts(counts, domain="reals", documents=3, words=10, sources=("a", "b"))
    path = tmp_path_factory.mktemp("counts") / "counts.json"
    saved.save(path)
    assert Counts.load(path) == saved


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "not valid JSON"),
        ("[]", "not a numerate-counts file (it names no format)"),
        ('{"format": "numerate-anchors"}', "its format is 'numerate-anchors'"),
        ('{"format": "numerate-counts", "version": 2}', "version 2 is unknown"),
        ('{"format": "numerate-counts", "version": 1}', "damaged counts"),
        ('{"format": "numerate-counts", "version": 1, "counts": {}}', "damaged counts"),
        ('{"format": "numerate-counts", "version": 1, "counts": {"x": 1}}', "damaged counts"),
    ],
)
def test_a_file_that_holds_no_counts_is_refused_in_one_line(tmp_path, content, message):
    path = tmp_path / "counts.json"
    path.write_text(content)
    with pytest.raises(InputError) as error:
        Counts.load(path)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_files_are_checked_before_they_are_read(tmp_path):
    with pytest.raises(InputError, match="no such file; make it with 'numerate extract'"):
        Counts.load(tmp_path / "nosuch.json")
    with pytest.raises(InputError, match="a folder, not a numerate-counts file"):
        Counts.load(tmp_path)
