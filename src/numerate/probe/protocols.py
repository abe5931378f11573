"""Protocols: the settings of a probe, from sampling to training.

- `paper` follows the paper's scripts, but is seeded and never has a pair or list in both train and
  test. As there, the pairs and lists of all ranges together are those of each range, pooled.
- `strict` splits the numbers first, so that no number of the test set is seen in training.
- `laptop` is `strict` with a list classifier that trains in seconds, a quarter of the trees at four
  times the learning rate, and fewer bins for wide inputs.
- `leaky` has the samples of `paper` and the probes of `laptop`; it shows the effect of the split.
- `demo` is a smaller `laptop` that runs in a minute or two.
"""

from dataclasses import dataclass, replace
from typing import Literal

from numerate.errors import InputError

LINE_NOTE = (
    "the whole number line: all integers below 1,000, 2,000 of [1k,10k] and 2,000 of "
    "[10k,10^10], uniform in their logarithm, always the same"
)
"""What is asked without the counts of a corpus."""
TEST_SHARE = 0.2
VALIDATION_SHARE = 0.1
LIST_LENGTH = 5
TREE_DEPTH = 5
BINS = 256  # the default of XGBoost
WIDE = 64  # inputs with more coordinates are wide


@dataclass(frozen=True, kw_only=True)
class ListProbe:
    """The settings of a classifier that finds the largest or smallest number of a list.

    `lstm` reads the five vectors in order with stacked LSTMs. `scorer` applies one small network to
    each vector and compares the five outputs.
    """

    kind: Literal["lstm", "scorer"]
    layers: int
    width: float
    """Hidden units: for an LSTM as a multiple of the width of the vectors, for a scorer in all."""
    outputs: Literal["sigmoid", "softmax"]
    """With sigmoids the first output above 0.5 is the answer, or the first of all if none is above,
    as in the paper's scripts."""
    epochs: int
    batch: int
    learning_rate: float
    weight_decay: float = 0.0
    choose_epoch: bool = True
    """Whether to keep the epoch with the best validation accuracy, rather than the last."""
    standardize: bool = True


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """The settings of a probe: how data are split, how many there are, and what is trained."""

    name: str
    split: Literal["samples", "numbers"]
    lists: ListProbe
    trees: int = 1000
    learning_rate: float = 0.01
    wide_bins: int = BINS
    """Bins of XGBoost for each coordinate of a wide input."""
    n_train: int = 800
    """Pairs or lists of each range to train on; a tenth of them are for validation."""
    n_test: int = 200
    """Pairs of each range to test on."""
    n_test_lists: int = 2000
    """Lists of each range to test on."""
    close_share: float = 0.5
    """The share of lists whose numbers are close in value."""
    most: int | None = None
    """The largest number of numerals of a cell."""

    def count_bins(self, width: int) -> int:
        """Return the number of bins for inputs of a width."""
        return self.wide_bins if width > WIDE else BINS


_LSTM = ListProbe(
    kind="lstm", layers=4, width=2.0, outputs="softmax", epochs=150, batch=10, learning_rate=1e-4
)
PAPER = Protocol(
    name="paper",
    split="samples",
    lists=replace(_LSTM, outputs="sigmoid", choose_epoch=False, standardize=False),
    n_test_lists=200,
    close_share=0.0,
)
STRICT = Protocol(name="strict", split="numbers", lists=_LSTM)
LAPTOP = Protocol(
    name="laptop",
    split="numbers",
    lists=ListProbe(
        kind="scorer",
        layers=2,
        width=128,
        outputs="softmax",
        epochs=50,
        batch=50,
        learning_rate=1e-3,
        weight_decay=1e-2,
    ),
    trees=250,
    learning_rate=0.04,
    wide_bins=16,
)
LEAKY = replace(
    LAPTOP,
    name="leaky",
    split=PAPER.split,
    n_test_lists=PAPER.n_test_lists,
    close_share=PAPER.close_share,
)
DEMO = replace(
    LAPTOP,
    name="demo",
    lists=replace(LAPTOP.lists, epochs=40),
    trees=100,
    learning_rate=0.1,
    n_train=400,
    n_test=100,
    n_test_lists=100,
    most=500,
)
PROTOCOLS = {protocol.name: protocol for protocol in (PAPER, STRICT, LAPTOP, LEAKY, DEMO)}


def find_protocol(name: str) -> Protocol:
    """Return a protocol by name."""
    if name not in PROTOCOLS:
        raise InputError(f"protocol must be one of {', '.join(PROTOCOLS)}, got {name!r}")
    return PROTOCOLS[name]
