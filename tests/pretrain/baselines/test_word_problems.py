import json

import pytest

from numerate.errors import InputError
from numerate.pretrain.baselines.solution_trees import (
    Node,
    Pair,
    find_pairs,
    parse_calls,
    parse_steps,
)
from numerate.pretrain.baselines.word_problems import read_problems

HEADER = "Question,Numbers,Equation,Answer\n"


def read_csv(tmp_path, *rows):
    path = tmp_path / "problems.csv"
    path.write_text(HEADER + "\n".join(rows))
    return read_problems(path)


def test_a_problem_of_a_table_has_its_numbers_in_the_text(tmp_path):
    [problem] = read_csv(
        tmp_path,
        "A jar has number0 nuts and number1 kg of number2 seeds .,8.0 2.5 1000.0,"
        "- number0 number1,5.5",
    )
    assert problem.text == "A jar has 8 nuts and 2.5 kg of 1000 seeds ."
    assert [problem.text[slice(*span)] for span in problem.spans] == ["8", "2.5", "1000"]
    assert problem.values == (8, 2.5, 1000)
    assert problem.pairs == (Pair(0, 1, 2, "-"),)
    assert problem.answer == 5.5


def test_numbers_are_in_the_order_of_the_text(tmp_path):
    [problem] = read_csv(tmp_path, "Of number1 nuts he ate number0 .,3.0 9.0,- number1 number0,6")
    assert problem.values == (9, 3)
    assert problem.pairs == (Pair(0, 1, 2, "-"),)


# By hand: edges between two leaves, and the operation where their ways meet.
@pytest.mark.parametrize(
    ("equation", "pairs"),
    [
        ("+ number0 number1", {(0, 1): (2, "+")}),
        ("* number0 + number1 number2", {(0, 1): (3, "*"), (0, 2): (3, "*"), (1, 2): (2, "+")}),
        (
            "/ + number0 number1 - number2 number3",
            {
                (0, 1): (2, "+"),
                (0, 2): (4, "/"),
                (0, 3): (4, "/"),
                (1, 2): (4, "/"),
                (1, 3): (4, "/"),
                (2, 3): (2, "-"),
            },
        ),
        (
            "* / number0 + + number1 number0 number2 100.0",
            {(0, 1): (2, "+"), (0, 2): (3, "/"), (1, 2): (3, "+")},  # a tie: the left one
        ),
        ("* number0 12.0", {}),
        ("- number2 number0", {(0, 2): (2, "-")}),
    ],
)
def test_distances_and_operators_are_those_of_the_solution_tree(equation, pairs, tmp_path):
    question = "number0 number1 number2 number3"
    [problem] = read_csv(tmp_path, f"{question},1.0 2.0 3.0 4.0,{equation},5")
    found = {(p.first, p.second): (p.distance, p.operator) for p in problem.pairs}
    assert found == pairs


MATHQA = {
    "Problem": "a train of 1,200 m passes a pole in 7.5 seconds ; 3 of 4 see it",
    "Rationale": "…",
    "options": "a ) 38 , b ) rs . 27.5 , c ) none of these",
    "correct": "b",
    "annotated_formula": "divide(n0, multiply(n1, sqrt(const_2)))",
    "linear_formula": "sqrt(const_2)|multiply(n1,#0)|divide(n0,#1)|",
}


def test_a_problem_of_mathqa(tmp_path):
    path = tmp_path / "problems.json"
    without = {k: v for k, v in MATHQA.items() if k != "annotated_formula"}
    path.write_text(json.dumps([MATHQA, without, {**MATHQA, "correct": "c"}]))
    problem, by_steps, unanswered = read_problems(path)
    assert problem.values == (1200, 7.5, 3, 4)
    assert [problem.text[slice(*span)] for span in problem.spans] == ["1,200", "7.5", "3", "4"]
    assert problem.pairs == (Pair(0, 1, 3, "/"),)
    assert problem.answer == 27.5
    assert by_steps == problem
    assert unanswered.answer is None


