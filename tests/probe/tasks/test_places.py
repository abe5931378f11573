import re

import numpy as np
import pytest

from numerate.probe.tasks.places import Traps, draw_traps, score_traps
from numerate.probe.tasks.sentence_tasks import read_sentences

KINDS = {"year", "id", "amount", "count"}


def to_numbers(text):
    return [int(found.replace(",", "")) for found in re.findall(r"[0-9][0-9,]*[0-9]|[0-9]", text)]


def read_frames():
    """Patterns of all documents and queries, with the kinds and places of their numbers."""
    found = []
    for frame in read_sentences()["frames"]:
        texts = [*frame["tell"], *frame.get("ask_a", []), *frame.get("ask_b", [])]
        found += [(_to_pattern(text), frame, re.findall(r"\{(.)\}", text)) for text in texts]
    return found


def _to_pattern(text):
    return re.sub(r"\\\{.\\\}", "([0-9,]+)", re.escape(text))


def test_frames_have_both_numbers_in_what_is_told_and_one_in_what_is_asked():
    for frame in read_sentences()["frames"]:
        assert {frame["a"], frame["b"]} <= KINDS
        assert len(frame["tell"]) >= 3
        assert all(t.count("{a}") == t.count("{b}") == 1 for t in frame["tell"])
        for place, other in (("a", "b"), ("b", "a")):
            asks = frame.get(f"ask_{place}", [])
            assert not asks or len(asks) >= 3
            assert all(t.count(f"{{{place}}}") == 1 and f"{{{other}}}" not in t for t in asks)
            assert not (asks and frame[place] == "id")


def test_the_right_document_is_near_in_its_place_and_the_other_one_nearer_elsewhere():
    traps = draw_traps(np.random.default_rng(0))
    frames = read_frames()
    for query, documents, kind in zip(traps.queries, traps.documents, traps.kinds, strict=True):
        asked = to_numbers(query)[0]
        [(frame, [own])] = [(f, p) for pattern, f, p in frames if re.fullmatch(pattern, query)]
        gaps = []
        for text in documents:
            [places] = [p for pattern, _, p in frames if re.fullmatch(pattern, str(text))]
            numbers = dict(zip(places, to_numbers(str(text)), strict=True))
            gaps.append({p: abs(np.log(n / asked)) for p, n in numbers.items()})
        [other] = {"a", "b"} - {own}
        assert kind == f"{frame[own]} beside {frame[other]}"
        assert gaps[0][own] < gaps[1][own]  # the right one in the place that is asked for
        assert gaps[1][other] < gaps[0][other]
        assert gaps[1][other] < gaps[0][own]  # and yet the other one has the nearest number


def test_a_tie_is_half_right_and_kinds_are_told_apart():
    traps = Traps(("q", "r"), np.array([["a", "b"], ["c", "d"]]), np.array(["x", "y"]))
    similarities = np.array([[0.9, 0.1, 1, 1], [1, 1, 0.5, 0.5]])
    found = score_traps(lambda queries, documents: similarities, traps)
    assert found == {"right": 0.75, "right: x": 1.0, "right: y": 0.5}


@pytest.mark.parametrize("seed", [0, 1])
def test_the_same_seed_asks_the_same(seed):
    first, again = (draw_traps(np.random.default_rng(seed)) for _ in range(2))
    assert first.queries == again.queries
    assert first.queries != draw_traps(np.random.default_rng(seed + 1)).queries
