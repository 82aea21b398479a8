"""Metric learners whose samples are pairs."""

import mustlink
import numpy as np
import pytest
from mustlink.pairs import PairsLearner
from sklearn.model_selection import cross_val_score

RNG = np.random.default_rng(8)
CLASS = np.arange(60) % 2
# Only the first feature tells the classes apart.
X = np.column_stack([CLASS + 0.1 * RNG.normal(size=60), 3 * RNG.normal(size=60)])
PAIRS = np.array([RNG.choice(60, 2, replace=False) for _ in range(80)])
SIGNS = np.where(CLASS[PAIRS[:, 0]] == CLASS[PAIRS[:, 1]], 1, -1)


@pytest.mark.parametrize("transform", [mustlink.ITML(), mustlink.MMC(), mustlink.RCA()])
def test_pairs_are_samples(transform):
    learner = PairsLearner(transform, preprocessor=X)
    scores = cross_val_score(learner, PAIRS, SIGNS, cv=3)
    raw = np.linalg.norm(X[PAIRS[:, 0]] - X[PAIRS[:, 1]], axis=1)
    from sklearn.metrics import roc_auc_score

    assert scores.mean() > max(0.8, roc_auc_score(SIGNS, -raw))
    learner.fit(PAIRS, SIGNS)
    by_values = PairsLearner(transform).fit(X[PAIRS], SIGNS)
    assert (learner.predict(PAIRS) == SIGNS).mean() > 0.9
    assert (by_values.predict(X[PAIRS]) == SIGNS).mean() > 0.9


def test_wrong_shapes_are_named():
    with pytest.raises(ValueError, match=r"pairs: must be of shape \(m, 2, d\), or \(m, 2\) row"):
        PairsLearner(mustlink.ITML()).fit(PAIRS, SIGNS)


@pytest.mark.parametrize(("pair", "got"), [([0, -1], "-1"), ([0, 60], "60"), ([0.5, 1], "0.5")])
def test_rows_that_are_none_are_named(pair, got):
    learner = PairsLearner(mustlink.RCA(), preprocessor=X).fit(PAIRS, SIGNS)
    with pytest.raises(mustlink.DataError, match=rf"whole numbers between 0 and 59, got {got}"):
        learner.predict([pair])
