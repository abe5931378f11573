import json
import os
import pickle
import random
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers as tf

from numerate import InputError, load
from numerate.models.digit_tokenizer import split_digits
from numerate.models.names import MINILM, resolve_model
from numerate.probe.systems import Reading, open_systems
from numerate.run.config import read_config

SIZES = {
    "hidden_size": 16,
    "num_hidden_layers": 5,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 64,
}
NUMERALS = [12, 1999, 2000, 12345, 7, 10**10]
GENBERTS_OWN = {
    "embed": "weight",
    "extra_enc_layer": "0.weight",
    "extra_dec_layer": "0.weight",
    "dec_head": "bias",
    "qa_head": "weight",
    "head_type": "bias",
}
VOCABULARY = Path(resolve_model(MINILM)) / "vocab.txt"  # that of bert-base-uncased
TOKENS = VOCABULARY.read_text(encoding="utf-8").split("\n")


def read_tokens():
    return {token: index for index, token in enumerate(TOKENS) if token}


@pytest.fixture(scope="module")
def masked_lm():
    torch.manual_seed(0)
    return tf.BertForMaskedLM(tf.BertConfig(vocab_size=len(read_tokens()), **SIZES))


@pytest.fixture
def genbert(masked_lm, tmp_path):
    """A folder as GenBERT's authors released theirs."""
    folder = tmp_path / "out_syntext_and_numeric_finetune_numeric"
    folder.mkdir()
    config = {
        "attention_probs_dropout_prob": 0.1,
        "hidden_act": "gelu",
        "hidden_dropout_prob": 0.1,
        "initializer_range": 0.02,
        "type_vocab_size": 2,
        "vocab_size": len(read_tokens()),
        **SIZES,
    }
    (folder / "config.json").write_text(json.dumps(config))
    shutil.copy(VOCABULARY, folder / "vocab.txt")
    own = {f"{name}.{part}": torch.zeros(2, 3) for name, part in GENBERTS_OWN.items()}
    torch.save({**masked_lm.state_dict(), **own}, folder / "pytorch_model.bin")
    return folder


@pytest.fixture
def mwp_bert(masked_lm, tmp_path):
    """A folder as MWP-BERT's authors released theirs, with a vocabulary put into it."""
    folder = tmp_path / "mwp"
    masked_lm.save_pretrained(folder)
    (folder / "model.safetensors").unlink()
    torch.save(masked_lm.state_dict(), folder / "pytorch_model.bin")
    shutil.copy(VOCABULARY, folder / "vocab.txt")
    return folder


def split_slowly(pieces):
    """WordPiece's pieces with those of digits split, as GenBERT's authors describe it."""
    split = []
    for piece in pieces:
        digits = piece.removeprefix("##")
        if digits.isdecimal():
            first = "##" if piece.startswith("##") else ""
            split += [f"{first if i == 0 else '##'}{digit}" for i, digit in enumerate(digits)]
        else:
            split.append(piece)
    return split


def embed_slowly(masked_lm, pieces):
    """The sum of the last four layers, and of that the mean over the pieces."""
    ids = [TOKENS.index(piece) for piece in ["[CLS]", *pieces, "[SEP]"]]
    masked_lm.eval()
    with torch.inference_mode():
        states = masked_lm.bert(torch.tensor([ids]), output_hidden_states=True).hidden_states
    return sum(states[-4:])[0, 1:-1].mean(dim=0).numpy()


def plain_pieces(text):
    return tf.BertTokenizerFast(vocab=read_tokens()).tokenize(text)


def test_genbert_gives_the_vectors_of_its_weights_and_pieces(genbert, masked_lm):
    encoder = load(f"genbert:{genbert}")
    pieces = [[f"{'##' * (i > 0)}{d}" for i, d in enumerate(str(n))] for n in NUMERALS]
    assert pieces[:2] == [["1", "##2"], ["1", "##9", "##9", "##9"]]
    assert plain_pieces("1999") == ["1999"]  # which a row for GenBERT must not feed
    expected = [embed_slowly(masked_lm, row) for row in pieces]
    np.testing.assert_allclose(encoder.embed_numerals(NUMERALS), expected, atol=1e-5)


