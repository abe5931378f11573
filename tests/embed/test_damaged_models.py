"""Model folders that are damaged, foreign or misnamed: one line each."""

import json
import math
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from numerate import load
from numerate.errors import InputError
from numerate.models.base_model import load_base
from numerate.models.names import resolve_model


@pytest.fixture
def folder(tiny_models, tmp_path):
    return Path(shutil.copytree(tiny_models("bert"), tmp_path / "model"))


def change_weights(folder, change):
    weights = load_file(folder / "model.safetensors")
    save_file(change(weights), folder / "model.safetensors", metadata={"format": "pt"})


def change_config(folder, **entries):
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **entries}))


def swap_for_pickle(folder):
    (folder / "model.safetensors").unlink()
    torch.save({"a": Path()}, folder / "pytorch_model.bin")


def cut(folder):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:100])


def lengthen_tokenizer(folder):
    path = folder / "tokenizer.json"
    document = json.loads(path.read_text())
    document["model"]["vocab"]["longer"] = 5000
    path.write_text(json.dumps(document))


DAMAGES = {
    "cut": cut,
    "empty": lambda folder: (folder / "model.safetensors").write_bytes(b""),
    "pickle": swap_for_pickle,
    "shapes": lambda folder: change_config(folder, hidden_size=32),
    "list": lambda folder: (folder / "config.json").write_text("[1, 2]"),
    "nested": lambda folder: (folder / "config.json").write_text("[" * 100_000),
    "negative": lambda folder: change_config(folder, hidden_size=-16),
    "wordy": lambda folder: change_config(folder, num_hidden_layers="many"),
    "tokenizer": lengthen_tokenizer,
    "nan": lambda folder: change_weights(
        folder, lambda weights: {k: torch.full_like(v, math.nan) for k, v in weights.items()}
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_folder_is_one_line_that_names_it(damage, folder, capfd):
    DAMAGES[damage](folder)
    with pytest.raises(InputError, match=r"model: .") as raised:
        load(str(folder))
    assert "\n" not in str(raised.value)
    assert capfd.readouterr().err == ""


def test_a_folder_may_be_a_path(folder):
    assert load(folder).embed_numerals([1999]).shape == (1, 16)


@pytest.mark.parametrize("name", ["package:", "package:os/x", "package:../x", "package:nosuch/x"])
def test_what_is_no_package_is_one_line(name):
    with pytest.raises(InputError, match="is not installed"):
        resolve_model(name)


@pytest.mark.parametrize("name", ["", "digits:", "genbert:"])
def test_a_model_without_a_name_is_not_the_current_folder(name, folder, monkeypatch):
    monkeypatch.chdir(folder)
    with pytest.raises(InputError, match=r"must (have a name|be MODEL or TITLE=MODEL), got ''"):
        load(name)
    with pytest.raises(InputError, match="a model must have a name, got ''"):
        load_base("", ())


def test_a_device_without_values_is_none(folder):
    with pytest.raises(InputError, match="device must be one of this machine, got 'meta'"):
        load(folder, device="meta")


def test_a_name_that_is_neither_here_nor_on_the_hub_is_asked_for_once(monkeypatch):
    asked = []

    def refuse(api, name, **options):
        asked.append(name)
        raise OSError("no network")

    monkeypatch.setattr("huggingface_hub.HfApi.model_info", refuse)
    with pytest.raises(InputError, match=r"there is no such folder, and the hub .*\(no network\)"):
        load("someone/nosuch")
    assert asked == ["someone/nosuch"]
