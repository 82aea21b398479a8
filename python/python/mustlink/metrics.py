# Written from the catalogue by `python -m mustlink._write`.
"""Scores of clusterings, ensembles and constraints: one function per metric.

A class of -1, NaN or None is unknown and leaves the object out; so does a label of -1.
"""

from __future__ import annotations

from typing import Any, Literal

from ._config import PluginLike
from ._score import score
from .constraints import Constraints

__all__ = [
    "accuracy",
    "ami",
    "anmi",
    "ari",
    "base_nmi",
    "calinski_harabasz",
    "closure_gain",
    "coherence",
    "completeness",
    "consistency",
    "davies_bouldin",
    "diversity_ari",
    "diversity_nmi",
    "error_rate",
    "error_rate_majority",
    "free_objects",
    "homogeneity",
    "impute_count_cannot",
    "impute_count_must",
    "impute_pp_cannot",
    "impute_pp_must",
    "impute_pr_cannot",
    "impute_pr_must",
    "informativeness",
    "jaccard_pairs",
    "k_error",
    "k_found",
    "mean_cosine",
    "member_spread",
    "mi",
    "must_share",
    "nmi_arith",
    "nmi_geo",
    "nmi_joint",
    "nmi_max",
    "nmi_min",
    "pair_f",
    "pair_precision",
    "pair_recall",
    "purity",
    "rand",
    "silhouette",
    "sse",
    "uncertainty",
    "v_measure",
    "vi",
    "violation_rate",
    "violation_rate_heldout",
    "violations",
]


def accuracy(labels_true: Any, labels_pred: Any) -> float:
    """Share of objects inside their class under the best one-to-one matching of clusters and classes.

    1 − `error_rate`, under its common name.

    **Cost and randomness**

    As `error_rate`.

    **References**

    [DomeniconiAlRazgan2008] Table 2 prints 1 minus this value.

    Larger is better; 0 to 1. NaN where it is not defined.

    Examples
    --------
    >>> from mustlink.metrics import accuracy
    >>> labels_true = [0, 0, 0, 1, 1, 1]
    >>> labels_pred = [0, 0, 1, 1, 1, 1]
    >>> round(accuracy(labels_true, labels_pred), 3)
    0.833
    """
    return score("accuracy", {}, labels_pred, labels_true)


def ami(labels_true: Any, labels_pred: Any, *, average: Literal["arithmetic", "geometric", "min", "max"] = 'arithmetic') -> float:
    """Mutual information, adjusted for chance: 0 on average for unrelated partitions, 1 for equal ones.

    `(MI − E[MI]) / (mean(H) − E[MI])`, with the expectation over all partitions with the same group sizes. If this is
    0/0 (one side is one group or all singletons), the score is 0.

    **Cost and randomness**

    O(classes · clusters · mean overlap), groups of one size together; not random.

    **References**

    [VinhEppsBailey2010] §3.

    Larger is better; -infinity to 1. NaN where it is not defined.

    Examples
    --------
    >>> from mustlink.metrics import ami
    >>> labels_true = [0, 0, 0, 1, 1, 1]
    >>> labels_pred = [0, 0, 1, 1, 1, 1]
    >>> round(ami(labels_true, labels_pred), 3)
    0.355
    """
    return score("ami", {"average": average}, labels_pred, labels_true)


def anmi(labels_pred: Any, partitions: Any) -> float:
    """Mean NMI (geometric) between the labels and the members of the ensemble that they come from.

    **References**

    ANMI of [StrehlGhosh2002].

    Larger is better; 0 to 1. NaN where it is not defined.

    Examples
    --------
    >>> from mustlink.metrics import anmi
    >>> labels_pred = [0, 0, 1, 1, 1, 1]
    >>> partitions = [[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]]
    >>> round(anmi(labels_pred, partitions), 3)
    0.74
    """
    return score("anmi", {}, labels_pred, None, partitions=partitions)


def ari(labels_true: Any, labels_pred: Any) -> float:
    """Adjusted Rand index: pairs placed alike, 0 on average for unrelated partitions, 1 for equal ones.

    (Σ C(c_ij,2) − E) / (½(Σ C(a_i,2) + Σ C(b_j,2)) − E) with E = Σ C(a_i,2) · Σ C(b_j,2) / C(N,2). Below 0 when
    clusters agree less than by chance, never below −½. Excluded pairs count, because the model of chance is about all
    pairs.

    **References**

    [HubertArabie1985]; [Eaton2005] eq. 2.15.

    Larger is better; -0.5 to 1. NaN where it is not defined.

    Examples
    --------
    >>> from mustlink.metrics import ari
    >>> labels_true = [0, 0, 0, 1, 1, 1]
    >>> labels_pred = [0, 0, 1, 1, 1, 1]
    >>> round(ari(labels_true, labels_pred), 3)
    0.324
    """
    return score("ari", {}, labels_pred, labels_true)


def base_nmi(labels_true: Any, labels_pred: Any, partitions: Any) -> float:
    """Mean NMI (geometric) between the members of the ensemble and the classes.

    **References**

    "Base NMI" in Table 1 of [Greene2007].

    Larger is better; 0 to 1. NaN where it is not defined.

    Examples
    --------
    >>> from mustlink.metrics import base_nmi
    >>> labels_true = [0, 0, 0, 1, 1, 1]
    >>> labels_pred = [0, 0, 1, 1, 1, 1]
    >>> partitions = [[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]]
    >>> round(base_nmi(labels_true, labels_pred, partitions), 3)
    0.74
    """
    return score("base_nmi", {}, labels_pred, labels_true, partitions=partitions)