def test_an_operation_that_is_none_of_the_five_has_a_distance_but_no_operator():
    tree = parse_calls("add(circle_area(n0), max(n1, n2))", 3)
    assert find_pairs(tree) == (Pair(0, 1, 4, "+"), Pair(0, 2, 4, "+"), Pair(1, 2, 2, None))


def test_a_number_that_the_text_lacks_is_a_constant():
    assert parse_calls("add(n0, n7)", 2) == Node("+", (0, None))
    assert parse_steps("power(n0,n7)", 2) == Node("^", (0, None))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "a.csv",
            "Question,Numbers\nx,1",
            "a.csv: must have a column Equation; its columns are Question, Numbers",
        ),
        ("a.csv", "", "a.csv: must have a column Question; its columns are none"),
        (
            "a.csv",
            HEADER + "x number0,1.0,+ number0 2.0,3\nx,y,z,1",
            "a.csv, row 3: Numbers must be like 8 2.5, got 'y'",
        ),
        ("a.csv", HEADER + "x number1,1.0,+ number0 2.0,3", "row 2: number1 has no value among 1"),
        ("a.csv", HEADER + "x number0,1.0,+ number0,3", "row 2: the equation ends too early"),
        ("a.csv", HEADER + "x number0,1.0,number0 2.0,3", "the equation continues after its end"),
        (
            "a.csv",
            HEADER + "x number0,1.0,+ number0 2.0,many",
            "row 2: Answer must be a number, got 'many'",
        ),
        (
            "a.csv",
            HEADER + "x number0,nan,+ number0 2.0,3",
            "Numbers must be like 8 2.5, got 'nan'",
        ),
        (
            "a.csv",
            HEADER + "x number0,1.0,+ N_00 2.0,3",
            "row 2: Equation must be in prefix form like - number0 2.5, got 'N_00'",
        ),
        (
            "a.csv",
            HEADER + f"x number0,1.0,{'+ ' * 5000}number0,3",
            "a.csv, row 2: the solution is nested too deep",
        ),
        ("a.csv", HEADER + "x number0", "a.csv, row 2: has no field 'Numbers'"),
        ("a.csv", b"\xff\xfe", "a.csv: cannot be read"),
        ("a.json", "{", "a.json: not valid JSON"),
        ("a.json", "{}", "a.json: must be a list of problems, got dict"),
        ("a.json", "[" * 100_000, "a.json: not valid JSON"),
        ("a.json", "[1]", "a.json, problem 1: a problem must be an object, got int"),
        ("a.json", '[{"Problem": null}]', "problem 1: has no field 'Problem'"),
        ("a.json", '[{"Problem": [5]}]', "problem 1: Problem must be text, got [5]"),
        ("a.json", '[{"Problem": "1", "linear_formula": "add(#x,n0)"}]', "before it is computed"),
        ("a.json", '[{"Problem": "1"}]', "problem 1: has no field 'linear_formula'"),
        ("a.json", '[{"Problem": "1", "annotated_formula": "add(n0, "}]', "ends too early"),
        (
            "a.json",
            '[{"Problem": "1", "annotated_formula": "add(n0) x"}]',
            "continues after its end",
        ),
        ("a.json", '[{"Problem": "1", "annotated_formula": "a$"}]', "the formula cannot be read"),
        ("a.json", '[{"Problem": "1", "linear_formula": "add(#1,n0)"}]', "before it is computed"),
        ("a.json", '[{"Problem": "1", "linear_formula": "add"}]', "the step cannot be read"),
        ("a.txt", "", "a.txt: problems must be a .csv or .json file"),
    ],
)
def test_what_cannot_be_read_is_one_line(name, text, message, tmp_path):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError) as told:
        read_problems(path)
    assert message in str(told.value)
    assert "\n" not in str(told.value)
    with pytest.raises(InputError, match="no such file of problems"):
        read_problems(tmp_path / "nosuch.csv")
