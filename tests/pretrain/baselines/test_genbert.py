import json

import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModel, AutoModelForMaskedLM, AutoTokenizer, BertTokenizerFast

import numerate
from numerate.errors import InputError
from numerate.models.digit_tokenizer import split_digits
from numerate.pretrain.baselines.genbert import (
    AnswerDecoder,
    EncodedQuestion,
    GenbertRecipe,
    encode_question,
)
from numerate.pretrain.baselines.genbert_questions import KINDS, NumericalData
from numerate.pretrain.baselines.train import train_baseline
from numerate.pretrain.config import GenbertConfig
from numerate.pretrain.masking import IGNORED
from tests.conftest import VOCABULARY, make_model
from tests.pretraining import use_fake_clock

MORE = ["+", "-", ":", ";", "?", "%", "largest", "smallest", "most", "fewest", "days", "months"]


@pytest.fixture(scope="session")
def base(tmp_path_factory):
    """A BERT of one layer that knows the signs of the questions."""
    from transformers import BertConfig, BertForMaskedLM

    folder = tmp_path_factory.mktemp("base")
    names = {token: index for index, token in enumerate([*VOCABULARY, *MORE])}
    torch.manual_seed(0)
    size = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
    size |= {"intermediate_size": 64, "max_position_embeddings": 96, "vocab_size": len(names)}
    BertForMaskedLM(BertConfig(**size)).save_pretrained(folder)
    BertTokenizerFast(vocab=names, model_max_length=96).save_pretrained(folder)
    return str(folder)


def quick(base, **changes):
    settings = {"max_tokens": 60_000, "batch_size": 32, "learning_rate": 3e-3}
    settings |= {"precision": "fp32", **changes}
    return GenbertConfig(base=base, **settings)


