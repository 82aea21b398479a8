"""Base classes of all estimators."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from . import _catalogue, _config, _data, _display, _mustlink
from ._nested import Nested
from ._option_names import NAMES, VALUES
from .constraints import SAMPLE_ID, columns, row_ids
from .exceptions import ConfigError, DataError, MissingKError

if TYPE_CHECKING:
    from typing_extensions import Self

Array = np.ndarray[Any, Any]


def _has_model(estimator: Clusterer) -> bool:
    return estimator._puts_to_centres() and getattr(estimator, "_model", True) is not None


class Tried(NamedTuple):
    """Result of a method that was tried."""

    name: str
    k: int
    score: float | None
    weight: float
    outcome: str
    seconds: float


class Violated(NamedTuple):
    """A violated constraint on rows ``i`` and ``j`` of ``X``.

    ``source`` is where it comes from: ``constraints`` (with the name of its group), ``y``, or ``answer``.
    """

    i: int
    j: int
    type: str
    weight: float
    source: str


#: The default number of clusters, as in scikit-learn.
_CLUSTERS = 8


class Clusterer(_display.Shown, Nested, ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Groups the rows of a matrix."""

    #: Name of the plugin.
    _tag: str
    #: Names that scikit-learn uses for options, with the plugin's own names.
    _aliases: dict[str, str] = {}

    labels_: Array
    n_iter_: int
    objective_: float
    status_: str
    violations_: dict[str, int]
    violated_: list[Violated]
    distortion_: str
    cluster_centers_: Array
    feature_weights_: Array
    n_features_in_: int
    feature_names_in_: Array

    # Parameters of a run; all others are options of the method.
    _OF_RUN = ("n_clusters", "random_state", "n_jobs", "kind")

    def to_config(self) -> dict[str, Any]:
        """Return the clusterer as a table for a method file."""
        own = {NAMES.get(o.name, o.name): o.name for o in self._options()}
        given = {
            own[name]: value
            for name, value in self._params().items()
            if name in own and name not in self._OF_RUN
        }
        n_clusters = getattr(self, "n_clusters", None)
        if n_clusters is not None and "n_clusters" in own:
            given["k"] = n_clusters
        return {"type": self._tag, **_config.options(given)}

    def _params(self) -> dict[str, Any]:
        """Return the parameters under the plugin's own names; values under scikit-learn's names are moved there."""
        params: dict[str, Any] = self.get_params(deep=False)
        for option in self._options():
            name = NAMES.get(option.name, option.name)
            value = params.get(name)
            named = VALUES.get(value) if isinstance(value, str) else None
            if named is not None and f'"{named}"' in option.accepts:
                params[name] = named
        for alias, name in self._aliases.items():
            value = params.pop(alias)
            if value is None:
                continue
            own = NAMES.get(name, name)
            default = next(o.default for o in self._options() if o.name == name)
            if params[own] not in (None, default):
                raise ConfigError(f"{alias}: means the same as {own}, and both are given; give one of them")
            params[own] = VALUES.get(value, value) if isinstance(value, str) else value
        return params

    def _method(self) -> dict[str, Any]:
        clusterer = self.to_config()
        clusterer.pop("k", None)
        return {"clusterer": clusterer}

    def _summary(self) -> str:
        return _display.of_clusterer(self, lambda: {"clusterer": self.to_config()}, NAMES)

    def _options(self) -> tuple[_catalogue.Option, ...]:
        return _catalogue.find(self._tag).options

    def _facts(self) -> dict[str, Any]:
        return _catalogue.find(self._tag).properties

    def _puts_to_centres(self) -> bool:
        return bool(self._facts()["gives_centers"])

    def fit(self, X: Any, y: Any = None, *, constraints: Any = None, sample_id: Any = None) -> Self:
        """Cluster the rows of ``X``.

        Parameters
        ----------
        X : matrix of shape (n_samples, n_features)
            Numbers, dense or sparse.
        y : array of shape (n_samples,), optional
            Known classes of some objects; -1, NaN, None and texts such as "NA" are unknown. Objects of one class
            must be together, those of two classes apart. If no class is unknown, ``y`` is ignored, because
            scikit-learn passes the classes that it uses for scoring. To use all of them, pass
            ``Constraints.from_labels(y)`` as ``constraints``.
        constraints : mustlink.Constraints, optional
            Constraints on pairs.
        sample_id : array of shape (n_samples,), optional
            The id of each row. Constraints use it to find their rows when the data are split.

        Returns
        -------
        self
        """
        self._run(X, y, constraints, sample_id)
        return self

    def _matrix(self, X: Any, reset: bool) -> Any:
        """Return the content of ``X``, checked and in the form of the core."""
        kind = self._kind()
        return _data.checked(self, X, self._facts()["accepts"] if kind == "dense" else [kind], reset, kind=kind)

    def _kind(self) -> str:
        return getattr(self, "kind", "dense")

    def _run(
        self,
        X: Any,
        y: Any,
        constraints: Any,
        sample_id: Any,
        *,
        sample_weight: Any = None,
        **more: Any,
    ) -> Any:
        sample_id = row_ids(constraints, X, sample_id, SAMPLE_ID)
        y, sample_weight = _data.in_order(y, X), _data.in_order(sample_weight, X)
        X, x = self._matrix(X, reset=True)
        n = X.shape[0]
        if sample_weight is not None:
            sample_weight = _data.doubles(
                _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
            )
        for name, given in [("sample_id", sample_id), ("y_true", more.get("y_true"))]:
            if given is not None and len(given) != n:
                raise DataError(f"{name}: must hold one value per row, {n}, got {len(given)}")
        known = _data.partial(y, n)
        pairs, self.n_constraints_dropped_ = columns(constraints, n, sample_id)
        # Errors refer to objects by the ids that the user gave.
        ids = constraints.ids if sample_id is None and constraints is not None else sample_id
        request = {
            "method": self._method(),
            "k": _config.plain(getattr(self, "n_clusters", None)),
            "seed": _config.seed(getattr(self, "random_state", 0)),
            "threads": _config.threads(getattr(self, "n_jobs", None)),
            "features": _config.names(getattr(self, "feature_names_in_", ())),
            "ids": _config.names(ids),
            "quiet_unread": True,
            "kind": self._kind(),
            **more.pop("request", {}),
        }
        _data.warn(_config.not_of_parts(self.get_params(deep=False)))
        given = ((x, sample_weight), pairs, known)
        try:
            try:
                found = _mustlink.cluster(_config.text(request), *given, **more)
            except MissingKError as missing:
                request["k"] = self._missing_k(missing, y, n, known)
                found = _mustlink.cluster(_config.text(request), *given, **more)
        except MissingKError:
            raise
        except ConfigError as wrong:
            raise self._wrong(wrong) from None
        _data.warn(self._said(text) for text in found.warnings)
        self._keep(found)
        return found

    def _missing_k(self, missing: MissingKError, y: Any, n: int, known: Any) -> int:
        """Return the number of clusters if neither the caller nor the method determines it."""
        if y is not None and known is None and self._facts()["reads_constraints"]:
            _data.warn(
                [
                    f"n_clusters: not given, so there are {_CLUSTERS} clusters; y is ignored, because all of its "
                    "classes are known or none is. Give n_clusters, or mark unknown classes with -1"
                ]
            )
        return _CLUSTERS

    def _said(self, warning: str) -> str:
        """Return a warning with the names that plugins have in Python."""
        return warning

    def _wrong(self, error: ConfigError) -> ConfigError:
        """Return the error with the names that options have in Python."""
        error = _catalogue.renamed(error, "clusterer")
        for alias, name in self._aliases.items():
            if getattr(self, alias) is not None and str(error).startswith(f"{name}:"):
                return type(error)(alias + str(error).removeprefix(name))
        return error

    def _keep(self, found: Any) -> None:
        self._model = found.model
        self.labels_ = found.labels
        self.n_iter_ = max(1, len(found.history))
        self.objective_ = found.objective
        self.status_ = found.status
        must, cannot = found.violations
        self.violations_ = {"must_link": must, "cannot_link": cannot}
        self._n_constraints = found.n_constraints
        distortion = getattr(self, "distortion", None)
        if distortion is not None:
            self.distortion_ = found.distortion if distortion == "auto" else distortion
        self.violated_ = [Violated(*row) for row in found.broken]
        learned = {
            "cluster_centers_": found.centers,
            "feature_weights_": None if found.weights is None else found.weights[1],
            "tried_": [Tried(*row) for row in found.tried] or None,
            "n_queries_": None if found.queries is None else found.queries[0],
        }
        for name, value in learned.items():
            if value is not None:
                setattr(self, name, value)
            elif name in self.__dict__:
                delattr(self, name)

    def fit_predict(self, X: Any, y: Any = None, **fit_params: Any) -> Array:
        """Cluster the rows of ``X`` and return the labels; takes the same arguments as ``fit``."""
        self.fit(X, y, **fit_params)
        return self.labels_

    @available_if(_has_model)  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> Array:
        """Return the cluster of every row of ``X``.

        This is the cluster with the nearest centre, by the distance of the method, or the likeliest component of a
        mixture.
        """
        check_is_fitted(self)
        _, x = self._matrix(X, reset=False)
        threads = _config.threads(getattr(self, "n_jobs", None))
        labels: Array = self._model.predict(x, threads)
        return labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        pairwise = self._kind() != "dense"
        tags.input_tags.pairwise = pairwise
        accepts = self._facts()["accepts"]
        tags.input_tags.sparse = "csr" in accepts and not pairwise
        if "table" in accepts:
            _data.tag_tables(tags)
        return tags


