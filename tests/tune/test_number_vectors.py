import numpy as np
import pytest
import torch
from transformers import BertConfig, BertModel, BertTokenizerFast

from numerate.models.anchor_tokenizer import add_anchors, start_anchors
from numerate.tune.number_vectors import NumberVectors, plain_embeddings
from tests.conftest import VOCABULARY

TEXTS = ["about people in the", "in B12"], ["about 12,345 people", "in 7", "more than 7 people"]


@pytest.fixture
def tokenizer():
    names = {token: index for index, token in enumerate([*VOCABULARY, "b", "##12"])}
    return add_anchors(BertTokenizerFast(vocab=names, model_max_length=64), "bert")


@pytest.fixture
def model(tokenizer):
    torch.manual_seed(0)
    shape = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    model = BertModel(BertConfig(vocab_size=len(tokenizer), intermediate_size=16, **shape)).eval()
    start_anchors(model.get_input_embeddings().weight, tokenizer)
    return model


def embed(model, tokenizer, text):
    with torch.inference_mode():
        return model(**tokenizer(text, return_tensors="pt")).last_hidden_state


def move(model, tokenizer):
    numbers = NumberVectors(model.get_input_embeddings(), tokenizer)
    model.set_input_embeddings(numbers)
    with torch.no_grad():
        for weights in (numbers.map, numbers.shift, numbers.shift_of_rests):
            weights.normal_(std=0.1, generator=torch.Generator().manual_seed(1))
    return numbers


def test_texts_without_numbers_keep_their_vectors_to_the_last_bit(model, tokenizer):
    before = {text: embed(model, tokenizer, text) for texts in TEXTS for text in texts}
    move(model, tokenizer)
    for text in TEXTS[0]:
        assert torch.equal(embed(model, tokenizer, text), before[text])
    for text in TEXTS[1]:
        assert not torch.allclose(embed(model, tokenizer, text), before[text], atol=1e-3)


def test_plain_embeddings_give_the_same_vectors(model, tokenizer):
    numbers = move(model, tokenizer)
    moved = [embed(model, tokenizer, text) for text in TEXTS[1]]
    with plain_embeddings(model):
        assert type(model.get_input_embeddings()) is torch.nn.Embedding
        assert model.get_input_embeddings().padding_idx == 0
        for text, vectors in zip(TEXTS[1], moved, strict=True):
            np.testing.assert_allclose(embed(model, tokenizer, text), vectors, atol=1e-5)
    assert model.get_input_embeddings() is numbers


def test_one_number_teaches_all_of_them_and_nothing_else(model, tokenizer):
    numbers = NumberVectors(model.get_input_embeddings(), tokenizer)
    model.set_input_embeddings(numbers)
    model(
        **tokenizer("about 12,345 people", return_tensors="pt")
    ).last_hidden_state.sum().backward()
    assert numbers.embeddings.weight.grad is None
    assert numbers.map.grad.abs().sum() > 0
    assert numbers.shift_of_rests.grad.abs().sum() > 0
