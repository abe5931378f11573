"""Make any language model numerate.

The names below are the public API. They are loaded when first used, so that `import numerate` and
the command line's `--help` are quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numerate.almanac import write_almanac as write_almanac
    from numerate.baseline import GenbertConfig as GenbertConfig
    from numerate.baseline import MwpBertConfig as MwpBertConfig
    from numerate.baseline import train_baseline as train_baseline
    from numerate.corpus import Corpus as Corpus
    from numerate.corpus import open_corpus as open_corpus
    from numerate.embed import Encoder as Encoder
    from numerate.errors import InputError as InputError
    from numerate.extract import Counts as Counts
    from numerate.extract import extract_counts as extract_counts
    from numerate.fit import AnchorSet as AnchorSet
    from numerate.fit import fit_anchors as fit_anchors
    from numerate.loading import load as load
    from numerate.numerals import Numeral as Numeral
    from numerate.numerals import find_numerals as find_numerals
    from numerate.pretrain import PretrainConfig as PretrainConfig
    from numerate.pretrain import pretrain_model as pretrain_model
    from numerate.prime import prime_text as prime_text
    from numerate.prime import unprime_text as unprime_text
    from numerate.priming import Priming as Priming
    from numerate.shards import open_primed as open_primed
    from numerate.shards import prime_corpus as prime_corpus
    from numerate.shards import unprime_corpus as unprime_corpus
    from numerate.sweep import sweep_components as sweep_components

__version__ = "0.1.0.dev0"

_HOMES = {
    "almanac": ["write_almanac"],
    "baseline": ["GenbertConfig", "MwpBertConfig", "train_baseline"],
    "corpus": ["Corpus", "open_corpus"],
    "embed": ["Encoder"],
    "errors": ["InputError"],
    "extract": ["Counts", "extract_counts"],
    "fit": ["AnchorSet", "fit_anchors"],
    "loading": ["load"],
    "numerals": ["Numeral", "find_numerals"],
    "pretrain": ["PretrainConfig", "pretrain_model"],
    "prime": ["prime_text", "unprime_text"],
    "priming": ["Priming"],
    "shards": ["open_primed", "prime_corpus", "unprime_corpus"],
    "sweep": ["sweep_components"],
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}
__all__ = sorted(_HOME)


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'numerate' has no attribute {name!r}")
    try:
        module = import_module(f"numerate.{_HOME[name]}")
    except ModuleNotFoundError as error:
        if (error.name or "numerate").startswith("numerate"):
            raise
        message = f"numerate.{name} needs {error.name}: pip install 'numerate[all]'"
        raise ImportError(message) from error
    return getattr(module, name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
