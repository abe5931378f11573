"""Causal models through pre-training: labels, losses, budgets, resuming, and what they say."""

import json
import math

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from numerate.embed.load import load
from numerate.errors import InputError
from numerate.fit.anchors import AnchorSet
from numerate.models.base_model import load_base
from numerate.pretrain.anchors import AnchorRecipe
from numerate.pretrain.generation import Prompt, count_said, draw_prompts, generate
from numerate.pretrain.masking import IGNORED, Masking, place_magnitudes
from numerate.pretrain.sequences import join_sequences, special_tokens, tokenize_documents
from numerate.pretrain.train import pretrain_model
from numerate.prime.text import prime_text
from tests.causal_models import FAMILIES
from tests.pretraining import assert_same_weights, quick_config, weights_of

ANCHORS = AnchorSet("ln", (10, 17, 31, 86, 104))
TEXT = "in 1999 some 12,345 people came, 7 paid."


def short_config(base, **changes):
    return quick_config(base, **{"max_tokens": 1500, "validation_most": 6, **changes})


def find_said(primed, tokenizer):
    """The tokens of a primed text and the value that each of them spells a part of, or None.

    A slow reference without offsets: a token is said if the text that the tokens up to it decode
    to ends behind a marker, and within or at the end of the anchor.
    """
    ids = tokenizer(primed.text, add_special_tokens=False)["input_ids"]
    values = []
    for place in range(len(ids)):
        start, end = (len(tokenizer.decode(ids[:n])) for n in (place, place + 1))
        assert tokenizer.decode(ids[: place + 1]) == primed.text[:end]
        said = [s for s in primed.spans if s.marker[1] <= start and end <= s.anchor[1]]
        numeral = primed.text[slice(*said[0].numeral)] if said else None
        values.append(int(numeral.replace(",", "")) if numeral else None)
    return ids, values


@pytest.mark.parametrize("family", FAMILIES)
def test_labels_are_what_is_said_behind_each_marker(family, tiny_models):
    base = load_base(str(tiny_models(family)), ("<ANC>",), kind="auto")
    assert base.kind == "causal"
    primed = prime_text(TEXT, ANCHORS)
    [found] = tokenize_documents([primed.text], base.tokenizer, kind="causal")
    ids, values = find_said(primed, base.tokenizer)
    before, after = special_tokens(base.tokenizer)
    ids = [*before, *ids, *after]
    values = [None] * len(before) + values + [None] * len(after)
    masking = Masking.of(base.tokenizer, len(base.tokenizer), kind="causal")
    inputs, labels = masking.mask(found.ids, found.is_anchor, np.random.default_rng(0))
    assert inputs.tolist() == found.ids.tolist() == ids
    following = [*zip(ids[1:], values[1:], strict=True), (None, None)]
    assert labels.tolist() == [
        token if value is not None else IGNORED for token, value in following
    ]
    marker = base.tokenizer.convert_tokens_to_ids("<ANC>")
    places = place_magnitudes(found.magnitudes, "causal").tolist()
    expected = [
        1 + math.log(following[place][1]) if token == marker else math.nan
        for place, token in enumerate(ids)
    ]
    assert places == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("family", ["llama", "gpt2"])
def test_a_share_of_one_labels_every_token_but_special_ones(family, tiny_models):
    base = load_base(str(tiny_models(family)), ("<ANC>",), kind="auto")
    primed = prime_text(TEXT, ANCHORS).text
    [found] = tokenize_documents([primed], base.tokenizer, kind="causal")
    masking = Masking.of(base.tokenizer, 0, kind="causal", other_share=1.0)
    _, labels = masking.mask(found.ids, found.is_anchor, np.random.default_rng(0))
    special = base.tokenizer.all_special_ids
    expected = [IGNORED if token in special else token for token in found.ids[1:].tolist()]
    assert labels.tolist() == [*expected, IGNORED]
    assert base.tokenizer.convert_tokens_to_ids("<ANC>") in special


