"""Clusters of the observations of an AnnData object."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from ._data import classes
from .exceptions import DataError

E = TypeVar("E")


def fit_anndata(
    estimator: E,
    adata: Any,
    *,
    use_rep: str | None = None,
    layer: str | None = None,
    labels: str | None = None,
    constraints: Any = None,
    key_added: str = "mustlink",
) -> E:
    """Fit an estimator to the observations of an AnnData object, and add the clusters to ``adata.obs``.

    Parameters
    ----------
    estimator : estimator
        An estimator of this package or a pipeline that ends with one.
    adata : AnnData
        The observations. Other objects with the same attributes also work.
    use_rep : str, optional
        Key in ``obsm`` of the matrix to cluster on, for example "X_pca". If absent, ``layer`` or ``X``.
    layer : str, optional
        Key in ``layers`` of the matrix to cluster on.
    labels : str, optional
        Column of ``obs`` with the known classes of some observations.
    constraints : mustlink.Constraints, optional
        Constraints. If they have ids, these are names in ``obs_names``.
    key_added : str, default "mustlink"
        Column of ``obs`` to write, as categories "0", "1", and so on. Noise is a missing value.

    Returns
    -------
    estimator
        The fitted estimator.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import pandas as pd
    >>> from mustlink import KMeans, fit_anndata
    >>> cells = pd.DataFrame({"donor": ["p", "p", "q"]}, index=["AAC", "AAG", "ACT"])
    >>> adata = SimpleNamespace(obs=cells, obsm={"X_pca": [[0.0], [0.1], [9.0]]})
    >>> _ = fit_anndata(KMeans(2), adata, use_rep="X_pca")
    >>> adata.obs["mustlink"].tolist()
    ['0', '0', '1']
    """
    obs = adata.obs
    given: dict[str, Any] = {}
    if constraints is not None:
        given["constraints"] = constraints
        if getattr(constraints, "ids", None) is not None:
            given["sample_id"] = list(obs.index)
    if labels is not None:
        given["y"] = _known(_find(obs, labels, "obs"), len(obs), labels)
    matrix = _matrix(adata, use_rep, layer)
    fitted: Any = estimator.fit(matrix, **given)  # type: ignore[attr-defined]
    numbers = (fitted[-1] if hasattr(fitted, "named_steps") else fitted).labels_.tolist()
    obs[key_added] = [None if number < 0 else str(number) for number in numbers]
    obs[key_added] = obs[key_added].astype("category")
    in_order = [str(number) for number in sorted({number for number in numbers if number >= 0})]
    obs[key_added] = obs[key_added].cat.reorder_categories(in_order)
    return estimator


def _matrix(adata: Any, use_rep: str | None, layer: str | None) -> Any:
    if use_rep is not None and layer is not None:
        raise DataError("use_rep and layer both name the matrix to cluster on; give one of them")
    if use_rep is not None:
        return _find(adata.obsm, use_rep, "obsm")
    return adata.X if layer is None else _find(adata.layers, layer, "layers")


def _find(held: Any, key: str, name: str) -> Any:
    if key not in held:
        raise DataError(f"{name}: has no {key!r}; it has {', '.join(map(repr, held.keys())) or 'nothing'}")
    return held[key]


def _known(column: Any, n: int, name: str) -> Any:
    numbers = classes(np.asarray(column, dtype=object), n, name)
    if numbers is not None and (numbers >= 0).all():
        raise DataError(
            f"labels: {name!r} has a class for every observation, so there is nothing to cluster; name a column in "
            "which some are missing, or pass Constraints.from_labels as constraints"
        )
    return numbers