def calinski_harabasz(X: Any, labels_pred: Any) -> float:
    """Calinski–Harabasz index: scatter between clusters over scatter within, each per degree of freedom.

    (Σ_h n_h ‖µ_h − µ‖² / (k − 1)) / (Σ‖x − µ_h‖² / (N − k)). Undefined for fewer than two clusters and without scatter
    within clusters, for example if all are singletons. Dense or sparse data.

    **References**

    [CalinskiHarabasz1974].

    Larger is better; 0 to infinity. NaN where it is not defined.

    Examples
    --------
    >>> from mustlink.metrics import calinski_harabasz
    >>> X = [[0], [1], [2], [7], [8], [9]]
    >>> labels_pred = [0, 0, 1, 1, 1, 1]
    >>> round(calinski_harabasz(X, labels_pred), 3)
    6.508
    """
    return score("calinski_harabasz", {}, labels_pred, None, X=X)


def closure_gain(labels_pred: Any, constraints: Constraints) -> float:
    """Number of pairs that follow from the constraints, including given ones, per given constraint.

    1: nothing follows. A cannot-link that must-links contradict counts as given; nothing follows from it. Only the
    constraints are used, not the clusters. Neither end is better. Undefined without constraints. In an experiment,
    score `scope = "train"` or `"all"`: constraints never touch test objects.

    Neither end is better; 1 to infinity. NaN where it is not defined.

    Examples
    --------
    >>> from mustlink import Constraints
    >>> from mustlink.metrics import closure_gain
    >>> labels_pred = [0, 0, 1, 1, 1, 1]
    >>> constraints = Constraints(must_link=[(0, 1), (1, 2)], cannot_link=[(2, 3)], n=6)
    >>> round(closure_gain(labels_pred, constraints), 3)
    2.0
    """
    return score("closure_gain", {}, labels_pred, None, constraints=constraints)


def coherence(X: Any, labels_pred: Any, constraints: Constraints, *, max_pairs: int = 10000000, seed: int = 0) -> float:
    """Coherence: share of must-link and cannot-link pairs that do not overlap when projected onto each other.

    A must-link implies that the distance between its ends matters little, a cannot-link that it matters much. If one
    lies along the other, they disagree. Euclidean; dense or sparse data. Constraints between equal objects have no
    direction and are left out. Only constraints and data are used, not the clusters. Undefined unless there are both
    must-links and cannot-links. In an experiment, score `scope = "train"` or `"all"`: constraints never touch test
    objects.

    **Errors**

    `ConstraintError` for groups that imply very many cannot-links.

    **Cost and randomness**

    O(must-links · cannot-links · d). Above `max_pairs` pairs, that many are drawn uniformly, with replacement. Only
    this draw is random; `seed` fixes it.

    **References**

    [Davidson2006].

    Larger is better; 0 to 1. NaN where it is not defined.

    Examples
    --------
    >>> from mustlink import Constraints
    >>> from mustlink.metrics import coherence
    >>> X = [[0], [1], [2], [7], [8], [9]]
    >>> labels_pred = [0, 0, 1, 1, 1, 1]
    >>> constraints = Constraints(must_link=[(0, 1), (1, 2)], cannot_link=[(2, 3)], n=6)
    >>> round(coherence(X, labels_pred, constraints), 3)
    1.0
    """
    return score("coherence", {"max_pairs": max_pairs, "seed": seed}, labels_pred, None, X=X, constraints=constraints)


def completeness(labels_true: Any, labels_pred: Any) -> float:
    """Degree to which each class lies in one cluster: 1 − H(cluster given class) / H(cluster).

    1 when there is one cluster.

    **References**

    [RosenbergHirschberg2007].

    Larger is better; 0 to 1. NaN where it is not defined.

    Examples
    --------
    >>> from mustlink.metrics import completeness
    >>> labels_true = [0, 0, 0, 1, 1, 1]
    >>> labels_pred = [0, 0, 1, 1, 1, 1]
    >>> round(completeness(labels_true, labels_pred), 3)
    0.5
    """
    return score("completeness", {}, labels_pred, labels_true)


def consistency(labels_pred: Any, constraints: Constraints) -> float:
    """Number of cannot-links whose ends are joined by must-links; 0 means the constraints are consistent.

    Only the constraints are used, not the clusters. Undefined without constraints. In an experiment, score
    `scope = "train"` or `"all"`: constraints never touch test objects.

    Smaller is better; 0 to infinity. NaN where it is not defined.

    Examples
    --------
    >>> from mustlink import Constraints
    >>> from mustlink.metrics import consistency
    >>> labels_pred = [0, 0, 1, 1, 1, 1]
    >>> constraints = Constraints(must_link=[(0, 1), (1, 2)], cannot_link=[(2, 3)], n=6)
    >>> round(consistency(labels_pred, constraints), 3)
    0.0
    """
    return score("consistency", {}, labels_pred, None, constraints=constraints)


