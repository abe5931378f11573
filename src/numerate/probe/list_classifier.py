"""List classifier: finds the place of the largest or smallest of five numbers (section 4).

The paper's classifier is four stacked LSTMs of twice the width of the vectors. The protocol says
which classifier is used and how it is trained.
"""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import torch

from numerate.probe.protocols import LIST_LENGTH, ListProbe

Places = npt.NDArray[np.int64]


def find_places(lists: npt.NDArray[np.int64], task: str) -> Places:
    """Return the place of the largest (list-maximum) or smallest number of each list."""
    places = lists.argmax(axis=1) if task == "list-maximum" else lists.argmin(axis=1)
    return np.asarray(places, np.int64)


class StackedLstm(torch.nn.Module):
    """The paper's classifier: stacked LSTMs, and a linear layer on their last state."""

    def __init__(self, width: int, hidden: int, layers: int) -> None:
        super().__init__()
        self.lstm = torch.nn.LSTM(width, hidden, layers, batch_first=True)
        self.head = torch.nn.Linear(hidden, LIST_LENGTH)

    def forward(self, vectors: torch.Tensor) -> torch.Tensor:
        """Return an output for each place, for vectors of shape (lists, 5, width)."""
        states, _ = self.lstm(vectors)
        outputs: torch.Tensor = self.head(states[:, -1])
        return outputs


class Scorer(torch.nn.Module):
    """A small network that scores each vector, with the same weights for every place."""

    def __init__(self, width: int, hidden: int, layers: int) -> None:
        super().__init__()
        sizes = [width, *[hidden] * (layers - 1)]
        parts: list[torch.nn.Module] = []
        for before, after in pairwise(sizes):
            parts += [torch.nn.Linear(before, after), torch.nn.GELU()]
        self.network = torch.nn.Sequential(*parts, torch.nn.Linear(sizes[-1], 1))

    def forward(self, vectors: torch.Tensor) -> torch.Tensor:
        """Return a score for each place, for vectors of shape (lists, 5, width)."""
        scores: torch.Tensor = self.network(vectors)
        return scores.squeeze(-1)


def classify_lists(
    train: tuple[torch.Tensor, Places],
    validation: tuple[torch.Tensor, Places],
    test: torch.Tensor,
    probe: ListProbe,
    *,
    seed: int,
    device: str = "cpu",
) -> Places:
    """Return the places that a trained classifier gives for test lists.

    Vectors have the shape (lists, 5, width), and come with the correct places. `validation` serves
    to choose the epoch, if the protocol does so.
    """
    parts = train[0], validation[0], test
    if probe.standardize:
        parts = _standardize(*parts)
    x, x_validation, x_test = (part.to(device, torch.float32) for part in parts)
    y = torch.from_numpy(train[1]).to(device)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = _make_model(probe, x.shape[-1]).to(device)
    best_accuracy, best_weights = -1.0, None
    for _ in _train_epochs(model, x, y, probe, seed):
        if not probe.choose_epoch:
            continue
        accuracy = float((_answer(model, x_validation, probe) == validation[1]).mean())
        if accuracy > best_accuracy:
            best_accuracy = accuracy
            best_weights = {name: value.clone() for name, value in model.state_dict().items()}
        if best_accuracy == 1.0:  # no later epoch could be better
            break
    if best_weights is not None:
        model.load_state_dict(best_weights)
    return _answer(model, x_test, probe)


def _train_epochs(
    model: torch.nn.Module, x: torch.Tensor, y: torch.Tensor, probe: ListProbe, seed: int
) -> Iterator[int]:
    """Train a model, and yield the number of each epoch when it is finished."""
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(
        model.parameters(), probe.learning_rate, weight_decay=probe.weight_decay, fused=True
    )
    for epoch in range(probe.epochs):
        order = torch.randperm(len(x), generator=generator).to(x.device)
        for rows in torch.split(order, probe.batch):
            outputs = model(x[rows])
            if probe.outputs == "sigmoid":  # the paper takes the cross-entropy of sigmoids
                outputs = outputs.sigmoid()
            loss = torch.nn.functional.cross_entropy(outputs, y[rows])
            optimizer.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
        yield epoch


def _make_model(probe: ListProbe, width: int) -> torch.nn.Module:
    if probe.kind == "lstm":
        return StackedLstm(width, round(probe.width * width), probe.layers)
    return Scorer(width, round(probe.width), probe.layers)


@torch.no_grad()
def _answer(model: torch.nn.Module, vectors: torch.Tensor, probe: ListProbe) -> Places:
    outputs = model(vectors).cpu().numpy()
    if probe.outputs == "softmax":
        return np.asarray(outputs.argmax(axis=1), np.int64)
    is_over = outputs > 0  # where the sigmoid is above 0.5; place 0 if none is, as in the paper
    return np.asarray(is_over.argmax(axis=1), np.int64)


def _standardize(
    train: torch.Tensor, validation: torch.Tensor, test: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Scale each coordinate by its mean and standard deviation in the training part."""
    flat = train.reshape(-1, train.shape[-1]).double()
    mean, deviation = flat.mean(dim=0), flat.std(dim=0)
    divisor = torch.where(deviation > 0, deviation, 1)
    return (train - mean) / divisor, (validation - mean) / divisor, (test - mean) / divisor
