import json
import os
import shutil
import signal
import subprocess
import sys

import numpy as np
import pytest
from transformers import BertConfig, BertModel

from numerate import InputError, TuneConfig, open_corpus, tune_encoder
from numerate.layout import RunLayout
from numerate.probe.scores import read_scores
from numerate.run.config import read_config
from numerate.run.execute import run_config
from numerate.tune.examples import N_KEPT, N_SENTENCES, N_VERSIONS
from tests.conftest import SIZES, VOCABULARY, make_model, save_encoder, word_piece_tokenizer
from tests.pretraining import assert_same_weights, wait_for_step, weights_of

TEXTS = ["in 1999 some 12,345 people came", "the town of a line", "about $5, and 7 of 9"]
QUICK = {"max_steps": 10, "batch_size": 2, "learning_rate": 1e-3, "precision": "fp32"}
QUICK |= {"most_sentences": 60, "most_kept": 30}


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return save_encoder(tmp_path_factory.mktemp("base"), *make_model("bert"))


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "text.txt"
    lines = [f"in the year some {n * 7} people of the town came." for n in range(1, 60)]
    lines += [f"about {n} of {n * 30} people paid in the town." for n in range(1, 60)]
    path.write_text("\n".join([*lines, *["the people of a town came in about a year."] * 40]))
    return open_corpus([str(path)])


