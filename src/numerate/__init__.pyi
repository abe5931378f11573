# The public names, each once: `__init__.py` reads them from here, and so do type checkers.

from numerate.embed.encoder import Encoder as Encoder
from numerate.embed.load import load as load
from numerate.embed.neighbours import find_similar as find_similar
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
from numerate.tune.config import TuneConfig as TuneConfig
from numerate.tune.loss import MagnitudeLoss as MagnitudeLoss
from numerate.tune.tune import tune_encoder as tune_encoder

__version__: str
