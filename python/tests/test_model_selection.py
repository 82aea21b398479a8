"""Choosing by pairs that were held back."""

import warnings

import numpy as np
import pytest
from mustlink import ITML, RCA, Constraints, Ensemble, KMeans, Method, MPCKMeans, PCKMeans, ZScore, metrics
from mustlink.exceptions import ConfigError, ConstraintError, DataError, MustlinkWarning
from mustlink.model_selection import ConstraintKFold, ConstraintSearchCV, constraint_score
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler


def entailed(kept, pair, sign):
    """Whether a pair follows from constraints."""
    pairs, signs = kept.pairs()
    group = np.arange(kept.n)
    for (i, j), s in zip(pairs, signs):
        if s > 0:
            group[group == group[i]] = group[j]
    if sign > 0:
        return group[pair[0]] == group[pair[1]]
    here = {group[pair[0]], group[pair[1]]}
    return any(s < 0 and {group[i], group[j]} == here for (i, j), s in zip(pairs, signs))


@pytest.mark.parametrize("seed", range(10))
def test_no_held_back_pair_follows_from_those_kept(seed):
    rng = np.random.default_rng(seed)
    classes = rng.integers(0, 3, 25)
    pairs = np.array([rng.choice(25, 2, replace=False) for _ in range(40)])
    signs = np.where(classes[pairs[:, 0]] == classes[pairs[:, 1]], 1, -1)
    given = Constraints.from_pairs(pairs, signs, n=25)
    folds = list(ConstraintKFold(3, random_state=seed).split(given))
    assert sum(len(held.pairs()[1]) for _, held in folds) == 40
    for kept, held in folds:
        assert len(kept.pairs()[1]) + len(held.pairs()[1]) == 40
        for pair, sign in zip(*held.pairs()):
            assert not entailed(kept, pair, sign)


def test_a_cycle_is_held_back_whole_and_a_bridge_alone():
    # A triangle, a bridge from it, two cannot-links between the same two groups, and one of others.
    must = [(0, 1), (1, 2), (2, 0), (2, 3)]
    given = Constraints(must_link=must, cannot_link=[(0, 4), (3, 4), (5, 6)], n=7)
    held = [
        {(*map(int, pair), int(sign)) for pair, sign in zip(*held.pairs())}
        for _, held in ConstraintKFold(3).split(given)
    ]
    assert {(0, 1, 1), (1, 2, 1), (2, 0, 1)} in held
    assert any((2, 3, 1) in fold and (0, 1, 1) not in fold for fold in held)
    assert any({(0, 4, -1), (3, 4, -1)} <= fold for fold in held)
    with pytest.raises(ValueError, match="2 pairs make 2 groups .* fewer than n_splits = 4"):
        list(ConstraintKFold(4).split(Constraints(must_link=[(0, 1)], cannot_link=[(2, 3)], n=4)))


def test_what_follows_from_a_group_is_not_held_back():
    apart = ["photo", "photo", "photo", None, None, None]
    pairs = Constraints(cannot_link=[(0, 1), (1, 2), (0, 3), (3, 4), (4, 5)], n=6)
    given = pairs.union(Constraints(apart=apart, n=6))
    held = [pair for _, held in ConstraintKFold(3).split(given) for pair in held.pairs()[0].tolist()]
    assert sorted(held) == [[0, 3], [3, 4], [4, 5]]


def data():
    rng = np.random.default_rng(1)
    classes = np.arange(90) % 3
    x = rng.normal(size=(90, 3)) + 4 * classes[:, None]
    pairs = np.array([rng.choice(90, 2, replace=False) for _ in range(60)])
    signs = np.where(classes[pairs[:, 0]] == classes[pairs[:, 1]], 1, -1)
    return x, Constraints.from_pairs(pairs, signs, n=90)


