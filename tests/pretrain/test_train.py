import json
import os
import re
import shutil
import subprocess
import sys

import pytest
import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer, BertModel, TrainingArguments

from numerate.errors import InputError
from numerate.models.base_model import has_fast_bf16, load_base
from numerate.models.card import write_card
from numerate.pretrain.anchors import AnchorRecipe
from numerate.pretrain.config import PretrainConfig
from numerate.pretrain.sequences import Sequences
from numerate.pretrain.train import pretrain_model
from numerate.pretrain.trainer import make_arguments
from numerate.pretrain.validation import Validator
from numerate.prime.primed_corpus import open_primed
from numerate.prime.text import unprime_text
from tests.conftest import ARCHITECTURES, make_model
from tests.pretraining import (
    QUICK,
    assert_same_weights,
    command_for,
    quick_config,
    use_fake_clock,
    weights_of,
)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_any_masked_language_model_learns_its_anchors(
    architecture, tiny_models, primed_corpora, tmp_path
):
    base = tiny_models(architecture)
    run = pretrain_model(primed_corpora(), quick_config(base, epochs=6), tmp_path / "out")
    start, end = run["validation"]["start"], run["validation"]["end"]
    assert end["eval_loss"] < 0.8 * start["eval_loss"]
    model = AutoModelForMaskedLM.from_pretrained(tmp_path / "out")
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "out")
    assert tokenizer.tokenize("<ANC>") == ["<ANC>"]
    assert model.get_input_embeddings().weight.shape[0] >= len(tokenizer)
    with torch.inference_mode():
        logits = model(**tokenizer("1999 <ANC> 86", return_tensors="pt")).logits
    assert torch.isfinite(logits).all()


@pytest.mark.parametrize(
    ("scale", "marker"),
    [("linear", "anc"), ("linear", "lr"), ("ln", "anc"), ("ln", "lr"), ("log10", "exp")],
)
def test_the_model_folder_is_complete(scale, marker, tiny_models, primed_corpora, tmp_path):
    primed = primed_corpora(scale, marker)
    run = pretrain_model(primed, quick_config(tiny_models("bert")), tmp_path / "out")
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"model.safetensors", "tokenizer.json", "anchors.json", "run.json"} <= names
    assert {"curve.json", "README.md", "config.json"} <= names
    assert "unfinished" not in names
    saved = json.loads((tmp_path / "out" / "run.json").read_text())
    assert saved == json.loads(json.dumps(run))
    entries = json.loads((tmp_path / "out" / "curve.json").read_text())["entries"]
    evaluations = [entry for entry in entries if "eval_loss" in entry]
    assert len(evaluations) >= 10
    assert evaluations[0]["step"] == 0
    assert evaluations[-1]["step"] == run["steps"]
    card = (tmp_path / "out" / "README.md").read_text()
    assert run["example"] in card
    assert f"{run['validation']['end']['eval_loss']:.3f}" in card
    assert not re.search(r"\{\w+\}", card)
    run["config"]["corpus"]["width"] = 3
    assert ", 3 digits each, in `anchors.json`" in write_card(run)


def test_a_base_without_a_head_gets_a_fresh_one_and_the_user_is_told(
    primed_corpora, tmp_path, caplog
):
    model, tokenizer = make_model("bert")
    BertModel(model.config, add_pooling_layer=False).save_pretrained(tmp_path / "base")
    tokenizer.save_pretrained(tmp_path / "base")
    run = pretrain_model(primed_corpora(), quick_config(tmp_path / "base"), tmp_path / "out")
    assert any("cls.predictions" in name for name in run["fresh_weights"])
    assert "has no masked-LM head" in caplog.text
    assert "fresh one" in (tmp_path / "out" / "README.md").read_text()