def measure_slowly(model, tokenizer, text):
    """The summed loss and the number of labels of a text, one token after the other, unpadded."""
    ids, values = find_said(text, tokenizer)
    before, after = special_tokens(tokenizer)
    whole = torch.tensor([[*before, *ids, *after]])
    logits = model(input_ids=whole).logits[0].double()
    losses = [
        -torch.log_softmax(logits[len(before) + place - 1], dim=0)[token]
        for place, (token, value) in enumerate(zip(ids, values, strict=True))
        if value is not None
    ]
    return sum(losses), len(losses)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_loss_is_that_of_the_whole_model_on_each_text_alone(
    family, tiny_models, primed_corpora, tmp_path
):
    recipe = AnchorRecipe(primed_corpora(), quick_config(tiny_models(family)))
    recipe.load()
    recipe.prepare(tmp_path)
    texts = [prime_text(text, ANCHORS) for text in ("5", TEXT, "the year 1950")]
    rows = tokenize_documents((t.text for t in texts), recipe.base.tokenizer, kind="causal")
    batch = recipe.collate([(0, list(rows))])
    assert batch["attention_mask"].sum(dim=1).tolist() != [batch["input_ids"].shape[1]] * 3
    with torch.no_grad():
        found = recipe.measure(recipe.base.model, batch, None)
        parts = [measure_slowly(recipe.base.model, recipe.base.tokenizer, text) for text in texts]
    n_labels = sum(n for _, n in parts)
    assert found.labelled == n_labels
    expected = float(sum(loss for loss, _ in parts)) / n_labels
    assert float(found.loss) == pytest.approx(expected, rel=1e-5)


def say_slowly(model, ids, most):
    """Greedy decoding without padding or cache."""
    ids = list(ids)
    for _ in range(most):
        ids.append(int(model(input_ids=torch.tensor([ids])).logits[0, -1].argmax()))
    return ids[-most:]


@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_generated_is_the_most_probable_token_again_and_again(family, tiny_models):
    base = load_base(str(tiny_models(family)), ("<ANC>",), kind="auto")
    base.model.eval()
    base.model.generation_config.eos_token_id = None
    base.model.generation_config.repetition_penalty = 5.0  # which greedy decoding must not heed
    texts = ["5 <ANC>", "in the year 1999 <ANC> 86 some 12,345 <ANC>", "of 7 <ANC>"]
    prompts = [np.array(base.tokenizer(text)["input_ids"], np.int32) for text in texts]
    expected = [say_slowly(base.model, prompt.tolist(), 4) for prompt in prompts]
    texts = base.tokenizer.batch_decode(expected, skip_special_tokens=True)
    assert generate(base.model, base.tokenizer, prompts, 4) == texts


def test_prompts_end_at_markers_of_held_out_text(tiny_models):
    base = load_base(str(tiny_models("llama")), ("<ANC>",), kind="auto")
    primed = prime_text(TEXT, ANCHORS).text
    sequences = join_sequences(tokenize_documents([primed] * 3, base.tokenizer, kind="causal"))
    prompts = draw_prompts(sequences, 100, seed=0)
    pairs = [(base.tokenizer.decode(p.ids), base.tokenizer.decode(p.anchor)) for p in prompts]
    starts = ["in 1999 <ANC>", "in 1999 <ANC> 86 some 12,345 <ANC>"]
    starts.append("in 1999 <ANC> 86 some 12,345 <ANC> 104 people came, 7 <ANC>")
    expected = zip(starts, (" 86", " 104", " 31"), strict=True)
    assert pairs == [(f"<s>{start}", said) for start, said in expected for _ in range(3)]
    assert len(draw_prompts(sequences, 5, seed=0)) == 5


def test_only_the_whole_number_counts_as_said(tiny_models, monkeypatch):
    base = load_base(str(tiny_models("llama")), ("<ANC>",), kind="auto")
    answers = iter([" 86", " 8 6", " 861", "86 some", "some 86", ""])
    monkeypatch.setattr(
        "numerate.pretrain.generation.generate", lambda *a: [next(answers) for _ in a[2]]
    )
    anchor = np.array(base.tokenizer(" 86", add_special_tokens=False)["input_ids"])
    assert count_said(base.model, base.tokenizer, [Prompt(anchor, anchor)] * 6) == 2


