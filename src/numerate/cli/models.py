"""The command line's part on models: pretrain, embed, similar and probe."""

from pathlib import Path
from typing import Annotated

import typer

from numerate.cli.arguments import (
    Accumulate,
    CheckpointMinutes,
    Compute,
    Dropout,
    LearningRate,
    MaxMinutes,
    MaxTokens,
    Quiet,
    Resume,
    print_shown,
)
from numerate.errors import InputError
from numerate.options import Anchor, Marker, Pieces, Precision, Readout

ModelName = Annotated[
    str, typer.Argument(metavar="MODEL", help="A model folder, or a name on the hub.")
]
ShownAnchor = Annotated[
    Anchor | None,
    typer.Option(
        help="What the model is shown of a numeral's anchor; visible if it has anchors.",
        show_default=False,
    ),
]
Read = Annotated[Readout, typer.Option(help="Which tokens make the vector.")]
Layers = Annotated[
    str | None,
    typer.Option(help="Layers to sum, such as -1 or -4,-3,-2,-1; the last four unless said."),
]
Device = Annotated[
    str | None, typer.Option(help="Such as cpu, cuda:1, mps; the best there is unless said.")
]


def pretrain(
    corpus: Annotated[Path, typer.Argument(metavar="DIR", help="What prime has written.")],
    base: Annotated[str, typer.Option(help="A folder or hub name of a masked LM.")],
    out: Annotated[Path, typer.Option(help="The model folder to write.")],
    epochs: Annotated[float, typer.Option(help="Times to go through the corpus.")] = 6.0,
    max_tokens: MaxTokens = None,
    max_minutes: MaxMinutes = None,
    max_length: Annotated[int, typer.Option(help="Tokens of a sequence at most.")] = 512,
    batch_size: Annotated[
        int, typer.Option(help="Rows of up to --max-length tokens per device and step.")
    ] = 8,
    accumulate: Accumulate = 1,
    learning_rate: LearningRate = 5e-5,
    warmup: Annotated[float, typer.Option(help="Share of the run in which the rate rises.")] = 0.0,
    scheduler: Annotated[str, typer.Option(help="A schedule of transformers.")] = "linear",
    weight_decay: Annotated[float, typer.Option(help="Of AdamW.")] = 0.0,
    dropout: Dropout = 0.0,
    mlm_probability: Annotated[
        float, typer.Option(help="Share of other tokens to mask in the ordinary way.")
    ] = 0.0,
    anchor_visible: Annotated[float, typer.Option(help="Share of anchors left visible.")] = 0.0,
    rehearse: Annotated[float, typer.Option(help="Share of tokens that are bare numerals.")] = 0.0,
    hold_out: Annotated[
        Path | None,
        typer.Option(help="Numerals never to rehearse; or counts.json.", show_default=False),
    ] = None,
    pieces: Annotated[
        Pieces, typer.Option(help="digits: read numbers digit by digit, commas dropped.")
    ] = "words",
    precision: Compute = "auto",
    checkpoint_minutes: CheckpointMinutes = 5.0,
    report_to: Annotated[str, typer.Option(help="none, tensorboard, wandb, all.")] = "none",
    seed: Annotated[int, typer.Option(help="Decides order, masks and fresh weights.")] = 42,
    resume: Resume = False,
    quiet: Quiet = False,
) -> None:
    """Continue masked-LM pre-training on a primed corpus, with its anchors masked.

    On many devices or machines: torchrun ... -m numerate pretrain ..., or accelerate launch.
    """
    from numerate.cli.show import show_run
    from numerate.parallel import process_rank
    from numerate.pretrain.config import PretrainConfig
    from numerate.pretrain.train import pretrain_model, read_curve
    from numerate.prime.primed_corpus import open_primed
    from numerate.progress import show_training
    from numerate.report.draw import draw_curve

    config = PretrainConfig(
        base=base,
        epochs=epochs,
        max_tokens=max_tokens,
        max_minutes=max_minutes,
        max_length=max_length,
        batch_size=batch_size,
        accumulate=accumulate,
        learning_rate=learning_rate,
        warmup=warmup,
        scheduler=scheduler,
        weight_decay=weight_decay,
        dropout=dropout,
        mlm_probability=mlm_probability,
        anchor_visible=anchor_visible,
        rehearse=rehearse,
        hold_out=str(hold_out) if hold_out else None,
        pieces=pieces,
        precision=precision,
        checkpoint_minutes=checkpoint_minutes,
        report_to=report_to,
        seed=seed,
    )
    primed = open_primed(corpus)
    with show_training(quiet=quiet) as report:
        run = pretrain_model(primed, config, out, resume=resume, report=report)
    if process_rank() == 0:
        draw_curve(read_curve(out), out / "curve.png")
        print_shown(show_run(run, out), quiet)