def davies_bouldin(X: Any, labels_pred: Any) -> float:
    """Davies–Bouldin index: spread of each cluster and its worst neighbour, divided by the distance of their means.

    (1/k) Σ_h max_g (s_h + s_g) / ‖µ_h − µ_g‖ with s the mean distance of the objects to their mean. Undefined for
    fewer than two clusters and if two means coincide. Dense or sparse data.

    **References**

    [DaviesBouldin1979].

    Smaller is better; 0 to infinity. NaN where it is not defined.

    Examples
    --------
    >>> from mustlink.metrics import davies_bouldin
    >>> X = [[0], [1], [2], [7], [8], [9]]
    >>> labels_pred = [0, 0, 1, 1, 1, 1]
    >>> round(davies_bouldin(X, labels_pred), 3)
    0.458
    """
    return score("davies_bouldin", {}, labels_pred, None, X=X)


def diversity_ari(labels_pred: Any, partitions: Any) -> float:
    """1 minus the mean adjusted Rand index over pairs of members.

    All pairs up to 500 members, otherwise 100 000 random ones. Undefined for a single member.

    **References**

    [HubertArabie1985].

    Larger is better; 0 to 2. NaN where it is not defined.

    Examples
    --------
    >>> from mustlink.metrics import diversity_ari
    >>> labels_pred = [0, 0, 1, 1, 1, 1]
    >>> partitions = [[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]]
    >>> round(diversity_ari(labels_pred, partitions), 3)
    0.676
    """
    return score("diversity_ari", {}, labels_pred, None, partitions=partitions)


def diversity_nmi(labels_pred: Any, partitions: Any) -> float:
    """1 minus the mean NMI (geometric) over pairs of members.

    All pairs up to 500 members, otherwise 100 000 random ones. Undefined for a single member.

    **References**

    [StrehlGhosh2002].

    Larger is better; 0 to 1. NaN where it is not defined.

    Examples
    --------
    >>> from mustlink.metrics import diversity_nmi
    >>> labels_pred = [0, 0, 1, 1, 1, 1]
    >>> partitions = [[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]]
    >>> round(diversity_nmi(labels_pred, partitions), 3)
    0.521
    """
    return score("diversity_nmi", {}, labels_pred, None, partitions=partitions)


def error_rate(labels_true: Any, labels_pred: Any) -> float:
    """Share of objects outside their class under the best one-to-one matching of clusters and classes.

    1 − (1/N) · max Σ c_{i,σ(i)}; clusters or classes without a partner have no correct object.

    **Cost and randomness**

    O(cells · min(classes, clusters)) at worst, in the cells of the table that are not empty; not random.

    **References**

    [DomeniconiAlRazgan2008] Table 2.

    Smaller is better; 0 to 1. NaN where it is not defined.

    Examples
    --------
    >>> from mustlink.metrics import error_rate
    >>> labels_true = [0, 0, 0, 1, 1, 1]
    >>> labels_pred = [0, 0, 1, 1, 1, 1]
    >>> round(error_rate(labels_true, labels_pred), 3)
    0.167
    """
    return score("error_rate", {}, labels_pred, labels_true)


def error_rate_majority(labels_true: Any, labels_pred: Any) -> float:
    """Share of objects outside the largest class of their cluster: 1 − purity.

    Several clusters may match the same class, so many clusters score well.

    **References**

    [ZhaoKarypis2004].

    Smaller is better; 0 to 1. NaN where it is not defined.

    Examples
    --------
    >>> from mustlink.metrics import error_rate_majority
    >>> labels_true = [0, 0, 0, 1, 1, 1]
    >>> labels_pred = [0, 0, 1, 1, 1, 1]
    >>> round(error_rate_majority(labels_true, labels_pred), 3)
    0.167
    """
    return score("error_rate_majority", {}, labels_pred, labels_true)


def free_objects(labels_true: Any, labels_pred: Any, constraints: Constraints, *, metric: PluginLike = 'ari') -> float:
    """A metric over the objects that appear in no constraint.

    Constraints determine much about the objects in them: a method that obeys them is correct there. The other objects
    show how well the method generalises from the answers. Without constraints all objects count. Undefined
    if the clusterer takes no constraints, and if the inner metric is undefined for the objects that are left.

    Larger is better; -0.5 to 1. NaN where it is not defined.

    Examples
    --------
    >>> from mustlink import Constraints
    >>> from mustlink.metrics import free_objects
    >>> labels_true = [0, 0, 0, 1, 1, 1]
    >>> labels_pred = [0, 0, 1, 1, 1, 1]
    >>> constraints = Constraints(must_link=[(0, 1), (1, 2)], cannot_link=[(2, 3)], n=6)
    >>> round(free_objects(labels_true, labels_pred, constraints), 3)
    1.0
    """
    return score("free_objects", {"metric": metric}, labels_pred, labels_true, constraints=constraints)


def homogeneity(labels_true: Any, labels_pred: Any) -> float:
    """Degree to which each cluster holds objects of one class: 1 − H(class given cluster) / H(class).

    1 when there is one class. Perfect for singletons: do not use it to choose k.

    **References**

    [RosenbergHirschberg2007].

    Larger is better; 0 to 1. NaN where it is not defined.

    Examples
    --------
    >>> from mustlink.metrics import homogeneity
    >>> labels_true = [0, 0, 0, 1, 1, 1]
    >>> labels_pred = [0, 0, 1, 1, 1, 1]
    >>> round(homogeneity(labels_true, labels_pred), 3)
    0.459
    """
    return score("homogeneity", {}, labels_pred, labels_true)


