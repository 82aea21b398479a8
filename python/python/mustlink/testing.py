"""Estimators as tests make them, and the checks of scikit-learn that they are known to fail."""

from __future__ import annotations

from typing import Any

from . import _estimators, _transformers

#: Checks that fail by intention: estimator, check, reason.
EXPECTED_FAILED_CHECKS: dict[str, dict[str, str]] = {
    "ITML": {"check_transformer_n_iter": "a fitted transform does not tell its number of sweeps"},
    "OPTICS": {"check_fit2d_1sample": "it sets min_samples = 1, and optics takes 2 and more"},
    "MMC": {"check_transformer_n_iter": "a fitted transform does not tell its number of sweeps"},
}

#: Options under which an estimator is tested, where its defaults take long.
_SMALL: dict[str, dict[str, Any]] = {
    "Auto": {"candidates": [{"clusterer": "kmeans"}, {"clusterer": "pck_means"}], "folds": 2},
    "Ensemble": {"generator": {"type": "random_init", "members": 5}},
    "ITML": {"sampled_pairs": 100},
}

#: Runs a program that has to be named first: nothing to test without one.
NEED_SETUP = ("ExternalClusterer",)


def estimators() -> list[Any]:
    """One estimator of every class, for ``parametrize_with_checks``."""
    made = []
    for module in (_estimators, _transformers):
        for name in module.__all__:
            if name in NEED_SETUP:
                continue
            kind = getattr(module, name)
            options = dict(_SMALL.get(name, {}))
            if "n_clusters" in kind._get_param_names():
                options["n_clusters"] = 2
            made.append(kind(**options))
    return made


def expected_failed_checks(estimator: Any) -> dict[str, str]:
    """The checks that ``estimator`` is known to fail, each with the reason."""
    return EXPECTED_FAILED_CHECKS.get(type(estimator).__name__, {})
