# Written from the catalogue by `python -m mustlink._write`.
"""One transformer per transform."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from ._config import PluginLike
from ._transform import Transformer

__all__ = [
    "CountWords",
    "Densify",
    "DropConstant",
    "Gower",
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


class CountWords(Transformer):
    """Counts the words of texts: one column per word, sparse.

    **Method**

    A word is a run of at least two letters, digits and underscores of any script, in lower case. The value of a row
    is the number of times that the word occurs in its text. A missing or empty text gives a row of zeros, and words
    that did not occur when the transform was fitted are not counted. Columns of numbers are left out, with a warning.
    `tf_idf` and `l2_rows` usually follow.

    With `ngrams`, pieces of words are counted instead. They suit short texts, compound words and misspelt words. Here
    blanks alone separate words, and one blank is added before and after each word. If a word with its blanks is not
    longer than a length, it is counted whole, once. Pieces are in lower case, too.

    **Input and output**

    n × d, a table with at least one column of texts; n × words, sparse. The new columns are named by column and word:
    `body_court`. They follow the order of the columns, then of the characters of the words.

    **Errors**

    `DataError` if no column contains texts, or no word is in enough and in few enough rows; `ConfigError` for 0 in
    `ngrams`.

    **Cost and randomness**

    O(characters), each different text once; not random.

    **References**

    Counts are those of CountVectorizer in scikit-learn with its defaults, and with `analyzer="char_wb"` for `ngrams`.
    Differs: a combining vowel sign, as in Devanagari, belongs to its word and does not split it.

    Parameters
    ----------
    max_share : float above 0 and at most 1; default 1.0
        Largest share of the rows that a word may be in. With 0.5, most words like "the" are left
        out, in any language.
    min_rows : int, at least 1; default 1
        Smallest number of rows that a word must be in. With 2, words of a single text are left out.
    ngrams : list; default ()
        Numbers of characters of the pieces to count, such as [3, 4]. Empty: whole words.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Examples
    --------
    >>> from mustlink import CountWords
    >>> X = [["red ball"], ["blue, blue sky"]]
    >>> CountWords().fit_transform(X).toarray().tolist()
    [[1.0, 0.0, 1.0, 0.0], [0.0, 2.0, 0.0, 1.0]]
    """

    _tag = "count_words"

    def __init__(
        self,
        *,
        max_share: float = 1.0,
        min_rows: int = 1,
        ngrams: Sequence[Any] = (),
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.max_share = max_share
        self.min_rows = min_rows
        self.ngrams = ngrams
        self.random_state = random_state
        self.n_jobs = n_jobs


class Densify(Transformer):
    """Turns sparse rows into dense ones, with zeros written out.

    **Method**

    Values are copied. Dense data do not change.

    **Input and output**

    n × d, sparse or dense; n × d dense.

    **Cost and randomness**

    8·n·d bytes; not random.

    Parameters
    ----------
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Examples
    --------
    >>> from mustlink import Densify
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [8, 8], [8, 9], [9, 8], [9, 9]]
    >>> Densify().fit_transform(X).round(2).tolist()
    [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [8.0, 8.0], [8.0, 9.0], [9.0, 8.0], [9.0, 9.0]]
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

    A feature is kept if two rows differ in it (0 and −0 are one value). Methods that weigh features by how little
    they vary, such as `lac`, would otherwise give a constant feature the largest weight of all.

    **Input and output**

    n × d, dense or sparse; n × the kept features, in order, with their names.

    **Errors**

    `DataError` if every feature is constant.

    **Cost and randomness**

    O(stored entries); not random.

    Parameters
    ----------
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Examples
    --------
    >>> from mustlink import DropConstant
    >>> X = [[0, 5], [1, 5], [2, 5]]
    >>> DropConstant().fit_transform(X).round(2).tolist()
    [[0.0], [1.0], [2.0]]
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


