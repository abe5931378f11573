"""Lists: where in a list of five stands the largest, or the smallest, number (section 4).

The paper's classifier is four stacked LSTMs of twice the embedding's width; the protocol says which
is used, and how it is trained and asked.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from numerate.probe.protocols import LIST_LENGTH, ListProbe

Places = npt.NDArray[np.int64]


def find_places(lists: npt.NDArray[np.int64], task: str) -> Places:
    """Return where the largest or the smallest of each list stands."""
    places = lists.argmax(axis=1) if task == "list-maximum" else lists.argmin(axis=1)
    return np.asarray(places, np.int64)


class StackedLstm(torch.nn.Module):
    """The paper's classifier: LSTMs one above the other, and a linear layer on their last state."""

    def __init__(self, width: int, hidden: int, layers: int) -> None:
        super().__init__()
        self.lstm = torch.nn.LSTM(width, hidden, layers, batch_first=True)
        self.head = torch.nn.Linear(hidden, LIST_LENGTH)

    def forward(self, vectors: torch.Tensor) -> torch.Tensor:
        """Return an output for each place, from vectors of the shape (lists, 5, width)."""
        states, _ = self.lstm(vectors)
        outputs: torch.Tensor = self.head(states[:, -1])
        return outputs


class Scorer(torch.nn.Module):
    """A score for each vector by one small network: the same for every place in the list."""

    def __init__(self, width: int, hidden: int, layers: int) -> None:
        super().__init__()
        sizes = [width, *[hidden] * (layers - 1)]
        parts: list[torch.nn.Module] = []
        for before, after in pairwise(sizes):
            parts += [torch.nn.Linear(before, after), torch.nn.GELU()]
        self.network = torch.nn.Sequential(*parts, torch.nn.Linear(sizes[-1], 1))

    def forward(self, vectors: torch.Tensor) -> torch.Tensor:
        """Return a score for each place, from vectors of the shape (lists, 5, width)."""
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
    progress: Callable[[float], object] = float,
) -> Places:
    """Return the places that a classifier answers for test lists; -1 where it gives no answer.

    Args:
        train: Vectors of the shape (lists, 5, width), and the right places.
        validation: The same, to choose the epoch by, if the protocol does.
        test: Vectors.
        probe: Which classifier, and how it is trained.
        seed: Decides its first weights and the order of the lists.
        device: Where to compute.
        progress: Called with the share of the epochs that is done.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = _make_model(probe, train[0].shape[-1]).to(device)
        generator = torch.Generator().manual_seed(seed)
    parts = _standardize(train[0], validation[0], test) if probe.standardize else None
    x, x_validation, x_test = (
        part.to(device, torch.float32) for part in parts or (train[0], validation[0], test)
    )
    y, y_validation = torch.from_numpy(train[1]).to(device), validation[1]
    best: tuple[float, dict[str, Any] | None] = (-1.0, None)
    optimizer = torch.optim.AdamW(
        model.parameters(), probe.learning_rate, weight_decay=probe.weight_decay, fused=True
    )
    for epoch in range(probe.epochs):
        order = torch.randperm(len(x), generator=generator).to(device)
        for rows in torch.split(order, probe.batch):
            outputs = model(x[rows])
            if probe.outputs == "sigmoid":  # the paper takes the cross-entropy of sigmoids
                outputs = outputs.sigmoid()
            loss = torch.nn.functional.cross_entropy(outputs, y[rows])
            optimizer.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
        if probe.choose_epoch:
            accuracy = float((_answer(model, x_validation, probe) == y_validation).mean())
            if accuracy > best[0]:
                best = accuracy, {k: v.clone() for k, v in model.state_dict().items()}
        progress((epoch + 1) / probe.epochs)
        if best[0] == 1.0:  # no later epoch could be chosen
            break
    if best[1] is not None:
        model.load_state_dict(best[1])
    return _answer(model, x_test, probe)


def _make_model(probe: ListProbe, width: int) -> torch.nn.Module:
    if probe.kind == "lstm":
        return StackedLstm(width, round(probe.width * width), probe.layers)
    return Scorer(width, round(probe.width), probe.layers)


@torch.no_grad()
def _answer(model: torch.nn.Module, vectors: torch.Tensor, probe: ListProbe) -> Places:
    outputs = model(vectors).cpu().numpy()
    if probe.outputs == "softmax":
        return np.asarray(outputs.argmax(axis=1), np.int64)
    over = outputs > 0  # where a sigmoid is above a half
    return np.where(over.any(axis=1), over.argmax(axis=1), -1)


def _standardize(*parts: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Vectors with mean 0 and deviation 1 in each coordinate, by those of the first part."""
    flat = parts[0].reshape(-1, parts[0].shape[-1]).double()
    mean, deviation = flat.mean(dim=0), flat.std(dim=0)
    return tuple((part - mean) / torch.where(deviation > 0, deviation, 1) for part in parts)
