"""Whoever looks at an object, as debuggers and variable viewers do, changes nothing."""

import inspect

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import mustlink
from mustlink import Constraints, KMeans, PCKMeans, Session, model_selection, pairs, testing

X = np.random.default_rng(0).normal(size=(12, 2)) + 6 * (np.arange(12) % 2)[:, None]
KNOWN = Constraints(must_link=[(0, 2)], cannot_link=[(0, 1), (2, 3)], n=12)


def _experiment(tmp_path):
    file = tmp_path / "one.toml"
    methods = 'method = [{ id = "k", clusterer = "kmeans" }]'
    file.write_text(f'experiment.name = "one"\ndataset = [{{ id = "iris" }}]\n{methods}\n')
    return mustlink.run_experiment(file, tmp_path / "out", progress=False)


def _instances(tmp_path):
    """An instance of every public class, with what it shows of itself."""
    session = Session(X, "random_pairs", clusterer=PCKMeans(), n_clusters=2, budget=5)
    question = session.question()
    session.tell(True)
    session.question()
    yield session, lambda: (repr(session), session.answers_, session._closed, session.question())
    made = [question, session.answers_[0], KNOWN, _experiment(tmp_path), Session]
    made += [*testing.estimators(), mustlink.Method("kmeans", 2)]
    made += [KMeans(2).fit(X), PCKMeans(2).fit(X, constraints=KNOWN)]
    made += [model_selection.ConstraintKFold(), pairs.PairsLearner(mustlink.RCA())]
    made += [model_selection.ConstraintSearchCV(PCKMeans(2), {"weight": [1.0, 2.0]}, cv=2)]
    scored = tmp_path / "scored.csv"
    scored.write_text("i,j,probability\na,b,0.9\n")
    made += [mustlink.cluster_pairs(str(scored))]
    supported = mustlink.select_k([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 1, 2], [0, 1, 1, 2]])
    made += [supported, supported.supports[0]]
    for one in made:
        yield one, lambda one=one: repr(sorted(getattr(one, "__dict__", {}).items(), key=lambda item: item[0]))


@pytest.mark.filterwarnings("error")
def test_looking_at_an_object_changes_nothing(tmp_path):
    """A session was over as soon as somebody had looked at its attributes."""
    seen = set()
    for one, state in _instances(tmp_path):
        before = state()
        for _ in range(2):
            inspect.getmembers(one)
            for name in dir(one):
                getattr(one, name, None)
            assert state() == before, type(one)
        seen.add(type(one).__name__)
    shown = [getattr(mustlink, name) for name in mustlink.__all__]
    classes = {one.__name__ for one in shown if inspect.isclass(one) and not issubclass(one, (Exception, Warning))}
    assert classes - seen == set(testing.NEED_SETUP)
    public = [getattr(m, name) for m in (model_selection, pairs) for name in m.__all__]
    assert {one.__name__ for one in public if inspect.isclass(one)} <= seen


def test_parameters_are_attributes():
    for one in testing.estimators():
        assert isinstance(one, BaseEstimator) and set(one.get_params(deep=False)) <= set(vars(one))
