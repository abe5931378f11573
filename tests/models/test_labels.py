import pytest

from numerate.models.labels import SystemLabel

LABELS = {
    "base": {"name": "base"},
    "ln-anchors (masked)": {"name": "ln-anchors", "shown": "masked"},
    "ln-spread (visible) at anchor": {"name": "ln-spread", "shown": "visible", "read": "anchor"},
    "m (absent) layers -2,-1": {"name": "m", "shown": "absent", "layers": (-2, -1)},
    "m at numeral layers 3 layer 0": {"name": "m", "read": "numeral", "layers": (3,), "layer": 0},
    "ln-anchors (masked) layer 12": {"name": "ln-anchors", "shown": "masked", "layer": 12},
    "a (b) at home (masked)": {"name": "a (b) at home", "shown": "masked"},
    "control:oracle": {"name": "control:oracle"},
    "two\nlines": {"name": "two\nlines"},
}


@pytest.mark.parametrize(("text", "parts"), LABELS.items())
def test_a_label_is_read_into_the_parts_it_is_made_of(text, parts):
    assert SystemLabel.parse(text) == SystemLabel(**parts)
    assert str(SystemLabel(**parts)) == text


def test_a_label_says_what_kind_of_system_it_names():
    kinds = ("is_control", "primed_as", "paper_model")
    asked = {
        text: tuple(getattr(SystemLabel.parse(text), kind) for kind in kinds)
        for text in ("control:oracle", "base primed as exp (visible)", "paper: BERT", "base")
    }
    assert asked == {
        "control:oracle": (True, None, None),
        "base primed as exp (visible)": (False, "exp", None),
        "paper: BERT": (False, None, "BERT"),
        "base": (False, None, None),
    }
    assert str(SystemLabel.of_primed_base("exp")) == "base primed as exp"
    assert str(SystemLabel.of_paper("BERT")) == "paper: BERT"


def test_a_twin_knows_the_system_that_it_is_the_twin_of():
    label = SystemLabel.parse("ln-spread (masked) at anchor")
    assert str(label.twin) == "untrained ln-spread (masked) at anchor"
    assert SystemLabel.parse(str(label.twin)).trained == label
    assert label.trained is None
