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
    "KMeans",
    "LAC",
    "LCVQE",
    "MiniBatchKMeans",
    "MPCKMeans",
    "OPTICS",
    "Pccc",
    "PCKMeans",
    "PentaTraining",
    "SCOPKMeans",
    "SeededKMeans",
    "SizeConstrainedKMeans",
    "Spectral",
    "Ssdbscan",
]


class Auto(Clusterer):
    """Tries many methods, keeps those that the constraints cannot tell from the best, and combines them.

    **Method**

    Each candidate is scored by pairs it was not told: the mean of the share of must-links and the share of
    cannot-links that it meets. Candidates that read no constraints are scored by all pairs; the others by pairs held
    out in folds, so that no pair follows from those that are kept: must-links on a common cycle are held out
    together, as are cannot-links between the same two components. After two folds, candidates that cannot be among
    the best go no further. Candidates within `ties` standard errors of the difference to the best then cluster under
    all constraints, and the consensus of their partitions is the result: average linkage of the co-association,
    members weighted by (score / best score)^`sharpness`, constraints as evidence.

    If the consensus breaks at most the share `trust` of the constraints (5 % if no constraint contradicts others), it
    is made again and obeys all of them. If there are 20 constraints of each kind and it breaks 20 % more of them than
    the best candidate, the best candidate is the result. Constraints marked hard always hold. If constraints
    contradict one another, candidates are not told the weakest.

    Without constraints the score of a candidate is its stability, the mean adjusted Rand index of its partition and
    those of the other candidates. If there are more than `sample` objects, candidates cluster that many: first
    objects with a constraint, and of these whole chains of constraints if not all fit. Each other object joins the
    nearest centre or, if a candidate does not go by centres, the nearest object. The consensus knows all constraints;
    if more than 4096 objects have one, it is made without them, and objects then move to obey.

    The portfolio has k-means, mixtures and linkage under several scalings, and their constrained relatives under
    these scalings and under learned metrics; data of more than 100 features are reduced to 50 principal components;
    term vectors have methods that compare angles. `mustlink describe auto` and the manual list it.

    **Input and output**

    n × d, dense or sparse. k clusters; if no k is given, the number in `k_min..=k_max` that has the largest sum of
    weights; candidates that find k themselves count for the number they found. What was tried, with scores, comes with
    the result. The diagnostic `score` is the score to expect of the best candidate on other pairs: the mean over
    bootstrap samples in which the best is chosen again and scored by pairs that were not drawn.

    **Errors**

    `BadK`, `TooManyClusters`; `BadParam` for a candidate that drops or merges rows, for a consensus that needs
    more than labels, for more clusters than `sample`, and if no candidate gives a clustering;
    `InconsistentConstraints`, `InfeasibleConstraints` of those marked hard; with `hold_out = "objects"` also
    `ClosureTooLarge`.

    **Cost and randomness**

    Up to folds + 1 runs of each candidate on at most `sample` objects, for those that fit into `effort` or
    `time_budget_seconds`; then O(n · sample · d) for each of those that count. Random as the candidates are, in the
    folds, in the sample and in the bootstrap.

    **References**

    [VanCraenendonckBlockeel2017] for unconstrained candidates chosen by all pairs; [Pourrajabi2014] for
    folds of constraints; [FredJain2005] for the consensus; [Tsamardinos2018] for the corrected score. Differs: the best
    are combined, not one chosen; bridges of the must-link graph are held out alone.

    Parameters
    ----------
    n_clusters : an integer >= 1; optional
        Number of clusters; absent: that of the classes in `y`.
    candidates : a list; optional
        What is tried, `{ transforms, clusterer }` each; absent: the portfolio above.
    consensus : a consensus function; optional
        What combines those that cannot be told apart; absent: evidence accumulation as above.
    effort : a number in 0..=1000000000000; default 30.0
        Seconds of processor time that the candidates may take by estimate. The most expensive are
        left out, and a warning names them; the result does not depend on the clock.
    folds : an integer in 2..=1000; default 5
        Parts of the constraints that are held back one after the other.
    hold_out : "pairs" or "objects"; default 'pairs'
        What is dealt to the parts.
    k_max : an integer in 1..=1000; default 8
        Largest number of clusters tried where none is given; at most n.
    k_min : an integer in 1..=1000; default 2
        Smallest number of clusters tried where none is given.
    sample : an integer in 10..=1000000000; default 3000
        Objects that candidates are tried on, where there are more.
    sharpness : a number in 0..=1000; default 8.0
        Power of the score in the weight of a candidate.
    ties : a number in 0..=100; default 1.0
        How many standard errors of the difference below the best score a candidate still counts.
    time_budget_seconds : a number >= 0; optional
        Seconds after which no candidate is tried any more, in place of `effort`; absent: no limit.
        The best candidate so far is fitted in any case, which may take longer. With a time limit,
        the same seed may give a different result.
    trust : a number in 0..=1; default 0.03
        Share of the constraints that the consensus may break to be made again obeying all of them;
        at least 5 % if no constraint contradicts others. A `consensus` of one's own is not made
        again.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used as it is, None draws one.
    n_jobs : int, optional
        Threads; None and -1: one per core. Changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, -1 of noise.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of what the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list of (i, j, type, weight)
        Those constraints one by one, by rows of `X`.
    status_ : str
        How it ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Pairs left out, an end of which is no row of `X`.
    tried_ : list
        What was tried: `name`, `k`, `score`, `weight` in the consensus, `outcome`, `seconds`.

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
        trust: float = 0.03,
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

    As `lac`, but at each assignment the chunklets are placed first, one after the other: each goes to
    the nearest cluster that holds nothing it must be apart from. Free objects then choose by
    themselves. Without constraints it is `lac`.

    **Input and output**

    n × d, dense or sparse, constraints (weights matter only to `least_violation`). One label per object
    in `0..k`, centres and weights (k × d). No must-link is ever broken; no cannot-link where each
    chunklet must be apart from fewer than k others.

    **Errors**

    As `lac`; `InconsistentConstraints` with the chain of must-links; `InfeasibleConstraints` where
    `infeasible` is not `least_violation`.

    **Cost and randomness**

    O(rounds · (n·k·d + chunklets · k + cannot-linked chunklets)); random: the first centre where no
    chunklet has cannot-links, the order where asked for.

    **References**

    [DomeniconiAlRazgan2008] §3. Differs: chunklets are placed anew at each assignment, which the
    listing skips for all but the first; their order is not given there, and decides (the manual's page on readings
    has a table); `exact` removes its influence.

    Parameters
    ----------
    n_clusters : an integer >= 1; optional
        Number of clusters; absent: that of the classes in `y`, or else 8.
    assign_rule : "printed" or "entropy"; default 'printed'
        What makes a cluster cheap for an object.
    chunklet_distance : "sum_of_distances" or "sum_of_squares"; default 'sum_of_distances'
        How far a chunklet is from a centre; under the `entropy` rule the sum of what its objects
        pay.
    chunklet_order : "random", "index" or "degree_desc"; default 'degree_desc'
        In which order chunklets are placed.
    empty : "keep", "reseed" or "error"; default 'keep'
        What happens to a cluster without objects; `reseed` moves whole chunklets.
    h : "auto" or a number > 0; default 'auto'
        Incentive to use more features, in units of squared distance: large gives k-means, small one
        feature per cluster. "auto": the mean squared distance of an object to the nearest first
        centre, by the number of features.
    infeasible : "least_violation", "error" or "exact"; default 'least_violation'
        Where a chunklet goes that finds every cluster taken.
    init : "neighbourhood", "kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb" or "given"; default 'neighbourhood'
        How the first centres are chosen; `neighbourhood`: at the means of the chunklets with
        cannot-links, then at the objects farthest from them.
    max_iter : an integer in 1..=1000000000; default 100
        Rounds.
    when_more_chunklets : "weighted_farthest_first", "largest" or "degree"; default 'weighted_farthest_first'
        Which of those when there are more than k.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used as it is, None draws one.
    n_jobs : int, optional
        Threads; None and -1: one per core. Changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, -1 of noise.
    cluster_centers_ : array of shape (n_clusters, n_features)
        Centres.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of what the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list of (i, j, type, weight)
        Those constraints one by one, by rows of `X`.
    status_ : str
        How it ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Pairs left out, an end of which is no row of `X`.

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
        init: Literal["neighbourhood", "kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb", "given"] = 'neighbourhood',
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

    The propagator pulls must-linked objects, and with them their surroundings, together, and puts
    cannot-linked ones farther apart than all others. Then always the two clusters merge whose
    farthest members are nearest (ties: smallest members); so cannot-links reach clusters by
    linkage. Where that ends before k clusters are reached, it begins anew and leaves out merges after
    which k clusters could no longer keep the cannot-links, or of which a search does not find out in time.

    **Input and output**

    n × d dense or sparse, or distances. One label per object, clusters in order of their smallest
    members; with fewer must-link components than k, some stay empty. The history holds the height
    of every merge between must-link components, the objective is the last. Every constraint holds
    unless `merge` or `soft_ml` says otherwise. Weights are not read.

    **Errors**

    `MissingK`, `BadK`, `TooManyClusters`; `InconsistentConstraints`; `InfeasibleConstraints` where k
    clusters cannot keep the cannot-links, `UndecidedConstraints` where a search finds no end; `BadParam`
    for a propagator without distances.

    **Cost and randomness**

    O(n²) after the propagator, O(n³) where merges are left out; memory 16·n² bytes beside it. Nothing
    random.

    **References**

    [Klein2002]. Differs: merges that lead to a dead end are left out.

    Parameters
    ----------
    n_clusters : an integer >= 1; optional
        Number of clusters; absent: that of the classes in `y`, or else 8.
    max_objects : an integer in 1..=1000000000; default 20000
        Most objects; there is a number for every pair.
    on_infeasible : "error" or "merge"; default 'error'
        What to do when k clusters cannot be reached without breaking a cannot-link.
    propagator : a constraint propagator; default 'shortest_path'
        What changes the distances.
    soft_ml : true or false; default False
        Let distances decide whether must-links hold; contradictions are then legal.
    stop : "k", "auto" or a number >= 0; default 'k'
        When merging ends: "k", "auto" (when only cannot-linked clusters are left), or a height.
    kind : one of "dense", "distances"; default 'dense'
        What `X` holds: rows of numbers (dense or sparse), or n × n symmetric distances or
        affinities.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used as it is, None draws one.
    n_jobs : int, optional
        Threads; None and -1: one per core. Changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, -1 of noise.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of what the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list of (i, j, type, weight)
        Those constraints one by one, by rows of `X`.
    status_ : str
        How it ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Pairs left out, an end of which is no row of `X`.

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

    Chunklets, the must-link components and all other single objects, take one label each; those
    joined by a cannot-link take different ones. The E step gives the exact probabilities of these
    labels, component by component of the cannot-link graph: by elimination, or where that is dearer by sums over
    the sets of labels that chunklets all apart from one another take (as groups are), or over the sets of chunklets
    that may share a label. Where more than two clusters are sought and a component is too entangled for all of
    these, they are those of belief propagation. The M step is that of a Gaussian mixture.

    **Input and output**

    n × d dense. One label per object: the likeliest of a chunklet, jointly under cannot-links;
    memberships, means, and inverse covariances. Every constraint holds. The objective is the negative log-likelihood
    divided by n; with cannot-links and `mixing = "ignore_partition"` it is the likelihood of the objects together
    with the event that the cannot-links hold. It never rises unless something was approximated
    (`approximate_chunklets` in the diagnostics counts). Weights of constraints are not read.

    **Errors**

    `MissingK`, `BadK`, `TooManyClusters`; `InconsistentConstraints`, `InfeasibleConstraints`;
    `BadParam` for a start that makes more clusters; `UndecidedConstraints` where a search finds no end;
    `NumericalFailure` where every start ended in a singular covariance with `reg_covar = 0`, or density 0
    everywhere.

    **Cost and randomness**

    O(n·k·d² + k·d³) per iteration, and the tables: at most k^(max_width + 1) entries for a chunklet
    with cannot-links, 4 million for a component; k·2^k for a group, a million for sums over sets. Belief propagation
    takes up to 200 sweeps an iteration, each O(k) for every two cannot-links of a chunklet. `mixing = "gradient"` asks
    for all of it up to 400 times more. Random only in the start.

    **References**

    [Shental2003]. Differs: a floor under the variances in place of a ridge, so that the likelihood
    cannot fall.

    Parameters
    ----------
    n_clusters : an integer >= 1; optional
        Number of clusters; absent: that of the classes in `y`, or else 8.
    assumption : "chunklet_iid" or "point_iid"; default 'chunklet_iid'
        How must-linked objects come about.
    covariance : "full", "diag", "spherical" or "tied"; default 'full'
        Which covariances components may have.
    max_iter : an integer in 1..=1000000000; default 200
        Iterations of one start.
    max_width : an integer in 0..=1000000000; default 6
        Cannot-linked chunklets a chunklet may have to be considered with at once in elimination.
    mixing : "ignore_partition" or "gradient"; default 'ignore_partition'
        How mixing weights are found under cannot-links.
    reg_covar : a number >= 0; default 1e-06
        Smallest variance of a component in any direction, relative to the mean variance of the
        features.
    n_init : an integer in 1..=1000000000; default 5
        Starts, of which the best result is kept.
    start : a base clusterer; default 'kmeans'
        What gives the first labels.
    tol : a number >= 0; default 1e-06
        Smallest change of the mean log-likelihood worth another iteration.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used as it is, None draws one.
    n_jobs : int, optional
        Threads; None and -1: one per core. Changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, -1 of noise.
    cluster_centers_ : array of shape (n_clusters, n_features)
        Centres.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of what the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list of (i, j, type, weight)
        Those constraints one by one, by rows of `X`.
    status_ : str
        How it ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Pairs left out, an end of which is no row of `X`.

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
    """Constrained k-means: neighbourhoods of the constraints start the clusters, and stay in them.

    **Method**

    Centres start at the means of the seeds; in every sweep seeds keep their cluster, the other objects
    take their nearest centre. Seeds are the labels of a given start (unknown ones left out), else
    the neighbourhoods: at most the k largest, one for each cluster.

    **Input and output**

    n × d, dense or sparse, must-links; objects may have weights. One label per object in `0..k`, k centres.

    **Errors**

    `MissingK`, `BadK`, `TooManyClusters`; `BadParam` where a cluster has no seed and that is refused.

    **Cost and randomness**

    That of k-means; random only where a cluster has no seed.

    **References**

    [Basu2002] figure 2; [Basu2004] feeds it neighbourhoods.

    Parameters
    ----------
    n_clusters : an integer >= 1; optional
        Number of clusters; absent: that of the classes in `y`, or else 8.
    distortion : "squared_euclidean", "cosine" or "auto"; default 'auto'
        How far an object is from a centre; "auto": cosine for sparse rows, squared Euclidean
        otherwise.
    empty : "keep", "reseed" or "error"; default 'reseed'
        What happens to a cluster without objects.
    max_iter : an integer in 1..=1000000000; default 100
        Sweeps of one start.
    perturb : "additive" or "multiplicative"; default 'additive'
        How a global mean is perturbed.
    perturb_rho : a number > 0; default 0.7
        By how much a global mean is perturbed (ρ).
    n_init : an integer in 1..=1000000000; optional
        Starts, of which the best result is kept; absent: 1 with seeds, 10 without.
    tol : a number >= 0; default 1e-06
        Smallest change of the objective worth another sweep.
    tolerance_kind : "relative" or "absolute"; default 'relative'
        How the change is compared with the tolerance.
    unseeded : "perturb", "farthest_first" or "error"; default 'perturb'
        Where clusters without a seed start.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used as it is, None draws one.
    n_jobs : int, optional
        Threads; None and -1: one per core. Changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, -1 of noise.
    cluster_centers_ : array of shape (n_clusters, n_features)
        Centres.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of what the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list of (i, j, type, weight)
        Those constraints one by one, by rows of `X`.
    status_ : str
        How it ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Pairs left out, an end of which is no row of `X`.

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
    """Constrained spectral clustering: eigenvectors of the graph that satisfy the constraints enough.

    **Method**

    With L̄ the normalised Laplacian and Q̄ the matrix of constraints (must-links +w, cannot-links −w),
    normalised likewise: minimise vᵀL̄v subject to vᵀQ̄v ≥ β'·vᵀv. The stationary points are the
    generalised eigenvectors L̄v = λ(Q̄ − β'I)v with λ > 0. Two clusters: the sign of the smoothest one;
    more: k-means on the k − 1 smoothest, each scaled by 1 − its cost, without those of one sign, which split
    nothing. Without constraints: k-means on the eigenvectors of the Laplacian.

    **Input and output**

    Dense or sparse rows (a symmetric neighbour graph of locally scaled Gaussian weights is made),
    distances (the same), or affinities (the graph itself); constraints of any weight. One label per
    object in `0..k`; constraints may be broken. The objective is the sum of the costs vᵀL̄v/vᵀv.

    **Errors**

    `MissingK`, `BadK`, `TooManyClusters`; `NumericalFailure` for objects without any neighbour, and
    where no vector satisfies the constraints enough; `BadParam` for `beta` at or above its limit;
    `HardNotSupported` for constraints marked hard.

    **Cost and randomness**

    O(n³) time and O(n²) memory up to `dense_limit` objects. Above, the `CANDIDATES` vectors of largest
    1/λ are iterated (block Davidson, equations in L̄ by conjugate gradients): O(edges + n · candidates)
    per step and O(n · candidates) memory, besides O(m³) time and O(m²) memory for the m objects in constraints. A
    vector that is missed, though smoother than one kept, satisfies the constraints by less than its
    cost times the smallest 1/λ iterated. Random: the starts of k-means and of the iteration.

    **References**

    [WangDavidson2010]; [WangQianDavidson2014]. Differs: the null space of L̄ is eliminated exactly
    instead of by a ridge, and its vectors other than the constant one are candidates; β' above two
    clusters is loose unless asked for as printed.

    Parameters
    ----------
    n_clusters : an integer >= 1; optional
        Number of clusters; absent: that of the classes in `y`, or else 8.
    beta : "auto", "loose", "printed" or a number; default 'auto'
        How much the constraints must be satisfied (β'): a number below the largest eigenvalue of
        Q̄, or a rule.
    dense_limit : an integer in 0..=1000000000; default 1000
        Objects up to which the matrices are decomposed whole.
    distortion : "squared_euclidean", "cosine" or "auto"; default 'auto'
        How far objects are apart, for the neighbour graph; "auto": cosine for sparse rows, squared
        Euclidean otherwise.
    hard_as_soft : a number >= 0; optional
        Weight of constraints marked hard; absent: they are refused.
    knn : an integer in 1..=1000000000; default 10
        Neighbours of an object in the graph; all others where there are fewer.
    n_init : an integer in 1..=1000000000; default 10
        Starts of k-means, of which the best result is kept.
    scale : a number > 0; default 1.0
        Factor in the weight exp(−scale · distance² / r²) of a neighbour, r the distance to the
        last.
    kind : one of "dense", "distances", "affinity"; default 'dense'
        What `X` holds: rows of numbers (dense or sparse), or n × n symmetric distances or
        affinities.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used as it is, None draws one.
    n_jobs : int, optional
        Threads; None and -1: one per core. Changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, -1 of noise.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of what the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list of (i, j, type, weight)
        Those constraints one by one, by rows of `X`.
    status_ : str
        How it ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Pairs left out, an end of which is no row of `X`.

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
    """K-means in which an object joins the nearest centre its constraints allow.

    **Method**

    Each sweep places the must-link components anew, one after the other, in the nearest cluster that
    holds nothing they must be apart from; free objects take their nearest centre. Where a component
    finds every cluster taken, a graph colouring (DSATUR with backtracking, cheap clusters first) places
    all components that cannot-links connect with it. From then on these keep their clusters, and
    those that cannot-links connect within two clusters exchange them (a Kempe chain) while the
    distortion falls. A labelling that comes back ends the run with the best one since.
    A group whose members must all be apart, and of whose objects nothing else is said, is placed whole in
    each sweep: one object a cluster, by the linear assignment of smallest total distance.

    **Input and output**

    n × d, dense or sparse, objects of any weight, constraints (whose weights are not used). One label per
    object in `0..k`, k centres; no must-link or cannot-link is ever broken.

    **Errors**

    `MissingK`, `BadK`, `TooManyClusters`; `InconsistentConstraints` with the chain of must-links;
    `InfeasibleConstraints` when k clusters provably cannot hold the cannot-links, with objects that
    show it; `UndecidedConstraints` when the search ends at `node_limit`. With `search = "greedy"`
    also `InfeasibleConstraints` when every attempt ended with a component that found all clusters taken.

    **Cost and randomness**

    O(sweeps · (n·k·d + components · k + cannot-linked components + g²·k for a group of g)), and where components are
    exchanged their pairs of clusters; the search has `node_limit` nodes for each part that cannot-links
    connect. Random: first centres and order.

    **References**

    [Wagstaff2001] Table 1. Differs: a search where the published method gives up, so that constraints
    that can be met are met; attempts, of which the best counts. `search = "greedy"` and `restarts = 1`
    is the published method.

    Parameters
    ----------
    n_clusters : an integer >= 1; optional
        Number of clusters; absent: that of the classes in `y`, or else 8.
    distortion : "squared_euclidean", "cosine" or "auto"; default 'auto'
        How far an object is from a centre; "auto": cosine for sparse rows, squared Euclidean
        otherwise.
    empty : "keep", "reseed" or "error"; default 'reseed'
        What happens to a cluster without objects; `reseed` moves whole components.
    init : "neighbourhood", "kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb" or "given"; default 'kmeans_plus_plus'
        How the first centres are chosen; `neighbourhood`: at the means of the must-link components
        with cannot-links (seeded COP-KMeans).
    max_iter : an integer in 1..=1000000000; default 100
        Sweeps of one attempt.
    node_limit : an integer in 1..=4503599627370496; default 1000000
        Nodes of the complete search after which it is undecided whether k clusters can hold the
        cannot-links.
    order : "random", "index" or "degree_desc"; default 'random'
        In which order.
    n_init : an integer in 1..=1000000000; default 10
        Attempts, of which the best result is kept.
    search : "complete" or "greedy"; default 'complete'
        What happens when a component finds every cluster taken; `greedy`: the attempt fails.
    tol : a number >= 0; default 1e-06
        Smallest change of the objective worth another sweep.
    tolerance_kind : "relative" or "absolute"; default 'relative'
        How the change is compared with the tolerance.
    unit : "object" or "component"; default 'object'
        What is placed at once: `object` as published, `component` otherwise.
    when_more_neighbourhoods : "weighted_farthest_first" or "largest"; default 'weighted_farthest_first'
        Which of those when there are more than k.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used as it is, None draws one.
    n_jobs : int, optional
        Threads; None and -1: one per core. Changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, -1 of noise.
    cluster_centers_ : array of shape (n_clusters, n_features)
        Centres.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of what the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list of (i, j, type, weight)
        Those constraints one by one, by rows of `X`.
    status_ : str
        How it ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Pairs left out, an end of which is no row of `X`.

    References: Wagstaff2001.
    """

    _tag = "cop_kmeans"

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        distortion: Literal["squared_euclidean", "cosine", "auto"] = 'auto',
        empty: Literal["keep", "reseed", "error"] = 'reseed',
        init: Literal["neighbourhood", "kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb", "given"] = 'kmeans_plus_plus',
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
    """Correlation clustering: as few broken constraints as possible, by weight, however many clusters that takes.

    **Method**

    Must-links are edges of weight w, cannot-links of weight −w; wanted is the partition with the largest sum of
    edges inside clusters, which breaks constraints of the least weight. No optimum joins objects that no chain
    of must-links joins, so each such part is done by itself: up to `exact_size` objects by a table of all
    subsets, which is exact; larger ones from the whole part, and from pivots (a random object takes its free
    must-linked neighbours) `restarts` times, by moves of single objects while one helps. Constraints that do
    not contradict each other are all met.

    **Input and output**

    Constraints with weights, as of a crowd or a matcher of records; the objects are not looked at. One label
    per object; an object in no must-link is a cluster of its own. k is not needed and not read.

    **Errors**

    `HardNotSupported` for constraints marked hard.

    **Cost and randomness**

    O(3^s) for a part of s ≤ `exact_size` objects, else O(restarts · sweeps · constraints); random in the pivots
    of large parts.

    **References**

    [Bansal2004]; pivots: [Ailon2008] §3.

    Parameters
    ----------
    exact_size : an integer in 1..=16; default 12
        Objects of a part up to which it is solved exactly.
    n_init : an integer in 1..=1000000000; default 10
        Orders of pivots tried for a larger part.
    kind : one of "dense", "distances", "affinity"; default 'dense'
        What `X` holds: rows of numbers (dense or sparse), or n × n symmetric distances or
        affinities.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used as it is, None draws one.
    n_jobs : int, optional
        Threads; None and -1: one per core. Changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, -1 of noise.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of what the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list of (i, j, type, weight)
        Those constraints one by one, by rows of `X`.
    status_ : str
        How it ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Pairs left out, an end of which is no row of `X`.

    References: Bansal2004, Ailon2008.
    """

    _tag = "correlation_clustering"

    def __init__(
        self,
        *,
        exact_size: int = 12,
        n_init: int = 10,
        kind: Literal["dense", "distances", "affinity"] = 'dense',
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.exact_size = exact_size
        self.n_init = n_init
        self.kind = kind
        self.random_state = random_state
        self.n_jobs = n_jobs


class COSC(Clusterer):
    """Constrained 1-spectral clustering: the balanced cut of a neighbour graph under constraints.

    **Method**

    Must-linked objects become one vertex. Two clusters: cannot-linked components are coloured, and
    F(S) = NCut(S) + γ·(broken cannot-links)·(1/vol S + 1/vol S̄) is minimised through its tight
    continuous form by RatioDCA from several starts, for the smallest γ that breaks nothing. More
    clusters: parts are split in two again and again, each time the split that adds least to the
    multi-cut among those that satisfy enough cannot-links.

    **Input and output**

    Dense or sparse rows (a symmetric neighbour graph of locally scaled Gaussian weights is made),
    distances (the same), or affinities (the graph itself). One label per object, k clusters, none
    empty unless must-links leave fewer than k groups. The objective is the multi-cut Σ cut(S, S̄)/vol(S). Must-links
    hold, but for those that `on_conflict = "drop_weakest"` drops; cannot-links hold for two clusters unless γ is fixed,
    and as far as the splits found satisfy them for more.

    **Errors**

    `MissingK`, `BadK`, `TooManyClusters`;
    `InconsistentConstraints`; `InfeasibleConstraints` with an odd cycle for k = 2, a clique for more;
    `NumericalFailure` for objects without any neighbour in the graph; `BadParam` for negative
    affinities, and for weights of cannot-links too far apart where γ is sought for two clusters.

    **Cost and randomness**

    O(n²·d) for the graph; then O(inner iterations · (edges + n)) per start and step. Random: starts
    and perturbations.

    **References**

    [RangapuramHein2012], [ODonoghueCandes2015]. Differs: a step that can gain less than 1e-3 of the cut
    ends a descent, weights are divided by the largest, so that γ has a scale, the momentum of the inner
    iterations is forgotten where it leads uphill, and a start keeps its dual point from one γ to the next.

    Parameters
    ----------
    n_clusters : an integer >= 1; optional
        Number of clusters; absent: that of the classes in `y`, or else 8.
    balance : "normalized" or "ratio"; default 'normalized'
        What clusters are balanced by.
    distortion : "squared_euclidean", "cosine" or "auto"; default 'auto'
        How far objects are apart, for the neighbour graph; "auto": cosine for sparse rows, squared
        Euclidean otherwise.
    gamma : "schedule" or a number >= 0; default 'schedule'
        Cost of a broken cannot-link (γ), in units of the largest weight of the graph, or
        "schedule": raised until enough of them hold.
    inner_max : an integer in 10..=1000000000; optional
        Largest number of inner iterations of a step; absent: 10 000 for two clusters, 1000 for
        more.
    knn : an integer in 1..=1000000000; default 10
        Neighbours of an object in the graph; all others where there are fewer.
    on_conflict : "error", "keep", "drop_cl" or "drop_weakest"; default 'error'
        What to do with cannot-links inside must-link components.
    outer_runs : an integer in 1..=1000000000; default 5
        Repetitions of the recursive splitting, for more than two clusters.
    perturb : true or false; default True
        Start again from perturbed solutions, for two clusters.
    prefer : "violations_then_cut" or "cut"; default 'violations_then_cut'
        Which of the repetitions is kept.
    scale : a number > 0; default 4.0
        Factor in the weight exp(−scale · distance² / r²) of a neighbour, r the distance to the
        last.
    starts : an integer in 1..=1000000000; optional
        Starts of each split; absent: 10 for two clusters, 2 for more. The first is an eigenvector,
        for two clusters the second obeys the cannot-links, the others are random.
    kind : one of "dense", "distances", "affinity"; default 'dense'
        What `X` holds: rows of numbers (dense or sparse), or n × n symmetric distances or
        affinities.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used as it is, None draws one.
    n_jobs : int, optional
        Threads; None and -1: one per core. Changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, -1 of noise.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of what the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list of (i, j, type, weight)
        Those constraints one by one, by rows of `X`.
    status_ : str
        How it ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Pairs left out, an end of which is no row of `X`.

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

    An object with `min_points` neighbours (itself among them) is a core; cores within the radius of
    each other share a cluster, other objects join the first cluster that reaches them, and what
    nothing reaches is noise.

    **Input and output**

    n × d, dense, Euclidean distances. As many clusters as there are; k is not used. Every object
    has a label, see `noise`; diagnostics: `radius`, `noise_objects`.

    **Errors**

    `BadParam`.

    **Cost and randomness**

    In up to 16 features searches in a k-d tree, about n·log n for any radius; in more at worst O(n²·d) time. O(n)
    memory; without a radius in more than 16 features O(n · `min_points`). Nothing is random.

    **References**

    [Ester1996]. Differs: absent, the radius is chosen from the data.

    Parameters
    ----------
    min_samples : an integer in 2..=1000000000; default 5
        Neighbours within the radius that make an object a core, itself among them (MinPts).
    noise : "singletons" or "one_cluster"; default 'singletons'
        How objects in no dense region count in an ensemble and in a study; in files and in Python
        they are noise, -1.
    radius : a number > 0; optional
        The radius of a neighbourhood (Eps, in feature units); absent: the smallest that makes nine
        in ten objects a core.
    eps : a number > 0; optional
        The name that scikit-learn has for `radius`.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used as it is, None draws one.
    n_jobs : int, optional
        Threads; None and -1: one per core. Changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, -1 of noise.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of what the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list of (i, j, type, weight)
        Those constraints one by one, by rows of `X`.
    status_ : str
        How it ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Pairs left out, an end of which is no row of `X`.

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
    """An ensemble as one clusterer: a generator makes many partitions, a consensus function one.

    **Method**

    The ensemble is shared with every other plugin of the run that asks for the same one.

    **Input and output**

    What the generator takes. One label per object.

    **Errors**

    Those of generator and consensus; `BadParam` naming the members that lack what the consensus needs.

    **Cost and randomness**

    The sum of both; the ensemble is seeded from the run, not from this place.

    **References**

    [StrehlGhosh2002].

    Parameters
    ----------
    n_clusters : an integer >= 1; optional
        Number of clusters; absent: that of the classes in `y`, or else 8.
    consensus : a consensus function; default 'voting'
        What combines them.
    generator : an ensemble generator; default 'random_init'
        What makes the members.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used as it is, None draws one.
    n_jobs : int, optional
        Threads; None and -1: one per core. Changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, -1 of noise.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of what the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list of (i, j, type, weight)
        Those constraints one by one, by rows of `X`.
    status_ : str
        How it ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Pairs left out, an end of which is no row of `X`.

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

    Objects that must-links join are one, with their mean and number. They are put in an order in which every
    end of it is spread over the data; for one more of them at a time, from the last on, the best clusters are
    found by depth-first search that places the others in order. A branch ends where what it has cost and
    what those not yet placed cost at least, by themselves, is no less than the best known; this begins with
    `cop_kmeans`. Where `node_limit` ends the search, the best clusters known are returned, with a warning and
    how far they can be from the optimum (`gap`, `lower_bound` and `nodes` among the diagnostics; 0 where the
    optimum is proved). The yardstick for what other methods find: a hundred
    or two objects of few features in clusters that are apart (iris takes a second), fewer where they are not.

    **Input and output**

    n × d, dense, squared Euclidean; constraints, all as hard ones. One label per object in `0..k`, k centres.

    **Errors**

    `MissingK`, `BadK`, `TooManyClusters`; `InconsistentConstraints`, `InfeasibleConstraints`.

    **Cost and randomness**

    Exponential in n in the worst case, O(k·d) for each node; random only in the clusters it starts from.

    **References**

    [Brusco2006]; must-links are collapsed and cannot-links forbid branches.

    Parameters
    ----------
    n_clusters : an integer >= 1; optional
        Number of clusters; absent: that of the classes in `y`, or else 8.
    node_limit : an integer in 1..=4503599627370496; default 50000000
        Branches looked at before the search ends without a proof.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used as it is, None draws one.
    n_jobs : int, optional
        Threads; None and -1: one per core. Changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, -1 of noise.
    cluster_centers_ : array of shape (n_clusters, n_features)
        Centres.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of what the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list of (i, j, type, weight)
        Those constraints one by one, by rows of `X`.
    status_ : str
        How it ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Pairs left out, an end of which is no row of `X`.

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
    """A clusterer in any language: a command that is given files and replies with labels.

    **Method**

    The command is started once per clustering and speaks JSON lines on its standard input and
    output. Greetings first: `{"v":1,"type":"hello","protocol":"clusterer"}`, answered by
    `{"v":1,"type":"hello","name":"…"}`, with `"again":true` if it takes one request after another
    and need not be started for each. Then one request:
    `{"type":"cluster","n":…,"d":…,"k":…,"seed":…,"data":{"kind":"dense","values":PATH},
    "constraints":PATH,"neighbourhoods":[…],"eligible":PATH,"directory":PATH,"options":{…}}`. Arrays are NumPy files, sparse data three
    of them (`indptr`, `indices`, `values`), constraints a CSV `i,j,type,weight`. The reply is
    `{"type":"clustering","labels":[…]}`, where labels may be the path of a NumPy vector, with `k`
    and `objective` if it likes. Before it may come `{"type":"progress","done":3,"total":10}` and
    `{"type":"warning","message":"…"}`; instead of it `{"type":"error","message":"…"}`, or
    `{"type":"infeasible","objects":[…]}` when constraints cannot be satisfied.

    **Input and output**

    The kinds of data in `accepts`. One label per object.

    **Errors**

    `BadParam` without a command that starts; `TimedOut` at `timeout_seconds`; `Plugin` for a reply that
    is none (with its line), an early end (with the last words on standard error) and reported errors.
    With hard promises, `InconsistentConstraints` before the command starts.

    **Cost and randomness**

    One process, unless it takes several requests, and a copy of the data on disk per clustering. The seed, below
    2³², is handed over.

    Parameters
    ----------
    n_clusters : an integer >= 1; optional
        Number of clusters; absent: that of the classes in `y`, or else 8.
    accepts : a list; default ('dense',)
        Kinds of data it takes.
    command : a list; default ()
        The program and its arguments: `["python3", "my_method.py"]`. Relative paths start at the
        file that names them.
    hard_cannot : true or false; default False
        Whether every cannot-link holds in what it returns.
    hard_must : true or false; default False
        Whether every must-link holds in what it returns.
    name : a string; optional
        Its name in messages; absent: `external_clusterer`.
    needs_k : true or false; default True
        Whether it cannot run without k.
    options : a table; optional
        Options of the program's own, handed over with the request: `{ step = 0.5 }`.
    reads_constraints : true or false; default False
        Whether it looks at constraints at all.
    soft_weights : true or false; default False
        Whether it uses the weights of constraints.
    timeout_seconds : a number >= 0; default 0.0
        Seconds for each reply; 0: as long as it takes.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used as it is, None draws one.
    n_jobs : int, optional
        Threads; None and -1: one per core. Changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, -1 of noise.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of what the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list of (i, j, type, weight)
        Those constraints one by one, by rows of `X`.
    status_ : str
        How it ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Pairs left out, an end of which is no row of `X`.
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
    """FOSC: of a hierarchy the flat clustering that keeps most constraints, or whose clusters are most stable.

    **Method**

    A cluster of the hierarchy lives until it falls into parts of `min_cluster_size` objects or more, which
    are clusters of their own; objects in smaller parts fall out. Of nested clusters one is taken on each
    path, so that what they are worth together is greatest: the weight of the constraints they keep (ties:
    their stability), their stability (over the objects of a cluster, 1 / height from where it begins to
    where the object falls out), or shares of both. Objects in no cluster are noise; such an object keeps its
    cannot-links and breaks its must-links.

    **Input and output**

    n × d, dense or sparse, Euclidean distances, or a matrix of distances. As many clusters as there are; k is
    not used. Every object has a label, see `noise`; diagnostics: `noise_objects`, `stability`, and with
    constraints `satisfaction`, the share of their weight that is kept. Groups are counted by their members.

    **Errors**

    `BadParam`; `HardNotSupported` for constraints marked hard.

    **Cost and randomness**

    The hierarchy: `single` and `density` as `hdbscan`, `optics` O(n²·d) time and O(n) memory, the others O(n²·d)
    time and 8·n² bytes. Constraints: O(depth of the hierarchy) each. Nothing is random.

    **References**

    [CampelloFosc2013] §2–3, Eqs. 1 and 3; linkages: [LanceWilliams1967], [Mullner2011]; `density`:
    [Campello2013]; `optics`: [Ankerst1999]. Differs: `optics` starts at the first object and knows no largest radius.

    Parameters
    ----------
    allow_single_cluster : true or false; default False
        All objects may be one cluster.
    epsilon : a number >= 0; default 0.0
        Clusters that part from each other below this distance are one (ε̂, in feature units).
    hierarchy : "single", "complete", "average", "weighted", "ward", "density" or "optics"; default 'average'
        Where the hierarchy comes from.
    min_cluster_size : an integer in 2..=1000000000; default 5
        Fewest objects of a cluster; what is smaller falls out of the one around it.
    min_samples : an integer in 1..=1000000000; optional
        Neighbours, itself among them, that make an object a core (m_pts), for `density` and
        `optics` alone; absent: `min_cluster_size`.
    noise : "singletons" or "one_cluster"; default 'singletons'
        How objects in no cluster count in an ensemble and in a study; in files and in Python they
        are noise, -1.
    selection : "excess_of_mass" or "leaf"; default 'excess_of_mass'
        Which clusters are taken.
    stability_weight : a number in 0..=1; default 0.0
        How much stability counts beside constraints: at 0 the constraints decide and stability
        breaks ties, at 1 they are not looked at; in between, shares of the greatest stability and
        of the weight of all constraints are added.
    kind : one of "dense", "distances"; default 'dense'
        What `X` holds: rows of numbers (dense or sparse), or n × n symmetric distances or
        affinities.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used as it is, None draws one.
    n_jobs : int, optional
        Threads; None and -1: one per core. Changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, -1 of noise.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of what the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list of (i, j, type, weight)
        Those constraints one by one, by rows of `X`.
    status_ : str
        How it ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Pairs left out, an end of which is no row of `X`.

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
        selection: Literal["excess_of_mass", "leaf"] = 'excess_of_mass',
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

    Each start takes the clusters of one run of k-means, `kmeans_plus_plus` first. The M step gives every component
    the mean and the covariance of its objects, each weighted by its membership; the E step gives the
    memberships. Of several starts the likeliest result is kept.

    **Input and output**

    n × d, dense. One label per object, the likeliest component; memberships, means, shares of the components, and
    inverse covariances. The objective is the mean negative log-likelihood of an object, and never rises. A component
    that loses its objects stays empty.

    **Errors**

    `MissingK`, `BadK`, `TooManyClusters`; `NumericalFailure` if every start ends in a singular covariance, which
    only `reg_covar = 0` allows, or if features are too large to square.

    **Cost and randomness**

    O(iterations · k · (n·d² + d³)) for `full`, O(iterations · k · n·d) for `diag` and `spherical`; O(n·k + k·d²)
    memory; random only in the first centres.

    **References**

    [Dempster1977]. Differs: variances have a floor, so that the likelihood has a maximum and cannot fall.

    Parameters
    ----------
    n_clusters : an integer >= 1; optional
        Number of clusters; absent: that of the classes in `y`, or else 8.
    covariance : "full", "diag", "spherical" or "tied"; default 'full'
        Which covariances components may have.
    max_iter : an integer in 1..=1000000000; default 100
        Iterations of one start.
    reg_covar : a number >= 0; default 1e-06
        Smallest variance of a component in any direction, relative to the mean variance of the
        features.
    n_init : an integer in 1..=1000000000; default 5
        Starts, of which the likeliest result is kept.
    tol : a number >= 0; default 0.001
        Smallest change of the mean log-likelihood worth another iteration.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used as it is, None draws one.
    n_jobs : int, optional
        Threads; None and -1: one per core. Changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, -1 of noise.
    cluster_centers_ : array of shape (n_clusters, n_features)
        Centres.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of what the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list of (i, j, type, weight)
        Those constraints one by one, by rows of `X`.
    status_ : str
        How it ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Pairs left out, an end of which is no row of `X`.

    References: Dempster1977.
    """

    _tag = "gaussian_mixture"

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        covariance: Literal["full", "diag", "spherical", "tied"] = 'full',
        max_iter: int = 100,
        reg_covar: float = 1e-06,
        n_init: int = 5,
        tol: float = 0.001,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.covariance = covariance
        self.max_iter = max_iter
        self.reg_covar = reg_covar
        self.n_init = n_init
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs


