from itertools import islice, product

import numpy as np
import pytest

from numerate.errors import InputError
from numerate.extract.counts import Counts
from numerate.extract.numerals import find_numerals
from numerate.extract.ranges import OUT_RANGES, pick_numerals
from numerate.fit.anchors import AnchorSet
from numerate.pretrain.rehearsal import Rehearsal, read_held_out
from numerate.prime.text import find_primed, unprime_text

LN = AnchorSet("ln", tuple(range(10, 241)))


def test_numerals_are_uniform_in_their_logarithm_and_span_the_domain():
    values = Rehearsal(LN, "anc").draw_values(20_000, np.random.default_rng(0))
    assert values.min() >= 1
    assert values.max() <= 10**10
    shares = np.histogram(np.log10(values), bins=10, range=(0, 10))[0] / len(values)
    assert np.abs(shares - 0.1).max() < 0.02


def test_texts_are_bare_numerals_with_their_anchors():
    for text in islice(Rehearsal(LN, "lr").draw_texts(np.random.default_rng(0)), 50):
        bare = unprime_text(text)
        values = [numeral.value for numeral in find_numerals(bare)]
        assert bare == " ".join(map(str, values))
        anchors = [int(text[slice(*span.anchor)]) for span in find_primed(text)[0]]
        assert anchors == LN.nearest(values).tolist()
        assert 1 <= len(values) <= 8


def test_what_is_held_out_is_never_drawn(tmp_path):
    held_out = [*range(1, 1000, 2), *range(10**5, 2 * 10**5)]
    (tmp_path / "probe.txt").write_text("\n".join(map(str, held_out)))
    numerals = read_held_out(tmp_path / "probe.txt")
    assert numerals.tolist() == held_out
    rng = np.random.default_rng(0)
    drawn = Rehearsal(LN, "anc", numerals).draw_values(20_000, rng)
    assert not np.isin(drawn, numerals).any()
    without = Rehearsal(LN, "anc").draw_values(20_000, np.random.default_rng(0))
    assert np.isin(without, numerals).any()  # or the test would show nothing


def test_counts_hold_out_whatever_a_probe_may_ask_out_of_domain(tmp_path):
    counts = Counts({7: 3, 1500: 1, 12_000: 1, 12_050: 1, 10**10: 1})
    counts.save(tmp_path / "counts.json")
    held_out = read_held_out(tmp_path / "counts.json")
    assert not np.isin(held_out, counts.values).any()
    for seed, range_name in product(range(50), OUT_RANGES):
        asked = pick_numerals(counts, range_name, "out", np.random.default_rng(seed))
        assert np.isin(asked, held_out).all()


def test_a_file_without_numerals_is_refused(tmp_path):
    (tmp_path / "a.txt").write_text("none")
    with pytest.raises(InputError, match="has no numerals"):
        read_held_out(tmp_path / "a.txt")
    with pytest.raises(InputError, match="cannot be read"):
        read_held_out(tmp_path / "nosuch")


def test_gaps_can_be_held_out_whole():
    values = {
        gaps: Rehearsal(LN, "anc", np.array([7]), hold_out_gaps=gaps).draw_values(
            20_000, np.random.default_rng(0)
        )
        for gaps in (False, True)
    }
    in_gap = {gaps: [len(n) > 1 and n[0] == "3" for n in map(str, values[gaps])] for gaps in values}
    assert not any(in_gap[True])
    assert 0.1 < np.mean(in_gap[False]) < 0.14  # log10(4/3) of nine decades of ten
    assert 7 not in values[True]