@pytest.mark.parametrize("vocabulary", ["vocab.txt", "tokenizer.json"])
@pytest.mark.parametrize("weights", ["pytorch_model.bin", "model.safetensors"])
def test_mwp_bert_gives_the_vectors_of_its_weights_and_pieces(
    vocabulary, weights, mwp_bert, masked_lm
):
    if vocabulary == "tokenizer.json":
        (mwp_bert / "vocab.txt").unlink()
        shutil.copy(VOCABULARY.with_name("tokenizer.json"), mwp_bert)
    if weights == "model.safetensors":
        (mwp_bert / "pytorch_model.bin").unlink()
        masked_lm.save_pretrained(mwp_bert)
    encoder = load(f"mwp-bert:{mwp_bert}")
    assert encoder.tokenizer.tokenize("1999 12345") == ["1999", "123", "##45"]
    expected = [embed_slowly(masked_lm, plain_pieces(str(n))) for n in NUMERALS]
    np.testing.assert_allclose(encoder.embed_numerals(NUMERALS), expected, atol=1e-5)


def make_digit_tokenizer():
    return split_digits(tf.BertTokenizerFast(vocab=read_tokens(), model_max_length=64), "bert")


def test_digits_are_those_of_word_pieces_that_were_split():
    tokenizer = make_digit_tokenizer()
    plain = tf.BertTokenizerFast(vocab=read_tokens())
    assert tokenizer.tokenize("12") == ["1", "##2"]
    rng = random.Random(0)
    numerals = [*range(1, 3000), *(round(10 ** rng.uniform(3, 10)) for _ in range(3000))]
    text = " ".join(map(str, numerals)) + " in the 1990s, on the 16th, an a320 or 3.14 (b52)."
    assert tokenizer.tokenize(text) == split_slowly(plain.tokenize(text))
    assert len(tokenizer) == len(plain)
    assert tokenizer("12")["input_ids"] == [TOKENS.index(t) for t in ("[CLS]", "1", "##2", "[SEP]")]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("12,345", "1 ##2 ##3 ##4 ##5"),
        ("Some 1,000,000, or 5, men", "some 1 ##0 ##0 ##0 ##0 ##0 ##0 , or 5 , men"),
        ("Three of nineteen; someone", "3 of 1 ##9 ; someone"),
    ],
)
def test_numbers_are_normalised_before_they_are_cut(text, pieces):
    assert " ".join(make_digit_tokenizer().tokenize(text)) == pieces


def test_the_digit_tokenizer_is_saved_and_loaded_as_it_is(tmp_path):
    tokenizer = make_digit_tokenizer()
    tokenizer.save_pretrained(tmp_path)
    again = tf.AutoTokenizer.from_pretrained(tmp_path)
    text = "twelve of 12,345 came in 1999"
    assert again(text)["input_ids"] == tokenizer(text)["input_ids"]


def test_a_numeral_in_a_sentence_is_found_in_its_digits(genbert):
    encoder = load(f"genbert:{genbert}")
    pieces = encoder.embed_texts(["some 12,345 men"], read="numeral")
    assert pieces.shape == (1, 16)
    assert not np.allclose(pieces, encoder.embed_texts(["some 12,345 men"]))


def test_released_checkpoints_are_systems_by_the_name_they_are_given(genbert, mwp_bert):
    [first] = open_systems(f"GenBERT=genbert:{genbert}", reading=Reading())
    [second] = open_systems(f"mwp-bert:{mwp_bert}", reading=Reading())
    assert (first.name, second.name) == ("GenBERT", f"mwp-bert:{mwp_bert}")
    assert first.fingerprint != second.fingerprint
    assert first.n_layers == 5


def test_a_run_depends_on_what_is_in_the_folder_and_how_it_is_read(genbert, tmp_path):
    from numerate.run.execute import plan_run

    (tmp_path / "a.txt").write_text("in 1999")
    raw = {"corpus": [str(tmp_path / "a.txt")], "base": "some/model"}
    inputs = []
    for kind in ("genbert", "mwp-bert"):
        config = read_config({**raw, "systems": [f"X={kind}:{genbert}"]}, "here")
        [step] = [s for s in plan_run(config, tmp_path / "run") if s.stage == "probe"]
        inputs.append(dict(step.inputs))
    assert [part["model"] for part in inputs] == [genbert, genbert]
    assert [part["kind"] for part in inputs] == ["genbert", "mwp-bert"]
    assert read_config({**raw, "systems": ["vectors:glove.txt"]}, "here")


