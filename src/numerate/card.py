"""The model card that goes into a model folder, from what `run.json` says and nothing else."""

from collections.abc import Mapping
from importlib import resources
from typing import Any

from numerate.prime import MARKERS


def write_card(run: dict[str, Any]) -> str:
    """Return the model card of a run of `numerate pretrain`."""
    config, corpus = run["config"], run["config"]["corpus"]
    is_ln = corpus["scale"] == "ln"
    template = resources.files("numerate").joinpath("data", "model_card.md")
    return template.read_text(encoding="utf-8").format(
        base=config["base"],
        example=run["example"],
        version=run["versions"]["numerate"],
        sources=", ".join(f"`{source['name']}`" for source in corpus["sources"]),
        scale=corpus["scale"],
        resolution=f", resolution {corpus['resolution']:g}" if is_ln else "",
        markers=" and ".join(f"`{token}`" for token in MARKERS[corpus["marker"]]),
        form="as they were" if corpus["numeral_form"] == "as-is" else "without separators",
        tokens=run["tokens"],
        steps=run["steps"],
        batch=config["batch_size"] * config["accumulate"],
        max_length=config["max_length"],
        learning_rate=config["learning_rate"],
        scheduler="decaying linearly" if config["scheduler"] == "linear" else config["scheduler"],
        seed=config["seed"],
        masked=_describe_masking(config),
        extras=_describe_extras(run),
        n_anchors=run["validation"]["end"]["eval_anchors"],
        distance_before=describe_distance(run["validation"]["start"]),
        distance_after=describe_distance(run["validation"]["end"]),
        before=run["validation"]["start"],
        after=run["validation"]["end"],
        domain=corpus["domain"],
    )


def describe_distance(validation: Mapping[str, float]) -> str:
    """Return the mean distance of a validation, if any prediction was a number."""
    return f"{validation['eval_distance']:.3f}" if validation["eval_readable"] else "–"


def _describe_masking(config: dict[str, Any]) -> str:
    parts = ["the pieces of every anchor"]
    if config["anchor_visible"]:
        parts = [f"the pieces of every anchor but {config['anchor_visible']:.0%} left visible"]
    if config["mlm_probability"]:
        parts.append(f"{config['mlm_probability']:.0%} of the other tokens")
    else:
        parts.append("nothing else")
    return ", and ".join(parts)


def _describe_extras(run: dict[str, Any]) -> str:
    lines = []
    if run["config"]["rehearse"]:
        held = " (some held out for probing)" if run["config"]["hold_out"] else ""
        lines.append(
            f"- **Rehearsal**: {run['config']['rehearse']:.0%} of the tokens were bare numerals "
            f"with their anchors, drawn log-uniformly from 1 to 10^10{held}"
        )
    if run["fresh_weights"]:
        lines.append("- The base model came without a masked-LM head; it started with a fresh one")
    return "".join(f"{line}\n" for line in lines)