def test_dropout_is_off_in_training_and_on_again_in_the_folder(
    tiny_models, primed_corpora, tmp_path
):
    base = load_base(str(tiny_models("bert")), ("<ANC>",))
    rates = {m.p for m in base.model.modules() if isinstance(m, torch.nn.Dropout)}
    assert rates == {0.0}
    pretrain_model(primed_corpora(), quick_config(tiny_models("bert")), tmp_path / "out")
    config = json.loads((tmp_path / "out" / "config.json").read_text())
    assert config["hidden_dropout_prob"] == config["attention_probs_dropout_prob"] == 0.1


def test_the_same_seed_gives_the_same_losses_and_weights(tiny_models, primed_corpora, tmp_path):
    options = {"anchor_visible": 0.2, "mlm_probability": 0.15, "rehearse": 0.3, "dropout": 0.1}
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        config = quick_config(tiny_models("bert"), seed=seed, **options)
        pretrain_model(primed_corpora(), config, tmp_path / name)
    losses = {
        name: [
            entry["loss"]
            for entry in json.loads((tmp_path / name / "curve.json").read_text())["entries"]
            if "loss" in entry
        ]
        for name in "abc"
    }
    assert losses["a"] == losses["b"]
    assert losses["a"] != losses["c"]
    assert_same_weights(weights_of(tmp_path / "a"), weights_of(tmp_path / "b"))


def test_a_model_goes_on_learning_from_where_it_was(tiny_models, primed_corpora, tmp_path):
    first = pretrain_model(
        primed_corpora(), quick_config(tiny_models("bert"), epochs=6), tmp_path / "first"
    )
    second = pretrain_model(primed_corpora(), quick_config(tmp_path / "first"), tmp_path / "second")
    start, end = second["validation"]["start"], first["validation"]["end"]
    assert start["eval_loss"] == pytest.approx(end["eval_loss"], rel=1e-4)
    with pytest.raises(InputError, match="was trained with anchors on the ln scale"):
        pretrain_model(
            primed_corpora("linear"), quick_config(tmp_path / "first"), tmp_path / "third"
        )


def test_budgets_end_a_run(tiny_models, primed_corpora, tmp_path, monkeypatch):
    base = tiny_models("bert")
    by_tokens = pretrain_model(
        primed_corpora(), quick_config(base, max_tokens=20_000), tmp_path / "tokens"
    )
    assert by_tokens["tokens"] == pytest.approx(20_000, rel=0.1)
    use_fake_clock(monkeypatch, tick=0.01)
    by_time = pretrain_model(
        primed_corpora(), quick_config(base, max_minutes=0.05), tmp_path / "minutes"
    )
    assert 3 <= by_time["seconds_training"] < 3.2
    entries = json.loads((tmp_path / "minutes" / "curve.json").read_text())["entries"]
    rates = [entry["learning_rate"] for entry in entries if "loss" in entry]
    assert rates[0] > 0.9 * QUICK["learning_rate"]
    assert rates[-1] < 0.1 * QUICK["learning_rate"]


def test_a_budget_of_minutes_does_not_count_validation(
    tiny_models, primed_corpora, tmp_path, monkeypatch
):
    def validate_slowly(*args, **options):
        clock.now += 500
        return validate(*args, **options)

    validate = Validator.validate
    monkeypatch.setattr(Validator, "validate", validate_slowly)
    clock = use_fake_clock(monkeypatch, tick=0.01)
    run = pretrain_model(
        primed_corpora(), quick_config(tiny_models("bert"), max_minutes=0.02), tmp_path / "out"
    )
    assert 1.2 <= run["seconds_training"] < 1.4
    assert clock.now > 1.2 + 9 * 500


# bf16 keeps 8 bits of a number: two computations of one thing agree to some 2^-8, which a few
# steps of Adam on a tiny model make more of. It is emulated where the processor has none.


@pytest.mark.parametrize(("forced", "bf16"), [("on", True), ("off", False)])
def test_auto_computes_in_what_the_processor_is_fast_at(forced, bf16, tmp_path, monkeypatch):
    monkeypatch.setenv("NUMERATE_BF16", forced)
    for precision, expected in (("auto", bf16), ("fp32", False), ("bf16", True)):
        config = PretrainConfig(precision=precision)
        assert make_arguments(tmp_path, config, kind=TrainingArguments).bf16 is expected


