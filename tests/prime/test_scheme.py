import json
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoTokenizer

from numerate.errors import InputError
from numerate.fit.anchors import AnchorSet
from numerate.models.digit_tokenizer import split_digits
from numerate.options import Anchor
from numerate.prime.scheme import Priming
from numerate.prime.text import prime_text, prime_texts

LN = AnchorSet("ln", (10, 17, 86, 104))
PRIMING = Priming(LN)
EXPONENTS = Priming(AnchorSet("log10", tuple(range(11))), "exp")
TEXT = st.text(st.sampled_from("0123456789,.-@ \n\x00aé𝟗€<>_"), max_size=20)


@pytest.fixture
def tokenizer(tiny_models):
    return AutoTokenizer.from_pretrained(tiny_models("bert"))


def parts(primed):
    return [[primed.text[slice(*span)] for span in row] for row in primed.spans]


@given(st.lists(TEXT, max_size=6), st.sampled_from(["anc", "lr"]))
def test_many_texts_are_primed_as_each_alone(texts, marker):
    together = prime_texts(texts, LN, marker=marker)
    assert together == [prime_text(text, LN, marker=marker) for text in texts]


@given(st.lists(TEXT, min_size=1, max_size=4))
def test_reals_are_primed_together_as_alone(texts):
    anchors = AnchorSet("ln", (-20, 0, 20), domain="reals")
    assert prime_texts(texts, anchors) == [prime_text(text, anchors) for text in texts]


def test_a_marker_in_one_of_many_texts_is_named():
    with pytest.raises(InputError, match=r"character 4 of texts\[1\]"):
        prime_texts(["in 1999", "née <ANC> 7"], LN)


def test_a_visible_anchor_is_written_out(tokenizer):
    [shown] = PRIMING.show(["in 1999, 12,345 came"], "visible", tokenizer)
    assert shown.text == "in 1999 <ANC> 86, 12,345 <ANC> 104 came"
    assert parts(shown) == [["1999", "<ANC>", "86"], ["12,345", "<ANC>", "104"]]


def test_a_masked_anchor_is_one_mask_whatever_its_length(tiny_models):
    roberta = AutoTokenizer.from_pretrained(tiny_models("roberta"))
    linear = Priming(AnchorSet("linear", (5, 123456789)), "lr")
    shown = linear.show(["4", "é 99,999,999!"], "masked", roberta)
    assert [text for text, _ in shown] == ["4 <RA> <mask>", "é 99,999,999 <RA> <mask>!"]
    assert parts(shown[1]) == [["99,999,999", "<RA>", "<mask>"]]


def test_anchors_of_a_width_are_as_many_masks_as_all_of_them_have_pieces(tokenizer):
    wide = Priming(AnchorSet("ln", (10, 86, 104), width=3))
    by_digits = split_digits(tokenizer, "tiny")
    assert wide.show(["1999"], "masked", by_digits)[0].text == "1999 <ANC> [MASK][MASK][MASK]"
    tokenizer.add_tokens(["086"])  # now one anchor has fewer pieces than the others
    assert wide.show(["1999"], "masked", tokenizer)[0].text == "1999 <ANC> [MASK]"


def test_exponents_are_shown_like_anchors(tokenizer):
    shown = [EXPONENTS.show(["in 1999"], anchor, tokenizer)[0].text for anchor in get_args(Anchor)]
    assert shown == ["in 1999 <EXP> 3", "in 1999 <EXP> [MASK]", "in 1999 <EXP>", "in 1999"]


def test_an_absent_anchor_leaves_the_text_as_it_was(tokenizer):
    [shown] = PRIMING.show(["in 1999, 12,345 came"], "absent", tokenizer)
    assert shown.text == "in 1999, 12,345 came"
    assert parts(shown) == [["1999", "", ""], ["12,345", "", ""]]


def test_the_numeral_form_of_the_training_text_is_kept_without_anchors_too(tokenizer):
    digits = Priming(LN, numeral_form="digits")
    assert digits.show(["12,345 came"], "absent", tokenizer)[0].text == "12345 came"
    assert digits.show(["12,345 came"], "visible", tokenizer)[0].text == "12345 <ANC> 104 came"


@pytest.mark.parametrize("priming", [PRIMING, Priming(LN, "lr", "digits"), EXPONENTS])
def test_what_a_config_says_is_read_back(priming):
    document = json.loads(json.dumps(priming.describe()))
    assert Priming.read(document, "model") == priming


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (None, "damaged 'numerate' entry"),
        ({"marker": "anc"}, "damaged 'numerate' entry"),
        (
            {**PRIMING.describe(), "marker": "b"},
            "marker must be anc or lr for anchors on the ln scale",
        ),
        ({**PRIMING.describe(), "numeral_form": "x"}, "numeral_form must be one of as-is, digits"),
        ({**PRIMING.describe(), "anchors": {"scale": "ln"}}, "damaged anchors"),
        ({**PRIMING.describe(), "anchors": 3}, "damaged anchors"),
    ],
)
def test_a_damaged_config_is_one_line(document, message):
    with pytest.raises(InputError, match=f"^model: {message}"):
        Priming.read(document, "model")
