from types import SimpleNamespace

import pytest
import torch
import transformers
from transformers import AutoModel, AutoTokenizer

from numerate.errors import InputError
from numerate.models.base_model import (
    add_markers,
    draw_marker,
    load_base,
    max_tokens,
)
from numerate.models.head import LabelledHead
from tests.conftest import ARCHITECTURES, SIZES, make_model


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_head_at_the_labels_gives_what_the_whole_head_gives_there(architecture):
    model, tokenizer = make_model(architecture)
    model.eval()
    batch = tokenizer(["1999 of 86", "the town"], padding=True, return_tensors="pt")
    chosen = torch.zeros_like(batch["input_ids"], dtype=torch.bool)
    chosen[0, 2] = chosen[1, 1] = True
    head = LabelledHead(model)
    with torch.inference_mode():
        whole = model(**batch).logits
        with head.at(chosen):
            part = model(**batch).logits
        after = model(**batch).logits
    torch.testing.assert_close(part[0], whole[chosen])
    torch.testing.assert_close(after, whole)


@pytest.mark.parametrize(
    ("architecture", "layer"),
    [
        ("bert", "cls.predictions.transform.dense"),
        ("roberta", "lm_head.dense"),
        ("distilbert", "vocab_transform"),
        ("modernbert", "head.dense"),
    ],
)
def test_a_fresh_head_starts_as_the_identity_and_a_trained_one_as_it_was(
    architecture, layer, tmp_path
):
    model, tokenizer = make_model(architecture)
    for folder, net in (("whole", model), ("bare", model.base_model)):
        net.save_pretrained(tmp_path / folder)
        tokenizer.save_pretrained(tmp_path / folder)
    fresh = load_base(str(tmp_path / "bare"), ()).model.get_submodule(layer)
    torch.testing.assert_close(fresh.weight, torch.eye(len(fresh.weight)))
    assert fresh.bias is None or not fresh.bias.any()
    kept = load_base(str(tmp_path / "whole"), ()).model.get_submodule(layer)
    torch.testing.assert_close(kept.weight, model.get_submodule(layer).weight)


@pytest.mark.parametrize("architecture", ["bert", "modernbert"])
def test_every_marker_starts_as_a_vector_of_its_own_the_same_for_twin_and_training(
    tiny_models, architecture
):
    folder = tiny_models(architecture)
    old = AutoModel.from_pretrained(folder).get_input_embeddings().weight
    base = load_base(str(folder), ("<LA>", "<RA>", "<ANC>"))
    rows = base.model.get_input_embeddings().weight[-3:]
    assert len({tuple(row.tolist()) for row in rows}) == 3
    torch.testing.assert_close(rows.norm(dim=1), old.norm(dim=1).median().expand(3))
    tokenizer = AutoTokenizer.from_pretrained(folder)
    twin = AutoModel.from_pretrained(folder)
    add_markers(twin, tokenizer, ("<RA>",))  # whatever other markers there are
    torch.testing.assert_close(twin.get_input_embeddings().weight[-1], rows[1])
    assert base.fresh == ()


def test_a_marker_is_drawn_with_the_mean_and_the_spread_of_the_tokens():
    tokens = torch.tensor([3.0, 4.0]) + torch.tensor([[-0.01, 0], [0.01, 0], [0, 0]])
    drawn = draw_marker("<ANC>", tokens)
    assert drawn.norm() == pytest.approx(5, rel=1e-6)  # the median of the three
    assert drawn[1] / drawn[0] == pytest.approx(4 / 3, rel=0.02)  # a spread of 0.01 in one place
    assert drawn[1] / drawn[0] != pytest.approx(4 / 3, rel=1e-6)


def test_drawing_a_marker_leaves_the_global_generator_alone():
    before = torch.get_rng_state()
    first, second = (draw_marker("<ANC>", torch.eye(4)) for _ in range(2))
    assert torch.equal(first, second)
    assert torch.equal(torch.get_rng_state(), before)


def test_the_rates_of_dropout_are_kept(tiny_models):
    assert load_base(str(tiny_models("bert")), ()).dropout["hidden_dropout_prob"] == 0.1


def test_a_tokenizer_without_offsets_is_refused(tiny_models, monkeypatch):
    slow = SimpleNamespace(is_fast=False)
    monkeypatch.setattr(AutoTokenizer, "from_pretrained", lambda *_, **__: slow)
    with pytest.raises(InputError, match="its tokenizer gives no offsets"):
        load_base(str(tiny_models("bert")), ())


@pytest.mark.parametrize(
    ("name", "n_tokens"),
    [("Bert", 20), ("Roberta", 16), ("XLMRoberta", 16), ("Camembert", 16), ("MPNet", 18)],
)
def test_the_longest_sequence_is_the_longest_that_the_model_computes(name, n_tokens):
    # Positions start after the padding id, here 3: 0 to 3 of RoBERTa's 20 are never used. MPNet
    # has 1 in place of the padding id.
    size = {**SIZES, "max_position_embeddings": 20, "vocab_size": 50, "pad_token_id": 3}
    config = getattr(transformers, f"{name}Config")(**size)
    for kind in ("Model", "ForMaskedLM"):
        model = getattr(transformers, name + kind)(config).eval()
        found = max_tokens(model, SimpleNamespace(model_max_length=10**30))
        assert found == n_tokens
        model(input_ids=torch.full((1, found), 7))
        with pytest.raises((IndexError, RuntimeError)):
            model(input_ids=torch.full((1, found + 1), 7))
    assert max_tokens(model, SimpleNamespace(model_max_length=5)) == 5
