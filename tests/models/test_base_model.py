import pytest
import torch
from transformers import AutoModel

from numerate.errors import InputError
from numerate.models.base_model import _check_tokenizer, load_base
from numerate.models.head import LabelledHead
from tests.conftest import ARCHITECTURES, make_model


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


def test_a_marker_starts_as_the_mean_of_all_tokens(tiny_models):
    folder = tiny_models("bert")
    old = AutoModel.from_pretrained(folder).get_input_embeddings().weight
    base = load_base(str(folder), ("<LA>", "<RA>"))
    rows = base.model.get_input_embeddings().weight[-2:]
    torch.testing.assert_close(rows, old.mean(dim=0).expand(2, -1))
    assert base.fresh == ()
    assert base.dropout["hidden_dropout_prob"] == 0.1


def test_a_tokenizer_without_offsets_is_refused():
    class Slow:
        mask_token_id, pad_token_id, is_fast = 4, 0, False

    with pytest.raises(InputError, match="its tokenizer gives no offsets"):
        _check_tokenizer("slow", Slow())