def test_the_search_finds_k():
    x, given = data()
    search = ConstraintSearchCV(PCKMeans(), {"n_clusters": [2, 3]}, cv=3)
    search.fit(x, constraints=given)
    assert search.best_params_ == {"n_clusters": 3}
    assert search.best_score_ > 0.95
    results = search.cv_results_
    assert results["mean_test_score"].shape == (2,) and results["rank_test_score"][1] == 1
    assert np.array_equal(search.predict(x), search.best_estimator_.predict(x))
    assert constraint_score(given, search.labels_) == 1.0
    assert clone(search).get_params()["cv"] == 3


def test_nothing_of_an_earlier_fit_is_left_without_refit():
    x, given = data()
    search = ConstraintSearchCV(PCKMeans(), {"n_clusters": [2, 3]}, cv=3).fit(x, constraints=given)
    assert len(search.labels_) == 90
    search.set_params(refit=False).fit(x, constraints=given)
    assert search.best_params_ == {"n_clusters": 3}
    assert not hasattr(search, "best_estimator_") and not hasattr(search, "labels_")


@pytest.mark.filterwarnings("ignore:all . candidates score")
def test_what_is_none_is_named():
    x, given = data()
    search = ConstraintSearchCV(PCKMeans(3), {"weight": [0.1, 1.0]}, cv=None)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        search.predict(x)
    assert search.fit(x, constraints=given).n_splits_ == 5
    for cv in (1, 2.5, "3"):
        with pytest.raises(ConfigError, match="n_splits: must be a whole number of at least 2, got"):
            search.set_params(cv=cv).fit(x, constraints=given)
    with pytest.raises(ConstraintError, match="give mustlink.Constraints by that name, to score by; got none"):
        search.fit(x, given)
    with pytest.raises(ConstraintError, match="must be mustlink.Constraints, got list"):
        constraint_score([(0, 1)], np.zeros(90))
    with pytest.raises(DataError, match=r"labels: must hold one label per row, 90, got shape \(10,\)"):
        constraint_score(given, np.zeros(10))


def test_pairs_with_an_unknown_label_are_not_met():
    given = Constraints(must_link=[(0, 1), (2, 3)], cannot_link=[(0, 2), (1, 4)], n=5)
    assert constraint_score(given, [0, 0, 1, 1, 1]) == 1.0
    for unknown in (-1, float("nan"), None):
        assert constraint_score(given, [0, 0, unknown, unknown, 1]) == 0.5
        assert constraint_score(given, [unknown] * 5) == 0.0


@pytest.mark.filterwarnings("ignore:all . candidates score")
def test_pipelines_and_trees_of_estimators():
    x, given = data()
    pipe = make_pipeline(ZScore(), MPCKMeans(3))
    grid = {"mpckmeans__weight": [0.1, 1.0], "zscore__deviation": ["population", "sample"]}
    search = ConstraintSearchCV(pipe, grid, cv=2).fit(x, constraints=given)
    assert len(search.cv_results_["params"]) == 4
    assert search.labels_.shape == (90,)


def test_a_pipeline_that_routes_what_it_is_given():
    x, given = data()
    grid = {"pckmeans__n_clusters": [2, 3]}
    with config_context(enable_metadata_routing=True):
        search = ConstraintSearchCV(make_pipeline(RCA(), PCKMeans()), grid, cv=3).fit(x, constraints=given)
    assert search.best_params_ == {"pckmeans__n_clusters": 3}


def test_arrays_are_refused():
    x, given = data()
    with pytest.raises(ValueError, match="give mustlink.Constraints"):
        ConstraintSearchCV(KMeans(3), {"n_init": [1]}).fit(x, constraints=given.pairs()[0])


def labelled():
    """Two features that count and one that drowns them, with classes of some objects."""
    rng = np.random.default_rng(5)
    classes = np.arange(120) % 3
    x = np.column_stack([rng.normal(size=(120, 2)) + 5 * np.eye(3)[classes][:, :2], 300 * rng.normal(size=120)])
    y = np.where(rng.random(120) < 0.25, classes, -1)
    return x, y, classes


