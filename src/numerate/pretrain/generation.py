"""Generation: how often a causal model says the right anchor, greedy, on held-out text.

The model is given a text up to the marker behind a numeral, with the true anchors of the numerals
before it, and says the next tokens by itself. The number with which they begin is its answer.
"""

import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch

from numerate.models.head import evaluating
from numerate.pretrain.masking import anchor_starts
from numerate.pretrain.sequences import Ids, Sequences
from numerate.progress import quiet_transformers

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

_BATCH = 16  # prompts
_NUMBER = re.compile(r"\s*(-?[0-9]+)")


class Prompt(NamedTuple):
    """The tokens of a text up to a marker, and those of the anchor behind it."""

    ids: Ids
    anchor: Ids


def draw_prompts(sequences: Sequences, most: int, seed: int) -> list[Prompt]:
    """Return the prompts of `most` anchors drawn at random, or of all if there are fewer.

    Short prompts are first, so that a batch has prompts of similar length.
    """
    is_anchor = np.asarray(sequences.is_anchor)
    starts = np.flatnonzero(anchor_starts(is_anchor))
    ends = np.flatnonzero(anchor_starts(is_anchor[::-1])[::-1]) + 1
    rng = np.random.default_rng(seed)
    chosen = rng.choice(len(starts), min(most, len(starts)), replace=False)
    first = sequences.bounds[np.searchsorted(sequences.bounds, starts, side="right") - 1]
    prompts = [
        Prompt(sequences.ids[first[i] : starts[i]], sequences.ids[starts[i] : ends[i]])
        for i in np.sort(chosen)
    ]
    return sorted(prompts, key=lambda prompt: len(prompt.ids))


def count_said(
    model: "PreTrainedModel", tokenizer: "PreTrainedTokenizerBase", prompts: list[Prompt]
) -> int:
    """Return for how many prompts the number that the model says is the anchor."""
    longest = max((len(prompt.anchor) for prompt in prompts), default=0)
    found = 0
    for start in range(0, len(prompts), _BATCH):
        batch = prompts[start : start + _BATCH]
        said = generate(model, tokenizer, [prompt.ids for prompt in batch], longest)
        wanted = tokenizer.batch_decode([prompt.anchor.tolist() for prompt in batch])
        pairs = zip(said, wanted, strict=True)
        found += sum(_read_number(text) == _read_number(anchor) for text, anchor in pairs)
    return found


def generate(
    model: "PreTrainedModel", tokenizer: "PreTrainedTokenizerBase", prompts: list[Ids], most: int
) -> list[str]:
    """Return what a model says behind prompts, greedy and of `most` tokens at most."""
    pad_id, width = tokenizer.pad_token_id or 0, max(map(len, prompts))
    ids = torch.full((len(prompts), width), pad_id)
    attention_mask = torch.zeros_like(ids)
    for row, prompt in enumerate(prompts):  # padded on the left: the model goes on at the right
        ids[row, width - len(prompt) :] = torch.from_numpy(np.array(prompt, np.int64))
        attention_mask[row, width - len(prompt) :] = 1
    net, device = model, next(model.parameters()).device
    with evaluating(model), quiet_transformers():
        out = net.generate(  # type: ignore[operator]
            input_ids=ids.to(device),
            attention_mask=attention_mask.to(device),
            max_new_tokens=most,
            pad_token_id=pad_id,
            do_sample=False,
            num_beams=1,
            repetition_penalty=1.0,
        )
    texts: list[str] = tokenizer.batch_decode(out[:, width:], skip_special_tokens=True)
    return texts


def _read_number(text: str) -> str | None:
    """Return the digits with which a text begins; None if it begins with anything else.

    >>> _read_number(" 086 people"), _read_number("people"), _read_number(" 8 6")
    ('086', None, '8')
    """
    found = _NUMBER.match(text)
    return found[1] if found else None