def embed(
    model: ModelName,
    inputs: Annotated[
        list[str] | None,
        typer.Argument(metavar="NUMERAL...", help="Numerals, or with --texts texts."),
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option("--from", help="A file with one on each line, '-' for standard input."),
    ] = None,
    texts: Annotated[bool, typer.Option("--texts", help="Sentences instead of numerals.")] = False,
    out: Annotated[Path | None, typer.Option(help="The .npz file to write.")] = None,
    anchor: ShownAnchor = None,
    read: Read = "all",
    layers: Layers = None,
    device: Device = None,
    precision: Annotated[Precision, typer.Option(help="What to compute in.")] = "fp32",
    quiet: Quiet = False,
) -> None:
    """Turn numerals or sentences into vectors, by the paper's recipe unless said."""
    from numerate.cli.arguments import parse_layers, read_lines
    from numerate.cli.show import show_vectors
    from numerate.embed.encoder import save_vectors
    from numerate.embed.load import load

    if out is not None and out.suffix != ".npz":
        raise InputError(f"--out must end in .npz, got {out}")
    lines = [*(inputs or []), *(read_lines(source) if source else [])]
    encoder = load(model, device=device, precision=precision)
    embed_inputs = encoder.embed_texts if texts else encoder.embed_numerals
    vectors = embed_inputs(
        lines,
        anchor=anchor,
        read=read,
        layers=parse_layers(layers),
        show_bar=False if quiet else None,
    )
    if out is not None:
        settings = {"model": model, "anchor": anchor, "read": read, "layers": layers}
        save_vectors(out, lines, vectors, settings)
    print_shown(show_vectors(encoder, lines, vectors, anchor, out), quiet)


def similar(
    model: ModelName,
    numeral: Annotated[str, typer.Argument(metavar="NUMERAL", help="The numeral to ask about.")],
    among: Annotated[
        str | None,
        typer.Option(
            help="Which to choose from: 1900:2100, 1:1000:10 or 1,10,100; from a tenth to ten "
            "times the numeral unless said."
        ),
    ] = None,
    top: Annotated[int, typer.Option(help="How many to show.", min=1)] = 10,
    anchor: ShownAnchor = None,
    read: Read = "all",
    layers: Layers = None,
    device: Device = None,
) -> None:
    """Show which numerals a model takes for neighbours of a numeral."""
    from numerate.cli.arguments import parse_among, parse_layers
    from numerate.cli.show import show_similar
    from numerate.embed.load import load
    from numerate.embed.neighbours import find_similar

    candidates = parse_among(among, numeral)
    encoder = load(model, device=device)
    found = find_similar(
        encoder,
        numeral,
        candidates,
        top=top,
        anchor=anchor,
        read=read,
        layers=parse_layers(layers),
    )
    print_shown(show_similar(numeral, found), quiet=False)