def impute_count_cannot(labels_pred: Any, partitions: Any, *, co_presence: bool = False, kappa_cannot: float = 0.0, kappa_must: float = 0.98) -> float:
    """Number of cannot-links that the ensemble imputes; neither end is better.

    **References**

    Equations 2 and 6 and Table 1 of [Greene2007].

    Neither end is better; 0 to infinity. NaN where it is not defined.

    Examples
    --------
    >>> from mustlink.metrics import impute_count_cannot
    >>> labels_pred = [0, 0, 1, 1, 1, 1]
    >>> partitions = [[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]]
    >>> round(impute_count_cannot(labels_pred, partitions), 3)
    6.0
    """
    return score("impute_count_cannot", {"co_presence": co_presence, "kappa_cannot": kappa_cannot, "kappa_must": kappa_must}, labels_pred, None, partitions=partitions)


def impute_count_must(labels_pred: Any, partitions: Any, *, co_presence: bool = False, kappa_cannot: float = 0.0, kappa_must: float = 0.98) -> float:
    """Number of must-links that the ensemble imputes; neither end is better.

    **References**

    Equations 2 and 6 and Table 1 of [Greene2007].

    Neither end is better; 0 to infinity. NaN where it is not defined.

    Examples
    --------
    >>> from mustlink.metrics import impute_count_must
    >>> labels_pred = [0, 0, 1, 1, 1, 1]
    >>> partitions = [[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]]
    >>> round(impute_count_must(labels_pred, partitions), 3)
    4.0
    """
    return score("impute_count_must", {"co_presence": co_presence, "kappa_cannot": kappa_cannot, "kappa_must": kappa_must}, labels_pred, None, partitions=partitions)


def impute_pp_cannot(labels_true: Any, labels_pred: Any, partitions: Any, *, co_presence: bool = False, kappa_cannot: float = 0.0, kappa_must: float = 0.98) -> float:
    """Share of the imputed cannot-links that the classes confirm. Undefined without any.

    **References**

    Equations 2 and 6 and Table 1 of [Greene2007].

    Larger is better; 0 to 1. NaN where it is not defined.

    Examples
    --------
    >>> from mustlink.metrics import impute_pp_cannot
    >>> labels_true = [0, 0, 0, 1, 1, 1]
    >>> labels_pred = [0, 0, 1, 1, 1, 1]
    >>> partitions = [[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]]
    >>> round(impute_pp_cannot(labels_true, labels_pred, partitions), 3)
    1.0
    """
    return score("impute_pp_cannot", {"co_presence": co_presence, "kappa_cannot": kappa_cannot, "kappa_must": kappa_must}, labels_pred, labels_true, partitions=partitions)


def impute_pp_must(labels_true: Any, labels_pred: Any, partitions: Any, *, co_presence: bool = False, kappa_cannot: float = 0.0, kappa_must: float = 0.98) -> float:
    """Share of the imputed must-links that the classes confirm. Undefined without any.

    **References**

    Equations 2 and 6 and Table 1 of [Greene2007].

    Larger is better; 0 to 1. NaN where it is not defined.

    Examples
    --------
    >>> from mustlink.metrics import impute_pp_must
    >>> labels_true = [0, 0, 0, 1, 1, 1]
    >>> labels_pred = [0, 0, 1, 1, 1, 1]
    >>> partitions = [[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]]
    >>> round(impute_pp_must(labels_true, labels_pred, partitions), 3)
    1.0
    """
    return score("impute_pp_must", {"co_presence": co_presence, "kappa_cannot": kappa_cannot, "kappa_must": kappa_must}, labels_pred, labels_true, partitions=partitions)


def impute_pr_cannot(labels_true: Any, labels_pred: Any, partitions: Any, *, co_presence: bool = False, kappa_cannot: float = 0.0, kappa_must: float = 0.98) -> float:
    """Share of the pairs of two classes that the ensemble imputes as cannot-links.

    **References**

    Equations 2 and 6 and Table 1 of [Greene2007].

    Larger is better; 0 to 1. NaN where it is not defined.

    Examples
    --------
    >>> from mustlink.metrics import impute_pr_cannot
    >>> labels_true = [0, 0, 0, 1, 1, 1]
    >>> labels_pred = [0, 0, 1, 1, 1, 1]
    >>> partitions = [[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]]
    >>> round(impute_pr_cannot(labels_true, labels_pred, partitions), 3)
    0.667
    """
    return score("impute_pr_cannot", {"co_presence": co_presence, "kappa_cannot": kappa_cannot, "kappa_must": kappa_must}, labels_pred, labels_true, partitions=partitions)


def impute_pr_must(labels_true: Any, labels_pred: Any, partitions: Any, *, co_presence: bool = False, kappa_cannot: float = 0.0, kappa_must: float = 0.98) -> float:
    """Share of the pairs of one class that the ensemble imputes as must-links.

    **References**

    Equations 2 and 6 and Table 1 of [Greene2007].

    Larger is better; 0 to 1. NaN where it is not defined.

    Examples
    --------
    >>> from mustlink.metrics import impute_pr_must
    >>> labels_true = [0, 0, 0, 1, 1, 1]
    >>> labels_pred = [0, 0, 1, 1, 1, 1]
    >>> partitions = [[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]]
    >>> round(impute_pr_must(labels_true, labels_pred, partitions), 3)
    0.667
    """
    return score("impute_pr_must", {"co_presence": co_presence, "kappa_cannot": kappa_cannot, "kappa_must": kappa_must}, labels_pred, labels_true, partitions=partitions)


