import re
from itertools import islice

import numpy as np
import pytest
from transformers import AutoModel, AutoTokenizer, BertTokenizerFast

import numerate
from numerate.errors import InputError
from numerate.models.digit_tokenizer import check_saved, split_digits
from numerate.pretrain.config import PretrainConfig
from numerate.pretrain.sequences import tokenize_documents
from numerate.pretrain.train import pretrain_model
from tests.conftest import VOCABULARY, make_model

MORE = ["12", "1999", "##99", "1990s", "##12"]


@pytest.fixture
def whole():
    names = {token: index for index, token in enumerate([*VOCABULARY, *MORE])}
    return BertTokenizerFast(vocab=names, model_max_length=64)


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("12", "1 ##2"),
        ("in 1999", "in 1 ##9 ##9 ##9"),
        ("12,345 people", "1 ##2 ##3 ##4 ##5 people"),
        ("1,234,567.12", "1 ##2 ##3 ##4 ##5 ##6 ##7 . 1 ##2"),
        ("12,34 12, 345", "1 ##2 , 3 ##4 1 ##2 , 3 ##4 ##5"),
        ("the 1990s", "the 1990s"),
    ],
)
def test_numbers_are_read_digit_by_digit(text, pieces, whole):
    assert split_digits(whole, "bert").tokenize(text) == pieces.split()


def test_every_piece_keeps_its_number(whole):
    split = split_digits(whole, "bert")
    assert len(split) == len(whole)
    old, new = whole.get_vocab(), split.get_vocab()
    assert all(new[piece] == old[piece] for piece in VOCABULARY)
    assert split.model_max_length == 64
    assert split("1 of")["input_ids"] == whole("1 of")["input_ids"]


def test_a_saved_tokenizer_splits_by_itself(whole, tmp_path):
    model, _ = make_model("bert")
    model.resize_token_embeddings(len(whole))
    model.save_pretrained(tmp_path)
    split_digits(split_digits(whole, "bert"), "bert").save_pretrained(tmp_path)
    plain = AutoTokenizer.from_pretrained(tmp_path)
    assert plain.tokenize("12,345") == ["1", "##2", "##3", "##4", "##5"]
    encoder = numerate.load(str(tmp_path))
    states = AutoModel.from_pretrained(tmp_path)(**plain("12345", return_tensors="pt"))
    mean = states.last_hidden_state[0, 1:-1].mean(dim=0).detach().numpy()
    for form in ("12,345", 12345):
        assert encoder.embed_numerals([form])[0] == pytest.approx(mean, abs=1e-5)


def test_a_model_can_be_trained_to_read_digits(tiny_models, primed_corpora, tmp_path):
    config = PretrainConfig(
        base=str(tiny_models("bert")),
        epochs=4,
        max_length=48,
        batch_size=4,
        learning_rate=3e-3,
        validation_share=0.1,
        pieces="digits",
    )
    primed = primed_corpora()
    run = pretrain_model(primed, config, tmp_path / "out")
    assert run["validation"]["end"]["eval_loss"] < 0.8 * run["validation"]["start"]["eval_loss"]
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "out")
    pieces = ["in", "1", "##9", "##9", "##9", "<ANC>", "8", "##6"]
    assert tokenizer.tokenize("in 1,999 <ANC> 86") == pieces
    found = tokenize_documents(primed.documents(), tokenizer, max_length=48)
    for sequence in islice(found, 50):
        ids, is_anchor = sequence.ids, sequence.is_anchor
        text = tokenizer.decode(ids)
        anchors = "".join(re.findall(r"<ANC> (\d+)", text))
        assert tokenizer.decode(ids[is_anchor]).replace(" ", "") == anchors
    assert "numbers are split into digits" in (tmp_path / "out" / "README.md").read_text()


@pytest.mark.parametrize(("number_words", "pieces"), [(True, ["1", "##2"]), (False, ["[UNK]"])])
def test_number_words_are_read_or_left(number_words, pieces, whole):
    assert split_digits(whole, "bert", number_words=number_words).tokenize("twelve") == pieces


def test_an_untrained_model_can_be_read_digit_by_digit(whole, tmp_path):
    model, _ = make_model("bert")
    model.resize_token_embeddings(len(whole))
    model.save_pretrained(tmp_path)
    whole.save_pretrained(tmp_path)
    plain, split = numerate.load(str(tmp_path)), numerate.load(f"digits:{tmp_path}")
    for numeral, is_same in ((7, True), (1999, False)):
        vectors = [encoder.embed_numerals([numeral]) for encoder in (plain, split)]
        assert np.allclose(*vectors) == is_same
    assert split.tokenizer.tokenize("1999") == ["1", "##9", "##9", "##9"]


@pytest.mark.parametrize("architecture", ["roberta", "modernbert", "gpt2", "gemma2", "gpt_neox"])
def test_byte_level_tokenizers_split_between_digits(architecture, tiny_models, tmp_path):
    folder = tiny_models(architecture)
    plain, base = AutoTokenizer.from_pretrained(folder), numerate.load(f"digits:{folder}")
    assert "199" in "".join(plain.tokenize("in 1999")).replace("Ġ", "")
    split = split_digits(base.tokenizer, architecture)  # twice changes nothing
    for tokenizer in (base.tokenizer, split):
        assert tokenizer.tokenize("in 12,345 1999") == [*plain.tokenize("in"), *"Ġ12345", *"Ġ1999"]
        assert tokenizer("some people")["input_ids"] == plain("some people")["input_ids"]
    model, _ = make_model(architecture)
    check_saved(split, model, architecture)


def test_a_tokenizer_that_is_rebuilt_when_it_is_loaded_is_refused(tiny_models):
    model, _ = make_model("qwen2")
    split = numerate.load(f"digits:{tiny_models('qwen2')}").tokenizer
    with pytest.raises(InputError, match="pieces must be words, since transformers rebuilds"):
        check_saved(split, model, "qwen2")


def test_a_tokenizer_without_single_digits_is_refused():
    names = {token: index for index, token in enumerate(VOCABULARY) if token != "7"}
    with pytest.raises(InputError, match="no pieces for single digits"):
        split_digits(BertTokenizerFast(vocab=names), "bert")
