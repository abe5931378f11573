"""Primes a corpus on disk: a `Corpus` and anchors go in, a folder (`PrimedCorpus`) comes out.

The folder has a shard for each block of the corpus, `anchors.json`, and `manifest.json`, which is
written last. A shard is complete or absent. After an interruption the same call keeps the shards
that exist and ends with the same bytes.
"""

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from numerate.engines import Engine, LocalEngine
from numerate.errors import InputError
from numerate.extract.corpus import Corpus, is_stream
from numerate.extract.pieces import Piece, cut_corpus
from numerate.extract.sources import Block
from numerate.extract.storage import find_status
from numerate.files import check_parents, has_shape, read_json, write_file
from numerate.fit.anchors import AnchorSet
from numerate.options import Marker, NumeralForm
from numerate.parallel import Progress, ignore_progress
from numerate.prime.text import (
    MARKERS,
    PrimedBytes,
    check_priming,
    count_markers,
    prime_block,
    unprime_bytes,
    unprime_text,
)
from numerate.work import WorkFolder

FORMAT = "numerate-primed"
MANIFEST, _ANCHORS = "manifest.json", "anchors.json"
_SIZES = {"documents": int, "numerals": int, "bytes": int}
_SHAPE = {
    **_SIZES,
    "settings": {"marker": str, "numeral_form": str, "sources": [{"name": str}]},
    "shards": [{**_SIZES, "name": str, "sha256": str, "source": str}],
}


