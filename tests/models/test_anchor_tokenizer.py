import itertools

import pytest
import torch
from torch.nn.functional import cosine_similarity
from transformers import AutoTokenizer, BertTokenizerFast

from numerate.errors import InputError
from numerate.models.anchor_tokenizer import add_anchors, list_anchors, start_anchors
from numerate.models.digit_tokenizer import split_digits
from tests.conftest import VOCABULARY

MORE = ["1990s", "or", "thousand", "million", "billion"]


@pytest.fixture
def whole():
    names = {token: index for index, token in enumerate([*VOCABULARY, *MORE])}
    return BertTokenizerFast(vocab=names, model_max_length=64)


@pytest.fixture
def anchored(whole):
    return add_anchors(split_digits(whole, "bert"), "bert")


def name_piece(piece):
    """`<4:19>` for the anchor of numbers with four digits that begin with 19."""
    return f"<{ord(piece[0]) - 0xE001}:{piece[1:]}>" if "\ue000" < piece < "\uf000" else piece


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("in 1999", "in <4:19> ##9 ##9"),
        ("12,345 people", "<5:12> ##3 ##4 ##5 people"),
        ("about $7.50.", "about $ <1:75> ##0 ."),
        ("0.35 and 52.4", "<0:35> and <2:52> ##4"),
        ("0 or 0.05", "<1:0> or <1:0> ##0 ##5"),
        ("5 million", "<7:5> million"),
        ("0.428 billion", "<9:42> ##8 billion"),
        ("1.82 million", "<7:18> ##2 million"),
        ("1,820 thousand", "<7:18> ##2 ##0 thousand"),
        ("$182 Billion", "$ <12:18> ##2 billion"),
        ("1.82 millions", "<1:18> ##2 [UNK]"),
        ("the 1990s", "the 1990s"),
        ("1 20", "<1:1> <2:20>"),
        ("007", "<3:> ##0 ##0 ##7"),
        ("1" * 12, "<12:11>" + " ##1" * 10),
        ("1" * 13, "<13:11>" + " ##1" * 11),
        ("1" * 15, "<13:11>" + " ##1" * 13),
    ],
)
def test_a_number_begins_with_its_anchor(text, pieces, anchored):
    assert [name_piece(piece) for piece in anchored.tokenize(text)] == pieces.split()


def test_anchors_need_new_rows_and_are_saved(whole, anchored, tmp_path):
    assert len(anchored) == len(whole) + len(list_anchors()) == len(whole) + 1 + 14 * (1 + 9 + 90)
    assert add_anchors(anchored, "bert") is anchored
    anchored.save_pretrained(tmp_path)
    again = AutoTokenizer.from_pretrained(tmp_path)
    assert again("about 12,345")["input_ids"] == anchored("about 12,345")["input_ids"]


def test_vectors_start_in_the_order_of_magnitudes(anchored):
    embeddings = torch.randn(len(anchored), 64, generator=torch.Generator().manual_seed(1))
    known = embeddings.clone()
    start_anchors(embeddings, anchored)
    n_known = len(anchored) - len(list_anchors())
    assert (embeddings[:n_known] == known[:n_known]).all()
    numbers = [12, 13, 20, 45, 120, 1_200, 120_000, 1_200_000_000]
    rows = anchored.convert_tokens_to_ids([anchored.tokenize(str(n))[0] for n in numbers])
    cosines = cosine_similarity(embeddings[rows[:1]], embeddings[rows[1:]])
    assert all(near > far for near, far in itertools.pairwise(cosines.tolist()))


def test_a_tokenizer_that_is_no_wordpiece_is_refused(tiny_models):
    name = str(tiny_models("roberta"))
    tokenizer = split_digits(AutoTokenizer.from_pretrained(name), name)
    with pytest.raises(InputError, match="pieces must be digits or words, since its tokenizer is"):
        add_anchors(tokenizer, name)
