"""Choosing options by constraints that were held back."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from sklearn import get_config
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from ._data import classes
from .constraints import Constraints
from .exceptions import ConfigError, ConstraintError, DataError, MustlinkWarning

__all__ = ["ConstraintKFold", "ConstraintSearchCV", "constraint_score"]

Array = np.ndarray[Any, Any]


def constraint_score(constraints: Constraints, labels: Any) -> float:
    """The mean of the share of must-links and the share of cannot-links that ``labels`` meet, of all ``constraints``
    but the groups. A label of -1, NaN or None is unknown, and a pair with one is not met.

    >>> from mustlink import Constraints
    >>> from mustlink.model_selection import constraint_score
    >>> given = Constraints(must_link=[(0, 1), (1, 2)], cannot_link=[(0, 3)], n=4)
    >>> constraint_score(given, [0, 0, 1, 1])
    0.75
    """
    if not isinstance(constraints, Constraints):
        raise ConstraintError(f"constraints: must be mustlink.Constraints, got {type(constraints).__name__}")
    pairs, signs = constraints.pairs()
    if len(pairs) == 0:
        raise ConstraintError("constraints: there is none to score by")
    if np.shape(labels) != (constraints.n,):
        raise DataError(f"labels: must hold one label per row, {constraints.n}, got shape {np.shape(labels)}")
    codes = classes(labels, constraints.n, "labels")
    assert codes is not None
    i, j = codes[pairs[:, 0]], codes[pairs[:, 1]]
    met = ((i == j) == (signs > 0)) & (i >= 0) & (j >= 0)
    kinds = [signs > 0, signs < 0]
    return float(np.mean([met[kind].mean() for kind in kinds if kind.any()]))


class ConstraintKFold:
    """Folds of constraints, so that no pair that is held back follows from those that are kept.

    Must-links on a common cycle are held back together, and so are cannot-links between the same two
    groups of objects that must-links hold together.

    Parameters
    ----------
    n_splits : int
        Number of folds.
    random_state : int
        Seed of the order of the pairs.
    """

    def __init__(self, n_splits: int = 5, *, random_state: int = 0) -> None:
        whole = isinstance(n_splits, (int, np.integer)) and not isinstance(n_splits, bool)
        if not (whole and n_splits >= 2):
            raise ConfigError(f"n_splits: must be a whole number >= 2, got {n_splits!r}")
        self.n_splits = n_splits
        self.random_state = random_state

    def split(self, constraints: Constraints) -> Iterator[tuple[Constraints, Constraints]]:
        """The constraints kept and those held back, fold by fold."""
        pairs, signs = constraints.pairs()
        # Groups that are apart are known in every fold; what follows from them is not held back.
        free = np.flatnonzero(~_within_groups(constraints, pairs))
        groups = _groups(pairs[free], signs[free], constraints.n)
        count = int(groups.max()) + 1 if len(groups) else 0
        if count < self.n_splits:
            raise ConstraintError(
                f"constraints: {len(free)} pairs make {count} groups that do not follow from one "
                f"another, fewer than n_splits = {self.n_splits}; give more, or split less"
            )
        order = np.random.default_rng(self.random_state).permutation(count)
        # Large groups first, each to the smallest fold.
        sizes = np.bincount(groups, minlength=count)
        fold_of, load = np.zeros(count, int), np.zeros(self.n_splits, int)
        for group in order[np.argsort(-sizes[order], kind="stable")]:
            fold_of[group] = np.argmin(load)
            load[fold_of[group]] += sizes[group]
        for fold in range(self.n_splits):
            held = free[fold_of[groups] == fold]
            kept = np.delete(np.arange(len(pairs)), held)
            yield constraints.subset(kept), constraints.subset(held, groups=False)


def _within_groups(constraints: Constraints, pairs: Array) -> Array:
    """Of each pair, whether a group that is apart has both ends."""
    groups_of: dict[int, set[int]] = defaultdict(set)
    for row, group in zip(*constraints._columns[5][:2]):
        groups_of[int(row)].add(int(group))
    return np.array([bool(groups_of[i] & groups_of[j]) for i, j in pairs.tolist()], bool)


def _groups(pairs: Array, signs: Array, n: int) -> Array:
    """The number of the group of each pair."""
    must = signs > 0
    ends = pairs[must]
    graph = coo_matrix((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n, n))
    _, component = connected_components(graph, directed=False)
    keys: list[tuple[Any, ...]] = [()] * len(pairs)
    block = _blocks(ends, n)
    for at, edge in zip(np.flatnonzero(must), range(len(ends))):
        keys[at] = ("must", block[edge])
    for at in np.flatnonzero(~must):
        a, b = sorted(component[pairs[at]].tolist())
        keys[at] = ("cannot", a, b)
    numbers: dict[tuple[Any, ...], int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], int)


def _blocks(ends: Array, n: int) -> list[tuple[str, int]]:
    """The part of each edge: itself for a bridge, else that of the objects on its cycles."""
    near: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for edge, (a, b) in enumerate(ends.tolist()):
        near[a].append((b, edge))
        near[b].append((a, edge))
    entered, low = [-1] * n, [0] * n
    bridge = [False] * len(ends)
    clock = 0
    for root in list(near):
        if entered[root] >= 0:
            continue
        entered[root] = low[root] = clock
        clock += 1
        stack = [(root, -1, iter(near[root]))]
        while stack:
            at, by, rest = stack[-1]
            for other, edge in rest:
                if edge == by:
                    continue
                if entered[other] >= 0:
                    low[at] = min(low[at], entered[other])
                    continue
                entered[other] = low[other] = clock
                clock += 1
                stack.append((other, edge, iter(near[other])))
                break
            else:
                stack.pop()
                if stack:
                    above = stack[-1][0]
                    low[above] = min(low[above], low[at])
                    bridge[by] = low[at] > entered[above]
    kept = np.array([not b for b in bridge], bool)
    cycles = ends[kept]
    graph = coo_matrix((np.ones(len(cycles)), (cycles[:, 0], cycles[:, 1])), shape=(n, n))
    _, part = connected_components(graph, directed=False)
    return [
        ("bridge", edge) if bridge[edge] else ("part", int(part[a]))
        for edge, (a, _) in enumerate(ends.tolist())
    ]


def _refitted(search: ConstraintSearchCV) -> bool:
    return search.refit and hasattr(search.estimator, "predict")


class ConstraintSearchCV(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Tries options, and keeps those under which constraints that were held back are met best.

    Rows are never split: a method clusters all objects, under some of the pairs, and is scored by the
    others.

    Parameters
    ----------
    estimator : estimator or Pipeline
        What is tried.
    param_grid : dict or list of dicts
        Options and the values to try, as in ``GridSearchCV``.
    cv : int, None or ConstraintKFold
        Folds of the pairs; None: 5.
    refit : bool
        Whether the best is run once more, under all constraints.
    random_state : int
        Seed of the folds.

    Attributes
    ----------
    best_estimator_ : estimator
        The best, under all constraints.
    best_params_ : dict
        Its options.
    best_score_ : float
        Its mean score: the share of must-links and of cannot-links held back that it meets.
    cv_results_ : dict
        All scores, as ``GridSearchCV`` has them.
    labels_ : array of shape (n_samples,)
        The clusters of the best.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import Constraints, PCKMeans
    >>> from mustlink.model_selection import ConstraintSearchCV
    >>> X = np.arange(12.0)[:, None] + 10 * (np.arange(12) > 5)[:, None]
    >>> given = Constraints.from_labels([0, 0, -1, -1, 0, -1, 1, 1, -1, -1, 1, -1])
    >>> search = ConstraintSearchCV(PCKMeans(), {"n_clusters": [2, 3]}, cv=2)
    >>> search.fit(X, constraints=given).best_params_
    {'n_clusters': 2}
    """

    def __init__(
        self,
        estimator: Any,
        param_grid: Any,
        *,
        cv: Any = 5,
        refit: bool = True,
        random_state: int = 0,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.cv = cv
        self.refit = refit
        self.random_state = random_state

    def fit(
        self, X: Any, y: Any = None, *, constraints: Any = None, sample_id: Any = None
    ) -> ConstraintSearchCV:
        """Try all options on the rows of ``X``.

        Parameters
        ----------
        X : matrix of shape (n_samples, n_features)
            The objects.
        y : None
            Not looked at.
        constraints : mustlink.Constraints
            What is known about pairs.
        sample_id : array of shape (n_samples,), optional
            The id of each row, by which constraints find theirs.

        Returns
        -------
        self
        """
        if not isinstance(constraints, Constraints):
            got = "none" if constraints is None else f"a {type(constraints).__name__}"
            raise ConstraintError(f"constraints: give mustlink.Constraints by that name, to score by; got {got}")
        if sample_id is not None:
            constraints, _ = constraints.at(sample_id)
        folds: Any = 5 if self.cv is None else self.cv
        if isinstance(folds, str) or not hasattr(folds, "split"):
            folds = ConstraintKFold(folds, random_state=self.random_state)
        splits = list(folds.split(constraints))
        tried = list(ParameterGrid(self.param_grid))
        scores = np.empty((len(tried), len(splits)))
        with warnings.catch_warnings():
            # What is worth knowing of the best is said when it is run again.
            warnings.simplefilter("ignore", MustlinkWarning)
            for at, params in enumerate(tried):
                for fold, (kept, held) in enumerate(splits):
                    labels = _labels(_run(_with(self.estimator, params), X, kept))
                    scores[at, fold] = constraint_score(held, labels)
        means = scores.mean(axis=1)
        self.n_splits_ = len(splits)
        self.best_index_ = int(np.argmax(means))
        self.best_params_ = tried[self.best_index_]
        self.best_score_ = float(means[self.best_index_])
        self.cv_results_ = {
            "params": tried,
            "mean_test_score": means,
            "std_test_score": scores.std(axis=1),
            "rank_test_score": np.array([1 + int(np.sum(means > mean)) for mean in means]),
            **{f"split{fold}_test_score": scores[:, fold] for fold in range(len(splits))},
        }
        if self.refit:
            best = _with(self.estimator, self.best_params_)
            self.best_estimator_ = _run(best, X, constraints)
            self.labels_ = _labels(self.best_estimator_)
        else:
            # Those of an earlier fit would be of other data.
            for name in ("best_estimator_", "labels_"):
                vars(self).pop(name, None)
        return self

    @available_if(_refitted)  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> Any:
        """The clusters of other rows, by the best estimator."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict(X)


def _with(estimator: Any, params: dict[str, Any]) -> Any:
    """A new estimator with these parameters, of which none is the caller's own object."""
    return clone(estimator).set_params(**clone(params, safe=False))


def _run(estimator: Any, X: Any, constraints: Constraints) -> Any:
    if not isinstance(estimator, Pipeline):
        return estimator.fit(X, constraints=constraints)
    takes = [n for n, s in estimator.steps if s is not None and _takes(s)]
    if get_config()["enable_metadata_routing"]:
        # The steps are copies of the caller's: what they ask for is said here.
        for name in takes:
            estimator.named_steps[name].set_fit_request(constraints=True)
        return estimator.fit(X, constraints=constraints)
    return estimator.fit(X, **{f"{name}__constraints": constraints for name in takes})


def _takes(step: Any) -> bool:
    return step != "passthrough" and bool(has_fit_parameter(step, "constraints"))


def _labels(estimator: Any) -> Any:
    return estimator[-1].labels_ if isinstance(estimator, Pipeline) else estimator.labels_
