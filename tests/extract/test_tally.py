import numpy as np
import pytest

from numerate.errors import InputError
from numerate.extract import tally
from numerate.extract.counts import Counts, extract_counts
from numerate.extract.ranges import list_outside, pick_numerals


def draw_texts(n_texts, seed):
    """Texts of log-uniform numbers from 1 to 10^10, nearly all of them different."""
    values = np.rint(10 ** (10 * np.random.default_rng(seed).random((n_texts, 100)))).astype(int)
    return [" ".join(map(str, row)) for row in values.tolist()]


def test_many_values_are_counted_in_bins_whose_error_is_bounded(monkeypatch):
    texts = draw_texts(50, 0)
    exact = extract_counts(texts)
    assert exact.bins is None
    monkeypatch.setattr(tally, "MOST_DISTINCT", 1000)
    binned = extract_counts(texts)
    assert len(binned.counts) <= 1000 < len(exact.counts)
    assert binned.numerals == exact.numerals == 5000
    # A slow reference: a value with d binary digits loses all but the first 1 + log2(bins).
    kept = binned.bins.bit_length()
    expected = {}
    for value, count in exact.counts.items():
        lost = max(0, value.bit_length() - kept)
        expected[value >> lost << lost] = expected.get(value >> lost << lost, 0) + count
    assert binned.counts == expected
    for value in exact.counts:
        lost = max(0, value.bit_length() - kept)
        assert (value - (value >> lost << lost)) / value < 1 / binned.bins
    finer = {
        value >> lost << lost
        for value in exact.counts
        for lost in [max(0, value.bit_length() - kept - 1)]
    }
    assert len(finer) > 1000  # no more is lost than must be


def test_bins_do_not_depend_on_the_order_or_the_parts(monkeypatch):
    monkeypatch.setattr(tally, "MOST_DISTINCT", 300)
    rng = np.random.default_rng(1)
    values = np.concatenate([rng.integers(1, 200, 2000), 10 ** (12 * rng.random(3000) - 4)])
    values[::3] *= -1

    def add_up(parts):
        total = tally.Total()
        for part in parts:
            found, counts = np.unique(part, return_counts=True)
            total.add(tally.Tally(found, counts, documents=1, words=len(part)))
        return total.tally

    whole = add_up([values])
    assert len(whole.values) <= 300
    assert whole.digits < tally.EXACT
    for n_parts in (2, 7, 400):
        found = add_up(np.array_split(rng.permutation(values), n_parts))
        assert found.counts == whole.counts
        assert found.digits == whole.digits
        assert (found.words, found.documents) == (5000, n_parts)


def test_counts_say_that_they_are_of_bins(tmp_path):
    counts = Counts({5: 3, 1024: 2, 40960: 7}, bins=16)
    counts.save(tmp_path / "counts.json")
    assert '"bins_per_octave": 16' in (tmp_path / "counts.json").read_text()
    assert Counts.load(tmp_path / "counts.json") == counts
    Counts({5: 3}).save(tmp_path / "counts.json")
    assert "bins" not in (tmp_path / "counts.json").read_text()


def test_probes_refuse_counts_of_bins_where_values_are_not_known():
    counts = Counts({5: 3, 40: 2, 4096: 7}, bins=64)  # exact below 128
    rng = np.random.default_rng(0)
    assert pick_numerals(counts, "[1,100]", "in", rng).tolist() == [5, 40]
    with pytest.raises(InputError, match="counts are of bins above 128"):
        pick_numerals(counts, "[100,1k]", "in", rng)
    with pytest.raises(InputError, match="counts are of bins above 128"):
        list_outside(counts)
