"""Code that a model folder brings runs only if an option says so."""

import json
import shutil

import pytest

from numerate import load
from numerate.errors import InputError
from numerate.models.base_model import load_base
from numerate.models.pretrained import find_model_kind
from numerate.models.sentence_encoder import load_sentence_encoder

CODE = """
from pathlib import Path
Path({ran!r}).touch()
from transformers import BertConfig, BertModel, BertForMaskedLM
class OwnConfig(BertConfig):
    model_type = "own"
class OwnModel(BertModel):
    config_class = OwnConfig
class OwnLm(BertForMaskedLM):
    config_class = OwnConfig
"""
MAP = {
    "AutoConfig": "own.OwnConfig",
    "AutoModel": "own.OwnModel",
    "AutoModelForMaskedLM": "own.OwnLm",
}


@pytest.fixture
def ran(tmp_path):
    """The file that the code of a folder makes when it runs."""
    return tmp_path / "ran"


@pytest.fixture
def folder(tiny_models, ran, tmp_path, monkeypatch):
    """A model folder of a type that only its own code knows."""
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path / "hf"))
    monkeypatch.setattr("builtins.input", lambda *_: "y")  # as `yes |` would say
    shutil.copytree(tiny_models("bert"), tmp_path / "model")
    (tmp_path / "model" / "own.py").write_text(CODE.format(ran=str(ran)))
    change(tmp_path / "model" / "config.json", model_type="own", auto_map=MAP)
    return tmp_path / "model"


def change(path, **entries):
    path.write_text(json.dumps({**json.loads(path.read_text()), **entries}))


@pytest.mark.parametrize(
    "command",
    [
        ("embed", "FOLDER", 1999),
        ("similar", "FOLDER", 1999),
        ("probe", "FOLDER", "--tasks", "paraphrases", "--out", "OUT"),
        ("probe", "digits:FOLDER", "--tasks", "paraphrases", "--out", "OUT"),
        ("baseline", "genbert", "--base", "FOLDER", "--out", "OUT"),
    ],
)
def test_a_command_refuses_code_in_one_line(run, folder, ran, tmp_path, command):
    filled = [str(part).replace("FOLDER", str(folder)) for part in command]
    filled = [str(tmp_path / "out") if part == "OUT" else part for part in filled]
    code, out, err = run(*filled)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "needs code that its folder brings, which is not run" in err
    assert not ran.exists()
    assert not (tmp_path / "out").exists()


def test_python_refuses_it_everywhere_and_runs_it_if_told_to(folder, ran):
    for call in (load, lambda name: load_base(name, ()), find_model_kind):
        with pytest.raises(InputError, match="is not run"):
            call(str(folder))
    assert not ran.exists()
    vectors = load(str(folder), trust_remote_code=True).embed_numerals([1999])
    assert vectors.shape == (1, 16)
    assert ran.exists()


def test_the_option_of_a_command_runs_it(run, folder, ran):
    code, _, _ = run("embed", folder, 1999, "--trust-remote-code")
    assert (code, ran.exists()) == (0, True)


def test_code_beside_a_type_that_transformers_knows_is_not_run(folder, ran):
    change(folder / "config.json", model_type="bert")
    assert load(str(folder)).embed_numerals([1999]).shape == (1, 16)
    assert not ran.exists()


@pytest.fixture
def primed_folder(anchored_models, ran, tmp_path, monkeypatch):
    """A folder that numerate has written, with its own module for sentence-transformers."""
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path / "hf"))
    shutil.copytree(anchored_models(), tmp_path / "primed")
    (tmp_path / "primed" / "own.py").write_text(CODE.format(ran=str(ran)))
    return tmp_path / "primed"


def test_a_folder_of_ours_is_loaded_as_a_sentence_encoder(primed_folder):
    assert load_sentence_encoder(str(primed_folder)).encode(["in 1999"]).shape == (1, 16)


def test_numerates_own_module_does_not_open_the_door_for_others(primed_folder, ran):
    config = (primed_folder / "config.json").read_text()
    change(primed_folder / "config.json", auto_map=MAP)
    with pytest.raises(InputError, match="is not run"):
        load_sentence_encoder(str(primed_folder))
    (primed_folder / "config.json").write_text(config)
    modules = json.loads((primed_folder / "modules.json").read_text())
    modules[2]["type"] = "own.OwnModel"
    (primed_folder / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(InputError, match="is not run"):
        load_sentence_encoder(str(primed_folder))
    assert not ran.exists()
