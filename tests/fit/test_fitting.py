import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numerate.cli.arguments import parse_sizes
from numerate.errors import InputError
from numerate.extract.counts import Counts
from numerate.fit.anchors import AnchorSet, rescale, restore
from numerate.fit.fitting import Sweep, fit_anchors, measure_distances, sweep_components

YEARS = Counts(
    {n: 1 + (n * 7919) % 50 for n in range(1900, 2020)} | dict.fromkeys(range(1, 40), 100)
)


@st.composite
def anchor_sets(draw):
    values = draw(st.sets(st.integers(-300, 300), min_size=1, max_size=30))
    scale = draw(st.sampled_from(["linear", "ln"]))
    resolution, width = draw(st.sampled_from([1.0, 10.0, 100.0])), draw(st.integers(1, 5))
    return AnchorSet(scale, tuple(sorted(values)), resolution=resolution, width=width)


@pytest.mark.parametrize(
    ("value", "position"),
    [(1999, 86.0040), (1, 10), (0.5, 5), (0, 0), (-1, -10), (-1999, -86.0040)],
)
def test_the_ln_scale_is_the_papers(value, position):
    assert rescale(value) == pytest.approx(position, abs=1e-4)


@given(
    st.floats(-1e10, 1e10), st.sampled_from(["linear", "ln"]), st.sampled_from([1.0, 10.0, 99.0])
)
def test_restoring_undoes_the_scale(value, scale, resolution):
    position = rescale(value, scale, resolution)
    assert restore(position, scale, resolution) == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize(("value", "anchor"), [(0, 5), (12, 10), (15, 10), (16, 20), (99, 20)])
def test_nearest_gives_a_tie_to_the_smaller_anchor(value, anchor):
    assert AnchorSet("linear", (5, 10, 20)).nearest([value]).tolist() == [anchor]


@given(anchor_sets(), st.lists(st.integers(-1000, 1000), min_size=1, max_size=20))
def test_nearest_is_what_a_search_over_all_anchors_finds(anchors, values):
    positions = rescale(values, anchors.scale, anchors.resolution)
    searched = [min(anchors.values, key=lambda a: (abs(a - p), a)) for p in positions.tolist()]
    assert anchors.nearest(values).tolist() == searched


@pytest.mark.parametrize(
    ("anchors", "value", "is_left"),
    [
        (AnchorSet("linear", (10, 20)), 11, True),
        (AnchorSet("linear", (10, 20)), 9, False),
        (AnchorSet("linear", (10, 20)), 10, False),  # an exact hit lies to the right
        (AnchorSet("ln", (86,)), 1999, False),  # 86.004 rounds to a hit
        (AnchorSet("ln", (85,)), 1999, True),
        (AnchorSet("ln", (87,)), 1999, False),
    ],
)
def test_the_anchor_lies_to_the_left_of_larger_values(anchors, value, is_left):
    assert anchors.locate([value])[1].tolist() == [is_left]


def test_anchors_are_the_rounded_means_of_separate_groups():
    counts = Counts({9: 5, 10: 10, 11: 5, 1000: 7, 50_000: 3})
    for seed in range(5):
        anchors = fit_anchors(counts, n_components=25, seed=seed)
        assert set(anchors.values) >= {1000, 50_000}
        assert anchors.values[0] in (9, 10, 11)


def test_ln_anchors_are_whole_steps_of_the_resolution():
    counts = Counts({1999: 10})
    assert fit_anchors(counts, n_components=3, scale="ln").values == (86,)
    fine = fit_anchors(counts, n_components=3, scale="ln", resolution=100)
    assert fine.values == (round(100 * (math.log(1999) + 1)),)


