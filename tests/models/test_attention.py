import json

import pytest
import torch
from transformers import AutoModel

from numerate.models.attention import attend_in_float32


def embed(model, *, bf16):
    """Vectors and gradients of two texts, the second one padded."""
    inputs = {
        "input_ids": torch.tensor([[5, 6, 7, 8, 9], [5, 6, 7, 0, 0]]),
        "attention_mask": torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]]),
    }
    model.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=bf16):
        vectors = model(**inputs).last_hidden_state[inputs["attention_mask"].bool()]
    vectors.float().square().sum().backward()
    return vectors.detach(), model.get_input_embeddings().weight.grad.clone()


@pytest.mark.parametrize("family", ["bert", "llama", "qwen3", "gpt2"])
def test_attention_in_float32_gives_the_same_and_is_not_saved(family, tiny_models, tmp_path):
    model = AutoModel.from_pretrained(tiny_models(family)).eval()
    model.save_pretrained(tmp_path / "before")
    plain, rounded = embed(model, bf16=False), embed(model, bf16=True)
    attend_in_float32(model)
    assert model.config._attn_implementation == "sdpa_float32"
    for found, wanted in zip(embed(model, bf16=False), plain, strict=True):
        torch.testing.assert_close(found, wanted)
    for found, wanted in zip(embed(model, bf16=True), rounded, strict=True):
        torch.testing.assert_close(found.float(), wanted.float(), atol=0.05, rtol=0.05)
    model.save_pretrained(tmp_path / "after")
    configs = [json.loads((tmp_path / n / "config.json").read_text()) for n in ("before", "after")]
    assert configs[0] == configs[1]


def test_other_attention_is_left_alone(tiny_models):
    model = AutoModel.from_pretrained(tiny_models("bert"), attn_implementation="eager")
    attend_in_float32(model)
    assert model.config._attn_implementation == "eager"
