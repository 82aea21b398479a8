"""Observations of an AnnData object, and of an object with the same attributes."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from mustlink import HDBSCAN, Constraints, KMeans, PCKMeans, fit_anndata
from mustlink.exceptions import DataError

CELLS = [f"cell{i}" for i in range(60)]


def values():
    centres = np.repeat([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], 20, axis=0)
    return centres + np.random.default_rng(3).normal(size=(60, 2))


def alike():
    """An object with the attributes of AnnData."""
    x = values()
    obs = pd.DataFrame({"batch": "one"}, index=CELLS)
    return SimpleNamespace(X=sp.csr_matrix(x), obs=obs, obsm={"X_pca": x}, layers={"scaled": x / 3})


def annotated():
    anndata = pytest.importorskip("anndata")
    held = alike()
    return anndata.AnnData(held.X, obs=held.obs, obsm=held.obsm, layers=held.layers)


@pytest.fixture(params=[alike, annotated])
def adata(request):
    return request.param()


def test_clusters_are_a_column_of_obs(adata):
    x = values()
    for key, options, matrix in [
        ("mustlink", {}, sp.csr_matrix(x)),
        ("by_pca", {"use_rep": "X_pca", "key_added": "by_pca"}, x),
        ("by_layer", {"layer": "scaled", "key_added": "by_layer"}, x / 3),
    ]:
        fitted = fit_anndata(KMeans(12), adata, **options)
        assert isinstance(fitted, KMeans)
        column = adata.obs[key]
        assert column.astype(int).tolist() == KMeans(12).fit(matrix).labels_.tolist()
        # Not "0", "1", "10", "11", "2".
        assert list(column.cat.categories) == [str(k) for k in range(12)]
        assert list(adata.obs.index) == CELLS


def test_some_known_types_and_pairs_by_name_are_used(adata):
    types = np.full(60, None, dtype=object)
    types[[0, 20, 40, 1, 21, 41]] = list("abcabc")
    adata.obs["type"] = pd.Categorical(types)
    fitted = fit_anndata(PCKMeans(3), adata, use_rep="X_pca", labels="type")
    assert np.array_equal(fitted.labels_, PCKMeans(3).fit(values(), types).labels_)
    # Two objects of different blobs that must be together.
    pairs = Constraints.from_pairs([("cell5", "cell50")], [1], ids=CELLS[::-1], weights=[1e6])
    fitted = fit_anndata(PCKMeans(3), adata, use_rep="X_pca", constraints=pairs)
    assert fitted.labels_[5] == fitted.labels_[50]
    assert adata.obs["mustlink"]["cell5"] == adata.obs["mustlink"]["cell50"]


def test_noise_is_missing(adata):
    adata.obsm["X_pca"] = np.vstack([values()[:59], [[500.0, 500.0]]])
    fitted = fit_anndata(HDBSCAN(), adata, use_rep="X_pca")
    assert (fitted.labels_ < 0).sum() > 0
    assert np.array_equal(adata.obs["mustlink"].isna(), fitted.labels_ < 0)


def test_wrong_keys_are_named(adata):
    for options, words in [
        ({"use_rep": "X_umap"}, "obsm: has no 'X_umap'; it has 'X_pca'"),
        ({"layer": "counts"}, "layers: has no 'counts'; it has 'scaled'"),
        ({"labels": "type"}, "obs: has no 'type'; it has 'batch'"),
        ({"labels": "batch"}, "'batch' has a class for every observation"),
        ({"use_rep": "X_pca", "layer": "scaled"}, "give one of them"),
    ]:
        with pytest.raises(DataError, match=words):
            fit_anndata(KMeans(2), adata, **options)
    assert "mustlink" not in adata.obs
