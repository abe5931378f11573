import json
import lzma
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from numerate import InputError
from numerate.probe.tasks.benchmark_files import Benchmarks, ScoredPairs, SearchSet
from numerate.probe.tasks.retention import rate_ranking, score_pairs, score_search, take_part

DOCUMENTS = [
    {"_id": "31", "title": "Mice", "text": "They run."},
    {"_id": "7", "title": "", "text": "Rats sleep."},
]
QUERIES = [{"_id": "1", "text": "do mice run?"}, {"_id": "2", "text": "a query of no test"}]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "stsb-test.csv").write_text('"A girl, smiling.",A boy.,2.5\nTwo men.,2 men.,5.0\n')
    table = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
    table += '6\tA "boy" runs\tA man runs\t3.3\tNEUTRAL\n'
    with lzma.open(tmp_path / "sick-test.tsv.xz", "wt") as file:
        file.write(table)
    for name, rows in (("corpus", DOCUMENTS), ("queries", QUERIES)):
        with lzma.open(tmp_path / f"scifact-{name}.jsonl.xz", "wt") as file:
            file.write("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "scifact-qrels-test.tsv").write_text("query-id\tcorpus-id\tscore\n1\t31\t1\n")
    return tmp_path


def test_files_are_read_compressed_or_not(folder):
    sets = Benchmarks(folder)
    pairs = ScoredPairs(("A girl, smiling.", "Two men."), ("A boy.", "2 men."), (2.5, 5.0))
    assert sets.read_stsb() == pairs
    assert sets.read_sick() == ScoredPairs(('A "boy" runs',), ("A man runs",), (3.3,))
    assert sets.read_scifact() == SearchSet(
        {"31": "Mice They run.", "7": "Rats sleep."}, {"1": "do mice run?"}, {"1": {"31": 1.0}}
    )


def test_without_a_folder_the_same_sets_come_from_the_hub(folder, monkeypatch):
    rows = {
        ("mteb/stsbenchmark-sts", None, "test"): [
            {"sentence1": "A girl, smiling.", "sentence2": "A boy.", "score": 2.5},
            {"sentence1": "Two men.", "sentence2": "2 men.", "score": 5.0},
        ],
        ("mteb/sickr-sts", None, "test"): [
            {"sentence1": 'A "boy" runs', "sentence2": "A man runs", "score": 3.3}
        ],
        ("mteb/scifact", "corpus", "corpus"): DOCUMENTS,
        ("mteb/scifact", "queries", "queries"): QUERIES,
        ("mteb/scifact", "default", "test"): [{"query-id": "1", "corpus-id": "31", "score": 1}],
    }

    def load_dataset(name, config, *, split):
        return rows[name, config, split]

    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=load_dataset))
    for read in ("read_stsb", "read_sick", "read_scifact"):
        assert getattr(Benchmarks(), read)() == getattr(Benchmarks(folder), read)()


def test_what_is_missing_is_one_line(tmp_path, monkeypatch):
    with pytest.raises(InputError, match=r"--benchmarks must be a folder, got .*nowhere"):
        Benchmarks(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"must be a folder with stsb-test\.csv\[\.xz\], got"):
        Benchmarks(tmp_path).read_stsb()
    with pytest.raises(InputError, match="needs --benchmarks: a folder with factbook-fields"):
        Benchmarks().read_factbook()

    def refuse(name, config, *, split):
        raise ConnectionError("no network")

    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=refuse))
    with pytest.raises(InputError, match=r"mteb/scifact: .* \(no network\); give a folder"):
        Benchmarks().read_scifact()


def test_ndcg_is_what_hand_arithmetic_says():
    relevance = {"a": 1.0, "b": 1.0}
    best = 1 + 1 / np.log2(3)
    assert rate_ranking(["a", "b", "c"], relevance) == pytest.approx(1)
    assert rate_ranking(["c", "a", "b"], relevance) == pytest.approx(
        (1 / np.log2(3) + 1 / np.log2(4)) / best
    )
    assert rate_ranking([*"cdefghijkl", "a"], relevance) == 0  # the eleventh does not count
    many = {str(n): 1.0 for n in range(15)}
    assert rate_ranking([str(n) for n in range(10)], many) == pytest.approx(1)


def test_a_search_is_the_mean_over_queries():
    asked = SearchSet(
        {"x": "x", "y": "y"}, {"1": "q", "2": "r"}, {"1": {"x": 1.0}, "2": {"x": 1.0}}
    )
    similarities = np.array([[0.9, 0.1], [0.1, 0.9]])
    found = score_search(lambda queries, documents: similarities, asked)
    assert found["ndcg_at_10"] == pytest.approx((1 + 1 / np.log2(3)) / 2)


def test_a_part_has_all_judged_documents_and_1500_others():
    documents = {str(n): f"text {n}" for n in range(3000)}
    asked = SearchSet(documents, {"q": "?"}, {"q": {"2999": 1.0, "1234": 1.0}})
    part = take_part(asked)
    assert len(part.documents) == 1502
    assert {"2999", "1234"} <= set(part.documents)
    assert take_part(asked) == part


def test_pairs_are_correlated_by_cosine_with_and_without_digits():
    angles = {"a": 0.0, "b": 0.1, "c 1": 0.2, "d": 0.9, "e 2": 0.3}
    pairs = ScoredPairs(("a",) * 4, ("b", "c 1", "d", "e 2"), (5.0, 3.0, 1.0, 4.0))

    def embed(texts):
        return np.array([[np.cos(angles[text]), np.sin(angles[text])] for text in texts])

    found = score_pairs(embed, pairs)
    assert found["cosine_spearman"] == pytest.approx(0.8)  # ranks 4 3 1 2 and 4 2 1 3: 1 - 6*2/60
    assert found["cosine_spearman with digits"] == pytest.approx(-1)
    plain = ScoredPairs(("a", "a"), ("b", "d"), (5.0, 1.0))
    assert score_pairs(embed, plain) == {"cosine_spearman": pytest.approx(1)}