def probe(
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL...",
            help="Model folders, hub names, genbert:FOLDER, mwp-bert:FOLDER, vectors:FILE, "
            "control:NAME or control:primed:MODEL; NAME=MODEL calls it so.",
        ),
    ],
    out: Annotated[Path, typer.Option(help="The scores.jsonl to write or to go on with.")],
    counts: Annotated[
        Path | None, typer.Option(help="What extract has written: which numerals are in-domain.")
    ] = None,
    protocol: Annotated[str, typer.Option(help="paper, strict, laptop or leaky.")] = "laptop",
    tasks: Annotated[
        str,
        typer.Option(help="What to ask; also distance, retrieval, paraphrases, on sentences."),
    ] = "decoding,addition,list-maximum,list-minimum",
    domains: Annotated[str, typer.Option(help="in, out, or both.")] = "in,out",
    ranges: Annotated[
        list[str] | None,
        typer.Option("--range", help="Only this one, such as [1k,10k]; may be given again."),
    ] = None,
    anchor: Annotated[
        str, typer.Option(help="What models with anchors are shown; several are several systems.")
    ] = "visible,masked,absent",
    read: Read = "all",
    layers: Annotated[
        str | None,
        typer.Option(help="Layers to sum, or each: decode every layer by ridge regression."),
    ] = None,
    anchors: Annotated[
        Path | None, typer.Option(help="What control:primed shows the untrained model.")
    ] = None,
    marker: Annotated[Marker, typer.Option(help="The marker of control:primed.")] = "anc",
    seeds: Annotated[int, typer.Option(help="How many draws of the samples.", min=1)] = 3,
    compare: Annotated[
        str | None, typer.Option(help="paper: its figures beside the others.")
    ] = None,
    against: Annotated[
        str | None, typer.Option(help="A system to compare all others with, in pairs.")
    ] = None,
    cache: Annotated[
        Path | None, typer.Option(help="A folder to keep vectors in; beside --out unless said.")
    ] = None,
    device: Device = None,
    workers: Annotated[
        int | None,
        typer.Option(
            help="How many cells at a time; one for each processor unless said.",
            min=1,
            show_default=False,
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Ask how numerate models are; scores that are there already are not computed again."""
    from numerate.cli.arguments import parse_anchors, parse_layers
    from numerate.cli.show_probe import show_differences, show_protocol, show_scores
    from numerate.extract.counts import Counts
    from numerate.extract.ranges import PROBE_RANGES
    from numerate.fit.anchors import AnchorSet
    from numerate.parallel import count_cores
    from numerate.prime.scheme import Priming
    from numerate.probe.plan import Plan, probe_layers, probe_system
    from numerate.probe.protocols import find_protocol
    from numerate.probe.statistics import subtract_system
    from numerate.probe.systems import Reading, open_systems
    from numerate.progress import show_progress
    from numerate.report.paper import find_paper_scores
    from numerate.report.tables import tabulate_scores

    if compare not in (None, "paper"):
        raise InputError(f"--compare must be paper, got {compare!r}")
    plan = Plan(
        tasks=tuple(tasks.split(",")),
        seeds=tuple(range(seeds)),
        protocol=find_protocol(protocol),
        counts=Counts.load(counts) if counts else None,
        domains=tuple(domains.split(",")),
        ranges=tuple(ranges or PROBE_RANGES),
        cache=cache or out.with_suffix(".vectors"),
        device=device or "cpu",
        workers=workers or (count_cores() if device in (None, "cpu") else 1),
    )
    priming = Priming(AnchorSet.load(anchors), marker) if anchors else None
    summed = None if layers == "each" else parse_layers(layers)
    reading = Reading(parse_anchors(anchor), read, tuple(summed) if summed else None)
    scores = []
    notes: list[str] = []
    for model in models:
        for system in open_systems(model, reading=reading, priming=priming, device=device):
            if layers == "each":
                scores += probe_layers(system, plan, out, note=notes.append)
                continue
            with show_progress(system.name, len(plan.cells), quiet=quiet, unit="items") as move:
                scores += probe_system(system, plan, out, progress=move, note=notes.append)
    print_shown(show_protocol(plan.protocol, dict.fromkeys(notes)), quiet)
    beside = find_paper_scores(scores) if compare else []
    print_shown(show_scores(tabulate_scores([*scores, *beside])), quiet)
    if against is not None:
        differences = tabulate_scores(subtract_system(scores, against))
        print_shown(show_differences(differences, against), quiet)
