"""The tables and the chart of docs/scale.md, from the files of the benchmarks.

Estimates are computed here, too: what was measured for a MB, times the size of a corpus.
"""

import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numerate.markdown import format_table
from numerate.report.figures.charts import Axis, Chart, Panel, Point, Series

RESULTS = Path(__file__).parents[1] / "benchmarks" / "results"
_STAGES = ("extract", "prime", "extract with Ray", "prime with Ray", "fit", "pretrain", "train")
_SMALL, _LARGE = "60 MB", "1200 MB"
_CLOCKS = {"seconds": "", "processor": ", processor"}
_TOKENIZED = "10 MB"  # `train` and `pretrain` differ in tokenizing there, and in nothing else

# Assumptions of the estimates; docs/scale.md names them.
TOKEN_BYTES = 4.0
WIKITEXT_103_BYTES = 0.54e9
FINEWEB_TOKENS = 15e12
NUMERALS = 1e12
CORE_HOUR_DOLLARS = 0.04
MACHINE_CORES = 16
LINE_BYTES = 10e9 / 8  # in a second


def growth_table() -> str:
    """Return the seconds of the processors for each stage by the size of the corpus."""
    return _corpus_table("processor, s", lambda cost: f"{cost['processor']:.1f}")


def memory_table() -> str:
    """Return the memory of each stage, in its largest process and in all of them, by size."""
    return _corpus_table("largest, all, MB", lambda cost: f"{cost['megabytes']}, {cost['all']}")


def _corpus_table(title: str, show: Callable[[dict[str, float]], str]) -> str:
    corpus = _read("scale")["corpus"]
    rows = [
        [stage, *(show(costs[stage]) if stage in costs else "" for costs in corpus.values())]
        for stage in _STAGES
    ]
    return format_table([title, *corpus], rows, right=True)


def factors_table() -> str:
    """Return how often the time and the memory of each stage grow with twenty times the text."""
    small, large = (_read("scale")["corpus"][size] for size in (_SMALL, _LARGE))
    keys = ("processor", "megabytes", "all")
    rows = [
        [stage, *(f"{large[stage][key] / small[stage][key]:.2f}" for key in keys)]
        for stage in _STAGES
        if stage in small and stage in large
    ]
    times = f"{_size(_LARGE) // _size(_SMALL)} times the text, times"
    return format_table([times, "processor", "largest process", "all"], rows, right=True)


def fits_table() -> str:
    """Return what `fit` costs by anchors and by distinct values."""
    rows = [
        [case, f"{cost['processor']:.1f}", f"{cost['megabytes']}"]
        for case, cost in _read("scale")["fit"].items()
    ]
    return format_table(["fit", "processor, s", "MB"], rows, right=True)


def engines_table() -> str:
    """Return the fastest times of both engines by size, and the lines through them."""
    engines = _read("engines")
    tables = []
    for command in ("extract", "prime"):
        clocks = [engines[command][clock] for clock in _CLOCKS]
        rows = [
            [
                size,
                *(f"{min(times):.1f}" for one in clocks for times in one["times"][size].values()),
            ]
            for size in clocks[0]["times"]
        ]
        for what, key, digits in (
            ("fixed, s", "fixed_seconds", 1),
            ("MB/s", "megabytes_per_second", 0),
            ("largest deviation, s", "largest_deviation_seconds", 1),
        ):
            lines = [line for one in clocks for line in one["lines"].values()]
            rows.append([what, *(f"{line[key]:.{digits}f}" for line in lines)])
        heads = ["local", "Ray", "local, processor", "Ray, processor"]
        tables.append(format_table([f"{command}, s", *heads], rows, right=True))
    return "\n".join(tables)


def overhead_table() -> str:
    """Return what follows from the lines: overhead, throughput, and when the first is small."""
    engines = _read("engines")
    found = {
        f"{command}{name}": engines[command][clock]
        for clock, name in _CLOCKS.items()
        for command in ("extract", "prime")
    }
    rows = [
        ["Ray's overhead", *(f"{one['overhead_seconds']:.1f} s" for one in found.values())],
        [
            "its throughput, the local engine's = 1",
            *(f"{one['throughput_ratio']:.2f}" for one in found.values()),
        ],
        [
            "size from which the overhead is below a tenth of its time",
            *(
                f"{one['megabytes_where_overhead_is_a_tenth'] / 1e3:.1f} GB"
                for one in found.values()
            ),
        ],
    ]
    return format_table(["", *found], rows, right=True)


