"""Choosing options with held-out constraints."""

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

from . import _display
from ._data import classes, in_order, partial, warn
from .constraints import Constraints, row_ids
from .exceptions import ConfigError, ConstraintError, DataError, MustlinkWarning

__all__ = ["ConstraintKFold", "ConstraintSearchCV", "constraint_score"]

Array = np.ndarray[Any, Any]


def constraint_score(constraints: Constraints, labels: Any) -> float:
    """Return the mean of the shares of must-links and of cannot-links that ``labels`` satisfy.

    Groups in ``constraints`` are ignored. A label of -1, NaN or None is unknown; a pair with an unknown label
    counts as violated.

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
        raise ConstraintError("constraints: at least one pair is needed to score by")
    if np.shape(labels) != (constraints.n,):
        raise DataError(f"labels: must hold one label per row, {constraints.n}, got shape {np.shape(labels)}")
    codes = classes(labels, constraints.n, "labels")
    assert codes is not None
    i, j = codes[pairs[:, 0]], codes[pairs[:, 1]]
    met = ((i == j) == (signs > 0)) & (i >= 0) & (j >= 0)
    kinds = [signs > 0, signs < 0]
    return float(np.mean([met[kind].mean() for kind in kinds if kind.any()]))


class ConstraintKFold:
    """Folds of constraints, in which no held-out pair follows from the pairs that are kept.

    Must-links on a common cycle are held out together. So are cannot-links between the same two
    groups of objects that must-links join. If such a set is too large for one fold, for example with pairs from
    known classes, its objects are divided into folds instead. All pairs of an object are held out with it.

    Parameters
    ----------
    n_splits : int
        Number of folds.
    random_state : int
        Seed of the order of the pairs.

    Examples
    --------
    >>> from mustlink import Constraints
    >>> from mustlink.model_selection import ConstraintKFold
    >>> pairs = Constraints(must_link=[(0, 1), (2, 3)], cannot_link=[(0, 2), (4, 5)], n=6)
    >>> for kept, held in ConstraintKFold(n_splits=2).split(pairs):
    ...     print(len(kept.pairs()[0]), len(held.pairs()[0]))
    2 2
    2 2
    """

    def __init__(self, n_splits: int = 5, *, random_state: int = 0) -> None:
        whole = isinstance(n_splits, (int, np.integer)) and not isinstance(n_splits, bool)
        if not (whole and n_splits >= 2):
            raise ConfigError(f"n_splits: must be a whole number of at least 2, got {n_splits!r}")
        self.n_splits = n_splits
        self.random_state = random_state

    def split(self, constraints: Constraints) -> Iterator[tuple[Constraints, Constraints]]:
        """Yield the constraints kept and the held-out constraints, fold by fold."""
        pairs, signs = constraints.pairs()
        # Groups that are apart are known in every fold, so pairs that follow from them are not held out.
        free = np.flatnonzero(~_within_groups(constraints, pairs))
        groups = _groups(pairs[free], signs[free], constraints.n)
        rng = np.random.default_rng(self.random_state)
        sizes = np.bincount(groups) if len(groups) else np.zeros(0, int)
        most = -(-len(free) // self.n_splits)
        objects = np.unique(pairs[free[(sizes > most)[groups]]])
        object_fold = np.full(constraints.n, -1)
        object_fold[rng.permutation(objects)] = np.arange(len(objects)) % self.n_splits
        ends = object_fold[pairs[free]]
        whole = (ends < 0).all(axis=1)
        numbers = np.unique(groups[whole])
        count = len(numbers) + len(objects)
        if count < self.n_splits:
            raise ConstraintError(
                f"constraints: {len(free)} pairs make {count} groups that do not follow from one "
                f"another, fewer than n_splits = {self.n_splits}; give more pairs, or a smaller n_splits"
            )
        # Large groups first, each to the smallest fold.
        load = np.array([np.count_nonzero((ends == fold).any(axis=1)) for fold in range(self.n_splits)])
        fold_of = np.zeros(len(sizes), int)
        order = rng.permutation(numbers)
        for group in order[np.argsort(-sizes[order], kind="stable")]:
            fold_of[group] = np.argmin(load)
            load[fold_of[group]] += np.count_nonzero(groups[whole] == group)
        tested = 0
        for fold in range(self.n_splits):
            is_held = np.where(whole, fold_of[groups] == fold, (ends == fold).any(axis=1))
            kept = np.delete(np.arange(len(pairs)), free[is_held])
            held = free[is_held]
            held = held[~_follow(constraints, pairs[kept], signs[kept], pairs[held])]
            if len(held):
                tested += 1
                yield constraints.subset(kept), constraints.subset(held, groups=False)
        if tested == 0:
            raise ConstraintError(
                "constraints: every pair follows from others, so none can be held out; give more pairs"
            )


def _follow(constraints: Constraints, pairs: Array, signs: Array, others: Array) -> Array:
    """For each pair of ``others``, return true if it follows from ``pairs`` and the groups that are apart."""
    component = _components(pairs[signs > 0], constraints.n)
    apart = {frozenset(ends) for ends in component[pairs[signs < 0]].tolist()}
    groups_of: dict[int, set[int]] = defaultdict(set)
    for row, group in zip(*constraints._columns[5][:2]):
        groups_of[int(component[row])].add(int(group))
    ends = component[others].tolist()
    return np.array([a == b or frozenset((a, b)) in apart or bool(groups_of[a] & groups_of[b]) for a, b in ends], bool)


def _components(ends: Array, n: int) -> Array:
    """Return the number of the component of each object in a graph with these edges."""
    graph = coo_matrix((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n, n))
    component: Array = connected_components(graph, directed=False)[1]
    return component


def _within_groups(constraints: Constraints, pairs: Array) -> Array:
    """For each pair, return true if a group that is apart has both ends."""
    groups_of: dict[int, set[int]] = defaultdict(set)
    for row, group in zip(*constraints._columns[5][:2]):
        groups_of[int(row)].add(int(group))
    return np.array([bool(groups_of[i] & groups_of[j]) for i, j in pairs.tolist()], bool)


def _groups(pairs: Array, signs: Array, n: int) -> Array:
    """Return the number of the group of each pair."""
    must = signs > 0
    ends = pairs[must]
    component = _components(ends, n)
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
    """Return the part of each edge: itself for a bridge, otherwise the part of the objects on its cycles."""
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
    part = _components(ends[kept], n)
    return [
        ("bridge", edge) if bridge[edge] else ("part", int(part[a]))
        for edge, (a, _) in enumerate(ends.tolist())
    ]


def _refitted(search: ConstraintSearchCV) -> bool:
    return search.refit and hasattr(search.estimator, "predict")


class ConstraintSearchCV(_display.Shown, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Tries options, and keeps those that satisfy held-out constraints best.

    Rows are never split: a method clusters all objects under some of the pairs, and is scored on the
    other pairs.

    Parameters
    ----------
    estimator : estimator or Pipeline
        Method whose options are tried.
    param_grid : dict or list of dicts
        Options and the values to try, as in ``GridSearchCV``.
    cv : int, None or ConstraintKFold
        Folds of the pairs; None means 5. A fold in which no pair can be held out is left out.
    refit : bool
        If true, run the best estimator once more, under all constraints.
    random_state : int
        Seed of the folds.

    Attributes
    ----------
    best_estimator_ : estimator
        The best estimator, fitted under all constraints.
    best_params_ : dict
        The options of the best estimator.
    best_score_ : float
        The mean score of the best estimator: the share of held-out must-links and cannot-links that it satisfies.
    cv_results_ : dict
        All scores, in the form of ``GridSearchCV``.
    labels_ : array of shape (n_samples,)
        The clusters of the best estimator.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import Constraints, PCKMeans
    >>> from mustlink.model_selection import ConstraintSearchCV
    >>> X = np.arange(12.0)[:, None] + 10 * (np.arange(12) > 5)[:, None]
    >>> given = Constraints.from_labels([0, 0, -1, 0, 0, 0, 1, 1, 1, -1, 1, 1])
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

    def _summary(self) -> str:
        return _display.of_search(vars(self))

    def fit(
        self, X: Any, y: Any = None, *, constraints: Any = None, sample_id: Any = None
    ) -> ConstraintSearchCV:
        """Try all options on the rows of ``X``.

        Parameters
        ----------
        X : matrix of shape (n_samples, n_features)
            The objects.
        y : array of shape (n_samples,), optional
            Known classes of some objects, instead of constraints; -1, NaN, None and texts such as "NA" are unknown. If
            every class is known, ``y`` is ignored.
        constraints : mustlink.Constraints, optional
            Constraints on pairs; required unless ``y`` is given.
        sample_id : array of shape (n_samples,), optional
            The id of each row. Constraints use it to find their rows.

        Returns
        -------
        self
        """
        known = None if y is None or isinstance(y, Constraints) else partial(in_order(y, X), len(y))
        if constraints is None and known is not None:
            constraints = Constraints.from_labels(known)
        elif known is not None:
            raise ConstraintError("constraints: y contains known classes as well; give one of the two")
        if not isinstance(constraints, Constraints):
            got = "none" if constraints is None else f"a {type(constraints).__name__}"
            raise ConstraintError(f"constraints: give mustlink.Constraints by that name, to score by; got {got}")
        sample_id = row_ids(constraints, X, sample_id)
        if sample_id is not None:
            constraints, _ = constraints.at(sample_id)
        tried = list(ParameterGrid(self.param_grid))
        estimator = _of_classes(self.estimator, known, tried)
        folds: Any = 5 if self.cv is None else self.cv
        if isinstance(folds, str) or not hasattr(folds, "split"):
            folds = ConstraintKFold(folds, random_state=self.random_state)
        splits = list(folds.split(constraints))
        scores = np.empty((len(tried), len(splits)))
        with warnings.catch_warnings():
            # Warnings about the best estimator are given when it is run again.
            warnings.simplefilter("ignore", MustlinkWarning)
            for at, params in enumerate(tried):
                for fold, (kept, held) in enumerate(splits):
                    labels = _labels(_run(_with(estimator, params), X, kept))
                    scores[at, fold] = constraint_score(held, labels)
        means = scores.mean(axis=1)
        if len(tried) > 1 and np.ptp(means) == 0:
            warn(
                [
                    f"all {len(tried)} candidates score {means[0]:.3g}, so the first is taken; give more constraints "
                    "to distinguish them"
                ]
            )
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
            best = _with(estimator, self.best_params_)
            self.best_estimator_ = _run(best, X, constraints)
            self.labels_ = _labels(self.best_estimator_)
        else:
            # Attributes of an earlier fit would belong to other data.
            for name in ("best_estimator_", "labels_"):
                self.__dict__.pop(name, None)
        return self

    @available_if(_refitted)  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> Any:
        """Return the clusters of other rows, from the best estimator."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict(X)


