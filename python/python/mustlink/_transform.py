"""Base class of all transformers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, check_non_negative

from . import _catalogue, _config, _data, _mustlink
from ._option_names import NAMES
from .constraints import SAMPLE_ID, columns, row_ids
from .exceptions import ConfigError

if TYPE_CHECKING:
    from typing_extensions import Self

#: Smallest number of rows that a transform can be fitted to.
_LEAST = {"drop_constant": 2, "pca": 2}


class Transformer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Changes the features of the rows of a matrix."""

    #: Name of the plugin.
    _tag: str

    n_features_in_: int

    def to_config(self) -> dict[str, Any]:
        """Return the transform as a table for a method file."""
        own = {NAMES.get(o.name, o.name): o.name for o in self._plugin().options}
        given = {own[k]: v for k, v in self.get_params(deep=False).items() if k in own}
        return {"type": self._tag, **_config.options(given)}

    def _plugin(self) -> _catalogue.Plugin:
        return _catalogue.find(self._tag)

    def _matrix(self, X: Any, reset: bool) -> Any:
        accepts = self._plugin().properties["accepts"]
        least = _LEAST.get(self._tag, 1) if reset else 1
        X = _data.with_categories(X, [_config.options({"type": self._tag, "columns": getattr(self, "columns", None)})])
        rows, x = _data.checked(self, X, accepts, reset, least)
        if self._tag == "tf_idf":
            check_non_negative(rows, type(self).__name__)
        return rows, x

    def fit(self, X: Any, y: Any = None, *, constraints: Any = None, sample_id: Any = None) -> Self:
        """Fit the transform to the rows of ``X``, and to constraints if the transform uses them.

        Parameters
        ----------
        X : matrix of shape (n_samples, n_features)
            Numbers, dense or sparse.
        y : array of shape (n_samples,), optional
            Known classes of some objects, for transforms that use constraints; -1, NaN, None
            and texts such as "NA" are unknown. If no class is unknown, ``y`` is ignored.
        constraints : mustlink.Constraints, optional
            Constraints on pairs.
        sample_id : array of shape (n_samples,), optional
            The id of each row. Constraints use it to find their rows when the data are split.

        Returns
        -------
        self
        """
        sample_id, y = row_ids(constraints, X, sample_id, SAMPLE_ID), _data.in_order(y, X)
        X, x = self._matrix(X, reset=True)
        n = X.shape[0]
        pairs, _ = columns(constraints, n, sample_id)
        reads = self._plugin().properties["reads_constraints"]
        request = {
            "method": {"transforms": [self.to_config()]},
            "seed": _config.seed(getattr(self, "random_state", 0)),
            "threads": _config.threads(getattr(self, "n_jobs", None)),
            "features": _config.names(getattr(self, "feature_names_in_", ())),
        }
        classes = _data.partial(y, n) if reads else None
        try:
            self._steps = _mustlink.fit_steps(_config.text(request), x, pairs, classes)
        except ConfigError as wrong:
            raise _catalogue.renamed(wrong, "transforms[0]") from None
        unread = reads and y is not None and classes is None and constraints is None
        why = " (y is ignored, because all of its classes are known or none is)" if unread else ""
        _data.warn(text + why for text in self._steps.warnings)
        return self

    def transform(self, X: Any) -> Any:
        """Return the rows of ``X`` after the transform."""
        check_is_fitted(self, "_steps")
        _, x = self._matrix(X, reset=False)
        threads = _config.threads(getattr(self, "n_jobs", None))
        return _data.joined(self._steps.apply(x, threads))

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the features after the transform."""
        from sklearn.utils.validation import _check_feature_names_in

        check_is_fitted(self, "_steps")
        names = _check_feature_names_in(self, input_features)
        return np.asarray(self._steps.names([str(name) for name in names]), dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        accepts = self._plugin().properties["accepts"]
        tags.input_tags.sparse = "csr" in accepts
        if "table" in accepts:
            _data.tag_tables(tags)
        # Columns of texts: no numbers to check it with.
        tags.input_tags.two_d_array = accepts != ["table"]
        tags.input_tags.positive_only = self._tag == "tf_idf"
        return tags
