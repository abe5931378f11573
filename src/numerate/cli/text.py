"""The commands on text: extract, fit and prime."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from numerate.cli.arguments import (
    EngineOption,
    Field,
    OnErrors,
    Quiet,
    RayAddress,
    Workers,
    choose_engine,
    print_shown,
)
from numerate.errors import InputError
from numerate.options import Domain, Errors, Marker, NumeralForm, Scale, Start

if TYPE_CHECKING:
    from numerate.fit.anchors import AnchorSet

CorpusNames = Annotated[
    list[str],
    typer.Argument(
        metavar="CORPUS...",
        help="Text files (plain, .gz, .xz, .zst), .jsonl, .parquet, folders of them, also at "
        "s3:// or gs://, '-', hf:REPO[/CONFIG][:SPLIT], or almanac: for the embedded corpus.",
    ),
]
Out = Annotated[Path, typer.Option(help="File to write.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the start of the mixture.")]
Resolution = Annotated[float, typer.Option(help="Units per factor of e on the ln scale.")]

_RESOLUTION, _COMPONENTS = 10.0, 1000


def extract(
    corpus: CorpusNames,
    out: Out,
    domain: Annotated[
        Domain,
        typer.Option(
            help="Which numerals count: integers; reals: decimals and signs too; quantities: also "
            "1.82 billion, 3.5k, two million."
        ),
    ] = "integers",
    field: Field = "text",
    errors: OnErrors = "strict",
    workers: Workers = 0,
    engine: EngineOption = "local",
    ray_address: RayAddress = None,
    quiet: Quiet = False,
) -> None:
    """Count the numerals of a corpus."""
    from numerate.cli.show import show_counts
    from numerate.extract.corpus import open_corpus
    from numerate.extract.counts import FORMAT, extract_counts
    from numerate.files import check_json_output
    from numerate.progress import show_progress

    chosen = choose_engine(engine, ray_address, workers)
    opened = open_corpus(corpus, field=field, errors=errors)
    check_json_output(out, FORMAT, opened.sources)
    with show_progress("extract", opened.size, quiet=quiet) as progress:
        counts = extract_counts(opened, domain=domain, engine=chosen, progress=progress)
    counts.save(out)
    print_shown(show_counts(counts), quiet)


def fit(
    counts: Annotated[Path, typer.Argument(metavar="COUNTS", help="File of extract.")],
    out: Annotated[
        Path | None, typer.Option(help="File to write: the anchors, or with --sweep its rows.")
    ] = None,
    components: Annotated[int, typer.Option(help="Gaussians in the mixture.")] = _COMPONENTS,
    scale: Annotated[
        Scale, typer.Option(help="Scale of the anchors; log10: exponents.")
    ] = "linear",
    resolution: Resolution = _RESOLUTION,
    start: Annotated[
        Start, typer.Option(help="Start components at random numerals, or spread over the scale.")
    ] = "drawn",
    width: Annotated[
        int, typer.Option(min=1, help="Minimum digits of an anchor: with 3, 86 is 086.")
    ] = 1,
    seed: Seed = 42,
    sweep: Annotated[
        str | None, typer.Option(help="Compare numbers of components, such as 10,100,1000.")
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(help="Draw the anchors, or with --sweep AIC and BIC (.png or .svg)."),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Fit anchors to counted numerals, or compare numbers of components."""
    from numerate.cli.arguments import parse_sizes
    from numerate.cli.show import show_anchors, show_sweep
    from numerate.extract.counts import Counts
    from numerate.fit.fitting import fit_anchors, sweep_components
    from numerate.report.figures.corpus_charts import chart_anchors, chart_sweeps
    from numerate.report.figures.draw import draw_chart

    if sweep is None and out is None:
        raise InputError("fit needs --out, where to write the anchors")
    _check_scale(scale, resolution, components, start)
    _check_fit_outputs(counts, out, plot, swept=sweep is not None)
    numerals = Counts.load(counts)
    options: dict[str, Any] = {"scale": scale, "resolution": resolution, "start": start}
    if sweep is not None:
        swept = sweep_components(numerals, parse_sizes(sweep), seed=seed, **options)
        if out is not None:
            swept.save(out)
        if plot is not None:
            draw_chart(chart_sweeps({scale: swept}), plot)
        print_shown(show_sweep(swept), quiet)
    elif out is not None:
        anchors = fit_anchors(numerals, n_components=components, width=width, seed=seed, **options)
        anchors.save(out)
        if plot is not None:
            draw_chart(chart_anchors(numerals, {scale: anchors}), plot)
        print_shown(show_anchors(anchors), quiet)


