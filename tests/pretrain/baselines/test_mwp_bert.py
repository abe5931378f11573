import json

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModel, AutoModelForMaskedLM

import numerate
from numerate.errors import InputError
from numerate.pretrain.baselines.mwp_bert import MwpBertRecipe
from numerate.pretrain.baselines.problem_model import (
    OBJECTIVES,
    ProblemModel,
    encode_problem,
    list_targets,
    pool_states,
)
from numerate.pretrain.baselines.solution_trees import Pair
from numerate.pretrain.baselines.train import train_baseline
from numerate.pretrain.baselines.word_problems import Problem
from numerate.pretrain.config import MwpBertConfig
from numerate.pretrain.masking import IGNORED, Masking
from tests.conftest import make_model
from tests.pretrain.baselines.test_genbert import cut_off


@pytest.fixture(scope="session")
def problems(tmp_path_factory):
    rows = ["Question,Numbers,Equation,Answer"]
    for n in range(1, 61):
        rows.append(
            f"some number0 people and number1 came,{n}.0 {n + 3}.0,+ number0 number1,{2 * n}"
        )
        rows.append(f"number0 people paid number1,{n + 9}.0 {n / 2},/ number0 number1,{18 / n + 2}")
    rows.append(f"{'the town ' * 40}number0,1.0,number0,1")  # longer than the model can take
    path = tmp_path_factory.mktemp("problems") / "problems.csv"
    path.write_text("\n".join(rows))
    return str(path)


def quick(base, problems, **changes):
    settings = {"epochs": 12, "batch_size": 16, "learning_rate": 3e-3, **changes}
    return MwpBertConfig(base=str(base), problems=problems, **settings)


@pytest.fixture(scope="module")
def trained(tiny_models, problems, tmp_path_factory):
    out = tmp_path_factory.mktemp("trained") / "out"
    return out, train_baseline(quick(tiny_models("bert"), problems), out)


def test_every_objective_is_learned_and_validated(trained):
    out, run = trained
    start, end = run["validation"]["start"], run["validation"]["end"]
    for name in ("masked", *OBJECTIVES):
        assert end[f"eval_loss_{name}"] < start[f"eval_loss_{name}"], name
    assert end["eval_loss"] == pytest.approx(
        sum(end[f"eval_loss_{name}"] for name in ("masked", *OBJECTIVES))
    )
    assert end["eval_accuracy_operator"] > 0.9
    assert run["data"] == {"problems": 109, "held_out": 12}
    entries = json.loads((out / "curve.json").read_text())["entries"]
    rates = [entry["learning_rate"] for entry in entries if "loss" in entry]
    assert set(rates) == {3e-3, 1.5e-3, 7.5e-4}


def test_the_folder_is_clean_and_loads_with_transformers(trained):
    out, run = trained
    _, info = AutoModelForMaskedLM.from_pretrained(out, output_loading_info=True)
    assert not info["unexpected_keys"]
    assert not info["missing_keys"]
    assert not any("recipe_heads" in name for name in load_file(out / "model.safetensors"))
    assert AutoModel.from_pretrained(out).config.hidden_size == 16
    assert numerate.load(str(out)).embed_numerals([12]).shape == (1, 16)
    card = (out / "README.md").read_text()
    assert "# MWP-BERT recipe on" in card
    assert f"| loss distance | {run['validation']['start']['eval_loss_distance']:.3f} |" in card


def test_a_run_that_was_cut_off_ends_with_the_same_weights(tiny_models, problems, tmp_path):
    config = quick(tiny_models("bert"), problems, epochs=4, dropout=0.1, checkpoint_minutes=1e-9)
    whole = train_baseline(config, tmp_path / "whole")
    cut_off(config, tmp_path / "cut", 0.6)
    again = train_baseline(config, tmp_path / "cut", resume=True)
    first, second = (load_file(tmp_path / n / "model.safetensors") for n in ("whole", "cut"))
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert again["validation"] == whole["validation"]


def make_problem(text, spans, values, pairs=(), answer=1):
    return Problem(text=text, spans=spans, values=values, pairs=pairs, answer=answer)


@pytest.fixture(scope="module")
def bert():
    return make_model("bert")