class Unsafe:
    """A pickle that would do something when it is read."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def save_plainly(state, path):
    path.write_bytes(pickle.dumps(state))


@pytest.mark.parametrize("kind", ["genbert", "mwp-bert"])
@pytest.mark.parametrize("save", [torch.save, save_plainly])
def test_a_pickle_that_holds_more_than_weights_is_refused(kind, save, genbert, tmp_path):
    state = torch.load(genbert / "pytorch_model.bin", weights_only=True)
    save({**state, "more": Unsafe(tmp_path / "made")}, genbert / "pytorch_model.bin")
    with pytest.raises(InputError, match=r"pytorch_model.bin: contains more than weights, or is"):
        load(f"{kind}:{genbert}")
    assert not (tmp_path / "made").exists()


def change_json(path, **changes):
    document = json.loads(path.read_text())
    path.write_text(json.dumps({key: v for key, v in {**document, **changes}.items() if v}))


def change_weights(folder, **changes):
    path = folder / "pytorch_model.bin"
    state = {**torch.load(path, weights_only=True), **changes}
    torch.save({key: value for key, value in state.items() if value is not None}, path)


WORD = "bert.embeddings.word_embeddings.weight"
BAD_FOLDERS = {
    "not a checkpoint of GenBERT; it has no config.json": lambda f: shutil.rmtree(f),
    "config.json: not valid JSON": lambda f: (f / "config.json").write_text("{"),
    "config.json is not that of a BERT (it lacks vocab_size)": lambda f: (
        f / "config.json"
    ).write_text("3"),
    "(it says 'roberta')": lambda f: change_json(f / "config.json", model_type="roberta"),
    "(it lacks hidden_size)": lambda f: change_json(f / "config.json", hidden_size=None),
    "config.json: cannot be read (": lambda f: change_json(f / "config.json", hidden_act=3),
    "do not fit (The hidden size (15)": lambda f: change_json(f / "config.json", hidden_size=15),
    "do not fit ('swash')": lambda f: change_json(f / "config.json", hidden_act="swash"),
    "has no vocabulary; put the vocab.txt of bert-base-uncased into it": lambda f: (
        f / "vocab.txt"
    ).unlink(),
    "vocab.txt: not a vocabulary of BERT; it lacks [PAD]": lambda f: (f / "vocab.txt").write_text(
        "a\nb\n"
    ),
    "vocab.txt: has 30,522 tokens, but config.json says 20": lambda f: change_json(
        f / "config.json", vocab_size=20
    ),
    "has no weights; it needs pytorch_model.bin": lambda f: (f / "pytorch_model.bin").unlink(),
    "contains more than weights, or is damaged": lambda f: (f / "pytorch_model.bin").write_bytes(
        b"no pickle"
    ),
    "not a dict of weights": lambda f: torch.save(torch.zeros(2), f / "pytorch_model.bin"),
    "it has no weights of bert.*": lambda f: torch.save(
        {"embed.weight": torch.zeros(2)}, f / "pytorch_model.bin"
    ),
    "not a checkpoint of GenBERT; it has no weights of a decoder": lambda f: change_weights(
        f, **dict.fromkeys(f"{name}.{part}" for name, part in GENBERTS_OWN.items())
    ),
    "weights and config.json do not fit (size mismatch for": lambda f: change_weights(
        f, **{WORD: torch.zeros(30522, 8)}
    ),
    f"its weights lack {WORD}": lambda f: change_weights(f, **{WORD: None}),
}


@pytest.mark.parametrize("message", BAD_FOLDERS)
def test_a_folder_that_is_something_else_is_one_line(message, genbert, run):
    BAD_FOLDERS[message](genbert)
    code, _, err = run("embed", f"genbert:{genbert}", "1999")
    assert code == 2
    assert message in err
    assert err.count("\n") == 1


def test_damaged_weights_are_one_line_whatever_is_wrong_with_them(genbert):
    path, rng = genbert / "pytorch_model.bin", random.Random(0)
    torch.save({"bert.a": torch.zeros(2)}, path, _use_new_zipfile_serialization=False)
    whole = path.read_bytes()
    for _ in range(60):
        data = bytearray(rng.choice([whole[: rng.randrange(len(whole))], rng.randbytes(40)]))
        if data:
            data[rng.randrange(len(data))] = rng.randrange(256)
        path.write_bytes(data)
        with pytest.raises(InputError):
            load(f"genbert:{genbert}")
    (genbert / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(InputError, match=r"model.safetensors: damaged \("):
        load(f"genbert:{genbert}")


def test_genbert_is_not_read_as_mwp_bert(genbert):
    with pytest.raises(InputError, match="since it has a decoder; name it genbert:"):
        load(f"mwp-bert:{genbert}")


def test_word_vectors_are_no_model(tmp_path):
    with pytest.raises(InputError, match="cannot be loaded as a model; probe it with"):
        load(f"vectors:{tmp_path}")