@dataclass(frozen=True)
class _Rates:
    """What was measured, for a MB of text or for a core."""

    extract_seconds: float
    prime_seconds: float
    tokenize_seconds: float
    numerals: float
    manifest_bytes: float
    tokens_per_core_second: float


def _read_rates() -> _Rates:
    scale, engines = _read("scale"), _read("engines")
    corpus = scale["corpus"]
    difference = _size(_LARGE) - _size(_SMALL)

    def slope(stage: str) -> float:
        small, large = (corpus[size][stage]["processor"] for size in (_SMALL, _LARGE))
        return float(large - small) / difference

    tokenized = corpus[_TOKENIZED]
    tokenize = tokenized["pretrain"]["processor"] - tokenized["train"]["processor"]
    size, manifest = list(engines["manifest_bytes"].items())[-1]
    speeds = _read("precision")["pretrain, length 128"]["useful_tokens_per_second"]
    return _Rates(
        slope("extract"),
        slope("prime"),
        tokenize / _size(_TOKENIZED),
        scale["text"]["numerals"] / scale["text"]["megabytes"],
        manifest["local"] / _size(size),
        max(speeds.values()) / _read("precision")["threads"],
    )


def estimates_table() -> str:
    """Return what larger corpora would take, with the arithmetic."""
    rates = _read_rates()
    corpora = {
        "WikiText-103": WIKITEXT_103_BYTES,
        "FineWeb": FINEWEB_TOKENS * TOKEN_BYTES,
        "a trillion numerals": NUMERALS / rates.numerals * 1e6,
    }
    rows = []
    for what, arithmetic, compute, show in _estimates(rates):
        rows.append([what, arithmetic, *(show(compute(size)) for size in corpora.values())])
    cores = LINE_BYTES / 1e6 * rates.extract_seconds
    line = (
        f"A line of {LINE_BYTES / 1e6:,.0f} MB/s × {rates.extract_seconds:.4f} core s/MB: "
        f"{cores:.0f} cores that extract fill it."
    )
    return f"{format_table(['', 'how', *corpora], rows)}\n{line}\n"


Estimate = tuple[str, str, Callable[[float], float], Callable[[float], str]]


def _estimates(rates: _Rates) -> Sequence[Estimate]:
    """Return what to estimate: its name, its arithmetic, and functions of a size in bytes."""
    counting = rates.extract_seconds + rates.prime_seconds

    def hours(seconds_for_mb: float) -> Callable[[float], float]:
        return lambda size: size / 1e6 * seconds_for_mb / 3600

    def training(size: float) -> float:
        return size / TOKEN_BYTES / rates.tokens_per_core_second / 3600

    def line(size: float) -> float:
        return 3 * size / LINE_BYTES / 3600

    day = 24 * MACHINE_CORES
    return (
        ("text", "", lambda size: size, _show_bytes),
        (
            "extract",
            f"{rates.extract_seconds:.4f} core s/MB",
            hours(rates.extract_seconds),
            _show_hours,
        ),
        ("prime", f"{rates.prime_seconds:.4f} core s/MB", hours(rates.prime_seconds), _show_hours),
        (
            "both, in money",
            f"× ${CORE_HOUR_DOLLARS:.2f}",
            lambda size: hours(counting)(size) * CORE_HOUR_DOLLARS,
            _show_dollars,
        ),
        (
            "on the line of one machine",
            "2 × read, 1 × written, 1.25 GB/s",
            line,
            lambda n: f"{_digits(n)} h",
        ),
        (
            "both in a day",
            f"the larger of core h / {day} and line h / 24",
            lambda size: math.ceil(max(hours(counting)(size) / day, line(size) / 24)),
            lambda n: f"{n:,.0f} machine{'s' if n > 1 else ''}",
        ),
        (
            "the manifest",
            f"{rates.manifest_bytes:.0f} bytes/MB",
            lambda size: size / 1e6 * rates.manifest_bytes,
            _show_bytes,
        ),
        (
            "pretrain, tokenize",
            f"{rates.tokenize_seconds:.2f} s/MB, one process",
            hours(rates.tokenize_seconds),
            lambda n: f"{_digits(n)} h",
        ),
        (
            "pretrain, every token once",
            f"{rates.tokens_per_core_second:,.0f} tokens/s a core",
            training,
            _show_hours,
        ),
        (
            "that in money",
            f"× ${CORE_HOUR_DOLLARS:.2f}",
            lambda size: training(size) * CORE_HOUR_DOLLARS,
            _show_dollars,
        ),
    )