def test_an_encoded_problem_knows_the_tokens_of_its_numbers(bert):
    problem = make_problem("the 12 and 5 of 100", ((4, 6), (11, 12), (16, 19)), (12, 5, 100))
    encoded = encode_problem(problem, bert[1], 100)
    # [CLS] the 1 ##2 and 5 of 1 ##0 ##0 [SEP]
    assert encoded.number_of.tolist() == [-1, -1, 0, 0, -1, 1, -1, 2, 2, 2, -1]


def test_at_most_fifteen_numbers_and_what_is_behind_the_cut_is_not_there(bert):
    text = " ".join("5" * 20)
    spans = tuple((2 * n, 2 * n + 1) for n in range(20))
    pairs = (Pair(0, 1, 2, "+"), Pair(0, 16, 2, "+"))
    encoded = encode_problem(make_problem(text, spans, (5,) * 20, pairs), bert[1], 100)
    assert len(encoded.values) == 15
    assert encoded.pairs == pairs[:1]
    long = "the " * 98 + "5"
    encoded = encode_problem(make_problem(long, ((392, 393),), (5,)), bert[1], 100)
    assert len(encoded.ids) <= 100
    assert encoded.values == ()


def encoded_problem(bert, answer):
    pairs = (Pair(0, 1, 3, "/"), Pair(1, 2, 2, None))
    problem = make_problem("5 1 2", ((0, 1), (2, 3), (4, 5)), (5.0, 1.5, 2.0), pairs, answer)
    return encode_problem(problem, bert[1], 100)


def test_targets_are_those_that_a_problem_has(bert):
    assert list_targets([encoded_problem(bert, 2.0), encoded_problem(bert, None)]) == {
        "count": [3, 3],
        "number_type": [0, 1, 0] * 2,
        "distance": [3, 2] * 2,
        "operator": [3, IGNORED] * 2,
        "answer_type": [0, IGNORED],
        "larger": [0, 1, 1] + [IGNORED] * 3,
        "match": [1, 0, 1] + [IGNORED] * 3,
    }


def test_numbers_and_pairs_read_the_states_of_their_own_pieces(bert):
    model, tokenizer = make_model("bert")
    problem_model = ProblemModel(model, Masking.of(tokenizer, 50, other_share=0.15))
    problem = make_problem("the 12 and 5", ((4, 6), (11, 12)), (12, 5), (Pair(0, 1, 2, "-"),))
    batch = problem_model.collate(
        [(0, encoded_problem(bert, 1)), (1, encode_problem(problem, bert[1], 100))]
    )
    states = torch.from_numpy(np.random.default_rng(0).random((2, 7, 4))).float()
    pooled = pool_states(states, batch)
    assert pooled["number"].shape == (5, 4)
    torch.testing.assert_close(pooled["number"][0], states[0, 1])
    torch.testing.assert_close(pooled["number"][3], states[1, 2:4].mean(dim=0))
    torch.testing.assert_close(pooled["pair"][2], torch.cat([pooled["number"][3], states[1, 5]]))
    torch.testing.assert_close(pooled["problem"][0], states[0, :5].mean(dim=0))


@pytest.mark.parametrize(
    ("text", "message"),
    [("Question,Numbers\n", "must have a column Equation"), (None, "no such file of problems")],
)
def test_bad_problems_leave_nothing_behind(text, message, tiny_models, tmp_path):
    path = tmp_path / "bad.csv"
    if text is not None:
        path.write_text(text)
    with pytest.raises(InputError, match=message):
        train_baseline(quick(tiny_models("bert"), str(path)), tmp_path / "out")
    assert not list(tmp_path.glob("out/*"))


def test_problems_with_a_number_in_a_gap_can_be_held_out(tiny_models, problems, tmp_path):
    """The fixture has n and n + 3, then n + 9 and n / 2, for n from 1 to 60; and one problem."""
    recipe = MwpBertRecipe(quick(tiny_models("bert"), problems, hold_out_gaps=True))
    recipe.load()
    recipe.prepare(tmp_path)
    data = recipe.describe()["data"]
    # Not n from 27 to 39; nor from 21 to 30, and 60.
    assert data["problems"] + data["held_out"] == (60 - 13) + (60 - 11) + 1


def test_a_problem_alone_is_too_few(tiny_models, tmp_path):
    (tmp_path / "one.csv").write_text("Question,Numbers,Equation,Answer\nx number0,1.0,number0,1")
    with pytest.raises(InputError, match="too few problems"):
        train_baseline(quick(tiny_models("bert"), str(tmp_path / "one.csv")), tmp_path / "out")