def _check_fit_outputs(counts: Path, out: Path | None, plot: Path | None, *, swept: bool) -> None:
    from numerate.files import check_json_output
    from numerate.fit.anchors import FORMAT
    from numerate.fit.fitting import SWEEP_FORMAT
    from numerate.report.figures.draw import check_plot

    if out is not None and out == plot:
        raise InputError(f"--out and --plot must be two files, got {out} for both")
    if out is not None:
        check_json_output(out, SWEEP_FORMAT if swept else FORMAT, [counts])
    if plot is not None:
        check_plot(plot, [counts])


def _check_scale(scale: Scale, resolution: float, components: int, start: Start) -> None:
    """Refuse options that a scale does not use."""
    if scale != "ln" and resolution != _RESOLUTION:
        raise InputError(f"--resolution is for --scale ln, got {resolution:g} with --scale {scale}")
    if scale == "log10" and (components, start) != (_COMPONENTS, "drawn"):
        raise InputError(
            "--components and --start are for the scales linear and ln; log10 needs no mixture"
        )


def prime(
    corpus: CorpusNames,
    anchors: Annotated[Path | None, typer.Option(help="File that fit has written.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder to write; of records it has the text alone.")
    ] = None,
    marker: Annotated[
        Marker, typer.Option(help="anc: <ANC>; lr: <LA> or <RA>; exp: <EXP>.")
    ] = "anc",
    numeral_form: Annotated[
        NumeralForm, typer.Option(help="digits: write 12,345 as 12345.")
    ] = "as-is",
    undo: Annotated[
        bool, typer.Option("--undo", help="Remove the anchors again; of records the text is left.")
    ] = False,
    field: Field = "text",
    errors: OnErrors = "strict",
    workers: Workers = 0,
    engine: EngineOption = "local",
    ray_address: RayAddress = None,
    quiet: Quiet = False,
) -> None:
    """Write its anchor after each numeral; '-' primes standard input to standard output."""
    from numerate.cli.show import show_left_out, show_primed, show_restored
    from numerate.extract.corpus import open_corpus
    from numerate.fit.anchors import AnchorSet
    from numerate.prime.primed_corpus import open_primed, prime_corpus, unprime_corpus
    from numerate.progress import show_progress

    if (anchors is None) != undo:
        raise InputError("prime needs --anchors; with --undo it needs none")
    laid = AnchorSet.load(anchors) if anchors else None
    chosen = choose_engine(engine, ray_address, workers)
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
        print_shown(show_restored(primed, files), quiet)
    else:
        _check_outside(out, corpus)
        opened = open_corpus(corpus, field=field, errors=errors)
        print_shown(show_left_out(opened.sources, field), quiet)
        with show_progress("prime", opened.size, quiet=quiet) as progress:
            primed = prime_corpus(
                opened,
                laid,
                out,
                marker=marker,
                numeral_form=numeral_form,
                engine=chosen,
                progress=progress,
            )
        print_shown(show_primed(primed), quiet)


def _check_outside(out: Path, corpus: list[str]) -> None:
    """Refuse to write into a folder that is read: when continued, its own shards would be text."""
    for name in corpus:
        if name and Path(name).is_dir() and out.resolve().is_relative_to(Path(name).resolve()):
            raise InputError(f"{out}: inside the corpus {name}; choose another --out")


def _pipe(
    corpus: list[str],
    out: Path | None,
    errors: Errors,
    anchors: "AnchorSet | None",
    marker: Marker,
    numeral_form: NumeralForm,
) -> None:
    """Prime standard input to standard output, or undo it, block by block."""
    from numerate.extract.corpus import open_corpus
    from numerate.prime.text import prime_block, unprime_block

    if len(corpus) > 1 or out is not None:
        raise InputError("'-' must be the only corpus and goes without --out")
    for block in open_corpus(corpus, errors=errors).blocks():
        if anchors is None:
            data = unprime_block(block)
        else:
            data = prime_block(block, anchors, marker=marker, numeral_form=numeral_form).data
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
