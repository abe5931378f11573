"""JSON Lines and Parquet through prime and back: what is not kept is said before."""

import json
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet

from numerate.fit.anchors import AnchorSet

NOTE = "Only the text of each record (field 'text') is primed; other fields are left out and --undo"
NOTE += " does not bring them back, so keep "
RESTORED = "Of records, the text alone was primed: their other fields are not restored."


@pytest.fixture
def work(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    AnchorSet("ln", (10, 86, 104)).save(tmp_path / "anchors.json")
    return tmp_path


def prime(run, name, *options):
    return run("prime", name, "--anchors", "anchors.json", "--out", "p", "--workers", 1, *options)


@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet"])
def test_other_fields_are_left_out_and_that_is_said_before(run, work, name):
    records = [{"id": n, "text": f"in {1990 + n} 12,345 \U0001f600"} for n in range(5)]
    if name == "a.jsonl":
        Path(name).write_text("\n".join(map(json.dumps, records)))
    else:
        parquet.write_table(pyarrow.Table.from_pylist(records), name)
    code, out, err = prime(run, name)
    assert (code, err) == (0, "")
    assert out.startswith(f"{NOTE}{name}\n10 numerals primed")
    assert RESTORED in run("prime", "p", "--undo", "--out", "back")[1].replace("\n", " ")
    back = Path("back/a.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in back] == [{"text": row["text"]} for row in records]


def test_what_is_left_out_is_said_before_the_first_record_is_read(run, work):
    Path("a.jsonl").write_text("no record")
    code, out, err = prime(run, "a.jsonl")
    assert (code, out) == (2, f"{NOTE}a.jsonl\n")
    assert err.startswith("numerate: a.jsonl, line 1: ")
    assert prime(run, "a.jsonl", "--quiet")[1] == ""


def test_plain_text_is_kept_as_it_is_without_a_note(run, work):
    Path("a.txt").write_text("in 1999")
    assert prime(run, "a.txt")[1].startswith("1 numerals primed")


@pytest.mark.parametrize("command", ["extract", "prime"])
def test_half_of_a_character_is_refused_or_replaced(run, work, command):
    Path("a.jsonl").write_text('{"text": "in 1999"}\n{"text": "5 \\ud800 7"}\n')
    rest = {"extract": ("--out", "p"), "prime": ("--anchors", "anchors.json", "--out", "p")}
    code, _, err = run(command, "a.jsonl", "--workers", 1, *rest[command])
    assert (code, err) == (
        2,
        "numerate: a.jsonl, line 2: half of a character ('\\ud800'), which is not UTF-8; mend the "
        "file, or read it with --errors replace\n",
    )
    assert not Path("p").exists()
    assert run(command, "a.jsonl", "--workers", 1, *rest[command], "--errors", "replace")[0] == 0
    if command == "prime":
        assert run("prime", "p", "--undo", "--out", "back", "-q") == (0, "", "")
        assert "5 \ufffd 7" in Path("back/a.jsonl").read_text(encoding="utf-8")
