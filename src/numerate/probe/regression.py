"""Regress: decoding and addition; from vectors to the logarithm of a number (section 4).

The target is y = ln n + 1. The paper's regressor is XGBoost; ridge regression stands beside it,
since trees split one coordinate at a time and cannot read a direction in a vector space.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from numerate.probe.protocols import Protocol

Floats = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.floating]
_ALPHAS = np.logspace(-3, 6, 19)


@dataclass(frozen=True)
class Errors:
    """How far predictions are from the truth."""

    log_rmse: float
    """What the paper's tables show: sqrt(mean((ln(1 + y') - ln(1 + y))^2)); y is a logarithm."""
    rmse_ln: float
    """The root mean square error of y itself."""
    r2: float

    def named(self, prefix: str = "") -> dict[str, float]:
        """Return the errors under the names of their metrics."""
        return {
            f"{prefix}log-rmse": self.log_rmse,
            f"{prefix}rmse-ln": self.rmse_ln,
            f"{prefix}r2": self.r2,
        }


def target(values: npt.ArrayLike) -> Floats:
    """Return y = ln n + 1 of the numbers to predict.

    >>> target([1]).tolist()
    [1.0]
    """
    return np.log(np.asarray(values, np.float64)) + 1


def measure_errors(predicted: Floats, truth: Floats) -> Errors:
    """Return the errors of predictions; one below 0, which is no number's y, counts as 0 there."""
    error = predicted - truth
    log_error = np.log1p(np.maximum(predicted, 0)) - np.log1p(truth)
    spread = float(np.mean((truth - truth.mean()) ** 2))
    return Errors(
        float(np.sqrt(np.mean(log_error**2))),
        float(np.sqrt(np.mean(error**2))),
        1 - float(np.mean(error**2)) / spread,
    )


def predict_by_trees(
    train: Matrix,
    truth: Floats,
    test: Matrix,
    protocol: Protocol,
    *,
    seed: int,
    device: str = "cpu",
    threads: int = 1,
) -> Floats:
    """Return what boosted trees predict, with the protocol's settings."""
    from xgboost import XGBRegressor

    model = XGBRegressor(
        n_estimators=protocol.trees,
        max_depth=protocol.depth,
        learning_rate=protocol.learning_rate,
        max_bin=protocol.count_bins(train.shape[1]),
        random_state=seed,
        n_jobs=threads,
        device=device,
    )
    model.fit(train, truth)
    return np.asarray(model.predict(test), np.float64)


def predict_by_ridge(train: Matrix, truth: Floats, test: Matrix) -> Floats:
    """Return what ridge regression predicts, its penalty chosen by leaving each row out in turn."""
    from sklearn.linear_model import RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = make_pipeline(StandardScaler(), RidgeCV(_ALPHAS))
    model.fit(train.astype(np.float64), truth)
    return np.asarray(model.predict(test.astype(np.float64)), np.float64)