class GPKMeans(Clusterer):
    """Alternates clustering and constraint propagation: clusters say how far constraints reach.

    **Method**

    The clusterer runs as configured; then, round by round, the given constraints are propagated with
    the clusters just found and the clusterer runs again on the result, from the centres just
    found; the given constraints are extended in it as `rerun_entail` says, the propagated ones never. It
    ends when a clustering comes back or the
    objective stands still. A propagator that needs no clustering propagates once before one run;
    what it gives instead of constraints (distances, affinities) takes the place of the data.

    **Input and output**

    What clusterer and propagator take, each object once. The last clustering; on a cycle or after `max_rounds` the one
    of smallest distortion plus broken given constraints, each at the weight of the clusterer or, where that is
    "auto", at the mean distortion of an object. Diagnostics: `rounds`; `propagated`, the
    pairs beyond the given ones in the round returned; `propagated_1` and so on for every round.

    **Errors**

    Those of clusterer and propagator, with their slot. `BadParam` when the clusterer cannot take the
    data that the propagator gives, or holds constraints that contradict each other once they are propagated;
    `Memory` where the pairs that the given constraints entail do not fit.

    **Cost and randomness**

    Rounds times clusterer and propagator; random only in them.

    **References**

    [Eaton2005] fig. 3.1. Differs: comparing objectives of rounds with different constraints, as
    printed, is kept, and a clustering that comes back ends the loop too.

    Parameters
    ----------
    n_clusters : an integer >= 1; optional
        Number of clusters; absent: that of the classes in `y`, or else 8.
    carry_labels : true or false; default False
        Let the runs after the first start from the labels just found, too, and not only from the
        centres; the authors' program appears to.
    clusterer : a base clusterer; default 'mpck_means'
        What clusters. One that uses no weights gets every propagated pair with weight 1. Propagated
        constraints contradict each other where they meet: one that holds all of them is refused
        then.
    max_rounds : an integer in 1..=1000000000; default 20
        Rounds of propagation after the first clustering.
    propagator : a constraint propagator; default 'gaussian'
        What spreads the constraints.
    rerun_entail : "sources" or "off"; default 'sources'
        Whether what the given constraints entail costs something in the runs after the first too.
    tol : a number >= 0; default 1e-06
        Smallest relative change of the clusterer's objective worth another round.
    warm_metric : true or false; default False
        Let them start from the metrics just found; if not, from the identity, as the authors'
        program does.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used as it is, None draws one.
    n_jobs : int, optional
        Threads; None and -1: one per core. Changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, -1 of noise.
    cluster_centers_ : array of shape (n_clusters, n_features)
        Centres.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of what the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list of (i, j, type, weight)
        Those constraints one by one, by rows of `X`.
    status_ : str
        How it ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Pairs left out, an end of which is no row of `X`.

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
    """HDBSCAN*: the most stable clusters of a hierarchy of densities, or those that keep most constraints.

    **Method**

    Objects reach each other at the largest of their distance and the distances to their `min_samples`-th
    nearest objects; what is joined up to a distance is dense there. Going down in distance, a cluster lives
    until it falls into parts of `min_cluster_size` objects or more, which are clusters of their own; objects
    in smaller parts fall out. Of nested clusters those are taken whose stabilities have the largest sum:
    over the objects of a cluster, 1 / distance from where it begins to where the object falls out. Where
    constraints are given, the clusters are taken that keep most of their weight, ties by stability.
    Objects in no cluster are noise; such an object keeps its cannot-links and breaks its must-links.

    **Input and output**

    n × d, dense or sparse, Euclidean distances, or a matrix of distances. As many clusters as there are; k is
    not used. Every object has a label, see `noise`; diagnostics: `noise_objects`, `stability`, and with
    constraints `satisfaction`, the share of their weight that is kept. Groups are counted by their members.

    **Errors**

    `BadParam`; `HardNotSupported` for constraints marked hard.

    **Cost and randomness**

    In up to 16 features a k-d tree and Borůvka's method, about n·log²n; else O(n²·d) time. O(n) memory, in more
    features O(n · (`min_samples` + d)). Constraints: O(depth of the hierarchy) each. Nothing is random.

    **References**

    [Campello2013], [Campello2015]; constraints: [CampelloFosc2013] §3; `epsilon`: [MalzerBaum2020]; tree:
    [March2010]. What parts at one distance parts at once, as in the paper; packages that cut such edges one
    after the other give an object between two clusters to either of them, and let a cluster end where one splits
    off that lives no time, which makes more and smaller ones where `min_cluster_size` is not above `min_samples`.
    Differs: equal objects are not infinitely near, and objects that are all equal are one cluster.

    Parameters
    ----------
    allow_single_cluster : true or false; default False
        All objects may be one cluster.
    epsilon : a number >= 0; default 0.0
        Clusters that part from each other below this distance are one (ε̂, in feature units).
    min_cluster_size : an integer in 2..=1000000000; default 5
        Fewest objects of a cluster; what is smaller falls out of the one around it.
    min_samples : an integer in 1..=1000000000; optional
        Neighbours, itself among them, that make an object a core (m_pts); absent:
        `min_cluster_size`.
    noise : "singletons" or "one_cluster"; default 'singletons'
        How objects in no cluster count in an ensemble and in a study; in files and in Python they
        are noise, -1.
    selection : "excess_of_mass" or "leaf"; default 'excess_of_mass'
        Which clusters are taken.
    stability_weight : a number in 0..=1; default 0.0
        How much stability counts beside constraints: at 0 the constraints decide and stability
        breaks ties, at 1 they are not looked at; in between, shares of the greatest stability and
        of the weight of all constraints are added.
    kind : one of "dense", "distances"; default 'dense'
        What `X` holds: rows of numbers (dense or sparse), or n × n symmetric distances or
        affinities.
    cluster_selection_epsilon : a number >= 0; optional
        The name that scikit-learn has for `epsilon`.
    cluster_selection_method : "eom" or "leaf"; optional
        The name that scikit-learn has for `selection`.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used as it is, None draws one.
    n_jobs : int, optional
        Threads; None and -1: one per core. Changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, -1 of noise.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of what the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list of (i, j, type, weight)
        Those constraints one by one, by rows of `X`.
    status_ : str
        How it ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Pairs left out, an end of which is no row of `X`.

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
        selection: Literal["excess_of_mass", "leaf"] = 'excess_of_mass',
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
    """Agglomerative clustering, from kodama: the two nearest clusters are merged until k are left.

    **Method**

    Lance and Williams's scheme with one of seven linkages, on Euclidean distances as they are.

    **Input and output**

    n × d, dense, Euclidean distances, or a matrix of distances. k clusters, or those that remain
    when none is nearer than `max_distance`.

    **Errors**

    `MissingK`, `BadParam`.

    **Cost and randomness**

    O(n²) time and memory, `centroid` and `median` O(n² log n) time; nothing is random.

    **References**

    [LanceWilliams1967]; [Mullner2011].

    Parameters
    ----------
    n_clusters : an integer >= 1; optional
        Number of clusters; absent: that of the classes in `y`, or else 8.
    linkage : "single", "complete", "average", "weighted", "ward", "centroid" or "median"; default 'ward'
        How far apart two clusters are.
    max_distance : a number > 0; optional
        Merge only clusters that are nearer than this (in the units of the distances), whatever k
        is; absent: until k are left.
    kind : one of "dense", "distances"; default 'dense'
        What `X` holds: rows of numbers (dense or sparse), or n × n symmetric distances or
        affinities.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used as it is, None draws one.
    n_jobs : int, optional
        Threads; None and -1: one per core. Changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, -1 of noise.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of what the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list of (i, j, type, weight)
        Those constraints one by one, by rows of `X`.
    status_ : str
        How it ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Pairs left out, an end of which is no row of `X`.

    References: LanceWilliams1967, Mullner2011.
    """

    _tag = "hierarchical"

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        linkage: Literal["single", "complete", "average", "weighted", "ward", "centroid", "median"] = 'ward',
        max_distance: float | None = None,
        kind: Literal["dense", "distances"] = 'dense',
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.linkage = linkage
        self.max_distance = max_distance
        self.kind = kind
        self.random_state = random_state
        self.n_jobs = n_jobs


