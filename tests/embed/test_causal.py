"""Causal models as encoders: what they are shown, where they are read, and beside which twin."""

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoTokenizer

from numerate.embed.load import load
from numerate.embed.neighbours import find_similar
from numerate.errors import InputError
from numerate.fit.anchors import AnchorSet
from numerate.prime.scheme import Priming
from numerate.probe.scores import read_scores
from numerate.probe.systems import Reading, open_systems
from tests.causal_models import FAMILIES

PRIMING = Priming(AnchorSet("ln", (10, 17, 86, 104)))
NUMERALS = [7, 1999, 12345, 20, 10**9]


def read_slowly(folder, text, tokens):
    """The mean of the last layer over the tokens of a text without padding; a model has one."""
    model, tokenizer = AutoModel.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    ids = tokenizer(text)["input_ids"]
    with torch.no_grad():
        states = model(input_ids=torch.tensor([ids])).last_hidden_state[0]
    return states[tokens(ids, tokenizer)].mean(dim=0).numpy()


def at_marker(ids, tokenizer):
    return [place for place, i in enumerate(ids) if i == tokenizer.convert_tokens_to_ids("<ANC>")]


def at_ordinary(ids, tokenizer):
    around = {tokenizer.bos_token_id, tokenizer.eos_token_id}
    return [place for place, i in enumerate(ids) if i not in around]


@pytest.mark.parametrize("family", FAMILIES)
def test_vectors_are_those_of_each_text_alone(family, anchored_models):
    folder = str(anchored_models(family))
    encoder = load(folder)
    assert encoder.kind == "causal"
    anchors = encoder.show([str(n) for n in NUMERALS])
    cases = {
        ("unsaid", None): ([f"{n} <ANC>" for n in NUMERALS], at_marker),
        ("unsaid", "last"): ([f"{n} <ANC>" for n in NUMERALS], at_marker),
        ("unsaid", "anchor"): ([f"{n} <ANC>" for n in NUMERALS], at_marker),
        ("absent", None): ([f"{n}" for n in NUMERALS], at_ordinary),
        ("absent", "last"): ([f"{n}" for n in NUMERALS], lambda *a: at_ordinary(*a)[-1:]),
        ("visible", None): ([primed.text for primed in anchors], at_ordinary),
    }
    for (anchor, read), (texts, tokens) in cases.items():
        found = encoder.embed_numerals(NUMERALS, anchor=anchor, read=read)
        expected = [read_slowly(folder, text, tokens) for text in texts]
        np.testing.assert_allclose(found, expected, atol=1e-5, err_msg=f"{anchor} {read}")


def test_an_unsaid_text_ends_at_its_last_marker_and_shows_no_anchor(anchored_models):
    encoder = load(str(anchored_models("llama")))
    texts = ["In 1999 some 12,345 people came.", "7", "no numeral"]
    shown = encoder.show(texts, "unsaid")
    assert [text for text, _ in shown] == ["In 1999 some 12,345 <ANC>", "7 <ANC>", "no numeral"]
    first, second = shown[0].spans
    cut = [shown[0].text[slice(*span)] for span in (*first, *second)]
    assert cut == ["1999", "", "", "12,345", "<ANC>", "<ANC>"]
    assert not shown[2].spans


def test_each_kind_has_its_own_word_for_a_hidden_anchor(anchored_models):
    with pytest.raises(InputError, match="causal model must be visible, unsaid or absent, got 'ma"):
        load(str(anchored_models("gpt2"))).embed_numerals([5], anchor="masked")
    with pytest.raises(InputError, match="masked model must be visible, masked or absent, got 'un"):
        load(str(anchored_models("bert"))).embed_numerals([5], anchor="unsaid")
    with pytest.raises(InputError, match="read='marker' needs an anchor that is visible or unsaid"):
        load(str(anchored_models("gpt2"))).embed_numerals([5], anchor="absent", read="marker")


@pytest.mark.parametrize("family", ["llama", "qwen3"])
def test_the_twin_of_a_causal_model_is_shown_and_read_in_the_same_ways(
    family, tiny_models, anchored_models
):
    reading = Reading(shown=None)
    trained = list(open_systems(f"a={anchored_models(family)}", reading=reading))
    assert [s.name for s in trained] == ["a (visible)", "a (unsaid) at last", "a (absent)"]
    name = f"control:primed:{tiny_models(family)}"
    twins = list(open_systems(name, reading=reading, priming=PRIMING))
    for one, twin in zip(trained, twins, strict=True):
        assert (one.label.shown, one.label.read) == (twin.label.shown, twin.label.read)
        # The anchored model has random weights, those of the tiny one, and the marker's first row.
        np.testing.assert_allclose(
            one.embed_numerals(NUMERALS), twin.embed_numerals(NUMERALS), atol=1e-6
        )


def test_commands_take_causal_models(run, anchored_models, tmp_path):
    folder = anchored_models("gemma2")
    code, shown, _ = run("embed", folder, "1999", "7", "--show", "unsaid")
    assert code == 0
    assert "1999 <ANC> " in shown
    assert run("similar", folder, "1999", "--among", "1990:2009", "--show", "unsaid")[0] == 0
    code, _, errors = run("similar", folder, "1999", "--show", "masked")
    assert (code, errors.count("\n")) == (2, 1)
    assert "unsaid" in errors
    found = find_similar(load(str(folder)), 1999, [1990, 2000], anchor="unsaid")
    assert len(found) == 2
    out = tmp_path / "scores.jsonl"
    options = ["--tasks", "distance,paraphrases", "--seeds", 1, "--workers", 1, "--quiet"]
    options += ["--out", out]
    code, _, errors = run("probe", f"g={folder}", *options)
    assert (code, errors) == (0, "")
    systems = {score.system for score in read_scores(out)}
    assert systems == {"g (visible)", "g (unsaid) at last", "g (absent)"}


@pytest.mark.parametrize("family", ["qwen2", "qwen3"])
def test_sentence_transformers_pad_what_has_no_padding(family, anchored_models):
    from sentence_transformers import SentenceTransformer

    folder = str(anchored_models(family))
    model = SentenceTransformer(folder, trust_remote_code=True)
    texts = ["In 1999 some 12,345 people came.", "7"]
    together, alone = model.encode(texts), [model.encode([text])[0] for text in texts]
    np.testing.assert_allclose(together, alone, atol=1e-5)
    vectors = load(folder).embed_texts(texts)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    np.testing.assert_allclose(together, vectors, atol=1e-5)
    model[0].anchor = "masked"
    with pytest.raises(InputError, match="unsaid"):
        model.encode(texts)