@pytest.fixture(scope="module")
def trained(base, tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    text = folder / "text.txt"
    text.write_text(
        "in the year 1999 some 12,345 people came, 5 paid about $86.\n" * 50 + "of a " * 200
    )
    run = train_baseline(quick(base, corpus=(str(text),)), folder / "out")
    return folder / "out", run


def test_the_recipe_learns_and_says_how_well_per_kind(trained):
    folder, run = trained
    start, end = run["validation"]["start"], run["validation"]["end"]
    assert end["eval_loss"] < 0.75 * start["eval_loss"]
    assert {f"eval_accuracy_{kind}" for kind in KINDS} < set(end)
    assert end["eval_accuracy"] > start["eval_accuracy"]
    entries = json.loads((folder / "curve.json").read_text())["entries"]
    rows = [entry for entry in entries if "eval_accuracy_sum" in entry]
    assert len(rows) >= 10
    losses = [entry["loss"] for entry in entries if "loss" in entry]
    assert losses[-1] < 0.8 * losses[0]
    assert run["tokens"] == pytest.approx(60_000, rel=0.1)
    assert run["data"]["texts"] == 55  # 400 words in sequences of at most 96 tokens


def test_the_folder_is_one_of_transformers_and_reads_digits(trained):
    folder, run = trained
    tokenizer = AutoTokenizer.from_pretrained(folder)
    assert tokenizer.tokenize("12,345") == ["1", "##2", "##3", "##4", "##5"]
    model, info = AutoModelForMaskedLM.from_pretrained(folder, output_loading_info=True)
    assert not info["unexpected_keys"]
    assert not info["missing_keys"]
    assert torch.isfinite(model(**tokenizer("1999", return_tensors="pt")).logits).all()
    assert AutoModel.from_pretrained(folder).config.hidden_dropout_prob == 0.1
    assert numerate.load(str(folder)).embed_numerals([1999, "12,345"]).shape == (2, 32)
    card = (folder / "README.md").read_text()
    assert "# GenBERT recipe on" in card
    assert f"{run['parameters']:,} parameters" in card
    assert f"| accuracy sum | {run['validation']['start']['eval_accuracy_sum']:.3f} |" in card
    assert not (folder / "unfinished").exists()


@pytest.fixture
def decoder():
    model, whole = make_model("bert")
    tokenizer = split_digits(whole, "bert")
    return AnswerDecoder(model.eval(), 0), tokenizer


def test_the_question_sees_itself_and_the_answer_what_is_written(decoder):
    decoder, _ = decoder
    batch = decoder.collate(
        [EncodedQuestion([2, 7, 8, 3], [9, 10, 3], shift=5), EncodedQuestion([2, 7, 3], [9, 3], 0)]
    )
    assert batch["input_ids"].tolist() == [[2, 7, 8, 3, 9, 10], [2, 7, 3, 9, 0, 0]]
    assert batch["labels"][0].tolist() == [IGNORED] * 3 + [9, 10, 3]
    assert batch["labels"][1].tolist() == [IGNORED] * 2 + [9, 3, IGNORED, IGNORED]
    assert batch["position_ids"].tolist() == [[5, 6, 7, 8, 9, 10], [0, 1, 2, 3, 4, 5]]
    assert batch["token_type_ids"][0].tolist() == [0, 0, 0, 0, 1, 1]
    seen = batch["attention_mask"][0, 0].int().tolist()
    assert seen == [[1, 1, 1, 1, 0, 0]] * 4 + [[1, 1, 1, 1, 1, 0], [1] * 6]
    assert batch["attention_mask"][1, 0, 3].tolist() == [True] * 4 + [False] * 2


def write_greedily(decoder, question, longest=11):
    """The answer piece by piece, each the likeliest after those before: slow and obvious."""
    answer = []
    while len(answer) < longest and answer[-1:] != [3]:
        batch = decoder.collate([EncodedQuestion(question, [*answer, 3], 0)])
        answer.append(int(decoder.predict(batch)[0][-1].argmax()))
    return answer


def test_right_pieces_after_right_pieces_are_what_greedy_writing_gives(decoder, base):
    from transformers import AutoModelForMaskedLM

    model = AutoModelForMaskedLM.from_pretrained(base).eval()
    tokenizer = split_digits(AutoTokenizer.from_pretrained(base), "base")
    decoder = AnswerDecoder(model, 0)
    questions = [tokenizer(f"{n} + {n * n}")["input_ids"] for n in range(30)]
    greedy = [write_greedily(decoder, question) for question in questions]
    for question, answer in zip(questions, greedy, strict=True):
        for told in (answer, [*answer[:-1], 5, 3], [5, *answer[1:]]):
            logits, labels = decoder.predict(decoder.collate([EncodedQuestion(question, told, 0)]))
            assert bool((logits.argmax(dim=-1) == labels).all()) == (told == answer)


@pytest.mark.parametrize("batch_size", [4, 32])
def test_texts_are_48_to_800_questions_whatever_the_batch(base, batch_size, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("in the year 1999 some people came\n" * 20)
    config = quick(base, batch_size=batch_size, corpus=(str(text),))
    recipe = GenbertRecipe(config)
    recipe.load()
    recipe.prepare(tmp_path)
    assert sum(recipe.draw(index).text is not None for index in range(800)) == 48


def test_texts_and_questions_can_be_without_numbers_in_gaps(base, tmp_path):
    (tmp_path / "a.txt").write_text("in 1999\n35 people\n12,345 people\n3,500 people\n")
    settings = {"corpus": (str(tmp_path / "a.txt"),), "hold_out_gaps": True}
    recipe = GenbertRecipe(quick(base, **settings))
    recipe.load()
    recipe.prepare(tmp_path / "work")
    assert recipe.describe()["data"]["texts"] == 2
    data = NumericalData("train", recipe.config.seed, hold_out_gaps=True)
    for index in range(60):
        expected = encode_question(data[index], recipe.base.tokenizer)
        assert recipe.draw(index).question == expected.question


def test_an_answer_has_at_most_eleven_tokens(decoder):
    _, tokenizer = decoder
    encoded = encode_question(("12 of 5", "1" * 30), tokenizer)
    assert tokenizer.decode(encoded.question[1:3]) == "12"
    assert len(encoded.question) == 6
    assert len(encoded.answer) == 11
    assert encoded.answer[-1] == tokenizer.sep_token_id


@pytest.mark.parametrize("architecture", ["distilbert", "mpnet", "electra"])
def test_other_models_with_word_pieces_learn_too(architecture, tiny_models, tmp_path):
    config = quick(str(tiny_models(architecture)), max_tokens=8000)
    run = train_baseline(config, tmp_path / "out")
    assert run["validation"]["end"]["eval_loss"] < run["validation"]["start"]["eval_loss"]
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "out")
    model = AutoModel.from_pretrained(tmp_path / "out")
    assert model(**tokenizer("12,345", return_tensors="pt")).last_hidden_state.shape[1] == 7


def cut_off(config, folder, at):
    """Start a run and break it off at a share of it, with a checkpoint behind it."""

    class Cut(Exception):
        pass

    def report(status):
        if status.fraction >= at:
            raise Cut

    with pytest.raises(Cut):
        train_baseline(config, folder, report=report)


def test_a_run_that_was_cut_off_ends_with_the_same_weights(base, tmp_path):
    config = quick(base, max_tokens=20_000, dropout=0.1, checkpoint_minutes=1e-9)
    whole = train_baseline(config, tmp_path / "whole")
    cut_off(config, tmp_path / "cut", 0.5)
    assert list((tmp_path / "cut" / "unfinished").glob("checkpoint-*/complete.json"))
    with pytest.raises(InputError, match="holds an unfinished run"):
        train_baseline(config, tmp_path / "cut")
    again = train_baseline(config, tmp_path / "cut", resume=True)
    first, second = (load_file(tmp_path / n / "model.safetensors") for n in ("whole", "cut"))
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert again["tokens"] == whole["tokens"]
    assert again["validation"] == whole["validation"]
    assert train_baseline(config, tmp_path / "whole") == json.loads(json.dumps(whole))


def test_a_budget_of_minutes_ends_a_run(base, tmp_path, monkeypatch):
    use_fake_clock(monkeypatch, tick=0.01)
    run = train_baseline(quick(base, max_tokens=None, max_minutes=0.04), tmp_path / "out")
    assert 2.4 <= run["seconds_training"] < 2.6
    assert "0.04 minutes" in (tmp_path / "out" / "README.md").read_text()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"batch_size": 0}, "batch_size must be above 0"),
        ({"max_minutes": 1}, "must not both be given"),
        ({"dropout": 1}, "dropout must be at least 0"),
        ({"corpus": ("nosuch.txt",)}, "nosuch.txt: no such file"),
        ({"base": "roberta"}, "must have a WordPiece tokenizer"),
    ],
)
def test_what_is_wrong_is_said_and_leaves_nothing_behind(
    wrong, message, base, tiny_models, tmp_path
):
    if "base" in wrong:
        wrong = {"base": str(tiny_models(wrong["base"]))}
    with pytest.raises(InputError, match=message):
        train_baseline(quick(**{"base": base, **wrong}), tmp_path / "out")
    assert not list(tmp_path.glob("out/*"))


def test_many_processes_are_refused(base, tmp_path, monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(InputError, match="train in one process"):
        train_baseline(quick(base), tmp_path / "out")
