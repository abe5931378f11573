"""The commands that use models: embed, similar and probe."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from numerate.cli.arguments import Compare, Quiet, Workers, print_shown
from numerate.errors import InputError
from numerate.options import Anchor, Marker, Precision, Readout
from numerate.probe.protocols import LAPTOP, LINE_NOTE, PROTOCOLS

if TYPE_CHECKING:
    from numerate.prime.scheme import Priming
    from numerate.probe.plan import Plan
    from numerate.probe.scores import Score
    from numerate.probe.systems import Reading

ModelName = Annotated[
    str, typer.Argument(metavar="MODEL", help="Model folder, .gguf file, or a name on the hub.")
]
Shown = Annotated[
    Anchor | None,
    typer.Option("--show", help="How a model with anchors is shown them.", show_default="visible"),
]
Read = Annotated[
    Readout | None,
    typer.Option(help="Which tokens make a vector.", show_default="all; last if unsaid"),
]
Layers = Annotated[
    str | None,
    typer.Option(help="Layers to sum, such as -1 or -4,-3,-2,-1.", show_default="the last four"),
]
Device = Annotated[
    str | None, typer.Option(help="Device such as cpu, cuda:1 or mps.", show_default="the best")
]
Trust = Annotated[
    bool, typer.Option("--trust-remote-code", help="Run code that the folder of a model brings.")
]
DEFAULT_TASKS = "decoding,addition,list-maximum,list-minimum,geometry,comparison"


def embed(
    model: ModelName,
    inputs: Annotated[
        list[str] | None,
        typer.Argument(metavar="NUMERAL...", help="Numerals; with --texts, texts."),
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option("--from", help="File with one input per line; '-' for standard input."),
    ] = None,
    texts: Annotated[bool, typer.Option("--texts", help="Embed texts, not numerals.")] = False,
    out: Annotated[Path | None, typer.Option(help="The .npz file to write.")] = None,
    shown: Shown = None,
    read: Read = None,
    layers: Layers = None,
    device: Device = None,
    precision: Annotated[
        Precision, typer.Option(help="Number format of the computation.")
    ] = "fp32",
    trust: Trust = False,
    quiet: Quiet = False,
) -> None:
    """Turn numerals or texts into vectors."""
    from numerate.cli.arguments import parse_layers, read_lines
    from numerate.cli.show import show_vectors
    from numerate.embed.load import load
    from numerate.embed.vectors_file import check_vectors_output, save_vectors
    from numerate.progress import show_progress

    if out is not None:
        check_vectors_output(out, [source] if source else [])
    lines = [*(inputs or []), *(read_lines(source) if source else [])]
    encoder = load(model, device=device, precision=precision, trust_remote_code=trust)
    embed_inputs = encoder.embed_texts if texts else encoder.embed_numerals
    chosen = parse_layers(layers)
    with show_progress("embed", len(set(lines)), quiet=quiet, unit="items") as progress:
        vectors = embed_inputs(lines, anchor=shown, read=read, layers=chosen, progress=progress)
    if out is not None:
        settings = {"model": model, "anchor": shown, "read": read, "layers": layers}
        save_vectors(out, lines, vectors, settings)
    print_shown(show_vectors(encoder, lines, vectors, shown, out), quiet)


def similar(
    model: ModelName,
    numeral: Annotated[str, typer.Argument(metavar="NUMERAL", help="Numeral to compare with.")],
    among: Annotated[
        str | None,
        typer.Option(
            help="Numerals to choose from, such as 1900:2100, 1:1000:10 or 1,10,100.",
            show_default="from a tenth to ten times the numeral",
        ),
    ] = None,
    top: Annotated[int, typer.Option(help="Number of neighbours to show.", min=1)] = 10,
    shown: Shown = None,
    read: Read = None,
    layers: Layers = None,
    device: Device = None,
    trust: Trust = False,
    quiet: Quiet = False,
) -> None:
    """Show the numerals whose vectors are most similar to that of a numeral."""
    from numerate.cli.arguments import parse_among, parse_layers
    from numerate.cli.show import show_similar
    from numerate.embed.load import load
    from numerate.embed.neighbours import find_similar

    candidates = parse_among(among, numeral)
    encoder = load(model, device=device, trust_remote_code=trust)
    found = find_similar(
        encoder, numeral, candidates, top=top, anchor=shown, read=read, layers=parse_layers(layers)
    )
    print_shown(show_similar(numeral, found), quiet)


def probe(
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL...",
            help="Model folders, .gguf files, names on the hub, genbert:FOLDER, mwp-bert:FOLDER, "
            "digits:MODEL, sentence:MODEL, sentence:digits:MODEL, vectors:FILE, control:NAME or "
            "control:primed:MODEL. TITLE=MODEL sets the name in tables: the first '=' ends the "
            "title, unless the text is an existing path, starts with a prefix such as genbert:, "
            "or has a slash before the '='.",
        ),
    ],
    out: Annotated[Path, typer.Option(help="The scores.jsonl to write or to continue.")],
    counts: Annotated[
        Path | None,
        typer.Option(
            help="File of extract; its numerals are in-domain.",
            show_default=LINE_NOTE,
        ),
    ] = None,
    protocol: Annotated[str, typer.Option(help=f"Protocol: {', '.join(PROTOCOLS)}.")] = LAPTOP.name,
    tasks: Annotated[
        list[str] | None,
        typer.Option(
            help="Tasks; repeatable. There are also few, beyond and gaps, and on texts sentences, "
            "factbook and retention, each a group of tasks, and SciFact.",
            show_default=DEFAULT_TASKS,
        ),
    ] = None,
    domains: Annotated[
        str | None,
        typer.Option(
            help="in, out (of the domain of --counts), line (the whole number line) or several.",
            show_default="in,out; without --counts line",
        ),
    ] = None,
    ranges: Annotated[
        list[str] | None,
        typer.Option(
            "--range", help="Range such as [1k,10k]; repeatable.", show_default="all ranges"
        ),
    ] = None,
    shown: Annotated[
        str | None,
        typer.Option(
            "--show",
            help="How models with anchors are shown them; each is a system.",
            show_default="visible,masked,absent; of causal models visible,unsaid,absent",
        ),
    ] = None,
    read: Read = None,
    layers: Annotated[
        str | None,
        typer.Option(
            help="Layers to sum, or each: decode every layer by ridge regression.",
            show_default="the last four",
        ),
    ] = None,
    anchors: Annotated[
        Path | None, typer.Option(help="File of anchors that control:primed shows the model.")
    ] = None,
    marker: Annotated[Marker, typer.Option(help="Marker of control:primed.")] = "anc",
    benchmarks: Annotated[
        Path | None,
        typer.Option(
            help="Folder with the files of factbook and retention.", show_default="from the hub"
        ),
    ] = None,
    seeds: Annotated[int, typer.Option(help="Number of times to draw samples.", min=1)] = 3,
    compare: Compare = None,
    against: Annotated[
        str | None, typer.Option(help="System to compare all others with, paired by seed.")
    ] = None,
    cache: Annotated[
        Path | None, typer.Option(help="Folder that keeps vectors.", show_default="beside --out")
    ] = None,
    device: Device = None,
    workers: Workers = 0,
    trust: Trust = False,
    quiet: Quiet = False,
) -> None:
    """Measure the numeracy of models; scores that the file has are not computed again.

    On a device other than cpu, 0 workers stands for one process.
    """
    from numerate.cli.arguments import count_workers, parse_layers, parse_shown
    from numerate.cli.show_probe import show_results
    from numerate.extract.counts import Counts
    from numerate.extract.ranges import PROBE_RANGES
    from numerate.files import hide_home
    from numerate.fit.anchors import AnchorSet
    from numerate.prime.scheme import Priming
    from numerate.probe.plan import Plan
    from numerate.probe.protocols import find_protocol
    from numerate.probe.systems import Reading
    from numerate.probe.tasks.benchmark_files import Benchmarks
    from numerate.probe.tasks.text_tasks import expand_tasks

    against = hide_home(against) if against else None  # as in the titles of systems
    _check_against(against, models)
    plan = Plan(
        tasks=expand_tasks(",".join(tasks or [DEFAULT_TASKS]).split(",")),
        seeds=tuple(range(seeds)),
        protocol=find_protocol(protocol),
        counts=Counts.load(counts) if counts else None,
        benchmarks=Benchmarks(benchmarks),
        domains=tuple(domains.split(",")) if domains else (),
        ranges=tuple(ranges or PROBE_RANGES),
        cache=cache or out.with_suffix(".vectors"),
        device=device or "cpu",
        workers=count_workers(workers) if device in (None, "cpu") else workers or 1,
    )
    summed = None if layers == "each" else parse_layers(layers)
    scores = _probe_systems(
        models,
        plan,
        Reading(parse_shown(shown), read, tuple(summed) if summed else None),
        Priming(AnchorSet.load(anchors), marker) if anchors else None,
        device=device,
        trust=trust,
        out=out,
        by_layer=layers == "each",
        quiet=quiet,
    )
    print_shown(show_results(scores, compare=compare == "paper", against=against), quiet)


def _probe_systems(
    models: Sequence[str],
    plan: "Plan",
    reading: "Reading",
    priming: "Priming | None",
    *,
    device: str | None,
    trust: bool,
    out: Path,
    by_layer: bool,
    quiet: bool,
) -> "list[Score]":
    """Return the scores of all systems, with a bar for each, and print what was left out."""
    from numerate.cli.show_probe import show_protocol
    from numerate.files import check_output
    from numerate.models.names import SystemName
    from numerate.probe.layers import probe_layers
    from numerate.probe.plan import probe_system
    from numerate.probe.scores import hold_scores, read_scores
    from numerate.probe.systems import check_system, open_systems
    from numerate.progress import show_progress

    scores: list[Score] = []
    notes: dict[str, None] = {}
    if "line" in plan.domains and not plan.is_of_texts:
        notes[f"Numerals of {LINE_NOTE}"] = None
    options: dict[str, Any] = {"reading": reading, "priming": priming, "device": device}
    names = [SystemName.parse(model) for model in models]
    for name in names:
        check_system(name, has_anchors=priming is not None, trust_remote_code=trust)
    check_output(out, starts=rb"\{")
    with hold_scores(out):
        read_scores(out)  # refuses a file of something else before any model is loaded
        for name in names:
            for system in open_systems(name, trust_remote_code=trust, **options):
                if by_layer:
                    scores += probe_layers(system, plan, out, note=notes.setdefault)
                    continue
                with show_progress(system.name, len(plan.cells), quiet=quiet, unit="items") as move:
                    scores += probe_system(system, plan, out, progress=move, note=notes.setdefault)
    print_shown(show_protocol(plan.protocol, notes), quiet)
    return scores


def _check_against(against: str | None, models: Sequence[str]) -> None:
    """Refuse a system to compare with that is not among those to probe."""
    from numerate.models.labels import SystemLabel
    from numerate.models.names import SystemName

    titles = [SystemName.parse(model).title for model in models]
    if against is not None and SystemLabel.parse(against).name not in titles:
        raise InputError(f"--against must be among {', '.join(titles)}, got {against!r}")