class WeightedClusterer(Clusterer):
    """Groups the rows of a matrix, with a weight for each row."""

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        constraints: Any = None,
        sample_weight: Any = None,
        sample_id: Any = None,
    ) -> Self:
        """Cluster the rows of ``X``.

        Parameters
        ----------
        X : matrix of shape (n_samples, n_features)
            Numbers, dense or sparse.
        y : array of shape (n_samples,), optional
            Known classes of some objects; -1, NaN, None and texts such as "NA" are unknown. Objects of one class
            must be together, those of two classes apart. If no class is unknown, ``y`` is ignored, because
            scikit-learn passes the classes that it uses for scoring. To use all of them, pass
            ``Constraints.from_labels(y)`` as ``constraints``.
        constraints : mustlink.Constraints, optional
            Constraints on pairs.
        sample_weight : array of shape (n_samples,), optional
            Weight of each row, 0 or more. A row of weight 2 counts like two equal rows.
        sample_id : array of shape (n_samples,), optional
            The id of each row. Constraints use it to find their rows when the data are split.

        Returns
        -------
        self
        """
        self._run(X, y, constraints, sample_id, sample_weight=sample_weight)
        return self


class Centres(ClassNamePrefixFeaturesOutMixin, TransformerMixin):  # type: ignore[misc]
    """Methods of scikit-learn's k-means, for clusterers that scikit-learn has too."""

    inertia_: float
    distortion_: str
    cluster_centers_: Array
    _matrix: Any

    def _keep(self, found: Any) -> None:
        super()._keep(found)
        self.inertia_ = found.objective

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def transform(self, X: Any) -> Array:
        """Return the distance of each row of ``X`` to each centre.

        The distance is Euclidean, or 1 − cosine if ``distortion_`` is cosine.
        """
        check_is_fitted(self)
        rows, _ = self._matrix(X, reset=False)
        from sklearn.metrics.pairwise import cosine_distances, euclidean_distances

        distances = cosine_distances if self.distortion_ == "cosine" else euclidean_distances
        return np.asarray(distances(rows, self.cluster_centers_), np.float64)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return minus the ``inertia_`` of the rows of ``X``: larger is better."""
        nearest, sample_weight = self.transform(X).min(axis=1), _data.in_order(sample_weight, X)
        costs = nearest if self.distortion_ == "cosine" else nearest**2
        return -float(costs.sum() if sample_weight is None else costs @ _check_sample_weight(sample_weight, X))


class Method(WeightedClusterer):
    """Any method: transforms, a clusterer, a selector with its oracle.

    Parameters
    ----------
    config : dict, str or path
        A method as in a method file, the path of one, or the name of a clusterer.
    n_clusters : int, optional
        Number of clusters. If absent, the k of the method, or else the number of classes in ``y``.
    random_state : int, RandomState or None
        Seed of every random number. None means the seed of the method file, or 0; it never means a random seed.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.
    budget : int, optional
        Maximum number of questions, if the method asks questions.
    kind : {"dense", "distances", "affinity"}
        Content of `X`: rows, or n × n symmetric distances or affinities.

    Examples
    --------
    >>> from mustlink import Method
    >>> X = [[0.0, 9e5], [0.1, 8e5], [5.0, 9e5], [5.2, 8e5]]
    >>> Method({"transforms": ["min_max"], "clusterer": "kmeans"}, n_clusters=2).fit(X).labels_
    array([0, 1, 0, 1])

    A table with words and missing values. A missing number becomes the mean of its column, and a missing word the
    most frequent one.

    >>> import pandas as pd
    >>> people = pd.DataFrame({"age": [21, None, 23, 61, 66], "city": ["Bern", "Bern", None, "Genf", "Genf"]})
    >>> steps = ["impute_missing", "one_hot", "z_score"]
    >>> Method({"transforms": steps, "clusterer": "auto"}, n_clusters=2).fit(people).labels_
    array([0, 0, 0, 1, 1])
    """

    def __init__(
        self,
        config: Any = "kmeans",
        n_clusters: int | None = None,
        *,
        random_state: Any = None,
        n_jobs: int | None = None,
        budget: int | None = None,
        kind: str = "dense",
    ) -> None:
        self.config = config
        self.n_clusters = n_clusters
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.budget = budget
        self.kind = kind

    def to_config(self) -> dict[str, Any]:
        """Return the method as in a method file, with every default written out."""
        checked: dict[str, Any] = json.loads(_mustlink.check(json.dumps(self._method())))
        return checked

    def _method(self) -> dict[str, Any]:
        table = _config.method(self.config)
        return {key: v for key, v in table.items() if key not in ("k", "seed", "plugins")}

    def _summary(self) -> str:
        # The tree has the names of method files, as in ``config``.
        return _display.of_clusterer(self, self._method, {})

    def _matrix(self, X: Any, reset: bool) -> Any:
        return super()._matrix(_data.with_categories(X, self._method().get("transforms")), reset)

    def _missing_k(self, missing: MissingKError, y: Any, n: int, known: Any) -> int:
        if y is None or known is not None:
            raise missing
        codes = _data.classes(y, n)
        every = codes is not None and (codes >= 0).all()
        why = "all classes in y are known, so y is ignored" if every else "no class in y is known"
        raise MissingKError(f"{missing} ({why})") from None

    def _part(self, name: str, path: str) -> Any:
        # A config may be only the name of a clusterer, which is short for a table with it.
        alone = isinstance(self.config, str) and name == "config" and path.partition("__")[0] in _config.SECTIONS
        return {"clusterer": self.config} if alone else super()._part(name, path)

    def _said(self, warning: str) -> str:
        clusterer = self._method().get("clusterer")
        name = clusterer.get("name") if isinstance(clusterer, dict) else None
        return warning if name is None else warning.replace("python_clusterer", name)

    def _wrong(self, error: ConfigError) -> ConfigError:
        # The messages of a method use the names of method files.
        if re.search(r'no (base clusterer|query selector) "\w+"; run', str(error)) is None:
            return error
        return type(error)(
            f"{error}; a function is a plugin only in the process that registered it; with workers of joblib, use "
            'joblib.parallel_config("threading")'
        )

    def _facts(self) -> dict[str, Any]:
        try:
            method = self._method()
        except ConfigError:
            # fit reports errors of the configuration; the estimator can still be displayed.
            method = {}
        clusterer = method.get("clusterer")
        clusterer = clusterer if isinstance(clusterer, dict) else {"type": clusterer}
        tag = clusterer.get("type")
        if tag is None:
            return {"accepts": ["dense", "csr"], "gives_centers": False}
        found = [p for p in _catalogue.catalogue() if p.tag == tag]
        facts = dict(found[0].properties) if found else {"accepts": ["dense"], "gives_centers": True}
        if tag == "python_clusterer" and clusterer.get("name") in _config.CALLABLES:
            facts["accepts"] = _config.CALLABLES[clusterer["name"]][2]["accepts"]
        for first in method.get("transforms", [])[:1]:
            # The first transform decides, if it is known.
            step = first if isinstance(first, str) else first.get("type")
            known = [p for p in _catalogue.catalogue() if p.tag == step]
            facts["accepts"] = known[0].properties["accepts"] if known else ["dense", "csr"]
        return facts

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        constraints: Any = None,
        sample_weight: Any = None,
        sample_id: Any = None,
        y_true: Any = None,
        oracle: Any = None,
    ) -> Self:
        """Cluster the rows of ``X``. If the method asks questions, ``oracle(i, j)`` or ``y_true`` answers them.

        Parameters
        ----------
        X : matrix of shape (n_samples, n_features)
            Numbers, dense or sparse.
        y : array of shape (n_samples,), optional
            Known classes of some objects, which the method may use; -1, NaN, None and texts such as "NA" are unknown.
            If no class is unknown, ``y`` is ignored.
        constraints : mustlink.Constraints, optional
            Constraints on pairs.
        sample_weight : array of shape (n_samples,), optional
            Weight of each row, for a clusterer that accepts weights. Transforms count every row once: after a
            transform that learns from the rows, such as ``z_score``, weight 2 is not the same as two rows.
        sample_id : array of shape (n_samples,), optional
            The id of each row. Constraints use it to find their rows when the data are split.
        y_true : array of shape (n_samples,), optional
            Classes that only the oracle sees.
        oracle : callable, optional
            ``oracle(i, j)`` returns True if two rows belong together, False if not, and None if unknown.

        Returns
        -------
        self
        """
        from .session import answering

        table = _config.method(self.config)
        asks = [name for name, given in [("oracle", oracle), ("y_true", y_true)] if given is not None]
        if asks and "selector" not in table:
            example = '"selector": "explore_consolidate"'
            _data.warn([f"{asks[0]}: the method has no selector, so nothing is asked; add one, for example {example}"])
        request: dict[str, Any] = {"budget": self.budget}
        if self.n_clusters is None and "k" in table:
            request["k"] = table["k"]
        if self.random_state is None:
            request["seed"] = table.get("seed", 0)
        self._run(
            X,
            y,
            constraints,
            sample_id,
            sample_weight=sample_weight,
            request=request,
            y_true=None if y_true is None else _data.classes(_data.in_order(y_true, X), len(y_true), "y_true"),
            oracle=None if oracle is None else answering(oracle),
        )
        return self
