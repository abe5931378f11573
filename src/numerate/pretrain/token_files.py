"""Writes token sequences to files, one by one: not all of them need to fit into memory."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from numerate.errors import InputError
from numerate.files import open_whole

if TYPE_CHECKING:
    from numerate.pretrain.sequences import TokenSequence


def save_sequences(sequences: Iterable["TokenSequence"], folder: Path) -> None:
    """Write the arrays of `Sequences` into a folder.

    A file with its final name is complete; `bounds.npy` gets its name last.
    """
    kinds = {"bounds": np.int64, "magnitudes": np.float32, "ids": np.int32}
    try:
        with ExitStack() as stack:  # it closes the last file first
            add_bound, add_magnitudes, add_ids = (
                stack.enter_context(_write_array(folder / f"{name}.npy", np.dtype(kind)))
                for name, kind in kinds.items()
            )
            end = 0
            add_bound(np.array([end]))
            for sequence in sequences:
                end += len(sequence.ids)
                add_ids(sequence.ids)
                add_magnitudes(sequence.magnitudes)
                add_bound(np.array([end]))
    except OSError as error:
        raise InputError(f"{folder}: could not be written ({error}); make room") from None


@contextmanager
def _write_array(path: Path, kind: np.dtype[Any]) -> Iterator[Callable[[npt.NDArray[Any]], None]]:
    """Open an `.npy` file, and yield a function that appends values to its array."""
    with open_whole(path) as file:
        size = 0

        def write_header() -> None:  # numpy leaves room in it for any size
            header = {"descr": kind.str, "fortran_order": False, "shape": (size,)}
            np.lib.format.write_array_header_1_0(file, header)

        def append(values: npt.NDArray[Any]) -> None:
            nonlocal size
            file.write(values.astype(kind).tobytes())
            size += len(values)

        write_header()
        yield append
        file.seek(0)
        write_header()
