import json
import shutil
import subprocess
import sys

import numpy as np
import pytest

from numerate import InputError, Priming, load
from numerate.fit.anchors import AnchorSet

TEXTS = ["in 1999 some 12,345 people came", "the town of a line", "about $5, and 7 of 9"]


def load_sentences(folder):
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(folder), trust_remote_code=True)


def run_without_numerate(code):
    """Run code in a process where numerate cannot be imported."""
    blocked = f"import sys; sys.modules['numerate'] = None\n{code}"
    return subprocess.run([sys.executable, "-c", blocked], capture_output=True, text=True)


@pytest.mark.parametrize("n_layers", [1, 5])  # the last four are summed
@pytest.mark.parametrize("architecture", ["bert", "roberta", "modernbert", "distilbert"])
def test_sentence_transformers_primes_by_itself(architecture, n_layers, anchored_models):
    folder = anchored_models(architecture, n_layers=n_layers)
    model = load_sentences(folder)
    for anchor in ("visible", "masked", "absent"):
        model[0].anchor = anchor
        vectors = load(str(folder)).embed_texts(TEXTS, anchor=anchor)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        np.testing.assert_allclose(model.encode(TEXTS), vectors, atol=1e-5)


def test_an_anchor_that_is_shown_changes_the_vector_of_a_sentence_with_a_numeral(anchored_models):
    model = load_sentences(anchored_models())
    visible = model.encode(TEXTS)
    model[0].anchor = "absent"
    absent = model.encode(TEXTS)
    same = np.isclose(visible, absent, atol=1e-6).all(axis=1)
    assert same.tolist() == [False, True, False]


def test_saved_and_loaded_it_is_the_same_model(anchored_models, tmp_path):
    model = load_sentences(anchored_models("bert", Priming(AnchorSet("linear", (5, 2000)), "lr")))
    model[0].anchor = "masked"
    model.save(str(tmp_path / "saved"))
    again = load_sentences(tmp_path / "saved")
    assert again[0].anchor == "masked"
    assert again[0].priming == model[0].priming
    np.testing.assert_array_equal(again.encode(TEXTS), model.encode(TEXTS))
    vectors = load(str(tmp_path / "saved")).embed_texts(TEXTS, anchor="masked")
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    np.testing.assert_allclose(again.encode(TEXTS), vectors, atol=1e-5)
    again.save(str(tmp_path / "once more"))
    assert (tmp_path / "once more" / "numerate_sentence.py").is_file()


def test_similarity_prompts_and_pairs_work(anchored_models):
    model = load_sentences(anchored_models())
    vectors = model.encode(TEXTS)
    alike = model.similarity(vectors, vectors).numpy()
    np.testing.assert_allclose(alike, vectors @ vectors.T, atol=1e-5)
    prompted = model.encode(["people came"], prompt="in 1999 ")
    np.testing.assert_allclose(prompted, model.encode(["in 1999 people came"]), atol=1e-5)
    features = model[0].preprocess([("in 7", "of 12"), {"text": "1999"}][:1])
    marker = model.tokenizer.convert_tokens_to_ids("<ANC>")
    assert (features["input_ids"] == marker).sum() == 2
    assert (model[0].preprocess([{"text": "1999"}])["input_ids"] == marker).sum() == 1


def test_it_trains_with_a_loss_of_sentence_transformers(anchored_models, tmp_path):
    from datasets import Dataset
    from sentence_transformers import (
        SentenceTransformerTrainer,
        SentenceTransformerTrainingArguments,
    )
    from sentence_transformers.sentence_transformer.losses import CoSENTLoss

    model = load_sentences(anchored_models())
    data = Dataset.from_dict(
        {
            "a": ["in 1999", "some 12 people", "in 1999", "about 12"] * 4,
            "b": ["in 1998", "some 13 people", "in 7", "about 99,999"] * 4,
            "score": [1.0, 1.0, 0.0, 0.0] * 4,
        }
    )
    before = model.encode(TEXTS)
    arguments = SentenceTransformerTrainingArguments(
        str(tmp_path), max_steps=20, learning_rate=1e-2, report_to="none", save_strategy="no"
    )
    trainer = SentenceTransformerTrainer(
        model=model, args=arguments, train_dataset=data, loss=CoSENTLoss(model)
    )
    trainer.train()
    near, far = model.similarity(*(model.encode(data[name][1::2][:2]) for name in "ab")).diagonal()
    assert near > far
    assert not np.allclose(before, model.encode(TEXTS))


def test_without_numerate_the_error_says_what_to_install(anchored_models):
    folder = str(anchored_models())
    done = run_without_numerate(
        "from sentence_transformers import SentenceTransformer\n"
        f"SentenceTransformer({folder!r}, trust_remote_code=True)"
    )
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError: this model primes the numerals of its sentences")
    assert "pip install 'numerate[sentence]'" in last


def test_transformers_alone_loads_the_folder(anchored_models):
    folder = str(anchored_models())
    done = run_without_numerate(
        "import json, numpy as np, torch\n"
        "from transformers import AutoModel, AutoModelForMaskedLM, AutoTokenizer, pipeline\n"
        f"tokenizer = AutoTokenizer.from_pretrained({folder!r})\n"
        f"model = AutoModel.from_pretrained({folder!r}).eval()\n"
        f"AutoModelForMaskedLM.from_pretrained({folder!r})\n"
        "tokens = tokenizer('in 1999 <ANC> 86', return_tensors='pt')\n"
        "state = model(**tokens).last_hidden_state[0].mean(dim=0)\n"
        "assert 'numerate' in sys.modules and sys.modules['numerate'] is None\n"
        "print(json.dumps(state.tolist()))"
    )
    assert done.returncode == 0, done.stderr
    [ours] = load(folder).embed_texts(["in 1999"], layers=[-1])
    np.testing.assert_allclose(json.loads(done.stdout), ours, atol=1e-5)


def test_a_folder_without_anchors_cannot_prime(anchored_models, tmp_path):
    shutil.copytree(anchored_models(), tmp_path / "model")
    config = json.loads((tmp_path / "model" / "config.json").read_text())
    del config["numerate"]
    (tmp_path / "model" / "config.json").write_text(json.dumps(config))
    with pytest.raises(InputError, match="damaged 'numerate' entry"):
        load_sentences(tmp_path / "model")