class HMRFKMeans(Clusterer):
    """K-means on a hidden Markov random field: constraints and a learned distance in one objective.

    **Method**

    Minimises Σ D_A(x, µ) + Σ w φ_A [must-link broken] + Σ w̄ (φ_max − φ_A) [cannot-link broken], with
    φ_A the distance of the pair and φ_max the largest among cannot-linked ones. Constrained objects
    choose one by one; then come centres; then one gradient step of the weights A, halved until the
    objective falls. It never rises after the first round. A Mahalanobis distance counts its log-determinant:
    of all scales of A that of determinant 1 is compared, so weights cannot gather where objects hardly differ.

    **Input and output**

    n × d dense, constraints of any weight. One label per object in `0..k`, k centres, feature weights
    that sum to d.

    **Errors**

    `MissingK`, `BadK`, `TooManyClusters`; `BadParam`, also for negative values under `i_divergence`;
    `HardNotSupported` for constraints marked hard; `ClosureTooLarge` and `Memory`: the closure is listed.

    **Cost and randomness**

    O(rounds · (n·k·d + pairs of the closure · d)) time, 190 bytes for each of these pairs; random as in
    pairwise-constrained k-means.

    **References**

    [BasuBilenkoMooney2004]. Differs: the log-partition term of `mahalanobis` alone, which is the
    log-determinant, the others being intractable, as they recommend; the rate is relative to the objective, so that
    it does not depend on the units of the data; cosine centres are sums of rows of length 1, which minimise the
    objective.

    Parameters
    ----------
    n_clusters : an integer >= 1; optional
        Number of clusters; absent: that of the classes in `y`, or else 8.
    hard_as_soft : a number >= 0; optional
        Weight of constraints marked hard; absent: they are refused.
    init : "neighbourhood", "representatives", "constrained_objects", "kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb" or "given"; default 'neighbourhood'
        How the first centres are chosen.
    init_without_constraints : "kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb" or "given"; default 'kmeans_plus_plus'
        How the first centres are chosen when no neighbourhood is known.
    log_determinant : true or false; default True
        Whether `mahalanobis` counts its log-determinant; without it weights only have to sum to d.
    max_iter : an integer in 1..=1000000000; default 100
        Sweeps of one start.
    measure : "mahalanobis", "cosine" or "i_divergence"; default 'mahalanobis'
        The distance whose feature weights are learned.
    on_conflict : "error", "keep", "drop_cl" or "drop_weakest"; default 'keep'
        What to do with cannot-links inside must-link components.
    order : "random", "random_fixed", "index" or "sorted"; default 'random'
        In which order objects are visited.
    rate : a number > 0; default 0.01
        First rate of a gradient step (η): share by which a feature of average cost changes.
    n_init : an integer in 1..=1000000000; optional
        Starts, of which the best result is kept; absent: 10 for random starts, 1 from
        neighbourhoods.
    tol : a number >= 0; default 1e-06
        Smallest change of the objective worth another sweep.
    tolerance_kind : "relative" or "absolute"; default 'relative'
        How the change is compared with the tolerance.
    weight : a number >= 0; default 1.0
        Cost of a broken must-link of weight 1 (w), times the distance of its pair.
    weight_cannot : a number >= 0; optional
        Cost of a broken cannot-link of weight 1 (w̄); absent: as `weight`.
    when_fewer_neighbourhoods : "cl_point_then_perturb", "perturb", "farthest_first" or "random"; default 'cl_point_then_perturb'
        Where the other clusters start when there are fewer than k (λ < k).
    when_more_neighbourhoods : "weighted_farthest_first" or "largest"; default 'weighted_farthest_first'
        Which neighbourhoods start clusters when there are more than k (λ > k).
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used as it is, None draws one.
    n_jobs : int, optional
        Threads; None and -1: one per core. Changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, -1 of noise.
    cluster_centers_ : array of shape (n_clusters, n_features)
        Centres.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of what the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list of (i, j, type, weight)
        Those constraints one by one, by rows of `X`.
    status_ : str
        How it ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Pairs left out, an end of which is no row of `X`.

    References: BasuBilenkoMooney2004.
    """

    _tag = "hmrf_kmeans"

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        hard_as_soft: float | None = None,
        init: Literal["neighbourhood", "representatives", "constrained_objects", "kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb", "given"] = 'neighbourhood',
        init_without_constraints: Literal["kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb", "given"] = 'kmeans_plus_plus',
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


