"""Estimators for tests, and the checks of scikit-learn that they are known to fail."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from . import _catalogue, _config, _estimators, _mustlink, _transformers

_OTHER_STARTS = "random starts differ if rows are repeated; scikit-learn's KMeans fails it too"
_NO_SWEEPS = "a fitted transform does not report its number of sweeps"
_WEIGHTS = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")

#: Checks that fail by intention: estimator, check, reason.
EXPECTED_FAILED_CHECKS: dict[str, dict[str, str]] = {
    **{
        name: dict.fromkeys(_WEIGHTS, _OTHER_STARTS)
        for name in (
            "COPKMeans",
            "ConstrainedKMeans",
            "KMeans",
            "KPrototypes",
            "PCKMeans",
            "SeededKMeans",
            "SizeConstrainedKMeans",
        )
    },
    "CorrelationClustering": {
        "check_clustering": "it uses only constraints, and this check gives none"
    },
    "ITML": {"check_transformer_n_iter": _NO_SWEEPS},
    "Ssdbscan": {"check_clustering": "it makes one cluster without cannot-links, and this check gives none"},
    "MMC": {"check_transformer_n_iter": _NO_SWEEPS},
    "OPTICS": {"check_fit2d_1sample": "it sets min_samples = 1, and optics takes 2 and more"},
}

#: Options for testing an estimator whose defaults take long.
_SMALL: dict[str, dict[str, Any]] = {
    "Auto": {"candidates": [{"clusterer": "kmeans"}, {"clusterer": "pck_means"}], "folds": 2},
    "Exact": {"node_limit": 20_000},
    "Ensemble": {"generator": {"type": "random_init", "members": 5}},
    "ITML": {"sampled_pairs": 100},
}

#: Estimators that run a program given by the user; they cannot be tested without one.
NEED_SETUP = ("ExternalClusterer",)


def estimators(n_clusters: int | None = None) -> list[Any]:
    """Return one estimator of every class, for ``parametrize_with_checks``.

    With ``n_clusters``, only classes that take a number of clusters.

    >>> from mustlink.testing import estimators
    >>> [type(estimator).__name__ for estimator in estimators()][:2]
    ['Auto', 'CLAC']
    """
    made = []
    for module in (_estimators, _transformers):
        for name in module.__all__:
            if name in NEED_SETUP:
                continue
            kind = getattr(module, name)
            options = dict(_SMALL.get(name, {}))
            if n_clusters is not None:
                if "n_clusters" not in kind._get_param_names():
                    continue
                options["n_clusters"] = n_clusters
            made.append(kind(**options))
    return made


def expected_failed_checks(estimator: Any) -> dict[str, str]:
    """Return the checks that ``estimator`` is known to fail, each with the reason.

    >>> from mustlink import KMeans
    >>> from mustlink.testing import expected_failed_checks
    >>> "check_sample_weight_equivalence_on_dense_data" in expected_failed_checks(KMeans())
    True
    """
    return EXPECTED_FAILED_CHECKS.get(type(estimator).__name__, {})


def check_plugin(name: str, options: Mapping[str, Any] | None = None) -> list[str]:
    """Check every law of its role on a plugin, and return the names of the laws that it keeps.

    Raises AssertionError with the broken laws, each on the smallest problem that breaks it. A broken law that the
    plugin waives is not reported. It is also an error to waive a law that the plugin keeps or that does not exist.

    Parameters
    ----------
    name : str
        Name of a clusterer, selector or metric; built in, or a function that was made one.
    options : dict, optional
        Options of the plugin.

    Examples
    --------
    >>> from mustlink.testing import check_plugin
    >>> len(check_plugin("purity")) > 5
    True
    """
    own = _config.CALLABLES.get(name)
    role = own[0] if own else _catalogue.find(name).role
    config = _config.plain({"type": name, **(options or {})})
    verdicts = _mustlink.check_laws(role, json.dumps(config))
    broken = [f"{law}: {how}" for law, how, waived in verdicts if how is not None and waived is None]
    if broken:
        raise AssertionError(f"{name} breaks {len(broken)} of {len(verdicts)} laws:\n" + "\n".join(broken))
    needless = [law for law, how, waived in verdicts if how is None and waived is not None]
    unknown = [law for law in (own[2]["waives"] if own else {}) if law not in [law for law, *_ in verdicts]]
    for laws, what in [(needless, "keeps"), (unknown, "is not subject to")]:
        if laws:
            raise AssertionError(f"{name} waives {laws[0]}, which it {what}; remove the waiver")
    return [law for law, how, _ in verdicts if how is None]
