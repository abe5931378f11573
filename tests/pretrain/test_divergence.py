"""A training that diverges stops, keeps its last checkpoint with finite weights, and says so."""

import math

import pytest
import torch

from numerate import locks
from numerate.errors import InputError
from numerate.pretrain.config import PretrainConfig
from numerate.pretrain.resume import find_checkpoint
from numerate.pretrain.train import pretrain_model
from tests.pretraining import quick_config, weights_of


def test_a_rate_that_is_far_too_high_is_told_in_one_line_and_leaves_nothing(
    run, tiny_models, primed_corpora, tmp_path
):
    code, out, err = run(
        "pretrain", primed_corpora().folder, "--base", tiny_models("bert"), "--out",
        tmp_path / "a" / "model", "--learning-rate", "1e30", "--max-length", 48,
    )  # fmt: skip
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("numerate: the training diverged: after step 1 ")
    assert err.endswith("nothing of it is kept; lower --learning-rate\n")
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize("option", ["learning_rate", "weight_decay", "epochs", "max_minutes"])
@pytest.mark.parametrize("value", [math.inf, math.nan])
def test_settings_are_finite(option, value):
    with pytest.raises(InputError, match=f"{option} must be "):
        PretrainConfig(**{option: value})


def spoil_weights(monkeypatch, step):
    """Let weights be NaN behind a step, as an update that overflows leaves them."""
    from numerate.pretrain.pace import Pace

    act = Pace.on_step_end

    def on_step_end(pace, args, state, control, **given):
        if state.global_step == step:
            with torch.no_grad():
                next(given["model"].parameters()).fill_(math.nan)
        return act(pace, args, state, control, **given)

    monkeypatch.setattr(Pace, "on_step_end", on_step_end)


def test_the_last_checkpoint_before_is_kept_and_finite(
    tiny_models, primed_corpora, tmp_path, monkeypatch
):
    spoil_weights(monkeypatch, step=3)
    config = quick_config(tiny_models("bert"), checkpoint_minutes=0)  # one after every step
    folder = tmp_path / "model"
    with pytest.raises(InputError, match=r"after step 3 .*/checkpoint-2 is kept"):
        pretrain_model(primed_corpora(), config, folder)
    assert not (folder / "model.safetensors").exists()
    kept = find_checkpoint(folder / "unfinished")
    assert kept.path.name == "checkpoint-2"
    assert all(weight.isfinite().all() for weight in weights_of(kept.path).values())


def test_weights_that_only_the_last_step_spoils_are_not_saved(
    tiny_models, primed_corpora, tmp_path, monkeypatch
):
    spoil_weights(monkeypatch, step=1)
    config = quick_config(tiny_models("bert"), max_tokens=1)  # a single step
    with pytest.raises(InputError, match="the training diverged: after step 1"):
        pretrain_model(primed_corpora(), config, tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_a_base_with_damaged_weights_is_refused_before_the_first_step(
    tiny_models, primed_corpora, tmp_path
):
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    source, base = tiny_models("bert"), tmp_path / "base"
    model = AutoModelForMaskedLM.from_pretrained(source)
    with torch.no_grad():
        model.get_input_embeddings().weight.fill_(math.nan)
    model.save_pretrained(base)
    AutoTokenizer.from_pretrained(source).save_pretrained(base)
    with pytest.raises(InputError, match="base: "):
        pretrain_model(primed_corpora(), quick_config(base), tmp_path / "model")
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("length", [1, 2])
def test_a_length_without_room_for_a_token_is_refused(
    length, tiny_models, primed_corpora, tmp_path
):
    config = quick_config(tiny_models("bert"), max_length=length)
    with pytest.raises(InputError, match=f"max_length must be above 2.* got {length}"):
        pretrain_model(primed_corpora(), config, tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_the_second_of_two_trainings_in_one_folder_is_refused(
    tiny_models, primed_corpora, tmp_path, monkeypatch
):
    monkeypatch.setattr(locks, "PATIENCE", 0)
    config, folder = quick_config(tiny_models("bert"), max_tokens=1), tmp_path / "model"
    refused = []

    def train_again(_):
        locks._held.clear()  # as in another process
        try:
            pretrain_model(primed_corpora(), config, folder, resume=True)
        except InputError as error:
            refused.append(str(error))

    pretrain_model(primed_corpora(), config, folder, report=train_again)
    assert refused
    assert all("is writing it; wait until it has ended" in line for line in refused)
    assert (folder / "run.json").exists()


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("seed", -1),
        ("seed", 99_999_999_999),
        ("batch_size", 100_000),
        ("accumulate", 10**20),
        ("scheduler", "warmup_stable_decay"),
        ("scheduler", "lineer"),
        ("report_to", "x"),
    ],
)
def test_settings_have_bounds(option, value):
    with pytest.raises(InputError, match=f"{option} must be .* got {value!r}"):
        PretrainConfig(**{option: value})
