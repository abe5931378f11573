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
from pathlib import Path

from numerate.progress import tell_seconds
from tools import doc_tables as tables

README = Path(__file__).parents[1] / "README.md"
PAGES = (
    README,
    *(
        README.parent / "docs" / f"{name}.md"
        for name in ("stages", "embedding", "probing", "baselines", "reproduction")
    ),
)
RESULTS = README.parent / "benchmarks" / "results"
VARIANTS = README.parent / "results" / "pretrain"
GENBERT = README.parent / "results" / "genbert" / "curve.json"
PROBES = README.parent / "results" / "probe" / "scores.jsonl"
WIKIPEDIA = README.parent / "results" / "wikipedia"
LONGER = README.parent / "results" / "longer"
SPREAD = README.parent / "results" / "tries" / "spread" / "scores.jsonl"
DEMO = README.parent / "results" / "demo"
SENTENCES = README.parent / "results" / "sentences" / "scores.jsonl"
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
        "demo": _demo_block,
        "times": _times_table,
        "variants": _variants_table,
        "speed": _speed_table,
        "retrieval": lambda: tables.score_table(SENTENCES, "retrieval", "first"),
        "sentences": lambda: tables.sentence_tables(SENTENCES),
        "probes": lambda: tables.task_tables(PROBES),
        "protocols": _protocol_table,
        "equals": lambda: tables.task_tables(WIKIPEDIA / "scores.jsonl", tables.is_equal),
        "recipes": lambda: tables.recipe_tables(WIKIPEDIA / "curves"),
        "longer": lambda: tables.curve_table(GENBERT, "GenBERT recipe", "eval_accuracy_"),
        "glance": lambda: tables.glance_table(WIKIPEDIA / "scores.jsonl"),
        "targets": lambda: tables.target_tables(WIKIPEDIA / "scores.jsonl"),
        "systems": lambda: tables.task_tables(WIKIPEDIA / "scores.jsonl"),
        "strict": lambda: tables.target_tables(WIKIPEDIA / "strict.jsonl"),
        "twenty": lambda: tables.target_tables(WIKIPEDIA / "twenty.jsonl"),
        "leaking": lambda: tables.target_tables(WIKIPEDIA / "paper.jsonl"),
        "leaky": lambda: tables.target_tables(WIKIPEDIA / "leaky.jsonl"),
        "million": lambda: tables.longer_tables(
            WIKIPEDIA / "scores.jsonl", LONGER / "scores.jsonl", SPREAD
        ),
        "given": lambda: tables.given_tables(WIKIPEDIA / "scores.jsonl"),
        "claims": lambda: (WIKIPEDIA / "tables" / "claims.md").read_text(),
    }
    return makers[name]()


def _demo_block() -> str:
    """What the demo printed when it was run in a fresh clone."""
    return f"```text\n{(DEMO / 'output.txt').read_text()}```\n"


def _times_table() -> str:
    """How long the parts of the demo took there."""
    times = json.loads((DEMO / "times.json").read_text())
    lines = ["| on two cores | time |", "|---|---|"]
    lines.append(f"| set-up | {tell_seconds(times['seconds']['set-up'])} |")
    lines.append(f"| `make demo` after that | {tell_seconds(times['seconds']['demo'])} |")
    for stage in dict.fromkeys(name.split("/")[0] for name in times["steps"]):
        taken = sum(s for name, s in times["steps"].items() if name.split("/")[0] == stage)
        lines.append(f"| of it, {stage} | {tell_seconds(taken)} |")
    lines.append(f"| `make demo` again | {tell_seconds(times['seconds']['demo, again'])} |")
    return "\n".join(lines) + "\n"


def _variants_table() -> str:
    """What the runs of the four variants say of themselves."""
    head = "| variant | tokens | loss, before → after | found | commonest | distance |"
    lines = [head, "|---|---|---|---|---|---|"]
    for name in ("anchors", "anchors-lr", "ln-anchors", "ln-anchors-lr"):
        run = json.loads((VARIANTS / name / "run.json").read_text())
        start, end = run["validation"]["start"], run["validation"]["end"]
        lines.append(
            f"| `{name}` | {run['tokens']:,} | {start['eval_loss']:.2f} → {end['eval_loss']:.2f} "
            f"| {end['eval_accuracy']:.1%} | {end['eval_majority']:.1%} "
            f"| {end['eval_distance']:.3f} |"
        )
    return "\n".join(lines) + "\n"