@pytest.fixture(scope="module")
def tuned(base, corpus, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tuned") / "model"
    return folder, tune_encoder(corpus, TuneConfig(base=str(base), **QUICK), folder)


def test_training_lowers_the_loss_on_held_out_sentences(tuned):
    folder, run = tuned
    before, after = run["validation"]["start"], run["validation"]["end"]
    assert run["steps"] == QUICK["max_steps"]
    assert after["eval_loss"] < before["eval_loss"]
    assert 0 < before["eval_accuracy"] <= 1
    assert before["eval_keep"] == pytest.approx(1, abs=1e-5)  # untrained, it is its own teacher
    assert json.loads((folder / "run.json").read_bytes())["stage"] == "tune"
    assert not (folder / "unfinished").exists()


def test_the_folder_loads_without_numerate_and_reads_numbers(tuned):
    folder, _ = tuned
    code = f"""import sys; sys.modules["numerate"] = None
from sentence_transformers import SentenceTransformer
model = SentenceTransformer({str(folder)!r})
assert len(model.tokenizer.tokenize("12,345")) == 2  # 123 and its place, then 45
print(model.encode({TEXTS!r}).tolist())"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    from sentence_transformers import SentenceTransformer

    vectors = SentenceTransformer(str(folder), device="cpu").encode(TEXTS)
    np.testing.assert_allclose(json.loads(done.stdout), vectors, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_texts_without_numbers_keep_their_vectors(tuned, base):
    from sentence_transformers import SentenceTransformer

    before, after = (
        SentenceTransformer(str(folder), device="cpu").encode(TEXTS) for folder in (base, tuned[0])
    )
    is_same = (before == after).all(axis=1)
    assert is_same.tolist() == [False, True, False]


def test_without_anchors_all_layers_are_trained(base, corpus, tmp_path):
    config = TuneConfig(base=str(base), pieces="digits", **QUICK)
    run = tune_encoder(corpus, config, tmp_path / "model")
    assert run["validation"]["end"]["eval_loss"] < run["validation"]["start"]["eval_loss"]
    before, after = weights_of(base), weights_of(tmp_path / "model")
    is_changed = {name: bool((before[name] != after[name]).any()) for name in before}
    assert not is_changed.pop("embeddings.word_embeddings.weight")
    assert sum(is_changed.values()) > len(is_changed) / 2


def test_the_card_tells_text_steps_and_validation(tuned):
    folder, run = tuned
    card = (folder / "README.md").read_text()
    assert "`text.txt`" in card
    assert str(folder) not in card
    assert f"{run['steps']} steps of 2 examples" in card
    assert f"{run['validation']['end']['eval_accuracy']:.1%}" in card
    assert "trust_remote_code" not in card


def test_the_same_seed_gives_the_same_weights_and_another_does_not(tuned, base, corpus, tmp_path):
    folder, _ = tuned
    again, other = tmp_path / "again", tmp_path / "other"
    tune_encoder(corpus, TuneConfig(base=str(base), **QUICK), again)
    assert_same_weights(weights_of(folder), weights_of(again))
    tune_encoder(corpus, TuneConfig(base=str(base), **QUICK, seed=1), other)
    with pytest.raises(AssertionError):
        assert_same_weights(weights_of(folder), weights_of(other))


def test_a_killed_tuning_resumes_to_the_same_weights(tuned, base, corpus, tmp_path):
    folder, _ = tuned
    killed = tmp_path / "killed"
    options = [f"--{key.replace('_', '-')}={value}" for key, value in QUICK.items()]
    command = [sys.executable, "-m", "numerate", "tune", str(base), *options, "--quiet"]
    command += ["--texts", corpus.sources[0], "--out", str(killed), "--checkpoint-minutes", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    wait_for_step(process, killed / "unfinished", 2)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert not (killed / "run.json").exists()
    done = subprocess.run([*command, "--resume"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert_same_weights(weights_of(folder), weights_of(killed))


def test_an_encoder_that_primes_is_tuned_with_its_anchors(anchored_models, corpus, tmp_path):
    config = TuneConfig(base=str(anchored_models()), **{**QUICK, "max_steps": 2, "pieces": "words"})
    run = tune_encoder(corpus, config, tmp_path / "model")
    assert run["primes"]
    assert "trust_remote_code=True" in (tmp_path / "model" / "README.md").read_text()
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(tmp_path / "model"), trust_remote_code=True, device="cpu")
    assert model[0].priming is not None


def test_a_run_tunes_its_base_and_probes_it_beside_its_twin(base, corpus, tmp_path):
    settings = {key: value for key, value in QUICK.items() if key != "max_steps"}
    raw = {
        "corpus": list(corpus.sources),
        "base": str(base),
        "systems": ["tuned"],
        "trainings": 2,
        "tune": {**settings, "max_steps": 2},
        "probe": {"tasks": ["retrieval"], "ranges": ["[1,100]"], "seeds": 1},
    }
    run_config(read_config(raw, "test"), tmp_path / "run", workers=1, quiet=True)
    scores = read_scores(RunLayout(tmp_path / "run").scores)
    assert {(score.system, score.training) for score in scores} == {
        ("tuned", 0),
        ("tuned", 1),
        ("untrained tuned", 0),
    }
    assert {score.metric for score in scores} == {"first", "subject", "nearest"}


def test_prompts_of_the_base_are_used(base, corpus, tmp_path):
    folder = shutil.copytree(base, tmp_path / "prompted")
    path = folder / "config_sentence_transformers.json"
    document = json.loads(path.read_bytes())
    document |= {"prompts": {"query": "the town of "}, "default_prompt_name": "query"}
    path.write_text(json.dumps(document))
    tokens = [
        tune_encoder(corpus, TuneConfig(base=str(name), **QUICK), tmp_path / str(n))["tokens"]
        for n, name in enumerate((base, folder))
    ]
    n_texts = QUICK["max_steps"] * QUICK["batch_size"] * (N_SENTENCES * N_VERSIONS + N_KEPT)
    # Three words more to each text; the longest are cut at what the model reads.
    assert 0.98 * 3 * n_texts < tokens[1] - tokens[0] <= 3 * n_texts


def test_a_budget_of_minutes_ends_the_training(base, corpus, tmp_path):
    settings = {key: value for key, value in QUICK.items() if key != "max_steps"}
    config = TuneConfig(base=str(base), max_minutes=0.02, **settings)
    assert tune_encoder(corpus, config, tmp_path / "model")["steps"] >= 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"max_steps": 0}, "max_steps must be above 0, got 0"),
        ({"domain": "words"}, "domain must be 'integers', 'reals' or 'quantities', got 'words'"),
        ({"teacher": ""}, "teacher must name an encoder, got ''"),
        ({"max_tokens": 5}, "max_tokens: no such setting of TuneConfig"),
    ],
)
def test_settings_are_checked(change, message):
    with pytest.raises(InputError) as raised:
        TuneConfig(**change)
    assert str(raised.value) == message


def test_mistakes_are_one_line_and_leave_nothing(run, base, corpus, tiny_models, tmp_path):
    texts = ["--texts", corpus.sources[0]]
    bare = tmp_path / "bare.txt"
    bare.write_text("There are no numbers in this text.\n" * 50)
    one = tmp_path / "one.txt"
    one.write_text("The one bridge of this town is 300 metres long.")
    few = tmp_path / "few.txt"
    few.write_text(bare.read_text() + one.read_text())
    wider = BertConfig(**{**SIZES, "hidden_size": 32, "vocab_size": len(VOCABULARY)})
    wide = save_encoder(tmp_path / "wide", BertModel(wider), word_piece_tokenizer())
    roberta = save_encoder(tmp_path / "roberta", *make_model("roberta"))
    for arguments, message in [
        ([base, "--texts", bare], "bare.txt: too few sentences with a number to tune on (0, it"),
        ([base, "--texts", one], "one.txt: too few sentences with a number to tune on (1, it"),
        ([base, "--texts", few], "few.txt: too few sentences with a number to tune on (1, it"),
        ([tiny_models("bert"), *texts], "no sentence encoder, it has no modules.json"),
        ([base, *texts, "--teacher", wide], "teacher must have vectors as wide as those of the"),
        ([base, "--texts", tmp_path / "none.txt"], "none.txt: no such file or folder"),
        ([roberta, *texts], "pieces must be digits or words, since its tokenizer is not"),
    ]:
        code, out, err = run("tune", *arguments, "--out", tmp_path / "model")
        assert (code, out) == (2, ""), err
        assert message in err
        assert err.count("\n") == 1
        assert not (tmp_path / "model").exists()


def test_tuning_that_diverges_is_told_and_leaves_nothing(base, corpus, tmp_path):
    config = TuneConfig(base=str(base), **{**QUICK, "learning_rate": 1e30})
    with pytest.raises(InputError, match="the training diverged: after step"):
        tune_encoder(corpus, config, tmp_path / "model")
    assert not (tmp_path / "model").exists()
