"""The command line: one function per subcommand, without logic of its own."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from numerate import __version__
from numerate.choices import (
    Anchor,
    Domain,
    Errors,
    Marker,
    NumeralForm,
    Precision,
    Readout,
    Scale,
)
from numerate.errors import InputError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from numerate.fit import AnchorSet

app = typer.Typer(
    name="numerate",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)

CorpusNames = Annotated[
    list[str],
    typer.Argument(
        metavar="CORPUS...",
        help="Text files (plain, .gz, .xz, .zst), .jsonl, .parquet, folders of them, '-', "
        "hf:REPO[/CONFIG][:SPLIT], or almanac: for the embedded corpus.",
    ),
]
Out = Annotated[Path, typer.Option(help="Where to write.")]
Field = Annotated[str, typer.Option(help="The field of a record that holds its text.")]
OnErrors = Annotated[Errors, typer.Option(help="What to do with bytes that are not UTF-8.")]
Workers = Annotated[
    int | None, typer.Option(help="Processes to use; all cores unless said.", show_default=False)
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar, no tables.")]
Seed = Annotated[int, typer.Option(help="Decides where the mixture's components start.")]
Resolution = Annotated[float, typer.Option(help="Units per e-fold of the ln scale (paper: 10).")]

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

_RESOLUTION = 10.0


@app.command()
def extract(
    corpus: CorpusNames,
    out: Out,
    domain: Annotated[Domain, typer.Option(help="Which numerals count.")] = "integers",
    field: Field = "text",
    errors: OnErrors = "strict",
    workers: Workers = None,
    quiet: Quiet = False,
) -> None:
    """Count the numerals of a corpus."""
    from numerate.corpus import count_cores, open_corpus
    from numerate.extract import extract_counts
    from numerate.progress import show_progress
    from numerate.show import show_counts

    opened = open_corpus(corpus, field=field, errors=errors)
    with show_progress("extract", opened.size, quiet=quiet) as progress:
        counts = extract_counts(
            opened, domain=domain, workers=workers or count_cores(), progress=progress
        )
    counts.save(out)
    _show(show_counts(counts), quiet)


@app.command()
def fit(
    counts: Annotated[Path, typer.Argument(metavar="COUNTS", help="What extract has written.")],
    out: Annotated[
        Path | None, typer.Option(help="Where to write the anchors, or with --sweep the figures.")
    ] = None,
    components: Annotated[int, typer.Option(help="Gaussians in the mixture.")] = 1000,
    scale: Annotated[Scale, typer.Option(help="Where the mixture is fitted.")] = "linear",
    resolution: Resolution = _RESOLUTION,
    seed: Seed = 42,
    sweep: Annotated[
        str | None, typer.Option(help="Try these numbers of components: 10,100,1000.")
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(help="Draw the anchors, or with --sweep AIC and BIC (.png or .svg)."),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Fit anchors to counted numerals, or sweep over the number of components."""
    from numerate.extract import Counts
    from numerate.figures import draw_number_line, draw_sweep
    from numerate.fit import fit_anchors
    from numerate.show import show_anchors, show_sweep
    from numerate.sweep import parse_sizes, sweep_components

    if sweep is None and out is None:
        raise InputError("fit needs --out, where to write the anchors")
    if scale == "linear" and resolution != _RESOLUTION:
        raise InputError(f"--resolution is for --scale ln, got {resolution:g} with --scale linear")
    numerals = Counts.load(counts)
    if sweep is not None:
        swept = sweep_components(
            numerals, parse_sizes(sweep), scale=scale, resolution=resolution, seed=seed
        )
        if out is not None:
            swept.save(out)
        if plot is not None:
            draw_sweep(swept, plot)
        _show(show_sweep(swept), quiet)
    elif out is not None:
        anchors = fit_anchors(
            numerals, n_components=components, scale=scale, resolution=resolution, seed=seed
        )
        anchors.save(out)
        if plot is not None:
            draw_number_line(numerals, anchors, plot)
        _show(show_anchors(anchors), quiet)


