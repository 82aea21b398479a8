# Written from the catalogue by `python -m mustlink._write`.
"""One estimator per base clusterer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from ._config import PluginLike
from ._base import Centres, Clusterer, WeightedClusterer

__all__ = [
    "Auto",
    "CLAC",
    "ConstrainedCompleteLink",
    "ConstrainedEM",
    "ConstrainedKMeans",
    "ConstrainedSpectral",
    "COPKMeans",
    "CorrelationClustering",
    "COSC",
    "DBSCAN",
    "Ensemble",
    "Exact",
    "ExternalClusterer",
    "FOSC",
    "GaussianMixture",
    "GPKMeans",
    "HDBSCAN",
    "Hierarchical",
    "HMRFKMeans",
    "KPrototypes",
    "KMeans",
    "LAC",
    "LCVQE",
    "MiniBatchKMeans",
    "MPCKMeans",
    "OPTICS",
    "Pccc",
    "PCKMeans",
    "PentaTraining",
    "PLSCAN",
    "SCOPKMeans",
    "SeededKMeans",
    "SizeConstrainedKMeans",
    "Spectral",
    "SSKernelKMeans",
    "Ssdbscan",
]


class Auto(Clusterer):
    """Tries many methods, keeps those that the constraints cannot distinguish from the best, and combines them.

    **Method**

    Each candidate is scored on held-out pairs: the mean of the share of must-links and the share of cannot-links that
    it satisfies. Candidates that use no constraints are scored on all pairs. The others are scored on pairs held out in
    folds, in which no held-out pair follows from those that are kept. Must-links on a common cycle are therefore held
    out together, as are cannot-links between the same two components. After two folds, candidates that cannot be
    among the best are dropped. Candidates within `ties` standard errors of the difference to the best then cluster
    under all constraints. The result is the consensus of their partitions: average linkage of the co-association,
    with members weighted by (score / best score)^`sharpness`, and constraints as evidence.

    If the consensus breaks at most the share `trust` of the constraints (5 %, or 3 % if some contradict others), it is
    made again and obeys all of them, if k clusters can hold them. If there are at least 20 constraints of each kind,
    and it breaks more than the best candidate by over 20 % of all constraints, the best candidate is the result.
    Constraints marked hard always hold. If constraints contradict each other, candidates do not get the weakest one.

    Without constraints the score of a candidate is its stability, the mean adjusted Rand index of its partition and
    those of the other candidates. If there are more than `sample` objects, candidates cluster a sample of this size. It
    contains objects with a constraint first; if not all of these fit, it follows chains of constraints one after the
    other. Each other object joins the nearest centre or, if a candidate does not use centres, the nearest object. The
    consensus uses all constraints. If more than 4096 objects have one, it is made without them, and objects then move
    to obey.

    The portfolio has k-means, mixtures and linkage under several scalings, and their constrained relatives under
    these scalings and under learned metrics. Data of more than 100 features are reduced to 50 principal components.
    For term vectors there are methods that compare angles. `mustlink describe auto` and the manual list it.

    **Input and output**

    n × d, dense or sparse. k clusters; if no k is given, the number from `k_min` to `k_max` that has the largest sum of
    weights; candidates that find k themselves count for the number they found. A warning lists the numbers that fit
    equally well. The result lists the candidates with their scores. The diagnostic `score` is the expected score of
    the best candidate on other pairs. It is the mean over bootstrap samples in which the best is chosen again and
    scored on pairs that were not drawn. With more constraints than half the objects, a result under all of them is
    better than the parts of it that can be scored. A lower bound is then `score_at_least`, two standard errors below
    `score`.

    **Errors**

    `ConfigError`, also for a candidate that drops or merges rows, for a consensus that needs more than labels, for more
    clusters than `sample`, and if no candidate gives a clustering; `InconsistentConstraintsError`,
    `InfeasibleConstraintsError` for constraints marked hard; with `hold_out = "objects"` also `ConstraintError`.

    **Cost and randomness**

    Up to folds + 1 runs of each candidate on at most `sample` objects, for those that fit into `effort` or
    `time_budget_seconds`; then O(n · sample · d) for each candidate in the result. Random as the candidates are, in
    the folds, in the sample and in the bootstrap.

    **References**

    [VanCraenendonckBlockeel2017] for unconstrained candidates chosen by all pairs; [Pourrajabi2014] for folds of
    constraints; [FredJain2005] for the consensus; [Tsamardinos2018] for the corrected score. Differs: the best
    candidates are combined instead of choosing one; bridges of the must-link graph are held out alone.

    Parameters
    ----------
    n_clusters : int, at least 1; optional
        Number of clusters. If absent, the number of classes in `y`.
    candidates : list; optional
        Candidates to try, each as `{ transforms, clusterer }`. If absent, the portfolio above.
    consensus : a consensus function; optional
        Consensus function that combines the tied candidates. If absent, evidence accumulation as
        above.
    effort : float, at least 0; default 30.0
        Estimated processor time that the candidates may take, in seconds. The most expensive ones
        are left out, with a warning; the result does not depend on the clock.
    folds : int between 2 and 1000; default 5
        Number of parts of the constraints that are held out in turn.
    hold_out : "pairs" or "objects"; default 'pairs'
        Units that are distributed over the parts.
    k_max : int between 1 and 1000; default 8
        Largest number of clusters tried if k is not given; at most n.
    k_min : int between 1 and 1000; default 2
        Smallest number of clusters tried if k is not given.
    sample : int, at least 10; default 3000
        Number of objects on which candidates are tried, if there are more.
    sharpness : float between 0 and 1000; default 8.0
        Power of the score in the weight of a candidate.
    ties : float between 0 and 100; default 1.0
        Largest distance of a tied candidate from the best score, in standard errors of the
        difference.
    time_budget_seconds : float, at least 0; optional
        Seconds after which no further candidate is tried, instead of `effort`. If absent, no limit.
        The best candidate so far is fitted in any case, which may take longer. With a time limit,
        the same seed may give a different result.
    trust : float between 0 and 1; optional
        Largest share of broken constraints with which the consensus is made again to obey all of
        them. If absent, 0.05, or 0.03 if some constraints contradict others. A `consensus` given by
        the user is not made again.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, 0 is the largest; -1 for noise.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of the objective that the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list
        Violated constraints one by one: rows `i` and `j` of `X`, `type`, `weight`, `source`.
    status_ : str
        How the run ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Number of pairs left out because an object is not a row of `X`.
    tried_ : list
        Candidates that were tried: `name`, `k`, `score`, `weight` in the consensus, `outcome`,
        `seconds`.

    Examples
    --------
    >>> from mustlink import Auto, Constraints
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [8, 8], [8, 9], [9, 8], [9, 9]]
    >>> pairs = Constraints(must_link=[(0, 3), (4, 7)], cannot_link=[(0, 4)], n=8)
    >>> Auto(n_clusters=2).fit_predict(X, constraints=pairs).tolist()
    [0, 0, 0, 0, 1, 1, 1, 1]

    References: VanCraenendonckBlockeel2017, Pourrajabi2014, FredJain2005, Tsamardinos2018.
    """

    _tag = "auto"

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        candidates: Sequence[Any] | None = None,
        consensus: PluginLike | None = None,
        effort: float = 30.0,
        folds: int = 5,
        hold_out: Literal["pairs", "objects"] = 'pairs',
        k_max: int = 8,
        k_min: int = 2,
        sample: int = 3000,
        sharpness: float = 8.0,
        ties: float = 1.0,
        time_budget_seconds: float | None = None,
        trust: float | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.candidates = candidates
        self.consensus = consensus
        self.effort = effort
        self.folds = folds
        self.hold_out = hold_out
        self.k_max = k_max
        self.k_min = k_min
        self.sample = sample
        self.sharpness = sharpness
        self.ties = ties
        self.time_budget_seconds = time_budget_seconds
        self.trust = trust
        self.random_state = random_state
        self.n_jobs = n_jobs


class CLAC(Clusterer):
    """Locally adaptive clustering under constraints: chunklets, the components of must-links, stay whole.

    **Method**

    Works as `lac`, but each assignment places the chunklets first, one after the other. A chunklet goes to the nearest
    cluster that holds nothing it must be apart from. Free objects then choose their clusters independently. Without
    constraints the result is the same as with `lac`.

    **Input and output**

    n × d, dense or sparse, constraints (weights matter only to `least_violation`). One label per object in `0..k`,
    centres and weights (k × d). No must-link is ever broken. No cannot-link is broken if each chunklet must be apart
    from fewer than k others.

    **Errors**

    Returns the errors of `lac`; `InconsistentConstraintsError` with the chain of must-links;
    `InfeasibleConstraintsError` if `infeasible` is not `least_violation`.

    **Cost and randomness**

    O(rounds · (n·k·d + chunklets · k + cannot-linked chunklets)); random: the first centre if no chunklet has
    cannot-links, and the order if `chunklet_order` asks for it.

    **References**

    [DomeniconiAlRazgan2008] §3. Differs: chunklets are placed again at each assignment; the published listing does
    this only for the first one. The paper does not give the order of chunklets, although the result depends on it
    (see the table in the manual's page on readings); `exact` removes this influence.

    Parameters
    ----------
    n_clusters : int, at least 1; optional
        Number of clusters. If absent, the number of classes in `y`, otherwise 8.
    assign_rule : "printed" or "entropy"; default 'printed'
        Cost that an object compares when it chooses a cluster.
    chunklet_distance : "sum_of_distances" or "sum_of_squares"; default 'sum_of_distances'
        Distance from a chunklet to a centre. Under the `entropy` rule, the costs of its objects are
        added.
    chunklet_order : "random", "index" or "degree_desc"; default 'degree_desc'
        Order in which chunklets are placed.
    empty : "keep", "reseed" or "error"; default 'keep'
        Treatment of a cluster that has no objects; `reseed` moves whole chunklets.
    h : "auto" or float above 0; default 'auto'
        Incentive to use more features, in units of squared distance. A large value gives k-means, a
        small one a single feature per cluster. "auto": the mean squared distance of an object to
        the nearest first centre, divided by the number of features.
    infeasible : "least_violation", "error" or "exact"; default 'least_violation'
        Treatment of a chunklet when it must be apart from something in every cluster.
    init : "neighbourhood", "kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb" or "given"; default 'neighbourhood'
        Method of choosing the first centres. `neighbourhood`: the means of the chunklets with
        cannot-links, then the objects farthest from them.
    max_iter : int, at least 1; default 100
        Maximum number of rounds.
    when_more_chunklets : "weighted_farthest_first", "largest" or "degree"; default 'weighted_farthest_first'
        Selection of the first chunklets when more than k have cannot-links.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, 0 is the largest; -1 for noise.
    cluster_centers_ : array of shape (n_clusters, n_features)
        Centres.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of the objective that the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list
        Violated constraints one by one: rows `i` and `j` of `X`, `type`, `weight`, `source`.
    status_ : str
        How the run ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Number of pairs left out because an object is not a row of `X`.

    Examples
    --------
    >>> from mustlink import CLAC, Constraints
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [8, 8], [8, 9], [9, 8], [9, 9]]
    >>> pairs = Constraints(must_link=[(0, 3), (4, 7)], cannot_link=[(0, 4)], n=8)
    >>> CLAC(n_clusters=2).fit_predict(X, constraints=pairs).tolist()
    [0, 0, 0, 0, 1, 1, 1, 1]

    References: DomeniconiAlRazgan2008, Domeniconi2007.
    """

    _tag = "clac"

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        assign_rule: Literal["printed", "entropy"] = 'printed',
        chunklet_distance: Literal["sum_of_distances", "sum_of_squares"] = 'sum_of_distances',
        chunklet_order: Literal["random", "index", "degree_desc"] = 'degree_desc',
        empty: Literal["keep", "reseed", "error"] = 'keep',
        h: Literal["auto"] | float = 'auto',
        infeasible: Literal["least_violation", "error", "exact"] = 'least_violation',
        init: Literal["neighbourhood", "kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb", "given", "k-means++"] = 'neighbourhood',
        max_iter: int = 100,
        when_more_chunklets: Literal["weighted_farthest_first", "largest", "degree"] = 'weighted_farthest_first',
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.assign_rule = assign_rule
        self.chunklet_distance = chunklet_distance
        self.chunklet_order = chunklet_order
        self.empty = empty
        self.h = h
        self.infeasible = infeasible
        self.init = init
        self.max_iter = max_iter
        self.when_more_chunklets = when_more_chunklets
        self.random_state = random_state
        self.n_jobs = n_jobs


class ConstrainedCompleteLink(Clusterer):
    """Constrained complete link: complete linkage on distances that constraints have changed.

    **Method**

    The propagator pulls must-linked objects together, and their surroundings with them. It puts cannot-linked objects
    farther apart than all others. Then the two clusters whose farthest members are nearest are merged, again and
    again (ties: smallest members); so cannot-links reach clusters through the linkage. If this ends before k clusters
    are reached, it starts again. It then leaves out merges after which k clusters could no longer keep the
    cannot-links, and merges for which a search cannot decide this in time.

    **Input and output**

    n × d dense or sparse, or distances. One label per object, clusters in order of their smallest members; with fewer
    must-link components than k, some stay empty. The history contains the height of every merge between must-link
    components; the objective is the last height. Every constraint holds unless `merge` or `soft_ml` allows otherwise.
    Weights are not used.

    **Errors**

    `MissingKError`, `ConfigError`; `InconsistentConstraintsError`; `InfeasibleConstraintsError` if k clusters cannot
    keep the cannot-links, `ConstraintError` if the search reaches its limit; `ConfigError` for a propagator without
    distances.

    **Cost and randomness**

    O(n²) after the propagator, O(n³) if merges are left out; 16·n² bytes of memory in addition to the propagator. Not
    random.

    **References**

    [Klein2002]. Differs: merges that lead to a dead end are left out.

    Parameters
    ----------
    n_clusters : int, at least 1; optional
        Number of clusters. If absent, the number of classes in `y`, otherwise 8.
    max_objects : int, at least 1; default 20000
        Maximum number of objects; the method stores a number for every pair.
    on_infeasible : "error" or "merge"; default 'error'
        Action if k clusters cannot be reached without breaking a cannot-link.
    propagator : a constraint propagator; default 'shortest_path'
        Propagator that changes the distances.
    soft_ml : bool; default False
        Let distances decide whether must-links hold. Contradictions are then allowed.
    stop : "k", "auto" or float, at least 0; default 'k'
        Condition that ends merging: "k", "auto" (only cannot-linked clusters are left), or a
        height.
    kind : one of "dense", "distances"; default 'dense'
        Content of `X`: rows of numbers (dense or sparse), or n × n symmetric distances or
        affinities.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, 0 is the largest; -1 for noise.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of the objective that the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list
        Violated constraints one by one: rows `i` and `j` of `X`, `type`, `weight`, `source`.
    status_ : str
        How the run ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Number of pairs left out because an object is not a row of `X`.

    Examples
    --------
    >>> from mustlink import ConstrainedCompleteLink, Constraints
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [8, 8], [8, 9], [9, 8], [9, 9]]
    >>> pairs = Constraints(must_link=[(0, 3), (4, 7)], cannot_link=[(0, 4)], n=8)
    >>> ConstrainedCompleteLink(n_clusters=2).fit_predict(X, constraints=pairs).tolist()
    [0, 0, 0, 0, 1, 1, 1, 1]

    References: Klein2002.
    """

    _tag = "constrained_complete_link"

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        max_objects: int = 20000,
        on_infeasible: Literal["error", "merge"] = 'error',
        propagator: PluginLike = 'shortest_path',
        soft_ml: bool = False,
        stop: Literal["k", "auto"] | float = 'k',
        kind: Literal["dense", "distances"] = 'dense',
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.max_objects = max_objects
        self.on_infeasible = on_infeasible
        self.propagator = propagator
        self.soft_ml = soft_ml
        self.stop = stop
        self.kind = kind
        self.random_state = random_state
        self.n_jobs = n_jobs


class ConstrainedEM(Clusterer):
    """Expectation maximisation for Gaussian mixtures under hard constraints.

    **Method**

    Chunklets are the must-link components and all other single objects. They take one label each; those joined by a
    cannot-link take different ones. The E step computes the exact probabilities of these labels for each component of
    the cannot-link graph. It uses elimination. If that is more expensive, or exceeds `max_width`, it uses sums over the
    sets of labels that chunklets all apart from one another take (as in groups), or over the sets of chunklets that may
    share a label. With two clusters a component has only two labellings. With more, it may be too entangled for all of
    these; it then uses belief propagation. The M step is that of a Gaussian mixture.

    **Input and output**

    n × d dense. One label per object: the likeliest of a chunklet, jointly under cannot-links; memberships, means,
    and inverse covariances. Every constraint holds. The objective is the negative log-likelihood divided by n; with
    cannot-links and `mixing = "ignore_partition"` it is the likelihood of the objects together with the event that
    the cannot-links hold. It never rises unless something was approximated (`approximate_chunklets` in the
    diagnostics counts this). Weights of constraints are not used.

    **Errors**

    `MissingKError`, `ConfigError`; `InconsistentConstraintsError`, `InfeasibleConstraintsError`; `ConfigError` for a
    start that makes more clusters; `ConstraintError` if a search reaches its limit; `NumericalError` if every start
    ended in a singular covariance with `reg_covar = 0`, or density 0 everywhere.

    **Cost and randomness**

    O(n·k·d² + k·d³) per iteration, and the tables: at most k^(max_width + 1) entries for a chunklet with cannot-links,
    4 million for a component; k·2^k for a group, a million for sums over sets. Belief propagation takes up to 200
    sweeps an iteration, each O(k) for every two cannot-links of a chunklet. `mixing = "gradient"` repeats these sums
    for cannot-links up to 400 times. Random only in the start.

    **References**

    [Shental2003]. Differs: a floor under the variances instead of a ridge, so that the likelihood cannot fall.

    Parameters
    ----------
    n_clusters : int, at least 1; optional
        Number of clusters. If absent, the number of classes in `y`, otherwise 8.
    assumption : "chunklet_iid" or "point_iid"; default 'chunklet_iid'
        Assumption about the origin of must-linked objects.
    covariance : "full", "diag", "spherical" or "tied"; default 'full'
        Form of the covariances of the components.
    max_iter : int, at least 1; default 200
        Maximum number of iterations in one start.
    max_width : int, at least 0; default 6
        Largest number of other chunklets that elimination handles together with a chunklet that has
        cannot-links.
    mixing : "ignore_partition" or "gradient"; default 'ignore_partition'
        Estimate of mixing weights under cannot-links.
    reg_covar : float, at least 0; default 1e-06
        Smallest variance of a component in any direction, relative to the mean variance of the
        features.
    n_init : int, at least 1; default 5
        Number of starts; the best result is kept.
    start : a base clusterer; default 'kmeans'
        Clusterer that gives the first labels.
    tol : float, at least 0; default 1e-06
        Smallest change of the mean log-likelihood for which another iteration is made.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, 0 is the largest; -1 for noise.
    cluster_centers_ : array of shape (n_clusters, n_features)
        Centres.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of the objective that the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list
        Violated constraints one by one: rows `i` and `j` of `X`, `type`, `weight`, `source`.
    status_ : str
        How the run ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Number of pairs left out because an object is not a row of `X`.

    Examples
    --------
    >>> from mustlink import ConstrainedEM, Constraints
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [8, 8], [8, 9], [9, 8], [9, 9]]
    >>> pairs = Constraints(must_link=[(0, 3), (4, 7)], cannot_link=[(0, 4)], n=8)
    >>> ConstrainedEM(n_clusters=2).fit_predict(X, constraints=pairs).tolist()
    [0, 0, 0, 0, 1, 1, 1, 1]

    References: Shental2003.
    """

    _tag = "constrained_em"

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        assumption: Literal["chunklet_iid", "point_iid"] = 'chunklet_iid',
        covariance: Literal["full", "diag", "spherical", "tied"] = 'full',
        max_iter: int = 200,
        max_width: int = 6,
        mixing: Literal["ignore_partition", "gradient"] = 'ignore_partition',
        reg_covar: float = 1e-06,
        n_init: int = 5,
        start: PluginLike = 'kmeans',
        tol: float = 1e-06,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.assumption = assumption
        self.covariance = covariance
        self.max_iter = max_iter
        self.max_width = max_width
        self.mixing = mixing
        self.reg_covar = reg_covar
        self.n_init = n_init
        self.start = start
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs


class ConstrainedKMeans(WeightedClusterer):
    """Constrained k-means: neighbourhoods of the constraints give the first centres; their objects never move.

    **Method**

    Centres start at the means of the seeds. In every sweep, seeds keep their cluster and the other objects take their
    nearest centre. The seeds are the labels of a given start, without unknown ones. Without a given start, they are
    the neighbourhoods: at most the k largest, one for each cluster.

    **Input and output**

    n × d, dense or sparse, must-links; objects may have weights. Must-links marked soft are enforced like the others,
    or left out if the others cannot be satisfied with them; both with a warning. One label per object in `0..k`, k
    centres.

    **Errors**

    `MissingKError`, `ConfigError`, also if a cluster has no seed and `unseeded = "error"`.

    **Cost and randomness**

    As k-means; random only if a cluster has no seed.

    **References**

    [Basu2002] figure 2; [Basu2004] uses neighbourhoods as its seeds.

    Parameters
    ----------
    n_clusters : int, at least 1; optional
        Number of clusters. If absent, the number of classes in `y`, otherwise 8.
    distortion : "squared_euclidean", "cosine" or "auto"; default 'auto'
        Distance from an object to a centre. "auto": cosine for sparse rows, otherwise squared
        Euclidean.
    empty : "keep", "reseed" or "error"; default 'reseed'
        Treatment of a cluster that has no objects.
    max_iter : int, at least 1; default 100
        Maximum number of sweeps in one start.
    perturb : "additive" or "multiplicative"; default 'additive'
        Formula that perturbs a global mean.
    perturb_rho : float above 0; default 0.7
        Strength of the perturbation of a global mean (ρ).
    n_init : int, at least 1; optional
        Number of starts; the best result is kept. If absent, 1 with seeds and 10 without.
    tol : float, at least 0; default 1e-06
        Smallest change of the objective for which another sweep is made.
    tolerance_kind : "relative" or "absolute"; default 'relative'
        Unit of the tolerance: relative to the objective, or absolute.
    unseeded : "perturb", "farthest_first" or "error"; default 'perturb'
        Start of clusters that have no seed.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, 0 is the largest; -1 for noise.
    cluster_centers_ : array of shape (n_clusters, n_features)
        Centres.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of the objective that the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list
        Violated constraints one by one: rows `i` and `j` of `X`, `type`, `weight`, `source`.
    status_ : str
        How the run ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Number of pairs left out because an object is not a row of `X`.
    distortion_ : str
        The distortion that was used: `cosine` or `squared_euclidean`.

    Examples
    --------
    >>> from mustlink import ConstrainedKMeans, Constraints
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [8, 8], [8, 9], [9, 8], [9, 9]]
    >>> pairs = Constraints(must_link=[(0, 3), (4, 7)], cannot_link=[(0, 4)], n=8)
    >>> ConstrainedKMeans(n_clusters=2).fit_predict(X, constraints=pairs).tolist()
    [0, 0, 0, 0, 1, 1, 1, 1]

    References: Basu2002, Basu2004.
    """

    _tag = "constrained_kmeans"

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        distortion: Literal["squared_euclidean", "cosine", "auto"] = 'auto',
        empty: Literal["keep", "reseed", "error"] = 'reseed',
        max_iter: int = 100,
        perturb: Literal["additive", "multiplicative"] = 'additive',
        perturb_rho: float = 0.7,
        n_init: int | None = None,
        tol: float = 1e-06,
        tolerance_kind: Literal["relative", "absolute"] = 'relative',
        unseeded: Literal["perturb", "farthest_first", "error"] = 'perturb',
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.distortion = distortion
        self.empty = empty
        self.max_iter = max_iter
        self.perturb = perturb
        self.perturb_rho = perturb_rho
        self.n_init = n_init
        self.tol = tol
        self.tolerance_kind = tolerance_kind
        self.unseeded = unseeded
        self.random_state = random_state
        self.n_jobs = n_jobs


class ConstrainedSpectral(Clusterer):
    """Constrained spectral clustering: eigenvectors of the graph that satisfy the constraints well enough.

    **Method**

    L̄ is the normalised Laplacian; Q̄ is the matrix of constraints (must-links +w, cannot-links −w), normalised in the
    same way. Minimise vᵀL̄v subject to vᵀQ̄v ≥ β'·vᵀv. The stationary points are the generalised eigenvectors L̄v =
    λ(Q̄ − β'I)v with λ > 0. Two clusters: the sign of the smoothest eigenvector. More clusters: k-means on the k − 1
    smoothest that have entries of both signs, each scaled by 1 − its cost. An eigenvector of one sign splits nothing.
    Without constraints: k-means on the eigenvectors of the Laplacian.

    **Input and output**

    Dense or sparse rows (turned into a symmetric neighbour graph with locally scaled Gaussian weights), distances
    (the same), or affinities (the graph itself); constraints of any weight. One label per object in `0..k`;
    constraints may be broken. The objective is the sum of the costs vᵀL̄v/vᵀv.

    **Errors**

    `MissingKError`, `ConfigError`; `NumericalError` for objects without any neighbour, and if no vector satisfies the
    constraints well enough; `ConfigError` for `beta` at or above its limit; `ConstraintError` for constraints marked
    hard.

    **Cost and randomness**

    O(n³) time and O(n²) memory up to `dense_limit` objects. Above, an iteration finds the `CANDIDATES` vectors of
    largest 1/λ (block Davidson, equations in L̄ solved with conjugate gradients). It takes O(edges + n · candidates)
    per step and O(n · candidates) memory, plus O(m³) time and O(m²) memory for the m objects in constraints. The
    iteration may miss a vector that is smoother than one it keeps. Such a vector satisfies the constraints by less
    than its cost times the smallest 1/λ found. Random: the starts of k-means and of the iteration.

    **References**

    [WangDavidson2010]; [WangQianDavidson2014]. Differs: the null space of L̄ is eliminated exactly instead of with a
    ridge, and its vectors other than the constant one are candidates. For more than two clusters β' is loose, unless
    the printed rule is chosen.

    Parameters
    ----------
    n_clusters : int, at least 1; optional
        Number of clusters. If absent, the number of classes in `y`, otherwise 8.
    beta : "auto", "loose", "printed" or float; default 'auto'
        Required degree to which constraints are satisfied (β'): a number below the largest
        eigenvalue of Q̄, or a rule.
    dense_limit : int, at least 0; default 1000
        Largest number of objects for which the matrices are decomposed as a whole.
    distortion : "squared_euclidean", "cosine" or "auto"; default 'auto'
        Distance between objects in the neighbour graph. "auto": cosine for sparse rows, otherwise
        squared Euclidean.
    hard_as_soft : float, at least 0; optional
        Weight of constraints marked hard. If absent, they are rejected.
    knn : int, at least 1; default 10
        Number of neighbours of each object in the graph (fewer in small data).
    n_init : int, at least 1; default 10
        Number of starts of k-means; the best result is kept.
    scale : float above 0; default 1.0
        Factor in the weight exp(−scale · distance² / r²) of a neighbour; r is the distance to the
        farthest one.
    kind : one of "dense", "distances", "affinity"; default 'dense'
        Content of `X`: rows of numbers (dense or sparse), or n × n symmetric distances or
        affinities.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, 0 is the largest; -1 for noise.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of the objective that the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list
        Violated constraints one by one: rows `i` and `j` of `X`, `type`, `weight`, `source`.
    status_ : str
        How the run ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Number of pairs left out because an object is not a row of `X`.
    distortion_ : str
        The distortion that was used: `cosine` or `squared_euclidean`.

    Examples
    --------
    >>> from mustlink import ConstrainedSpectral, Constraints
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [8, 8], [8, 9], [9, 8], [9, 9]]
    >>> pairs = Constraints(must_link=[(0, 3), (4, 7)], cannot_link=[(0, 4)], n=8)
    >>> ConstrainedSpectral(n_clusters=2).fit_predict(X, constraints=pairs).tolist()
    [0, 0, 0, 0, 1, 1, 1, 1]

    References: WangDavidson2010, WangQianDavidson2014.
    """

    _tag = "constrained_spectral"

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        beta: Literal["auto", "loose", "printed"] | float = 'auto',
        dense_limit: int = 1000,
        distortion: Literal["squared_euclidean", "cosine", "auto"] = 'auto',
        hard_as_soft: float | None = None,
        knn: int = 10,
        n_init: int = 10,
        scale: float = 1.0,
        kind: Literal["dense", "distances", "affinity"] = 'dense',
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.beta = beta
        self.dense_limit = dense_limit
        self.distortion = distortion
        self.hard_as_soft = hard_as_soft
        self.knn = knn
        self.n_init = n_init
        self.scale = scale
        self.kind = kind
        self.random_state = random_state
        self.n_jobs = n_jobs


class COPKMeans(WeightedClusterer):
    """K-means in which an object joins the nearest centre that its constraints allow.

    **Method**

    Each sweep places the must-link components again, one after the other. A component goes to the nearest cluster that
    holds nothing it must be apart from; free objects take their nearest centre. If no cluster is left for a component,
    a graph colouring (DSATUR with backtracking, cheap clusters first) places all components that cannot-links connect
    with it. From then on these keep their clusters. Those that cannot-links connect within two clusters exchange them
    (a Kempe chain) as long as the distortion falls. If a labelling repeats, the run stops. A run that does not converge
    returns its best labelling. A group whose members must all be apart is placed as a whole in each sweep, if no other
    constraint touches its objects. Each cluster gets one object, by the linear assignment of smallest total distance.

    **Input and output**

    n × d, dense or sparse, objects of any weight, constraints (whose weights are not used). One label per object in
    `0..k`, k centres; no must-link or cannot-link is ever broken.

    **Errors**

    `MissingKError`, `ConfigError`; `InconsistentConstraintsError` with the chain of must-links;
    `InfeasibleConstraintsError` when k clusters provably cannot hold the cannot-links, with objects that show it;
    `ConstraintError` when the search ends at `node_limit` and no placement is known. With `search = "greedy"` also
    `InfeasibleConstraintsError` when every attempt ended with a component for which no cluster was left.

    **Cost and randomness**

    O(sweeps · (n·k·d + components · k + cannot-linked components + g²·k for a group of g)); if components exchange
    clusters, also their pairs of clusters. The search has `node_limit` nodes for each part that cannot-links connect.
    Random: first centres and order.

    **References**

    [Wagstaff2001] Table 1. Differs: when the published method fails, a search continues, so that constraints hold
    if they can be. Several attempts are made and the best one counts. `search = "greedy"` with `restarts = 1` is the
    published method.

    Parameters
    ----------
    n_clusters : int, at least 1; optional
        Number of clusters. If absent, the number of classes in `y`, otherwise 8.
    distortion : "squared_euclidean", "cosine" or "auto"; default 'auto'
        Distance from an object to a centre. "auto": cosine for sparse rows, otherwise squared
        Euclidean.
    empty : "keep", "reseed" or "error"; default 'reseed'
        Treatment of a cluster that has no objects; `reseed` moves whole components.
    init : "neighbourhood", "kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb" or "given"; default 'kmeans_plus_plus'
        Method of choosing the first centres. `neighbourhood`: the means of the must-link components
        with cannot-links (seeded COP-KMeans).
    max_iter : int, at least 1; default 100
        Maximum number of sweeps in one attempt.
    node_limit : int, at least 1; default 1000000
        Maximum number of nodes of the complete search. If it is reached and no placement is known,
        the run ends with an error, because it is undecided whether k clusters can hold the
        cannot-links.
    order : "random", "index" or "degree_desc"; default 'random'
        Order in which units are placed.
    n_init : int, at least 1; default 10
        Number of attempts; the best result is kept.
    search : "complete" or "greedy"; default 'complete'
        Action if no cluster is left for a component; `greedy`: the attempt fails.
    tol : float, at least 0; default 1e-06
        Smallest change of the objective for which another sweep is made.
    tolerance_kind : "relative" or "absolute"; default 'relative'
        Unit of the tolerance: relative to the objective, or absolute.
    unit : "object" or "component"; default 'object'
        Unit that is placed in one step; `object` as published, or `component`.
    when_more_neighbourhoods : "weighted_farthest_first" or "largest"; default 'weighted_farthest_first'
        Selection of the neighbourhoods that start clusters when there are more than k.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, 0 is the largest; -1 for noise.
    cluster_centers_ : array of shape (n_clusters, n_features)
        Centres.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of the objective that the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list
        Violated constraints one by one: rows `i` and `j` of `X`, `type`, `weight`, `source`.
    status_ : str
        How the run ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Number of pairs left out because an object is not a row of `X`.
    distortion_ : str
        The distortion that was used: `cosine` or `squared_euclidean`.

    Examples
    --------
    >>> from mustlink import COPKMeans, Constraints
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [8, 8], [8, 9], [9, 8], [9, 9]]
    >>> pairs = Constraints(must_link=[(0, 3), (4, 7)], cannot_link=[(0, 4)], n=8)
    >>> COPKMeans(n_clusters=2).fit_predict(X, constraints=pairs).tolist()
    [0, 0, 0, 0, 1, 1, 1, 1]

    References: Wagstaff2001.
    """

    _tag = "cop_kmeans"

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        distortion: Literal["squared_euclidean", "cosine", "auto"] = 'auto',
        empty: Literal["keep", "reseed", "error"] = 'reseed',
        init: Literal["neighbourhood", "kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb", "given", "k-means++"] = 'kmeans_plus_plus',
        max_iter: int = 100,
        node_limit: int = 1000000,
        order: Literal["random", "index", "degree_desc"] = 'random',
        n_init: int = 10,
        search: Literal["complete", "greedy"] = 'complete',
        tol: float = 1e-06,
        tolerance_kind: Literal["relative", "absolute"] = 'relative',
        unit: Literal["object", "component"] = 'object',
        when_more_neighbourhoods: Literal["weighted_farthest_first", "largest"] = 'weighted_farthest_first',
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.distortion = distortion
        self.empty = empty
        self.init = init
        self.max_iter = max_iter
        self.node_limit = node_limit
        self.order = order
        self.n_init = n_init
        self.search = search
        self.tol = tol
        self.tolerance_kind = tolerance_kind
        self.unit = unit
        self.when_more_neighbourhoods = when_more_neighbourhoods
        self.random_state = random_state
        self.n_jobs = n_jobs


class CorrelationClustering(Clusterer):
    """Correlation clustering: breaks constraints of the least total weight, with as many clusters as that takes.

    **Method**

    Must-links are edges of weight w, cannot-links edges of weight −w. The method looks for the partition with the
    largest sum of edges inside clusters, which breaks constraints of the least weight. No optimum joins objects that no
    chain of must-links joins, so each such part is solved separately. Parts of up to `exact_size` objects are solved
    exactly, with a table of all subsets. Larger parts are improved by moves of single objects for as long as a move
    helps. The moves start from the whole part and, `restarts` times, from pivots (a random object takes its free
    must-linked neighbours). If constraints do not contradict each other, all are satisfied. With `unjudged` above 0, a
    pair without a constraint is a weak cannot-link, and a few must-links do not join large groups.

    **Input and output**

    Constraints with weights, for example from a crowd or from record matching; the method ignores features. One label
    per object; an object in no must-link is a cluster of its own. k is not needed and not used.

    **Errors**

    `ConstraintError` for constraints marked hard.

    **Cost and randomness**

    O(3^s) for a part of s ≤ `exact_size` objects, otherwise O(restarts · sweeps · constraints); random in the pivots
    of large parts.

    **References**

    [Bansal2004]; pivots: [Ailon2008] §3.

    Parameters
    ----------
    exact_size : int between 1 and 16; default 12
        Largest number of objects in a part that is solved exactly.
    n_init : int, at least 1; default 10
        Number of random pivot orders tried for a larger part.
    unjudged : float, at least 0; default 0.0
        Cost of joining a pair about which no constraint says anything, in the units of the weights.
    kind : one of "dense", "distances", "affinity"; default 'dense'
        Content of `X`: rows of numbers (dense or sparse), or n × n symmetric distances or
        affinities.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, 0 is the largest; -1 for noise.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of the objective that the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list
        Violated constraints one by one: rows `i` and `j` of `X`, `type`, `weight`, `source`.
    status_ : str
        How the run ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Number of pairs left out because an object is not a row of `X`.

    Examples
    --------
    >>> from mustlink import Constraints, CorrelationClustering
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [8, 8], [8, 9], [9, 8], [9, 9]]
    >>> pairs = Constraints(must_link=[(0, 1), (1, 2), (2, 3), (4, 5), (5, 6), (6, 7)], cannot_link=[(0, 4)], n=8)
    >>> CorrelationClustering().fit_predict(X, constraints=pairs).tolist()
    [0, 0, 0, 0, 1, 1, 1, 1]

    References: Bansal2004, Ailon2008.
    """

    _tag = "correlation_clustering"

    def __init__(
        self,
        *,
        exact_size: int = 12,
        n_init: int = 10,
        unjudged: float = 0.0,
        kind: Literal["dense", "distances", "affinity"] = 'dense',
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.exact_size = exact_size
        self.n_init = n_init
        self.unjudged = unjudged
        self.kind = kind
        self.random_state = random_state
        self.n_jobs = n_jobs


class COSC(Clusterer):
    """Constrained 1-spectral clustering: the balanced cut of a neighbour graph under constraints.

    **Method**

    Must-linked objects become one vertex. Two clusters: cannot-linked components are coloured. Then F(S) = NCut(S) +
    γ·(broken cannot-links)·(1/vol S + 1/vol S̄) is minimised through its tight continuous form by RatioDCA from
    several starts, for the smallest γ that breaks nothing. More clusters: parts are split in two again and again.
    Each time, the split that adds least to the multi-cut is taken among those that satisfy enough cannot-links.

    **Input and output**

    Dense or sparse rows (turned into a symmetric neighbour graph with locally scaled Gaussian weights), distances
    (the same), or affinities (the graph itself). One label per object and k clusters; a cluster is empty only if
    must-links leave fewer than k groups. The objective is the multi-cut Σ cut(S, S̄)/vol(S). Must-links hold, except
    those that `on_conflict = "drop_weakest"` drops. For two clusters cannot-links hold unless γ is fixed; for more
    they hold as far as the splits found satisfy them.

    **Errors**

    `MissingKError`, `ConfigError`; `InconsistentConstraintsError`; `InfeasibleConstraintsError` with an odd cycle for k
    = 2, a clique for more; `NumericalError` for objects without any neighbour in the graph; `ConfigError` for negative
    affinities, and for weights of cannot-links too far apart when γ is searched for two clusters.

    **Cost and randomness**

    O(n²·d) for the graph; then O(inner iterations · (edges + n)) per start and step. Random: starts
    and perturbations.

    **References**

    [RangapuramHein2012], [ODonoghueCandes2015]. Differs: a step that can gain less than 1e-3 of the cut ends a
    descent. Weights are divided by the largest, so that γ has a scale. The momentum of the inner iterations is reset
    when it leads uphill. A start keeps its dual point from one γ to the next.

    Parameters
    ----------
    n_clusters : int, at least 1; optional
        Number of clusters. If absent, the number of classes in `y`, otherwise 8.
    balance : "normalized" or "ratio"; default 'normalized'
        Quantity that balances the clusters.
    distortion : "squared_euclidean", "cosine" or "auto"; default 'auto'
        Distance between objects in the neighbour graph. "auto": cosine for sparse rows, otherwise
        squared Euclidean.
    gamma : "schedule" or float, at least 0; default 'schedule'
        Cost of a broken cannot-link (γ), in units of the largest weight of the graph. "schedule":
        the cost is raised until enough cannot-links hold.
    inner_max : int, at least 10; optional
        Maximum number of inner iterations of a step. If absent, 10 000 for two clusters and 1000
        for more.
    knn : int, at least 1; default 10
        Number of neighbours of each object in the graph (fewer in small data).
    on_conflict : "error", "keep", "drop_cl" or "drop_weakest"; default 'error'
        Treatment of cannot-links inside must-link components.
    outer_runs : int, at least 1; default 5
        Number of repetitions of the recursive splitting, for more than two clusters.
    perturb : bool; default True
        Start again from perturbed solutions (for two clusters).
    prefer : "violations_then_cut" or "cut"; default 'violations_then_cut'
        Criterion that chooses the repetition to keep.
    scale : float above 0; default 4.0
        Factor in the weight exp(−scale · distance² / r²) of a neighbour; r is the distance to the
        farthest one.
    starts : int, at least 1; optional
        Number of starts of each split. If absent, 10 for two clusters and 2 for more. The first
        start is an eigenvector; for two clusters the second obeys the cannot-links; the others are
        random.
    kind : one of "dense", "distances", "affinity"; default 'dense'
        Content of `X`: rows of numbers (dense or sparse), or n × n symmetric distances or
        affinities.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, 0 is the largest; -1 for noise.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of the objective that the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list
        Violated constraints one by one: rows `i` and `j` of `X`, `type`, `weight`, `source`.
    status_ : str
        How the run ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Number of pairs left out because an object is not a row of `X`.
    distortion_ : str
        The distortion that was used: `cosine` or `squared_euclidean`.

    Examples
    --------
    >>> from mustlink import COSC, Constraints
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [8, 8], [8, 9], [9, 8], [9, 9]]
    >>> pairs = Constraints(must_link=[(0, 3), (4, 7)], cannot_link=[(0, 4)], n=8)
    >>> COSC(n_clusters=2).fit_predict(X, constraints=pairs).tolist()
    [0, 0, 0, 0, 1, 1, 1, 1]

    References: RangapuramHein2012, ODonoghueCandes2015.
    """

    _tag = "cosc"

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        balance: Literal["normalized", "ratio"] = 'normalized',
        distortion: Literal["squared_euclidean", "cosine", "auto"] = 'auto',
        gamma: Literal["schedule"] | float = 'schedule',
        inner_max: int | None = None,
        knn: int = 10,
        on_conflict: Literal["error", "keep", "drop_cl", "drop_weakest"] = 'error',
        outer_runs: int = 5,
        perturb: bool = True,
        prefer: Literal["violations_then_cut", "cut"] = 'violations_then_cut',
        scale: float = 4.0,
        starts: int | None = None,
        kind: Literal["dense", "distances", "affinity"] = 'dense',
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.balance = balance
        self.distortion = distortion
        self.gamma = gamma
        self.inner_max = inner_max
        self.knn = knn
        self.on_conflict = on_conflict
        self.outer_runs = outer_runs
        self.perturb = perturb
        self.prefer = prefer
        self.scale = scale
        self.starts = starts
        self.kind = kind
        self.random_state = random_state
        self.n_jobs = n_jobs


class DBSCAN(Clusterer):
    """DBSCAN: clusters are chains of objects that have enough neighbours within a radius.

    **Method**

    An object with `min_points` neighbours (including itself) is a core. Cores within the radius of each other share a
    cluster. Other objects join the first cluster that reaches them; objects that no cluster reaches are noise.

    **Input and output**

    n × d, dense, Euclidean distances. The method finds the number of clusters; k is not used. Every object has a label
    (see `noise`); diagnostics: `radius`, `noise_objects`.

    **Errors**

    `ConfigError`.

    **Cost and randomness**

    With up to 16 features it searches a k-d tree, in about n·log n time for any radius; with more it takes O(n²·d)
    time at worst. O(n) memory; without a radius and with more than 16 features O(n · `min_points`). Not random.

    **References**

    [Ester1996]. Differs: if no radius is given, it is chosen from the data.

    Parameters
    ----------
    min_samples : int, at least 2; default 5
        Number of neighbours within the radius, including itself, that make an object a core
        (MinPts).
    noise : "singletons" or "one_cluster"; default 'singletons'
        Treatment of objects outside dense regions in an ensemble and in a study. In files and in
        Python they are noise, -1.
    radius : float above 0; optional
        Radius of a neighbourhood (Eps, in feature units). If absent, the smallest radius at which
        nine in ten objects are cores.
    eps : float above 0; optional
        scikit-learn's name for `radius`.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, 0 is the largest; -1 for noise.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of the objective that the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list
        Violated constraints one by one: rows `i` and `j` of `X`, `type`, `weight`, `source`.
    status_ : str
        How the run ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Number of pairs left out because an object is not a row of `X`.

    Examples
    --------
    >>> from mustlink import DBSCAN
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [8, 8], [8, 9], [9, 8], [9, 9]]
    >>> DBSCAN(min_samples=3, radius=2.0).fit_predict(X).tolist()
    [0, 0, 0, 0, 1, 1, 1, 1]

    References: Ester1996.
    """

    _tag = "dbscan"
    _aliases = {'eps': 'radius'}

    def __init__(
        self,
        *,
        min_samples: int = 5,
        noise: Literal["singletons", "one_cluster"] = 'singletons',
        radius: float | None = None,
        eps: float | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.min_samples = min_samples
        self.noise = noise
        self.radius = radius
        self.eps = eps
        self.random_state = random_state
        self.n_jobs = n_jobs


class Ensemble(Clusterer):
    """An ensemble as one clusterer: a generator makes many partitions, a consensus function combines them.

    **Method**

    All plugins of a run that ask for the same ensemble share it.

    **Input and output**

    The input of the generator. One label per object.

    **Errors**

    The errors of generator and consensus; `ConfigError` with the members that lack what the consensus needs.

    **Cost and randomness**

    The sum of both. The seed of the ensemble depends on the run, not on the place of this clusterer in the
    configuration.

    **References**

    [StrehlGhosh2002].

    Parameters
    ----------
    n_clusters : int, at least 1; optional
        Number of clusters. If absent, the number of classes in `y`, otherwise 8.
    consensus : a consensus function; default 'voting'
        Consensus function that combines the members.
    generator : an ensemble generator; default 'random_init'
        Generator that makes the members.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, 0 is the largest; -1 for noise.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of the objective that the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list
        Violated constraints one by one: rows `i` and `j` of `X`, `type`, `weight`, `source`.
    status_ : str
        How the run ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Number of pairs left out because an object is not a row of `X`.

    Examples
    --------
    >>> from mustlink import Constraints, Ensemble
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [8, 8], [8, 9], [9, 8], [9, 9]]
    >>> pairs = Constraints(must_link=[(0, 3), (4, 7)], cannot_link=[(0, 4)], n=8)
    >>> Ensemble(n_clusters=2).fit_predict(X, constraints=pairs).tolist()
    [0, 0, 0, 0, 1, 1, 1, 1]

    References: StrehlGhosh2002.
    """

    _tag = "ensemble"

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        consensus: PluginLike = 'voting',
        generator: PluginLike = 'random_init',
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.consensus = consensus
        self.generator = generator
        self.random_state = random_state
        self.n_jobs = n_jobs


class Exact(Clusterer):
    """The minimum of the within-cluster sum of squares under hard constraints, by branch and bound.

    **Method**

    Objects that must-links join are treated as one, with their mean and number. The objects are ordered so that the
    last m of them are spread over the data, for every m. The method solves the problem for the last object, then for
    the last two, and so on. Each time, a depth-first search places these objects in order. A branch ends if its cost
    so far, plus the least cost of the objects not yet placed, is at least the best cost known. The first known
    solution comes from `cop_kmeans`. If `node_limit` ends the search, the best clusters known are returned with a
    warning. The diagnostics show how far they can be from the optimum (`gap`, `lower_bound` and `nodes`; the gap is 0
    if the optimum is proved). Use it to measure how close other methods get to the optimum. It can solve one or two
    hundred objects with few features if the clusters are well separated (iris takes a second), and fewer objects
    otherwise.

    **Input and output**

    n × d, dense, squared Euclidean; all constraints count as hard. One label per object in `0..k`, k centres.

    **Errors**

    `MissingKError`, `ConfigError`; `InconsistentConstraintsError`, `InfeasibleConstraintsError`.

    **Cost and randomness**

    Exponential in n in the worst case, O(k·d) for each node; random only in the clusters it starts from.

    **References**

    [Brusco2006]; must-links are collapsed and cannot-links forbid branches.

    Parameters
    ----------
    n_clusters : int, at least 1; optional
        Number of clusters. If absent, the number of classes in `y`, otherwise 8.
    node_limit : int, at least 1; default 50000000
        Maximum number of branches; the search then ends without a proof.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, 0 is the largest; -1 for noise.
    cluster_centers_ : array of shape (n_clusters, n_features)
        Centres.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of the objective that the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list
        Violated constraints one by one: rows `i` and `j` of `X`, `type`, `weight`, `source`.
    status_ : str
        How the run ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Number of pairs left out because an object is not a row of `X`.

    Examples
    --------
    >>> from mustlink import Constraints, Exact
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [8, 8], [8, 9], [9, 8], [9, 9]]
    >>> pairs = Constraints(must_link=[(0, 3), (4, 7)], cannot_link=[(0, 4)], n=8)
    >>> Exact(n_clusters=2).fit_predict(X, constraints=pairs).tolist()
    [0, 0, 0, 0, 1, 1, 1, 1]

    References: Brusco2006.
    """

    _tag = "exact"

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        node_limit: int = 50000000,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.node_limit = node_limit
        self.random_state = random_state
        self.n_jobs = n_jobs


class ExternalClusterer(Clusterer):
    """A clusterer in any language: a command that gets files and replies with labels.

    **Method**

    The command is started once per clustering and exchanges JSON lines on its standard input and output. The first
    message is `{"v":1,"type":"hello","protocol":"clusterer"}`. The command answers
    `{"v":1,"type":"hello","name":"…"}`, with `"again":true` if it accepts several requests, so that it need not be
    started for each. Then comes one request:
    `{"type":"cluster","n":…,"d":…,"k":…,"seed":…,"data":{"kind":"dense","values":PATH},
    "constraints":PATH,"neighbourhoods":[…],"eligible":PATH,"directory":PATH,"options":{…}}`. Arrays are NumPy files,
    sparse data three of them (`indptr`, `indices`, `values`), constraints a CSV `i,j,type,weight`. The reply is
    `{"type":"clustering","labels":[…]}`, with optional `k` and `objective`; labels may be the path of a NumPy vector.
    Before it may come `{"type":"progress","done":3,"total":10}` and
    `{"type":"warning","message":"…"}`; instead of it `{"type":"error","message":"…"}`, or
    `{"type":"infeasible","objects":[…]}` when constraints cannot be satisfied.

    **Input and output**

    The kinds of data in `accepts`. One label per object.

    **Errors**

    `ConfigError` if the command does not start; `TimeLimitError` at `timeout_seconds`; `PluginError` for an invalid
    reply (with its line), an early end (with the last lines of standard error) and reported errors. With `hard_must` or
    `hard_cannot`, `InconsistentConstraintsError` before the command starts.

    **Cost and randomness**

    One process, unless it accepts several requests, and a copy of the data on disk per clustering. The request
    contains the seed, which is below 2³².

    Parameters
    ----------
    n_clusters : int, at least 1; optional
        Number of clusters. If absent, the number of classes in `y`, otherwise 8.
    accepts : list; default ('dense',)
        Kinds of data that the program accepts.
    command : list; default ()
        Program and its arguments: `["python3", "my_method.py"]`. Relative paths start at the
        configuration file.
    hard_cannot : bool; default False
        True if every cannot-link holds in the result of the program.
    hard_must : bool; default False
        True if every must-link holds in the result of the program.
    name : str; optional
        Name of the program in messages. If absent, `external_clusterer`.
    needs_k : bool; default True
        True if the program cannot run without k.
    options : dict; optional
        Options of the program itself, sent with the request: `{ step = 0.5 }`.
    reads_constraints : bool; default False
        True if the program uses constraints.
    soft_weights : bool; default False
        True if the program uses the weights of constraints.
    timeout_seconds : float, at least 0; default 0.0
        Longest wait for each reply, in seconds. If 0, without limit.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, 0 is the largest; -1 for noise.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of the objective that the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list
        Violated constraints one by one: rows `i` and `j` of `X`, `type`, `weight`, `source`.
    status_ : str
        How the run ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Number of pairs left out because an object is not a row of `X`.

    Examples
    --------
    >>> from mustlink import ExternalClusterer
    >>> ExternalClusterer(command=["python3", "my_clusterer.py"]).command
    ['python3', 'my_clusterer.py']
    """

    _tag = "external_clusterer"

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        accepts: Sequence[Any] = ('dense',),
        command: Sequence[Any] = (),
        hard_cannot: bool = False,
        hard_must: bool = False,
        name: str | None = None,
        needs_k: bool = True,
        options: Mapping[str, Any] | None = None,
        reads_constraints: bool = False,
        soft_weights: bool = False,
        timeout_seconds: float = 0.0,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.accepts = accepts
        self.command = command
        self.hard_cannot = hard_cannot
        self.hard_must = hard_must
        self.name = name
        self.needs_k = needs_k
        self.options = options
        self.reads_constraints = reads_constraints
        self.soft_weights = soft_weights
        self.timeout_seconds = timeout_seconds
        self.random_state = random_state
        self.n_jobs = n_jobs


class FOSC(Clusterer):
    """FOSC: takes from a hierarchy the flat clustering that keeps most constraints or is most stable.

    **Method**

    A cluster of the hierarchy lives until it splits into parts of at least `min_cluster_size` objects, which are
    clusters of their own; objects in smaller parts fall out. On each path, one of the nested clusters is chosen, so
    that the total value of the chosen clusters is as large as possible. The value is the weight of the constraints they
    keep (ties: their stability), their stability, or shares of both. The stability of a cluster is a sum over its
    objects: 1 / height from the start of the cluster to the place where the object falls out. Objects outside all
    clusters are noise; such an object keeps its cannot-links and breaks its must-links.

    **Input and output**

    n × d, dense or sparse, Euclidean distances, or a matrix of distances. The method finds the number of clusters; k is
    not used. Every object has a label (see `noise`); diagnostics: `noise_objects`, `stability`, and with constraints
    `satisfaction`, the share of their weight that is kept. Every pair of members of a group counts.

    **Errors**

    `ConfigError`; `ConstraintError` for constraints marked hard.

    **Cost and randomness**

    The hierarchy: `single` and `density` as `hdbscan`, `optics` O(n²·d) time and O(n) memory, the others O(n²·d) time
    and 8·n² bytes. Constraints and members of groups: O(depth of the hierarchy) each. Not random.

    **References**

    [CampelloFosc2013] §2–3, Eqs. 1 and 3; linkages: [LanceWilliams1967], [Mullner2011]; `density`: [Campello2013];
    `optics`: [Ankerst1999]. Differs: `optics` starts at the first object and has no largest radius.

    Parameters
    ----------
    allow_single_cluster : bool; default False
        Allow a result in which all objects are one cluster.
    epsilon : float, at least 0; default 0.0
        Distance below which clusters that split from each other stay one (ε̂, in feature units).
    hierarchy : "single", "complete", "average", "weighted", "ward", "density" or "optics"; default 'average'
        Method that builds the hierarchy.
    min_cluster_size : int, at least 2; default 5
        Smallest number of objects in a cluster; smaller parts fall out of the cluster around them.
    min_samples : int, at least 1; optional
        Number of neighbours, including itself, that make an object a core (m_pts). Used by
        `density` and `optics` only. If absent, `min_cluster_size`.
    noise : "singletons" or "one_cluster"; default 'singletons'
        Treatment of objects outside all clusters in ensembles and studies. In files and in Python
        they are noise, -1.
    selection : "excess_of_mass" or "leaf"; default 'excess_of_mass'
        Selection of clusters from the hierarchy.
    stability_weight : float between 0 and 1; default 0.0
        Importance of stability compared with constraints. At 0 the constraints decide and stability
        breaks ties; at 1 constraints are ignored. In between, shares of the greatest stability and
        of the weight of all constraints are added.
    kind : one of "dense", "distances"; default 'dense'
        Content of `X`: rows of numbers (dense or sparse), or n × n symmetric distances or
        affinities.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, 0 is the largest; -1 for noise.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of the objective that the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list
        Violated constraints one by one: rows `i` and `j` of `X`, `type`, `weight`, `source`.
    status_ : str
        How the run ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Number of pairs left out because an object is not a row of `X`.

    Examples
    --------
    >>> from mustlink import Constraints, FOSC
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [8, 8], [8, 9], [9, 8], [9, 9]]
    >>> pairs = Constraints(must_link=[(0, 3), (4, 7)], cannot_link=[(0, 4)], n=8)
    >>> FOSC(min_cluster_size=3).fit_predict(X, constraints=pairs).tolist()
    [0, 0, 0, 0, 1, 1, 1, 1]

    References: CampelloFosc2013, LanceWilliams1967, Mullner2011, Campello2013, Ankerst1999.
    """

    _tag = "fosc"

    def __init__(
        self,
        *,
        allow_single_cluster: bool = False,
        epsilon: float = 0.0,
        hierarchy: Literal["single", "complete", "average", "weighted", "ward", "density", "optics"] = 'average',
        min_cluster_size: int = 5,
        min_samples: int | None = None,
        noise: Literal["singletons", "one_cluster"] = 'singletons',
        selection: Literal["excess_of_mass", "leaf", "eom"] = 'excess_of_mass',
        stability_weight: float = 0.0,
        kind: Literal["dense", "distances"] = 'dense',
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.allow_single_cluster = allow_single_cluster
        self.epsilon = epsilon
        self.hierarchy = hierarchy
        self.min_cluster_size = min_cluster_size
        self.min_samples = min_samples
        self.noise = noise
        self.selection = selection
        self.stability_weight = stability_weight
        self.kind = kind
        self.random_state = random_state
        self.n_jobs = n_jobs


class GaussianMixture(Clusterer):
    """A Gaussian mixture, fitted by expectation–maximisation.

    **Method**

    Each start takes the clusters of one run of k-means, `kmeans_plus_plus` first. The M step sets the mean and the
    covariance of every component from its objects, each weighted by its membership. The E step sets the memberships.
    The likeliest result of several starts is kept.

    **Input and output**

    n × d, dense. One label per object, the likeliest component; memberships, means, shares of the components, and
    inverse covariances. The objective is the mean negative log-likelihood of an object, and never rises. A component
    that loses its objects stays empty.

    **Errors**

    `MissingKError`, `ConfigError`; `NumericalError` if every start ends in a singular covariance, which only `reg_covar
    = 0` allows, or if features are too large to square.

    **Cost and randomness**

    O(iterations · k · (n·d² + d³)) for `full`, O(iterations · k · n·d) for `diag` and `spherical`; O(n·k + k·d²)
    memory; random only in the first centres.

    **References**

    [Dempster1977]. Differs: variances have a floor, so that the likelihood has a maximum and cannot fall.

    Parameters
    ----------
    n_clusters : int, at least 1; optional
        Number of clusters. If absent, the number of classes in `y`, otherwise 8.
    covariance : "full", "diag", "spherical" or "tied"; default 'full'
        Form of the covariances of the components.
    max_iter : int, at least 1; default 100
        Maximum number of iterations in one start.
    reg_covar : float, at least 0; default 1e-06
        Smallest variance of a component in any direction, relative to the mean variance of the
        features.
    n_init : int, at least 1; default 5
        Number of starts; the likeliest result is kept.
    tol : float, at least 0; default 0.001
        Smallest change of the mean log-likelihood for which another iteration is made.
    covariance_type : "full", "diag", "spherical" or "tied"; optional
        scikit-learn's name for `covariance`.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, 0 is the largest; -1 for noise.
    cluster_centers_ : array of shape (n_clusters, n_features)
        Centres.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of the objective that the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list
        Violated constraints one by one: rows `i` and `j` of `X`, `type`, `weight`, `source`.
    status_ : str
        How the run ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Number of pairs left out because an object is not a row of `X`.

    Examples
    --------
    >>> from mustlink import GaussianMixture
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [8, 8], [8, 9], [9, 8], [9, 9]]
    >>> GaussianMixture(n_clusters=2).fit_predict(X).tolist()
    [0, 0, 0, 0, 1, 1, 1, 1]

    References: Dempster1977.
    """

    _tag = "gaussian_mixture"
    _aliases = {'covariance_type': 'covariance'}

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        covariance: Literal["full", "diag", "spherical", "tied"] = 'full',
        max_iter: int = 100,
        reg_covar: float = 1e-06,
        n_init: int = 5,
        tol: float = 0.001,
        covariance_type: Literal["full", "diag", "spherical", "tied"] | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.covariance = covariance
        self.max_iter = max_iter
        self.reg_covar = reg_covar
        self.n_init = n_init
        self.tol = tol
        self.covariance_type = covariance_type
        self.random_state = random_state
        self.n_jobs = n_jobs


class GPKMeans(Clusterer):
    """Alternates clustering and constraint propagation: clusters determine the reach of constraints.

    **Method**

    The clusterer runs as configured. Then each round propagates the given constraints with the clusters just found. The
    clusterer runs again on the result, from the centres just found. In this run the given constraints are extended as
    `rerun_entail` says; propagated constraints are never extended. The loop ends when a clustering repeats or the
    objective stops changing. A propagator that does not need a clustering propagates once, before a single run. If it
    returns distances or affinities instead of constraints, these replace the data.

    **Input and output**

    The input of clusterer and propagator; every object counts once. The result is the last clustering. After a cycle or
    after `max_rounds`, it is the one with the smallest sum of distortion and costs of broken given constraints. Each
    broken constraint costs the weight of the clusterer or, if that is "auto", the mean distortion of an object.
    Diagnostics: `rounds`; `propagated`, the pairs beyond the given ones in the round returned; `propagated_1` and so on
    for every round.

    **Errors**

    The errors of clusterer and propagator, with their slot. `ConfigError` when the clusterer does not accept the data
    that the propagator returns. `ConfigError` also when the clusterer must keep constraints that contradict each other
    after propagation. `MemoryLimitError` if the pairs that the given constraints entail do not fit.

    **Cost and randomness**

    Rounds times the cost of clusterer and propagator; random only in them.

    **References**

    [Eaton2005] fig. 3.1. Objectives of rounds with different constraints are compared, as printed. Differs: the loop
    also ends when a clustering repeats.

    Parameters
    ----------
    n_clusters : int, at least 1; optional
        Number of clusters. If absent, the number of classes in `y`, otherwise 8.
    carry_labels : bool; default False
        Start later runs from the last labels, not only from the last centres. The authors' program
        appears to do this.
    clusterer : a base clusterer; default 'mpck_means'
        Clusterer. If it does not use weights, every propagated pair has weight 1. Propagated
        constraints may contradict each other; a clusterer that enforces all of them is then
        rejected.
    max_rounds : int, at least 1; default 20
        Maximum number of propagation rounds after the first clustering.
    propagator : a constraint propagator; default 'gaussian'
        Propagator that spreads the constraints.
    rerun_entail : "sources" or "off"; default 'sources'
        Pairs with a cost in later runs, in addition to the propagated ones.
    tol : float, at least 0; default 1e-06
        Smallest relative change of the clusterer's objective for which another round is made.
    warm_metric : bool; default False
        Start later runs from the last metrics. If false, from the identity, as the authors' program
        does.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, 0 is the largest; -1 for noise.
    cluster_centers_ : array of shape (n_clusters, n_features)
        Centres.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of the objective that the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list
        Violated constraints one by one: rows `i` and `j` of `X`, `type`, `weight`, `source`.
    status_ : str
        How the run ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Number of pairs left out because an object is not a row of `X`.

    Examples
    --------
    >>> from mustlink import Constraints, GPKMeans
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [8, 8], [8, 9], [9, 8], [9, 9]]
    >>> pairs = Constraints(must_link=[(0, 3), (4, 7)], cannot_link=[(0, 4)], n=8)
    >>> GPKMeans(n_clusters=2).fit_predict(X, constraints=pairs).tolist()
    [0, 0, 0, 0, 1, 1, 1, 1]

    References: Eaton2005.
    """

    _tag = "gpk_means"

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        carry_labels: bool = False,
        clusterer: PluginLike = 'mpck_means',
        max_rounds: int = 20,
        propagator: PluginLike = 'gaussian',
        rerun_entail: Literal["sources", "off"] = 'sources',
        tol: float = 1e-06,
        warm_metric: bool = False,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.carry_labels = carry_labels
        self.clusterer = clusterer
        self.max_rounds = max_rounds
        self.propagator = propagator
        self.rerun_entail = rerun_entail
        self.tol = tol
        self.warm_metric = warm_metric
        self.random_state = random_state
        self.n_jobs = n_jobs


class HDBSCAN(Clusterer):
    """HDBSCAN*: the clusters of a density hierarchy that are most stable or keep most constraints.

    **Method**

    The reachability distance of two objects is the largest of their distance and their distances to their
    `min_samples`-th nearest objects. Objects joined up to some distance form a dense region at that distance. As the
    distance decreases, a cluster lives until it splits into parts of at least `min_cluster_size` objects, which are
    clusters of their own. Objects in smaller parts fall out. Of nested clusters, those with the largest sum of
    stabilities are taken. The stability of a cluster is a sum over its objects: 1 / distance from the start of the
    cluster to the place where the object falls out. If constraints are given, the clusters that keep most of their
    weight are taken, ties by stability. Objects outside all clusters are noise; such an object keeps its cannot-links
    and breaks its must-links.

    **Input and output**

    n × d, dense or sparse, Euclidean distances, or a matrix of distances. The method finds the number of clusters; k is
    not used. Every object has a label (see `noise`); diagnostics: `noise_objects`, `stability`, and with constraints
    `satisfaction`, the share of their weight that is kept. Every pair of members of a group counts.

    **Errors**

    `ConfigError`; `ConstraintError` for constraints marked hard.

    **Cost and randomness**

    With up to 16 features a k-d tree and Borůvka's method, about n·log²n; otherwise O(n²·d) time. O(n) memory, with
    more features O(n · (`min_samples` + d)). Constraints and members of groups: O(depth of the hierarchy) each. Not
    random.

    **References**

    [Campello2013], [Campello2015]; constraints: [CampelloFosc2013] §3; `epsilon`: [MalzerBaum2020]; tree: [March2010].
    Edges of equal length are cut together, as in the paper. Packages that cut such edges one after the other give an
    object between two clusters to either of them. They also end a cluster when a part with a lifetime of 0 splits off;
    this makes more and smaller clusters if `min_cluster_size` is not above `min_samples`. Differs: equal objects are
    not infinitely near, and objects that are all equal are one cluster.

    Parameters
    ----------
    allow_single_cluster : bool; default False
        Allow a result in which all objects are one cluster.
    epsilon : float, at least 0; default 0.0
        Distance below which clusters that split from each other stay one (ε̂, in feature units).
    min_cluster_size : int, at least 2; default 5
        Smallest number of objects in a cluster; smaller parts fall out of the cluster around them.
    min_samples : int, at least 1; optional
        Number of neighbours, including itself, that make an object a core (m_pts). If absent,
        `min_cluster_size`.
    noise : "singletons" or "one_cluster"; default 'singletons'
        Treatment of objects outside all clusters in ensembles and studies. In files and in Python
        they are noise, -1.
    selection : "excess_of_mass" or "leaf"; default 'excess_of_mass'
        Selection of clusters from the hierarchy.
    stability_weight : float between 0 and 1; default 0.0
        Importance of stability compared with constraints. At 0 the constraints decide and stability
        breaks ties; at 1 constraints are ignored. In between, shares of the greatest stability and
        of the weight of all constraints are added.
    kind : one of "dense", "distances"; default 'dense'
        Content of `X`: rows of numbers (dense or sparse), or n × n symmetric distances or
        affinities.
    cluster_selection_epsilon : float, at least 0; optional
        scikit-learn's name for `epsilon`.
    cluster_selection_method : "eom" or "leaf"; optional
        scikit-learn's name for `selection`.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, 0 is the largest; -1 for noise.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of the objective that the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list
        Violated constraints one by one: rows `i` and `j` of `X`, `type`, `weight`, `source`.
    status_ : str
        How the run ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Number of pairs left out because an object is not a row of `X`.

    Examples
    --------
    >>> from mustlink import Constraints, HDBSCAN
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [8, 8], [8, 9], [9, 8], [9, 9]]
    >>> pairs = Constraints(must_link=[(0, 3), (4, 7)], cannot_link=[(0, 4)], n=8)
    >>> HDBSCAN(min_cluster_size=3).fit_predict(X, constraints=pairs).tolist()
    [0, 0, 0, 0, 1, 1, 1, 1]

    References: Campello2013, Campello2015, CampelloFosc2013, MalzerBaum2020, March2010.
    """

    _tag = "hdbscan"
    _aliases = {'cluster_selection_epsilon': 'epsilon', 'cluster_selection_method': 'selection'}

    def __init__(
        self,
        *,
        allow_single_cluster: bool = False,
        epsilon: float = 0.0,
        min_cluster_size: int = 5,
        min_samples: int | None = None,
        noise: Literal["singletons", "one_cluster"] = 'singletons',
        selection: Literal["excess_of_mass", "leaf", "eom"] = 'excess_of_mass',
        stability_weight: float = 0.0,
        kind: Literal["dense", "distances"] = 'dense',
        cluster_selection_epsilon: float | None = None,
        cluster_selection_method: Literal["eom", "leaf"] | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.allow_single_cluster = allow_single_cluster
        self.epsilon = epsilon
        self.min_cluster_size = min_cluster_size
        self.min_samples = min_samples
        self.noise = noise
        self.selection = selection
        self.stability_weight = stability_weight
        self.kind = kind
        self.cluster_selection_epsilon = cluster_selection_epsilon
        self.cluster_selection_method = cluster_selection_method
        self.random_state = random_state
        self.n_jobs = n_jobs


class Hierarchical(Clusterer):
    """Agglomerative clustering (with the crate kodama): the two nearest clusters are merged until k are left.

    **Method**

    Lance and Williams's scheme with one of seven linkages, on plain Euclidean distances; `single` by a spanning tree of
    least weight.

    **Input and output**

    n × d, dense, Euclidean distances, or a matrix of distances. The result has k clusters, or those that remain when
    no two are nearer than `max_distance`.

    **Errors**

    `MissingKError`, `ConfigError`.

    **Cost and randomness**

    O(n²·d) time and O(n²) memory, `centroid` and `median` O(n² log n + n²·d) time, `single` O(n·d) memory; not random.

    **References**

    [LanceWilliams1967]; [Mullner2011].

    Parameters
    ----------
    n_clusters : int, at least 1; optional
        Number of clusters. If absent, the number of classes in `y`, otherwise 8.
    linkage : "single", "complete", "average", "weighted", "ward", "centroid" or "median"; default 'ward'
        Definition of the distance between two clusters.
    max_distance : float above 0; optional
        Merge only clusters that are nearer than this (in the units of the distances), whatever k
        is. If absent, until k clusters are left.
    kind : one of "dense", "distances"; default 'dense'
        Content of `X`: rows of numbers (dense or sparse), or n × n symmetric distances or
        affinities.
    distance_threshold : float above 0; optional
        scikit-learn's name for `max_distance`.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, 0 is the largest; -1 for noise.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of the objective that the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list
        Violated constraints one by one: rows `i` and `j` of `X`, `type`, `weight`, `source`.
    status_ : str
        How the run ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Number of pairs left out because an object is not a row of `X`.

    Examples
    --------
    >>> from mustlink import Hierarchical
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [8, 8], [8, 9], [9, 8], [9, 9]]
    >>> Hierarchical(n_clusters=2).fit_predict(X).tolist()
    [0, 0, 0, 0, 1, 1, 1, 1]

    References: LanceWilliams1967, Mullner2011.
    """

    _tag = "hierarchical"
    _aliases = {'distance_threshold': 'max_distance'}

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        linkage: Literal["single", "complete", "average", "weighted", "ward", "centroid", "median"] = 'ward',
        max_distance: float | None = None,
        kind: Literal["dense", "distances"] = 'dense',
        distance_threshold: float | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.linkage = linkage
        self.max_distance = max_distance
        self.kind = kind
        self.distance_threshold = distance_threshold
        self.random_state = random_state
        self.n_jobs = n_jobs


class HMRFKMeans(Clusterer):
    """K-means on a hidden Markov random field: constraints and a learned distance in one objective.

    **Method**

    Minimises Σ D_A(x, µ) + Σ w φ_A [must-link broken] + Σ w̄ (φ_max − φ_A) [cannot-link broken], with φ_A the distance
    of the pair and φ_max the largest among cannot-linked pairs. Each round updates the labels, those of constrained
    objects one by one, then the centres. Then it takes one gradient step of the weights A, halved until the objective
    falls. The objective never rises after the first round. A Mahalanobis distance includes its log-determinant: A is
    compared at the scale at which its determinant is 1, so weights cannot gather on features in which objects hardly
    differ.

    **Input and output**

    n × d dense, constraints of any weight. One label per object in `0..k`, k centres, feature weights that sum to d.

    **Errors**

    `MissingKError`, `ConfigError`, also for negative values under `i_divergence`; `ConstraintError` for constraints
    marked hard; `ConstraintError` and `MemoryLimitError`, because the closure is listed.

    **Cost and randomness**

    O(rounds · (n·k·d + pairs of the closure · d)) time, 190 bytes for each of these pairs; random as in
    pairwise-constrained k-means.

    **References**

    [BasuBilenkoMooney2004]. Differs: only `mahalanobis` has the log-partition term, which is its log-determinant; the
    authors recommend leaving out the others, which are intractable. The rate is relative to the objective, so that it
    does not depend on the units of the data. Cosine centres are sums of rows of length 1, which minimise the
    objective.

    Parameters
    ----------
    n_clusters : int, at least 1; optional
        Number of clusters. If absent, the number of classes in `y`, otherwise 8.
    hard_as_soft : float, at least 0; optional
        Weight of constraints marked hard. If absent, they are rejected.
    init : "neighbourhood", "representatives", "constrained_objects", "kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb" or "given"; default 'neighbourhood'
        Method of choosing the first centres.
    init_without_constraints : "kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb" or "given"; default 'kmeans_plus_plus'
        Method of choosing the first centres when no neighbourhood is known.
    log_determinant : bool; default True
        Include the log-determinant of `mahalanobis` in the objective; otherwise weights only have
        to sum to d.
    max_iter : int, at least 1; default 100
        Maximum number of sweeps in one start.
    measure : "mahalanobis", "cosine" or "i_divergence"; default 'mahalanobis'
        Distance whose feature weights are learned.
    on_conflict : "error", "keep", "drop_cl" or "drop_weakest"; default 'keep'
        Treatment of cannot-links inside must-link components.
    order : "random", "random_fixed", "index" or "sorted"; default 'random'
        Order in which objects are visited.
    rate : float above 0; default 0.01
        First rate of a gradient step (η): the share by which a feature of average cost changes.
    n_init : int, at least 1; optional
        Number of starts; the best result is kept. If absent, 10 for random starts and otherwise 1.
    tol : float, at least 0; default 1e-06
        Smallest change of the objective for which another sweep is made.
    tolerance_kind : "relative" or "absolute"; default 'relative'
        Unit of the tolerance: relative to the objective, or absolute.
    weight : float, at least 0; default 1.0
        Cost of a broken must-link of weight 1 (w), times the distance of its pair.
    weight_cannot : float, at least 0; optional
        Cost of a broken cannot-link of weight 1 (w̄). If absent, the same as `weight`.
    when_fewer_neighbourhoods : "cl_point_then_perturb", "perturb", "farthest_first" or "random"; default 'cl_point_then_perturb'
        Start of the other clusters when there are fewer than k neighbourhoods (λ < k).
    when_more_neighbourhoods : "weighted_farthest_first" or "largest"; default 'weighted_farthest_first'
        Selection of the neighbourhoods that start clusters when there are more than k (λ > k).
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, 0 is the largest; -1 for noise.
    cluster_centers_ : array of shape (n_clusters, n_features)
        Centres.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of the objective that the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list
        Violated constraints one by one: rows `i` and `j` of `X`, `type`, `weight`, `source`.
    status_ : str
        How the run ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Number of pairs left out because an object is not a row of `X`.

    Examples
    --------
    >>> from mustlink import Constraints, HMRFKMeans
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [8, 8], [8, 9], [9, 8], [9, 9]]
    >>> pairs = Constraints(must_link=[(0, 3), (4, 7)], cannot_link=[(0, 4)], n=8)
    >>> HMRFKMeans(n_clusters=2).fit_predict(X, constraints=pairs).tolist()
    [0, 0, 0, 0, 1, 1, 1, 1]

    References: BasuBilenkoMooney2004.
    """

    _tag = "hmrf_kmeans"

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        hard_as_soft: float | None = None,
        init: Literal["neighbourhood", "representatives", "constrained_objects", "kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb", "given", "k-means++"] = 'neighbourhood',
        init_without_constraints: Literal["kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb", "given", "k-means++"] = 'kmeans_plus_plus',
        log_determinant: bool = True,
        max_iter: int = 100,
        measure: Literal["mahalanobis", "cosine", "i_divergence"] = 'mahalanobis',
        on_conflict: Literal["error", "keep", "drop_cl", "drop_weakest"] = 'keep',
        order: Literal["random", "random_fixed", "index", "sorted"] = 'random',
        rate: float = 0.01,
        n_init: int | None = None,
        tol: float = 1e-06,
        tolerance_kind: Literal["relative", "absolute"] = 'relative',
        weight: float = 1.0,
        weight_cannot: float | None = None,
        when_fewer_neighbourhoods: Literal["cl_point_then_perturb", "perturb", "farthest_first", "random"] = 'cl_point_then_perturb',
        when_more_neighbourhoods: Literal["weighted_farthest_first", "largest"] = 'weighted_farthest_first',
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.hard_as_soft = hard_as_soft
        self.init = init
        self.init_without_constraints = init_without_constraints
        self.log_determinant = log_determinant
        self.max_iter = max_iter
        self.measure = measure
        self.on_conflict = on_conflict
        self.order = order
        self.rate = rate
        self.n_init = n_init
        self.tol = tol
        self.tolerance_kind = tolerance_kind
        self.weight = weight
        self.weight_cannot = weight_cannot
        self.when_fewer_neighbourhoods = when_fewer_neighbourhoods
        self.when_more_neighbourhoods = when_more_neighbourhoods
        self.random_state = random_state
        self.n_jobs = n_jobs


class KPrototypes(WeightedClusterer):
    """K-prototypes: k-means for numbers and words, whose centres have one word in each column of words.

    **Method**

    Lloyd's two steps. The distance of an object to a centre is the sum of squared differences of numbers, plus `gamma`
    for each column with another word. A centre has the means of the numbers of its objects and their most frequent
    words, of equally frequent ones the first. Without numbers, this is k-modes.

    The columns of words are those that `one_hot` makes: put it in front, and `impute_missing` if words are missing.
    Consecutive columns with two values each hold words if exactly one of them has its larger value in each row. Their
    scale does not matter, because `gamma` replaces it, so steps such as `z_score` can follow.

    K-means on the same columns is another method: its centres have shares of words. On columns of 0 and √(`gamma` / 2),
    a column of words costs it (1 - Σ p²) `gamma` / 2 for each object of a cluster with shares p, here it costs (1 - max
    p) `gamma`. That is between one and two times as much, and the best clusters can differ.

    **Input and output**

    n × d dense; objects may have weights. One label per object in `0..k`, k centres, and the weights of the columns.
    The objective is the sum of the distances, and never rises. The number of columns of words is reported, and `gamma`.

    **Errors**

    `MissingKError`, `ConfigError`; `NumericalError` for an empty cluster if `empty = "error"`.

    **Cost and randomness**

    O(sweeps · n·k·d), memory O(n·d); random only in the first centres.

    **References**

    [Huang1998]. Differs: centres change after all objects, not after each, and the first centres are those of k-means.
    "auto" is the default of the Python package kmodes 0.12: [Huang1998] advises multiples of the mean standard
    deviation. It depends on the unit of the numbers, because a deviation is compared with squares: with `z_score`, it
    is always ½.

    Parameters
    ----------
    n_clusters : int, at least 1; optional
        Number of clusters. If absent, the number of classes in `y`, otherwise 8.
    empty : "keep", "reseed" or "error"; default 'reseed'
        Treatment of a cluster that has no objects.
    gamma : "auto" or float above 0; default 'auto'
        Distance of two different words. "auto": half the mean standard deviation of the columns of
        numbers that vary, or 1 without such columns.
    init : "kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb" or "given"; default 'kmeans_plus_plus'
        Method of choosing the first centres.
    max_iter : int, at least 1; default 100
        Maximum number of sweeps in one start.
    n_init : int, at least 1; default 10
        Number of starts; the best result is kept. A given start is run once.
    tol : float, at least 0; default 1e-06
        Smallest change of the objective for which another sweep is made.
    tolerance_kind : "relative" or "absolute"; default 'relative'
        Unit of the tolerance: relative to the objective, or absolute.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, 0 is the largest; -1 for noise.
    cluster_centers_ : array of shape (n_clusters, n_features)
        Centres.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of the objective that the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list
        Violated constraints one by one: rows `i` and `j` of `X`, `type`, `weight`, `source`.
    status_ : str
        How the run ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Number of pairs left out because an object is not a row of `X`.

    Examples
    --------
    >>> from mustlink import KPrototypes
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [8, 8], [8, 9], [9, 8], [9, 9]]
    >>> KPrototypes(n_clusters=2).fit_predict(X).tolist()
    [0, 0, 0, 0, 1, 1, 1, 1]

    References: Huang1998.
    """

    _tag = "k_prototypes"

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        empty: Literal["keep", "reseed", "error"] = 'reseed',
        gamma: Literal["auto"] | float = 'auto',
        init: Literal["kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb", "given", "k-means++"] = 'kmeans_plus_plus',
        max_iter: int = 100,
        n_init: int = 10,
        tol: float = 1e-06,
        tolerance_kind: Literal["relative", "absolute"] = 'relative',
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.empty = empty
        self.gamma = gamma
        self.init = init
        self.max_iter = max_iter
        self.n_init = n_init
        self.tol = tol
        self.tolerance_kind = tolerance_kind
        self.random_state = random_state
        self.n_jobs = n_jobs


class KMeans(Centres, WeightedClusterer):
    """K-means: each object joins its nearest centre, each centre is the mean of its objects.

    **Method**

    Lloyd's two steps until nothing moves; then moves of single objects, if `refine` asks for them. Cosine: spherical
    k-means on rows of unit length. Neither `algorithm` nor `precision` changes a label: fast forms pre-select
    centres, and exact distances decide.

    **Input and output**

    n × d, dense or sparse; objects may have weights, unless single objects are moved. One label per object in `0..k`,
    k centres. The objective is the total distortion, and never rises.

    **Errors**

    `MissingKError`, `ConfigError`; `NumericalError` for an empty cluster if `empty = "error"`.

    **Cost and randomness**

    O(sweeps · n·k·d), less with bounds, sparse O(sweeps · non-zeros · k); memory O(n + k·d), with group bounds
    O(n·k/16); random only in the first centres.

    **References**

    [Lloyd1982]; starts: [ArthurVassilvitskii2007] (greedy variant), [Bahmani2012]; cosine: [DhillonModha2001];
    bounds: [Hamerly2010], [Ding2015].

    Parameters
    ----------
    n_clusters : int, at least 1; optional
        Number of clusters. If absent, the number of classes in `y`, otherwise 8.
    algorithm : "auto", "lloyd", "hamerly" or "yinyang"; default 'auto'
        Method of finding nearest centres; the labels are the same.
    distortion : "squared_euclidean", "cosine" or "auto"; default 'auto'
        Distance from an object to a centre. "auto": cosine for sparse rows, otherwise squared
        Euclidean.
    empty : "keep", "reseed" or "error"; default 'reseed'
        Treatment of a cluster that has no objects.
    init : "kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb" or "given"; default 'kmeans_plus_plus'
        Method of choosing the first centres.
    max_iter : int, at least 1; default 300
        Maximum number of sweeps in one start.
    precision : "f64" or "f32"; default 'f64'
        Number format for pre-selecting nearest centres of dense data; the labels are the same.
    refine : "none" or "incremental"; default 'none'
        Refinement after the sweeps, when no object is nearer to another centre.
    refine_iterations : int, at least 1; optional
        Maximum number of sweeps of the refinement. If absent, the same as for a start.
    n_init : int, at least 1; default 10
        Number of starts; the best result is kept. A given start is run once.
    tol : float, at least 0; default 1e-06
        Smallest change of the objective for which another sweep is made.
    tolerance_kind : "relative" or "absolute"; default 'relative'
        Unit of the tolerance: relative to the objective, or absolute.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, 0 is the largest; -1 for noise.
    cluster_centers_ : array of shape (n_clusters, n_features)
        Centres.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of the objective that the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list
        Violated constraints one by one: rows `i` and `j` of `X`, `type`, `weight`, `source`.
    status_ : str
        How the run ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Number of pairs left out because an object is not a row of `X`.
    inertia_ : float
        The objective: the sum of the squared distances to the nearest centres.
    distortion_ : str
        The distortion that was used: `cosine` or `squared_euclidean`.

    Examples
    --------
    >>> from mustlink import KMeans
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [8, 8], [8, 9], [9, 8], [9, 9]]
    >>> KMeans(n_clusters=2).fit_predict(X).tolist()
    [0, 0, 0, 0, 1, 1, 1, 1]

    References: Lloyd1982, ArthurVassilvitskii2007, Bahmani2012, DhillonModha2001, Hamerly2010,
    Ding2015.
    """

    _tag = "kmeans"

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        algorithm: Literal["auto", "lloyd", "hamerly", "yinyang"] = 'auto',
        distortion: Literal["squared_euclidean", "cosine", "auto"] = 'auto',
        empty: Literal["keep", "reseed", "error"] = 'reseed',
        init: Literal["kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb", "given", "k-means++"] = 'kmeans_plus_plus',
        max_iter: int = 300,
        precision: Literal["f64", "f32"] = 'f64',
        refine: Literal["none", "incremental"] = 'none',
        refine_iterations: int | None = None,
        n_init: int = 10,
        tol: float = 1e-06,
        tolerance_kind: Literal["relative", "absolute"] = 'relative',
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.algorithm = algorithm
        self.distortion = distortion
        self.empty = empty
        self.init = init
        self.max_iter = max_iter
        self.precision = precision
        self.refine = refine
        self.refine_iterations = refine_iterations
        self.n_init = n_init
        self.tol = tol
        self.tolerance_kind = tolerance_kind
        self.random_state = random_state
        self.n_jobs = n_jobs


class LAC(Clusterer):
    """Locally adaptive clustering: each cluster weighs the features by how little they vary inside it.

    **Method**

    Each round has four steps. Objects join the nearest centre under its weights. Weights become exp(−V / h), scaled
    to sum 1, with V the mean squared differences of a feature to the centre. Objects choose again. Centres become
    means. The run ends when a round changes no cluster. If an earlier partition repeats, the run also ends, with the
    partition of smallest objective in that cycle (status `cycle`).

    **Input and output**

    n × d, dense or sparse. A constant feature gets the largest weight of all: drop it first. `h` has the unit of a
    squared distance: a number suits the data it was chosen for, "auto" suits any unit. One label per object in
    `0..k`, centres and weights (k × d, each row sums to 1). The objective is Σ w (x − µ)² + h Σ w ln w, summed over
    the objects; it may rise under the `printed` rule.

    **Errors**

    `MissingKError`, `ConfigError`; `NumericalError` for an empty cluster if `empty = "error"`.

    **Cost and randomness**

    O(rounds · n·k·d), two passes over the data a round; memory O(n + k·d). Random only in the first centres.

    **References**

    [Domeniconi2007]; [DomeniconiAlRazgan2008] §3. Differs: `entropy` also includes the cost of the weights when
    objects choose, so that the objective falls.

    Parameters
    ----------
    n_clusters : int, at least 1; optional
        Number of clusters. If absent, the number of classes in `y`, otherwise 8.
    assign_rule : "printed" or "entropy"; default 'printed'
        Cost that an object compares when it chooses a cluster.
    empty : "keep", "reseed" or "error"; default 'keep'
        Treatment of a cluster that has no objects; a kept cluster also keeps its weights.
    h : "auto" or float above 0; default 'auto'
        Incentive to use more features, in units of squared distance. A large value gives k-means, a
        small one a single feature per cluster. "auto": the mean squared distance of an object to
        the nearest first centre, divided by the number of features.
    init : "kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb" or "given"; default 'farthest_first'
        Method of choosing the first centres; `farthest_first` is the published well scattered
        start.
    max_iter : int, at least 1; default 100
        Maximum number of rounds.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, 0 is the largest; -1 for noise.
    cluster_centers_ : array of shape (n_clusters, n_features)
        Centres.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of the objective that the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list
        Violated constraints one by one: rows `i` and `j` of `X`, `type`, `weight`, `source`.
    status_ : str
        How the run ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Number of pairs left out because an object is not a row of `X`.

    Examples
    --------
    >>> from mustlink import LAC
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [8, 8], [8, 9], [9, 8], [9, 9]]
    >>> LAC(n_clusters=2).fit_predict(X).tolist()
    [0, 0, 0, 0, 1, 1, 1, 1]

    References: Domeniconi2007, DomeniconiAlRazgan2008.
    """

    _tag = "lac"

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        assign_rule: Literal["printed", "entropy"] = 'printed',
        empty: Literal["keep", "reseed", "error"] = 'keep',
        h: Literal["auto"] | float = 'auto',
        init: Literal["kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb", "given", "k-means++"] = 'farthest_first',
        max_iter: int = 100,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.assign_rule = assign_rule
        self.empty = empty
        self.h = h
        self.init = init
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs


class LCVQE(Clusterer):
    """Linear constrained vector quantisation error: k-means in which a broken constraint costs a distance.

    **Method**

    Every object joins its nearest centre. Then the must-links are treated in order. If the ends of a must-link are in
    clusters with centres c_i and c_j, the cheapest of three choices is taken. Either it stays broken, at ½ w (D(x_i,
    c_j) + D(x_j, c_i)), or both ends join one of the two clusters. Then the cannot-links are treated. If both ends
    are together, the farther end goes to its nearest other centre, or it stays, at w D to that centre. A centre is
    the mean of its objects and, with weights ½ w and w, of the ends of broken constraints that should be there. The
    result is the sweep of smallest objective Σ D(x, c) + costs, which is twice the objective of the paper; it need
    not fall with every sweep. Constraints are used as given: they are not closed, so that a wrong one misleads few
    objects.

    **Input and output**

    n × d, dense or sparse, squared Euclidean; constraints of any weight (the paper's: 1, at which a cannot-link
    always separates its ends). One label per object in `0..k`, k centres.

    **Errors**

    `MissingKError`, `ConfigError`; `ConstraintError` for constraints marked hard.

    **Cost and randomness**

    O(sweeps · (n·k·d + constraints · k·d)); random only in the first centres.

    **References**

    [PellegBaras2007] §3.

    Parameters
    ----------
    n_clusters : int, at least 1; optional
        Number of clusters. If absent, the number of classes in `y`, otherwise 8.
    empty : "keep", "reseed" or "error"; default 'reseed'
        Treatment of a cluster that has no objects.
    init : "kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb" or "given"; default 'kmeans_plus_plus'
        Method of choosing the first centres.
    max_iter : int, at least 1; default 100
        Maximum number of sweeps in one start.
    n_init : int, at least 1; default 10
        Number of starts; the best result is kept. A given start is run once.
    tol : float, at least 0; default 1e-06
        Smallest change of the objective for which another sweep is made.
    tolerance_kind : "relative" or "absolute"; default 'relative'
        Unit of the tolerance: relative to the objective, or absolute.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, 0 is the largest; -1 for noise.
    cluster_centers_ : array of shape (n_clusters, n_features)
        Centres.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of the objective that the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list
        Violated constraints one by one: rows `i` and `j` of `X`, `type`, `weight`, `source`.
    status_ : str
        How the run ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Number of pairs left out because an object is not a row of `X`.

    Examples
    --------
    >>> from mustlink import Constraints, LCVQE
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [8, 8], [8, 9], [9, 8], [9, 9]]
    >>> pairs = Constraints(must_link=[(0, 3), (4, 7)], cannot_link=[(0, 4)], n=8)
    >>> LCVQE(n_clusters=2).fit_predict(X, constraints=pairs).tolist()
    [0, 0, 0, 0, 1, 1, 1, 1]

    References: PellegBaras2007.
    """

    _tag = "lcvqe"

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        empty: Literal["keep", "reseed", "error"] = 'reseed',
        init: Literal["kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb", "given", "k-means++"] = 'kmeans_plus_plus',
        max_iter: int = 100,
        n_init: int = 10,
        tol: float = 1e-06,
        tolerance_kind: Literal["relative", "absolute"] = 'relative',
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.empty = empty
        self.init = init
        self.max_iter = max_iter
        self.n_init = n_init
        self.tol = tol
        self.tolerance_kind = tolerance_kind
        self.random_state = random_state
        self.n_jobs = n_jobs


class MiniBatchKMeans(Centres, Clusterer):
    """K-means that moves its centres after every small batch of random objects.

    **Method**

    Each batch joins its nearest centres; a centre becomes the mean of all objects it has ever received. The first
    centres come from a sample. The batches end when their smoothed distortion has not fallen for `patience` batches;
    one pass over all objects then gives the labels.

    **Input and output**

    n × d, dense or sparse; or, with `rows`, an NPY file that is mapped into memory and never held there as a whole.
    The data of the problem then only give the number of objects. One label per object, k centres; the objective is
    the total distortion to them.

    **Errors**

    `MissingKError`, `ConfigError`; `DataError` for the file.

    **Cost and randomness**

    O(batches · batch_size · k · d + n·k·d); random in the sample and the batches.

    **References**

    [Sculley2010]. Differs: a batch moves each centre once, by the mean of the objects it assigns to it.

    Parameters
    ----------
    n_clusters : int, at least 1; optional
        Number of clusters. If absent, the number of classes in `y`, otherwise 8.
    batch_size : int, at least 1; default 1024
        Number of objects in a batch, drawn with replacement.
    distortion : "squared_euclidean", "cosine" or "auto"; default 'auto'
        Distance from an object to a centre. "auto": cosine for sparse rows, otherwise squared
        Euclidean.
    init : "kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb" or "given"; default 'kmeans_plus_plus'
        Method of choosing the first centres, from a sample of three batches or of 3k objects.
    max_iter : int, at least 1; default 100
        Maximum number of passes over as many objects as the data have.
    patience : int, at least 1; default 10
        Number of batches in a row without a new least smoothed distortion before stopping.
    n_init : int, at least 1; default 3
        Number of starts; the best result is kept. A given start is run once.
    rows : str; optional
        NPY file with one row per object, of little-endian f8 or f4 in C order. Its rows are
        clustered instead of the data of the problem.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, 0 is the largest; -1 for noise.
    cluster_centers_ : array of shape (n_clusters, n_features)
        Centres.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of the objective that the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list
        Violated constraints one by one: rows `i` and `j` of `X`, `type`, `weight`, `source`.
    status_ : str
        How the run ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Number of pairs left out because an object is not a row of `X`.
    inertia_ : float
        The objective: the sum of the squared distances to the nearest centres.
    distortion_ : str
        The distortion that was used: `cosine` or `squared_euclidean`.

    Examples
    --------
    >>> from mustlink import MiniBatchKMeans
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [8, 8], [8, 9], [9, 8], [9, 9]]
    >>> MiniBatchKMeans(n_clusters=2).fit_predict(X).tolist()
    [0, 0, 0, 0, 1, 1, 1, 1]

    References: Sculley2010.
    """

    _tag = "mini_batch_kmeans"

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        batch_size: int = 1024,
        distortion: Literal["squared_euclidean", "cosine", "auto"] = 'auto',
        init: Literal["kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb", "given", "k-means++"] = 'kmeans_plus_plus',
        max_iter: int = 100,
        patience: int = 10,
        n_init: int = 3,
        rows: str | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.batch_size = batch_size
        self.distortion = distortion
        self.init = init
        self.max_iter = max_iter
        self.patience = patience
        self.n_init = n_init
        self.rows = rows
        self.random_state = random_state
        self.n_jobs = n_jobs


class MPCKMeans(Clusterer):
    """Metric pairwise-constrained k-means: learns from objects and constraints how features count.

    **Method**

    Minimises Σ (‖x − µ‖²_A − log det A) plus the cost of broken constraints. A broken must-link costs w times the
    squared length of its difference (the mean under both clusters' metrics). A broken cannot-link costs w̄ times the
    amount by which the squared length of its difference is below that of the largest difference. Each round visits
    the constrained objects one by one, then updates the means, then the metrics A = n·B⁻¹ from the scatter B of
    members and violations. With `max_pair = "box"` the objective never rises after the first round; otherwise the
    best round counts.

    **Input and output**

    n × d dense (`metric = "none"` also sparse), constraints of any weight. One label per object in `0..k`, k centres,
    feature weights (diagonal) or matrices (full).

    **Errors**

    `MissingKError`, `ConfigError`, also for `max_pair = "box"` with full metrics; `InconsistentConstraintsError` only
    if `on_conflict = "error"`; `ConstraintError` for constraints marked hard; `ConstraintError` for unequal weights
    whose closure must be expanded, `MemoryLimitError` if that exceeds the memory limit; `NumericalError` for a scatter
    without eigenvalues.

    **Cost and randomness**

    A round is O(n·k·d) diagonal, O(n·d² + n·k·d + d³) with one matrix, O(n·k·d² + k·d³) with k. Constraints add
    O(k·d) per constrained object. As long as all constraints of a kind weigh the same, pairs of the closure are never
    listed; otherwise each pair takes 130 bytes. `exact` adds O(n²·d) per metric. Random: as in
    pairwise-constrained k-means.

    **References**

    [Bilenko2004] eq. 3–6, figure 1; [Eaton2005] §2.6. Differs: by default the largest difference is that of the box
    around the data, as in the authors' program; this keeps the objective falling.

    Parameters
    ----------
    n_clusters : int, at least 1; optional
        Number of clusters. If absent, the number of classes in `y`, otherwise 8.
    box_includes_origin : bool; default False
        Extend the box to contain the origin too, as the authors' program does.
    empty : "keep", "reseed" or "error"; default 'keep'
        Treatment of a cluster that has no objects.
    entail : "full", "neighbourhoods_only", "largest_neighbourhoods" or "off"; default 'full'
        Extension of the constraints before costs are computed.
    floor_relative : float above 0 and at most 0.01; default 1e-09
        Smallest scatter that counts: of a feature relative to the mean variance, of a direction
        relative to the largest.
    hard_as_soft : float, at least 0; optional
        Weight of constraints marked hard. If absent, they are rejected.
    init : "neighbourhood", "representatives", "constrained_objects", "kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb" or "given"; optional
        Method of choosing the first centres. If absent, `neighbourhood`, or `constrained_objects`
        with `weight = "auto"`.
    init_without_constraints : "kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb" or "given"; default 'kmeans_plus_plus'
        Method of choosing the first centres when no neighbourhood is known.
    learn_metric : bool; default True
        Learn the metrics. If false, broken constraints still cost by distance, under the Euclidean
        metric.
    learn_without_constraints : bool; default True
        Learn the metrics also without constraints (metric-learning k-means).
    log_weight : float above 0; default 1.0
        Factor of log det A. With diagonal metrics it changes no label after the first round.
    max_iter : int, at least 1; default 100
        Maximum number of sweeps in one start.
    max_pair : "box", "cluster", "exact" or "farthest_cl"; optional
        Difference that counts as the largest. If absent, `box` for diagonal metrics and
        `farthest_cl` for full ones.
    metric : "single_diag", "multi_diag", "single_full", "multi_full" or "none"; default 'single_diag'
        Form of the metrics that are learned.
    on_conflict : "error", "keep", "drop_cl" or "drop_weakest"; default 'keep'
        Treatment of cannot-links inside must-link components.
    order : "random", "random_fixed", "index" or "sorted"; default 'random'
        Order in which objects are visited.
    perturb : "additive" or "multiplicative"; default 'additive'
        Formula that perturbs a global mean.
    perturb_rho : float above 0; default 0.7
        Strength of the perturbation of a global mean (ρ).
    n_init : int, at least 1; optional
        Number of starts; the best result is kept. If absent, 10 for random starts and otherwise 1.
    singular : "ridge", "keep_previous" or "identity"; default 'ridge'
        Treatment of a scatter that is smaller.
    tol : float, at least 0; default 1e-06
        Smallest change of the objective for which another sweep is made.
    tolerance_kind : "relative" or "absolute"; default 'relative'
        Unit of the tolerance: relative to the objective, or absolute.
    weight : "auto" or float, at least 0; default 'auto'
        Cost of a broken must-link of weight 1 (w), per squared distance. "auto": ½ for must-links;
        for cannot-links the mean distortion that k-means reaches, divided by the square of the
        largest difference. A broken constraint then costs about as much as one object.
    weight_cannot : "auto" or float, at least 0; optional
        Cost of a broken cannot-link of weight 1 (w̄). If absent, the same as `weight`.
    when_fewer_neighbourhoods : "cl_point_then_perturb", "perturb", "farthest_first" or "random"; default 'cl_point_then_perturb'
        Start of the other clusters when there are fewer than k neighbourhoods (λ < k).
    when_more_neighbourhoods : "weighted_farthest_first" or "largest"; default 'weighted_farthest_first'
        Selection of the neighbourhoods that start clusters when there are more than k (λ > k).
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, 0 is the largest; -1 for noise.
    cluster_centers_ : array of shape (n_clusters, n_features)
        Centres.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of the objective that the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list
        Violated constraints one by one: rows `i` and `j` of `X`, `type`, `weight`, `source`.
    status_ : str
        How the run ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Number of pairs left out because an object is not a row of `X`.

    Examples
    --------
    >>> from mustlink import Constraints, MPCKMeans
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [8, 8], [8, 9], [9, 8], [9, 9]]
    >>> pairs = Constraints(must_link=[(0, 3), (4, 7)], cannot_link=[(0, 4)], n=8)
    >>> MPCKMeans(n_clusters=2).fit_predict(X, constraints=pairs).tolist()
    [0, 0, 0, 0, 1, 1, 1, 1]

    References: Bilenko2004, Eaton2005.
    """

    _tag = "mpck_means"

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        box_includes_origin: bool = False,
        empty: Literal["keep", "reseed", "error"] = 'keep',
        entail: Literal["full", "neighbourhoods_only", "largest_neighbourhoods", "off"] = 'full',
        floor_relative: float = 1e-09,
        hard_as_soft: float | None = None,
        init: Literal["neighbourhood", "representatives", "constrained_objects", "kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb", "given", "k-means++"] | None = None,
        init_without_constraints: Literal["kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb", "given", "k-means++"] = 'kmeans_plus_plus',
        learn_metric: bool = True,
        learn_without_constraints: bool = True,
        log_weight: float = 1.0,
        max_iter: int = 100,
        max_pair: Literal["box", "cluster", "exact", "farthest_cl"] | None = None,
        metric: Literal["single_diag", "multi_diag", "single_full", "multi_full", "none"] = 'single_diag',
        on_conflict: Literal["error", "keep", "drop_cl", "drop_weakest"] = 'keep',
        order: Literal["random", "random_fixed", "index", "sorted"] = 'random',
        perturb: Literal["additive", "multiplicative"] = 'additive',
        perturb_rho: float = 0.7,
        n_init: int | None = None,
        singular: Literal["ridge", "keep_previous", "identity"] = 'ridge',
        tol: float = 1e-06,
        tolerance_kind: Literal["relative", "absolute"] = 'relative',
        weight: Literal["auto"] | float = 'auto',
        weight_cannot: Literal["auto"] | float | None = None,
        when_fewer_neighbourhoods: Literal["cl_point_then_perturb", "perturb", "farthest_first", "random"] = 'cl_point_then_perturb',
        when_more_neighbourhoods: Literal["weighted_farthest_first", "largest"] = 'weighted_farthest_first',
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.box_includes_origin = box_includes_origin
        self.empty = empty
        self.entail = entail
        self.floor_relative = floor_relative
        self.hard_as_soft = hard_as_soft
        self.init = init
        self.init_without_constraints = init_without_constraints
        self.learn_metric = learn_metric
        self.learn_without_constraints = learn_without_constraints
        self.log_weight = log_weight
        self.max_iter = max_iter
        self.max_pair = max_pair
        self.metric = metric
        self.on_conflict = on_conflict
        self.order = order
        self.perturb = perturb
        self.perturb_rho = perturb_rho
        self.n_init = n_init
        self.singular = singular
        self.tol = tol
        self.tolerance_kind = tolerance_kind
        self.weight = weight
        self.weight_cannot = weight_cannot
        self.when_fewer_neighbourhoods = when_fewer_neighbourhoods
        self.when_more_neighbourhoods = when_more_neighbourhoods
        self.random_state = random_state
        self.n_jobs = n_jobs


class OPTICS(Clusterer):
    """OPTICS: orders the objects by the density at which they are reached, and cuts this order into clusters.

    **Method**

    The order starts at the first object. The next object is always the one that the objects before reach at the least
    distance. This distance is the larger of two: the distance between the objects, and the core distance of the
    object that reaches it. If no core reaches another object within the radius, the next object is the first one left.
    A cluster is a stretch of that order in which every object is reached. An object that follows a gap and is not a
    core is noise.

    **Input and output**

    n × d, dense, Euclidean distances. The method finds the number of clusters; k is not used. Every object has a label
    (see `noise`); diagnostics: `radius`, `noise_objects`.

    **Errors**

    `ConfigError`.

    **Cost and randomness**

    With up to 16 features it searches a k-d tree: about n·log n, and one step for each object within the radius of
    another. With more features O(n²·d) time at worst. O(n) memory, with more than 16 features O(n · `min_points`).
    Not random.

    **References**

    [Ankerst1999], with ε = ε′. Differs: if no radius is given, it is chosen from the data.

    Parameters
    ----------
    min_samples : int, at least 2; default 5
        Number of neighbours, including itself, that make an object a core (MinPts).
    noise : "singletons" or "one_cluster"; default 'singletons'
        Treatment of objects outside dense regions in an ensemble and in a study. In files and in
        Python they are noise, -1.
    radius : float above 0; optional
        Distance at which the order is cut (ε′, in feature units). If absent, the smallest at which
        nine in ten objects are cores.
    eps : float above 0; optional
        scikit-learn's name for `radius`.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, 0 is the largest; -1 for noise.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of the objective that the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list
        Violated constraints one by one: rows `i` and `j` of `X`, `type`, `weight`, `source`.
    status_ : str
        How the run ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Number of pairs left out because an object is not a row of `X`.

    Examples
    --------
    >>> from mustlink import OPTICS
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [8, 8], [8, 9], [9, 8], [9, 9]]
    >>> OPTICS(min_samples=3).fit_predict(X).tolist()
    [0, 0, 0, 0, 1, 1, 1, 1]

    References: Ankerst1999.
    """

    _tag = "optics"
    _aliases = {'eps': 'radius'}

    def __init__(
        self,
        *,
        min_samples: int = 5,
        noise: Literal["singletons", "one_cluster"] = 'singletons',
        radius: float | None = None,
        eps: float | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.min_samples = min_samples
        self.noise = noise
        self.radius = radius
        self.eps = eps
        self.random_state = random_state
        self.n_jobs = n_jobs


class Pccc(Clusterer):
    """PCCC: k-means whose assignment is optimal under hard constraints and soft ones with a confidence.

    **Method**

    Objects that hard must-links join are assigned together. An assignment minimises Σ D(x, c) + P Σ w over broken soft
    constraints of weight (confidence) w, for all objects together. No hard constraint is broken. Objects without
    constraints take their nearest centre. The search by branch and bound covers only objects whose nearest centres
    break a constraint, and those that then have to move, part by part. If the search reaches `node_limit`, the
    assignment found so far is repaired. If it cannot be repaired, or is not cheaper, the labels of the previous sweep
    replace it. Moves in which an object pushes others out of its way then lower the cost. A warning and the diagnostics
    report how often this happened (`unproved` of `assignments`; `nodes`). A centre is the mean of its objects; an empty
    cluster takes the object, or joined objects, farthest from its centre. The objective never rises. Once nothing
    moves, the cheapest cluster moves to an object of the most expensive one. The sweeps then begin again, until such a
    move no longer lowers the objective. Soft constraints are used as given: they are not closed.

    **Input and output**

    n × d, dense or sparse, constraints marked hard or soft; `unmarked` decides about the others. One label per object
    in `0..k`, k centres. The diagnostic `price` is P.

    **Errors**

    `MissingKError`, `ConfigError`; for hard constraints `InconsistentConstraintsError` with the chain of must-links,
    `InfeasibleConstraintsError` when k clusters provably cannot hold them, `ConstraintError` if the search for that
    reaches its limit.

    **Cost and randomness**

    O(sweeps · (n·k·d + constraints + constrained objects · k)) and the search, at worst `node_limit` nodes a sweep,
    each with a cost of O(k); random in the first centres, and in the object that a cluster moves to.

    **References**

    [Baumann2025]. Differs: a search of our own replaces a solver for integer programmes. Several starts are made and
    the best one counts. P is computed once for all of them, so that objectives can be compared. A cluster that is
    moved goes to an object, not onto the other centre.

    Parameters
    ----------
    n_clusters : int, at least 1; optional
        Number of clusters. If absent, the number of classes in `y`, otherwise 8.
    distortion : "squared_euclidean", "cosine" or "auto"; default 'auto'
        Distance from an object to a centre. "auto": cosine for sparse rows, otherwise squared
        Euclidean.
    empty : "keep", "reseed" or "error"; default 'reseed'
        Treatment of a cluster that has no objects; `reseed` moves joined objects together.
    init : "kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb" or "given"; default 'kmeans_plus_plus'
        Method of choosing the first centres.
    max_iter : int, at least 1; default 100
        Maximum number of sweeps in one start.
    nearest : int, at least 1; optional
        Number of nearest centres that constrained objects may join (q). Their distances also count
        for `weight = "auto"`. If absent, all. An object may always join one more centre than it has
        hard cannot-links, so that one is always left.
    node_limit : int, at least 0; default 20000
        Maximum number of nodes of the search in one assignment. In a part with thousands of objects
        and constraints, a node counts once for each thousand.
    repositions : int, at least 0; default 1
        Number of failed moves of a cluster in a row that end a start. The cheapest cluster is moved
        first, then the next. 0: no cluster is moved; 1: as published.
    n_init : int, at least 1; default 10
        Number of starts; the best result is kept. A given start is run once.
    tol : float, at least 0; default 1e-06
        Smallest change of the objective for which another sweep is made.
    tolerance_kind : "relative" or "absolute"; default 'relative'
        Unit of the tolerance: relative to the objective, or absolute.
    unmarked : "hard" or "soft"; default 'hard'
        Meaning of constraints marked neither hard nor soft.
    weight : "auto" or float, at least 0; default 'auto'
        Cost of a broken soft constraint of weight 1 (P). "auto": the mean distance of an object to
        the centres of the first start.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, 0 is the largest; -1 for noise.
    cluster_centers_ : array of shape (n_clusters, n_features)
        Centres.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of the objective that the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list
        Violated constraints one by one: rows `i` and `j` of `X`, `type`, `weight`, `source`.
    status_ : str
        How the run ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Number of pairs left out because an object is not a row of `X`.
    distortion_ : str
        The distortion that was used: `cosine` or `squared_euclidean`.

    Examples
    --------
    >>> from mustlink import Constraints, Pccc
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [8, 8], [8, 9], [9, 8], [9, 9]]
    >>> pairs = Constraints(must_link=[(0, 3), (4, 7)], cannot_link=[(0, 4)], n=8)
    >>> Pccc(n_clusters=2).fit_predict(X, constraints=pairs).tolist()
    [0, 0, 0, 0, 1, 1, 1, 1]

    References: Baumann2025.
    """

    _tag = "pccc"

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        distortion: Literal["squared_euclidean", "cosine", "auto"] = 'auto',
        empty: Literal["keep", "reseed", "error"] = 'reseed',
        init: Literal["kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb", "given", "k-means++"] = 'kmeans_plus_plus',
        max_iter: int = 100,
        nearest: int | None = None,
        node_limit: int = 20000,
        repositions: int = 1,
        n_init: int = 10,
        tol: float = 1e-06,
        tolerance_kind: Literal["relative", "absolute"] = 'relative',
        unmarked: Literal["hard", "soft"] = 'hard',
        weight: Literal["auto"] | float = 'auto',
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.distortion = distortion
        self.empty = empty
        self.init = init
        self.max_iter = max_iter
        self.nearest = nearest
        self.node_limit = node_limit
        self.repositions = repositions
        self.n_init = n_init
        self.tol = tol
        self.tolerance_kind = tolerance_kind
        self.unmarked = unmarked
        self.weight = weight
        self.random_state = random_state
        self.n_jobs = n_jobs


class PCKMeans(WeightedClusterer):
    """Pairwise-constrained k-means: each violated constraint costs its weight; neighbourhoods give the first centres.

    **Method**

    Minimises Σ D(x, µ) + Σ w [must-link broken] + Σ w̄ [cannot-link broken] over closed constraints. Each sweep
    visits the constrained objects one by one, in order, with the current labels; the others choose their nearest
    centre. The objective never rises after the first sweep.

    **Input and output**

    n × d, dense or sparse, objects and constraints of any weight. One label per object in `0..k`, k centres.

    **Errors**

    `MissingKError`, `ConfigError`; `InconsistentConstraintsError` only if `on_conflict = "error"`; `ConstraintError`
    for constraints marked hard; `ConstraintError` for unequal weights whose closure must be expanded,
    `MemoryLimitError` if that exceeds the memory limit.

    **Cost and randomness**

    O(sweeps · (n·k·d + constrained objects · k + moves · separated components)). The closure is never expanded as
    long as all constraints of a kind weigh the same; neither are groups whose members must be apart. Otherwise each
    pair of the closure takes 130 bytes, and every visit looks at all partners of an object. Random: the order of
    visits, and the start if neighbourhoods do not determine it. With `weight = "auto"` the start is the best of many
    runs on the constrained objects alone, if there are at least five of them for each cluster.

    **References**

    [Basu2004] §3–4; [Greene2007] Eq. 1. Differs: more than k neighbourhoods start by weighted farthest-first, the
    later rule; `largest` is the rule of the paper, as is `init = "neighbourhood"` with a fitted weight.

    Parameters
    ----------
    n_clusters : int, at least 1; optional
        Number of clusters. If absent, the number of classes in `y`, otherwise 8.
    distortion : "squared_euclidean", "cosine" or "auto"; default 'auto'
        Distance from an object to a centre. "auto": cosine for sparse rows, otherwise squared
        Euclidean.
    empty : "keep", "reseed" or "error"; default 'keep'
        Treatment of a cluster that has no objects.
    entail : "full", "neighbourhoods_only", "largest_neighbourhoods" or "off"; default 'full'
        Extension of the constraints before costs are computed.
    half_distortion : bool; default False
        Halve the squared Euclidean distortion, as in the objective of the SDM paper.
    hard_as_soft : float, at least 0; optional
        Weight of constraints marked hard. If absent, they are rejected.
    init : "neighbourhood", "representatives", "constrained_objects", "kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb" or "given"; optional
        Method of choosing the first centres. If absent, `neighbourhood`, or `constrained_objects`
        with `weight = "auto"`.
    init_without_constraints : "kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb" or "given"; default 'kmeans_plus_plus'
        Method of choosing the first centres when no neighbourhood is known.
    max_iter : int, at least 1; default 100
        Maximum number of sweeps in one start.
    on_conflict : "error", "keep", "drop_cl" or "drop_weakest"; default 'keep'
        Treatment of cannot-links inside must-link components.
    order : "random", "random_fixed", "index" or "sorted"; default 'random'
        Order in which objects are visited.
    perturb : "additive" or "multiplicative"; default 'additive'
        Formula that perturbs a global mean.
    perturb_rho : float above 0; default 0.7
        Strength of the perturbation of a global mean (ρ).
    n_init : int, at least 1; optional
        Number of starts; the best result is kept. If absent, 10 for random starts and otherwise 1.
    tol : float, at least 0; default 1e-06
        Smallest change of the objective for which another sweep is made.
    tolerance_kind : "relative" or "absolute"; default 'relative'
        Unit of the tolerance: relative to the objective, or absolute.
    weight : "auto" or float, at least 0; default 'auto'
        Cost of a broken must-link of weight 1 (w). "auto": the geometric mean of two mean costs of
        an object, in clusters found without constraints and around the common centre. Penalties
        then have the scale of the data.
    weight_cannot : "auto" or float, at least 0; optional
        Cost of a broken cannot-link of weight 1 (w̄). If absent, the same as `weight`.
    when_fewer_neighbourhoods : "cl_point_then_perturb", "perturb", "farthest_first" or "random"; default 'cl_point_then_perturb'
        Start of the other clusters when there are fewer than k neighbourhoods (λ < k).
    when_more_neighbourhoods : "weighted_farthest_first" or "largest"; default 'weighted_farthest_first'
        Selection of the neighbourhoods that start clusters when there are more than k (λ > k).
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, 0 is the largest; -1 for noise.
    cluster_centers_ : array of shape (n_clusters, n_features)
        Centres.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of the objective that the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list
        Violated constraints one by one: rows `i` and `j` of `X`, `type`, `weight`, `source`.
    status_ : str
        How the run ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Number of pairs left out because an object is not a row of `X`.
    distortion_ : str
        The distortion that was used: `cosine` or `squared_euclidean`.

    Examples
    --------
    >>> from mustlink import Constraints, PCKMeans
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [8, 8], [8, 9], [9, 8], [9, 9]]
    >>> pairs = Constraints(must_link=[(0, 3), (4, 7)], cannot_link=[(0, 4)], n=8)
    >>> PCKMeans(n_clusters=2).fit_predict(X, constraints=pairs).tolist()
    [0, 0, 0, 0, 1, 1, 1, 1]

    References: Basu2004, Greene2007.
    """

    _tag = "pck_means"

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        distortion: Literal["squared_euclidean", "cosine", "auto"] = 'auto',
        empty: Literal["keep", "reseed", "error"] = 'keep',
        entail: Literal["full", "neighbourhoods_only", "largest_neighbourhoods", "off"] = 'full',
        half_distortion: bool = False,
        hard_as_soft: float | None = None,
        init: Literal["neighbourhood", "representatives", "constrained_objects", "kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb", "given", "k-means++"] | None = None,
        init_without_constraints: Literal["kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb", "given", "k-means++"] = 'kmeans_plus_plus',
        max_iter: int = 100,
        on_conflict: Literal["error", "keep", "drop_cl", "drop_weakest"] = 'keep',
        order: Literal["random", "random_fixed", "index", "sorted"] = 'random',
        perturb: Literal["additive", "multiplicative"] = 'additive',
        perturb_rho: float = 0.7,
        n_init: int | None = None,
        tol: float = 1e-06,
        tolerance_kind: Literal["relative", "absolute"] = 'relative',
        weight: Literal["auto"] | float = 'auto',
        weight_cannot: Literal["auto"] | float | None = None,
        when_fewer_neighbourhoods: Literal["cl_point_then_perturb", "perturb", "farthest_first", "random"] = 'cl_point_then_perturb',
        when_more_neighbourhoods: Literal["weighted_farthest_first", "largest"] = 'weighted_farthest_first',
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.distortion = distortion
        self.empty = empty
        self.entail = entail
        self.half_distortion = half_distortion
        self.hard_as_soft = hard_as_soft
        self.init = init
        self.init_without_constraints = init_without_constraints
        self.max_iter = max_iter
        self.on_conflict = on_conflict
        self.order = order
        self.perturb = perturb
        self.perturb_rho = perturb_rho
        self.n_init = n_init
        self.tol = tol
        self.tolerance_kind = tolerance_kind
        self.weight = weight
        self.weight_cannot = weight_cannot
        self.when_fewer_neighbourhoods = when_fewer_neighbourhoods
        self.when_more_neighbourhoods = when_more_neighbourhoods
        self.random_state = random_state
        self.n_jobs = n_jobs


class PentaTraining(Clusterer):
    """Components that differ in h teach each other constraints; a consensus combines what they learn.

    **Method**

    There is one component for each h. In each round a component gets must-links on the nearest pairs that it
    separates and the others join. It gets cannot-links on the farthest pairs that it joins and the others separate.
    Then it is clustered again. Candidates that follow from its constraints, or contradict them, are skipped. With two
    clusters this check is complete; with more, it does not test whether k clusters suffice. The rounds end when
    nothing can be added or nothing changes.

    **Input and output**

    The input of the clusterer, dense or sparse; constraints go to every component. The result is the partition of the
    consensus. Diagnostics: `rounds`, `added_must`, `added_cannot`, and `skipped`, the candidates that constraints
    added just before made superfluous.

    **Errors**

    The errors of clusterer and consensus, with their slot; `ConfigError` for fewer than three values of h, for a value
    that the clusterer rejects, for `agree` out of range, and if neither kind of link is added. A component that fails
    numerically is left out with a warning; at least two must remain.

    **Cost and randomness**

    Rounds · components · (clusterer + candidates). Candidates take O(n·log n) if components mostly agree, and
    O(n²·components) at worst or if `agree` is lowered; memory O(n · components). Random only in clusterer and
    consensus; a component draws the same numbers each time.

    **References**

    [DomeniconiAlRazgan2008] Algorithm 2; [AlRazganDomeniconi2006] for the consensus. Differs: any number of
    components; far pairs are ranked by plain distance, as in the text of the paper.

    Parameters
    ----------
    n_clusters : int, at least 1; optional
        Number of clusters. If absent, the number of classes in `y`, otherwise 8.
    agree : int, at least 2; optional
        Smallest number of other components that must differ from the learning component about a
        pair. If absent, all.
    cl_distance : "euclidean" or "mean_weighted"; default 'euclidean'
        Distance that ranks candidates for cannot-links.
    clusterer : a base clusterer; default 'clac'
        Clusterer of each component; it must have an option `h`.
    consensus : a consensus function; default 'wbpa'
        Consensus function that combines the components at the end.
    constrained_consensus : bool; default False
        Give the constraints to the consensus too. As published, only the components get them.
    early_stop : int, at least 1; optional
        Number of rounds without a change of the consensus after which training stops. If absent,
        the consensus is computed once, at the end.
    h_values : "auto" or list; default 'auto'
        Values of `h` for the components, at least three, in units of squared distance. "auto": the
        paper's 1, 3, 5, 7 and 10, times the mean variance of a feature (1 on standardised data).
    max_rounds : int, at least 1; default 50
        Maximum number of rounds.
    schedule : "sequential" or "simultaneous"; default 'sequential'
        Time at which a component learns.
    top_cl : int, at least 0 or float above 0 and at most 1; default 5
        Number of cannot-links that a component gets each time.
    top_ml : int, at least 0 or float above 0 and at most 1; default 5
        Number of must-links that a component gets each time.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, 0 is the largest; -1 for noise.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of the objective that the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list
        Violated constraints one by one: rows `i` and `j` of `X`, `type`, `weight`, `source`.
    status_ : str
        How the run ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Number of pairs left out because an object is not a row of `X`.

    Examples
    --------
    >>> from mustlink import Constraints, PentaTraining
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [8, 8], [8, 9], [9, 8], [9, 9]]
    >>> pairs = Constraints(must_link=[(0, 3), (4, 7)], cannot_link=[(0, 4)], n=8)
    >>> PentaTraining(n_clusters=2).fit_predict(X, constraints=pairs).tolist()
    [0, 0, 0, 0, 1, 1, 1, 1]

    References: DomeniconiAlRazgan2008, AlRazganDomeniconi2006.
    """

    _tag = "penta_training"

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        agree: int | None = None,
        cl_distance: Literal["euclidean", "mean_weighted"] = 'euclidean',
        clusterer: PluginLike = 'clac',
        consensus: PluginLike = 'wbpa',
        constrained_consensus: bool = False,
        early_stop: int | None = None,
        h_values: Literal["auto"] | Sequence[Any] = 'auto',
        max_rounds: int = 50,
        schedule: Literal["sequential", "simultaneous"] = 'sequential',
        top_cl: int | float = 5,
        top_ml: int | float = 5,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.agree = agree
        self.cl_distance = cl_distance
        self.clusterer = clusterer
        self.consensus = consensus
        self.constrained_consensus = constrained_consensus
        self.early_stop = early_stop
        self.h_values = h_values
        self.max_rounds = max_rounds
        self.schedule = schedule
        self.top_cl = top_cl
        self.top_ml = top_ml
        self.random_state = random_state
        self.n_jobs = n_jobs


class PLSCAN(Clusterer):
    """PLSCAN: the leaf clusters of HDBSCAN* at the minimum cluster size with the largest total persistence.

    **Method**

    The reachability distance of two objects is the largest of their distance and their distances to their
    `min_samples`-th nearest objects. Objects joined up to some distance form a dense region. For a size t, only regions
    of more than t objects count; smaller ones are ignored. A leaf cluster is a region that joins another region as the
    distance grows, but in which no two regions have joined before. As t grows, a leaf cluster is born when the regions
    inside it stop counting. It dies when the region itself or the one that it joins stops counting. It is a leaf
    cluster if birth ≤ t < death, and its persistence is death − birth. The method takes the t at which the leaf
    clusters have the largest total persistence (ties: the smallest t). Objects outside these leaf clusters are noise.

    **Input and output**

    n × d, dense or sparse, Euclidean distances, or a matrix of distances. The method finds the number of clusters; k is
    not used. Every object has a label (see `noise`). Diagnostics: `noise_objects`; `persistence`, the total, 0 without
    leaf clusters; `min_cluster_size`, the t taken, only with leaf clusters. All objects are noise if no two regions of
    more than `min_cluster_size` objects join: for example if there is one object, if all distances are equal, or if
    `min_cluster_size` is at least n / 2. Objects that are all equal are one cluster. In all other results there are at
    least two clusters. A `min_samples` above n counts as n: the distance to the farthest object.

    **Errors**

    `ConfigError`, also for `max_cluster_size` below `min_cluster_size`; `NumericalError` for distances whose squares
    are too large.

    **Cost and randomness**

    With up to 16 features a k-d tree and Borůvka's method, about n·log²n; otherwise O(n²·d) time. All sizes together
    add O(n·log n) time. O(n) memory, with more features O(n · (`min_samples` + d)). Not random.

    **References**

    [Bot2025], persistence of sizes; reachability distance and leaf clusters: [Campello2013]; tree: [March2010].
    Differs from the authors' package fast-plscan: joins at equal distances happen together, as in `hdbscan`. The
    package makes them one after the other, so an object between two clusters can belong to either of them, and sizes
    can differ by such objects. `min_samples` counts the object itself; in the package it does not. The other measures
    of persistence, by distances or densities, are not available. Objects that are all equal are noise in the package.

    Parameters
    ----------
    max_cluster_size : int, at least 1; optional
        Largest size that is tried; clusters may have more objects. If absent, all sizes are tried.
    min_cluster_size : int, at least 1; optional
        Smallest size that is tried; every cluster has more objects. If absent, `min_samples`.
    min_samples : int, at least 1; default 5
        Number of neighbours, including itself, that make an object a core. It is one more than in
        fast-plscan, which does not count the object itself.
    noise : "singletons" or "one_cluster"; default 'singletons'
        Treatment of objects outside all clusters in ensembles and studies. In files and in Python
        they are noise, -1.
    kind : one of "dense", "distances"; default 'dense'
        Content of `X`: rows of numbers (dense or sparse), or n × n symmetric distances or
        affinities.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, 0 is the largest; -1 for noise.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of the objective that the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list
        Violated constraints one by one: rows `i` and `j` of `X`, `type`, `weight`, `source`.
    status_ : str
        How the run ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Number of pairs left out because an object is not a row of `X`.

    Examples
    --------
    >>> from mustlink import PLSCAN
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [8, 8], [8, 9], [9, 8], [9, 9]]
    >>> PLSCAN(min_samples=2).fit_predict(X).tolist()
    [0, 0, 0, 0, 1, 1, 1, 1]

    References: Bot2025, Campello2013, March2010.
    """

    _tag = "plscan"

    def __init__(
        self,
        *,
        max_cluster_size: int | None = None,
        min_cluster_size: int | None = None,
        min_samples: int = 5,
        noise: Literal["singletons", "one_cluster"] = 'singletons',
        kind: Literal["dense", "distances"] = 'dense',
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.max_cluster_size = max_cluster_size
        self.min_cluster_size = min_cluster_size
        self.min_samples = min_samples
        self.noise = noise
        self.kind = kind
        self.random_state = random_state
        self.n_jobs = n_jobs


class SCOPKMeans(Clusterer):
    """K-means with soft constraints: variance and violations are weighed on one scale.

    **Method**

    Minimises (1 − ω)·Σ D / V + ω·Σ s² [broken] / Σ s², with V the distortion to the common centre and s the strength
    of a constraint, its weight. Constrained objects choose one by one, given the current labels. Constraints marked
    hard are never broken. Objects they join move as one, into clusters that hold nothing they must be apart from. If
    no attempt finds such clusters one by one, a complete search places them first. A group marked hard is placed as a
    whole, at the smallest total distance, if no other constraint touches it. The objective never rises after the
    first sweep.

    **Input and output**

    n × d, dense or sparse, constraints of weight at most 1, not extended. One label per object in `0..k`, k centres.

    **Errors**

    `MissingKError`, `ConfigError`, also for weights above 1; `InconsistentConstraintsError` and
    `InfeasibleConstraintsError` for constraints marked hard, `ConstraintError` if the search for a placement reaches
    its limit; `ConstraintError` for groups with objects that hard must-links join.

    **Cost and randomness**

    O(sweeps · (n·k·d + constraints + constrained objects · k)); random: first centres and order.

    **References**

    [Wagstaff2002] chapter 5; [Wagstaff2004].

    Parameters
    ----------
    n_clusters : int, at least 1; optional
        Number of clusters. If absent, the number of classes in `y`, otherwise 8.
    distortion : "squared_euclidean", "cosine" or "auto"; default 'auto'
        Distance from an object to a centre. "auto": cosine for sparse rows, otherwise squared
        Euclidean.
    empty : "keep", "reseed" or "error"; default 'reseed'
        Treatment of a cluster that has no objects.
    init : "neighbourhood", "kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb" or "given"; default 'kmeans_plus_plus'
        Method of choosing the first centres. `neighbourhood`: the means of the must-link components
        with cannot-links.
    max_iter : int, at least 1; default 100
        Maximum number of sweeps in one attempt.
    omega : float between 0 and 1; default 0.5
        Share of the constraints in the objective (ω); 0 is k-means.
    order : "random", "random_fixed", "index" or "sorted"; default 'random'
        Order in which objects are visited.
    n_init : int, at least 1; default 10
        Number of attempts; the best result is kept.
    tol : float, at least 0; default 1e-06
        Smallest change of the objective for which another sweep is made.
    tolerance_kind : "relative" or "absolute"; default 'relative'
        Unit of the tolerance: relative to the objective, or absolute.
    when_more_neighbourhoods : "weighted_farthest_first" or "largest"; default 'weighted_farthest_first'
        Selection of the neighbourhoods that start clusters when there are more than k.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, 0 is the largest; -1 for noise.
    cluster_centers_ : array of shape (n_clusters, n_features)
        Centres.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of the objective that the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list
        Violated constraints one by one: rows `i` and `j` of `X`, `type`, `weight`, `source`.
    status_ : str
        How the run ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Number of pairs left out because an object is not a row of `X`.
    distortion_ : str
        The distortion that was used: `cosine` or `squared_euclidean`.

    Examples
    --------
    >>> from mustlink import Constraints, SCOPKMeans
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [8, 8], [8, 9], [9, 8], [9, 9]]
    >>> pairs = Constraints(must_link=[(0, 3), (4, 7)], cannot_link=[(0, 4)], n=8)
    >>> SCOPKMeans(n_clusters=2).fit_predict(X, constraints=pairs).tolist()
    [0, 0, 0, 0, 1, 1, 1, 1]

    References: Wagstaff2002, Wagstaff2004.
    """

    _tag = "scop_kmeans"

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        distortion: Literal["squared_euclidean", "cosine", "auto"] = 'auto',
        empty: Literal["keep", "reseed", "error"] = 'reseed',
        init: Literal["neighbourhood", "kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb", "given", "k-means++"] = 'kmeans_plus_plus',
        max_iter: int = 100,
        omega: float = 0.5,
        order: Literal["random", "random_fixed", "index", "sorted"] = 'random',
        n_init: int = 10,
        tol: float = 1e-06,
        tolerance_kind: Literal["relative", "absolute"] = 'relative',
        when_more_neighbourhoods: Literal["weighted_farthest_first", "largest"] = 'weighted_farthest_first',
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.distortion = distortion
        self.empty = empty
        self.init = init
        self.max_iter = max_iter
        self.omega = omega
        self.order = order
        self.n_init = n_init
        self.tol = tol
        self.tolerance_kind = tolerance_kind
        self.when_more_neighbourhoods = when_more_neighbourhoods
        self.random_state = random_state
        self.n_jobs = n_jobs


class SeededKMeans(WeightedClusterer):
    """Seeded k-means: neighbourhoods of the constraints give the first centres; their objects may change clusters.

    **Method**

    Centres start at the means of the seeds; then plain k-means runs. The seeds are the labels of a given start,
    without unknown ones. Without a given start, they are the neighbourhoods: at most the k largest, one for each
    cluster.

    **Input and output**

    n × d, dense or sparse, must-links; objects may have weights. One label per object in `0..k`, k centres.

    **Errors**

    `MissingKError`, `ConfigError`, also if a cluster has no seed and `unseeded = "error"`.

    **Cost and randomness**

    As k-means; random only if a cluster has no seed.

    **References**

    [Basu2002] figure 1; [Basu2004] uses neighbourhoods as its seeds.

    Parameters
    ----------
    n_clusters : int, at least 1; optional
        Number of clusters. If absent, the number of classes in `y`, otherwise 8.
    distortion : "squared_euclidean", "cosine" or "auto"; default 'auto'
        Distance from an object to a centre. "auto": cosine for sparse rows, otherwise squared
        Euclidean.
    empty : "keep", "reseed" or "error"; default 'reseed'
        Treatment of a cluster that has no objects.
    max_iter : int, at least 1; default 100
        Maximum number of sweeps in one start.
    perturb : "additive" or "multiplicative"; default 'additive'
        Formula that perturbs a global mean.
    perturb_rho : float above 0; default 0.7
        Strength of the perturbation of a global mean (ρ).
    n_init : int, at least 1; optional
        Number of starts; the best result is kept. If absent, 1 with seeds and 10 without.
    tol : float, at least 0; default 1e-06
        Smallest change of the objective for which another sweep is made.
    tolerance_kind : "relative" or "absolute"; default 'relative'
        Unit of the tolerance: relative to the objective, or absolute.
    unseeded : "perturb", "farthest_first" or "error"; default 'perturb'
        Start of clusters that have no seed.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, 0 is the largest; -1 for noise.
    cluster_centers_ : array of shape (n_clusters, n_features)
        Centres.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of the objective that the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list
        Violated constraints one by one: rows `i` and `j` of `X`, `type`, `weight`, `source`.
    status_ : str
        How the run ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Number of pairs left out because an object is not a row of `X`.
    distortion_ : str
        The distortion that was used: `cosine` or `squared_euclidean`.

    Examples
    --------
    >>> from mustlink import Constraints, SeededKMeans
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [8, 8], [8, 9], [9, 8], [9, 9]]
    >>> pairs = Constraints(must_link=[(0, 3), (4, 7)], cannot_link=[(0, 4)], n=8)
    >>> SeededKMeans(n_clusters=2).fit_predict(X, constraints=pairs).tolist()
    [0, 0, 0, 0, 1, 1, 1, 1]

    References: Basu2002, Basu2004.
    """

    _tag = "seeded_kmeans"

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        distortion: Literal["squared_euclidean", "cosine", "auto"] = 'auto',
        empty: Literal["keep", "reseed", "error"] = 'reseed',
        max_iter: int = 100,
        perturb: Literal["additive", "multiplicative"] = 'additive',
        perturb_rho: float = 0.7,
        n_init: int | None = None,
        tol: float = 1e-06,
        tolerance_kind: Literal["relative", "absolute"] = 'relative',
        unseeded: Literal["perturb", "farthest_first", "error"] = 'perturb',
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.distortion = distortion
        self.empty = empty
        self.max_iter = max_iter
        self.perturb = perturb
        self.perturb_rho = perturb_rho
        self.n_init = n_init
        self.tol = tol
        self.tolerance_kind = tolerance_kind
        self.unseeded = unseeded
        self.random_state = random_state
        self.n_jobs = n_jobs


class SizeConstrainedKMeans(WeightedClusterer):
    """K-means whose clusters have a size between `min_size` and `max_size`, and obey constraints.

    **Method**

    Lloyd's two steps. The first step assigns all objects together, so that sizes and constraints hold. Objects need not
    be with their nearest centre. Without constraints and weights, a minimum-cost flow finds the assignment with the
    smallest objective. Otherwise, objects that must-links join are assigned together, and objects that no constraint
    mentions take the places that these leave, again by a flow. Moves and exchanges lower the objective. With up to 30
    groups of joined objects and other objects, a search then looks for the best assignment (5 000 nodes). If no start
    finds sizes and constraints that hold, a complete search for them decides.

    **Input and output**

    n × d, dense or sparse, objects of any weight, constraints (whose weights are not used). The size of a cluster is
    the number of its objects, or the sum of their weights (capacity). Such a sum may miss a limit by a rounding error
    of 1e-9. One label per object in `0..k`, k centres; no limit, must-link or cannot-link is ever broken. The objective
    is the total distortion, in which each object counts by its weight, and never rises.

    **Errors**

    `MissingKError`, `ConfigError`, also for sizes that k clusters cannot have; `InconsistentConstraintsError` with the
    chain of must-links; `InfeasibleConstraintsError` when k clusters provably cannot hold sizes and constraints, with
    the limit or with objects that show it; `ConstraintError` when the search ends at `node_limit`.

    **Cost and randomness**

    O(n·k·d) per sweep, and O(k²) for every object that is moved from its nearest centre; O(n·k + k²) memory. With
    constraints or weights also the moves, O(k) for each unit and cluster that are tried; random only in the first
    centres.

    **References**

    [Bradley2000], extended by largest sizes, weights and constraints. [MulveyBeck1984]: the order in which objects take
    places in clusters of limited capacity, and exchanges. Differs from [Babaki2014], which proves the smallest
    objective of all clusterings: here a search decides about sizes and constraints, and the result is the best of
    several starts.

    Parameters
    ----------
    n_clusters : int, at least 1; optional
        Number of clusters. If absent, the number of classes in `y`, otherwise 8.
    distortion : "squared_euclidean", "cosine" or "auto"; default 'auto'
        Distance from an object to a centre. "auto": cosine for sparse rows, otherwise squared
        Euclidean.
    init : "kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb" or "given"; default 'kmeans_plus_plus'
        Method of choosing the first centres.
    max_iter : int, at least 1; default 100
        Maximum number of sweeps in one start.
    max_size : float above 0; optional
        Largest number of objects in a cluster, or sum of their weights; at least n / k. If absent,
        no limit.
    min_size : float, at least 0; optional
        Smallest number of objects in a cluster, or sum of their weights; at most n / k. If absent,
        each cluster has at least one object, unless must-links leave too few groups.
    node_limit : int, at least 1; default 1000000
        Maximum number of nodes of the complete search. If it is reached and no assignment is known,
        the run ends with an error, because it is undecided whether sizes and constraints can hold.
    n_init : int, at least 1; default 10
        Number of starts; the best result is kept. A given start is run once.
    tol : float, at least 0; default 1e-06
        Smallest change of the objective for which another sweep is made.
    tolerance_kind : "relative" or "absolute"; default 'relative'
        Unit of the tolerance: relative to the objective, or absolute.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, 0 is the largest; -1 for noise.
    cluster_centers_ : array of shape (n_clusters, n_features)
        Centres.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of the objective that the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list
        Violated constraints one by one: rows `i` and `j` of `X`, `type`, `weight`, `source`.
    status_ : str
        How the run ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Number of pairs left out because an object is not a row of `X`.
    distortion_ : str
        The distortion that was used: `cosine` or `squared_euclidean`.

    Examples
    --------
    >>> from mustlink import Constraints, SizeConstrainedKMeans
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [8, 8], [8, 9], [9, 8], [9, 9]]
    >>> pairs = Constraints(must_link=[(0, 3), (4, 7)], cannot_link=[(0, 4)], n=8)
    >>> SizeConstrainedKMeans(n_clusters=2).fit_predict(X, constraints=pairs).tolist()
    [0, 0, 0, 0, 1, 1, 1, 1]

    References: Bradley2000, MulveyBeck1984, Babaki2014.
    """

    _tag = "size_constrained_kmeans"

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        distortion: Literal["squared_euclidean", "cosine", "auto"] = 'auto',
        init: Literal["kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb", "given", "k-means++"] = 'kmeans_plus_plus',
        max_iter: int = 100,
        max_size: float | None = None,
        min_size: float | None = None,
        node_limit: int = 1000000,
        n_init: int = 10,
        tol: float = 1e-06,
        tolerance_kind: Literal["relative", "absolute"] = 'relative',
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.distortion = distortion
        self.init = init
        self.max_iter = max_iter
        self.max_size = max_size
        self.min_size = min_size
        self.node_limit = node_limit
        self.n_init = n_init
        self.tol = tol
        self.tolerance_kind = tolerance_kind
        self.random_state = random_state
        self.n_jobs = n_jobs


class Spectral(Clusterer):
    """Spectral clustering: k-means on the rows of the leading eigenvectors of a graph.

    **Method**

    W holds the affinities of a graph without loops, D its degrees. The k largest eigenvectors of D^(−½)·W·D^(−½) are
    the columns of an n × k matrix. Its rows are scaled to length 1 and clustered with k-means. With
    `form = "spectral_learning"` the affinity of must-linked objects is 1 and that of cannot-linked objects 0. The
    eigenvectors are then those of (W + d·I − D) / d, with d the largest degree. If the graph falls into more than k
    parts, the rows still distinguish all of them.

    **Input and output**

    Dense or sparse rows (turned into a symmetric graph of the `knn` nearest neighbours with locally scaled Gaussian
    weights), distances (the same), or affinities (the graph itself, without its diagonal). One label per object in
    `0..k`. Only `spectral_learning` uses constraints; it ignores their weights and may break them. The objective is
    the distortion of k-means.

    **Errors**

    `MissingKError`, `ConfigError`; `NumericalError` for objects without a neighbour (form `ng`); `ConfigError` for
    negative affinities and, with `spectral_learning`, for affinities above 1.

    **Cost and randomness**

    O(n²·d) time for the graph, then O(edges · k) for a step of the iteration; O(n · (knn + k)) memory. Up to 200
    objects, and if k is more than a fifth of them, O(n³) time and O(n²) memory. Random: the starts of k-means and of
    the iteration.

    **References**

    [NgJordanWeiss2002] §2; [KamvarKleinManning2003] for `spectral_learning`. The graph: [ZelnikManorPerona2004].
    Differs: only neighbours are joined, with a width for each object.

    Parameters
    ----------
    n_clusters : int, at least 1; optional
        Number of clusters. If absent, the number of classes in `y`, otherwise 8.
    distortion : "squared_euclidean", "cosine" or "auto"; default 'auto'
        Distance between objects in the neighbour graph. "auto": cosine for sparse rows, otherwise
        squared Euclidean.
    form : "ng" or "spectral_learning"; default 'ng'
        Matrix whose eigenvectors are used.
    knn : int, at least 1; default 20
        Number of neighbours of each object in the graph (fewer in small data).
    n_init : int, at least 1; default 10
        Number of starts of k-means; the best result is kept.
    scale : float above 0; default 1.0
        Factor in the weight exp(−scale · distance² / r²) of a neighbour; r is the distance to the
        farthest one.
    kind : one of "dense", "distances", "affinity"; default 'dense'
        Content of `X`: rows of numbers (dense or sparse), or n × n symmetric distances or
        affinities.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, 0 is the largest; -1 for noise.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of the objective that the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list
        Violated constraints one by one: rows `i` and `j` of `X`, `type`, `weight`, `source`.
    status_ : str
        How the run ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Number of pairs left out because an object is not a row of `X`.
    distortion_ : str
        The distortion that was used: `cosine` or `squared_euclidean`.

    Examples
    --------
    >>> from mustlink import Spectral
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [8, 8], [8, 9], [9, 8], [9, 9]]
    >>> Spectral(n_clusters=2).fit_predict(X).tolist()
    [0, 0, 0, 0, 1, 1, 1, 1]

    References: NgJordanWeiss2002, ZelnikManorPerona2004, KamvarKleinManning2003.
    """

    _tag = "spectral"

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        distortion: Literal["squared_euclidean", "cosine", "auto"] = 'auto',
        form: Literal["ng", "spectral_learning"] = 'ng',
        knn: int = 20,
        n_init: int = 10,
        scale: float = 1.0,
        kind: Literal["dense", "distances", "affinity"] = 'dense',
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.distortion = distortion
        self.form = form
        self.knn = knn
        self.n_init = n_init
        self.scale = scale
        self.kind = kind
        self.random_state = random_state
        self.n_jobs = n_jobs


class SSKernelKMeans(Clusterer):
    """Semi-supervised kernel k-means: constraints raise and lower the entries of a kernel, on which k-means runs.

    **Method**

    S is the kernel, and W holds +w for each must-link and −w for each cannot-link. φ(x) is the image of an object in
    the space of S. Cluster h has n_h objects, and their images have the mean m_h. The method minimises Σ_h (Σ ‖φ(x) −
    m_h‖² − (2 / n_h)·(Σ w of must-links inside h − Σ w of cannot-links inside h)). Kernel k-means on K = S + W has this
    objective.

    The shift σ is added to the diagonal of K. It makes K positive semidefinite on vectors whose entries sum to 0, and
    kernel k-means uses no other vectors. It changes the objective of k clusters only by a constant, which is left out.

    The first start uses the neighbourhoods of the must-links. It takes the largest neighbourhood, and then again and
    again the one whose mean is farthest from the means taken before, in the space of S. If there are fewer than k
    neighbourhoods, it takes single objects in the same way. Later starts draw neighbourhoods and single objects as
    k-means++ does. All others join the nearest mean; must-linked objects stay together.

    In a sweep, all objects move at the same time, each to the nearest mean. The squared distance of object i to the
    mean of cluster h is K_ii − (2 / n_h) Σ_j K_ij + (1 / n_h²) Σ_jl K_jl, with j and l in h and with σ on the diagonal.
    An empty cluster takes the object that lowers the objective most, if there is one. A large σ holds objects where
    they are. If a sweep would not lower the objective, it is undone, and objects move one by one instead, each to the
    cluster that lowers the objective most. A start ends if this does not lower it either, so the objective never
    rises.

    **Input and output**

    Dense or sparse rows, distances, or affinities (the kernel S itself, with its diagonal); constraints of any weight,
    which are not closed. One label per object in `0..k`; constraints may be broken. With distances, `kernel` uses
    them as if they were Euclidean. With affinities, `kernel`, `distortion` and `width` are ignored. Diagnostics:
    `sigma`; `weight` with constraints; `width` with `rbf`.

    **Errors**

    `MissingKError`, `ConfigError`; `ConstraintError` for constraints marked hard; `MemoryLimitError` if n × n numbers
    do not fit; `NumericalError` for a weight or shift above 10^100 times the spread of the kernel.

    **Cost and randomness**

    O(n²·d) time for the kernel, then O(n·(n + moves)) for each sweep and O(n²) for each of at most 200 steps that find
    the shift. 8·n² bytes of memory. Random: the starts, but for the first one with must-links, and the first step
    towards the shift.

    **References**

    [Kulis2005]; [Kulis2009]; kernel k-means: [DhillonGuanKulis2004]. Every object has the weight 1, as for the
    vectors of the papers. Differs: later starts; empty clusters are filled; moves one by
    one; the shift is the smallest that is enough, up to 1 %; `weight` has the scale of the kernel. Not checked
    against the texts of the papers: the weight n / (k · constraints), and the first start.

    Parameters
    ----------
    n_clusters : int, at least 1; optional
        Number of clusters. If absent, the number of classes in `y`, otherwise 8.
    distortion : "squared_euclidean", "cosine" or "auto"; default 'auto'
        Distance between rows. "auto": cosine for sparse rows, otherwise squared Euclidean.
    kernel : "linear" or "rbf"; default 'rbf'
        Kernel of rows and distances (S).
    max_iter : int, at least 1; default 100
        Maximum number of sweeps in one start, the first of which assigns objects to the start.
    n_init : int, at least 1; default 10
        Number of starts; the best result is kept.
    sigma : "auto" or float, at least 0; default 'auto'
        Shift of the diagonal of the kernel (σ). "auto": the smallest that makes it positive
        semidefinite. A larger one keeps more objects where they are.
    weight : "auto" or float, at least 0; default 'auto'
        Entry of a must-link of weight 1 in the kernel (w). "auto": n / (k · constraints), times
        half the mean squared distance of two objects in the space of the kernel.
    width : "auto" or float above 0; default 'auto'
        Width of the kernel `rbf`, in the unit of the data. "auto": 2·width² is the median squared
        distance of two objects, among at most 500.
    kind : one of "dense", "distances", "affinity"; default 'dense'
        Content of `X`: rows of numbers (dense or sparse), or n × n symmetric distances or
        affinities.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, 0 is the largest; -1 for noise.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of the objective that the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list
        Violated constraints one by one: rows `i` and `j` of `X`, `type`, `weight`, `source`.
    status_ : str
        How the run ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Number of pairs left out because an object is not a row of `X`.
    distortion_ : str
        The distortion that was used: `cosine` or `squared_euclidean`.

    Examples
    --------
    >>> from mustlink import Constraints, SSKernelKMeans
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [8, 8], [8, 9], [9, 8], [9, 9]]
    >>> pairs = Constraints(must_link=[(0, 3), (4, 7)], cannot_link=[(0, 4)], n=8)
    >>> SSKernelKMeans(n_clusters=2).fit_predict(X, constraints=pairs).tolist()
    [0, 0, 0, 0, 1, 1, 1, 1]

    References: Kulis2005, Kulis2009, DhillonGuanKulis2004.
    """

    _tag = "ss_kernel_kmeans"

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        distortion: Literal["squared_euclidean", "cosine", "auto"] = 'auto',
        kernel: Literal["linear", "rbf"] = 'rbf',
        max_iter: int = 100,
        n_init: int = 10,
        sigma: Literal["auto"] | float = 'auto',
        weight: Literal["auto"] | float = 'auto',
        width: Literal["auto"] | float = 'auto',
        kind: Literal["dense", "distances", "affinity"] = 'dense',
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.distortion = distortion
        self.kernel = kernel
        self.max_iter = max_iter
        self.n_init = n_init
        self.sigma = sigma
        self.weight = weight
        self.width = width
        self.kind = kind
        self.random_state = random_state
        self.n_jobs = n_jobs


class Ssdbscan(Clusterer):
    """SSDBSCAN: dense regions grow from constrained objects, each at its own density, until they would touch.

    **Method**

    The reachability distance of two objects is the largest of their distance and their distances to their
    `min_samples`-th nearest objects. Objects joined up to some distance form a dense region; the regions grow with
    the distance. A region with a constrained object is a cluster just before it would join another region so that two
    objects in it must be apart. Clusters that contain must-linked objects become one cluster. All other objects are
    noise. Known classes of some objects are such constraints: two known objects are together or apart.

    **Input and output**

    n × d, dense or sparse, Euclidean distances, or a matrix of distances. The method finds the number of clusters;
    neither k nor the weights of constraints are used. Constraints marked soft are enforced like the others, or left out
    if the others cannot be satisfied with them; both with a warning. Must-links always hold. Cannot-links hold if every
    pair of constrained objects is together or apart, and may be broken otherwise. Without cannot-links all objects are
    one cluster. Every object has a label (see `noise`); diagnostics: `noise_objects`.

    **Errors**

    `ConfigError`; `InconsistentConstraintsError`.

    **Cost and randomness**

    With up to 16 features about n·log²n time, otherwise O(n²·d); O(n) memory, with more features O(n ·
    `min_samples`). Not random.

    **References**

    [LelisSander2009] §III. The paper expands each labelled object along a spanning tree up to the longest edge before
    another label. The result is these regions, which the method finds in one pass over the tree [Campello2013].
    Differs: pairs that must be apart replace different labels; edges of equal length count at the same time.

    Parameters
    ----------
    min_samples : int, at least 1; default 5
        Number of neighbours, including itself, that make an object a core (MinPts).
    noise : "singletons" or "one_cluster"; default 'singletons'
        Treatment of objects outside all clusters in ensembles and studies. In files and in Python
        they are noise, -1.
    kind : one of "dense", "distances"; default 'dense'
        Content of `X`: rows of numbers (dense or sparse), or n × n symmetric distances or
        affinities.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, 0 is the largest; -1 for noise.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of the objective that the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list
        Violated constraints one by one: rows `i` and `j` of `X`, `type`, `weight`, `source`.
    status_ : str
        How the run ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Number of pairs left out because an object is not a row of `X`.

    Examples
    --------
    >>> from mustlink import Constraints, Ssdbscan
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [8, 8], [8, 9], [9, 8], [9, 9]]
    >>> pairs = Constraints(must_link=[(0, 3), (4, 7)], cannot_link=[(0, 4)], n=8)
    >>> Ssdbscan(min_samples=3).fit_predict(X, constraints=pairs).tolist()
    [0, 0, 0, 0, 1, 1, 1, 1]

    References: LelisSander2009, Campello2013, March2010.
    """

    _tag = "ssdbscan"

    def __init__(
        self,
        *,
        min_samples: int = 5,
        noise: Literal["singletons", "one_cluster"] = 'singletons',
        kind: Literal["dense", "distances"] = 'dense',
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.min_samples = min_samples
        self.noise = noise
        self.kind = kind
        self.random_state = random_state
        self.n_jobs = n_jobs
