from itertools import chain
from math import log, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numerate.errors import InputError
from numerate.fit.anchors import AnchorSet
from numerate.models.base_model import add_markers
from numerate.pretrain.masking import IGNORED, Masking
from numerate.pretrain.sequences import (
    Sequences,
    TokenSequence,
    cut_tokens,
    join_sequences,
    tokenize_documents,
)
from numerate.pretrain.token_files import save_sequences
from numerate.prime.text import MARKERS, find_primed, prime_text
from tests.conftest import ARCHITECTURES, make_model

LN = AnchorSet("ln", tuple(range(10, 241)))
LINEAR = AnchorSet("linear", (5, 1999, 12345))
EXPONENTS = AnchorSet("log10", tuple(range(11)))
TEXTS = [
    "in 1999 some 12,345 people paid 5.",
    "In 1999, 2000 and 5: 86 of 86 (86)",
    "86 86 the 86",
    "12 @,@ 345 people of the town",
    "no numerals at all",
    "",
]


def test_a_misspelt_choice_of_sequences_is_refused():
    _, tokenizer = make_model("bert")
    with pytest.raises(InputError, match="keep must be one of anchored, all, got 'anchord'"):
        list(tokenize_documents(["in 1999"], tokenizer, keep="anchord"))


@pytest.fixture(scope="module", params=ARCHITECTURES)
def tokenizer(request):
    model, tokenizer = make_model(request.param)
    add_markers(model, tokenizer, tuple(chain.from_iterable(MARKERS.values())))
    return tokenizer


def mark_slowly(text, spans, tokenizer):
    """For each token, whether it is a piece of an anchor: is any of its characters in one?"""
    encoded = tokenizer(text, return_offsets_mapping=True)
    inside = [False] * len(text)
    for span in spans:
        for place in range(*span.anchor):
            inside[place] = True
    return encoded["input_ids"], [any(inside[a:b]) for a, b in encoded["offset_mapping"]]


@pytest.mark.parametrize(
    ("anchors", "marker"),
    [(LN, "anc"), (LN, "lr"), (LINEAR, "anc"), (LINEAR, "lr"), (EXPONENTS, "exp")],
)
def test_the_pieces_marked_are_those_whose_characters_are_in_an_anchor(tokenizer, anchors, marker):
    for text in TEXTS:
        primed = prime_text(text, anchors, marker=marker)
        found = list(tokenize_documents([primed.text], tokenizer, max_length=64, keep="all"))
        ids, flags = mark_slowly(primed.text, primed.spans, tokenizer)
        if text:
            assert found[0][0].tolist() == ids
            assert found[0].is_anchor.tolist() == flags
        spelled = "".join(tokenizer.decode([i]) for i, flag in zip(ids, flags, strict=True) if flag)
        digits = "".join(primed.text[slice(*span.anchor)] for span in primed.spans)
        assert spelled.replace("##", "").replace(" ", "") == digits


def test_the_pieces_of_an_anchor_have_the_magnitude_of_its_numeral(tokenizer):
    """The magnitude of n is ln n + 1, however n is written; all other tokens have none."""
    [found] = tokenize_documents([prime_text("1999 of 12,345, 5 @,@ 000", LN).text], tokenizer)
    magnitudes = found.magnitudes[found.is_anchor]
    distinct = list(dict.fromkeys(magnitudes.tolist()))
    assert distinct == pytest.approx([log(1999) + 1, log(12_345) + 1, log(5000) + 1], rel=1e-6)


def test_the_magnitude_of_a_quantity_is_that_of_its_value_in_full(tokenizer):
    money = AnchorSet("ln", tuple(range(10, 400)), domain="quantities")
    text = prime_text("the $5-7 million of two lakh", money).text
    [found] = tokenize_documents([text], tokenizer, domain="quantities")
    distinct = list(dict.fromkeys(found.magnitudes[found.is_anchor].tolist()))
    assert distinct == pytest.approx([log(n) + 1 for n in (5e6, 7e6, 2e5)], rel=1e-6)
    gap = prime_text("three million people", money).text
    for gaps, n_sequences in ((False, 1), (True, 0)):
        kept = tokenize_documents([gap], tokenizer, domain="quantities", hold_out_gaps=gaps)
        assert len(list(kept)) == n_sequences


def test_primed_text_tells_its_spans():
    for text in TEXTS:
        primed = prime_text(text, LN, marker="lr")
        assert tuple(find_primed(primed.text)[0]) == primed.spans


def test_a_long_document_is_cut_between_numerals(tokenizer):
    text = prime_text("some 1999 people " * 40, LN).text
    whole = tokenizer(text, add_special_tokens=False)["input_ids"]
    sequences = list(tokenize_documents([text], tokenizer, max_length=24))
    assert all(len(ids) <= 24 for ids, _ in sequences)
    assert [i for ids, _ in sequences for i in ids[1:-1].tolist()] == whole
    (marker,) = tokenizer.convert_tokens_to_ids(["<ANC>"])
    for sequence in sequences:
        flags = sequence.is_anchor
        assert sequence.ids.tolist().count(marker) == int((flags & ~np.roll(flags, 1)).sum())
        assert not flags[1]  # no sequence starts with an anchor whose numeral is elsewhere


