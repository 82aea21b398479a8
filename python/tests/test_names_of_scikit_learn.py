"""What those who know scikit-learn write."""

import numpy as np
import pytest
import sklearn.cluster
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline

import mustlink
from mustlink import _base, _catalogue, exceptions, experiments, metrics

RNG = np.random.default_rng(8)
CLASS = np.arange(90) % 3
X = RNG.normal(size=(90, 4)) + 6 * np.eye(4)[CLASS]


@pytest.mark.parametrize(
    ("kind", "ours", "theirs"),
    [
        ("DBSCAN", {"radius": 2.5}, {"eps": 2.5}),
        ("OPTICS", {"radius": 2.5}, {"eps": 2.5}),
        ("GaussianMixture", {"covariance": "tied"}, {"covariance_type": "tied"}),
        ("Hierarchical", {"max_distance": 6.0}, {"distance_threshold": 6.0}),
        ("KMeans", {"init": "kmeans_plus_plus"}, {"init": "k-means++"}),
        ("HDBSCAN", {"epsilon": 1.5}, {"cluster_selection_epsilon": 1.5}),
        ("HDBSCAN", {"selection": "leaf"}, {"cluster_selection_method": "leaf"}),
        ("HDBSCAN", {"selection": "excess_of_mass"}, {"cluster_selection_method": "eom"}),
    ],
)
def test_their_names_are_accepted_beside_ours(kind, ours, theirs):
    kind = getattr(mustlink, kind)
    by_ours, by_theirs = kind(**ours), kind(**theirs)
    assert by_ours.to_config() == by_theirs.to_config() == clone(by_theirs).to_config()
    assert np.array_equal(by_ours.fit(X).labels_, by_theirs.fit(X).labels_)
    (name,) = theirs
    assert kind().set_params(**theirs).get_params()[name] == theirs[name]


def test_both_names_are_one_too_many():
    with pytest.raises(exceptions.ConfigError, match="eps: means the same as radius, and both are given"):
        mustlink.DBSCAN(radius=1.0, eps=2.0).fit(X)
    with pytest.raises(exceptions.ConfigError, match="^eps: must be"):
        mustlink.DBSCAN(eps=-1.0).fit(X)


def test_a_threshold_is_that_of_scikit_learn():
    for linkage, limit in [("ward", 12.0), ("complete", 7.0), ("average", 4.0), ("single", 1.5)]:
        ours = mustlink.Hierarchical(linkage=linkage, distance_threshold=limit).fit(X)
        theirs = sklearn.cluster.AgglomerativeClustering(None, linkage=linkage, distance_threshold=limit).fit(X)
        assert metrics.ari(theirs.labels_, ours.labels_) == pytest.approx(1.0), linkage


@pytest.mark.parametrize("kind", [mustlink.KMeans, mustlink.MiniBatchKMeans])
def test_k_means_does_what_theirs_does(kind):
    ours = kind(3).fit(X)
    theirs = sklearn.cluster.KMeans(3, init=ours.cluster_centers_, n_init=1, max_iter=1).fit(X)
    far = np.linalg.norm(X[:, None] - ours.cluster_centers_[None], axis=2)
    assert ours.transform(X) == pytest.approx(far)
    assert ours.score(X) == pytest.approx(-(far.min(axis=1) ** 2).sum())
    if kind is mustlink.KMeans:
        assert ours.inertia_ == pytest.approx(theirs.inertia_) and ours.score(X) == pytest.approx(-ours.inertia_)
        weights = np.arange(90.0)
        assert ours.score(X, sample_weight=weights) == pytest.approx(-(weights * far.min(axis=1) ** 2).sum())
    assert ours.get_feature_names_out().tolist() == [f"{kind.__name__.lower()}{i}" for i in range(3)]
    assert make_pipeline(kind(3), mustlink.KMeans(3)).fit(X).predict(X).shape == (90,)


def test_angles_are_the_distances_where_they_are_what_counts():
    ours = mustlink.KMeans(3, distortion="cosine").fit(X)
    assert ours.score(X) == pytest.approx(-ours.inertia_)
    assert np.array_equal(ours.transform(X).argmin(axis=1), ours.predict(X))


def test_angles_are_the_default_distances_of_sparse_rows():
    rows = csr_matrix(np.where(np.abs(X) > 1, X, 0))
    for kind in (mustlink.KMeans, mustlink.MiniBatchKMeans):
        ours = kind(3).fit(rows)
        assert np.array_equal(ours.transform(rows).argmin(axis=1), ours.predict(rows))
    ours = mustlink.KMeans(3).fit(rows)
    assert ours.score(rows) == pytest.approx(-ours.inertia_)


@pytest.mark.filterwarnings("ignore::mustlink.MustlinkWarning")
def test_the_distortion_that_was_used_is_named():
    plugins = _catalogue.of_role("base_clusterer")
    with_default = [p for p in plugins if any(o.name == "distortion" and o.default == "auto" for o in p.options)]
    assert len(with_default) >= 12
    for plugin in with_default:
        ours = getattr(mustlink, plugin.class_name)(n_clusters=3)
        assert ours.fit(X).distortion_ == "squared_euclidean", plugin.tag
        assert ours.fit(csr_matrix(X)).distortion_ == "cosine", plugin.tag
        assert ours.set_params(distortion="cosine").fit(X).distortion_ == "cosine", plugin.tag


def test_the_number_of_components_stands_first():
    assert np.allclose(np.abs(mustlink.PCA(2).fit_transform(X)), np.abs(PCA(2).fit_transform(X)))
    assert mustlink.LSI(3).get_params()["n_components"] == 3


def test_a_limit_of_memory_has_no_option_of_the_command_line():
    with pytest.raises(exceptions.MemoryLimitError, match="more than the limit .*; choose a method") as refused:
        # A table of all pairs takes terabytes.
        mustlink.Hierarchical(3).fit(np.arange(2e6)[:, None])
    assert "--memory-limit" not in str(refused.value)


def test_no_time_is_left_when_all_is_done(capsys):
    """The bar ended with "-0 s left"."""
    for done, left, said in [(3, -0.2, "3 of 9 cells, 0 s left"), (9, -0.2, "9 of 9 cells   "), (3, 61.4, "61 s left")]:
        experiments._bar(done, 9, 0, left)
        assert said in capsys.readouterr().err


def test_what_is_fitted_is_what_was_made():
    """Chained calls had lost their type."""
    for kind in (_base.Clusterer, _base.WeightedClusterer, mustlink.Method, mustlink.ZScore):
        assert kind.fit.__annotations__["return"] == "Self"
    assert metrics.ari(CLASS, mustlink.KMeans(3).fit(X).labels_) > 0.9
