"""Regression: from vectors to the logarithm of a number, for decoding and addition (section 4).

The target is y = ln n + 1. The paper's regressor is XGBoost. Ridge regression is added because
trees split one coordinate at a time and cannot read a direction of the vector space.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from numerate.errors import needs_extra
from numerate.probe.controls import Matrix
from numerate.probe.protocols import TREE_DEPTH, Protocol

Floats = npt.NDArray[np.float64]
_ALPHAS = np.logspace(-3, 6, 19)


@dataclass(frozen=True)
class RegressionErrors:
    """The errors of predictions of y = ln n + 1."""

    log_rmse: float
    """The paper's metric, sqrt(mean((ln(1 + y') - ln(1 + y))^2)); y is a logarithm already."""
    rmse_ln: float
    """The root mean squared error of y itself."""
    r2: float

    def named(self, prefix: str = "") -> dict[str, float]:
        """Return the errors by the names of their metrics, with a prefix."""
        return {
            f"{prefix}log-rmse": self.log_rmse,
            f"{prefix}rmse-ln": self.rmse_ln,
            f"{prefix}r2": self.r2,
        }


def target(values: npt.ArrayLike) -> Floats:
    """Return the targets y = ln n + 1 of some numbers.

    >>> target([1]).tolist()
    [1.0]
    """
    return np.log(np.asarray(values, np.float64)) + 1


def measure_errors(predicted: Floats, truth: Floats) -> RegressionErrors:
    """Return the errors of predictions; in `log_rmse` predictions below 0 count as 0."""
    from sklearn.metrics import root_mean_squared_error, root_mean_squared_log_error

    return RegressionErrors(
        log_rmse=float(root_mean_squared_log_error(truth, np.maximum(predicted, 0))),
        rmse_ln=float(root_mean_squared_error(truth, predicted)),
        # sklearn's r2_score divides sums, not means, and differs from older scores in the last bit.
        r2=1 - float(np.mean((predicted - truth) ** 2)) / float(np.var(truth)),
    )


def predict_by_trees(
    train: Matrix,
    truth: Floats,
    test: Matrix,
    protocol: Protocol,
    *,
    seed: int,
    device: str,
    threads: int,
) -> Floats:
    """Return the predictions of boosted trees with the settings of a protocol."""
    with needs_extra("probing", "probe"):
        from xgboost import XGBRegressor

    model = XGBRegressor(
        n_estimators=protocol.trees,
        max_depth=TREE_DEPTH,
        learning_rate=protocol.learning_rate,
        max_bin=protocol.count_bins(train.shape[1]),
        random_state=seed,
        n_jobs=threads,
        device=device,
    )
    model.fit(train, truth)
    return np.asarray(model.predict(test), np.float64)


def predict_by_ridge(train: Matrix, truth: Floats, test: Matrix) -> Floats:
    """Return the predictions of ridge regression; leave-one-out validation chooses its penalty."""
    from sklearn.linear_model import RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = make_pipeline(StandardScaler(), RidgeCV(_ALPHAS))
    model.fit(train.astype(np.float64), truth)
    return np.asarray(model.predict(test.astype(np.float64)), np.float64)
