import re

from tests.readme import README, render


def test_the_output_shown_is_what_the_commands_print():
    text = README.read_text()
    assert text.count("```console") >= 3
    assert all(f"<!-- {table} -->\n| " in text for table in ("variants", "speed"))
    assert render(text) == text


def test_the_python_shown_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```$", README.read_text(), re.MULTILINE | re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})


def test_the_layout_shown_is_the_one_there_is():
    tree = README.read_text().split("    src/numerate/", 1)[1].split("\n\n", 1)[0]
    shown = set(re.findall(r"[a-z_]+\.py", tree))
    folder = README.parent / "src" / "numerate"
    hidden = {"__init__.py", "__main__.py"}
    assert shown == {path.name for path in folder.glob("*.py")} - hidden