def test_a_spread_start_reaches_values_that_are_rare():
    counts = Counts({**dict.fromkeys(range(1, 50), 1000), **{7**k: 1 for k in range(3, 12)}})
    anchors = fit_anchors(counts, n_components=200, scale="ln", start="spread")
    assert {round(10 * (k * math.log(7) + 1)) for k in range(3, 12)} <= set(anchors.values)
    assert anchors.fit["start"] == "spread"
    drawn = fit_anchors(counts, n_components=200, scale="ln")
    assert drawn.fit["distances"][-1]["distance"] > anchors.fit["distances"][-1]["distance"] + 1


def test_anchors_of_a_width_are_written_with_zeros():
    anchors = AnchorSet("ln", (-86, 5, 86, 118), domain="reals", width=3)
    assert anchors.texts == ("-86", "005", "086", "118")
    assert fit_anchors(Counts({1999: 10}), n_components=3, scale="ln", width=3).texts == ("086",)
    assert fit_anchors(Counts({1999: 10}), scale="log10", width=2).texts[:2] == ("00", "01")


def test_exponents_need_no_mixture_and_are_all_there():
    anchors = fit_anchors(Counts({1999: 10, 5: 1}), scale="log10")
    assert (anchors.scale, anchors.values) == ("log10", tuple(range(11)))
    assert [row["anchors"] for row in anchors.fit["distances"]] == [1, 1]
    assert {row["distance"] for row in anchors.fit["distances"]} == {0.0}
    reals = fit_anchors(Counts({0.002: 1, 7: 1, 0: 1}, domain="reals"), scale="log10")
    money = fit_anchors(Counts({7: 1, 1.8e12: 1}, domain="quantities"), scale="log10")
    assert money.values == tuple(range(16))
    assert [row["range"] for row in money.fit["distances"]] == ["[1,100]", "[10^10,10^15]"]
    assert reals.values == tuple(range(-3, 11))
    with pytest.raises(InputError, match="scale must be linear or ln for a mixture, got log10"):
        sweep_components(YEARS, [5], scale="log10")


@given(st.one_of(st.integers(1, 10**10), st.sampled_from([10**k - 1 for k in range(1, 11)])))
def test_an_exponent_stands_between_its_power_of_ten_and_the_next(value):
    exponent = rescale([value, -value], "log10")
    assert exponent.tolist() == [len(str(value)) - 1] * 2
    assert restore(exponent[0], "log10") <= value < restore(exponent[0] + 1, "log10")