def test_a_processor_that_is_neither_is_refused(monkeypatch):
    monkeypatch.setenv("NUMERATE_BF16", "yes")
    with pytest.raises(InputError, match="NUMERATE_BF16 must be on, off or auto, got 'yes'"):
        has_fast_bf16()


def test_bf16_learns_what_fp32_does(tiny_models, primed_corpora, tmp_path):
    runs = {}
    for precision in ("fp32", "bf16"):
        config = quick_config(tiny_models("bert"), epochs=4, precision=precision)
        runs[precision] = pretrain_model(primed_corpora(), config, tmp_path / precision)
    exact, rounded = (runs[name]["validation"] for name in ("fp32", "bf16"))
    assert rounded["start"]["eval_loss"] == pytest.approx(exact["start"]["eval_loss"], rel=2**-7)
    learned = exact["start"]["eval_loss"] - exact["end"]["eval_loss"]
    assert rounded["end"]["eval_loss"] == pytest.approx(exact["end"]["eval_loss"], abs=learned / 5)
    weights = [weights_of(tmp_path / name) for name in ("fp32", "bf16")]
    assert all(tensor.dtype == torch.float32 for tensor in weights[1].values())
    assert any(not torch.equal(tensor, weights[1][name]) for name, tensor in weights[0].items())


def test_bf16_gives_the_same_weights_twice_and_goes_on_to_them(
    tiny_models, primed_corpora, tmp_path
):
    config = quick_config(tiny_models("bert"), epochs=1, precision="bf16", checkpoint_minutes=1e-9)
    pretrain_model(primed_corpora(), config, tmp_path / "whole")

    class CutError(Exception):
        pass

    def cut(status):
        if status.fraction >= 0.5:
            raise CutError

    with pytest.raises(CutError):
        pretrain_model(primed_corpora(), config, tmp_path / "cut", report=cut)
    pretrain_model(primed_corpora(), config, tmp_path / "cut", resume=True)
    assert_same_weights(weights_of(tmp_path / "whole"), weights_of(tmp_path / "cut"))


def test_a_folder_that_tokenizers_cannot_name_is_refused_before_training(
    tiny_models, primed_corpora, tmp_path
):
    folder = tmp_path / os.fsdecode(b"\xff")
    with pytest.raises(InputError, match="a model folder must have a name in UTF-8"):
        pretrain_model(primed_corpora(), quick_config(tiny_models("bert")), folder)
    assert not folder.exists()


@pytest.mark.parametrize("logs", ["out/logs", "elsewhere"])
def test_logs_can_go_to_tensorboard(tiny_models, primed_corpora, tmp_path, monkeypatch, logs):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TENSORBOARD_LOGGING_DIR", raising=False)
    if logs == "elsewhere":
        monkeypatch.setenv("TENSORBOARD_LOGGING_DIR", str(tmp_path / logs))
    config = quick_config(tiny_models("bert"), report_to="tensorboard")
    pretrain_model(primed_corpora(), config, tmp_path / "out")
    assert {path.parent for path in tmp_path.rglob("events.out.tfevents.*")} == {tmp_path / logs}
    assert {path.name for path in tmp_path.iterdir()} == {"out", logs.split("/")[0]}


@pytest.mark.parametrize(
    ("logger", "command"),
    [("tensorboard", "pip install 'numerate[tensorboard]'"), ("wandb", "pip install wandb")],
)
def test_a_logger_that_is_not_installed_is_one_line_and_leaves_nothing_behind(
    tiny_models, primed_corpora, tmp_path, monkeypatch, logger, command
):
    for package in ("tensorboard", "tensorboardX", "wandb"):
        monkeypatch.setitem(sys.modules, package, None)
    config = quick_config(tiny_models("bert"), report_to=logger)
    with pytest.raises(InputError, match=re.escape(command)):
        pretrain_model(primed_corpora(), config, tmp_path / "out")
    assert not list(tmp_path.glob("out/*"))


