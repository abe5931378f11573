"""Copies the small files of a run to `results/`: scores, tables, figures, curves, settings, times.

`python -m benchmarks.keep_results RUN FOLDER`. Texts, weights, vectors, the page and large figures
are not copied, and the paths of other files are cut down to their names.
"""

import json
import shutil
import sys
from pathlib import Path

from numerate.files import write_json

LARGE = 1_000_000  # bytes


def keep_run(run: Path, kept: Path) -> dict[str, float]:
    """Copy the small files of a run into a folder; return the seconds of each step."""
    for part in ("tables", "figures"):
        shutil.rmtree(kept / part, ignore_errors=True)
        shutil.copytree(run / "report" / part, kept / part, ignore=_find_large)
    shutil.copy(run / "probe" / "scores.jsonl", kept / "scores.jsonl")
    config = json.loads((run / "config.json").read_text())
    config["corpus"] = [_name(source) for source in config["corpus"]]
    if "mwp_bert" in config:
        config["mwp_bert"]["problems"] = Path(config["mwp_bert"]["problems"]).name
    write_json(kept / "config.json", config)
    seconds = {}
    for step in config["steps"]:  # not folders of earlier settings, which the run keeps too
        curve, record = (run / step / name for name in ("model/curve.json", "run.json"))
        if curve.exists():
            path = kept / "curves" / f"{Path(step).name}.json"
            write_json(path, json.loads(curve.read_text()))
        seconds[step] = json.loads(record.read_text())["seconds"]
    return seconds


def _find_large(folder: str, names: list[str]) -> list[str]:
    """Return the files of a folder that are not copied: PNG images, and large files."""
    paths = [Path(folder, name) for name in names]
    return [p.name for p in paths if p.suffix == ".png" or p.stat().st_size > LARGE]


def _name(source: str) -> str:
    return source if ":" in source else Path(source).name


if __name__ == "__main__":
    run, kept = map(Path, sys.argv[1:])
    write_json(kept / "times.json", {"steps": keep_run(run, kept)})
