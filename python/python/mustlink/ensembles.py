"""Ensembles: make and combine partitions of the same objects, and impute constraints from them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _catalogue, _config, _data, _mustlink
from ._given import strength_of
from .constraints import FRAME, Constraints, columns, ids_of_result, row_ids
from .exceptions import ConfigError

Array = np.ndarray[Any, Any]

#: Largest number of objects for which the default uses all pairs.
_MOST_PAIRWISE = 20_000


def consensus(
    partitions: Any,
    n_clusters: int | None = None,
    method: Any = None,
    *,
    X: Any = None,
    constraints: Constraints | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Array:
    """Combine many partitions into one on which they agree.

    Parameters
    ----------
    partitions : array of shape (n_members, n_samples), or frame with a column per member
        Each row of an array, or each column of a frame, is a partition; -1, NaN and None are missing labels.
    n_clusters : int, optional
        Number of clusters. If the partitions determine the number, only the number that all of them have is accepted.
    method : str, dict, optional
        The consensus function. If absent, ``voting``, or ``mcla`` if the partitions have another number of clusters
        than ``n_clusters``; ``mcla`` warns that it does not use constraints. With ``n_clusters`` and constraints the
        default is ``evidence_accumulation``. With more than 20 000 objects it is ``hbgf`` if a constraint is marked
        hard, otherwise as without constraints.
    X : matrix, optional
        The objects, for functions that use them.
    constraints : Constraints, optional
        For functions that respect them. ``constraints.violated(labels)`` are those that the result violates.
    random_state : int, RandomState or None; default 0
        Seed of every random number. A whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Returns
    -------
    labels : array of shape (n_samples,)

    Examples
    --------
    >>> from mustlink import consensus
    >>> consensus([[0, 0, 1, 1], [5, 5, 2, -1], [0, 1, 1, 1]])
    array([0, 0, 1, 1])
    """
    members = _data.partitions(partitions)
    n = members.shape[1]
    rows = partitions if _data.row_names(X) is None else X
    pairs, _ = columns(constraints, n, row_ids(constraints, rows))
    if method is None:
        method = "voting" if n_clusters is None else _default(members, n_clusters, pairs)
    request = {
        "method": {"consensus": _config.plain(method)},
        "k": n_clusters,
        "seed": _config.seed(random_state),
        "threads": _config.threads(n_jobs),
    }
    x = None if X is None else _data.matrix(X)
    found = _mustlink.consensus(_config.text(request), members, x, pairs)
    _data.warn(found.warnings)
    labels: Array = found.labels
    return labels


def _default(members: Array, n_clusters: int, pairs: Any) -> str:
    """Return the consensus function for a given number of clusters, with a warning if it does not use the pairs."""
    if pairs is not None:
        if members.shape[1] <= _MOST_PAIRWISE:
            return "evidence_accumulation"
        *_, strengths, (*_, of_groups) = pairs
        hard = strength_of("hard")
        if np.any(strengths == hard) or np.any(of_groups == hard):
            return "hbgf"
    if all(len(np.unique(row[row >= 0])) == n_clusters for row in members):
        return "voting"
    if pairs is not None:
        text = 'method = "mcla", since n_clusters is given; it does not use the constraints, but method="hbgf" does'
        _data.warn([text])
    return "mcla"


@dataclass(frozen=True)
class KSupport:
    """The consensus of partitions about one number of clusters.

    The consensus index of a pair of rows is the share of partitions that put both together, of those that label both.

    Examples
    --------
    >>> from mustlink import select_k
    >>> select_k([[0, 0, 1, 1, 2], [0, 0, 1, 1, 2], [0, 0, 0, 0, 1]]).supports[1]  # doctest: +ELLIPSIS
    KSupport(n_clusters=3, n_partitions=3, within=1.0, between=0.1666..., ...)
    """

    #: Number of clusters.
    n_clusters: int
    #: Number of partitions that were compared.
    n_partitions: int
    #: Consensus index of pairs in one cluster: of the hierarchy with average linkage, cut at this number.
    within: float | None
    #: Consensus index of pairs in different clusters.
    between: float | None
    #: Area under the cumulative distribution of the consensus index.
    area: float | None
    #: Relative change of the area from one cluster less; the area itself for two clusters.
    change: float | None
    #: Proportion of ambiguously clustered pairs: consensus index above .1 and below .9.
    pac: float | None
    #: Agreement of the partitions about pairs (Fleiss' kappa): 1 if they are equal, about 0 if they are unrelated.
    agreement: float | None
    #: How far the consensus index falls until two of the clusters merge.
    lifetime: float | None
    #: Shares of the pairs whose consensus index is at most 0, .01, .02, …, 1.
    cdf: list[float]


@dataclass(frozen=True)
class SupportedK:
    """The number of clusters that partitions support.

    Examples
    --------
    >>> from mustlink import select_k
    >>> select_k([[0, 0, 1, 1, 2], [0, 0, 1, 1, 2]]).n_clusters
    3
    """

    #: The supported number, or None.
    n_clusters: int | None
    #: The result as a sentence.
    result: str
    #: ``"each_number"``: partitions with the same number of clusters were compared, and the best number has the
    #: smallest ``pac``. ``"one_matrix"``: all partitions were compared, and the best has the longest ``lifetime``.
    reading: str
    #: Number of rows that were used.
    n_samples: int
    #: The numbers of clusters that were compared.
    supports: list[KSupport]
    #: Numbers of clusters that only one partition has, so that it cannot be compared.
    left_out: list[int]


def select_k(
    partitions: Any,
    *,
    k_min: int = 2,
    k_max: int | None = None,
    max_samples: int = 3000,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> SupportedK:
    """Compare numbers of clusters by existing partitions, as ``mustlink select-k --partitions`` does.

    If at least two numbers of clusters have two partitions each, the partitions with k clusters are compared with each
    other, for each k. This is consensus clustering (Monti et al. 2003) as in ConsensusClusterPlus (Wilkerson & Hayes
    2010), with the proportion of ambiguously clustered pairs (PAC; Șenbabaoğlu et al. 2014). Otherwise all partitions
    make one consensus matrix, whose hierarchy is cut at each k (Fred & Jain 2005).

    Three definitions differ from other packages. Pairs that no partition labels together are left out;
    ConsensusClusterPlus and diceR count them as 0. The PAC counts pairs strictly between .1 and .9; the distribution at
    .9 less that at .1 also counts those at .9, and diceR uses 0 and 1 by default. The area is that of
    ConsensusClusterPlus, in steps of .01.

    Parameters
    ----------
    partitions : array of shape (n_members, n_samples), or frame with a column per member
        Each row of an array, or each column of a frame, is a partition; -1, NaN and None are missing labels. A pair of
        rows counts in the partitions that label both.
    k_min : int
        Smallest number of clusters.
    k_max : int, optional
        Largest number of clusters. If absent, the largest of the partitions, or ``k_min + 8`` for one matrix.
    max_samples : int
        Largest number of rows, at most 20 000; of more, a sample is drawn.
    random_state : int, RandomState or None; default 0
        Seed of every random number. A whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Returns
    -------
    found : SupportedK

    Examples
    --------
    >>> from mustlink import select_k
    >>> two = [[0, 0, 0, 0, 1, 1], [0, 0, 1, 1, 1, 1]]
    >>> three = [[0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 2, 2]]
    >>> found = select_k(two + three)
    >>> found.n_clusters, [support.pac for support in found.supports]
    (3, [0.5333333333333333, 0.0])
    """
    request = {
        "k_min": k_min,
        "k_max": k_max,
        "max_samples": max_samples,
        "seed": _config.seed(random_state),
        "threads": _config.threads(n_jobs),
    }
    text, warnings = _mustlink.select_k(_config.text(request), _data.partitions(partitions))
    _data.warn(warnings)
    made = json.loads(text)
    supports = [KSupport(s.pop("k"), s.pop("partitions"), **s) for s in made["found"]]
    return SupportedK(made["k"], made["result"], made["reading"], made["objects"], supports, made["left_out"])


def item_consensus(partitions: Any, labels: Any) -> Array:
    """Return how sure the cluster of each row is: how often the partitions put it together with the others.

    The item consensus of a row is the share of comparisons with the other rows of its cluster in which a partition puts
    both together, among the comparisons in which it labels both (Monti et al. 2003). ConsensusClusterPlus first takes
    the share of each pair and then their mean; the two differ only if labels are missing.

    Parameters
    ----------
    partitions : array of shape (n_members, n_samples), or frame with a column per member
        Each row of an array, or each column of a frame, is a partition; -1, NaN and None are missing labels.
    labels : array of shape (n_samples,)
        Clusters, such as those of ``consensus(partitions)``.

    Returns
    -------
    shares : array of shape (n_samples,)
        NaN for a row that no partition labels together with another row of its cluster.

    Examples
    --------
    >>> from mustlink import item_consensus
    >>> item_consensus([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 1, 1]], [0, 0, 1, 1])
    array([0.66666667, 0.66666667, 1.        , 1.        ])
    """
    members = _data.partitions(partitions)
    made: Array = _mustlink.item_consensus(members, _data.classes(labels, members.shape[1], "labels"))
    return made


def _request(
    generator: Any, transforms: Any, n_clusters: int | None, random_state: Any, n_jobs: int | None
) -> str:
    _data.warn(_config.not_of_parts([generator, transforms]))
    method: dict[str, Any] = {"generator": _config.plain(generator)}
    if transforms is not None:
        method["transforms"] = _config.plain(transforms)
    return _config.text(
        {
            "method": method,
            "k": n_clusters,
            "seed": _config.seed(random_state),
            "threads": _config.threads(n_jobs),
        }
    )


def generate(
    X: Any,
    generator: Any = "random_k",
    *,
    n_clusters: int | None = None,
    transforms: Any = None,
    constraints: Constraints | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Array:
    """Make many partitions of the rows of ``X``, one row per member; -1 if a member left an object out.

    Parameters
    ----------
    X : matrix of shape (n_samples, n_features)
        The objects. A table with words and missing values is accepted if the first transform takes one.
    generator : str, dict
        Generator that makes the partitions; ``list_plugins("ensemble_generator")`` returns the names.
    n_clusters : int, optional
        Number of clusters, for generators that need one.
    transforms : list, optional
        Transforms that are applied to the rows first, such as ``["z_score"]``.
    constraints : Constraints, optional
        For members that respect them.
    random_state : int, RandomState or None; default 0
        Seed of every random number. A whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Returns
    -------
    labels : array of shape (n_members, n_samples)

    Examples
    --------
    >>> from mustlink import generate
    >>> X = [[0.0], [0.1], [5.0], [5.1]]
    >>> generate(X, {"type": "random_init", "members": 2}, n_clusters=2)
    array([[0, 0, 1, 1],
           [0, 0, 1, 1]])
    """
    x = _data.matrix(X, transforms=transforms)
    text = _request(generator, transforms, n_clusters, random_state, n_jobs)
    pairs, _ = columns(constraints, _data.rows(x), row_ids(constraints, X, remedy=FRAME))
    labels, warnings = _mustlink.generate(text, x, pairs)
    _data.warn(warnings)
    made: Array = labels
    return made


def impute(
    X: Any,
    generator: Any = "subsample",
    *,
    n_clusters: int | None = None,
    kappa_must: float = 0.98,
    kappa_cannot: float = 0.0,
    must_link: bool = True,
    cannot_link: bool = False,
    co_presence: bool = False,
    min_presence: int = 1,
    max_matrix_bytes: int = 2 << 30,
    max_pairs: int = 50_000_000,
    transforms: Any = None,
    constraints: Constraints | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Constraints:
    """Make constraints on which nearly all members of an ensemble agree.

    They are marked soft, because the members may be wrong.

    Parameters
    ----------
    X : matrix of shape (n_samples, n_features)
        The objects. A table with words and missing values is accepted if the first transform takes one.
    generator : str, dict
        Generator that makes the ensemble.
    n_clusters : int, optional
        Number of clusters, for generators that need one.
    kappa_must : float
        Smallest share of the members that must join a pair for a must-link.
    kappa_cannot : float
        Largest share of the members that may join a pair for a cannot-link.
    must_link, cannot_link : bool
        Kinds of constraints to return.
    co_presence : bool
        Use shares of the members that saw both objects (at least ``min_presence``), instead of all members.
    max_matrix_bytes : int
        Largest memory for the shares of all pairs; above it they are counted when they are needed.
    max_pairs : int
        Maximum number of constraints; more are an error.
    transforms : list, optional
        Transforms that are applied to the rows first, such as ``["z_score"]``.
    constraints : Constraints, optional
        For members that respect them.
    random_state : int, RandomState or None; default 0
        Seed of every random number. A whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Examples
    --------
    >>> from mustlink import impute
    >>> X = [[0.0], [0.1], [5.0], [5.1]]
    >>> impute(X, {"type": "random_init", "members": 5}, n_clusters=2, cannot_link=True)
    Constraints(2 must-links, 4 cannot-links, n=4)
    """
    x = _data.matrix(X, transforms=transforms)
    how = {
        "kappa_must": kappa_must,
        "kappa_cannot": kappa_cannot,
        "co_presence": co_presence,
        "min_presence": min_presence,
        "max_matrix": max_matrix_bytes,
        "max_pairs": max_pairs,
        "must_link": must_link,
        "cannot_link": cannot_link,
    }
    text = _request(generator, transforms, n_clusters, random_state, n_jobs)
    n = _data.rows(x)
    given, _ = columns(constraints, n, row_ids(constraints, X, remedy=FRAME))
    pairs, _, warnings = _mustlink.impute(text, _config.text(how), x, given)
    _data.warn(warnings)
    return Constraints._of(pairs, n, ids_of_result(constraints, X))


def list_plugins(role: str | None = None) -> list[str]:
    """Return the names of all plugins, or of the plugins of one role: ``base_clusterer``, ``query_selector`` …

    Examples
    --------
    >>> from mustlink import list_plugins
    >>> "kmeans" in list_plugins("base_clusterer")
    True
    """
    own = [(name, of) for name, (of, *_) in _config.CALLABLES.items()]
    all_ = own + [(p.tag, p.role) for p in _catalogue.catalogue()]
    roles = sorted({of for _, of in all_})
    if role is not None and role not in roles:
        raise ConfigError(f"role: must be one of {', '.join(roles)}, got {role!r}")
    return [name for name, of in all_ if role in (None, of) and not name.startswith("python_")]
