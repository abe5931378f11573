"""What can be loaded as a model, and what is refused in one line."""

import json
import shutil

import gguf
import numpy as np
import pytest
import torch
import transformers as tf

from numerate.embed.load import load
from numerate.errors import MissingExtraError
from numerate.models.base_model import load_base
from numerate.models.pretrained import find_kind
from numerate.pretrain.train import pretrain_model
from numerate.probe.scores import read_scores
from tests.causal_models import FAMILIES, make_causal
from tests.conftest import ARCHITECTURES
from tests.pretraining import quick_config

SMALL = {"num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}


@pytest.mark.parametrize("architecture", [*ARCHITECTURES, *FAMILIES])
def test_the_kind_is_found_from_the_class_or_else_from_the_family(architecture, tiny_models):
    config = tf.AutoConfig.from_pretrained(tiny_models(architecture))
    expected = "causal" if architecture in FAMILIES else "masked"
    assert find_kind(config) == expected
    config.architectures = None
    assert find_kind(config) == expected


def test_a_family_with_both_kinds_is_what_its_class_is():
    config = tf.BertConfig(is_decoder=True, architectures=["BertLMHeadModel"])
    assert find_kind(config) == "causal"
    assert find_kind(tf.BertConfig(architectures=["BertModel"])) == "masked"
    assert find_kind(tf.ViTConfig()) is None


def permute(weight, n_heads):
    """The order of rows that GGUF files of Llama have: the two halves of each head interleaved."""
    halves = weight.reshape(n_heads, 2, len(weight) // n_heads // 2, *weight.shape[1:])
    return halves.swapaxes(1, 2).reshape(weight.shape)


def write_gguf(path, *, architecture="llama", quantised=(), unknown=()):
    """Write a tiny Llama as a GGUF file, and return the model.

    The tensors whose names hold `quantised` are rounded to 8 bits; those that hold `unknown` are
    said to be of a kind that nothing reads.
    """
    model, tokenizer = make_causal("llama")
    config, names = model.config, gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, 1)
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_block_count(1)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_dimension_count(config.head_dim)
    writer.add_rope_freq_base(10000.0)
    writer.add_vocab_size(config.vocab_size)
    pieces = json.loads(tokenizer.backend_tokenizer.to_str())["model"]
    tokens = sorted(pieces["vocab"], key=pieces["vocab"].get)
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(tokens)
    writer.add_token_types([3 if token in ("<s>", "</s>") else 1 for token in tokens])
    writer.add_token_merges([" ".join(pair) for pair in pieces["merges"]])
    writer.add_bos_token_id(tokenizer.bos_token_id)
    writer.add_eos_token_id(tokenizer.eos_token_id)
    for name, weight in model.state_dict().items():
        tensor = weight.numpy()
        if "q_proj" in name:
            tensor = permute(tensor, config.num_attention_heads)
        if "k_proj" in name:
            tensor = permute(tensor, config.num_key_value_heads)
        kind = None
        if any(part in name for part in quantised):
            kind = gguf.GGMLQuantizationType.Q8_0
            tensor = gguf.quantize(tensor, kind)
        if any(part in name for part in unknown):
            kind, tensor = gguf.GGMLQuantizationType.Q8_K, np.zeros((1, 292), np.uint8)
        given = names.get_name(name, try_suffixes=(".weight",))
        writer.add_tensor(given, np.ascontiguousarray(tensor), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return model


def test_a_gguf_file_is_a_model(run, tmp_path):
    path = tmp_path / "tiny.gguf"
    model = write_gguf(path, quantised=["down_proj"])
    base = load_base(str(path), (), kind="auto")
    assert (base.kind, base.fresh) == ("causal", ())
    for name, weight in base.model.state_dict().items():
        exact = model.state_dict()[name]
        step = exact.abs().max() / 127  # of rounding to 8 bits
        torch.testing.assert_close(weight, exact, atol=float(step) if "down" in name else 0, rtol=0)
    encoder = load(str(path))
    ids = encoder.tokenizer("12,345")["input_ids"]
    assert encoder.tokenizer.convert_ids_to_tokens(ids) == list("12,345")
    with torch.no_grad():
        states = base.model.model(input_ids=torch.tensor([ids])).last_hidden_state[0]
    np.testing.assert_allclose(encoder.embed_numerals(["12,345"])[0], states.mean(dim=0), atol=1e-6)
    out = tmp_path / "scores.jsonl"
    options = ["--tasks", "distance", "--seeds", 1, "--workers", 1, "--quiet", "--out", out]
    assert run("probe", f"tiny={path}", *options)[0] == 0
    assert {score.system for score in read_scores(out)} == {"tiny"}
    assert run("embed", path, "1999", "--out", tmp_path / "v.npz")[0] == 0


def test_a_gguf_file_can_be_trained_and_is_saved_as_a_folder(primed_corpora, tmp_path):
    write_gguf(tmp_path / "tiny.gguf")
    config = quick_config(tmp_path / "tiny.gguf", max_tokens=400, validation_most=2)
    pretrain_model(primed_corpora(), config, tmp_path / "out")
    saved = json.loads((tmp_path / "out" / "config.json").read_text())
    assert "quantization_config" not in saved
    encoder = load(str(tmp_path / "out"))
    assert encoder.embed_numerals([1999], anchor="unsaid").shape == (1, 16)


def test_a_gguf_file_without_its_package_names_the_extra(tmp_path, monkeypatch):
    def import_nothing(name):
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    write_gguf(tmp_path / "tiny.gguf")
    monkeypatch.setattr("numerate.models.pretrained.import_module", import_nothing)
    with pytest.raises(MissingExtraError, match=r"needs gguf: pip install 'numerate\[gguf\]'"):
        load(str(tmp_path / "tiny.gguf"))


def save_t5(folder, tiny_models):
    shape = {"d_model": 16, "d_kv": 8, "d_ff": 32, "num_layers": 1, "num_heads": 2}
    tf.T5ForConditionalGeneration(tf.T5Config(vocab_size=99, **shape)).save_pretrained(folder)


def save_bart(folder, tiny_models):
    shape = {
        f"{part}_{name}": 1 for part in ("encoder", "decoder") for name in ("layers", "ffn_dim")
    }
    heads = {"encoder_attention_heads": 2, "decoder_attention_heads": 2}
    config = tf.BartConfig(vocab_size=99, d_model=16, max_position_embeddings=66, **shape, **heads)
    tf.BartForConditionalGeneration(config).save_pretrained(folder)


def save_vit(folder, tiny_models):
    tf.ViTModel(tf.ViTConfig(hidden_size=16, image_size=16, **SMALL)).save_pretrained(folder)


def save_without_fast_tokenizer(folder, tiny_models):
    names = ["<cls>", "<pad>", "<eos>", "<unk>", "L", "A", "<mask>"]
    shape = {"vocab_size": len(names), "hidden_size": 16, "max_position_embeddings": 64, **SMALL}
    tf.EsmForMaskedLM(tf.EsmConfig(**shape, pad_token_id=1)).save_pretrained(folder)
    (folder / "names.txt").write_text("\n".join(names))
    tf.EsmTokenizer(str(folder / "names.txt")).save_pretrained(folder)


def save_without_weights(folder, tiny_models):
    shutil.copytree(tiny_models("gpt2"), folder)
    (folder / "model.safetensors").unlink()


def save_quantised_folder(folder, tiny_models):
    shutil.copytree(tiny_models("llama"), folder)
    config = json.loads((folder / "config.json").read_text())
    config["quantization_config"] = {"quant_method": "gptq", "bits": 4, "group_size": 128}
    (folder / "config.json").write_text(json.dumps(config))


def save_strange_padding(folder, tiny_models):
    shutil.copytree(tiny_models("gpt2"), folder)
    path = folder / "tokenizer_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"pad_token": "<nowhere>"}))


def save_pickle(folder, tiny_models):
    folder.write_bytes(b"ggml")


REFUSED = {
    "t5": (save_t5, "got an encoder-decoder (t5)"),
    "vit": (save_vit, "got a model of image (vit)"),
    "esm": (save_without_fast_tokenizer, "its tokenizer gives no offsets"),
    "weightless": (save_without_weights, "no file named"),
    "gptq": (save_quantised_folder, "cannot be loaded as a"),
    "weights.bin": (save_pickle, "a file, not a model folder or a .gguf file"),
    "broken.gguf": (save_pickle, "cannot be loaded as a model"),
    "strange.gguf": (lambda path, _: write_gguf(path, architecture="abacus"), "abacus"),
    "packed.gguf": (lambda path, _: write_gguf(path, unknown=["down_proj"]), "Q8_K"),
}


NO_LANGUAGE_MODEL = {
    **REFUSED,
    "bart": (save_bart, "got an encoder-decoder (bart)"),
    "padding": (save_strange_padding, "but the model only"),
}


@pytest.mark.parametrize("name", NO_LANGUAGE_MODEL)
def test_what_is_no_language_model_is_one_line(
    name, run, tiny_models, primed_corpora, tmp_path, capsys
):
    save, message = NO_LANGUAGE_MODEL[name]
    save(tmp_path / name, tiny_models)
    capsys.readouterr()  # the bar of saving
    primed = primed_corpora().folder
    for command in (
        ("embed", tmp_path / name, "1999"),
        ("probe", tmp_path / name, "--tasks", "paraphrases", "--out", tmp_path / "s.jsonl"),
        ("pretrain", primed, "--base", tmp_path / name, "--out", tmp_path / "out"),
    ):
        code, _, errors = run(*command, "--quiet")
        assert (code, errors.count("\n")) == (2, 1), errors
        assert message in errors
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "s.jsonl").exists()


def write_encoder_files(folder):
    """Make a folder look like a sentence encoder to sentence-transformers."""
    kinds = {"": "Transformer", "1_Pooling": "Pooling"}
    rows = [
        {
            "idx": index,
            "name": str(index),
            "path": path,
            "type": f"sentence_transformers.models.{kind}",
        }
        for index, (path, kind) in enumerate(kinds.items())
    ]
    (folder / "modules.json").write_text(json.dumps(rows))
    (folder / "1_Pooling").mkdir()
    pooling = {"word_embedding_dimension": 16, "pooling_mode_mean_tokens": True}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_sentence_encoder_is_one_line(name, run, tiny_models, tmp_path, capsys):
    folder = tmp_path / name
    REFUSED[name][0](folder, tiny_models)
    capsys.readouterr()  # the bar of saving
    (tmp_path / "a.txt").write_text("in 1999 some 12,345 people came\n" * 50)
    tune = ("tune", folder, "--texts", tmp_path / "a.txt", "--out", tmp_path / "out", "--quiet")
    asked = ("--tasks", "paraphrases", "--out", tmp_path / "s.jsonl", "--quiet")
    probe = ("probe", f"sentence:{folder}", *asked)
    for command in (tune, probe):
        code, _, errors = run(*command)
        assert (code, errors.count("\n")) == (2, 1), errors
    if folder.is_file():
        return
    write_encoder_files(folder)
    takes_it = [probe] if name == "t5" else []  # sentence-transformers runs its encoder alone
    for command in (tune, probe):
        code, _, errors = run(*command)
        assert (code, errors.count("\n")) == ((0, 0) if command in takes_it else (2, 1)), errors
    assert not (tmp_path / "out").exists()