@given(
    st.integers(1, 60),
    st.integers(3, 20),
    st.lists(st.tuples(st.integers(0, 3), st.integers(1, 3), st.integers(1, 3)), max_size=8),
)
def test_cuts_hold_every_token_once_and_no_anchor_is_cut(tail, room, parts):
    groups, place = [], 0
    for gap, numeral, anchor in parts:
        first = place + gap
        place = first + numeral + anchor
        groups.append((first, first + numeral, place))
    n_tokens = place + tail
    cuts = list(cut_tokens(n_tokens, room, groups))
    assert [i for start, end in cuts for i in range(start, end)] == list(range(n_tokens))
    assert all(0 < end - start <= room for start, end in cuts)
    ends = {end for _, end in cuts}
    for first, anchor, last in groups:
        assert not any(anchor < end < last for end in ends)
        if last - first <= room:
            assert not any(first < end < last for end in ends)


def masked(ids, flags, seed=0, **options):
    ids, flags = np.array(ids, np.int32), np.array(flags, bool)
    masking = Masking(mask_id=99, pad_id=0, special_ids=(0, 1), vocabulary_size=50, **options)
    return masking.mask(ids, flags, np.random.default_rng(seed))


def test_the_papers_way_masks_the_anchors_and_nothing_else():
    inputs, labels = masked([1, 7, 20, 21, 8, 22, 1], [0, 0, 1, 1, 0, 1, 0])
    assert inputs.tolist() == [1, 7, 99, 99, 8, 99, 1]
    assert labels.tolist() == [IGNORED, IGNORED, 20, 21, IGNORED, 22, IGNORED]


def test_visible_anchors_are_whole_and_have_no_label():
    flags = [0, 1, 1, 0] * 500
    inputs, labels = masked(range(2, 2002), flags, anchor_visible=0.3)
    pairs = inputs.reshape(-1, 4)[:, 1:3] == 99
    assert (pairs[:, 0] == pairs[:, 1]).all()
    assert 0.25 < 1 - pairs[:, 0].mean() < 0.35
    assert ((labels != IGNORED) == (inputs == 99)).all()


def test_ordinary_masking_is_eighty_ten_ten_and_leaves_special_tokens_alone():
    ids = np.array([1, *[7] * 20_000, 1, 30], np.int32)
    flags = np.array([0] * 20_002 + [1], bool)
    inputs, labels = masked(ids, flags, other_share=0.15)
    chosen = labels[1:-2] != IGNORED
    assert 0.14 < chosen.mean() < 0.16
    assert (labels[1:-2][chosen] == 7).all()
    seen = inputs[1:-2][chosen]
    assert 0.77 < (seen == 99).mean() < 0.83
    assert 0.08 < (seen == 7).mean() < 0.14  # one in ten stays, and a random token may be it
    assert (inputs[[0, -2]] == 1).all()
    assert (labels[[0, -2]] == IGNORED).all()
    assert inputs[-1] == 99
    assert labels[-1] == 30
    assert (inputs[1:-2][~chosen] == 7).all()


def test_save_and_load_are_the_identity(tmp_path):
    rows = [
        TokenSequence(np.array([1, 2, 3], np.int32), np.array([nan, 8.6, nan], np.float32)),
        TokenSequence.without_anchors(np.array([4], np.int32)),
    ]
    save_sequences(iter(rows), tmp_path)
    loaded = Sequences.load(tmp_path)
    assert len(loaded) == 2
    for index in range(2):
        assert loaded[index].ids.tolist() == rows[index].ids.tolist()
        assert np.array_equal(loaded[index].magnitudes, rows[index].magnitudes, equal_nan=True)
    assert loaded.is_anchor.tolist() == [False, True, False, False]
    assert loaded.count_anchors().tolist() == [1, 0]
    for name in ("ids", "magnitudes", "bounds"):  # the bytes are those that numpy would write
        np.save(tmp_path / "whole.npy", getattr(join_sequences(rows), name))
        assert (tmp_path / f"{name}.npy").read_bytes() == (tmp_path / "whole.npy").read_bytes()
    assert len(join_sequences([])) == 0


def test_sequences_with_a_numeral_in_a_gap_can_be_left_out(tokenizer):
    """Its anchor, 35 on the ln scale here, is not a numeral."""
    assert prime_text("12", LN).text == "12 <ANC> 35"
    documents = ["12 people", "35 people", "5 of 3,456", "33.5 of the 5", "1935 of the town"]
    primed = [prime_text(text, LN).text for text in documents]
    kept, expected = (
        list(tokenize_documents(texts, tokenizer, max_length=64, hold_out_gaps=gaps))
        for texts, gaps in ((primed, True), ((primed[0], primed[4]), False))
    )
    assert [ids.tolist() for ids, _ in kept] == [ids.tolist() for ids, _ in expected]
    assert not list(tokenize_documents(["33 people"], tokenizer, keep="all", hold_out_gaps=True))


def test_the_rest_of_a_document_with_a_numeral_in_a_gap_is_kept(tokenizer):
    text = prime_text("5 of the town " * 20 + "35 " + "of the town 5 " * 20, LN).text
    every, kept = (
        list(tokenize_documents([text], tokenizer, max_length=24, hold_out_gaps=gaps))
        for gaps in (False, True)
    )
    assert len(kept) == len(every) - 1 > 2