class Gower(Transformer):
    """Turns a table of numbers and words into numbers, so that each column counts equally.

    **Method**

    Numbers are divided by their range. Each word becomes a column that is 0 or √½, and all columns are divided by √p
    for p columns of the table. The squared Euclidean distance of two rows is then the mean over the columns of the
    table of ((x − y) / range)² for numbers, and of 0 (equal) or 1 (different) for words. It is between 0 and 1.

    Gower takes |x − y| / range for numbers. If numbers have only two values, and in tables of words, both are the same:
    the squared distance is Gower's. Otherwise it is at most Gower's, because the square of a share is smaller. No
    clusterer sums absolute differences. If you need Gower's distance itself, pass a matrix of it to a clusterer that
    accepts distances: `Hierarchical(3, kind="distances")` in Python.

    With `one_hot` and `min_max`, different words have a squared distance of 2, twice that of the two ends of a range.
    With `one_hot` and `z_score`, rare words count more than frequent ones.

    A word that is missing, or did not occur when the transform was fitted, has 0 in all its columns: its squared
    distance to every word is ½. A missing number stays missing (`impute_missing`). Constant columns become 0.

    **Input and output**

    n × d, a table or dense; n × (columns of numbers + words), dense if no number is missing. New columns are named by
    column and word: `colour_red`. Each column of the table has the weight 1 / p in the mean, a constant one 0:
    `--weights` writes these weights.

    **Errors**

    `DataError` for a column of more than `max_words` different words, and for a range that exceeds the largest number;
    `ConfigError` for `columns` in data without names.

    **Cost and randomness**

    O(n · columns made); not random.

    **References**

    [Gower1971], with equal weights. Differs: squares of the differences of numbers, and missing values are not left
    out of the mean.

    Parameters
    ----------
    columns : list; default ()
        Names of file columns that hold categories, so that their numbers are words too. In other
        columns numbers stay numbers.
    max_words : int, at least 1; default 100
        Largest number of different words in a column. Columns with more are ids or text, not
        categories.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Examples
    --------
    >>> from mustlink import Gower
    >>> X = [["red"], ["blue"], ["red"]]
    >>> Gower().fit_transform(X).round(2).tolist()
    [[0.0, 0.71], [0.71, 0.0], [0.0, 0.71]]

    References: Gower1971.
    """

    _tag = "gower"

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


