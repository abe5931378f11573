"""What the command line shows: tables, samples and progress bars; nothing here computes."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.table import Table
from rich.text import Text

from numerate.extract import Counts
from numerate.fit import AnchorSet
from numerate.shards import PrimedCorpus
from numerate.sweep import Sweep

_ANCHOR = re.compile(r"<(?:ANC|LA|RA)> -?\d+")


@contextmanager
def show_progress(title: str, total: int | None, *, quiet: bool) -> Iterator[Callable[[int], None]]:
    """Show a bar with rate and time left on a terminal; gives the function that moves it."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    hidden = quiet or not console.is_terminal
    with Progress(*columns, console=console, disable=hidden, transient=True) as progress:
        task = progress.add_task(title, total=total)
        yield lambda position: progress.update(task, completed=position)


def show_counts(counts: Counts, *, top: int = 10) -> RenderableType:
    """Return the size of a corpus, its numerals by number of digits, and the commonest."""
    size = Table(title="Numerals", title_justify="left", show_header=False)
    size.add_column()
    size.add_column(justify="right")
    for name, number in (
        ("documents", counts.documents),
        ("words", counts.words),
        ("numerals", counts.numerals),
        ("distinct numerals", len(counts.counts)),
    ):
        size.add_row(name, f"{number:,}")

    digits = Table(title="By number of digits", title_justify="left")
    digits.add_column("digits", justify="right")
    digits.add_column("share", justify="right")
    digits.add_column("")
    shares = counts.shares_by_digits()
    for n, share in shares.items():
        digits.add_row(str(n), f"{share:.1%}", _bar(share / max(shares.values())))

    common = Table(title="Commonest", title_justify="left")
    common.add_column("numeral", justify="right")
    common.add_column("seen", justify="right")
    for value, seen in counts.most_common(top):
        common.add_row(f"{value:,}" if abs(value) >= 10_000 else str(value), f"{seen:,}")

    side_by_side = Table.grid(padding=(0, 2))
    side_by_side.add_row(Group(size, digits), common)
    return side_by_side


def show_anchors(anchors: AnchorSet) -> RenderableType:
    """Return how a fit went, and how far numerals are from their anchors."""
    fit = anchors.fit
    unit = "value" if anchors.scale == "linear" else f"{anchors.resolution:g}·(ln n + 1)"
    end = "converged" if fit["converged"] else "not converged"
    lines = [
        f"{len(anchors.values)} anchors on the {anchors.scale} scale ({unit}), from "
        f"{fit['components']:,} components on {fit['numerals']:,} numerals",
        f"{end} after {fit['iterations']} iterations; log-likelihood "
        f"{fit['log_likelihood']:.4f} per numeral, AIC {fit['aic']:,.0f}, BIC {fit['bic']:,.0f}",
        f"first {_some(anchors.values[:8])}; last {_some(anchors.values[-4:])}",
    ]
    table = Table(title="How far numerals are from their anchors", title_justify="left")
    for name in ("range", "numerals", "anchors", "distance", "in % of value"):
        table.add_column(name, justify="left" if name == "range" else "right")
    for row in fit["distances"]:
        table.add_row(
            Text(row["range"]),
            f"{row['numerals']:,}",
            f"{row['anchors']:,}",
            f"{row['distance']:,.2f}",
            f"{row['percent']:.2f}",
        )
    return Group(*lines, table)


def show_sweep(sweep: Sweep) -> RenderableType:
    """Return AIC and BIC over the number of components, the lowest in bold."""
    rows = sweep.rows
    table = Table(title=f"Components on the {sweep.scale} scale", title_justify="left")
    for name in ("K", "anchors", "steps", "log-lik.", "AIC", "BIC"):
        table.add_column(name, justify="right")
    table.add_column("BIC above best")
    lowest = {name: min(row[name] for row in rows) for name in ("aic", "bic")}
    spread = max(row["bic"] for row in rows) - lowest["bic"] or 1
    for row in rows:
        aic, bic = (
            Text(f"{row[name]:,.0f}", style="bold" if row[name] == lowest[name] else "")
            for name in ("aic", "bic")
        )
        table.add_row(
            f"{row['components']:,}",
            f"{row['anchors']:,}",
            f"{row['iterations']}" + ("" if row["converged"] else "+"),
            f"{row['log_likelihood']:.4f}",
            aic,
            bic,
            _bar((row["bic"] - lowest["bic"]) / spread, width=14),
        )
    return table


def show_primed(primed: PrimedCorpus, *, n_samples: int = 3) -> RenderableType:
    """Return what a primed corpus holds, with its first few primed lines, anchors in colour."""
    manifest = primed.manifest
    n_shards = len(manifest["shards"])
    head = (
        f"{manifest['numerals']:,} numerals primed in {manifest['documents']:,} documents: "
        f"{manifest['bytes']:,} bytes in {n_shards} shard{'s'[: n_shards != 1]}, {primed.folder}"
    )
    documents = (text for text in primed.documents() if _ANCHOR.search(text))
    return Group(Text(head), *(show_sample(text) for text in islice(documents, n_samples)))


def show_restored(primed: PrimedCorpus, files: Sequence[Path]) -> RenderableType:
    """Return which files were written without anchors, and whether they are as they once were."""
    lines = [f"{file}: {file.stat().st_size:,} bytes" for file in files]
    if primed.settings["numeral_form"] == "digits":
        lines.append(
            "Numerals were primed with --numeral-form digits: their thousands separators are gone."
        )
    return Group(*map(Text, lines))


def show_sample(text: str, *, length: int = 240) -> Text:
    """Return the beginning of a primed text, its anchors in colour."""
    shown = text if len(text) <= length else text[:length].rsplit(" ", 1)[0] + " …"
    sample = Text("• " + shown)
    sample.highlight_regex(_ANCHOR, "bold cyan")
    return sample


def _bar(share: float, width: int = 20) -> str:
    return "█" * round(width * share)


def _some(values: Sequence[int]) -> str:
    return ", ".join(map(str, values))
