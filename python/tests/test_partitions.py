"""The number of clusters that partitions support, and how sure each row is, by NumPy as well."""

import numpy as np
import pytest
from mustlink import consensus, item_consensus, select_k
from mustlink.exceptions import ConfigError

GROUPS = np.repeat([0, 1, 2], 8)
N = len(GROUPS)


def noisy(k, seed, missing):
    """Return a partition with ``k`` clusters and a few wrong and missing labels; for 2, two groups are one cluster."""
    rng = np.random.default_rng(seed)
    groups = GROUPS if k == 3 else (seed % 3 == GROUPS).astype(int)
    labels = np.where(rng.random(N) < 0.05, rng.integers(0, k, N), groups)
    return np.where(rng.random(N) < missing, -1, labels)


def matrices(members):
    """Return the members that put each pair together, and those that label both."""
    seen = members >= 0
    both = (seen[:, :, None] & seen[:, None, :]).sum(axis=0)
    same = members[:, :, None] == members[:, None, :]
    return (same & seen[:, :, None] & seen[:, None, :]).sum(axis=0), both


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_numbers_of_clusters_are_compared(missing):
    members = {k: np.array([noisy(k, seed, missing) for seed in range(6)]) for k in (2, 3)}
    found = select_k(np.concatenate([members[2], members[3]]), n_jobs=1)
    assert found.reading == "each_number" and found.n_samples == N
    assert [(s.n_clusters, s.n_partitions) for s in found.supports] == [(2, 6), (3, 6)]
    upper = np.triu_indices(N, 1)
    for support in found.supports:
        together, both = (m[upper] for m in matrices(members[support.n_clusters]))
        index = together[both > 0] / both[both > 0]
        assert support.pac == pytest.approx(np.mean((index > 0.1) & (index < 0.9)))
        steps = np.arange(101) / 100
        cdf = [np.mean(index <= step + 1e-9) for step in steps]
        assert support.cdf == pytest.approx(cdf)
        assert support.area == pytest.approx(np.mean(cdf[1:]))
    assert found.supports[1].change == pytest.approx(found.supports[1].area / found.supports[0].area - 1)
    assert found.n_clusters == 3 and "3 clusters" in found.result


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_item_consensus_is_a_share_of_comparisons(missing):
    members = np.array([noisy(3, seed, missing) for seed in range(5)])
    labels = consensus(members, 3)
    together, both = matrices(members)
    own = (labels[:, None] == labels[None, :]) & ~np.eye(N, dtype=bool)
    expected = (together * own).sum(axis=1) / (both * own).sum(axis=1)
    assert item_consensus(members, labels) == pytest.approx(expected)
    assert np.isnan(item_consensus([[0, 0, 1]], [0, 0, 1])).tolist() == [False, False, True]


def test_ranges_are_checked():
    with pytest.raises(ConfigError, match="k_max: must be from 2 to 3, the number of objects"):
        select_k([[0, 0, 1], [0, 0, 1]], k_max=9)
    with pytest.raises(ConfigError, match="partitions: must be at least 2"):
        select_k([[0, 0, 1]])
