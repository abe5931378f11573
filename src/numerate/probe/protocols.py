"""Protocols: how a probe samples, trains and answers; each a small table of settings.

`paper` is what the paper's scripts do, but seeded and without the same pair or list in train and
test. `strict` splits the numbers first, so that nothing in a test sample was seen in training.
`laptop` is strict with a list classifier that trains in seconds, and a quarter of the trees at four
times the rate, which see fewer quantiles of each coordinate where there are many. `leaky` asks what
`paper` does and answers as laptop does: what the split alone changes. `demo` is laptop at a size
that a newcomer waits for.
"""

from dataclasses import dataclass, replace
from typing import Literal

from numerate.errors import InputError

TEST_SHARE = 0.2
VALIDATION_SHARE = 0.1
LIST_LENGTH = 5
BINS, WIDE = 256, 64  # XGBoost's own, and more coordinates than this are wide


@dataclass(frozen=True)
class ListProbe:
    """A classifier that says where in a list the largest or smallest number stands.

    `lstm` reads the five vectors one after the other with stacked LSTMs; `scorer` gives each vector
    a score by one small network, the same for every place, and compares the five.
    """

    kind: Literal["lstm", "scorer"]
    layers: int
    width: float
    """Of an LSTM in widths of the embedding, of a scorer in units."""
    outputs: Literal["sigmoid", "softmax"]
    """Sigmoids answer with the first output above a half, as the paper's scripts do."""
    epochs: int
    batch: int
    learning_rate: float
    weight_decay: float = 0.0
    choose_epoch: bool = True
    """By accuracy on a validation part; otherwise the last one counts."""
    standardize: bool = True


@dataclass(frozen=True)
class Protocol:
    """How to probe: what is split, how many samples there are, and what is trained on them."""

    name: str
    split: Literal["samples", "numbers"]
    lists: ListProbe
    trees: int = 1000
    depth: int = 5
    learning_rate: float = 0.01
    wide_bins: int = BINS
    """Quantiles of a coordinate where a tree may split, if the input is wide."""
    n_train: int = 800
    n_test: int = 200
    close_share: float = 0.5
    """Of the lists, those whose numbers are neighbours in value."""
    most: int | None = None
    """Numerals of a cell at most, the same for all seeds and tasks."""

    def count_bins(self, width: int) -> int:
        """Return how many quantiles trees see of each coordinate of an input."""
        return self.wide_bins if width > WIDE else BINS


PAPER = Protocol(
    "paper",
    "samples",
    ListProbe("lstm", 4, 2.0, "sigmoid", 150, 10, 1e-4, choose_epoch=False, standardize=False),
    close_share=0.0,
)
STRICT = Protocol("strict", "numbers", ListProbe("lstm", 4, 2.0, "softmax", 150, 10, 1e-4))
LAPTOP = Protocol(
    "laptop",
    "numbers",
    ListProbe("scorer", 2, 128, "softmax", 50, 50, 1e-3, weight_decay=1e-2),
    trees=250,
    learning_rate=0.04,
    wide_bins=16,
)
LEAKY = replace(LAPTOP, name="leaky", split=PAPER.split, close_share=PAPER.close_share)
DEMO = replace(
    LAPTOP,
    name="demo",
    lists=replace(LAPTOP.lists, epochs=40),
    trees=100,
    learning_rate=0.1,
    n_train=400,
    n_test=100,
    most=500,
)
PROTOCOLS = {protocol.name: protocol for protocol in (PAPER, STRICT, LAPTOP, LEAKY, DEMO)}


def find_protocol(name: str) -> Protocol:
    """Return the protocol of a name."""
    if name not in PROTOCOLS:
        raise InputError(f"protocol must be one of {', '.join(PROTOCOLS)}, got {name!r}")
    return PROTOCOLS[name]