class KMeans(Centres, WeightedClusterer):
    """K-means: each object joins its nearest centre, each centre is the mean of its objects.

    **Method**

    Lloyd's two steps until nothing moves; then, if asked, moves of single objects. Cosine: spherical
    k-means on rows of unit length. Neither `algorithm` nor `precision` changes a label: fast forms
    pre-select, exact distances decide.

    **Input and output**

    n × d, dense or sparse; objects may have weights, unless single ones are moved. One label per object in
    `0..k`, k centres. The objective is the total distortion, and never rises.

    **Errors**

    `MissingK`, `BadK`, `TooManyClusters`; `NumericalFailure` for an empty cluster where asked for.

    **Cost and randomness**

    O(sweeps · n·k·d), less with bounds, sparse O(sweeps · non-zeros · k); memory O(n + k·d), with
    group bounds O(n·k/16); random only in the first centres.

    **References**

    [Lloyd1982]; starts: [ArthurVassilvitskii2007] (greedy variant), [Bahmani2012]; cosine:
    [DhillonModha2001]; bounds: [Hamerly2010], [Ding2015].

    Parameters
    ----------
    n_clusters : an integer >= 1; optional
        Number of clusters; absent: that of the classes in `y`, or else 8.
    algorithm : "auto", "lloyd", "hamerly" or "yinyang"; default 'auto'
        How nearest centres are found; the labels are the same.
    distortion : "squared_euclidean", "cosine" or "auto"; default 'auto'
        How far an object is from a centre; "auto": cosine for sparse rows, squared Euclidean
        otherwise.
    empty : "keep", "reseed" or "error"; default 'reseed'
        What happens to a cluster without objects.
    init : "kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb" or "given"; default 'kmeans_plus_plus'
        How the first centres are chosen.
    max_iter : an integer in 1..=1000000000; default 300
        Sweeps of one start.
    precision : "f64" or "f32"; default 'f64'
        What nearest centres are pre-selected in (dense data); the labels are the same.
    refine : "none" or "incremental"; default 'none'
        What happens once no object is nearer to another centre.
    refine_iterations : an integer in 1..=1000000000; optional
        Sweeps of the refinement; absent: as many as of a start.
    n_init : an integer in 1..=1000000000; default 10
        Starts, of which the best result is kept; a given start is run once.
    tol : a number >= 0; default 1e-06
        Smallest change of the objective worth another sweep.
    tolerance_kind : "relative" or "absolute"; default 'relative'
        How the change is compared with the tolerance.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used as it is, None draws one.
    n_jobs : int, optional
        Threads; None and -1: one per core. Changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, -1 of noise.
    cluster_centers_ : array of shape (n_clusters, n_features)
        Centres.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of what the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list of (i, j, type, weight)
        Those constraints one by one, by rows of `X`.
    status_ : str
        How it ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Pairs left out, an end of which is no row of `X`.
    inertia_ : float
        The objective: the sum of the squared distances to the nearest centres.

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
        init: Literal["kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb", "given"] = 'kmeans_plus_plus',
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

    Each round: objects join the nearest centre under its weights; weights become exp(−V / h) over
    their sum, V the mean squared differences of a feature to the centre; objects choose again;
    centres become means. It ends when a round changes no cluster; a partition that comes back later
    ends it with the one since then of smallest objective (status `cycle`).

    **Input and output**

    n × d, dense or sparse. A constant feature takes the largest weight of all: drop it first. `h` has
    the unit of a squared distance: a number suits the data it was chosen for, "auto" any unit. One label per object
    in `0..k`, centres and weights (k × d, each row sums to 1). The objective is Σ w (x − µ)² + h Σ w ln w, summed
    over the objects; it may rise under the `printed` rule.

    **Errors**

    `MissingK`, `BadK`, `TooManyClusters`; `NumericalFailure` for an
    empty cluster where asked for.

    **Cost and randomness**

    O(rounds · n·k·d), two passes over the data a round; memory O(n + k·d). Random only in the first
    centres.

    **References**

    [Domeniconi2007]; [DomeniconiAlRazgan2008] §3. Differs: `entropy` also prices weights when objects
    choose, so that the objective falls.

    Parameters
    ----------
    n_clusters : an integer >= 1; optional
        Number of clusters; absent: that of the classes in `y`, or else 8.
    assign_rule : "printed" or "entropy"; default 'printed'
        What makes a cluster cheap for an object.
    empty : "keep", "reseed" or "error"; default 'keep'
        What happens to a cluster without objects; kept, it also keeps its weights.
    h : "auto" or a number > 0; default 'auto'
        Incentive to use more features, in units of squared distance: large gives k-means, small one
        feature per cluster. "auto": the mean squared distance of an object to the nearest first
        centre, by the number of features.
    init : "kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb" or "given"; default 'farthest_first'
        How the first centres are chosen; `farthest_first` is the published well scattered start.
    max_iter : an integer in 1..=1000000000; default 100
        Rounds.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used as it is, None draws one.
    n_jobs : int, optional
        Threads; None and -1: one per core. Changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, -1 of noise.
    cluster_centers_ : array of shape (n_clusters, n_features)
        Centres.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of what the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list of (i, j, type, weight)
        Those constraints one by one, by rows of `X`.
    status_ : str
        How it ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Pairs left out, an end of which is no row of `X`.

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
        init: Literal["kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb", "given"] = 'farthest_first',
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

    Every object joins its nearest centre. Then the must-links, in order: one whose ends are apart either
    stays broken, at ½ w (D(x_i, c_j) + D(x_j, c_i)) for the centres c_i, c_j of its ends, or both ends join
    one of the two, whichever costs least. Then the cannot-links: of one whose ends are together the farther
    end goes to its nearest other centre, or stays, at w D to that centre. A centre is the mean of its objects
    and, with weights ½ w and w, of the ends of broken constraints that were to be there. The result is the
    sweep of smallest objective Σ D(x, c) + costs, twice that of the paper; it need not fall with every
    sweep. Constraints are taken as they are: nothing is closed, so that a wrong one misleads few objects.

    **Input and output**

    n × d, dense or sparse, squared Euclidean; constraints of any weight (the paper's: 1, at which a
    cannot-link always parts its ends). One label per object in `0..k`, k centres.

    **Errors**

    `MissingK`, `BadK`, `TooManyClusters`; `HardNotSupported` for constraints marked hard.

    **Cost and randomness**

    O(sweeps · (n·k·d + constraints · k·d)); random only in the first centres.

    **References**

    [PellegBaras2007] §3.

    Parameters
    ----------
    n_clusters : an integer >= 1; optional
        Number of clusters; absent: that of the classes in `y`, or else 8.
    empty : "keep", "reseed" or "error"; default 'reseed'
        What happens to a cluster without objects.
    init : "kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb" or "given"; default 'kmeans_plus_plus'
        How the first centres are chosen.
    max_iter : an integer in 1..=1000000000; default 100
        Sweeps of one start.
    n_init : an integer in 1..=1000000000; default 10
        Starts, of which the best result is kept; a given start is run once.
    tol : a number >= 0; default 1e-06
        Smallest change of the objective worth another sweep.
    tolerance_kind : "relative" or "absolute"; default 'relative'
        How the change is compared with the tolerance.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used as it is, None draws one.
    n_jobs : int, optional
        Threads; None and -1: one per core. Changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, -1 of noise.
    cluster_centers_ : array of shape (n_clusters, n_features)
        Centres.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of what the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list of (i, j, type, weight)
        Those constraints one by one, by rows of `X`.
    status_ : str
        How it ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Pairs left out, an end of which is no row of `X`.

    References: PellegBaras2007.
    """

    _tag = "lcvqe"

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        empty: Literal["keep", "reseed", "error"] = 'reseed',
        init: Literal["kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb", "given"] = 'kmeans_plus_plus',
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

    Each batch joins its nearest centres; a centre becomes the mean of all it has ever been given.
    The first centres come from a sample. It ends when the smoothed distortion of the batches has not
    fallen for a while; one pass over all objects then gives the labels.

    **Input and output**

    n × d, dense or sparse; or, with `rows`, an NPY file that is mapped into memory and never held
    there as a whole: the data of the problem then only says how many objects there are. One label per
    object, k centres; the objective is the total distortion to them.

    **Errors**

    `MissingK`, `BadK`, `TooManyClusters`, `BadParam`; `Data` and `NonFinite` for the file.

    **Cost and randomness**

    O(batches · batch_size · k · d + n·k·d); random in the sample and the batches.

    **References**

    [Sculley2010]. Differs: a batch moves a centre once, by the mean of what it brings.

    Parameters
    ----------
    n_clusters : an integer >= 1; optional
        Number of clusters; absent: that of the classes in `y`, or else 8.
    batch_size : an integer in 1..=1000000000; default 1024
        Objects of a batch, drawn with replacement.
    distortion : "squared_euclidean", "cosine" or "auto"; default 'auto'
        How far an object is from a centre; "auto": cosine for sparse rows, squared Euclidean
        otherwise.
    init : "kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb" or "given"; default 'kmeans_plus_plus'
        How the first centres are chosen, from a sample of three batches or of 3k objects.
    max_iter : an integer in 1..=1000000000; default 100
        Most batches, counted in passes over as many objects as there are.
    patience : an integer in 1..=1000000000; default 10
        Batches in a row without a new least smoothed distortion, after which it ends.
    n_init : an integer in 1..=1000000000; default 3
        Starts, of which the best result is kept; a given start is run once.
    rows : a string; optional
        NPY file with one row per object, of little-endian f8 or f4 in C order, to be clustered in
        place of the data of the problem.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used as it is, None draws one.
    n_jobs : int, optional
        Threads; None and -1: one per core. Changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, -1 of noise.
    cluster_centers_ : array of shape (n_clusters, n_features)
        Centres.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of what the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list of (i, j, type, weight)
        Those constraints one by one, by rows of `X`.
    status_ : str
        How it ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Pairs left out, an end of which is no row of `X`.
    inertia_ : float
        The objective: the sum of the squared distances to the nearest centres.

    References: Sculley2010.
    """

    _tag = "mini_batch_kmeans"

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        batch_size: int = 1024,
        distortion: Literal["squared_euclidean", "cosine", "auto"] = 'auto',
        init: Literal["kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb", "given"] = 'kmeans_plus_plus',
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

    Minimises Σ (‖x − µ‖²_A − log det A) plus, for each broken must-link, w times the squared length
    of its difference (the mean under both clusters' metrics), for each broken cannot-link w̄ times
    what it lacks to the largest difference. Each round visits the constrained objects one by one,
    takes means, then metrics A = n·B⁻¹ of the scatter B of members and violations. With
    `max_pair = "box"` the objective never rises after the first round; else the best round counts.

    **Input and output**

    n × d dense (`metric = "none"` also sparse), constraints of any weight. One label per object in
    `0..k`, k centres, feature weights (diagonal) or matrices (full).

    **Errors**

    `MissingK`, `BadK`, `TooManyClusters`; `BadParam` for `max_pair = "box"` with full metrics;
    `InconsistentConstraints` only where `on_conflict` asks; `HardNotSupported` for constraints
    marked hard; `ClosureTooLarge` for unequal weights whose closure must be expanded, `Memory` where that takes
    more than there may be; `NumericalFailure` for a scatter without eigenvalues.

    **Cost and randomness**

    A round is O(n·k·d) diagonal, O(n·d² + n·k·d + d³) with one matrix, O(n·k·d² + k·d³) with k;
    constraints add O(k·d) per constrained object and never a loop over pairs of the closure while all
    of a kind weigh the same; where they don't, each pair takes 130 bytes. `exact` adds O(n²·d) per metric. Random: as
    in pairwise-constrained k-means.

    **References**

    [Bilenko2004] eq. 3–6, figure 1; [Eaton2005] §2.6. Differs: the largest difference is by default
    that of the box around the data, as in the authors' program, which keeps the objective falling.

    Parameters
    ----------
    n_clusters : an integer >= 1; optional
        Number of clusters; absent: that of the classes in `y`, or else 8.
    box_includes_origin : true or false; default False
        Let the box hold the origin too, as the authors' program does.
    empty : "keep", "reseed" or "error"; default 'keep'
        What happens to a cluster without objects.
    entail : "full", "neighbourhoods_only", "largest_neighbourhoods" or "off"; default 'full'
        How far constraints are extended before they cost anything.
    floor_relative : a number in (0, 0.01]; default 1e-09
        Smallest scatter that counts: of a feature against the mean variance, of a direction against
        the largest.
    hard_as_soft : a number >= 0; optional
        Weight of constraints marked hard; absent: they are refused.
    init : "neighbourhood", "representatives", "constrained_objects", "kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb" or "given"; optional
        How the first centres are chosen; absent: `neighbourhood`, or with weight = "auto"
        `constrained_objects`.
    init_without_constraints : "kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb" or "given"; default 'kmeans_plus_plus'
        How the first centres are chosen when no neighbourhood is known.
    learn_metric : true or false; default True
        Learn them; if not, broken constraints still cost by distance, under the Euclidean metric.
    learn_without_constraints : true or false; default True
        Learn them also when nothing is constrained (metric-learning k-means).
    log_weight : a number in (0, 1e+100]; default 1.0
        Factor of log det A; changes no label of diagonal metrics after the first round.
    max_iter : an integer in 1..=1000000000; default 100
        Sweeps of one start.
    max_pair : "box", "cluster", "exact" or "farthest_cl"; optional
        The largest difference; absent: `box` for diagonal metrics, `farthest_cl` for full ones.
    metric : "single_diag", "multi_diag", "single_full", "multi_full" or "none"; default 'single_diag'
        Which metrics are learned.
    on_conflict : "error", "keep", "drop_cl" or "drop_weakest"; default 'keep'
        What to do with cannot-links inside must-link components.
    order : "random", "random_fixed", "index" or "sorted"; default 'random'
        In which order objects are visited.
    perturb : "additive" or "multiplicative"; default 'additive'
        How a global mean is perturbed.
    perturb_rho : a number > 0; default 0.7
        By how much a global mean is perturbed (ρ).
    n_init : an integer in 1..=1000000000; optional
        Starts, of which the best result is kept; absent: 10 for random starts, 1 from
        neighbourhoods.
    singular : "ridge", "keep_previous" or "identity"; default 'ridge'
        What happens where the scatter is smaller.
    tol : a number >= 0; default 1e-06
        Smallest change of the objective worth another sweep.
    tolerance_kind : "relative" or "absolute"; default 'relative'
        How the change is compared with the tolerance.
    weight : "auto" or a number >= 0; default 'auto'
        Cost of a broken must-link of weight 1 (w), per squared distance; or "auto": ½, and for
        cannot-links the mean distortion that k-means reaches over the square of the largest
        difference, so that a broken constraint costs about what an object pays by itself.
    weight_cannot : "auto" or a number >= 0; optional
        Cost of a broken cannot-link of weight 1 (w̄); absent: as `weight`.
    when_fewer_neighbourhoods : "cl_point_then_perturb", "perturb", "farthest_first" or "random"; default 'cl_point_then_perturb'
        Where the other clusters start when there are fewer than k (λ < k).
    when_more_neighbourhoods : "weighted_farthest_first" or "largest"; default 'weighted_farthest_first'
        Which neighbourhoods start clusters when there are more than k (λ > k).
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used as it is, None draws one.
    n_jobs : int, optional
        Threads; None and -1: one per core. Changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, -1 of noise.
    cluster_centers_ : array of shape (n_clusters, n_features)
        Centres.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of what the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list of (i, j, type, weight)
        Those constraints one by one, by rows of `X`.
    status_ : str
        How it ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Pairs left out, an end of which is no row of `X`.

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
        init: Literal["neighbourhood", "representatives", "constrained_objects", "kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb", "given"] | None = None,
        init_without_constraints: Literal["kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb", "given"] = 'kmeans_plus_plus',
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
    """OPTICS: objects in the order in which density reaches them, cut into clusters.

    **Method**

    From the first object on, next is the one that those before reach at the least distance: the larger of the
    distance and the core distance of the one that reaches it. Where no core reaches any within the radius, the
    first object that is left is next. A cluster is a stretch of that order in which every object is reached; what
    follows a gap and is no core is noise.

    **Input and output**

    n × d, dense, Euclidean distances. As many clusters as there are; k is not used. Every object
    has a label, see `noise`; diagnostics: `radius`, `noise_objects`.

    **Errors**

    `BadParam`.

    **Cost and randomness**

    In up to 16 features searches in a k-d tree, about n·log n and one step for each object within the radius of
    another; in more at worst O(n²·d) time. O(n) memory, in more than 16 features O(n · `min_points`). Nothing is
    random.

    **References**

    [Ankerst1999], with ε = ε′. Differs: absent, the radius is chosen from the data.

    Parameters
    ----------
    min_samples : an integer in 2..=1000000000; default 5
        Neighbours that make an object a core, itself among them (MinPts).
    noise : "singletons" or "one_cluster"; default 'singletons'
        How objects in no dense region count in an ensemble and in a study; in files and in Python
        they are noise, -1.
    radius : a number > 0; optional
        Distance at which the order is cut (ε′, in feature units); absent: the smallest at which
        nine in ten objects are cores.
    eps : a number > 0; optional
        The name that scikit-learn has for `radius`.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used as it is, None draws one.
    n_jobs : int, optional
        Threads; None and -1: one per core. Changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, -1 of noise.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of what the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list of (i, j, type, weight)
        Those constraints one by one, by rows of `X`.
    status_ : str
        How it ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Pairs left out, an end of which is no row of `X`.

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
    """PCCC: k-means whose assignment is an optimum under hard constraints and soft ones with a confidence.

    **Method**

    Objects that hard must-links join are assigned as one. An assignment minimises Σ D(x, c) + P Σ w over broken
    soft constraints of weight (confidence) w, all objects at once; no hard constraint is broken. Only objects that
    the nearest centres would put where a constraint breaks are searched, with those that then must move, part by
    part, by branch and bound; what no constraint ties takes its nearest centre. Where the search comes to
    `node_limit`, what it has is repaired, and made cheaper by moves in which an object pushes others out of its way;
    the labels of the sweep before are kept where they cost less. A warning and the diagnostics say how often
    (`unproved` of `assignments`; `nodes`). A centre is the mean of its objects; an empty cluster takes the object, or
    joined objects, farthest from its centre. The objective never rises. Once nothing moves, the cluster that costs
    least goes to an object of the one that costs most and the sweeps begin again, until that lowers the
    objective no more. Soft constraints are taken as they are: nothing is closed.

    **Input and output**

    n × d, dense or sparse, constraints marked hard or soft; `unmarked` says which the others are. One label per
    object in `0..k`, k centres. The diagnostic `price` is P.

    **Errors**

    `MissingK`, `BadK`, `TooManyClusters`; of hard constraints `InconsistentConstraints` with the chain of
    must-links, `InfeasibleConstraints` when k clusters provably cannot hold them, `UndecidedConstraints` where the
    search for that finds no end.

    **Cost and randomness**

    O(sweeps · (n·k·d + constraints + constrained objects · k)) and the search, at worst `node_limit` nodes a sweep,
    each O(k) for what it looks at; random in the first centres, and in the object that a cluster goes to.

    **References**

    [Baumann2025]. Differs: an own search in place of a solver for integer programmes; several starts, of which the
    best counts; P is found once for all of them, so that objectives can be compared; a cluster that is put elsewhere
    goes to an object, not onto the other centre.

    Parameters
    ----------
    n_clusters : an integer >= 1; optional
        Number of clusters; absent: that of the classes in `y`, or else 8.
    distortion : "squared_euclidean", "cosine" or "auto"; default 'auto'
        How far an object is from a centre; "auto": cosine for sparse rows, squared Euclidean
        otherwise.
    empty : "keep", "reseed" or "error"; default 'reseed'
        What happens to a cluster without objects; `reseed` moves joined objects together.
    init : "kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb" or "given"; default 'kmeans_plus_plus'
        How the first centres are chosen.
    max_iter : an integer in 1..=1000000000; default 100
        Sweeps of one start.
    nearest : an integer in 1..=1000000000; optional
        Nearest centres that constrained objects may join (q), and whose distance counts for "auto";
        absent: all. An object may always join one more than it has hard cannot-links: so none is
        left without.
    node_limit : an integer in 0..=4503599627370496; default 20000
        Nodes of the search in one assignment; one of a part with thousands of objects and
        constraints counts once for each thousand.
    repositions : an integer in 0..=1000000000; default 1
        Times in a row that putting a cluster elsewhere may fail before a start ends: first that
        which costs least, then the next; 0: none is, 1: as published.
    n_init : an integer in 1..=1000000000; default 10
        Starts, of which the best result is kept; a given start is run once.
    tol : a number >= 0; default 1e-06
        Smallest change of the objective worth another sweep.
    tolerance_kind : "relative" or "absolute"; default 'relative'
        How the change is compared with the tolerance.
    unmarked : "hard" or "soft"; default 'hard'
        What constraints are that nobody marked hard or soft.
    weight : "auto" or a number >= 0; default 'auto'
        Cost of a broken soft constraint of weight 1 (P), or "auto": the mean distance of an object
        to the centres of the first start.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used as it is, None draws one.
    n_jobs : int, optional
        Threads; None and -1: one per core. Changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, -1 of noise.
    cluster_centers_ : array of shape (n_clusters, n_features)
        Centres.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of what the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list of (i, j, type, weight)
        Those constraints one by one, by rows of `X`.
    status_ : str
        How it ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Pairs left out, an end of which is no row of `X`.

    References: Baumann2025.
    """

    _tag = "pccc"

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        distortion: Literal["squared_euclidean", "cosine", "auto"] = 'auto',
        empty: Literal["keep", "reseed", "error"] = 'reseed',
        init: Literal["kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb", "given"] = 'kmeans_plus_plus',
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
    """Pairwise-constrained k-means: broken constraints cost their weight, neighbourhoods start clusters.

    **Method**

    Minimises Σ D(x, µ) + Σ w [must-link broken] + Σ w̄ [cannot-link broken] over closed constraints.
    Each sweep visits the constrained objects one by one, in order, with the labels as they are now;
    the others choose their nearest centre. The objective never rises after the first sweep.

    **Input and output**

    n × d, dense or sparse, objects and constraints of any weight. One label per object in `0..k`, k centres.

    **Errors**

    `MissingK`, `BadK`, `TooManyClusters`; `InconsistentConstraints` only where `on_conflict` asks;
    `HardNotSupported` for constraints marked hard; `ClosureTooLarge` for unequal weights whose
    closure must be expanded, `Memory` where that takes more than there may be.

    **Cost and randomness**

    O(sweeps · (n·k·d + constrained objects · k + moves · separated components)); the closure is never
    expanded while all constraints of a kind weigh the same, nor are groups whose members must be apart. Where they
    don't, each of its pairs takes 130 bytes, and every visit all partners of an object.
    Random: the order of visits, and the start where neighbourhoods do not settle it. With `weight = "auto"` that is
    the best of many runs on the constrained objects alone, where there are five or more for each cluster.

    **References**

    [Basu2004] §3–4; [Greene2007] Eq. 1. Differs: more than k neighbourhoods start by weighted
    farthest-first, the later rule; `largest` is the paper's, as is `init = "neighbourhood"` beside a fitted weight.

    Parameters
    ----------
    n_clusters : an integer >= 1; optional
        Number of clusters; absent: that of the classes in `y`, or else 8.
    distortion : "squared_euclidean", "cosine" or "auto"; default 'auto'
        How far an object is from a centre; "auto": cosine for sparse rows, squared Euclidean
        otherwise.
    empty : "keep", "reseed" or "error"; default 'keep'
        What happens to a cluster without objects.
    entail : "full", "neighbourhoods_only", "largest_neighbourhoods" or "off"; default 'full'
        How far constraints are extended before they cost anything.
    half_distortion : true or false; default False
        Halve the squared Euclidean distortion, as the SDM paper's objective does.
    hard_as_soft : a number >= 0; optional
        Weight of constraints marked hard; absent: they are refused.
    init : "neighbourhood", "representatives", "constrained_objects", "kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb" or "given"; optional
        How the first centres are chosen; absent: `neighbourhood`, or with weight = "auto"
        `constrained_objects`.
    init_without_constraints : "kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb" or "given"; default 'kmeans_plus_plus'
        How the first centres are chosen when no neighbourhood is known.
    max_iter : an integer in 1..=1000000000; default 100
        Sweeps of one start.
    on_conflict : "error", "keep", "drop_cl" or "drop_weakest"; default 'keep'
        What to do with cannot-links inside must-link components.
    order : "random", "random_fixed", "index" or "sorted"; default 'random'
        In which order objects are visited.
    perturb : "additive" or "multiplicative"; default 'additive'
        How a global mean is perturbed.
    perturb_rho : a number > 0; default 0.7
        By how much a global mean is perturbed (ρ).
    n_init : an integer in 1..=1000000000; optional
        Starts, of which the best result is kept; absent: 10 for random starts, 1 from
        neighbourhoods.
    tol : a number >= 0; default 1e-06
        Smallest change of the objective worth another sweep.
    tolerance_kind : "relative" or "absolute"; default 'relative'
        How the change is compared with the tolerance.
    weight : "auto" or a number >= 0; default 'auto'
        Cost of a broken must-link of weight 1 (w), or "auto": the geometric mean of what an object
        pays on average in clusters found without constraints and around the common centre, so that
        penalties have the scale of the data.
    weight_cannot : "auto" or a number >= 0; optional
        Cost of a broken cannot-link of weight 1 (w̄); absent: as `weight`.
    when_fewer_neighbourhoods : "cl_point_then_perturb", "perturb", "farthest_first" or "random"; default 'cl_point_then_perturb'
        Where the other clusters start when there are fewer than k (λ < k).
    when_more_neighbourhoods : "weighted_farthest_first" or "largest"; default 'weighted_farthest_first'
        Which neighbourhoods start clusters when there are more than k (λ > k).
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used as it is, None draws one.
    n_jobs : int, optional
        Threads; None and -1: one per core. Changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, -1 of noise.
    cluster_centers_ : array of shape (n_clusters, n_features)
        Centres.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of what the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list of (i, j, type, weight)
        Those constraints one by one, by rows of `X`.
    status_ : str
        How it ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Pairs left out, an end of which is no row of `X`.

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
        init: Literal["neighbourhood", "representatives", "constrained_objects", "kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb", "given"] | None = None,
        init_without_constraints: Literal["kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb", "given"] = 'kmeans_plus_plus',
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

    One component for each h. Round by round a component gets must-links on the nearest pairs it parts
    and the others join, and cannot-links on the farthest pairs it joins and the others part; then it
    is clustered anew. What follows from its constraints, or contradicts them, is passed over; with
    two clusters that is complete, with more nobody tests whether k clusters suffice. It ends when
    nothing can be added or nothing changes.

    **Input and output**

    What the clusterer takes, dense or sparse; constraints go to every component. The partition of the
    consensus. Diagnostics: `rounds`, `added_must`, `added_cannot`, and `skipped`, the candidates that
    constraints added just before made superfluous.

    **Errors**

    Those of clusterer and consensus, with their slot; `BadParam` for fewer than three values of h, for
    one the clusterer refuses, for `agree` out of range, and if neither kind of link is added. A
    component that fails numerically is left out with a warning, down to two.

    **Cost and randomness**

    Rounds · components · (clusterer + candidates). Candidates take O(n·log n) where components mostly
    agree, O(n²·components) at worst or if `agree` is lowered; memory O(n · components). Random only
    in clusterer and consensus; a component draws the same numbers each time.

    **References**

    [DomeniconiAlRazgan2008] Algorithm 2; [AlRazganDomeniconi2006] for the consensus. Differs: any
    number of components; far pairs are ranked by plain distance, as the text has it.

    Parameters
    ----------
    n_clusters : an integer >= 1; optional
        Number of clusters; absent: that of the classes in `y`, or else 8.
    agree : an integer in 2..=1000000000; optional
        How many of the others must see a pair otherwise; absent: all.
    cl_distance : "euclidean" or "mean_weighted"; default 'euclidean'
        Which candidates for cannot-links are far.
    clusterer : a base clusterer; default 'clac'
        What clusters each component; it must have an option `h`.
    consensus : a consensus function; default 'wbpa'
        What combines the components in the end.
    constrained_consensus : true or false; default False
        The consensus gets the constraints too; as published only the components do.
    early_stop : an integer in 1..=1000000000; optional
        Rounds without a change of the consensus after which it stops; absent: it is made once, at
        the end.
    h_values : "auto" or a list; default 'auto'
        The `h` of each component, at least three values, in units of squared distance. "auto": the
        paper's 1, 3, 5, 7 and 10, times the mean variance of a feature, which is 1 on standardised
        data.
    max_rounds : an integer in 1..=1000000000; default 50
        Rounds.
    schedule : "sequential" or "simultaneous"; default 'sequential'
        When a component learns.
    top_cl : an integer in 0..=1000000000 or a number in (0, 1]; default 5
        How many cannot-links a component gets each time.
    top_ml : an integer in 0..=1000000000 or a number in (0, 1]; default 5
        How many must-links a component gets each time.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used as it is, None draws one.
    n_jobs : int, optional
        Threads; None and -1: one per core. Changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, -1 of noise.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of what the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list of (i, j, type, weight)
        Those constraints one by one, by rows of `X`.
    status_ : str
        How it ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Pairs left out, an end of which is no row of `X`.

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


class SCOPKMeans(Clusterer):
    """K-means with soft constraints: variance and violations are weighed on one scale.

    **Method**

    Minimises (1 − ω)·Σ D / V + ω·Σ s² [broken] / Σ s², with V the distortion to the common centre and s
    the strength of a constraint, its weight. Constrained objects choose one by one, given the labels
    as they are. Constraints marked hard are never broken: what they join moves as one, into
    clusters that hold nothing it must be apart from; where no attempt finds such clusters one by one, a
    complete search places them first. A group marked hard of which nothing else is said is placed as a whole, at
    the smallest total distance. The objective never rises after the first sweep.

    **Input and output**

    n × d, dense or sparse, constraints of weight at most 1, not extended. One label per object in
    `0..k`, k centres.

    **Errors**

    `MissingK`, `BadK`, `TooManyClusters`; `BadParam` for weights above 1; `InconsistentConstraints` and
    `InfeasibleConstraints` for those marked hard, `UndecidedConstraints` where the search for them
    finds no end; `TooManyGroupPairs` for groups of which hard must-links join objects.

    **Cost and randomness**

    O(sweeps · (n·k·d + constraints + constrained objects · k)); random: first centres and order.

    **References**

    [Wagstaff2002] chapter 5; [Wagstaff2004].

    Parameters
    ----------
    n_clusters : an integer >= 1; optional
        Number of clusters; absent: that of the classes in `y`, or else 8.
    distortion : "squared_euclidean", "cosine" or "auto"; default 'auto'
        How far an object is from a centre; "auto": cosine for sparse rows, squared Euclidean
        otherwise.
    empty : "keep", "reseed" or "error"; default 'reseed'
        What happens to a cluster without objects.
    init : "neighbourhood", "kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb" or "given"; default 'kmeans_plus_plus'
        How the first centres are chosen; `neighbourhood`: at the means of the must-link components
        with cannot-links.
    max_iter : an integer in 1..=1000000000; default 100
        Sweeps of one attempt.
    omega : a number in 0..=1; default 0.5
        Share of the constraints in the objective (ω); 0 is k-means.
    order : "random", "random_fixed", "index" or "sorted"; default 'random'
        In which order objects are visited.
    n_init : an integer in 1..=1000000000; default 10
        Attempts, of which the best result is kept.
    tol : a number >= 0; default 1e-06
        Smallest change of the objective worth another sweep.
    tolerance_kind : "relative" or "absolute"; default 'relative'
        How the change is compared with the tolerance.
    when_more_neighbourhoods : "weighted_farthest_first" or "largest"; default 'weighted_farthest_first'
        Which of those when there are more than k.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used as it is, None draws one.
    n_jobs : int, optional
        Threads; None and -1: one per core. Changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, -1 of noise.
    cluster_centers_ : array of shape (n_clusters, n_features)
        Centres.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of what the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list of (i, j, type, weight)
        Those constraints one by one, by rows of `X`.
    status_ : str
        How it ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Pairs left out, an end of which is no row of `X`.

    References: Wagstaff2002, Wagstaff2004.
    """

    _tag = "scop_kmeans"

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        distortion: Literal["squared_euclidean", "cosine", "auto"] = 'auto',
        empty: Literal["keep", "reseed", "error"] = 'reseed',
        init: Literal["neighbourhood", "kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb", "given"] = 'kmeans_plus_plus',
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
    """Seeded k-means: neighbourhoods of the constraints start the clusters, and may move.

    **Method**

    Centres start at the means of the seeds; then plain k-means. Seeds are the labels of a given start
    (unknown ones left out), else the neighbourhoods: at most the k largest, one for each cluster.

    **Input and output**

    n × d, dense or sparse, must-links; objects may have weights. One label per object in `0..k`, k centres.

    **Errors**

    `MissingK`, `BadK`, `TooManyClusters`; `BadParam` where a cluster has no seed and that is refused.

    **Cost and randomness**

    That of k-means; random only where a cluster has no seed.

    **References**

    [Basu2002] figure 1; [Basu2004] feeds it neighbourhoods.

    Parameters
    ----------
    n_clusters : an integer >= 1; optional
        Number of clusters; absent: that of the classes in `y`, or else 8.
    distortion : "squared_euclidean", "cosine" or "auto"; default 'auto'
        How far an object is from a centre; "auto": cosine for sparse rows, squared Euclidean
        otherwise.
    empty : "keep", "reseed" or "error"; default 'reseed'
        What happens to a cluster without objects.
    max_iter : an integer in 1..=1000000000; default 100
        Sweeps of one start.
    perturb : "additive" or "multiplicative"; default 'additive'
        How a global mean is perturbed.
    perturb_rho : a number > 0; default 0.7
        By how much a global mean is perturbed (ρ).
    n_init : an integer in 1..=1000000000; optional
        Starts, of which the best result is kept; absent: 1 with seeds, 10 without.
    tol : a number >= 0; default 1e-06
        Smallest change of the objective worth another sweep.
    tolerance_kind : "relative" or "absolute"; default 'relative'
        How the change is compared with the tolerance.
    unseeded : "perturb", "farthest_first" or "error"; default 'perturb'
        Where clusters without a seed start.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used as it is, None draws one.
    n_jobs : int, optional
        Threads; None and -1: one per core. Changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, -1 of noise.
    cluster_centers_ : array of shape (n_clusters, n_features)
        Centres.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of what the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list of (i, j, type, weight)
        Those constraints one by one, by rows of `X`.
    status_ : str
        How it ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Pairs left out, an end of which is no row of `X`.

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