def informativeness(labels_pred: Any, constraints: Constraints, unconstrained: Any) -> float:
    """Informativeness: share of the constraints that the clusterer violates if it does not get any.

    The partition without constraints comes from the same seed. 0: the constraints add nothing new for the clusterer.
    Undefined without constraints, and for methods without a clusterer to run again. Costs one more run of the
    clusterer. In an experiment, score `scope = "train"` or `"all"`: constraints never touch test objects.

    **References**

    [Davidson2006].

    Larger is better; 0 to 1. NaN where it is not defined.

    Examples
    --------
    >>> from mustlink import Constraints
    >>> from mustlink.metrics import informativeness
    >>> labels_pred = [0, 0, 1, 1, 1, 1]
    >>> constraints = Constraints(must_link=[(0, 1), (1, 2)], cannot_link=[(2, 3)], n=6)
    >>> unconstrained = [0, 0, 1, 1, 1, 1]
    >>> round(informativeness(labels_pred, constraints, unconstrained), 3)
    0.667
    """
    return score("informativeness", {}, labels_pred, None, constraints=constraints, unconstrained=unconstrained)


def jaccard_pairs(labels_true: Any, labels_pred: Any) -> float:
    """Pairs in one cluster and one class among the pairs in one cluster or one class.

    TP / (TP + FP + FN), without excluded pairs. Undefined without any pairs; 1 when no pair is in one cluster or one
    class.

    **References**

    [HubertArabie1985].

    Larger is better; 0 to 1. NaN where it is not defined.

    Examples
    --------
    >>> from mustlink.metrics import jaccard_pairs
    >>> labels_true = [0, 0, 0, 1, 1, 1]
    >>> labels_pred = [0, 0, 1, 1, 1, 1]
    >>> round(jaccard_pairs(labels_true, labels_pred), 3)
    0.444
    """
    return score("jaccard_pairs", {}, labels_pred, labels_true)


def k_error(labels_true: Any, labels_pred: Any) -> float:
    """Number of clusters minus number of classes, among the objects of known class.

    0 is best; negative when classes are merged. Methods are not ranked by it, because neither end is better.

    Neither end is better; -infinity to infinity. NaN where it is not defined.

    Examples
    --------
    >>> from mustlink.metrics import k_error
    >>> labels_true = [0, 0, 0, 1, 1, 1]
    >>> labels_pred = [0, 0, 1, 1, 1, 1]
    >>> round(k_error(labels_true, labels_pred), 3)
    0.0
    """
    return score("k_error", {}, labels_pred, labels_true)


def k_found(labels_pred: Any) -> float:
    """Number of clusters with an object in the scope.

    Classes are not needed and not used. Neither end is better.

    Neither end is better; 0 to infinity. NaN where it is not defined.

    Examples
    --------
    >>> from mustlink.metrics import k_found
    >>> labels_pred = [0, 0, 1, 1, 1, 1]
    >>> round(k_found(labels_pred), 3)
    2.0
    """
    return score("k_found", {}, labels_pred, None)


def mean_cosine(X: Any, labels_pred: Any) -> float:
    """Mean cosine between an object and the centre of its cluster.

    The objective of spherical k-means, per object. The centre is the sum of the objects of the scope after each is
    scaled to length 1. An object of zeros, or a centre of zero length, has cosine 0. It rises as clusters are split:
    use it only to compare clusterings with the same k. Dense or sparse data.

    **References**

    [Basu2004].

    Larger is better; 0 to 1. NaN where it is not defined.

    Examples
    --------
    >>> from mustlink.metrics import mean_cosine
    >>> X = [[0], [1], [2], [7], [8], [9]]
    >>> labels_pred = [0, 0, 1, 1, 1, 1]
    >>> round(mean_cosine(X, labels_pred), 3)
    0.833
    """
    return score("mean_cosine", {}, labels_pred, None, X=X)


def member_spread(labels_true: Any, labels_pred: Any, partitions: Any) -> float:
    """Standard deviation of the NMI (geometric) of members and classes, n − 1 in the denominator.

    Undefined for a single member. A large value indicates a diverse ensemble.

    **References**

    [DomeniconiAlRazgan2008].

    Larger is better; 0 to 1. NaN where it is not defined.

    Examples
    --------
    >>> from mustlink.metrics import member_spread
    >>> labels_true = [0, 0, 0, 1, 1, 1]
    >>> labels_pred = [0, 0, 1, 1, 1, 1]
    >>> partitions = [[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]]
    >>> round(member_spread(labels_true, labels_pred, partitions), 3)
    0.368
    """
    return score("member_spread", {}, labels_pred, labels_true, partitions=partitions)