def test_two_processes_train_what_one_does_with_twice_the_batch(
    tiny_models, primed_corpora, tmp_path
):
    base, primed = tiny_models("bert"), primed_corpora()
    one = command_for(base, primed.folder, tmp_path / "one", "--epochs", "2", "--batch-size", "4")
    subprocess.run(one, check=True)
    launcher = ["-m", "torch.distributed.run", "--nproc-per-node", "2", "--master-port", "29871"]
    two = command_for(
        base,
        primed.folder,
        tmp_path / "two",
        "--epochs",
        "2",
        "--batch-size",
        "2",
        launcher=launcher,
    )
    subprocess.run(two, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    runs = [json.loads((tmp_path / name / "run.json").read_text()) for name in ("one", "two")]
    assert runs[0]["steps"] == runs[1]["steps"]
    assert (tmp_path / "two" / "curve.png").exists()
    assert_same_weights(weights_of(tmp_path / "one"), weights_of(tmp_path / "two"), 1e-4)
    for key in ("eval_loss", "eval_accuracy", "eval_distance"):
        ends = [run["validation"]["end"][key] for run in runs]
        assert ends[0] == pytest.approx(ends[1], rel=1e-3)


# Bad input


def test_gaps_are_held_out_of_training_and_validation(tiny_models, primed_corpora, tmp_path):
    primed, folder = primed_corpora(), tmp_path / "work"
    config = quick_config(tiny_models("bert"), max_length=64, hold_out_gaps=True, rehearse=0.2)
    recipe = AnchorRecipe(primed, config)
    recipe.load()
    recipe.prepare(folder)
    texts = [unprime_text(text) for text in primed.documents()]
    whole = [text for text in texts if re.search(r"\d", text)]
    kept = [text for text in whole if not re.search(r"(?<![\d,])3,?\d", text)]
    assert len(whole) > len(kept) > 100
    assert len(Sequences.load(folder / "sequences")) == len(kept)


def test_a_folder_with_something_else_is_left_alone(tiny_models, primed_corpora, tmp_path):
    base = tiny_models("bert")
    run = pretrain_model(primed_corpora(), quick_config(base), tmp_path / "out")
    again = pretrain_model(primed_corpora(), quick_config(base), tmp_path / "out")
    assert again == json.loads(json.dumps(run))
    with pytest.raises(InputError, match="holds a training with other settings"):
        pretrain_model(primed_corpora(), quick_config(base, epochs=3), tmp_path / "out")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("mine")
    with pytest.raises(InputError, match="not empty and not a training"):
        pretrain_model(primed_corpora(), quick_config(base), tmp_path / "full")


def test_anchors_that_the_corpus_was_not_primed_with_are_refused(
    tiny_models, primed_corpora, tmp_path
):
    shutil.copytree(primed_corpora("ln").folder, tmp_path / "primed")
    shutil.copy(primed_corpora("linear").folder / "anchors.json", tmp_path / "primed")
    with pytest.raises(InputError, match="anchors on the linear scale, not those that the corpus"):
        pretrain_model(
            open_primed(tmp_path / "primed"), quick_config(tiny_models("bert")), tmp_path / "out"
        )


def test_a_base_that_is_no_masked_language_model_is_refused(primed_corpora, tmp_path):
    from transformers import BertForMaskedLM, GPT2Config, GPT2LMHeadModel

    with pytest.raises(InputError, match="nosuch: cannot be loaded as a model"):
        pretrain_model(primed_corpora(), quick_config(tmp_path / "nosuch"), tmp_path / "a")
    model, tokenizer = make_model("bert")
    GPT2LMHeadModel(GPT2Config(vocab_size=50, n_embd=8, n_layer=1, n_head=1)).save_pretrained(
        tmp_path / "gpt"
    )
    tokenizer.save_pretrained(tmp_path / "gpt")
    causal = quick_config(tmp_path / "gpt", kind="masked")
    with pytest.raises(InputError, match="gpt: cannot be loaded as a masked language model"):
        pretrain_model(primed_corpora(), causal, tmp_path / "b")
    BertForMaskedLM(model.config).save_pretrained(tmp_path / "unmasked")
    tokenizer.mask_token = None
    tokenizer.save_pretrained(tmp_path / "unmasked")
    with pytest.raises(InputError, match="its tokenizer has no mask token"):
        pretrain_model(primed_corpora(), quick_config(tmp_path / "unmasked"), tmp_path / "c")
    with pytest.raises(InputError, match="the package 'nosuch' is not installed"):
        pretrain_model(primed_corpora(), quick_config("package:nosuch/model"), tmp_path / "d")
    assert not any((tmp_path / name).exists() for name in "abcd")  # nothing half-written


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"rehearse": 0.1, "hold_out": "nosuch.txt"}, "nosuch.txt: cannot be read"),
        ({"scheduler": "nosuch"}, "nosuch"),
    ],
)
def test_what_is_wrong_before_the_first_step_leaves_nothing_behind(
    wrong, message, tiny_models, primed_corpora, tmp_path
):
    model, primed = tiny_models("bert"), primed_corpora()
    with pytest.raises(InputError, match=message):
        pretrain_model(primed, quick_config(model, **wrong), tmp_path / "out")
    assert not list(tmp_path.glob("out/*"))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"epochs": 0}, "epochs must be above 0"),
        ({"anchor_visible": 1.0}, "anchor_visible must be at least 0 and below 1"),
        ({"mlm_probability": -0.1}, "mlm_probability must be at least 0"),
        ({"rehearse": 2}, "rehearse must be at least 0 and below 1"),
        ({"max_minutes": -1}, "max_minutes must be above 0"),
        ({"max_minutes": 1, "max_tokens": 1}, "must not both be given"),
        ({"hold_out": "x"}, "hold_out must go with rehearse"),
        ({"max_minutes": 1, "scheduler": "cosine"}, "scheduler must be linear with max_minutes"),
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong, message):
    with pytest.raises(InputError, match=message):
        PretrainConfig(**wrong)