def _protocol_table() -> str:
    """What the protocols cost, and how alike laptop and strict order the systems."""
    measured = json.loads((RESULTS / "probe.json").read_text())
    lines = ["| on two cores | minutes |", "|---|---|"]
    lines += [f"| {what} | {s / 60:.1f} |" for what, s in measured["seconds"].items()]
    for task, found in measured["agreement"].items():
        lines += ["", f"| {task}: laptop, strict | {' | '.join(found['cells'])} |"]
        lines.append(f"|---|{'---|' * len(found['cells'])}")
        for place, system in enumerate(found["systems"]):
            values = [(c["laptop"][place], c["strict"][place]) for c in found["cells"].values()]
            lines.append(f"| {system} | {' | '.join(f'{a:.4f}, {b:.4f}' for a, b in values)} |")
        lines.append(
            f"| the same order in {found['same order']} | rank correlation "
            f"{found['spearman']:.2f} {'| ' * (len(found['cells']) - 1)}|"
        )
    return "\n".join(lines) + "\n"


def _speed_table() -> str:
    """What the benchmarks measured, from the files that they wrote."""
    text, fit, train, embed = (
        json.loads((RESULTS / f"{name}.json").read_text())
        for name in ("text", "fit", "pretrain", "embed")
    )
    speed, ours, theirs = (
        text["megabytes_per_second_and_core"],
        fit["numerate"],
        fit["scikit-learn"],
    )
    rows = [
        (
            "extract",
            f"{speed['extract']:.0f} MB/s",
            "word-piece tokenizer",
            speed,
            "extract to tokenizer",
        ),
        (
            "prime",
            f"{speed['prime']:.0f} MB/s",
            "word-piece tokenizer",
            speed,
            "prime to tokenizer",
        ),
        (
            "prime",
            f"{speed['prime']:.0f} MB/s",
            "paper's priming",
            speed,
            "prime to paper's priming",
        ),
    ]
    lines = ["| stage | numerate, one core | peer | the peer's | ratio |", "|---|---|---|---|---|"]
    lines += [
        f"| {stage} | {mine} | {peer} | {peers[peer]:.1f} MB/s | {text['ratios'][ratio]:.0f} |"
        for stage, mine, peer, peers, ratio in rows
    ]
    lines += [
        f"| fit, an iteration | {1e3 * ours['seconds']:.1f} ms | scikit-learn "
        f"| {theirs['seconds']:.0f} s | {fit['ratios']['seconds per iteration']:,.0f} |",
        f"| fit, peak memory | {ours['peak_bytes'] / 1e6:.0f} MB | scikit-learn "
        f"| {theirs['peak_bytes'] / 1e6:,.0f} MB | {fit['ratios']['peak memory']:.0f} |",
    ]
    tokens = train["useful_tokens_per_second"]
    for peer, ratio in (("a: padded lines, whole head", "to a"), ("b: packed, whole head", "to b")):
        lines.append(
            f"| pretrain, both cores | {tokens['numerate']:,.0f} tokens/s | {peer[3:]} "
            f"| {tokens[peer]:,.0f} tokens/s | {train['ratios'][ratio]:.1f} |"
        )
    for name, row in embed["sets"].items():
        mine, theirs = row["seconds"]["numerate"], row["seconds"]["one by one"]
        what = f"{row['numerals']:,} numerals from {name} ({row['distinct']:,} distinct)"
        lines.append(
            f"| embed {what}, both cores | {mine:.1f} s "
            f"| one by one | {theirs:.0f} s | {row['ratio']:.0f} |"
        )
    return "\n".join(lines) + "\n"


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
    for page in PAGES:
        page.write_text(render(page.read_text()))