def mi(labels_true: Any, labels_pred: Any) -> float:
    """Mutual information of clusters and classes, in nats.

    Σ (c_ij/N) · ln(N c_ij / (a_i b_j)); 0 for unrelated partitions, the entropy of the classes for a
    perfect one, so that its best value depends on the data.

    **References**

    [VinhEppsBailey2010] §2.

    Larger is better; 0 to infinity. NaN where it is not defined.

    Examples
    --------
    >>> from mustlink.metrics import mi
    >>> labels_true = [0, 0, 0, 1, 1, 1]
    >>> labels_pred = [0, 0, 1, 1, 1, 1]
    >>> round(mi(labels_true, labels_pred), 3)
    0.318
    """
    return score("mi", {}, labels_pred, labels_true)


def must_share(labels_pred: Any, constraints: Constraints) -> float:
    """Share of must-links among the constraints.

    Only the constraints are used, not the clusters. Neither end is better. Undefined without constraints. In an
    experiment, score `scope = "train"` or `"all"`: constraints never touch test objects.

    Neither end is better; 0 to 1. NaN where it is not defined.

    Examples
    --------
    >>> from mustlink import Constraints
    >>> from mustlink.metrics import must_share
    >>> labels_pred = [0, 0, 1, 1, 1, 1]
    >>> constraints = Constraints(must_link=[(0, 1), (1, 2)], cannot_link=[(2, 3)], n=6)
    >>> round(must_share(labels_pred, constraints), 3)
    0.667
    """
    return score("must_share", {}, labels_pred, None, constraints=constraints)


def nmi_arith(labels_true: Any, labels_pred: Any) -> float:
    """Mutual information over the mean of the two entropies.

    Equal to `v_measure` at beta = 1. [Basu2004] reports this form. Identical partitions score 1; 0/0 is 0.

    **References**

    [Basu2004], [RosenbergHirschberg2007].

    Larger is better; 0 to 1. NaN where it is not defined.

    Examples
    --------
    >>> from mustlink.metrics import nmi_arith
    >>> labels_true = [0, 0, 0, 1, 1, 1]
    >>> labels_pred = [0, 0, 1, 1, 1, 1]
    >>> round(nmi_arith(labels_true, labels_pred), 3)
    0.479
    """
    return score("nmi_arith", {}, labels_pred, labels_true)


def nmi_geo(labels_true: Any, labels_pred: Any) -> float:
    """Mutual information over the geometric mean of the two entropies.

    The form of [StrehlGhosh2002], which [Greene2007] uses. Identical partitions score 1; 0/0 is 0.

    **References**

    [StrehlGhosh2002], [Greene2007].

    Larger is better; 0 to 1. NaN where it is not defined.

    Examples
    --------
    >>> from mustlink.metrics import nmi_geo
    >>> labels_true = [0, 0, 0, 1, 1, 1]
    >>> labels_pred = [0, 0, 1, 1, 1, 1]
    >>> round(nmi_geo(labels_true, labels_pred), 3)
    0.479
    """
    return score("nmi_geo", {}, labels_pred, labels_true)


def nmi_joint(labels_true: Any, labels_pred: Any) -> float:
    """Mutual information over the entropy of class and cluster together.

    The smallest of the normalised forms. Identical partitions score 1; 0/0 is 0.

    **References**

    [VinhEppsBailey2010].

    Larger is better; 0 to 1. NaN where it is not defined.

    Examples
    --------
    >>> from mustlink.metrics import nmi_joint
    >>> labels_true = [0, 0, 0, 1, 1, 1]
    >>> labels_pred = [0, 0, 1, 1, 1, 1]
    >>> round(nmi_joint(labels_true, labels_pred), 3)
    0.315
    """
    return score("nmi_joint", {}, labels_pred, labels_true)


def nmi_max(labels_true: Any, labels_pred: Any) -> float:
    """Mutual information over the larger of the two entropies.

    One minus a distance between partitions. Identical partitions score 1; 0/0 is 0.

    **References**

    [VinhEppsBailey2010].

    Larger is better; 0 to 1. NaN where it is not defined.

    Examples
    --------
    >>> from mustlink.metrics import nmi_max
    >>> labels_true = [0, 0, 0, 1, 1, 1]
    >>> labels_pred = [0, 0, 1, 1, 1, 1]
    >>> round(nmi_max(labels_true, labels_pred), 3)
    0.459
    """
    return score("nmi_max", {}, labels_pred, labels_true)


def nmi_min(labels_true: Any, labels_pred: Any) -> float:
    """Mutual information over the smaller of the two entropies.

    1 for every refinement of the classes. Identical partitions score 1; 0/0 is 0.

    **References**

    [VinhEppsBailey2010].

    Larger is better; 0 to 1. NaN where it is not defined.

    Examples
    --------
    >>> from mustlink.metrics import nmi_min
    >>> labels_true = [0, 0, 0, 1, 1, 1]
    >>> labels_pred = [0, 0, 1, 1, 1, 1]
    >>> round(nmi_min(labels_true, labels_pred), 3)
    0.5
    """
    return score("nmi_min", {}, labels_pred, labels_true)