class SizeConstrainedKMeans(Clusterer):
    """K-means whose clusters have between `min_size` and `max_size` objects.

    **Method**

    Lloyd's two steps; the first assigns all objects at once, by a flow of least cost, so that no assignment to
    these centres with legal sizes has a smaller objective. Objects need not be with their nearest centre.

    **Input and output**

    n × d, dense or sparse. One label per object in `0..k`, k centres. The objective is the total distortion, and
    never rises.

    **Errors**

    `MissingK`, `BadK`, `TooManyClusters`; `BadParam` for sizes that n objects in k clusters cannot have.

    **Cost and randomness**

    O(n·k·d) per sweep and O(k²) for every object that is moved from its nearest centre; O(n·k) memory; random only
    in the first centres.

    **References**

    [Bradley2000], with largest sizes beside its smallest.

    Parameters
    ----------
    n_clusters : an integer >= 1; optional
        Number of clusters; absent: that of the classes in `y`, or else 8.
    distortion : "squared_euclidean", "cosine" or "auto"; default 'auto'
        How far an object is from a centre; "auto": cosine for sparse rows, squared Euclidean
        otherwise.
    init : "kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb" or "given"; default 'kmeans_plus_plus'
        How the first centres are chosen.
    max_iter : an integer in 1..=1000000000; default 100
        Sweeps of one start.
    max_size : an integer in 1..=1000000000; optional
        Most objects of a cluster, at least n / k; absent: any number.
    min_size : an integer in 0..=1000000000; default 1
        Fewest objects of a cluster, at most n / k.
    n_init : an integer in 1..=1000000000; default 10
        Starts, of which the best result is kept; a given start is run once.
    tol : a number >= 0; default 1e-06
        Smallest change of the objective worth another sweep.
    tolerance_kind : "relative" or "absolute"; default 'relative'
        How the change is compared with the tolerance.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used as it is, None draws one.
    n_jobs : int, optional
        Threads; None and -1: one per core. Changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, -1 of noise.
    cluster_centers_ : array of shape (n_clusters, n_features)
        Centres.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of what the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list of (i, j, type, weight)
        Those constraints one by one, by rows of `X`.
    status_ : str
        How it ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Pairs left out, an end of which is no row of `X`.

    References: Bradley2000.
    """

    _tag = "size_constrained_kmeans"

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        distortion: Literal["squared_euclidean", "cosine", "auto"] = 'auto',
        init: Literal["kmeans_plus_plus", "kmeans_parallel", "random", "random_partition", "farthest_first", "perturb", "given"] = 'kmeans_plus_plus',
        max_iter: int = 100,
        max_size: int | None = None,
        min_size: int = 1,
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
        self.n_init = n_init
        self.tol = tol
        self.tolerance_kind = tolerance_kind
        self.random_state = random_state
        self.n_jobs = n_jobs