@pytest.mark.parametrize("family", FAMILIES)
def test_a_causal_model_learns_its_anchors_and_is_embedded_and_resumed(
    family, tiny_models, primed_corpora, tmp_path
):
    base, primed = tiny_models(family), primed_corpora()
    config = short_config(base, rehearse=0.2, lm_share=0.1, checkpoint_minutes=0)
    whole = pretrain_model(primed, config, tmp_path / "whole")
    start, end = whole["validation"]["start"], whole["validation"]["end"]
    assert whole["kind"] == "causal"
    assert end["eval_loss"] < start["eval_loss"]
    assert 0 <= end["eval_said"] <= 1

    class CutError(Exception):
        """Stands for a process that is killed."""

    def cut(status):
        if status.fraction > 0.5:
            raise CutError

    with pytest.raises(CutError):
        pretrain_model(primed, config, tmp_path / "cut", report=cut)
    resumed = pretrain_model(primed, config, tmp_path / "cut", resume=True)
    assert_same_weights(weights_of(tmp_path / "whole"), weights_of(tmp_path / "cut"))
    assert resumed["validation"]["end"] == pytest.approx(end)

    model = AutoModelForCausalLM.from_pretrained(tmp_path / "whole")
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "whole")
    ids = tokenizer("in 1999 <ANC>", return_tensors="pt")["input_ids"]
    with torch.no_grad():
        states = model(input_ids=ids, output_hidden_states=True).hidden_states
    place = ids[0].tolist().index(tokenizer.convert_tokens_to_ids("<ANC>"))
    encoder = load(str(tmp_path / "whole"))
    found = encoder.embed_texts(["in 1999 people", "7"], anchor="unsaid")
    np.testing.assert_allclose(found[0], states[-1][0, place], atol=1e-5)


def test_the_card_and_the_config_are_those_of_a_causal_model(tiny_models, primed_corpora, tmp_path):
    config = short_config(tiny_models("gpt2"), lm_share=0.25)
    pretrain_model(primed_corpora(), config, tmp_path / "out")
    card = (tmp_path / "out" / "README.md").read_text()
    for words in (
        "pipeline_tag: text-generation",
        "A causal language model",
        "`AutoModelForCausalLM`",
        'anchor="unsaid"',
        "the tokens of every anchor, and 25% of the other tokens",
        "| anchors said, greedy |",
    ):
        assert words in card
    assert "mask" not in card
    saved = json.loads((tmp_path / "out" / "config.json").read_text())
    assert saved["architectures"] == ["GPT2LMHeadModel"]
    assert saved["attn_pdrop"] == saved["resid_pdrop"] == 0.1


def test_batches_of_a_step_count_by_their_labels(tiny_models, primed_corpora, tmp_path):
    """Also those at the first position, which transformers takes for one without a label."""
    for name, size, accumulate in (("one", 4, 1), ("two", 2, 2)):
        sizes = {"batch_size": size, "accumulate": accumulate}
        config = short_config(tiny_models("gpt2"), lm_share=1.0, **sizes)
        pretrain_model(primed_corpora(), config, tmp_path / name)
    assert_same_weights(weights_of(tmp_path / "one"), weights_of(tmp_path / "two"), 1e-4)


@pytest.mark.parametrize("family", ["llama", "gpt2"])
def test_the_number_itself_can_be_learned_where_its_anchor_is_unsaid(
    family, tiny_models, primed_corpora, tmp_path
):
    config = short_config(tiny_models(family), max_tokens=4000, objective=("value", "geometry"))
    run = pretrain_model(primed_corpora(), config, tmp_path / "out")
    start, end = (run["validation"][key]["eval_value_distance"] for key in ("start", "end"))
    assert end < start


def test_a_causal_model_without_a_head_starts_with_its_embeddings(tiny_models, tmp_path):
    whole = AutoModelForCausalLM.from_pretrained(tiny_models("llama"))
    whole.model.save_pretrained(tmp_path)
    AutoTokenizer.from_pretrained(tiny_models("llama")).save_pretrained(tmp_path)
    base = load_base(str(tmp_path), (), kind="auto")
    assert base.fresh == ("lm_head.weight",)
    torch.testing.assert_close(base.model.lm_head.weight, whole.model.embed_tokens.weight)


@pytest.mark.parametrize(
    ("architecture", "options", "message"),
    [
        ("gpt2", {"mlm_probability": 0.1}, "mlm_probability must be 0 for a causal model; give lm"),
        ("bert", {"lm_share": 0.1}, "lm_share must be 0 for a masked model; give mlm_probability"),
        ("bert", {"kind": "causal"}, "must be a causal language model, but it reads in both"),
        ("gpt2", {"kind": "masked"}, "cannot be loaded as a masked language model"),
    ],
)
def test_what_the_kind_of_a_model_does_not_have_is_one_line(
    architecture, options, message, tiny_models, primed_corpora, tmp_path
):
    config = quick_config(tiny_models(architecture), **options)
    with pytest.raises(InputError, match=message) as caught:
        pretrain_model(primed_corpora(), config, tmp_path / "out")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("share", [-0.1, 1.5])
def test_a_share_is_from_zero_to_one(share):
    with pytest.raises(InputError, match="lm_share must be"):
        quick_config("x", lm_share=share)