def pair_f(labels_true: Any, labels_pred: Any) -> float:
    """Harmonic mean of pair precision and pair recall.

    2 TP / (2 TP + FP + FN), without excluded pairs. Undefined without any pairs; 1 when no pair is in one cluster and
    no pair in one class, 0 when only one of the two holds.

    **References**

    [Eaton2005] eq. 2.13; [Basu2004] §5.2.

    Larger is better; 0 to 1. NaN where it is not defined.

    Examples
    --------
    >>> from mustlink.metrics import pair_f
    >>> labels_true = [0, 0, 0, 1, 1, 1]
    >>> labels_pred = [0, 0, 1, 1, 1, 1]
    >>> round(pair_f(labels_true, labels_pred), 3)
    0.615
    """
    return score("pair_f", {}, labels_pred, labels_true)


def pair_precision(labels_true: Any, labels_pred: Any) -> float:
    """Share of the pairs in one cluster that are in one class.

    TP / (TP + FP), without excluded pairs. Undefined when no pair is in one cluster and some pair is in
    one class; 1 when no pair is in either.

    **References**

    [Eaton2005] eq. 2.11; [Basu2004] §5.2.

    Larger is better; 0 to 1. NaN where it is not defined.

    Examples
    --------
    >>> from mustlink.metrics import pair_precision
    >>> labels_true = [0, 0, 0, 1, 1, 1]
    >>> labels_pred = [0, 0, 1, 1, 1, 1]
    >>> round(pair_precision(labels_true, labels_pred), 3)
    0.571
    """
    return score("pair_precision", {}, labels_pred, labels_true)


def pair_recall(labels_true: Any, labels_pred: Any) -> float:
    """Share of the pairs in one class that are in one cluster.

    TP / (TP + FN), without excluded pairs. Undefined when no pair is in one class and some pair is in
    one cluster; 1 when no pair is in either.

    **References**

    [Eaton2005] eq. 2.12; [Basu2004] §5.2.

    Larger is better; 0 to 1. NaN where it is not defined.

    Examples
    --------
    >>> from mustlink.metrics import pair_recall
    >>> labels_true = [0, 0, 0, 1, 1, 1]
    >>> labels_pred = [0, 0, 1, 1, 1, 1]
    >>> round(pair_recall(labels_true, labels_pred), 3)
    0.667
    """
    return score("pair_recall", {}, labels_pred, labels_true)


def purity(labels_true: Any, labels_pred: Any) -> float:
    """Share of objects in the largest class of their cluster.

    (1/N) Σ_j max_i c_ij. Perfect for singletons: do not use it to choose k.

    Larger is better; 0 to 1. NaN where it is not defined.

    Examples
    --------
    >>> from mustlink.metrics import purity
    >>> labels_true = [0, 0, 0, 1, 1, 1]
    >>> labels_pred = [0, 0, 1, 1, 1, 1]
    >>> round(purity(labels_true, labels_pred), 3)
    0.833
    """
    return score("purity", {}, labels_pred, labels_true)


def rand(labels_true: Any, labels_pred: Any) -> float:
    """Rand index: the share of pairs that clusters and classes place alike.

    (TP + TN) / C(N,2). High for any clustering when there are many classes. Undefined without any pairs.

    **References**

    [Rand1971].

    Larger is better; 0 to 1. NaN where it is not defined.

    Examples
    --------
    >>> from mustlink.metrics import rand
    >>> labels_true = [0, 0, 0, 1, 1, 1]
    >>> labels_pred = [0, 0, 1, 1, 1, 1]
    >>> round(rand(labels_true, labels_pred), 3)
    0.667
    """
    return score("rand", {}, labels_pred, labels_true)


def silhouette(X: Any, labels_pred: Any, *, distance: Literal["euclidean", "cosine"] = 'euclidean', max_n: int = 5000, seed: int = 0, kind: Literal["dense", "distances"] = "dense") -> float:
    """Silhouette: mean over objects of (b − a) / max(a, b).

    a is the mean distance to the other objects of the same cluster, b the smallest mean distance to another cluster.
    An object alone in its cluster scores 0. Undefined for fewer than two clusters and if all clusters are singletons.
    Dense or sparse data, or distances, which are used unchanged.

    **Cost and randomness**

    O(N² d) for up to `max_n` objects. Above, a sample of this size is scored, by the distances within it. Each cluster
    gets its share of the sample, at least two objects if it has them, and is weighted by its size. If there are too
    many clusters for two objects each, as many clusters as fit are sampled. Only the sample is random; `seed` fixes it.

    **References**

    [Rousseeuw1987].

    `kind` is the content of `X`: rows, dense or sparse, or n × n symmetric distances.

    Larger is better; -1 to 1. NaN where it is not defined.

    Examples
    --------
    >>> from mustlink.metrics import silhouette
    >>> X = [[0], [1], [2], [7], [8], [9]]
    >>> labels_pred = [0, 0, 1, 1, 1, 1]
    >>> round(silhouette(X, labels_pred), 3)
    0.459
    """
    return score("silhouette", {"distance": distance, "max_n": max_n, "seed": seed}, labels_pred, None, X=X, kind=kind)


def sse(X: Any, labels_pred: Any) -> float:
    """Mean squared distance of the objects to the mean of their cluster: Σ‖x − µ‖² / N.

    The objective of k-means, per object. Means are those of the objects in the scope. It falls as clusters are split:
    use it only to compare clusterings with the same k. Dense or sparse data.

    **References**

    [Basu2004].

    Smaller is better; 0 to infinity. NaN where it is not defined.

    Examples
    --------
    >>> from mustlink.metrics import sse
    >>> X = [[0], [1], [2], [7], [8], [9]]
    >>> labels_pred = [0, 0, 1, 1, 1, 1]
    >>> round(sse(X, labels_pred), 3)
    4.917
    """
    return score("sse", {}, labels_pred, None, X=X)


