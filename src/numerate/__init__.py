"""Make any language model numerate.

The names below are the public API. They are loaded when first used, so that `import numerate` and
the command line's `--help` are quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numerate.embed.encoder import Encoder as Encoder
    from numerate.embed.load import load as load
    from numerate.errors import InputError as InputError
    from numerate.extract.almanac import write_almanac as write_almanac
    from numerate.extract.corpus import Corpus as Corpus
    from numerate.extract.corpus import open_corpus as open_corpus
    from numerate.extract.counts import Counts as Counts
    from numerate.extract.counts import extract_counts as extract_counts
    from numerate.extract.numerals import Numeral as Numeral
    from numerate.extract.numerals import find_numerals as find_numerals
    from numerate.fit.anchors import AnchorSet as AnchorSet
    from numerate.fit.fitting import fit_anchors as fit_anchors
    from numerate.fit.fitting import sweep_components as sweep_components
    from numerate.pretrain.baselines.train import train_baseline as train_baseline
    from numerate.pretrain.config import GenbertConfig as GenbertConfig
    from numerate.pretrain.config import MwpBertConfig as MwpBertConfig
    from numerate.pretrain.config import PretrainConfig as PretrainConfig
    from numerate.pretrain.train import pretrain_model as pretrain_model
    from numerate.prime.primed_corpus import open_primed as open_primed
    from numerate.prime.primed_corpus import prime_corpus as prime_corpus
    from numerate.prime.primed_corpus import unprime_corpus as unprime_corpus
    from numerate.prime.scheme import Priming as Priming
    from numerate.prime.text import prime_text as prime_text
    from numerate.prime.text import unprime_text as unprime_text

__version__ = "0.1.0.dev0"

_HOMES = {
    "embed.encoder": ["Encoder"],
    "embed.load": ["load"],
    "errors": ["InputError"],
    "extract.almanac": ["write_almanac"],
    "extract.corpus": ["Corpus", "open_corpus"],
    "extract.counts": ["Counts", "extract_counts"],
    "extract.numerals": ["Numeral", "find_numerals"],
    "fit.anchors": ["AnchorSet"],
    "fit.fitting": ["fit_anchors", "sweep_components"],
    "pretrain.baselines.train": ["train_baseline"],
    "pretrain.config": ["GenbertConfig", "MwpBertConfig", "PretrainConfig"],
    "pretrain.train": ["pretrain_model"],
    "prime.primed_corpus": ["open_primed", "prime_corpus", "unprime_corpus"],
    "prime.scheme": ["Priming"],
    "prime.text": ["prime_text", "unprime_text"],
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