@pytest.mark.filterwarnings("ignore:.*of the variance")
def test_objects_are_held_back_where_pairs_come_from_classes():
    """Every candidate met all that was held back, and the first one won without a word."""
    x, y, classes = labelled()
    pipe = Pipeline([("scale", "passthrough"), ("cluster", PCKMeans(3))])
    grid = {"scale": ["passthrough", StandardScaler()]}
    for given in ({"constraints": Constraints.from_labels(y)}, {"y": y}):
        search = ConstraintSearchCV(pipe, grid, cv=3).fit(x, **given)
        poor, good = search.cv_results_["mean_test_score"]
        assert poor < 0.8 < 0.9 < good
        assert metrics.ari(classes, search.labels_) > 0.9
    folds = list(ConstraintKFold(3).split(Constraints.from_labels(y)))
    assert len(folds) == 3
    for kept, held in folds:
        touched = set(held.pairs()[0].ravel().tolist())
        assert len(held.pairs()[1]) and touched
        for pair, sign in zip(*held.pairs()):
            assert not entailed(kept, pair, sign)


@pytest.mark.filterwarnings("ignore:all . candidates score")
def test_classes_that_are_known_are_constraints_here_too():
    x, y, _ = labelled()
    search = ConstraintSearchCV(PCKMeans(), {"weight": [0.1, 1.0]}, cv=2)
    with pytest.warns(MustlinkWarning, match="k = 3, the number of classes of .* of 120 .*: n_clusters sets"):
        search.fit(x[:, :2], y)
    assert len(search.best_estimator_.cluster_centers_) == 3
    with pytest.raises(ConstraintError, match="y contains known classes as well"):
        search.fit(x, y, constraints=Constraints.from_labels(y))
    with pytest.raises(ConstraintError, match="got none"):
        search.fit(x, np.zeros(120))


def test_a_tie_of_all_is_warned_of():
    x, given = data()
    grid = {"tol": [1e-6, 1e-7]}
    with pytest.warns(MustlinkWarning, match="all 2 candidates score 1, so the first is taken"):
        ConstraintSearchCV(PCKMeans(3), grid, cv=3).fit(x, constraints=given)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ConstraintSearchCV(PCKMeans(3), {"tol": [1e-6]}, cv=3).fit(x, constraints=given)


@pytest.mark.filterwarnings("ignore:all . candidates score", "ignore:.*the metric is the prior")
def test_parts_of_a_tree_are_searched():
    x, given = data()
    part = PCKMeans(weight=1.0)
    tree = {"transforms": ["z_score", ITML(sampled_pairs=50)], "clusterer": part}
    method = Method(tree, 3)
    assert method.get_params()["config__clusterer__weight"] == 1.0
    grid = {"config__clusterer__weight": [0.5, 2.0], "config__transforms__1__gamma": [1.0]}
    search = ConstraintSearchCV(method, grid, cv=2).fit(x, constraints=given)
    assert search.best_estimator_.get_params()["config__clusterer__weight"] in (0.5, 2.0)
    assert search.best_estimator_.get_params()["config__transforms__1__gamma"] == 1.0
    found = GridSearchCV(method, {"config__clusterer__weight": [1, 2]}, cv=2, scoring="rand_score", error_score="raise")
    assert found.fit(x, np.arange(90) % 3).best_params_["config__clusterer__weight"] in (1, 2)
    # The parts are the caller's, too.
    assert part.weight == 1.0 and method.config is tree and tree["clusterer"] is part
    for config in ("pck_means", {"clusterer": "pck_means"}, {"clusterer": {"type": "pck_means"}}):
        changed = Method(config, 3).set_params(config__clusterer__weight=2.0)
        assert changed.to_config()["clusterer"]["weight"] == 2.0
    ensemble = Ensemble(3, generator={"type": "random_init", "members": 3, "clusterer": KMeans(n_init=1)})
    assert ensemble.set_params(generator__clusterer__n_init=2).generator["clusterer"].n_init == 2
    with pytest.raises(ConfigError, match="config__transforms__7: cannot be set: .* does not contain 7"):
        method.set_params(config__transforms__7="z_score")
    with pytest.raises(ValueError, match="Invalid parameter"):
        method.set_params(config__clusterer__wait=2)
    with pytest.raises(ConfigError, match="init__start: cannot be set: 'random' does not contain start"):
        KMeans(init="random").set_params(init__start=1)