def uncertainty(labels_pred: Any, partitions: Any) -> float:
    """Mean of 4 A (1 − A) over pairs of objects, with A their co-association: 0 when all members agree.

    Pairs that no member saw together do not count. Undefined for a single object.

    Smaller is better; 0 to 1. NaN where it is not defined.

    Examples
    --------
    >>> from mustlink.metrics import uncertainty
    >>> labels_pred = [0, 0, 1, 1, 1, 1]
    >>> partitions = [[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]]
    >>> round(uncertainty(labels_pred, partitions), 3)
    0.333
    """
    return score("uncertainty", {}, labels_pred, None, partitions=partitions)


def v_measure(labels_true: Any, labels_pred: Any, *, beta: float = 1.0) -> float:
    """Weighted harmonic mean of homogeneity and completeness.

    (1 + β) h c / (β h + c); at β = 1 equal to `nmi_arith`. Identical partitions score 1; 0/0 is 0.

    **Errors**

    `ConfigError` for a negative or infinite beta.

    **References**

    [RosenbergHirschberg2007].

    Larger is better; 0 to 1. NaN where it is not defined.

    Examples
    --------
    >>> from mustlink.metrics import v_measure
    >>> labels_true = [0, 0, 0, 1, 1, 1]
    >>> labels_pred = [0, 0, 1, 1, 1, 1]
    >>> round(v_measure(labels_true, labels_pred), 3)
    0.479
    """
    return score("v_measure", {"beta": beta}, labels_pred, labels_true)


def vi(labels_true: Any, labels_pred: Any, *, bits: bool = False) -> float:
    """Variation of information: remaining uncertainty of clusters given classes, plus classes given clusters.

    H(Y) + H(C) − 2 MI = H(Y|C) + H(C|Y), at most 2 ln N nats. A metric on partitions, 0 for equal partitions.

    **References**

    [Meila2007].

    Smaller is better; 0 to infinity. NaN where it is not defined.

    Examples
    --------
    >>> from mustlink.metrics import vi
    >>> labels_true = [0, 0, 0, 1, 1, 1]
    >>> labels_pred = [0, 0, 1, 1, 1, 1]
    >>> round(vi(labels_true, labels_pred), 3)
    0.693
    """
    return score("vi", {"bits": bits}, labels_pred, labels_true)


def violation_rate(labels_pred: Any, constraints: Constraints, *, kind: Literal["must_link", "cannot_link"] | None = None, weighted: bool = False) -> float:
    """Share of the constraints that the clustering breaks.

    With `weighted`: the weight of the broken ones over the weight of all. Undefined without constraints.

    Smaller is better; 0 to 1. NaN where it is not defined.

    Examples
    --------
    >>> from mustlink import Constraints
    >>> from mustlink.metrics import violation_rate
    >>> labels_pred = [0, 0, 1, 1, 1, 1]
    >>> constraints = Constraints(must_link=[(0, 1), (1, 2)], cannot_link=[(2, 3)], n=6)
    >>> round(violation_rate(labels_pred, constraints), 3)
    0.667
    """
    return score("violation_rate", {"kind": kind, "weighted": weighted}, labels_pred, None, constraints=constraints)


def violation_rate_heldout(labels_pred: Any, heldout: Constraints, *, kind: Literal["must_link", "cannot_link"] | None = None, weighted: bool = False) -> float:
    """Share of the held-out constraints that the clustering breaks.

    As `violation_rate`, on constraints that the clusterer was not given: in an experiment the given ones that touch
    test objects. On the constraints between all pairs of known class this is 1 − `rand`. It is meant for constraints
    from people when classes are unknown. Undefined without any.

    Smaller is better; 0 to 1. NaN where it is not defined.

    Examples
    --------
    >>> from mustlink import Constraints
    >>> from mustlink.metrics import violation_rate_heldout
    >>> labels_pred = [0, 0, 1, 1, 1, 1]
    >>> heldout = Constraints(must_link=[(1, 2)], cannot_link=[(0, 5)], n=6)
    >>> round(violation_rate_heldout(labels_pred, heldout), 3)
    0.5
    """
    return score("violation_rate_heldout", {"kind": kind, "weighted": weighted}, labels_pred, None, heldout=heldout)


def violations(labels_pred: Any, constraints: Constraints, *, kind: Literal["must_link", "cannot_link"] | None = None, weighted: bool = False) -> float:
    """Number of constraints that the clustering breaks.

    Must-links with ends in two clusters and cannot-links with ends in one. Undefined without constraints.

    Smaller is better; 0 to infinity. NaN where it is not defined.

    Examples
    --------
    >>> from mustlink import Constraints
    >>> from mustlink.metrics import violations
    >>> labels_pred = [0, 0, 1, 1, 1, 1]
    >>> constraints = Constraints(must_link=[(0, 1), (1, 2)], cannot_link=[(2, 3)], n=6)
    >>> round(violations(labels_pred, constraints), 3)
    2.0
    """
    return score("violations", {"kind": kind, "weighted": weighted}, labels_pred, None, constraints=constraints)
