"""Keeps what is small of a run in `results/`: scores, tables, figures, curves, settings, times.

`python -m benchmarks.keep RUN FOLDER`. Texts, weights, vectors and the page stay behind, and of
files elsewhere only their names are kept.
"""

import json
import shutil
import sys
from pathlib import Path

from numerate.files import write_json


def keep_run(run: Path, kept: Path) -> dict[str, float]:
    """Copy what is small of a run into a folder; return the seconds that each step took."""
    for part in ("tables", "figures"):
        shutil.rmtree(kept / part, ignore_errors=True)
        shutil.copytree(run / "report" / part, kept / part, ignore=shutil.ignore_patterns("*.png"))
    shutil.copy(run / "probe" / "scores.jsonl", kept / "scores.jsonl")
    config = json.loads((run / "config.json").read_text())
    config["corpus"] = [_name(source) for source in config["corpus"]]
    if "mwp_bert" in config:
        config["mwp_bert"]["problems"] = Path(config["mwp_bert"]["problems"]).name
    write_json(kept / "config.json", config)
    for path in sorted(run.glob("*/*/model/curve.json")):
        entries = json.loads(path.read_text())
        write_json(kept / "curves" / f"{path.parts[-3]}.json", entries)
    return {
        path.parent.relative_to(run).as_posix(): json.loads(path.read_text())["seconds"]
        for path in sorted(run.glob("*/run.json")) + sorted(run.glob("*/*/run.json"))
    }


def _name(source: str) -> str:
    return source if ":" in source else Path(source).name


if __name__ == "__main__":
    run, kept = map(Path, sys.argv[1:])
    write_json(kept / "times.json", {"steps": keep_run(run, kept)})
