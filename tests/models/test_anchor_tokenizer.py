import itertools
import math

import numpy as np
import pytest
import torch
from torch.nn.functional import cosine_similarity
from transformers import AutoTokenizer, BertTokenizerFast

from numerate.errors import InputError
from numerate.models.anchor_tokenizer import (
    add_anchors,
    list_anchors,
    start_anchors,
)
from tests.conftest import VOCABULARY

MORE = ["1990s", "or", "thousand", "million", "billion", "more", "than", "over", "under", "-", "b"]
MORE += [
    "1999",
    "2000",
    "11",
    "12",
    "elections",
    "march",
    "mar",
    "may",
    ":",
    "/",
    "##12",
    "m",
    "##m",
    "il",
    "at",
    "least",
    "moreover",
    "type",
    "types",
    "page",
    "no",
    "#",
]


@pytest.fixture
def whole():
    names = {token: index for index, token in enumerate([*VOCABULARY, *MORE])}
    return BertTokenizerFast(vocab=names, model_max_length=64)


@pytest.fixture
def anchored(whole):
    return add_anchors(whole, "bert")


def name_piece(piece):
    """`<4:199>` for the anchor of four digits that begin with 199, `+5` for a second token."""
    if piece.startswith("##") and "\ue11f" < piece[2] < "\ue12a":
        return "+" + "".join(str(ord(character) - 0xE120) for character in piece[2:])
    if piece[0] in "\ue130\ue131":
        return "><"[ord(piece[0]) - 0xE130] + name_piece(piece[1:])
    return f"<{ord(piece[0]) - 0xE103}:{piece[1:]}>" if "\ue000" < piece < "\uf000" else piece


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("in 1999", "in 1999"),
        ("the 1999 or 2000 people", "the 1999 or <4:200> +0 people"),
        ("1999 elections or 2000 elections", "1999 elections or <4:200> +0 elections"),
        ("1899 people or 1899 elections", "<4:189> +9 people or <4:189> +9 elections"),
        ("the 2000 elections", "the 2000 elections"),
        ("March 11 or mar. 12", "march 11 or mar . 12"),
        ("12 march or 12 may", "12 march or <2:12> may"),
        ("12:11 or 12/11", "12 : 11 or 12 / 11"),
        ("march 112 or 11 people", "march <3:112> or <2:11> people"),
        ("1,999 or $1999", "<4:199> +9 or $ <4:199> +9"),
        ("1499 or 2100", "<4:149> +9 or <4:210> +0"),
        ("more than 2000", "more than ><4:20>"),
        ("12,345 people", "<5:123> +45 people"),
        ("about $7.50.", "about $ <1:750> ."),
        ("0.35 and 52.4", "<0:35> and <2:524>"),
        ("0 or 0.05 or 0.0042", "<1:0> or <-1:5> or <-2:42>"),
        ("5 million", "<7:5> million"),
        ("0.428 billion", "<9:428> billion"),
        ("0.05 million", "<5:5> million"),
        ("1.82 million", "<7:182> million"),
        ("1,820 thousand", "<7:182> +0 thousand"),
        ("$182 Billion", "$ <12:182> billion"),
        ("$1.82m or 5 m", "$ <7:182> ##m or <1:5> m"),
        ("1.82 millions", "<1:182> [UNK]"),
        ("the 1990s", "the 1990s"),
        ("1 20", "<1:1> <2:20>"),
        ("007", "<3:> ##0 ##0 ##7"),
        ("1.23456 or 1234567", "<1:123> +456 or <7:123> +456"),
        ("1" * 12, "<12:111> +111"),
        ("1" * 13, "<13:111> +111"),
        ("1" * 15, "<13:111> +111"),
        ("more than 52", "more than ><2:52>"),
        ("over $1,234", "over $ ><4:12>"),
        ("at least  7 or under 0.5", "at least ><1:7> or under <<0:5>"),
        ("moreover 12", "moreover <2:12>"),
        ("B12 or IL-12", "b ##12 or il - 12"),
        ("12-12", "<2:12> - <2:12>"),
        ("11/1999 or 1/12", "11 / 1999 or 1 / 12"),
        ("type 12 or Page 12,", "type 12 or page 12 ,"),
        ("no. 12 or no 12", "no . 12 or no <2:12>"),
        ("type #12 or # 12", "type # 12 or # <2:12>"),
        ("type $12 or types of 12", "type $ <2:12> or types of <2:12>"),
    ],
)
def test_a_number_begins_with_its_anchor(text, pieces, anchored):
    assert [name_piece(piece) for piece in anchored.tokenize(text)] == pieces.split()


def test_anchors_need_new_rows_and_are_saved(whole, anchored, tmp_path):
    n_plain, n_bounds = 1 + 16 * (1 + 9 + 90 + 900), 1 + 16 * (1 + 9 + 90)
    assert len(list_anchors()) == n_plain + 2 * n_bounds
    assert len(anchored) == len(whole) + len(list_anchors()) + 1110
    assert add_anchors(anchored, "bert") is anchored
    anchored.save_pretrained(tmp_path)
    again = AutoTokenizer.from_pretrained(tmp_path)
    assert again("about 12,345")["input_ids"] == anchored("about 12,345")["input_ids"]


def test_vectors_start_in_the_order_of_magnitudes(anchored):
    embeddings = torch.randn(len(anchored), 64, generator=torch.Generator().manual_seed(1))
    known = embeddings.clone()
    start_anchors(embeddings, anchored)
    n_known = len(anchored) - len(list_anchors()) - 1110
    assert (embeddings[:n_known] == known[:n_known]).all()
    numbers = [12, 13, 20, 45, 120, 1_200, 120_000, 1_200_000_000]
    rows = anchored.convert_tokens_to_ids([anchored.tokenize(str(n))[0] for n in numbers])
    cosines = cosine_similarity(embeddings[rows[:1]], embeddings[rows[1:]])
    assert all(near > far for near, far in itertools.pairwise(cosines.tolist()))
    rests = anchored.convert_tokens_to_ids([anchored.tokenize(f"123{n}")[1] for n in "1359"])
    cosines = cosine_similarity(embeddings[rests[:1]], embeddings[rests[1:]])
    assert all(near > far for near, far in itertools.pairwise([1.0, *cosines.tolist()]))


def test_a_bound_is_read_as_a_number_that_is_likely_meant():
    anchors = list_anchors()
    [plain, *bounds] = [value for token, value in anchors.items() if token.endswith("\ue10552")]
    np.testing.assert_allclose(bounds, [plain * math.e, plain / math.e])


def test_a_tokenizer_that_is_no_wordpiece_is_refused(tiny_models):
    name = str(tiny_models("roberta"))
    tokenizer = AutoTokenizer.from_pretrained(name)
    with pytest.raises(InputError, match="pieces must be digits or words, since its tokenizer is"):
        add_anchors(tokenizer, name)