@app.command()
def prime(
    corpus: CorpusNames,
    anchors: Annotated[Path | None, typer.Option(help="What fit has written.")] = None,
    out: Annotated[Path | None, typer.Option(help="The folder to write.")] = None,
    marker: Annotated[Marker, typer.Option(help="<ANC>, or <LA>/<RA> for direction.")] = "anc",
    numeral_form: Annotated[
        NumeralForm, typer.Option(help="digits: write 12,345 as 12345.")
    ] = "as-is",
    undo: Annotated[bool, typer.Option("--undo", help="Take the anchors out again.")] = False,
    field: Field = "text",
    errors: OnErrors = "strict",
    workers: Workers = None,
    quiet: Quiet = False,
) -> None:
    """Write beside each numeral its anchor; '-' primes standard input to standard output."""
    from numerate.corpus import count_cores, open_corpus
    from numerate.fit import AnchorSet
    from numerate.progress import show_progress
    from numerate.shards import open_primed, prime_corpus, unprime_corpus
    from numerate.show import show_primed, show_restored

    if (anchors is None) != undo:
        raise InputError("prime needs --anchors; with --undo it needs none")
    laid = AnchorSet.load(anchors) if anchors else None
    if "-" in corpus:
        _pipe(corpus, out, errors, laid, marker, numeral_form)
    elif out is None:
        raise InputError("prime needs --out, the folder to write; only '-' goes without")
    elif laid is None:
        if len(corpus) > 1:
            raise InputError(f"--undo takes one primed folder at a time, got {len(corpus)}")
        primed = open_primed(Path(corpus[0]))
        with show_progress("undo", primed.manifest["bytes"], quiet=quiet) as progress:
            files = unprime_corpus(primed, out, progress=progress)
        _show(show_restored(primed, files), quiet)
    else:
        opened = open_corpus(corpus, field=field, errors=errors)
        with show_progress("prime", opened.size, quiet=quiet) as progress:
            primed = prime_corpus(
                opened,
                laid,
                out,
                marker=marker,
                numeral_form=numeral_form,
                workers=workers or count_cores(),
                progress=progress,
            )
        _show(show_primed(primed), quiet)


def _pipe(
    corpus: list[str],
    out: Path | None,
    errors: Errors,
    anchors: "AnchorSet | None",
    marker: Marker,
    numeral_form: NumeralForm,
) -> None:
    """Prime standard input to standard output, or undo it, block by block as it comes."""
    from numerate.corpus import open_corpus
    from numerate.prime import prime_block, unprime_block

    if len(corpus) > 1 or out is not None:
        raise InputError("'-' must be the only corpus and goes without --out")
    for block in open_corpus(corpus, errors=errors).blocks():
        if anchors is None:
            data = unprime_block(block)
        else:
            data = prime_block(block, anchors, marker=marker, numeral_form=numeral_form).data
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


@app.command()
def pretrain(
    corpus: Annotated[Path, typer.Argument(metavar="DIR", help="What prime has written.")],
    base: Annotated[str, typer.Option(help="A folder or hub name of a masked LM.")],
    out: Annotated[Path, typer.Option(help="The model folder to write.")],
    epochs: Annotated[float, typer.Option(help="Times to go through the corpus.")] = 6.0,
    max_tokens: Annotated[
        int | None, typer.Option(help="Train on so many tokens instead.", show_default=False)
    ] = None,
    max_minutes: Annotated[
        float | None, typer.Option(help="Train for so long instead.", show_default=False)
    ] = None,
    max_length: Annotated[int, typer.Option(help="Tokens of a sequence at most.")] = 512,
    batch_size: Annotated[
        int, typer.Option(help="Rows of up to --max-length tokens per device and step.")
    ] = 8,
    accumulate: Annotated[int, typer.Option(help="Batches to a step.")] = 1,
    learning_rate: Annotated[float, typer.Option(help="At its highest.")] = 5e-5,
    warmup: Annotated[float, typer.Option(help="Share of the run in which the rate rises.")] = 0.0,
    scheduler: Annotated[str, typer.Option(help="A schedule of transformers.")] = "linear",
    weight_decay: Annotated[float, typer.Option(help="Of AdamW.")] = 0.0,
    dropout: Annotated[float, typer.Option(help="In place of the base model's.")] = 0.0,
    mlm_probability: Annotated[
        float, typer.Option(help="Share of other tokens to mask in the ordinary way.")
    ] = 0.0,
    anchor_visible: Annotated[float, typer.Option(help="Share of anchors left visible.")] = 0.0,
    rehearse: Annotated[float, typer.Option(help="Share of tokens that are bare numerals.")] = 0.0,
    hold_out: Annotated[
        Path | None, typer.Option(help="A file of numerals never to rehearse.", show_default=False)
    ] = None,
    precision: Annotated[
        Precision, typer.Option(help="auto: bf16 where the machine is fast at it.")
    ] = "auto",
    checkpoint_minutes: Annotated[float, typer.Option(help="Minutes between checkpoints.")] = 5.0,
    report_to: Annotated[str, typer.Option(help="none, tensorboard, wandb, all.")] = "none",
    seed: Annotated[int, typer.Option(help="Decides order, masks and fresh weights.")] = 42,
    resume: Annotated[bool, typer.Option("--resume", help="Go on where a run stopped.")] = False,
    quiet: Quiet = False,
) -> None:
    """Continue masked-LM pre-training on a primed corpus, with its anchors masked.

    On many devices or machines: torchrun ... -m numerate pretrain ..., or accelerate launch.
    """
    from numerate.corpus import process_rank
    from numerate.pretrain import PretrainConfig, pretrain_model
    from numerate.shards import open_primed
    from numerate.show import show_run, show_training

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
        precision=precision,
        checkpoint_minutes=checkpoint_minutes,
        report_to=report_to,
        seed=seed,
    )
    primed = open_primed(corpus)
    with show_training(quiet=quiet) as report:
        run = pretrain_model(primed, config, out, resume=resume, report=report)
    if process_rank() == 0:
        _show(show_run(run, out), quiet)