class Spectral(Clusterer):
    """Spectral clustering: k-means on the rows of the leading eigenvectors of a graph.

    **Method**

    W the affinities of a graph without loops, D its degrees: the k largest eigenvectors of
    D^(−½)·W·D^(−½) are the columns of an n × k matrix, whose rows are scaled to length 1 and clustered by
    k-means. With `form = "spectral_learning"` the affinity of must-linked objects is 1 and that of
    cannot-linked ones 0, and the eigenvectors are those of (W + d·I − D) / d, d the largest degree. If the
    graph falls into more than k parts, the rows tell all of them apart.

    **Input and output**

    Dense or sparse rows (a symmetric graph of the `knn` nearest with locally scaled Gaussian weights is
    made), distances (the same), or affinities (the graph itself, its diagonal left out). One label per object in
    `0..k`. Constraints are read by `spectral_learning` alone, without their weights, and may be broken. The
    objective is the distortion of k-means.

    **Errors**

    `MissingK`, `BadK`, `TooManyClusters`; `NumericalFailure` for objects without a neighbour (form `ng`);
    `BadParam` for negative affinities and, with `spectral_learning`, for affinities above 1.

    **Cost and randomness**

    O(n²·d) time for the graph, then O(edges · k) a step of the iteration; O(n · (knn + k)) memory. Up to 200
    objects, and if k is more than a fifth of them, O(n³) time and O(n²) memory. Random: the starts of k-means
    and of the iteration.

    **References**

    [NgJordanWeiss2002] §2; [KamvarKleinManning2003] for `spectral_learning`. The graph: [ZelnikManorPerona2004].
    Differs: neighbours alone are joined, with a width for each object.

    Parameters
    ----------
    n_clusters : an integer >= 1; optional
        Number of clusters; absent: that of the classes in `y`, or else 8.
    distortion : "squared_euclidean", "cosine" or "auto"; default 'auto'
        How far objects are apart, for the neighbour graph; "auto": cosine for sparse rows, squared
        Euclidean otherwise.
    form : "ng" or "spectral_learning"; default 'ng'
        Which matrix has the eigenvectors.
    knn : an integer in 1..=1000000000; default 20
        Neighbours of an object in the graph; all others if there are fewer.
    n_init : an integer in 1..=1000000000; default 10
        Starts of k-means, of which the best result is kept.
    scale : a number > 0; default 1.0
        Factor in the weight exp(−scale · distance² / r²) of a neighbour, r the distance to the
        last.
    kind : one of "dense", "distances", "affinity"; default 'dense'
        What `X` holds: rows of numbers (dense or sparse), or n × n symmetric distances or
        affinities.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used as it is, None draws one.
    n_jobs : int, optional
        Threads; None and -1: one per core. Changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, -1 of noise.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of what the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list of (i, j, type, weight)
        Those constraints one by one, by rows of `X`.
    status_ : str
        How it ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Pairs left out, an end of which is no row of `X`.

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


class Ssdbscan(Clusterer):
    """SSDBSCAN: dense regions that constrained objects grow into, each at its own density, until they would meet.

    **Method**

    Objects reach each other at the largest of their distance and the distances to their `min_samples`-th nearest
    objects. What is joined up to a distance is dense there; the regions grow with the distance. A region with a
    constrained object is a cluster just before it would join another one so that two objects in it must be
    apart. Clusters that hold must-linked objects are one cluster. All other objects are noise. Known classes of
    some objects are such constraints: two known objects are together or apart.

    **Input and output**

    n × d, dense or sparse, Euclidean distances, or a matrix of distances. As many clusters as there are; k is not
    used, and neither are weights of constraints. Constraints marked soft are enforced like the others, or left out if
    the others cannot be met with them; both with a warning. Must-links always hold. Cannot-links hold if every pair of
    constrained objects is together or apart, and may be broken otherwise. Without cannot-links all objects are one
    cluster. Every object has a label, see `noise`; diagnostics: `noise_objects`.

    **Errors**

    `BadParam`; `InconsistentConstraints`.

    **Cost and randomness**

    In up to 16 features about n·log²n time, otherwise O(n²·d); O(n) memory, in more features
    O(n · `min_samples`). Nothing is random.

    **References**

    [LelisSander2009] §III; its expansion of each labelled object along a spanning tree up to the longest edge
    before another label ends at these regions, in one pass over the tree [Campello2013]. Differs: pairs that must
    be apart stand for different labels; edges of equal length count at the same time.

    Parameters
    ----------
    min_samples : an integer in 1..=1000000000; default 5
        Neighbours, itself among them, that make an object a core (MinPts).
    noise : "singletons" or "one_cluster"; default 'singletons'
        How objects in no cluster count in an ensemble and in a study; in files and in Python they
        are noise, -1.
    kind : one of "dense", "distances"; default 'dense'
        What `X` holds: rows of numbers (dense or sparse), or n × n symmetric distances or
        affinities.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used as it is, None draws one.
    n_jobs : int, optional
        Threads; None and -1: one per core. Changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row, -1 of noise.
    n_iter_ : int
        Sweeps, at least 1.
    objective_ : float or None
        Value of what the method minimises.
    violations_ : dict
        Violated constraints: `must_link`, `cannot_link`.
    violated_ : list of (i, j, type, weight)
        Those constraints one by one, by rows of `X`.
    status_ : str
        How it ended: `converged`, `max_iter` …
    n_constraints_dropped_ : int
        Pairs left out, an end of which is no row of `X`.

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
