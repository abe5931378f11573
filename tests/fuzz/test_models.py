"""Model folders with a damaged config, tokenizer or weights."""

import json
import shutil
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.commands import check, working_folder
from tests.fuzz.effort import fuzz
from tests.fuzz.mutations import changed_bytes, changed_json

FILES = ["config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors"]


@fuzz(10, 2000)
@given(st.data())
def test_model_folders(anchored_models, data):
    name = data.draw(st.sampled_from(FILES))
    with working_folder():
        shutil.copytree(anchored_models("bert"), "model")
        path = Path("model", name)
        valid = path.read_bytes()
        changes = changed_json(json.loads(valid)) if ".json" in name else changed_bytes(valid)
        path.write_bytes(data.draw(changes))
        check("embed", "model", "1999", "12,345", "--out", "v.npz", "-q")


PROBLEMS = [
    "Question,Numbers,Equation,Answer",
    "A jar has number0 nuts and number1 kg .,8.0 2.5,- number0 number1,5.5",
    "Of number1 nuts he ate number0 .,3.0 9.0,- number1 number0,6",
]
CALLED = [
    {
        "Problem": "a man bought 5 nuts for 20",
        "annotated_formula": "divide(n1, n0)",
        "options": "a ) 4 , b ) 5",
        "correct": "a",
    },
    {"Problem": "6 of 7", "linear_formula": "add(n0,n1)|", "options": "a ) 13", "correct": "a"},
]


@fuzz(6, 800)
@given(st.data())
def test_word_problems(tiny_models, data):
    suffix = data.draw(st.sampled_from([".csv", ".json"]))
    valid = "\n".join(PROBLEMS).encode()
    with working_folder():
        changes = changed_bytes(valid) if suffix == ".csv" else changed_json(CALLED)
        Path("problems").with_suffix(suffix).write_bytes(data.draw(changes))
        check(
            *("baseline", "mwp-bert", "--base", tiny_models("bert"), "--problems"),
            *(f"problems{suffix}", "--max-tokens", 200, "--out", "new", "-q"),
        )