def test_the_same_seed_gives_the_same_anchors_and_another_others():
    first, again, other = (
        fit_anchors(YEARS, n_components=40, seed=seed).values for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other


def test_the_diagnosis_counts_parameters_as_usual():
    fit = fit_anchors(YEARS, n_components=30, scale="ln").fit
    parameters = 30 - 1 + 30 + 30
    deviance = -2 * fit["log_likelihood"] * YEARS.numerals
    assert fit["aic"] == pytest.approx(deviance + 2 * parameters)
    assert fit["bic"] == pytest.approx(deviance + parameters * math.log(YEARS.numerals))


def test_distances_are_means_over_occurrences():
    counts = Counts({10: 3, 12: 1, 1000: 1, 20_000: 1})
    rows = measure_distances(AnchorSet("linear", (10, 1100, 20_000)), counts)
    assert rows == [
        {
            "range": "[1,100]",
            "numerals": 4,
            "anchors": 1,
            "distance": 0.5,
            "percent": pytest.approx(100 * (2 / 12) / 4),
        },
        {"range": "[1k,10k]", "numerals": 1, "anchors": 1, "distance": 100.0, "percent": 10.0},
        {"range": "[10k,10^10]", "numerals": 1, "anchors": 1, "distance": 0.0, "percent": 0.0},
    ]


@pytest.mark.parametrize("n_components", [0, -1, 1000])
def test_components_must_fit_the_numerals(n_components):
    with pytest.raises(InputError, match="components must be from 1 to the number of numerals"):
        fit_anchors(Counts({5: 3, 7: 2}), n_components=n_components)


def test_more_components_than_distinct_values_give_an_anchor_each():
    assert fit_anchors(Counts({5: 3, 7: 2}), n_components=5).values == (5, 7)


@pytest.mark.parametrize(
    "wrong",
    [
        {"values": ()},
        {"values": (2, 1)},
        {"values": (1, 1)},
        {"scale": "cubic"},
        {"resolution": 0},
        {"domain": "naturals"},
        {"width": 0},
    ],
)
def test_anchors_check_themselves(wrong):
    [name] = wrong
    with pytest.raises(InputError, match=f"^{name} must be"):
        AnchorSet(**{"scale": "ln", "values": (1, 2), **wrong})


@given(anchor_sets())
def test_save_and_load_are_the_identity(tmp_path_factory, anchors):
    path = tmp_path_factory.mktemp("anchors") / "anchors.json"
    anchors.save(path)
    assert AnchorSet.load(path) == anchors


def test_a_file_with_no_more_than_the_design_asks_is_read(tmp_path):
    path = tmp_path / "anchors.json"
    document = {"format": "numerate-anchors", "version": 1, "scale": "ln", "values": [10, 17]}
    path.write_text(json.dumps(document))
    assert AnchorSet.load(path) == AnchorSet("ln", (10, 17))
    wrong = ({"values": [17, 10]}, {"values": [1.5]}, {"scale": "x"}, {"values": None})
    for damage in (*wrong, {"width": 1.5}):
        path.write_text(json.dumps(document | damage))
        with pytest.raises(InputError, match=r"anchors\.json: damaged anchors"):
            AnchorSet.load(path)


def test_a_sweep_has_a_row_for_each_size_and_can_be_saved_and_loaded(tmp_path):
    sweep = sweep_components(YEARS, [5, 10, 40], scale="ln")
    assert [row["components"] for row in sweep.rows] == [5, 10, 40]
    likelihoods = [row["log_likelihood"] for row in sweep.rows]
    assert likelihoods == sorted(likelihoods)
    sweep.save(tmp_path / "sweep.json")
    assert Sweep.load(tmp_path / "sweep.json") == sweep


@pytest.mark.parametrize("rows", [[{"components": 5}], [3], None])
def test_a_damaged_sweep_is_one_line(tmp_path, rows):
    document = {"format": "numerate-sweep", "version": 1, "scale": "ln", "rows": rows}
    (tmp_path / "sweep.json").write_text(json.dumps(document))
    with pytest.raises(InputError, match=r"sweep\.json: damaged sweep"):
        Sweep.load(tmp_path / "sweep.json")


@pytest.mark.parametrize(
    ("option", "choices"), [("scale", "linear, ln, log10"), ("start", "drawn, spread")]
)
def test_options_that_do_not_exist_are_refused(option, choices):
    with pytest.raises(InputError, match=f"^{option} must be one of {choices}, got 'x'"):
        fit_anchors(YEARS, n_components=5, **{option: "x"})
    with pytest.raises(InputError, match=f"^{option} must be"):
        sweep_components(YEARS, [5], **{option: "x"})


@pytest.mark.parametrize("convert", [rescale, restore])
def test_a_scale_that_does_not_exist_is_refused(convert):
    with pytest.raises(InputError, match="scale must be one of linear, ln, log10, got 'log'"):
        convert([10], "log")


def test_sizes_are_whole_numbers():
    assert parse_sizes("10, 20,50") == [10, 20, 50]
    for wrong in ("", "10,", "a", "0", "-5", "1.5"):
        with pytest.raises(InputError, match="sweep must be whole numbers"):
            parse_sizes(wrong)


def test_positions_are_floats_of_the_same_shape():
    assert rescale(np.ones((2, 3), dtype=int)).shape == (2, 3)


@pytest.mark.parametrize("scale", ["linear", "ln", "log10"])
def test_an_unknown_start_is_refused_on_every_scale(scale):
    with pytest.raises(InputError, match="start must be one of drawn, spread, got 'sprad'"):
        fit_anchors(Counts({5: 1, 7: 2}), n_components=1, scale=scale, start="sprad")
