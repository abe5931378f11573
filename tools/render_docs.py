"""Runs the commands in the README and puts their real output below them (`make readme`).

In a block that opens with ```console, every line that starts with `$ ` is a command; what follows
it is its output. All blocks run one after the other in one empty folder.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from numerate.markdown import format_table
from numerate.progress import format_seconds
from numerate.report.figures.draw import draw_chart
from tools import doc_tables as tables
from tools import scale_tables as scale
from tools import twin_tables as twins

README = Path(__file__).parents[1] / "README.md"
ROOT = README.parent
_DOCS = (
    "stages",
    "embedding",
    "searches",
    "probing",
    "leaderboard",
    "baselines",
    "reproduction",
    "demo",
    "speed",
    "scale",
)
PAGES = (README, *(ROOT / "docs" / f"{name}.md" for name in _DOCS))
RESULTS = ROOT / "benchmarks" / "results"
VARIANTS = ROOT / "results" / "pretrain"
GENBERT = ROOT / "results" / "genbert" / "curve.json"
PROBES = ROOT / "results" / "probe" / "scores.jsonl"
WIKIPEDIA = ROOT / "results" / "wikipedia"
ARXIV = ROOT / "results" / "arxiv"
ABLATION = ROOT / "results" / "ablation" / "scores.jsonl"
GAPS = ROOT / "results" / "gaps" / "scores.jsonl"
CLAIMS = ROOT / "results" / "arxiv-claims"
LISTS = ROOT / "results" / "arxiv-lists"
DEMO = ROOT / "results" / "demo"
NEIGHBOURS = ROOT / "results" / "neighbours" / "near-wikitext-2.json"
ENCODERS = ROOT / "results" / "encoders" / "all-MiniLM-L6-v2.jsonl"
LEADERBOARD = ROOT / "results" / "leaderboard"
SEARCHES = ENCODERS.with_name("all-MiniLM-L6-v2-searches.json")
SENTENCES = ROOT / "results" / "sentences" / "scores.jsonl"
_TABLE = re.compile(r"<!-- ([a-z]+) -->\n(?<!end -->\n).*?<!-- end -->", re.DOTALL)
_BLOCK = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)


def render(text: str) -> str:
    """Return the text of a README with the output of its commands as it is now."""
    with tempfile.TemporaryDirectory() as folder:
        text = _BLOCK.sub(lambda block: _run_block(block[0], folder), text)
    return _TABLE.sub(
        lambda found: f"<!-- {found[1]} -->\n{_make_table(found[1])}<!-- end -->", text
    )


def _make_table(name: str) -> str:
    makers = {
        "demo": lambda: _text_block(DEMO / "output.txt"),
        "example": lambda: _text_block(DEMO / "example.txt"),
        "minutes": _demo_sentence,
        "neighbours": lambda: tables.neighbour_table(NEIGHBOURS),
        "times": _times_table,
        "variants": _variants_table,
        "speed": _speed_table,
        "growth": scale.growth_table,
        "memory": scale.memory_table,
        "factors": scale.factors_table,
        "fits": scale.fits_table,
        "engines": scale.engines_table,
        "overhead": scale.overhead_table,
        "estimates": scale.estimates_table,
        "retrieval": lambda: tables.score_table(SENTENCES, "retrieval", "first"),
        "sentences": lambda: tables.sentence_tables(SENTENCES),
        "encoders": lambda: tables.encoder_tables(ENCODERS),
        "lengths": lambda: tables.growth_table(ENCODERS.with_name("growth.jsonl")),
        "tuned": lambda: twins.gains_table(ENCODERS, "tuned", tables.BY_RANGE[:2], "sentences"),
        "leaderboard": lambda: tables.board_tables(*sorted(LEADERBOARD.glob("*.jsonl"))),
        "texts": lambda: tables.board_tables(ENCODERS),
        "searches": lambda: tables.search_tables(SEARCHES),
        "probes": lambda: tables.task_tables(PROBES),
        "protocols": _protocol_table,
        "equals": lambda: tables.task_tables(WIKIPEDIA / "scores.jsonl", tables.is_equal),
        "recipes": lambda: tables.recipe_tables(WIKIPEDIA / "curves"),
        "longer": lambda: tables.curve_table(GENBERT, "GenBERT recipe", "eval_accuracy_"),
        "adds": lambda: tables.adds_tables(ARXIV / "scores.jsonl"),
        "gains": lambda: twins.gains_table(ARXIV / "scores.jsonl", twins.OURS),
        "ablation": lambda: twins.ablation_table(ABLATION),
        "gaps": lambda: twins.gains_table(GAPS, twins.OURS, twins.UNSEEN),
        "papers": lambda: tables.paper_tables(CLAIMS / "scores.jsonl"),
        "parts": lambda: (ARXIV / "tables" / "parts.md").read_text(),
        "claims": lambda: tables.verdict_table(CLAIMS / "tables" / "claims.md"),
        "lists": lambda: tables.verdict_table(LISTS / "tables" / "claims.md"),
    }
    return makers[name]()


def _text_block(path: Path) -> str:
    """What was printed in a fresh clone, as it was kept."""
    return f"```text\n{path.read_text()}```\n"


def _demo_sentence() -> str:
    """The duration of the demo for a newcomer, in one sentence."""
    seconds = json.loads((DEMO / "times.json").read_text())["seconds"]
    total = format_seconds(seconds["set-up"] + seconds["demo"])
    return (
        f"From a clean clone to the page the demo took {total} on two cores, "
        f"{format_seconds(seconds['set-up'])} of it to install.\n"
    )


def _times_table() -> str:
    """The duration of the parts of the demo there."""
    times = json.loads((DEMO / "times.json").read_text())
    stages: dict[str, float] = {}
    for step, seconds in times["steps"].items():
        stage = step.split("/")[0]
        stages[stage] = stages.get(stage, 0) + seconds
    durations = {
        "set-up": times["seconds"]["set-up"],
        "`make demo` after that": times["seconds"]["demo"],
        **{f"of it, {stage}": seconds for stage, seconds in stages.items()},
        "`make demo` again": times["seconds"]["demo, again"],
    }
    rows = [[what, format_seconds(seconds)] for what, seconds in durations.items()]
    return format_table(["on two cores", "time"], rows)


def _variants_table() -> str:
    """The validation of the four variants, from their training records."""
    rows = []
    for name in ("anchors", "anchors-lr", "ln-anchors", "ln-anchors-lr"):
        run = json.loads((VARIANTS / name / "run.json").read_text())
        start, end = run["validation"]["start"], run["validation"]["end"]
        losses = f"{start['eval_loss']:.2f} → {end['eval_loss']:.2f}"
        shares = [f"{end[key]:.1%}" for key in ("eval_accuracy", "eval_majority")]
        rows.append([f"`{name}`", f"{run['tokens']:,}", losses, *shares])
        rows[-1].append(f"{end['eval_distance']:.3f}")
    heads = ["variant", "tokens", "loss, before → after", "found", "commonest", "distance"]
    return format_table(heads, rows)


def _protocol_table() -> str:
    """The cost of the protocols, and how similarly laptop and strict rank the systems."""
    measured = _read_benchmark("probe")
    minutes = [[what, f"{seconds / 60:.1f}"] for what, seconds in measured["seconds"].items()]
    parts = [format_table(["on two cores", "minutes"], minutes)]
    for task, found in measured["agreement"].items():
        cells = list(found["cells"].values())
        rows = []
        for place, system in enumerate(found["systems"]):
            pairs = [(cell["laptop"][place], cell["strict"][place]) for cell in cells]
            rows.append([system, *(f"{laptop:.4f}, {strict:.4f}" for laptop, strict in pairs)])
        agreement = f"rank correlation {found['spearman']:.2f}"
        blanks = [""] * (len(cells) - 1)
        rows.append([f"the same order in {found['same order']}", agreement, *blanks])
        parts.append(format_table([f"{task}: laptop, strict", *found["cells"]], rows))
    return "\n".join(parts)


def _speed_table() -> str:
    """The speed of each stage and of its peers, from the files of the benchmarks."""
    heads = ["stage", "numerate, one core", "peer", "the peer's", "ratio"]
    return format_table(heads, [*_text_rows(), *_fit_rows(), *_model_rows()])


def _read_benchmark(name: str) -> dict[str, Any]:
    measured: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text())
    return measured


def _text_rows() -> Iterator[list[str]]:
    text = _read_benchmark("text")
    speed, ratios = text["megabytes_per_second_and_core"], text["ratios"]
    for stage, peer, ratio in (
        ("extract, integers", "word-piece tokenizer", "extract to tokenizer"),
        ("prime", "word-piece tokenizer", "prime to tokenizer"),
        ("prime", "paper's priming", "prime to paper's priming"),
    ):
        ours, theirs = f"{speed[stage]:.0f} MB/s", f"{speed[peer]:.1f} MB/s"
        yield [stage, ours, peer, theirs, f"{ratios[ratio]:.0f}"]
    integers, quantities = (f"extract, {domain}" for domain in ("integers", "quantities"))
    speeds = [f"{speed[quantities]:.0f} MB/s", integers, f"{speed[integers]:.1f} MB/s"]
    yield [quantities, *speeds, f"{1 / ratios['integers to quantities']:.2f}"]


def _fit_rows() -> Iterator[list[str]]:
    fit = _read_benchmark("fit")
    ours, theirs, ratios = fit["numerate"], fit["scikit-learn"], fit["ratios"]
    seconds = [f"{1e3 * ours['seconds']:.1f} ms", "scikit-learn", f"{theirs['seconds']:.0f} s"]
    yield ["fit, an iteration", *seconds, f"{ratios['seconds per iteration']:,.0f}"]
    memory = [f"{one['peak_bytes'] / 1e6:,.0f} MB" for one in (ours, theirs)]
    yield ["fit, peak memory", memory[0], "scikit-learn", memory[1], f"{ratios['peak memory']:.0f}"]


def _model_rows() -> Iterator[list[str]]:
    train = _read_benchmark("pretrain")
    tokens = train["useful_tokens_per_second"]
    for peer, ratio in (("a: padded lines, whole head", "to a"), ("b: packed, whole head", "to b")):
        ours, theirs = f"{tokens['numerate']:,.0f} tokens/s", f"{tokens[peer]:,.0f} tokens/s"
        yield ["pretrain, both cores", ours, peer[3:], theirs, f"{train['ratios'][ratio]:.1f}"]
    for what, measured in _read_benchmark("precision").items():
        if isinstance(measured, dict) and "useful_tokens_per_second" in measured:
            _, theirs, ours = measured["useful_tokens_per_second"].values()
            speeds = [
                f"{ours:,.0f} tokens/s",
                "PyTorch's attention in bf16",
                f"{theirs:,.0f} tokens/s",
            ]
            yield [f"{what}, in bf16, both cores", *speeds, f"{ours / theirs:.1f}"]
    tune = _read_benchmark("tune")
    ours, theirs = (f"{speed:,.0f} tokens/s" for speed in tune["tokens_per_second"].values())
    peer = "sentence-transformers, padded columns"
    yield ["tune, a step of the same texts", ours, peer, theirs, f"{tune['ratio']:.1f}"]
    encode = tune["encode"]
    longer = f"encode {encode['texts']} texts, {encode['tokens']:.2f} times the tokens"
    theirs = f"{encode['seconds, published']:.1f} s"
    ours = f"{encode['seconds, published'] * encode['seconds']:.1f} s"
    yield [longer, ours, "the published encoder", theirs, f"{1 / encode['seconds']:.2f}"]
    for name, row in _read_benchmark("embed")["sets"].items():
        seconds = row["seconds"]
        what = f"embed {row['numerals']:,} numerals from {name} ({row['distinct']:,} distinct)"
        ours, theirs = f"{seconds['numerate']:.1f} s", f"{seconds['one by one']:.0f} s"
        yield [f"{what}, both cores", ours, "one by one", theirs, f"{row['ratio']:.0f}"]


def _run_block(block: str, folder: str) -> str:
    commands = [line for line in block.split("\n") if line.startswith("$ ")]
    return "".join(f"{command}\n{_run(command[2:], folder)}" for command in commands)


def _run(command: str, folder: str) -> str:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "COLUMNS": "80", "NO_COLOR": "1"}
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=True,
    )
    lines = [line.rstrip() for line in done.stdout.decode().splitlines()]
    return "".join(f"{line}\n" for line in lines)


if __name__ == "__main__":
    draw_chart(scale.chart_scale(), ROOT / "docs" / "figures" / "scale.svg")
    for page in PAGES:
        page.write_text(render(page.read_text()))
