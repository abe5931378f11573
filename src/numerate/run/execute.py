"""Run: from a config to all the stages, in order; what is done and unchanged is skipped."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from numerate.errors import InputError
from numerate.extract.corpus import is_stream, open_corpus
from numerate.files import write_file, write_json
from numerate.pretrain.config import MwpBertConfig
from numerate.prime.variants import name_twin
from numerate.run.config import RECIPES, Config
from numerate.run.stages import PORTRAIT, SCORES, Entry, Stages
from numerate.run.steps import RECORD, State, Step, judge_step, run_step


def run_config(
    config: Config,
    root: Path,
    *,
    workers: int,
    quiet: bool = False,
    tell: Callable[[Step, State, float], object] = lambda step, state, seconds: None,  # noqa: ARG005
) -> Path:
    """Run all stages of a config into a folder, and return where the page is.

    Args:
        config: What to run.
        root: The folder; what equal settings have left there is kept.
        workers: How many processes work at a time.
        quiet: Whether to show no progress.
        tell: Called with each step, in what state it was, and how many seconds it took.
    """
    steps = plan_run(config, root, workers=workers, quiet=quiet)
    write_json(root / "config.json", describe_config(config, steps))
    for step in steps:
        if step.stage == "report":
            _gather_scores(config, root)
        state = judge_step(step, root)
        tell(step, state, 0.0 if state == "done" else run_step(step, root))
    return root / "report" / "index.html"


def describe_config(config: Config, steps: Sequence[Step]) -> dict[str, Any]:
    """Return what `config.json` says: the settings, and which folders are of this run."""
    document = {"format": "numerate-config", "version": 1, **config.model_dump(mode="json")}
    return {**document, "steps": ["/".join(filter(None, (s.stage, s.name))) for s in steps]}


def plan_run(config: Config, root: Path, *, workers: int = 1, quiet: bool = True) -> list[Step]:
    """Return the steps of a run in the order in which they depend on each other."""
    if "-" in config.corpus:
        raise InputError("corpus must not be '-': a run reads it more than once; name a file")
    stages = Stages(config, root, workers, quiet)
    corpus = _corpus_inputs(config)
    steps = [
        Step(
            "extract",
            "",
            {"corpus": config.corpus, **config.extract.model_dump()},
            corpus,
            ("counts.json",),
            stages.extract,
        )
    ]
    steps += _fit_steps(stages)
    for name in config.trained:
        steps += [_prime_step(stages, name), _train_step(stages, name)]
    steps += [_baseline_step(stages, system) for system in config.recipes]
    steps += [_probe_step(stages, entry) for entry in list_entries(config, root)]
    records = {step.title: step.folder(root) / RECORD for step in steps}
    settings = {"systems": config.systems, "name": config.name, **config.report.model_dump()}
    steps.append(Step("report", "", settings, records, ("index.html",), stages.report))
    return steps


def list_entries(config: Config, root: Path) -> list[Entry]:
    """Return the systems to probe, each with a folder of its own."""
    entries: list[Entry] = []
    for entry in _open_entries(config, root):
        taken = sum(other.folder.split("~")[0] == entry.folder for other in entries)
        folder = f"{entry.folder}~{taken + 1}" if taken else entry.folder
        entries.append(replace(entry, folder=folder))
    return entries


def _open_entries(config: Config, root: Path) -> Iterator[Entry]:
    for system in config.systems:
        if system in config.variants:
            trained = str(root / "pretrain" / system / "model")
            yield from _open_variant(config, system, Entry(system, system, trained))
        elif system.startswith("twin:"):
            variant = system.removeprefix("twin:")
            title = name_twin(variant)
            twin = Entry(f"twin-{variant}", title, _untrained(config, variant), None, variant)
            yield from _open_variant(config, variant, twin)
        elif system in RECIPES:
            title = config.baseline(system).title
            yield Entry(system, title, str(root / "baseline" / system / "model"))
        elif system == "base":
            yield Entry("base", "base", config.base, "absent")
        elif system.startswith("primed:"):
            variant = system.removeprefix("primed:")
            title, read = f"base primed as {variant}", config.variants[variant].read
            model = _untrained(config, variant)
            yield Entry(f"primed-{variant}", title, model, "visible", variant, read)
        else:
            title, _, model = system.rpartition("=")
            title = title or model
            yield Entry(re.sub(r"[^\w.-]+", "-", title).strip("-."), title, model)


def _open_variant(config: Config, variant: str, entry: Entry) -> Iterator[Entry]:
    """One system for each way in which a variant is shown its anchors."""
    chosen = config.variants[variant]
    for anchor in chosen.anchor or config.probe.anchor:
        read = "all" if anchor == "absent" else chosen.read  # there is the numeral alone
        yield replace(entry, folder=f"{entry.folder}-{anchor}", shown=anchor, read=read)


def _untrained(config: Config, variant: str) -> str:
    """The base model as it is, shown a variant's text in the variant's pieces."""
    reads_digits = config.training(variant).pieces == "digits"
    return f"control:primed:{'digits:' if reads_digits else ''}{config.base}"


def _corpus_inputs(config: Config) -> dict[str, Path | str]:
    opened = open_corpus(config.corpus, field=config.extract.field, errors=config.extract.errors)
    return {name: name if is_stream(name) else Path(name) for name in opened.sources}


def _fit_steps(stages: Stages) -> list[Step]:
    primed = [
        system.partition(":")[2]
        for system in stages.config.systems
        if system.startswith(("primed:", "twin:"))
    ]
    steps: dict[str, Step] = {}
    for variant in [*stages.config.trained, *primed]:
        name, chosen = stages.config.fit_name(variant), stages.config.variants[variant]
        outputs = ("anchors.json", "sweep.json") if chosen.sizes else ("anchors.json",)
        steps[name] = Step(
            "fit",
            name,
            {"scale": chosen.scale, "seed": stages.config.seed, **chosen.fit.model_dump()},
            {"counts.json": stages.counts_path},
            outputs,
            stages.fit(variant),
        )
    return list(steps.values())


def _prime_step(stages: Stages, variant: str) -> Step:
    chosen = stages.config.variants[variant]
    settings = {
        "marker": chosen.marker,
        **chosen.prime.model_dump(),
        **stages.config.extract.model_dump(),
    }
    inputs = {**_corpus_inputs(stages.config), "anchors.json": stages.anchors_path(variant)}
    return Step("prime", variant, settings, inputs, ("manifest.json",), stages.prime(variant))


def _train_step(stages: Stages, variant: str) -> Step:
    settings = asdict(stages.config.training(variant))
    inputs: dict[str, Path | str] = {
        "manifest.json": stages.root / "prime" / variant / "manifest.json",
        "base": stages.locate(stages.config.base),
    }
    if hold_out := settings["hold_out"]:
        inputs["hold_out"] = Path(hold_out)
    outputs = ("model/model.safetensors", "model/config.json")
    return Step("pretrain", variant, settings, inputs, outputs, stages.pretrain(variant))


def _baseline_step(stages: Stages, system: str) -> Step:
    config = stages.config.baseline(system)
    inputs: dict[str, Path | str] = {"base": stages.locate(config.base)}
    if isinstance(config, MwpBertConfig):
        inputs["problems"] = path = Path(config.problems)
        if not path.is_file():
            raise InputError(f"mwp_bert.problems: {path}: no such file")
    else:
        inputs |= _corpus_inputs(stages.config)
    outputs = ("model/model.safetensors", "model/config.json")
    return Step("baseline", system, asdict(config), inputs, outputs, stages.baseline(system))


def _probe_step(stages: Stages, entry: Entry) -> Step:
    from numerate.models.names import split_kind

    settings = {**stages.config.probe.model_dump(exclude={"anchor"}), "shown": entry.shown}
    settings["read"] = entry.read or settings["read"]
    inputs: dict[str, Path | str] = {"counts.json": stages.counts_path}
    model = entry.model.removeprefix("control:primed:")
    is_ours = Path(model).is_relative_to(stages.root)  # then it may not be there yet
    inputs["model"] = Path(model) if is_ours else stages.locate(model)
    if kind := split_kind(model)[0]:
        inputs["kind"] = kind
    if entry.primed_as:
        chosen = stages.config.variants[entry.primed_as]
        settings |= {"marker": chosen.marker, **chosen.prime.model_dump()}
        inputs["anchors.json"] = stages.anchors_path(entry.primed_as)
    return Step(
        "probe",
        entry.folder,
        {"title": entry.title, **settings},
        inputs,
        (SCORES, PORTRAIT),
        stages.probe(entry),
        growing=("seeds",),
    )


def _gather_scores(config: Config, root: Path) -> None:
    """Put the scores of all systems of this config into one file, if it does not have them."""
    folders = [root / "probe" / entry.folder for entry in list_entries(config, root)]
    data = b"".join((folder / SCORES).read_bytes() for folder in folders)
    path = root / "probe" / SCORES
    if not path.exists() or path.read_bytes() != data:
        write_file(path, data)
