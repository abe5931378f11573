"""Tables and samples that the commands print."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from numerate.cli.arguments import path_line
from numerate.extract.counts import Counts
from numerate.extract.sources import find_kind
from numerate.fit.anchors import AnchorSet
from numerate.fit.fitting import Sweep
from numerate.models.card import describe_distance
from numerate.prime.primed_corpus import PrimedCorpus

if TYPE_CHECKING:
    from numerate.embed.encoder import Encoder, Vectors
    from numerate.embed.neighbours import Neighbour
    from numerate.options import Anchor

_ANCHOR = re.compile(r"<(?:ANC|LA|RA|EXP)> -?\d+")


def start_table(title: str, *left: str, right: Sequence[str] = ()) -> Table:
    """Return an empty table with columns that are aligned left, then right."""
    table = Table(title=title, title_justify="left")
    for name in left:
        table.add_column(name)
    for name in right:
        table.add_column(name, justify="right")
    return table


def show_counts(counts: Counts) -> RenderableType:
    """Return the size of a corpus, its numerals by number of digits, and the most common ones."""
    size = start_table("Numerals", "", right=("",))
    size.show_header = False
    for name, number in (
        ("documents", counts.documents),
        ("words", counts.words),
        ("numerals", counts.numerals),
        ("bins of numerals" if counts.bins else "distinct numerals", len(counts.counts)),
    ):
        size.add_row(name, f"{number:,}")

    digits = start_table("By number of digits", right=("digits", "share"))
    digits.add_column("")
    shares = counts.shares_by_digits()
    for n, share in shares.items():
        digits.add_row(str(n), f"{share:.1%}", _bar(share / max(shares.values())))

    common = start_table("Most common", right=("numeral", "seen"))
    for value, seen in counts.most_common(10):
        common.add_row(f"{value:,}" if abs(value) >= 10_000 else str(value), f"{seen:,}")

    side_by_side = Table.grid(padding=(0, 2))
    side_by_side.add_row(Group(size, digits), common)
    return side_by_side


def show_anchors(anchors: AnchorSet) -> RenderableType:
    """Return a summary of a fit, and the distances of numerals to their anchors."""
    first, last = (", ".join(map(str, part)) for part in (anchors.values[:8], anchors.values[-4:]))
    columns = ("numerals", "anchors", "distance", "in % of value")
    table = start_table("Distance of numerals to their anchors", "range", right=columns)
    for row in anchors.fit["distances"]:
        table.add_row(
            Text(row["range"]),
            f"{row['numerals']:,}",
            f"{row['anchors']:,}",
            f"{row['distance']:,.2f}",
            f"{row['percent']:.2f}",
        )
    return Group(*_describe_fit(anchors), f"first {first}; last {last}", table)


def _describe_fit(anchors: AnchorSet) -> list[str]:
    fit, n_anchors = anchors.fit, len(anchors.values)
    if anchors.scale == "log10":
        return [f"{n_anchors} anchors on the log10 scale: exponents, which need no mixture"]
    unit = "value" if anchors.scale == "linear" else f"{anchors.resolution:g}·(ln n + 1)"
    end = "converged" if fit["converged"] else "not converged"
    return [
        f"{n_anchors} anchors on the {anchors.scale} scale ({unit}), from "
        f"{fit['components']:,} components on {fit['numerals']:,} numerals",
        f"{end} after {fit['iterations']} iterations; log-likelihood "
        f"{fit['log_likelihood']:.4f} per numeral, AIC {fit['aic']:,.0f}, BIC {fit['bic']:,.0f}",
    ]


def show_sweep(sweep: Sweep) -> RenderableType:
    """Return AIC and BIC for each number of components, the lowest in bold."""
    rows = sweep.rows
    columns = ("K", "anchors", "steps", "log-lik.", "AIC", "BIC")
    table = start_table(f"Components on the {sweep.scale} scale", right=columns)
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


def show_primed(primed: PrimedCorpus) -> RenderableType:
    """Return the size of a primed corpus, and its first primed lines with anchors in colour."""
    manifest = primed.manifest
    n_shards = len(manifest["shards"])
    shards = "shard" if n_shards == 1 else "shards"
    head = (
        f"{manifest['numerals']:,} numerals primed in {manifest['documents']:,} documents: "
        f"{manifest['bytes']:,} bytes in {n_shards} {shards}, {primed.folder}"
    )
    documents = (text for text in primed.documents() if _ANCHOR.search(text))
    samples = [show_sample(text) for text in islice(documents, 3)]
    return Group(Text(head), *samples)


def show_left_out(sources: Iterable[str], field: str) -> RenderableType:
    """Return a note on what priming loses of records, for before it; nothing for plain text."""
    name = next((name for name in sources if _has_records(name)), None)
    if name is None:
        return Group()
    return path_line(
        f"Only the text of each record (field {field!r}) is primed; other fields are left out and "
        f"--undo does not bring them back, so keep {name}"
    )


def _has_records(source: str) -> bool:
    """Return whether a source has records, which may have other fields than their text."""
    return source.startswith("hf:") or find_kind(source) != "text"


def show_run(run: Mapping[str, Any], folder: Path) -> RenderableType:
    """Return the length and speed of a training, and its validation before and after."""
    before, after = run["validation"]["start"], run["validation"]["end"]
    lines = [_describe_length(run, folder)]
    if run["fresh_weights"]:
        lines.append(f"{run['config']['base']} has no {run['kind']}-LM head; a new one was trained")
    what = "masked anchors" if run["kind"] == "masked" else "anchors"
    title = f"On {after['eval_anchors']:,} {what} of held-out text"
    table = start_table(title, "", right=("before", "after"))
    for name, key, form in (
        ("loss per piece", "eval_loss", ".3f"),
        ("anchors found", "eval_accuracy", ".1%"),
        ("anchors said, greedy", "eval_said", ".1%"),
        ("predictions that are numbers", "eval_readable", ".1%"),
        ("share of the most common anchor", "eval_majority", ".1%"),
    ):
        if key in after:
            table.add_row(name, format(before[key], form), format(after[key], form))
    table.add_row("mean distance in ln units", *map(describe_distance, (before, after)))
    return Group(*map(Text, lines), table)


def show_baseline(run: Mapping[str, Any], folder: Path) -> RenderableType:
    """Return the length and speed of a baseline's training, and its validation before and after."""
    before, after = run["validation"]["start"], run["validation"]["end"]
    table = start_table(f"{run['title']}, held out", "", right=("before", "after"))
    for name in filter(lambda key: key.startswith("eval_"), after):
        form = ".1%" if "accuracy" in name else ".3f"
        label = name.removeprefix("eval_").replace("_", " ")
        table.add_row(label, format(before[name], form), format(after[name], form))
    return Group(Text(_describe_length(run, folder)), table)


