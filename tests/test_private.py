"""What is published of a run, its model card and its page, names no home folder and no user."""

from pathlib import Path

import pytest

from numerate import extract_counts, fit_anchors, open_corpus, prime_corpus
from numerate.files import hide_home
from numerate.models.names import SystemName
from numerate.pretrain.train import pretrain_model
from numerate.probe.scores import Score, append_scores
from numerate.report.leaderboard import write_leaderboard
from numerate.report.write import write_report
from tests.pretraining import quick_config
from tests.run_folder import make_run

USER = "annabel"


@pytest.fixture
def home(tmp_path, monkeypatch):
    """The home folder of a user."""
    folder = tmp_path / "home" / USER
    folder.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(folder))
    return folder


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("`/home/ann/a b/c.txt`", "`~/a b/c.txt`"),
        ("digits:/Users/ann/model, /root/x", "digits:~/model, ~/x"),
        ("C:\\Users\\ann\\x", "~\\x"),
        ("file:///home/ann/x", "file://~/x"),
        ("/rooted/x and a/root/x and /data/home/x", "/rooted/x and a/root/x and /data/home/x"),
        ("https://example.org/home/page", "https://example.org/home/page"),
    ],
)
def test_home_folders_are_hidden(text, shown):
    assert hide_home(text) == shown


def test_the_title_of_a_system_names_no_home(home):
    system = SystemName.parse(f"digits:{home}/model")
    assert (system.title, system.path) == ("digits:~/model", f"{home}/model")
    assert SystemName.parse(f"ours={home}/model").title == "ours"


def test_a_model_card_names_no_home(home, tiny_models):
    base = Path(home, "base")
    base.symlink_to(tiny_models("bert"))
    lines = [f"in the year {1900 + n} some {n * n + 1:,} people came" for n in range(1, 90)]
    (home / "a.txt").write_text("\n".join(lines))
    corpus = open_corpus([str(home / "a.txt")])
    anchors = fit_anchors(extract_counts(corpus), n_components=8)
    primed = prime_corpus(corpus, anchors, home / "primed")
    pretrain_model(primed, quick_config(base, epochs=1), home / "model")
    card = (home / "model" / "README.md").read_text()
    assert "~/a.txt" in card
    assert "~/base" in card
    assert USER not in card


def test_a_page_names_no_home(home):
    folder = make_run(home / "run")
    page = write_report(folder)
    for path in (page, *(folder / "report" / "tables").iterdir()):
        assert USER not in path.read_text(encoding="utf-8")


def test_a_leaderboard_names_no_home(home):
    place = {"task": "decoding", "domain": "line", "range": "all", "protocol": "laptop", "seed": 0}
    system = str(home / "model")
    score = Score(system=system, metric="log-rmse", value=0.1, **place)
    append_scores(home / "s.jsonl", [score])
    page = write_leaderboard([home / "s.jsonl"], home / "board")
    for path in page.parent.glob("*.*"):
        assert USER not in path.read_text(encoding="utf-8")
        assert "~/model" in path.read_text(encoding="utf-8")
