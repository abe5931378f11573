"""What each part gives: the steps from the base model to a trained system."""

import pytest

from numerate.probe.scores import Score
from numerate.report.tables.parts import make_parts, parts_to_markdown

VALUES = {
    "base": 0.9,
    "base read by digits": 0.5,
    "untrained a (masked) at anchor": 0.2,
    "a (masked) at anchor": 0.1,
    "untrained a (visible) at anchor": 0.3,
    "a (visible) at anchor": 0.25,
}


def make_scores(values, metric="log-rmse", ranges=("[1,100]", "all")):
    place = {"task": "decoding", "domain": "in", "protocol": "laptop", "metric": metric}
    return [
        Score(system=system, range=name, seed=seed, value=value + 0.1 * seed, **place)
        for system, value in values.items()
        for name in ranges
        for seed in range(2)
    ]


def test_the_parts_lead_from_base_to_the_trained_system():
    [table] = make_parts(make_scores(VALUES), ["a"])
    means = {part.title: [gain.difference.mean for gain in part.gains] for part in table.parts}
    assert {title: pytest.approx(values) for title, values in means.items()} == {
        "reading digits": [-0.4, -0.4],
        "blank places": [-0.3, -0.3],
        "training": [-0.1, -0.1],
        "untrained: a visible anchor in place of blanks": [0.1, 0.1],
        "training, with the anchor visible": [-0.05, -0.05],
    }
    assert table.ranges == ("[1,100]", "all")
    assert sum(means[part][0] for part in list(means)[:3]) == pytest.approx(0.1 - 0.9)


def test_a_variant_in_word_pieces_starts_from_the_base_as_it_is():
    [table] = make_parts(make_scores(VALUES), [])
    assert [part.title for part in table.parts][:2] == ["blank places", "training"]
    assert table.parts[0].gains[0].difference.mean == pytest.approx(-0.7)


def test_no_table_without_the_base_its_reading_by_digits_or_a_twin():
    for missing in ("base", "base read by digits", "untrained a (masked) at anchor"):
        values = {name: value for name, value in VALUES.items() if name != missing}
        assert make_parts(make_scores(values), ["a"]) == []


def test_parts_whose_systems_were_not_probed_are_left_out():
    values = {name: value for name, value in VALUES.items() if "visible" not in name}
    [table] = make_parts(make_scores(values), ["a"])
    assert [part.title for part in table.parts] == ["reading digits", "blank places", "training"]


def test_markdown_has_a_table_for_each_probe_and_one_note():
    scores = make_scores(VALUES) + make_scores(VALUES, metric="ridge log-rmse")
    text = parts_to_markdown(make_parts(scores, ["a"]))
    assert "| decoding by trees, log-rmse | \\[1,100\\] | all |" in text
    assert "| decoding by ridge regression, ridge log-rmse |" in text
    assert "| training | −0.1000 ± 0.0000 better | −0.1000 ± 0.0000 better |" in text
    assert text.count("Each row is the paired difference") == 1
    assert "over 2 seeds of the probe; one training of each model" in text