def test_a_corpus_that_is_not_primed_is_refused(tmp_path):
    (tmp_path / "a.txt").write_text("in 1999")
    command = command_for("nosuch", tmp_path, tmp_path / "out")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "manifest.json: no such file; make it with 'numerate prime'" in done.stderr


def test_objectives_on_the_magnitude_are_learned_resumed_and_leave_no_heads(
    tiny_models, primed_corpora, tmp_path
):
    primed = primed_corpora()
    config = quick_config(
        tiny_models("bert"), objective=("value", "geometry"), rehearse=0.5, checkpoint_minutes=0
    )
    whole = pretrain_model(primed, config, tmp_path / "whole")
    before, after = (whole["validation"][key]["eval_value_distance"] for key in ("start", "end"))
    assert after < 0.5 * before
    assert "off by" in (tmp_path / "whole" / "README.md").read_text()
    assert not [name for name in weights_of(tmp_path / "whole") if "heads" in name]

    def cut(status):
        if status.fraction > 0.4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pretrain_model(primed, config, tmp_path / "cut", report=cut)
    pretrain_model(primed, config, tmp_path / "cut", resume=True)
    assert_same_weights(weights_of(tmp_path / "whole"), weights_of(tmp_path / "cut"))


def test_trainings_share_the_tokens_of_their_corpus(tiny_models, primed_corpora, tmp_path):
    primed = primed_corpora()
    tokens = tmp_path / "tokens"
    for name, changes in (("a", {"seed": 1}), ("b", {"seed": 2}), ("c", {"shuffle": True})):
        config = quick_config(tiny_models("bert"), epochs=0.1, **changes)
        pretrain_model(primed, config, tmp_path / name, tokens=tokens)
    assert len(list(tokens.iterdir())) == 2  # shuffled anchors are other tokens
    pretrain_model(primed, quick_config(tiny_models("bert"), epochs=0.1, seed=1), tmp_path / "d")
    assert_same_weights(weights_of(tmp_path / "a"), weights_of(tmp_path / "d"))