def show_tuned(run: Mapping[str, Any], folder: Path) -> RenderableType:
    """Return the length and speed of a tuning, and its validation before and after."""
    before, after = run["validation"]["start"], run["validation"]["end"]
    table = start_table("On sentences held out", "", right=("before", "after"))
    for name, key, form in (
        ("nearest version has the nearest number", "eval_accuracy", ".1%"),
        ("cosine of kept texts with what they were", "eval_keep", ".4f"),
    ):
        table.add_row(name, format(before[key], form), format(after[key], form))
    return Group(Text(_describe_length(run, folder)), table)


def _describe_length(run: Mapping[str, Any], folder: Path) -> str:
    speed = run["tokens"] / max(run["seconds_training"], 1e-9)
    return f"{run['tokens']:,} tokens in {run['steps']:,} steps, {speed:,.0f} tokens/s: {folder}"


def show_vectors(
    encoder: "Encoder",
    inputs: Sequence[str],
    vectors: "Vectors",
    anchor: "Anchor | None",
    out: Path | None,
) -> RenderableType:
    """Return the text that the model was shown, and the cosines of the first vectors."""
    most = 8
    few = vectors[:most].astype(float)
    norms = (few**2).sum(axis=1) ** 0.5
    cosine = few @ few.T / norms / norms[:, None]
    table = start_table("Cosines", "shown to the model")
    for name in inputs[:most]:
        table.add_column(Text(_shorten(name, 12)), justify="right")
    for primed, row in zip(encoder.show(inputs[:most], anchor), cosine, strict=True):
        table.add_row(Text(_shorten(primed.text, 40)), *(f"{value:.3f}" for value in row))
    more = f", the first {most} below" if len(inputs) > most else ""
    where = f" in {out}" if out else ""
    head = f"{len(inputs):,} vectors of {vectors.shape[1]} numbers{where}{more}"
    return Group(Text(head), table)


def show_similar(numeral: str, neighbours: "Sequence[Neighbour]") -> RenderableType:
    """Return the nearest neighbours of a numeral, and the rank of each by value."""
    columns = ("", "numeral", "cosine", "by value")
    table = start_table(f"Most similar to {numeral}", right=columns)
    for place, row in enumerate(neighbours, 1):
        table.add_row(str(place), row.numeral, f"{row.cosine:.4f}", f"{row.nearer + 1:,}")
    note = "by value: the rank of the numeral by |ln a - ln b|"
    return Group(table, Text(note, style="dim"))


def show_restored(primed: PrimedCorpus, files: Sequence[Path]) -> RenderableType:
    """Return the files that were restored, and a note if they differ from the original ones."""
    lines = [f"{file}: {file.stat().st_size:,} bytes" for file in files]
    if primed.settings["numeral_form"] == "digits":
        lines.append(
            "Numerals were primed with --numeral-form digits: their thousands separators are gone."
        )
    if any(_has_records(source["name"]) for source in primed.settings["sources"]):
        lines.append("Of records, the text alone was primed: their other fields are not restored.")
    return Group(*map(Text, lines))


def show_sample(text: str) -> Text:
    """Return the beginning of a primed text, its anchors in colour."""
    length = 240
    shown = text if len(text) <= length else text[:length].rsplit(" ", 1)[0] + " …"
    sample = Text("• " + shown)
    sample.highlight_regex(_ANCHOR, "bold cyan")
    return sample


def _bar(share: float, width: int = 20) -> str:
    return "█" * round(width * share)


def _shorten(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