@dataclass(frozen=True)
class PrimedCorpus:
    """A complete primed corpus: its folder, its anchors and the content of its manifest."""

    folder: Path
    anchors: AnchorSet
    manifest: dict[str, Any]

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of priming: scale, marker, numeral form, sources and so on."""
        return dict(self.manifest["settings"])

    def check_anchors(self) -> None:
        """Refuse a folder whose `anchors.json` differs from the anchors in its text."""
        found = _describe_anchors(self.anchors)
        if found != {key: self.settings.get(key) for key in found}:
            raise InputError(
                f"{self.folder / _ANCHORS}: anchors on the {self.anchors.scale} scale, not those "
                f"that the corpus was primed with ({self.settings.get('scale')}); prime it again"
            )

    def documents(self) -> Iterator[str]:
        """Yield the primed documents: records, or lines that are not blank."""
        for shard in self.manifest["shards"]:
            data = self.read_shard(shard)
            lines = data.decode("utf-8").split("\n")
            if shard["name"].endswith(".jsonl"):
                yield from (json.loads(line)["text"] for line in lines if line)
            else:
                yield from (line for line in lines if line and not line.isspace())

    def read_shard(self, shard: dict[str, Any]) -> bytes:
        """Return the bytes of a shard; refuse them if their hash is not that in the manifest."""
        path = self.folder / shard["name"]
        data = path.read_bytes() if path.is_file() else b""
        if hashlib.sha256(data).hexdigest() != shard["sha256"]:
            raise InputError(f"{path}: missing or changed; prime the corpus again")
        return data


def open_primed(folder: Path | str) -> PrimedCorpus:
    """Return the primed corpus in a folder."""
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: a file, not a primed corpus; make one with 'numerate prime'")
    if _open_folder(folder).mark.exists():
        raise InputError(f"{folder}: priming is unfinished; run the same 'numerate prime' again")
    manifest = read_json(folder / MANIFEST, FORMAT, made_by="numerate prime")
    if not has_shape(manifest, _SHAPE) or manifest["settings"]["marker"] not in MARKERS:
        raise InputError(f"{folder / MANIFEST}: a damaged manifest; prime the corpus again")
    return PrimedCorpus(folder, AnchorSet.load(folder / _ANCHORS), manifest)


def prime_corpus(
    corpus: Corpus,
    anchors: AnchorSet,
    folder: Path | str,
    *,
    marker: Marker = "anc",
    numeral_form: NumeralForm = "as-is",
    workers: int = 1,
    engine: Engine | None = None,
    progress: Progress = ignore_progress,
) -> PrimedCorpus:
    """Prime a corpus into a folder; after an interruption, continue with the same call.

    The folder is new or empty, or that of the same priming, finished or not; a copy of the anchors
    goes into it. `marker` and `numeral_form` are those of `prime_text`. The engine, by default a
    local one with `workers` processes, decides how the documents are divided into shards, and
    nothing else. `progress` is called with the number of bytes of the corpus read so far.
    """
    engine = engine or LocalEngine(workers)
    check_priming(anchors, marker, numeral_form)
    settings = _describe(corpus, anchors, marker, numeral_form)
    work = _open_folder(Path(folder))
    prime = partial(prime_block, anchors=anchors, marker=marker, numeral_form=numeral_form)
    with work.hold():
        if work.check_state({"settings": settings}) != "done":
            _write_shards(work, corpus, anchors, settings, prime, engine, progress)
    return open_primed(folder)


def _write_shards(
    work: WorkFolder,
    corpus: Corpus,
    anchors: AnchorSet,
    settings: dict[str, Any],
    prime: Callable[[Block], PrimedBytes],
    engine: Engine,
    progress: Progress,
) -> None:
    """Write the shards of a corpus, or those that are missing, and then the manifest."""
    make = partial(_make_shards, folder=work.path.absolute(), prime=prime)
    shards: list[dict[str, Any]] = []
    with work.attempt({"settings": settings}):
        for piece, made in engine.map(make, cut_corpus(corpus, engine.part_bytes)):
            shards += made
            progress(piece.position)
        if not any(shard["numerals"] for shard in shards):
            raise InputError(
                f"{', '.join(corpus.sources)}: no numerals of the domain '{anchors.domain}'"
            )
    _remove_others(work.path, {shard["name"] for shard in shards})
    anchors.save(work.path / _ANCHORS)
    work.finish(_manifest(settings, shards))


def unprime_corpus(
    primed: PrimedCorpus, folder: Path | str, *, progress: Progress = ignore_progress
) -> list[Path]:
    """Write the corpus without markers and anchors, one file for each source; return the files."""
    folder = Path(folder)
    if folder.exists():
        raise InputError(f"{folder}: exists already; name a new folder")
    check_parents(folder)
    unfinished = folder.with_name(f".{folder.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    try:
        names = _unprime_into(unfinished, primed, progress)
        unfinished.rename(folder)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return [folder / name for name in names]


def _unprime_into(folder: Path, primed: PrimedCorpus, progress: Progress) -> list[str]:
    """Write a file for each source, and return their names."""
    names: list[str] = []
    done = 0
    for source, shards in groupby(primed.manifest["shards"], key=lambda shard: shard["source"]):
        name = _file_name(source, names)
        with (folder / name).open("wb") as file:
            for shard in shards:
                file.write(_unprime_shard(primed.read_shard(shard), shard["name"]))
                done += shard["bytes"]
                progress(done)
        names.append(name)
    return names


def _open_folder(folder: Path) -> WorkFolder:
    return WorkFolder(folder, "a primed corpus", MANIFEST, FORMAT)


def _describe(
    corpus: Corpus, anchors: AnchorSet, marker: Marker, numeral_form: NumeralForm
) -> dict[str, Any]:
    """Return the settings on which the content of the shards depends."""
    return {
        **_describe_anchors(anchors),
        "marker": marker,
        "numeral_form": numeral_form,
        "field": corpus.field,
        "errors": corpus.errors,
        "sources": [_describe_source(name) for name in corpus.sources],
    }


def _describe_anchors(anchors: AnchorSet) -> dict[str, Any]:
    return {
        "scale": anchors.scale,
        "resolution": anchors.resolution,
        "domain": anchors.domain,
        "width": anchors.width,
        "anchors_sha256": hashlib.sha256(json.dumps(anchors.values).encode()).hexdigest(),
    }


def _describe_source(name: str) -> dict[str, Any]:
    if is_stream(name):
        return {"name": name}
    status = find_status(name)
    return {"name": name, "bytes": status.size, "modified": status.modified}


def _make_shards(
    piece: Piece, folder: Path, prime: Callable[[Block], PrimedBytes]
) -> list[dict[str, Any]]:
    """Write the shards of a piece that do not exist, and return the entries in the manifest."""
    return [
        {**_make_shard(block, folder / piece.name.format(number), prime), "source": piece.source}
        for number, block in enumerate(piece.blocks)
    ]


def _remove_others(folder: Path, names: set[str]) -> None:
    """Remove the shards that an attempt with another engine left behind."""
    for path in (*folder.glob("shard-*"), *folder.glob("part-*")):
        if path.name not in names:
            path.unlink()


def _make_shard(block: Block, path: Path, prime: Callable[[Block], PrimedBytes]) -> dict[str, Any]:
    """Write the shard of a block unless it exists, and return its entry in the manifest."""
    path = path.with_suffix(".txt" if block.bounds is None else ".jsonl")
    if path.exists():
        data = path.read_bytes()
    else:
        data = _write_block(block, prime(block))
        write_file(path, data)
    return {
        "name": path.name,
        "bytes": len(data),
        "documents": block.documents,
        "numerals": count_markers(data),
        "sha256": hashlib.sha256(data).hexdigest(),
    }


def _write_block(block: Block, primed: PrimedBytes) -> bytes:
    """Return the content of a shard: the primed text or, for records, JSON Lines."""
    if block.bounds is None:
        return primed.data
    bounds = tuple(primed.move(block.bounds).tolist())
    return _dump_records(replace(block, data=primed.data, bounds=bounds).texts())


def _unprime_shard(data: bytes, name: str) -> bytes:
    if not name.endswith(".jsonl"):
        return unprime_bytes(data)
    return _dump_records(unprime_text(json.loads(line)["text"]) for line in data.splitlines())


def _dump_records(texts: Iterable[str]) -> bytes:
    lines = (json.dumps({"text": text}, ensure_ascii=False) + "\n" for text in texts)
    return "".join(lines).encode()


def _manifest(settings: dict[str, Any], shards: list[dict[str, Any]]) -> dict[str, Any]:
    totals = {key: sum(shard[key] for shard in shards) for key in _SIZES}
    return {"format": FORMAT, "version": 1, **totals, "settings": settings, "shards": shards}


def _file_name(source: str, taken: list[str]) -> str:
    """Return a file name for a source: its own, uncompressed, and not yet taken."""
    plain = source.strip(":").replace(":", "-").replace("/", "-")
    if not is_stream(source):
        plain = Path(source).name
    for suffix in (".gz", ".xz", ".zst"):
        plain = plain.removesuffix(suffix)
    if is_stream(source) or plain.endswith(".parquet"):
        plain = plain.removesuffix(".parquet") + ".jsonl"
    return f"{len(taken)}-{plain}" if plain in taken else plain