class ImputeMissing(Transformer):
    """Fills missing values: numbers with the mean or median of their column, words with the most frequent one.

    **Method**

    Each column is filled by itself, from its known values over all rows. Of equally frequent words, the first in the
    order of their characters is taken. Classes and constraints are not used.

    **Input and output**

    n × d, a table or dense; the same without gaps: dense unless a column holds words (`one_hot`).

    **Errors**

    `DataError` for a column without any value.

    **Cost and randomness**

    O(n·d), with the median O(n·d·log n); not random.

    Parameters
    ----------
    numbers : "mean", "median" or "zero"; default 'mean'
        Value that fills a gap in a column of numbers.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Examples
    --------
    >>> from mustlink import ImputeMissing
    >>> X = [[1.0], [float("nan")], [3.0]]
    >>> ImputeMissing().fit_transform(X).round(2).tolist()
    [[1.0], [2.0], [3.0]]
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
    """Information-theoretic metric learning: must-linked objects move together, and cannot-linked ones apart.

    **Method**

    The learned metric A is the one nearest to a prior metric A₀. The method minimises the LogDet divergence of A from
    A₀ under (x − y)ᵀA(x − y) ≤ u for must-links and ≥ ℓ for cannot-links, with slack. It projects on one constraint
    after the other (Bregman projections; must-links first, each kind by object) until their multipliers no longer
    change. Objects become A^(1/2)·x, the symmetric root. u and ℓ are percentiles of the squared distances of all
    pairs of objects, or of a sample of them, under A₀.

    **Input and output**

    n × d, dense, before and after. The weight of a constraint multiplies `gamma`; hard and soft marks are ignored, and
    contradictions are allowed. Constraints between equal objects are skipped. Without any constraint the metric is
    the prior.

    **Errors**

    `ConfigError`; `NumericalError` for features too large to square.

    **Cost and randomness**

    O(m·r² + r³) per sweep over m constraints with r = min(m, d): only directions in which a constrained pair differs
    can change. Memory O(d²). Random only in the sample of pairs.

    **References**

    [Davis2007], Algorithm 1. Differs: the step is γ/(γ + 1)·(1/p − 1/ξ), as in the authors' program, which is the
    projection; the printed (1/p − γ/ξ)/2 equals it only for γ = 1.

    Parameters
    ----------
    cannot_bound : float above 0; optional
        Smallest squared distance of cannot-linked objects (ℓ). If absent, a percentile.
    cannot_percentile : float between 0 and 100; default 95.0
        Percentile of the squared distances that gives ℓ.
    gamma : float above 0; default 1.0
        Cost of slack (γ): the larger, the more closely the bounds are kept.
    max_iter : int, at least 1; default 1000
        Maximum number of sweeps over all constraints.
    must_bound : float above 0; optional
        Largest squared distance of must-linked objects (u). If absent, a percentile.
    must_percentile : float between 0 and 100; default 5.0
        Percentile of the squared distances that gives u. If it is 0, the smallest distance above 0
        is used.
    prior : "identity" or "inverse_covariance"; default 'identity'
        Metric to stay close to (A₀).
    sampled_pairs : int, at least 1; default 10000
        Number of pairs of objects whose distances are used, or all pairs if there are fewer.
    tol : float, at least 0; default 0.001
        Smallest change of the multipliers, relative to their size, for which another sweep is made.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Examples
    --------
    >>> from mustlink import Constraints, ITML
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [8, 8], [8, 9], [9, 8], [9, 9]]
    >>> pairs = Constraints(must_link=[(0, 3), (4, 7)], cannot_link=[(0, 4)], n=8)
    >>> ITML().fit_transform(X, constraints=pairs).round(2).tolist()
    [[0.0, 0.0], [-0.09, 0.91], [0.91, -0.09], [0.82, 0.82], [6.6, 6.6], [6.51, 7.51], [7.51, 6.51], [7.42, 7.42]]

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
    """Scales every object to Euclidean length 1; an object of zeros stays unchanged.

    **Method**

    x / ‖x‖. Objects that differ only in scale become equal.

    **Input and output**

    n × d, dense or sparse; the same shape and kind, and the same stored entries. A warning reports the number of
    objects with only zeros, because under cosine they are not similar to any object.

    **Cost and randomness**

    O(stored entries); not random.

    Parameters
    ----------
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Examples
    --------
    >>> from mustlink import L2Rows
    >>> X = [[3, 4], [0, 2]]
    >>> L2Rows().fit_transform(X).round(2).tolist()
    [[0.6, 0.8], [0.0, 1.0]]
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

    A truncated singular value decomposition A ≈ U·Σ·Vᵀ; objects become A·V = U·Σ. The decomposition is randomised. A
    block of `components` + `oversampling` random directions is multiplied by AᵀA and made orthonormal again,
    `iterations` times. The decomposition is then computed inside the space that the block spans. The largest entry of
    each direction is positive.

    **Input and output**

    n × d, dense or sparse; n × `components` dense. Sparse data stay sparse internally. The mean is not subtracted,
    because that would fill the zeros; `pca` subtracts it. Usually used after `tf_idf` and `l2_rows`.

    **Errors**

    `ConfigError` for more components than the rank of the data; `DataError` when all values are 0. Singular values
    below about 1e-7 of the largest count as 0.

    **Cost and randomness**

    O(iterations · entries · c + iterations · d · c²), c = `components` + `oversampling`; random only in the first
    directions.

    **References**

    [Deerwester1990]; algorithm of [Halko2011], with AᵀA instead of A and Aᵀ in turn.

    Parameters
    ----------
    n_components : int, at least 1; optional
        Number of components, at most the rank of the data. If absent, 10, or the rank if that is
        smaller.
    iterations : int, at least 1; default 10
        Number of multiplications by AᵀA. More make all components more exact if singular values
        fall slowly.
    oversampling : int, at least 0; default 10
        Number of additional directions to compute. More directions make the last components kept
        more exact.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Examples
    --------
    >>> from mustlink import LSI
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [8, 8], [8, 9], [9, 8], [9, 9]]
    >>> LSI(n_components=1).fit_transform(X).round(2).tolist()
    [[0.0], [0.71], [0.71], [1.41], [11.31], [12.02], [12.02], [12.73]]

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

    n × d dense; the same shape. Sparse data are rejected, because shifting would fill their zeros: add `densify`
    first.

    **Errors**

    `DataError` when the range of a feature exceeds the largest number.

    **Cost and randomness**

    O(n·d); not random.

    Parameters
    ----------
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Examples
    --------
    >>> from mustlink import MinMax
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [8, 8], [8, 9], [9, 8], [9, 9]]
    >>> MinMax().fit_transform(X).round(2).tolist()
    [[0.0, 0.0], [0.0, 0.11], [0.11, 0.0], [0.11, 0.11], [0.89, 0.89], [0.89, 1.0], [1.0, 0.89], [1.0, 1.0]]
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
    """Metric learning that spreads cannot-linked objects while must-linked ones stay together (Xing's MMC).

    **Method**

    Maximises g(A), the sum of the distances of cannot-linked objects, under f(A) ≤ 1, the sum of the squared
    distances of must-linked ones, over positive semi-definite A. Full: steps along the gradient of g orthogonal to
    that of f, each followed by alternating projections on both sets. g never falls, but the steps can end below the
    optimum when a distance gets near 0, and well below it with few pairs. Diagonal: Newton's method on f(A) − log
    g(A) with A ≥ 0. Objects become A^(1/2)·x.

    **Input and output**

    n × d, dense, before and after. Weights of constraints are ignored, and contradictions are allowed. Without any
    constraint, the data do not change. Pairs of equal objects do not count.

    **Errors**

    `ConfigError`, also without a cannot-link unless `no_cl = "all_non_ml"`; `NumericalError` when no must-linked
    objects differ, so that nothing bounds A.

    **Cost and randomness**

    O(m·d² + d³) per step over m pairs; not random. Memory O(d²), and 8 bytes for each pair.

    **References**

    [Xing2002]. Differs: `ridge`, without which g is unbounded as soon as must-links leave a direction free.

    Parameters
    ----------
    diagonal : bool; default False
        Learn one weight per feature instead of a full matrix.
    max_iter : int, at least 1; default 1000
        Maximum number of steps.
    no_cl : "error" or "all_non_ml"; default 'error'
        Action if no cannot-link is given.
    ridge : float, at least 0; default 0.01
        Amount added to the squared differences of must-linked objects in every direction. It is
        relative to their mean over the features.
    tol : float, at least 0; default 0.001
        Size of a step below which steps end: relative to A (full), in log g (diagonal).
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Examples
    --------
    >>> from mustlink import Constraints, MMC
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [8, 8], [8, 9], [9, 8], [9, 9]]
    >>> pairs = Constraints(must_link=[(0, 3), (4, 7)], cannot_link=[(0, 4)], n=8)
    >>> MMC().fit_transform(X, constraints=pairs).round(2).tolist()
    [[0.0, 0.0], [0.25, 0.25], [0.25, 0.25], [0.5, 0.5], [3.99, 3.99], [4.24, 4.24], [4.24, 4.24], [4.49, 4.49]]

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

    A row has 1 in the column of its word and 0 in those of the others. It has 0 in all of them if the word is
    missing, or did not occur when the transform was fitted. Columns of numbers stay as they are, and the order of
    columns is kept. Two rows with different words are √2 apart, whatever the words are. If columns of numbers have
    another scale, add `z_score` or `min_max` after it. A column of numbers with a cell that is not a number is
    rejected; list columns whose numbers are codes in `columns`.

    **Input and output**

    n × d, a table or dense; n × (columns of numbers + words), dense if no number is missing (`impute_missing`). New
    columns are named by column and word: `colour_red`.

    **Errors**

    `DataError` for a column of more than `max_words` different words; `ConfigError` for `columns` in data without
    names.

    **Cost and randomness**

    O(n · columns made); not random.

    Parameters
    ----------
    columns : list; default ()
        Names of file columns that hold categories, so that their numbers are words too. In other
        columns numbers stay numbers.
    max_words : int, at least 1; default 100
        Largest number of different words in a column. Columns with more are ids or text, not
        categories.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Examples
    --------
    >>> from mustlink import OneHot
    >>> X = [["red"], ["blue"], ["red"]]
    >>> OneHot().fit_transform(X).round(2).tolist()
    [[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]
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

    Eigenvectors of the covariance of all rows, in the order of their eigenvalues. With fewer objects than features,
    those of the n × n inner products of the centred rows, which give the same directions. Objects become (x −
    mean)·V. The largest entry of each direction is positive. Features are not scaled: add `z_score` before it if
    features have different units, or after it for components of equal spread.

    **Input and output**

    n × d dense; n × `components`. Sparse data are rejected, because centring would fill their zeros: use `lsi`, or
    add `densify` first.

    **Errors**

    `ConfigError` for more components than directions in which the objects differ; `DataError` when they do not differ;
    `NumericalError` when the squares exceed the largest number.

    **Cost and randomness**

    O(n·d·m + m³), m the smaller of n and d; not random.

    **References**

    [Jolliffe2002].

    Parameters
    ----------
    n_components : int, at least 1 or float above 0 and at most 1; optional
        Number of components, or the share of the variance that they must at least explain. If
        absent, all directions in which the objects differ are kept.
    max_components : int, at least 1; optional
        Largest number of components. Unlike `components`, it may be larger than the number of
        directions in which the objects differ.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Examples
    --------
    >>> from mustlink import PCA
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [8, 8], [8, 9], [9, 8], [9, 9]]
    >>> PCA(n_components=1).fit_transform(X).round(2).tolist()
    [[-6.36], [-5.66], [-5.66], [-4.95], [4.95], [5.66], [5.66], [6.36]]

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

    Chunklets are the components of at least two objects that must-links join; cannot-links are not used. The matrix Ĉ
    is the mean over their N members of (x − m)(x − m)ᵀ with m the mean of the chunklet. Objects become T·x with T =
    Ĉ^(−1/2), the symmetric root: inside chunklets the covariance is then the identity. With `dim` < d the directions
    of largest total spread relative to Ĉ are kept, each scaled to unit spread inside chunklets.

    **Input and output**

    n × d dense; n × d, or n × `dim`. Without a chunklet, and if no chunklet has any spread, the data stay as they
    are, with a warning. Contradicting constraints are allowed. Must-links marked soft count like the others, or are
    left out if they contradict the others; both with a warning.

    **Errors**

    `ConfigError`; `NumericalError` when Ĉ is singular and `ridge` does not help.

    **Cost and randomness**

    O(N·d² + d³ + n·d·dim); not random. Fitted again whenever constraints change.

    **References**

    [Shental2002]; [BarHillel2005]. [Eaton2005] eq. 2.10 prints Ĉ as the metric, which is its inverse. Differs: a
    small ridge by default, so that few constraints do not fail.

    Parameters
    ----------
    dim : int, at least 1; optional
        Number of features to keep, at most the rank of the total spread. If absent, all d are kept.
    pca_first : int, at least 1 or float above 0 and at most 1; optional
        Principal components of all objects to use first: their number, or the share of the variance
        that they explain. If absent, the features are used.
    ridge : float, at least 0; default 1e-08
        Amount added to the diagonal of Ĉ, relative to its mean entry. For a feature on a far
        smaller scale, it is relative to 10⁴ times its own entry.
    total : "chunklets" or "all"; default 'chunklets'
        Objects that define the total spread, if `dim` is given.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Examples
    --------
    >>> from mustlink import Constraints, RCA
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [8, 8], [8, 9], [9, 8], [9, 9]]
    >>> pairs = Constraints(must_link=[(0, 1), (4, 6)], cannot_link=[(0, 4)], n=8)
    >>> RCA().fit_transform(X, constraints=pairs).round(2).tolist()
    [[0.0, 0.0], [0.0, 2.83], [2.83, 0.0], [2.83, 2.83], [22.63, 22.63], [22.63, 25.46], [25.46, 22.63], [25.46, 25.46]]

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
    """Weights counts of terms: log-based tf–idf, `(1 + ln count) · ln(n / documents with the term)`.

    **Method**

    The weight of a term in a document is the product of `tf` and `idf`. The defaults are the log-based tf–idf of the
    literature on document clustering. Lengths of documents do not change, so `l2_rows` usually follows.

    **Input and output**

    n documents × d terms, counts >= 0, dense or sparse; the same shape and kind, and the same stored entries. A term
    that occurs in no document has weight 0.

    **Errors**

    `DataError` for a negative count, with its row and column.

    **Cost and randomness**

    O(stored entries); not random.

    **References**

    [Greene2007] mentions "log-based tf-idf" without the formula; [Salton1988] has the formulas.

    Parameters
    ----------
    idf : "log", "smooth" or "none"; default 'log'
        Weight of the number of documents with a term.
    tf : "log", "log1p" or "raw"; default 'log'
        Weight of the count of a term in a document.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Examples
    --------
    >>> from mustlink import TfIdf
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [8, 8], [8, 9], [9, 8], [9, 9]]
    >>> TfIdf().fit_transform(X).round(2).tolist()
    [[0.0, 0.0], [0.0, 0.29], [0.29, 0.0], [0.29, 0.29], [0.89, 0.89], [0.89, 0.92], [0.92, 0.89], [0.92, 0.92]]

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

    (x − mean) / deviation, feature by feature, over all rows; the mean is computed first, then the squared
    differences.

    **Input and output**

    n × d dense; the same shape. Sparse data are rejected, because shifting would fill their zeros: add `densify`
    first.

    **Errors**

    `DataError` when the squares of a feature exceed the largest number, or are too small to be distinguished from 0.

    **Cost and randomness**

    O(n·d); not random.

    Parameters
    ----------
    deviation : "population" or "sample"; default 'population'
        Standard deviation that features are divided by. The two differ by the factor √(n / (n −
        1)), the same for all features.
    random_state : int, RandomState or None; default 0
        Seed of every random number: a whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Examples
    --------
    >>> from mustlink import ZScore
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [8, 8], [8, 9], [9, 8], [9, 9]]
    >>> ZScore().fit_transform(X).round(2).tolist()
    [[-1.12, -1.12], [-1.12, -0.87], [-0.87, -1.12], [-0.87, -0.87], [0.87, 0.87], [0.87, 1.12], [1.12, 0.87], [1.12, 1.12]]
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