def _digits(number: float) -> str:
    """Write two digits of a number; all of them below the point are noise."""
    if number >= 10:
        places = 1 - math.floor(math.log10(number))
        return f"{round(number, places):,.0f}"
    return f"{number:.2g}"


def _show_hours(hours: float) -> str:
    return f"{_digits(hours)} core h"


def _show_dollars(dollars: float) -> str:
    return f"${_digits(dollars)}" if dollars >= 0.01 else "below a cent"


def _show_bytes(size: float) -> str:
    for unit, factor in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if size >= factor:
            return f"{_digits(size / factor)} {unit}"
    return f"{_digits(size / 1e3)} kB"


def chart_scale() -> Chart:
    """Return the growth of time and memory with the corpus, the anchors and the values."""
    scale = _read("scale")
    corpus = {_size(size): costs for size, costs in scale["corpus"].items()}
    fits = [(*_read_case(case), cost["processor"]) for case, cost in scale["fit"].items()]
    panels = [
        _panel("time", "corpus, MB", "processor, s", _corpus_series(corpus, "processor")),
        _panel("memory of all processes", "corpus, MB", "MB", _corpus_series(corpus, "all")),
    ]
    for title, label, place in (("time of fit", "K", 0), ("time of fit", "distinct values", 1)):
        usual = (1000, 100_000)[1 - place]
        points = tuple((case[place], case[2]) for case in sorted(fits) if case[1 - place] == usual)
        panels.append(_panel(title, label, "processor, s", (Series("fit", points, slot=5),)))
    return Chart(
        name="scale",
        kind="lines",
        title="How time and memory grow",
        sentence=_describe_growth(scale["corpus"]),
        panels=tuple(panels),
    )


def _describe_growth(corpus: dict[str, Any]) -> str:
    small, large = (corpus[size]["extract"] for size in (_SMALL, _LARGE))
    time, memory = (large[key] / small[key] for key in ("processor", "all"))
    return (
        f"From {_SMALL} to {_LARGE}, extract takes {time:.1f} times the seconds of the processors "
        f"and {memory:.2f} times the memory."
    )


def _corpus_series(corpus: dict[int, dict[str, Any]], key: str) -> tuple[Series, ...]:
    series = []
    for slot, stage in enumerate(_STAGES[:4]):
        points = tuple(
            (size, costs[stage][key]) for size, costs in corpus.items() if stage in costs
        )
        series.append(Series(stage, points, slot=1 + slot % 2, dashed=stage.endswith("Ray")))
    return tuple(series)


def _panel(title: str, x: str, y: str, series: tuple[Series, ...]) -> Panel:
    points: Iterable[Point] = [point for one in series for point in one.points]
    xs, ys = zip(*points, strict=True)
    return Panel(
        title,
        Axis(x, min(xs) / 1.3, max(xs) * 1.3, log=True, decades=True),
        Axis(
            y, 10 ** math.floor(math.log10(min(ys))), 10 ** math.ceil(math.log10(max(ys))), log=True
        ),
        series=series,
    )


def _read_case(case: str) -> tuple[int, int]:
    """Return the anchors and the values of a case, such as `10 anchors, 1,000 values`."""
    anchors, values = case.removesuffix(" values").split(" anchors, ")
    return int(anchors.replace(",", "")), int(values.replace(",", ""))


def _size(name: str) -> int:
    return int(name.split()[0])


def _read(name: str) -> dict[str, Any]:
    measured: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text())
    return measured