@app.command()
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
    from numerate.loading import load
    from numerate.show import show_vectors
    from numerate.vectors import parse_layers, read_lines, save_vectors

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
    _show(show_vectors(encoder, lines, vectors, anchor, out), quiet)


@app.command()
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
    from numerate.loading import load
    from numerate.show import show_similar
    from numerate.similar import find_similar, parse_among
    from numerate.vectors import parse_layers

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
    _show(show_similar(numeral, found), quiet=False)


@app.command()
def probe(
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL...",
            help="Model folders, hub names, control:oracle, value, random, digits, chars, or "
            "control:primed:MODEL.",
        ),
    ],
    out: Annotated[Path, typer.Option(help="The scores.jsonl to write or to go on with.")],
    counts: Annotated[
        Path | None, typer.Option(help="What extract has written: which numerals are in-domain.")
    ] = None,
    protocol: Annotated[str, typer.Option(help="paper, strict or laptop.")] = "laptop",
    tasks: Annotated[
        str,
        typer.Option(help="What to ask; also distance, retrieval, paraphrases, on sentences."),
    ] = "decoding,addition,list-maximum,list-minimum",
    domains: Annotated[str, typer.Option(help="in, out, or both.")] = "in,out",
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
    quiet: Quiet = False,
) -> None:
    """Ask how numerate models are; scores that are there already are not computed again."""
    from numerate.extract import Counts
    from numerate.fit import AnchorSet
    from numerate.priming import Priming
    from numerate.probe import Plan, parse_anchors, probe_layers, probe_system
    from numerate.progress import show_progress
    from numerate.protocols import find_protocol
    from numerate.show import show_differences, show_protocol, show_scores
    from numerate.systems import Reading, open_systems
    from numerate.tables import read_paper_scores, subtract_system, tabulate_scores
    from numerate.vectors import parse_layers

    if compare not in (None, "paper"):
        raise InputError(f"--compare must be paper, got {compare!r}")
    plan = Plan(
        tuple(tasks.split(",")),
        tuple(range(seeds)),
        find_protocol(protocol),
        Counts.load(counts) if counts else None,
        tuple(domains.split(",")),
        cache=cache or out.with_suffix(".vectors"),
        device=device or "cpu",
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
    asked = {(score.task, score.metric) for score in scores}
    printed = read_paper_scores() if compare else []
    beside = [score for score in printed if (score.task, score.metric) in asked]
    _show(show_protocol(plan.protocol, dict.fromkeys(notes)), quiet)
    _show(show_scores(tabulate_scores([*scores, *beside])), quiet)
    if against is not None:
        _show(show_differences(tabulate_scores(subtract_system(scores, against)), against), quiet)


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="The folder to write.")] = Path("runs/demo"),
    quiet: Quiet = False,
) -> None:
    """Extract, fit on both scales and prime the embedded corpus, and show the results."""
    from numerate.demo import run_demo

    for part in run_demo(out):
        _show(part, quiet)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"numerate {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Make any language model numerate: anchors for the numerals of a corpus."""


def main() -> None:
    """Run the command line: a user's mistake is one line on standard error and exit code 2."""
    try:
        code = app(standalone_mode=False)
    except InputError as error:
        code = _fail(str(error))
    except typer.TyperException as error:
        code = _fail(error.format_message())
    except ModuleNotFoundError as error:
        code = _fail(f"this command needs {error.name}: pip install 'numerate[all]'")
    except OSError as error:
        code = _fail(f"{error.filename or 'input or output'}: {error.strerror or error}")
    except (KeyboardInterrupt, typer.Abort):
        code = _fail("interrupted; the same command goes on where it stopped", 130)
    sys.exit(code)


def _fail(message: str, code: int = 2) -> int:
    line = " ".join(message.split())
    sys.stderr.write(f"numerate: {line}\n")
    return code


def _show(renderable: "RenderableType", quiet: bool) -> None:
    from rich.console import Console

    if not quiet:
        Console().print(renderable)
