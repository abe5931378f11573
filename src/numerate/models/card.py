"""The model cards of model folders, written from the content of `run.json` alone."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numerate.files import read_data
from numerate.options import LmKind
from numerate.prime.text import MARKERS

_PIECES = {
    "words": "in the word pieces of the base",
    "digits": "split into digits, without thousands separators",
    "anchors": "begin with one token for their first three digits and their length, "
    "whose vectors alone were trained: a text without numbers has the same vector as in the base",
}
_KIND_WORDS: dict[LmKind, dict[str, str]] = {
    "masked": {
        "pipeline": "fill-mask",
        "learned": "The anchors were masked, so the model had to learn how large numbers are in "
        "order to predict them.",
        "model_class": "AutoModelForMaskedLM",
        "hidden": "masked",
        "hidden_means": "the anchor is masked",
        "hide": "mask the anchor",
    },
    "causal": {
        "pipeline": "text-generation",
        "learned": "The model says an anchor as the next tokens behind its marker, so it had to "
        "learn how large numbers are.",
        "model_class": "AutoModelForCausalLM",
        "hidden": "unsaid",
        "hidden_means": "the input ends at the marker",
        "hide": "leave the anchor unsaid",
    },
}


def write_card(run: dict[str, Any]) -> str:
    """Return the model card for the `run.json` of `numerate pretrain`."""
    config, corpus = run["config"], run["config"]["corpus"]
    before, after = run["validation"]["start"], run["validation"]["end"]
    is_linear = config["scheduler"] == "linear"
    words = {
        "version": run["versions"]["numerate"],
        "sources": ", ".join(f"`{source['name']}`" for source in corpus["sources"]),
        "writing": _describe_writing(corpus),
        "markers": " and ".join(f"`{token}`" for token in MARKERS[corpus["marker"]]),
        "form": "as they were" if corpus["numeral_form"] == "as-is" else "without separators",
        "batch": config["batch_size"] * config["accumulate"],
        "scheduler": "decaying linearly" if is_linear else config["scheduler"],
        **_KIND_WORDS[run["kind"]],
        "asked": _describe_labels(config),
        "said": _tabulate_said(before, after),
        "extras": _describe_extras(run),
        "n_anchors": after["eval_anchors"],
        "distance_before": describe_distance(before),
        "distance_after": describe_distance(after),
    }
    values = corpus | config | run | words
    return read_data("model_card.md").format(**values, before=before, after=after)


def write_baseline_card(run: dict[str, Any]) -> str:
    """Return the model card for the `run.json` of `numerate baseline`."""
    config = run["config"]
    name = f"{config['recipe'].replace('-', '_')}_card.md"
    budget = {"max_tokens": "{:,} tokens", "max_minutes": "{:g} minutes", "epochs": "{:g} epochs"}
    limit = next(form.format(config[key]) for key, form in budget.items() if config[key])
    return read_data(name).format(
        **config,
        budget=limit,
        batch=config["batch_size"] * config["accumulate"],
        numerate=run["versions"]["numerate"],
        steps=run["steps"],
        tokens=run["tokens"],
        minutes=run["seconds_training"] / 60,
        parameters=run["parameters"],
        data=run["data"],
        sources=", ".join(f"`{name}`" for name in config.get("corpus", ())) or "none",
        extras=_describe_head(run),
        scores=_tabulate_validation(run["validation"]),
    )


def write_tune_card(run: dict[str, Any]) -> str:
    """Return the model card for the `run.json` of `numerate tune`."""
    config = run["config"]
    words = {
        "version": run["versions"]["numerate"],
        "sources": ", ".join(f"`{Path(name).name}`" for name in config["corpus"]["sources"]),
        "batch": config["batch_size"] * config["accumulate"],
        "pieces": _PIECES[config["pieces"]],
        "teacher": config["teacher"] or f"`{config['base']}` as it was",
        "trust": ", trust_remote_code=True" if run["primes"] else "",
    }
    validation = {"before": run["validation"]["start"], "after": run["validation"]["end"]}
    values = config | run | run["texts"] | words | validation
    return read_data("tune_card.md").format(**values)


def _tabulate_validation(validation: Mapping[str, Mapping[str, float]]) -> str:
    """Return the metrics before and after training as rows of a Markdown table."""
    start, end = validation["start"], validation["end"]
    return "\n".join(
        f"| {name.removeprefix('eval_').replace('_', ' ')} | {start[name]:.3f} | {end[name]:.3f} |"
        for name in end
        if name.startswith("eval_")
    )


def _describe_head(run: dict[str, Any]) -> str:
    if not run["fresh_weights"]:
        return ""
    kind = run.get("kind", "masked")  # baselines have no other
    return f"- The base model has no {kind}-LM head; training started with a fresh one\n"


def _tabulate_said(before: Mapping[str, float], after: Mapping[str, float]) -> str:
    """Return the row of a Markdown table on generated anchors, which causal models alone have."""
    if "eval_said" not in after:
        return ""
    return f"| anchors said, greedy | {before['eval_said']:.1%} | {after['eval_said']:.1%} |\n"


def describe_distance(validation: Mapping[str, float]) -> str:
    """Return the mean distance of a validation as text; a dash if no prediction was a number."""
    return f"{validation['eval_distance']:.3f}" if validation["eval_readable"] else "–"


def _describe_writing(corpus: dict[str, Any]) -> str:
    width = corpus.get("width", 1)
    finer = f", resolution {corpus['resolution']:g}" if corpus["scale"] == "ln" else ""
    return finer + (f", {width} digits each" if width > 1 else "")


def _describe_labels(config: dict[str, Any]) -> str:
    visible, share = config["anchor_visible"], config["mlm_probability"] or config["lm_share"]
    anchors = "every anchor"
    if visible:
        anchors = f"all anchors but {visible:.0%}"
    others = f"{share:.0%} of the other tokens" if share else "nothing else"
    return f"the tokens of {anchors}, and {others}"


def _describe_values(before: float | None, after: float | None) -> str:
    """Return how far off the numbers are that the objective `value` predicts."""
    if before is None or after is None:
        return ""
    return f"; the predicted number is off by {after:.3f} in ln (before training {before:.3f})"


def _describe_extras(run: dict[str, Any]) -> str:
    lines = []
    objective = run["config"]["objective"]
    if objective != ["tokens"]:
        distances = [run["validation"][key].get("eval_value_distance") for key in ("start", "end")]
        lines.append(f"- **Objective**: {' and '.join(objective)}" + _describe_values(*distances))
    if run["config"]["pieces"] == "digits":
        lines.append("- **Tokens**: numbers are split into digits, without thousands separators")
    if run["config"]["rehearse"]:
        held = " (except those held out for probing)" if run["config"]["hold_out"] else ""
        lines.append(
            f"- **Rehearsal**: {run['config']['rehearse']:.0%} of the tokens were bare numerals "
            f"with their anchors, drawn log-uniformly from 1 to 10^10{held}"
        )
    return "".join(f"{line}\n" for line in lines) + _describe_head(run)
