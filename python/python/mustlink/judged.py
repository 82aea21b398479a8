"""Clusters of objects from judged pairs alone."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _config, _data, _mustlink

Array = np.ndarray[Any, Any]

#: Missing cells of a frame, as text.
_MISSING = {"nan", "None", "<NA>", "NaT"}


@dataclass(frozen=True)
class PairClusters:
    """Clusters of judged pairs at one threshold.

    Examples
    --------
    >>> import pandas as pd
    >>> from mustlink import cluster_pairs
    >>> rows = [("a", "b", "same"), ("b", "c", "different")]
    >>> found = cluster_pairs(pd.DataFrame(rows, columns=["i", "j", "verdict"]))
    >>> dict(zip(found.ids, found.labels.tolist())), found.n_clusters
    ({'a': 0, 'b': 0, 'c': 1}, 2)
    """

    #: The threshold.
    threshold: float
    #: Ids of the objects, in the order of the pairs.
    ids: list[str]
    #: Cluster of each object.
    labels: Array
    #: Number of clusters.
    n_clusters: int
    #: Total weight of the overruled verdicts, and the costs of joined pairs without a verdict.
    objective: float
    #: Weight that every partition overrules. If it equals the objective, no partition is better.
    bound: float
    #: Overruled verdicts: both ids, ``must_link`` or ``cannot_link``, the weight, and the chain that overrules it.
    overruled: list[tuple[str, str, str, float, str]]
    #: Pairs to ask next: both ids, and the expected number of pairs of objects that the answer joins or separates.
    questions: list[tuple[str, str, float]]
    #: Numbers of ``previous`` clusters that were ``kept``, of ``new`` ones and of those that are ``gone``; pairs of a
    #: cluster that was ``split`` and the one it came from, and of one that was ``joined`` and the one it went into.
    previous: dict[str, list[Any]] | None = None


def cluster_pairs(
    pairs: Any,
    threshold: float | Sequence[float] = 0.5,
    *,
    score_range: tuple[float, float] | None = None,
    prior: float = 0.5,
    join_cost: float = 1.0,
    unjudged: float | None = None,
    apart: str | None = None,
    constraints: str | os.PathLike[str] | None = None,
    ledger: str | os.PathLike[str] | None = None,
    previous: str | os.PathLike[str] | None = None,
    questions: int = 50,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Any:
    """Cluster objects from judged pairs alone, as ``mustlink cluster --pairs`` does.

    Parameters
    ----------
    pairs : frame, or path of a CSV
        Two columns of ids, such as ``i`` and ``j``, ``left`` and ``right`` or ``id_l`` and ``id_r``, and a column
        ``probability``, ``score`` or ``verdict`` (same, different, unsure). The objects are the ids.
    threshold : float, or list of floats
        Lowest probability at which a pair counts as the same.
    score_range : tuple of two floats, optional
        Scores of certainly different and certainly same pairs; 0 and 1 by default.
    prior : float
        Probability that the objects of a judged pair are the same, before its verdict.
    join_cost : float
        Cost of joining two different objects, if separating two that are the same costs 1.
    unjudged : float, optional
        Probability that the objects of a pair without a verdict are the same, at most 0.5; by default 0.4 for scores
        and 0.5 for verdicts. Below 0.5, one wrong verdict between two clusters is overruled even if no other pair of
        them was judged.
    apart : str, optional
        Puts at most one object of each value into a cluster. ``"source"`` stands for the columns ``source_l`` and
        ``source_r``, or for others with such endings.
    constraints : path, optional
        File of constraints, or a sheet of answers. They win over verdicts. Answers about other ids are ignored with a
        warning, and pairs that were answered "unsure" are not asked again.
    ledger : path, optional
        Ledger whose answers win over verdicts. It must refer to the same ids, not to rows by number.
    previous : path, optional
        Labels of an earlier run, with the columns ``id`` and ``label``; for several thresholds with a column for each,
        such as ``threshold_0.7``, or ``label`` for all. Clusters that continue keep their numbers, so that as many
        objects as possible do; others have new numbers.
    questions : int
        Largest number of questions.
    random_state : int, RandomState or None; default 0
        Seed of every random number. A whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Returns
    -------
    found : PairClusters, or a list of them if ``threshold`` is a list

    Examples
    --------
    >>> import pandas as pd
    >>> from mustlink import cluster_pairs
    >>> rows = [("a", "b", 0.95), ("b", "c", 0.9), ("a", "c", 0.9), ("c", "d", 0.6), ("b", "d", 0.2)]
    >>> found = cluster_pairs(pd.DataFrame(rows, columns=["i", "j", "probability"]))
    >>> found.labels
    array([0, 0, 0, 1])
    >>> found.overruled[0][-1]
    'c = b != d'
    """
    is_file = isinstance(pairs, (str, os.PathLike))
    thresholds = [threshold] if isinstance(threshold, (float, int)) else list(threshold)
    request = {
        "score_range": None if score_range is None else list(score_range),
        "apart": apart,
        "thresholds": thresholds,
        "prior": prior,
        "join_cost": join_cost,
        "unjudged": unjudged,
        "constraints": None if constraints is None else os.fspath(constraints),
        "ledger": None if ledger is None else os.fspath(ledger),
        "previous": None if previous is None else os.fspath(previous),
        "questions": questions,
        "seed": _config.seed(random_state),
        "threads": _config.threads(n_jobs),
        "memory_limit": None,
    }
    given = os.fspath(pairs) if is_file else _text(pairs)
    ids, found, warnings = _mustlink.cluster_pairs(_config.text(request), given, is_file)
    _data.warn(warnings)
    made = [
        PairClusters(at, ids, *result, previous=None if told is None else json.loads(told))
        for at, (*result, told) in zip(thresholds, found)
    ]
    return made[0] if isinstance(threshold, (float, int)) else made


def _text(frame: Any) -> str:
    """Return a frame as CSV; missing cells are empty."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(frame.columns)
    columns = [map(str, np.asarray(frame[name]).tolist()) for name in frame.columns]
    writer.writerows([["" if cell in _MISSING else cell for cell in row] for row in zip(*columns)])
    return out.getvalue()
