"""Attention in float32, for trainings that are otherwise in bfloat16 on a CPU.

PyTorch's backward pass of attention in bfloat16 takes several times as long there as in float32 for
the lengths of sentences, and with it nearly half of a training step.
"""

from typing import Any

import torch
from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedModel
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

_SDPA, _NAME = "sdpa", "sdpa_float32"


def attend_in_float32(model: PreTrainedModel) -> None:
    """Let a model compute attention in float32, unless it has another attention than PyTorch's."""
    if model.config._attn_implementation == _SDPA:
        AttentionInterface.register(_NAME, _attend)
        AttentionMaskInterface.register(_NAME, sdpa_mask)
        model.set_attn_implementation(_NAME)


def _attend(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    **options: object,
) -> tuple[torch.Tensor, None]:
    if attention_mask is not None and attention_mask.is_floating_point():
        attention_mask = attention_mask.float()
    attend: Any = sdpa_attention_forward
    with torch.autocast(query.device.type, enabled=False):
        found, nothing = attend(
            module, query.float(), key.float(), value.float(), attention_mask, **options
        )
    return found.to(query.dtype), nothing
