# Written from the catalogue by `python -m mustlink._write`.
"""One transformer per transform."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from ._config import PluginLike
from ._transform import Transformer

__all__ = [
    "Densify",
    "DropConstant",
    "ImputeMissing",
    "ITML",
    "L2Rows",
    "LSI",
    "MinMax",
    "MMC",
    "OneHot",
    "PCA",
    "RCA",
    "TfIdf",
    "ZScore",
]


class Densify(Transformer):
    """Turns sparse rows into dense ones, zeros written out.

    **Method**

    Values are copied. Dense data passes as it is.

    **Input and output**

    n × d, sparse or dense; n × d dense.

    **Cost and randomness**

    8·n·d bytes; nothing random.

    Parameters
    ----------
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used as it is, None draws one.
    n_jobs : int, optional
        Threads; None and -1: one per core. Changes no result.
    """

    _tag = "densify"

    def __init__(
        self,
        *,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.random_state = random_state
        self.n_jobs = n_jobs


class DropConstant(Transformer):
    """Drops the features that have one value for all objects.

    **Method**

    A feature stays when two rows differ in it (0 and −0 are one value). Methods that weigh features by
    how little they vary, like `lac`, would otherwise give a constant feature the largest weight of all.

    **Input and output**

    n × d, dense or sparse; n × the features that stay, in order, with their names.

    **Errors**

    `Data` when every feature is constant.

    **Cost and randomness**

    O(stored entries); nothing random.

    Parameters
    ----------
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used as it is, None draws one.
    n_jobs : int, optional
        Threads; None and -1: one per core. Changes no result.
    """

    _tag = "drop_constant"

    def __init__(
        self,
        *,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.random_state = random_state
        self.n_jobs = n_jobs


class ImputeMissing(Transformer):
    """Fills missing values: numbers by the mean or median of their column, words by the most frequent.

    **Method**

    Each column by itself, from the values it has over all rows. Of words equally frequent the first in
    the order of their characters is taken. Classes and constraints are not looked at.

    **Input and output**

    n × d, a table or dense; the same without gaps: dense unless a column holds words (`one_hot`).

    **Errors**

    `Feature` for a column without any value.

    **Cost and randomness**

    O(n·d), with the median O(n·d·log n); nothing random.

    Parameters
    ----------
    numbers : "mean", "median" or "zero"; default 'mean'
        What fills a gap in a column of numbers.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used as it is, None draws one.
    n_jobs : int, optional
        Threads; None and -1: one per core. Changes no result.
    """

    _tag = "impute_missing"

    def __init__(
        self,
        *,
        numbers: Literal["mean", "median", "zero"] = 'mean',
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.numbers = numbers
        self.random_state = random_state
        self.n_jobs = n_jobs


class ITML(Transformer):
    """Information-theoretic metric learning: the metric nearest to a prior that keeps must-linked
    objects near and cannot-linked ones far.

    **Method**

    Minimises the LogDet divergence of A from the prior metric A₀ under (x − y)ᵀA(x − y) ≤ u for
    must-links and ≥ ℓ for cannot-links, with slack, by Bregman projections on one constraint after
    the other (must-links first, each kind by object) until their multipliers stand still. Objects
    become A^(1/2)·x, the symmetric root. u and ℓ are percentiles of the squared distances of all
    pairs of objects, or of a sample of them, under A₀.

    **Input and output**

    n × d dense, both times. A constraint's weight multiplies `gamma`; whether it is marked hard is
    not read, contradictions do no harm. Constraints between equal objects are skipped. Without any
    constraint the metric is the prior.

    **Errors**

    `BadParam`; `NumericalFailure` for features too large to square.

    **Cost and randomness**

    O(m·r² + r³) per sweep over m constraints with r = min(m, d): only directions in which a
    constrained pair differs can change. Memory O(d²). Random only in the sample of pairs.

    **References**

    [Davis2007], Algorithm 1. Differs: the step is γ/(γ + 1)·(1/p − 1/ξ), as in the authors' program,
    which is the projection; the printed (1/p − γ/ξ)/2 is so only for γ = 1.

    Parameters
    ----------
    cannot_bound : a number > 0; optional
        Smallest squared distance of cannot-linked objects (ℓ); absent: by percentile.
    cannot_percentile : a number in 0..=100; default 95.0
        Percentile of the squared distances that gives ℓ.
    gamma : a number > 0; default 1.0
        What slack costs (γ): the larger, the closer the bounds are kept.
    max_iter : an integer in 1..=1000000000; default 1000
        Sweeps over all constraints.
    must_bound : a number > 0; optional
        Largest squared distance of must-linked objects (u); absent: by percentile.
    must_percentile : a number in 0..=100; default 5.0
        Percentile of the squared distances that gives u; where it is 0, the smallest above 0 does.
    prior : "identity" or "inverse_covariance"; default 'identity'
        The metric to stay close to (A₀).
    sampled_pairs : an integer in 1..=1000000000; default 10000
        Pairs of objects whose distances are looked at; all pairs where there are no more.
    tol : a number >= 0; default 0.001
        Smallest change of the multipliers, relative to their size, worth another sweep.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used as it is, None draws one.
    n_jobs : int, optional
        Threads; None and -1: one per core. Changes no result.

    References: Davis2007.
    """

    _tag = "itml"

    def __init__(
        self,
        *,
        cannot_bound: float | None = None,
        cannot_percentile: float = 95.0,
        gamma: float = 1.0,
        max_iter: int = 1000,
        must_bound: float | None = None,
        must_percentile: float = 5.0,
        prior: Literal["identity", "inverse_covariance"] = 'identity',
        sampled_pairs: int = 10000,
        tol: float = 0.001,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.cannot_bound = cannot_bound
        self.cannot_percentile = cannot_percentile
        self.gamma = gamma
        self.max_iter = max_iter
        self.must_bound = must_bound
        self.must_percentile = must_percentile
        self.prior = prior
        self.sampled_pairs = sampled_pairs
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs


class L2Rows(Transformer):
    """Scales every object to Euclidean length 1; an object of zeros stays one.

    **Method**

    x / ‖x‖. Objects that differ only in scale become equal.

    **Input and output**

    n × d, dense or sparse; the same shape and kind, and the same stored entries. Objects of zeros
    are counted in a warning: under cosine they are like nothing.

    **Cost and randomness**

    O(stored entries); nothing random.

    Parameters
    ----------
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used as it is, None draws one.
    n_jobs : int, optional
        Threads; None and -1: one per core. Changes no result.
    """

    _tag = "l2_rows"

    def __init__(
        self,
        *,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.random_state = random_state
        self.n_jobs = n_jobs


class LSI(Transformer):
    """Latent semantic indexing: coordinates along the leading singular directions, not centred.

    **Method**

    A truncated singular value decomposition A ≈ U·Σ·Vᵀ; objects become A·V = U·Σ. Randomised: a block
    of `components` + `oversampling` random directions is multiplied by AᵀA and made orthonormal again,
    `iterations` times, and the decomposition is taken inside the space it then spans. The largest entry
    of each direction is positive.

    **Input and output**

    n × d, dense or sparse; n × `components` dense. Sparse data stays sparse inside. The mean is not
    taken off, which would fill the zeros: `pca` does so. Usually comes after `tf_idf` and `l2_rows`.

    **Errors**

    `BadParam` for more components than the rank of the data; `Data` when all values are 0. Singular
    values below about 1e-7 of the largest count as 0.

    **Cost and randomness**

    O(iterations · entries · c + iterations · d · c²), c = `components` + `oversampling`; random only in
    where the directions start.

    **References**

    [Deerwester1990]; algorithm of [Halko2011], with AᵀA in place of A and Aᵀ in turn.

    Parameters
    ----------
    n_components : an integer in 1..=1000000000; optional
        Number of components, at most the rank of the data; absent keeps 10, or the rank where that
        is less.
    iterations : an integer in 1..=1000000000; default 10
        Multiplications by AᵀA. More bring all closer to the exact ones, where singular values fall
        slowly.
    oversampling : an integer in 0..=1000000000; default 10
        Directions followed beyond those kept. More bring the last ones kept closer to the exact
        ones.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used as it is, None draws one.
    n_jobs : int, optional
        Threads; None and -1: one per core. Changes no result.

    References: Deerwester1990, Halko2011.
    """

    _tag = "lsi"

    def __init__(
        self,
        n_components: int | None = None,
        *,
        iterations: int = 10,
        oversampling: int = 10,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.iterations = iterations
        self.oversampling = oversampling
        self.random_state = random_state
        self.n_jobs = n_jobs


class MinMax(Transformer):
    """Scales every feature linearly to [0, 1]; a constant feature becomes 0.

    **Method**

    (x − smallest) / (largest − smallest), feature by feature, over all rows.

    **Input and output**

    n × d dense; the same shape. Sparse data is refused, since shifting would fill its zeros: add
    `densify` first.

    **Errors**

    `Feature` when the range of one exceeds the largest number.

    **Cost and randomness**

    O(n·d); nothing random.

    Parameters
    ----------
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used as it is, None draws one.
    n_jobs : int, optional
        Threads; None and -1: one per core. Changes no result.
    """

    _tag = "min_max"

    def __init__(
        self,
        *,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.random_state = random_state
        self.n_jobs = n_jobs


class MMC(Transformer):
    """Metric learning that spreads cannot-linked objects while must-linked ones stay together (Xing's
    MMC).

    **Method**

    Maximises g(A), the sum of the distances of cannot-linked objects, under f(A) ≤ 1, the sum of the
    squared distances of must-linked ones, over positive semi-definite A. Full: steps along the
    gradient of g orthogonal to that of f, each followed by alternating projections on both sets;
    g never falls, but the steps can end below the optimum, where a distance comes near 0, and well
    below it with few pairs. Diagonal: Newton's method on f(A) − log g(A) with A ≥ 0. Objects become
    A^(1/2)·x.

    **Input and output**

    n × d dense, both times. Weights of constraints are not read, contradictions do no harm. Without
    any constraint the data stays as it is. Pairs of equal objects count nothing.

    **Errors**

    `BadParam`, also without a cannot-link unless `no_cl` says what then; `NumericalFailure` when no
    must-linked objects differ, so that nothing bounds A.

    **Cost and randomness**

    O(m·d² + d³) per step over m pairs; nothing random. Memory O(d²), and 8 bytes for each pair.

    **References**

    [Xing2002]. Differs: `ridge`, without which g is unbounded as soon as must-links leave a
    direction free.

    Parameters
    ----------
    diagonal : true or false; default False
        Learn one weight per feature in place of a full matrix.
    max_iter : an integer in 1..=1000000000; default 1000
        Steps.
    no_cl : "error" or "all_non_ml"; default 'error'
        What to do where no cannot-link is given.
    ridge : a number >= 0; default 0.01
        What is added to the squared differences of must-linked objects in every direction, relative
        to their mean over the features.
    tol : a number >= 0; default 0.001
        Smallest step worth taking: relative to A (full), in log g (diagonal).
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used as it is, None draws one.
    n_jobs : int, optional
        Threads; None and -1: one per core. Changes no result.

    References: Xing2002, Eaton2005.
    """

    _tag = "mmc"

    def __init__(
        self,
        *,
        diagonal: bool = False,
        max_iter: int = 1000,
        no_cl: Literal["error", "all_non_ml"] = 'error',
        ridge: float = 0.01,
        tol: float = 0.001,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.diagonal = diagonal
        self.max_iter = max_iter
        self.no_cl = no_cl
        self.ridge = ridge
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs


class OneHot(Transformer):
    """Turns each column of words into one column of 0 and 1 per word.

    **Method**

    A row has 1 in the column of its word and 0 in those of the others; 0 in all of them where the word
    is missing, or was not there when the transform was fitted. Columns of numbers stay as they are, and
    the order of columns is kept. Two rows with different words are √2 apart, whatever
    the words: columns of numbers on another scale want `z_score` or `min_max` after it.
    A column of numbers with a cell that is not a number is refused; `columns` names those whose numbers are codes.

    **Input and output**

    n × d, a table or dense; n × (columns of numbers + words), dense where no number is missing
    (`impute_missing`). What is made of a word is called by column and word: `colour_red`.

    **Errors**

    `Feature` for a column of more than `max_words` different words; `BadParam` for `columns` in data without names.

    **Cost and randomness**

    O(n · columns made); nothing random.

    Parameters
    ----------
    columns : a list; default ()
        Columns of a file that hold categories, by name: their numbers are words too. In other
        columns numbers stay numbers.
    max_words : an integer in 1..=1000000000; default 100
        The most different words a column may hold: more are ids or text, not categories.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used as it is, None draws one.
    n_jobs : int, optional
        Threads; None and -1: one per core. Changes no result.
    """

    _tag = "one_hot"

    def __init__(
        self,
        *,
        columns: Sequence[Any] = (),
        max_words: int = 100,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.columns = columns
        self.max_words = max_words
        self.random_state = random_state
        self.n_jobs = n_jobs


class PCA(Transformer):
    """Principal component analysis: coordinates along the directions of largest variance, centred.

    **Method**

    Eigenvectors of the covariance of all rows, in the order of their eigenvalues; with fewer objects
    than features, those of the n × n inner products of the centred rows, which give the same
    directions. Objects become (x − mean)·V. The largest entry of each direction is positive. Nothing
    is scaled: put `z_score` before it where features have different units, or after it for components
    of equal spread.

    **Input and output**

    n × d dense; n × `components`. Sparse data is refused, since centring would fill its zeros: take
    `lsi`, or add `densify` first.

    **Errors**

    `BadParam` for more components than directions in which the objects differ; `Data` when they do not
    differ; `NumericalFailure` when the squares exceed the largest number.

    **Cost and randomness**

    O(n·d·m + m³), m the smaller of n and d; nothing random.

    **References**

    [Jolliffe2002].

    Parameters
    ----------
    n_components : an integer in 1..=1000000000 or a number in (0, 1]; optional
        Number of components, or the share of the variance that they explain at least; absent keeps
        all directions in which the objects differ.
    max_components : an integer in 1..=1000000000; optional
        Largest number of components. Unlike `components`, it may be larger than the number of
        directions in which the objects differ.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used as it is, None draws one.
    n_jobs : int, optional
        Threads; None and -1: one per core. Changes no result.

    References: Jolliffe2002.
    """

    _tag = "pca"

    def __init__(
        self,
        n_components: int | float | None = None,
        *,
        max_components: int | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.max_components = max_components
        self.random_state = random_state
        self.n_jobs = n_jobs


class RCA(Transformer):
    """Relevant component analysis: shrinks the directions in which must-linked objects differ.

    **Method**

    Chunklets are the components of at least two objects that must-links join; cannot-links are not
    used. Ĉ is the mean over their N members of (x − m)(x − m)ᵀ with m the mean of the chunklet,
    and objects become T·x with T = Ĉ^(−1/2), the symmetric root: inside chunklets the covariance
    is then the identity. With `dim` < d the directions of largest total spread against Ĉ are kept,
    each scaled to unit spread inside chunklets.

    **Input and output**

    n × d dense; n × d, or n × `dim`. Without a chunklet, and where no chunklet has any spread, the
    data stays as it is and a warning says so. Contradicting constraints do no harm.

    **Errors**

    `BadParam`; `NumericalFailure` when Ĉ is singular and `ridge` does not help.

    **Cost and randomness**

    O(N·d² + d³ + n·d·dim); nothing random. Fitted again whenever constraints change.

    **References**

    [Shental2002]; [BarHillel2005]. [Eaton2005] eq. 2.10 prints Ĉ as the metric, which is its
    inverse. Differs: a small ridge by default, so that few constraints do not fail.

    Parameters
    ----------
    dim : an integer in 1..=1000000000; optional
        Number of features to keep, at most the rank of the total spread; absent keeps all d.
    pca_first : an integer in 1..=1000000000 or a number in (0, 1]; optional
        Principal components of all objects to go over to first; absent keeps the features.
    ridge : a number >= 0; default 1e-08
        What is added to the diagonal of Ĉ, relative to its mean entry or, for a feature on a far
        smaller scale, to 10⁴ times its own.
    total : "chunklets" or "all"; default 'chunklets'
        Which objects give the total spread, where `dim` is given.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used as it is, None draws one.
    n_jobs : int, optional
        Threads; None and -1: one per core. Changes no result.

    References: Shental2002, BarHillel2005, Eaton2005.
    """

    _tag = "rca"

    def __init__(
        self,
        *,
        dim: int | None = None,
        pca_first: int | float | None = None,
        ridge: float = 1e-08,
        total: Literal["chunklets", "all"] = 'chunklets',
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.dim = dim
        self.pca_first = pca_first
        self.ridge = ridge
        self.total = total
        self.random_state = random_state
        self.n_jobs = n_jobs


class TfIdf(Transformer):
    """Weighs counts of terms: log-based tf–idf, `(1 + ln count) · ln(n / documents with the term)`.

    **Method**

    The weight of a term in a document is the product of `tf` and `idf`. The defaults are the
    log-based tf–idf of the literature on document clustering; lengths are left alone, so that
    usually `l2_rows` comes next.

    **Input and output**

    n documents × d terms, counts >= 0, dense or sparse; the same shape and kind, and the same
    stored entries. A term of no document has weight 0.

    **Errors**

    `Data` for a negative count, with its row and column.

    **Cost and randomness**

    O(stored entries); nothing random.

    **References**

    [Greene2007] names "log-based tf-idf" without the formula; [Salton1988] has the formulas.

    Parameters
    ----------
    idf : "log", "smooth" or "none"; default 'log'
        How the number of documents with a term enters.
    tf : "log", "log1p" or "raw"; default 'log'
        How the count of a term in a document enters.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used as it is, None draws one.
    n_jobs : int, optional
        Threads; None and -1: one per core. Changes no result.

    References: Greene2007, Salton1988.
    """

    _tag = "tf_idf"

    def __init__(
        self,
        *,
        idf: Literal["log", "smooth", "none"] = 'log',
        tf: Literal["log", "log1p", "raw"] = 'log',
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.idf = idf
        self.tf = tf
        self.random_state = random_state
        self.n_jobs = n_jobs


class ZScore(Transformer):
    """Shifts and scales every feature to mean 0 and standard deviation 1; a constant feature becomes 0.

    **Method**

    (x − mean) / deviation, feature by feature, over all rows; the mean is taken first, the squared
    differences after it.

    **Input and output**

    n × d dense; the same shape. Sparse data is refused, since shifting would fill its zeros: add
    `densify` first.

    **Errors**

    `Feature` when the squares of one exceed the largest number, or are too small to be told from 0.

    **Cost and randomness**

    O(n·d); nothing random.

    Parameters
    ----------
    deviation : "population" or "sample"; default 'population'
        Which standard deviation divides. The two differ by the factor √(n / (n − 1)), the same for
        all features.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used as it is, None draws one.
    n_jobs : int, optional
        Threads; None and -1: one per core. Changes no result.
    """

    _tag = "z_score"

    def __init__(
        self,
        *,
        deviation: Literal["population", "sample"] = 'population',
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.deviation = deviation
        self.random_state = random_state
        self.n_jobs = n_jobs
