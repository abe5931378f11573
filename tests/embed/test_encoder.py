import json
import math
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoTokenizer

from numerate import InputError, Priming, load
from numerate.embed.encoder import cut_batches
from numerate.embed.tokens import write_numerals
from numerate.fit.anchors import AnchorSet
from numerate.models.base_model import draw_marker
from numerate.prime.text import prime_text
from tests.conftest import ARCHITECTURES, byte_pair_tokenizer

ANCHORS = AnchorSet("ln", (10, 17, 86, 104))
NUMERALS = [1999, 7, 12345, 250, 1, 99999, 1999]


def embed_slowly(folder, texts, layers, skip_special=True):
    """One text at a time by transformers alone: sum of layers, mean over the tokens."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder).eval()
    rows = []
    for text in texts:
        with torch.no_grad():
            states = model(
                **tokenizer(text, return_tensors="pt"), output_hidden_states=True
            ).hidden_states
        total = sum(states[layer] for layer in layers)[0]
        rows.append((total[1:-1] if skip_special else total).mean(dim=0).numpy())
    return np.stack(rows)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("batch_tokens", [1, 16, 2048])
def test_numerals_have_the_vectors_of_the_papers_recipe(
    architecture, batch_tokens, anchored_models
):
    folder = anchored_models(architecture)
    vectors = load(str(folder)).embed_numerals(NUMERALS, batch_tokens=batch_tokens)
    texts = [prime_text(str(numeral), ANCHORS).text for numeral in NUMERALS]
    assert texts[0] == "1999 <ANC> 86"
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, embed_slowly(folder, texts, [-1]), atol=1e-5)


@pytest.mark.parametrize(
    ("n_layers", "summed"), [(2, [-2, -1]), (5, [-4, -3, -2, -1])], ids=["all", "last-four"]
)
@pytest.mark.parametrize("architecture", ["bert", "distilbert", "modernbert"])
def test_by_default_the_last_four_layers_are_summed(
    architecture, n_layers, summed, anchored_models
):
    folder = anchored_models(architecture, n_layers=n_layers)
    vectors = load(str(folder)).embed_numerals(NUMERALS)
    texts = [prime_text(str(numeral), ANCHORS).text for numeral in NUMERALS]
    np.testing.assert_allclose(vectors, embed_slowly(folder, texts, summed), atol=1e-5)


def test_progress_counts_the_different_inputs(tiny_models):
    calls = []
    encoder = load(str(tiny_models("bert")))
    encoder.embed_numerals([5, 86, 5, 1999], batch_tokens=1, progress=calls.append)
    assert calls == [1, 2, 3]


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_plain_models_load_the_same_way(architecture, tiny_models):
    folder = tiny_models(architecture)
    encoder = load(str(folder))
    assert encoder.priming is None
    expected = embed_slowly(folder, map(str, NUMERALS), [0])
    np.testing.assert_allclose(encoder.embed_numerals(NUMERALS, layers=[0]), expected, atol=1e-5)


def test_a_causal_model_without_padding_or_special_tokens_loads_too(tmp_path):
    import transformers as tf
    from tokenizers import processors

    names = {"sep_token": "</s>", "cls_token": "<s>", "unk_token": "<unk>"}
    tokenizer = byte_pair_tokenizer(names)
    tokenizer.backend_tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    config = tf.GPT2Config(
        vocab_size=len(tokenizer), n_embd=16, n_layer=2, n_head=2, n_positions=64
    )
    tf.GPT2LMHeadModel(config).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    vectors = load(str(tmp_path)).embed_numerals(["1999", "12,345"], layers=[-1])
    model, bare = AutoModel.from_pretrained(tmp_path).eval(), []
    for text in ("1999", "12,345"):
        ids = torch.tensor([tokenizer(text, add_special_tokens=False)["input_ids"]])
        bare.append(model(ids).last_hidden_state[0].mean(dim=0).detach().numpy())
    np.testing.assert_allclose(vectors, bare, atol=1e-5)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("anchor", ["visible", "masked"])
def test_parts_of_the_input_can_be_read_alone(architecture, anchor, anchored_models):
    encoder = load(str(anchored_models(architecture)))
    [shown] = encoder.show(["12345"], anchor)
    tokens = encoder.tokenizer(shown.text)["input_ids"]
    states = encoder.model(torch.tensor([tokens])).last_hidden_state[0].detach().numpy()
    marker = tokens.index(encoder.tokenizer.convert_tokens_to_ids("<ANC>"))
    # a byte-pair tokenizer makes a token of the lone space before a marker: it is no part of either
    worded = [i for i in range(1, len(tokens) - 1) if encoder.tokenizer.decode(tokens[i]).strip()]
    parts = {
        "numeral": [i for i in worded if i < marker],
        "marker": [marker],
        "anchor": [i for i in worded if i > marker],
    }
    if anchor == "masked":
        assert [tokens[i] for i in parts["anchor"]] == [encoder.tokenizer.mask_token_id]
    for read, places in parts.items():
        vector = encoder.embed_numerals(["12345"], anchor=anchor, read=read)[0]
        np.testing.assert_allclose(vector, states[places].mean(axis=0), atol=1e-5)


def test_an_absent_anchor_is_what_a_plain_model_sees(anchored_models):
    folder = anchored_models()
    absent = load(str(folder)).embed_numerals(NUMERALS, anchor="absent")
    np.testing.assert_allclose(absent, embed_slowly(folder, map(str, NUMERALS), [-1]), atol=1e-5)


def test_sentences_are_primed_and_every_numeral_of_them_is_read(anchored_models):
    folder = anchored_models()
    encoder = load(str(folder))
    texts = ["in 1999 some 12,345 people came", "the town of a line", "$5"]
    primed = [prime_text(text, ANCHORS).text for text in texts]
    np.testing.assert_allclose(
        encoder.embed_texts(texts), embed_slowly(folder, primed, [-1], False), atol=1e-5
    )
    tokens = encoder.tokenizer(primed[0])["input_ids"]
    states = encoder.model(torch.tensor([tokens])).last_hidden_state[0].detach().numpy()
    marker = encoder.tokenizer.convert_tokens_to_ids("<ANC>")
    places = [place for place, token in enumerate(tokens) if token == marker]
    np.testing.assert_allclose(
        encoder.embed_texts(texts[:1], read="marker")[0], states[places].mean(axis=0), atol=1e-5
    )


def test_numerals_may_be_numbers_of_any_kind_or_written(anchored_models):
    encoder = load(str(anchored_models()))
    vectors = encoder.embed_numerals([5, 5.0, np.int32(5), np.float64(5), "5"])
    assert (vectors == vectors[0]).all()
    np.testing.assert_array_equal(vectors, encoder.embed_numerals(np.full(5, 5)))
    assert write_numerals([12345, "12,345", 10**10]) == ["12345", "12,345", "10000000000"]
    assert write_numerals(["-3.5", 0, 1e-3], "reals") == ["-3.5", "0", "0.001"]
    amounts = ["1.82 billion", "two million", 10**15]
    assert write_numerals(amounts, "quantities") == [*amounts[:2], "1000000000000000"]
    with pytest.raises(InputError, match=r"numerals\[0\] must be a number within ± 10\^15, got"):
        write_numerals([10**16], "quantities")


@pytest.mark.parametrize(
    "numeral", [0, -5, 10**12, math.nan, math.inf, "abc", "3.14", "", "1 2", True, None, 2.5, "007"]
)
def test_a_numeral_out_of_the_domain_is_named(numeral, anchored_models):
    encoder = load(str(anchored_models()))
    with pytest.raises(InputError, match=r"numerals\[1\] must be a whole number from 1 to 10\^10"):
        encoder.embed_numerals([7, numeral])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda e: e.embed_numerals([]), "numerals must not be empty"),
        (lambda e: e.embed_numerals("1999"), "numerals must be a list of numbers, got '1999'"),
        (lambda e: e.embed_numerals(7), "numerals must be a list"),
        (lambda e: e.embed_texts([]), "texts must not be empty"),
        (lambda e: e.embed_texts("a town"), "texts must be a list of sentences"),
        (lambda e: e.embed_texts(["a", 7]), r"texts\[1\] must be a string, got 7"),
        (lambda e: e.embed_texts(["1 <ANC> 10"]), "must not hold a marker"),
        (lambda e: e.embed_texts(["the town"], read="numeral"), "'the town' has no numeral"),
        (lambda e: e.embed_texts(["a " * 80 + "5"], read="anchor"), "within the model's 64 tokens"),
        (lambda e: e.embed_numerals([1], read="cls"), "read must be one of all, numeral, marker"),
        (
            lambda e: e.embed_numerals([1], anchor="hidden"),
            "anchor must be one of visible, masked, ",
        ),
        (lambda e: e.embed_numerals([1], anchor="absent", read="anchor"), "needs an anchor that"),
        (lambda e: e.embed_numerals([1], layers=[2]), "layers must be from -2 to 1"),
        (lambda e: e.embed_numerals([1], layers=[]), "layers must be from -2 to 1"),
        (lambda e: e.embed_numerals([1], batch_tokens=0), "batch_tokens must be at least 1"),
    ],
)
def test_what_cannot_be_embedded_is_one_line(call, message, anchored_models):
    encoder = load(str(anchored_models()))
    with pytest.raises(InputError, match=message) as caught:
        call(encoder)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_text_beyond_all_measure_is_cut_to_what_the_model_can_see(architecture, tiny_models):
    encoder = load(str(tiny_models(architecture)))
    encoder.tokenizer.model_max_length = 10**30  # as many tokenizers of the hub say
    assert np.isfinite(encoder.embed_texts(["some people came " * 5000])).all()


@pytest.mark.parametrize("anchor", ["visible", "masked"])
def test_a_plain_model_has_no_anchor_to_show(anchor, tiny_models):
    encoder = load(str(tiny_models("bert")))
    with pytest.raises(InputError, match=f"has no anchors, so none can be {anchor}"):
        encoder.embed_numerals([1], anchor=anchor)


def test_a_plain_model_can_be_shown_primed_text_as_a_control(tiny_models):
    encoder = load(str(tiny_models("bert")), priming=Priming(ANCHORS))
    assert encoder.show(["1999"], "visible")[0].text == "1999 <ANC> 86"
    marker = encoder.tokenizer.convert_tokens_to_ids("<ANC>")
    table = encoder.model.get_input_embeddings().weight.detach()
    torch.testing.assert_close(table[marker], draw_marker("<ANC>", table[:marker]))
    assert encoder.embed_numerals([1999]).shape == (1, 16)


def test_a_model_with_anchors_keeps_its_own(anchored_models):
    other = Priming(AnchorSet("linear", (1, 5)))
    with pytest.raises(InputError, match="has anchors of its own"):
        load(str(anchored_models()), priming=other)


@pytest.mark.parametrize(
    "priming",
    [Priming(ANCHORS, "lr"), Priming(AnchorSet("log10", tuple(range(11))), "exp")],
)
def test_anchors_beside_a_model_are_enough(priming, anchored_models, tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(anchored_models("bert", priming), folder)
    config = json.loads((folder / "config.json").read_text())
    del config["numerate"]
    (folder / "config.json").write_text(json.dumps(config))
    assert load(str(folder)).priming == priming


def test_anchors_without_markers_are_refused(tiny_models, tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(tiny_models("bert"), folder)
    ANCHORS.save(folder / "anchors.json")
    with pytest.raises(InputError, match="its tokenizer knows no marker"):
        load(str(folder))


def test_what_is_no_model_is_one_line(tmp_path):
    (tmp_path / "cut" / "unfinished").mkdir(parents=True)
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "config.json").write_text("{}")
    for name, message in (
        ("cut", "its training was cut off, continue it with --resume"),
        ("empty", "not a model folder; it has no config.json"),
        ("file", "a file, not a model folder"),
        ("broken", "cannot be loaded as a model"),
        ("absent", "cannot be loaded as a model"),
    ):
        with pytest.raises(InputError, match=message) as caught:
            load(str(tmp_path / name))
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("device", ["cuda:99", "abacus"])
def test_a_device_that_is_not_there_is_one_line(device, tiny_models):
    with pytest.raises(InputError, match="device must be one of this machine"):
        load(str(tiny_models("bert")), device=device)


def test_each_distinct_input_is_computed_once(anchored_models, monkeypatch):
    encoder = load(str(anchored_models()))
    seen = []
    hook = encoder.model.register_forward_pre_hook(
        lambda module, args, kwargs: seen.append(kwargs["input_ids"].shape), with_kwargs=True
    )
    encoder.embed_numerals([5] * 1000 + [7])
    hook.remove()
    assert sum(rows for rows, _ in seen) == 2


def test_batches_hold_every_row_once_and_no_more_tokens_than_asked():
    lengths = np.random.default_rng(0).integers(1, 40, 500)
    batches = list(cut_batches(lengths, 64))
    assert sorted(np.concatenate(batches).tolist()) == list(range(500))
    assert all(len(rows) * lengths[rows].max() <= 64 for rows in batches)
    padding = sum(len(rows) * lengths[rows].max() for rows in batches) - lengths.sum()
    assert padding < 0.02 * lengths.sum()


def test_bf16_is_near_and_fp32_is_what_is_computed_unless_said(anchored_models):
    folder = str(anchored_models())
    exact = load(folder).embed_numerals(NUMERALS)
    rounded = load(folder, precision="bf16").embed_numerals(NUMERALS)
    assert not (exact == rounded).all()
    np.testing.assert_allclose(exact, rounded, atol=0.05)


def test_a_name_on_the_hub_brings_its_anchors(anchored_models, tmp_path):
    """There is no hub here: the cache that a download would leave stands in for it."""
    repository = tmp_path / "hub" / "models--some--model"
    shutil.copytree(anchored_models(), repository / "snapshots" / "a1")
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("a1")
    code = "import numerate; print(numerate.load('some/model').show(['in 1999'])[0].text)"
    environment = {**os.environ, "HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "in 1999 <ANC> 86\n"


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_all_layers_in_one_pass_are_the_layers_one_by_one(architecture, anchored_models):
    encoder = load(str(anchored_models(architecture)))
    layers = encoder.embed_layers(NUMERALS, anchor="masked", read="anchor")
    assert len(layers) == encoder.n_layers + 1
    for layer, vectors in enumerate(layers):
        alone = encoder.embed_numerals(NUMERALS, anchor="masked", read="anchor", layers=[layer])
        np.testing.assert_array_equal(vectors, alone)


def test_an_unknown_precision_is_refused(tiny_models):
    with pytest.raises(InputError, match="precision must be one of auto, fp32, bf16, got 'fp16'"):
        load(str(tiny_models("bert")), precision="fp16")
