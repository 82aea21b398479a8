"""Metrics learned from pairs, where each sample is a pair."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.metrics import roc_auc_score
from sklearn.utils.validation import check_is_fitted

from .constraints import Constraints
from .exceptions import DataError

__all__ = ["PairsLearner"]

Array = np.ndarray[Any, Any]


class PairsLearner(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Learns from pairs whether two objects belong together.

    As in metric-learn, each sample is a pair, so that cross-validation splits pairs and not rows.

    Parameters
    ----------
    transform : RCA, ITML or MMC
        Transform that learns the metric.
    preprocessor : matrix of shape (n, d), optional
        The objects, if pairs are given by row numbers.

    Attributes
    ----------
    transform_ : estimator
        The fitted transform.
    threshold_ : float
        Largest distance of pairs that are predicted to belong together. It is the threshold with the fewest errors
        on the pairs used for fitting.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import ITML, Constraints
    >>> from mustlink.pairs import PairsLearner
    >>> X = np.array([[0.0, 3.0], [0.1, 1.0], [0.2, 9.0], [5.0, 2.0], [5.1, 8.0], [5.2, 4.0]])
    >>> pairs = np.array([[0, 2], [3, 4], [1, 2], [0, 3], [1, 4], [2, 5]])
    >>> learner = PairsLearner(ITML(), preprocessor=X).fit(pairs, [1, 1, 1, -1, -1, -1])
    >>> learner.predict([[0, 1], [0, 5]])
    array([ 1, -1])
    """

    def __init__(self, transform: Any, preprocessor: Any = None) -> None:
        self.transform = transform
        self.preprocessor = preprocessor

    def _objects(self, pairs: Any) -> tuple[Array, Array]:
        """Return the objects, and the pairs as row numbers of these."""
        given = np.asarray(pairs)
        if given.ndim == 3 and given.shape[1] == 2:
            rows, place = np.unique(given.reshape(-1, given.shape[2]), axis=0, return_inverse=True)
            return rows, place.reshape(-1, 2)
        if given.ndim == 2 and given.shape[1] == 2 and self.preprocessor is not None:
            rows = np.asarray(self.preprocessor, float)
            places = given.astype(float)
            wrong = given[(places < 0) | (places >= len(rows)) | (places != np.floor(places))]
            if wrong.size:
                raise DataError(
                    f"pairs: must be row numbers of the preprocessor, whole numbers between 0 and {len(rows) - 1}, "
                    f"got {wrong[0]}"
                )
            return rows, given.astype(np.int64)
        raise DataError(
            "pairs: must be of shape (m, 2, d), or (m, 2) row numbers of a preprocessor, "
            f"got {given.shape}"
        )

    def fit(self, pairs: Any, y: Any) -> PairsLearner:
        """Learn from pairs and one +1 (together) or -1 (apart) for each."""
        rows, places = self._objects(pairs)
        signs = np.asarray(y)
        known = Constraints.from_pairs(places, signs, n=len(rows))
        self.transform_ = clone(self.transform).fit(rows, constraints=known)
        self.classes_ = np.array([-1, 1])
        far = self.pair_distance(pairs)
        order = np.argsort(far, kind="stable")
        # Number of errors if the first 0, 1, 2, … pairs are predicted to be together.
        wrong = np.concatenate([[0], np.cumsum(signs[order] < 0)]) + np.concatenate(
            [np.cumsum((signs[order] > 0)[::-1])[::-1], [0]]
        )
        cut, sorted_ = int(np.argmin(wrong)), far[order]
        low = sorted_[cut - 1] if cut > 0 else 0.0
        high = sorted_[cut] if cut < len(far) else low
        self.threshold_ = float((low + high) / 2)
        return self

    def to_space(self, X: Any) -> Any:
        """Return the rows of ``X`` in the learned space."""
        check_is_fitted(self, "transform_")
        return self.transform_.transform(X)

    def pair_distance(self, pairs: Any) -> Array:
        """Return the distance of each pair in the learned space."""
        check_is_fitted(self, "transform_")
        rows, places = self._objects(pairs)
        made = self.transform_.transform(rows)
        far: Array = np.linalg.norm(made[places[:, 0]] - made[places[:, 1]], axis=1)
        return far

    def decision_function(self, pairs: Any) -> Array:
        """Return a number for each pair; it is larger for pairs that are nearer together."""
        return -self.pair_distance(pairs)

    def predict(self, pairs: Any) -> Array:
        """Return +1 for each pair that belongs together, otherwise -1."""
        return np.where(self.pair_distance(pairs) <= self.threshold_, 1, -1)

    def score(self, pairs: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the area under the ROC curve of the distances."""
        return float(roc_auc_score(y, self.decision_function(pairs), sample_weight=sample_weight))