def _of_classes(estimator: Any, known: Any, tried: list[dict[str, Any]]) -> Any:
    """Return the estimator; if nothing gives a number of clusters, with the number of known classes and a warning."""
    last = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator
    name = f"{estimator.steps[-1][0]}__n_clusters" if isinstance(estimator, Pipeline) else "n_clusters"
    if known is None or getattr(last, "n_clusters", 0) is not None or all(name in params for params in tried):
        return estimator
    k = int(known.max()) + 1
    warn(
        [
            f"k = {k}, the number of classes of the {np.count_nonzero(known >= 0)} of {len(known)} objects whose class "
            "is known; there may be more: n_clusters sets their number"
        ]
    )
    return clone(estimator).set_params(**{name: k})


def _with(estimator: Any, params: dict[str, Any]) -> Any:
    """Return a new estimator with copies of these parameters."""
    return clone(estimator).set_params(**clone(params, safe=False))


def _run(estimator: Any, X: Any, constraints: Constraints) -> Any:
    if not isinstance(estimator, Pipeline):
        return estimator.fit(X, constraints=constraints)
    takes = [n for n, s in estimator.steps if s is not None and _takes(s)]
    if get_config()["enable_metadata_routing"]:
        # The steps are copies of the caller's, so their fit requests are set here.
        for name in takes:
            estimator.named_steps[name].set_fit_request(constraints=True)
        return estimator.fit(X, constraints=constraints)
    return estimator.fit(X, **{f"{name}__constraints": constraints for name in takes})


def _takes(step: Any) -> bool:
    return step != "passthrough" and bool(has_fit_parameter(step, "constraints"))


def _labels(estimator: Any) -> Any:
    return estimator[-1].labels_ if isinstance(estimator, Pipeline) else estimator.labels_
