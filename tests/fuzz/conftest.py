"""Valid files to damage, and the summary of `make fuzz`."""

import json
import resource
import time
from pathlib import Path

import pytest

from tests.fuzz.effort import SHARE, cases

SUMMARY = Path("results/fuzz/fuzz.json").absolute()
_MOST_MEMORY = 12 << 30  # bytes of addresses: what asks for more must say so, not fill the machine
_began = time.time()

LINES = [
    "In 1999 some 12,345 people paid $5 – 7 for 1,000,000 nuts.",
    "A line without any, then 10 % of 250 and 3.14 or 1990-95.",
    *(f"the year {1900 + n} had {n * n + 1} days of {n} hours" for n in range(1, 60)),
]


@pytest.fixture(autouse=SHARE > 0)
def bounded_memory():
    """Refuse absurd amounts of memory in `make fuzz`, and let a test run as long as it takes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, hard))
    yield
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def pytest_collection_modifyitems(items):
    if SHARE:
        for item in items:
            item.add_marker(pytest.mark.timeout(0))


def pytest_sessionfinish(session):
    if SHARE and cases:
        summary = {
            "share": SHARE,
            "cases": sum(cases.values()),
            "failed tests": session.testsfailed,
            "minutes": round((time.time() - _began) / 60, 1),
            "cases of each test": dict(sorted(cases.items())),
        }
        SUMMARY.parent.mkdir(parents=True, exist_ok=True)
        SUMMARY.write_text(json.dumps(summary, indent=2) + "\n")


def pytest_terminal_summary(terminalreporter):
    if SHARE and cases:
        terminalreporter.write_line(f"{sum(cases.values()):,} cases checked; see {SUMMARY}")


@pytest.fixture(scope="session")
def valid(tmp_path_factory):
    """A folder with a corpus, its counts, its anchors and the primed corpus."""
    from numerate import extract_counts, fit_anchors, open_corpus, prime_corpus

    folder = tmp_path_factory.mktemp("valid")
    (folder / "a.txt").write_text("\n".join(LINES), encoding="utf-8")
    corpus = open_corpus([str(folder / "a.txt")])
    counts = extract_counts(corpus)
    counts.save(folder / "counts.json")
    anchors = fit_anchors(counts, n_components=8, scale="ln")
    anchors.save(folder / "anchors.json")
    prime_corpus(corpus, anchors, folder / "primed")
    return folder


@pytest.fixture(scope="session")
def read_valid(valid):
    """Return the JSON document of one of the valid files."""
    return lambda name: json.loads((valid / name).read_bytes())
