"""Frames, arrays and lists as people have them: each was once refused without a reason, or read as something else."""

import numpy as np
import pandas as pd
import pytest

import mustlink
from mustlink import Constraints, ImputeMissing, KMeans, OneHot, metrics
from mustlink.exceptions import DataError

X = np.random.default_rng(0).normal(size=(20, 3))
PARTITIONS = np.array([[0, 0, 1, 1], [0, 0, 1, -1], [1, 1, 0, 0]])


def unaligned(values):
    """The same numbers, each beginning between two words of memory."""
    made = np.ndarray(values.shape, values.dtype, buffer=bytearray(values.nbytes + 1), offset=1)
    made[:] = values
    assert not made.flags.aligned
    return made


def test_numbers_may_begin_anywhere_in_memory():
    weights = np.arange(1.0, 21)
    labels = KMeans(2).fit(X, sample_weight=weights).labels_
    assert np.array_equal(KMeans(2).fit(X, sample_weight=unaligned(weights)).labels_, labels)
    assert np.array_equal(ImputeMissing().fit_transform(unaligned(X)), ImputeMissing().fit_transform(X))
    pairs = [(0, 1), (2, 3)]
    given = Constraints.from_pairs(pairs, [1, -1], n=20, weights=unaligned(np.array([1.0, 2.0])))
    assert metrics.violations(np.arange(20), given, weighted=True) == 1.0


def test_categories_of_numbers_are_words():
    codes = [10001, 94103, 10001, 60601]
    words = pd.DataFrame({"zip": pd.Categorical(codes), "v": [0.0, 0.1, 0.2, 0.3]})
    same = words.assign(zip=[str(code) for code in codes])
    coded = OneHot().fit(words)
    assert np.array_equal(coded.transform(words), OneHot().fit_transform(same))
    assert coded.transform(words).shape == (4, 4)
    some = pd.DataFrame({"zip": pd.Categorical([60601, None]), "v": [1.0, 2.0]}, index=[7, 7])
    assert coded.transform(some).tolist() == [[0, 1, 0, 1], [0, 0, 0, 2]]
    assert words["zip"].dtype == "category"


def test_a_bad_cell_among_numbers_is_not_a_category():
    """Each number of the column became a category, without a warning."""
    size = [1.5, 2.5, "12o.5", *np.arange(27.0)]
    frame = pd.DataFrame({"size": size, "colour": ["red", "blue"] * 15})
    # pandas reads such a column of a file as texts.
    texts = frame.assign(size=[str(v) for v in size])
    two = {"type": "random_init", "members": 2}

    def generated(rows, steps=("one_hot",)):
        return mustlink.generate(rows, two, n_clusters=2, transforms=list(steps))

    method = mustlink.Method({"transforms": ["one_hot"], "clusterer": "kmeans"}, 2)
    said = "must be numbers, as most of its cells are, got the word '12o.5' in row 2; correct the cell"
    for rows in (frame, texts, frame.to_numpy(), frame.to_numpy().tolist()):
        name = "size" if rows is frame or rows is texts else "0"
        for fit in (OneHot().fit, ImputeMissing().fit, method.fit, generated):
            with pytest.raises(DataError, match=f"column {name}: {said}"):
                fit(rows)
    # A declared column holds words, whatever they look like.
    assert OneHot().fit_transform(frame.astype({"size": "category"})).shape == (30, 32)
    assert OneHot(columns=["size"]).fit_transform(frame).shape == (30, 32)
    step = {"type": "one_hot", "columns": ["size"]}
    assert len(mustlink.Method({"transforms": [step], "clusterer": "kmeans"}, 2).fit(frame).labels_) == 30
    assert generated(frame, [step]).shape == (2, 30)
    # So do codes next to words that are not rare.
    assert OneHot().fit_transform(pd.DataFrame({"children": ["0", "1", "2", "3+"] * 10})).shape == (40, 4)


def test_numbers_next_to_words_in_lists_stay_numbers():
    """NumPy makes words of them."""
    assert OneHot().fit_transform([[1.5, "red"], [2.5, "blue"]]).tolist() == [[1.5, 0, 1], [2.5, 1, 0]]


@pytest.mark.filterwarnings("ignore:.*missing value")
def test_frames_of_polars():
    pl = pytest.importorskip("polars")
    columns = {"c": ["a", "b", None, "a"], "v": [1.0, 2.0, None, 4.0]}
    for transform in (OneHot(), ImputeMissing()):
        ours = transform.fit(pl.DataFrame(columns))
        assert ours.feature_names_in_.tolist() == ["c", "v"]
        made = ours.transform(pl.DataFrame(columns)).tolist()
        theirs = transform.fit(pd.DataFrame(columns)).transform(pd.DataFrame(columns)).tolist()
        assert np.array_equal(np.array(made, dtype=str), np.array(theirs, dtype=str))


def test_a_column_alone_is_no_frame():
    with pytest.raises(ValueError, match="Expected a 2-dimensional container|Expected 2D array"):
        OneHot().fit(pd.Series(["a", "b"]))


def test_partitions_in_a_frame():
    """One in each column, as in a file of the command line; numbers name columns as words do."""
    frame = pd.DataFrame(PARTITIONS.T, columns=list("abc"))
    assert np.array_equal(mustlink.consensus(frame), mustlink.consensus(PARTITIONS))
    frame.columns = range(3)
    assert metrics.anmi([0, 0, 1, 1], frame) == metrics.anmi([0, 0, 1, 1], PARTITIONS)
    assert mustlink.consensus(PARTITIONS[0]).tolist() == [0, 0, 1, 1]


def test_a_member_of_another_length_is_named():
    with pytest.raises(DataError, match="member 1 has 2 labels, and there are 3 objects"):
        mustlink.consensus([[0, 1, 1], [0, 1]])
    with pytest.raises(DataError, match="member 0 has 4 labels, and there are 3 objects"):
        metrics.anmi([0, 1, 1], PARTITIONS)


def test_errors_call_columns_by_their_names():
    frame = pd.DataFrame({"size": [1.0, 2.0, 3.0], "mass": [1.0, np.inf, 2.0]})
    for estimator in (KMeans(2), mustlink.ZScore(), ImputeMissing()):
        with pytest.raises(DataError, match='row 1, column "mass": NaN or infinite'):
            estimator.fit(frame)
        with pytest.raises(DataError, match="row 1, column 1: NaN or infinite"):
            estimator.fit(frame.to_numpy())
    words = pd.DataFrame({"n": [1, 2, 3], "word": ["a", "b", "c"]})
    with pytest.raises(DataError, match='feature "word": 3 different words'):
        OneHot(max_words=2).fit(words)


def test_times_are_no_numbers():
    times = pd.to_datetime(["2020-01-01", "2021-01-01", "2022-01-01"])
    frame = pd.DataFrame({"v": [1.0, 2.0, 3.0], "when": times})
    for estimator in (KMeans(2), OneHot(), mustlink.ZScore()):
        with pytest.raises(DataError, match="column when: holds times .*; turn them into a number"):
            estimator.fit(frame)
        with pytest.raises(DataError, match="X: holds times"):
            estimator.fit(times.to_numpy()[:, None])
    with pytest.raises(DataError, match="X: holds times"):
        metrics.sse((times - times[0]).to_numpy()[:, None], [0, 0, 1])
    with pytest.raises(TypeError, match="column 1: float"):
        OneHot().fit(frame.assign(when=[t.date() for t in times]))
    pl = pytest.importorskip("polars")
    with pytest.raises(DataError, match="column when: holds times"):
        KMeans(2).fit(pl.DataFrame({"v": frame["v"].to_numpy(), "when": times.to_numpy()}))


@pytest.mark.filterwarnings("ignore:.*missing value")
def test_words_go_into_questions_and_ensembles():
    """They were refused as no numbers, whatever the transforms make of them."""
    rows = pd.DataFrame({"c": ["a", "b", "b", "a", None, "a", "a"], "v": [0, 1, 1.1, None, 0.2, 0.1, 0]})
    y = [0, 1, 1, 0, 0, 0, 0]
    steps = ["impute_missing", "one_hot"]
    two = {"type": "random_init", "members": 2}
    for transforms in (steps, [ImputeMissing(), {"type": "one_hot"}]):
        made = mustlink.generate(rows, two, n_clusters=2, transforms=transforms)
        assert all(metrics.ari(y, member) == 1.0 for member in made)
        assert mustlink.impute(rows, two, n_clusters=2, transforms=transforms).n_must_link == 11
        chosen = mustlink.select(rows, "min_max_selection", y_true=y, n_clusters=2, transforms=transforms)
        session = mustlink.Session(
            rows, "min_max_selection", clusterer="pck_means", n_clusters=2, transforms=transforms
        )
        for question in session:
            session.tell(y[question.i] == y[question.j])
        assert session.constraints_ == chosen and metrics.ari(y, session.labels_) == 1.0
    with pytest.raises(DataError, match="column c: must be numbers, got the word 'a'"):
        mustlink.generate(rows, two, n_clusters=2, transforms=["z_score"])
    with pytest.raises(mustlink.ConfigError, match="transforms: must be a list"):
        mustlink.generate(X, two, n_clusters=2, transforms="z_score")


def test_columns_of_one_name_are_rejected():
    """They were clustered, or the error was about something else."""
    frame = pd.DataFrame(np.arange(20.0).reshape(4, 5), columns=["a", "b", "a", "c", "b"])
    for use in (
        KMeans(2).fit,
        mustlink.ZScore().fit,
        mustlink.OneHot().fit,
        lambda X: mustlink.select(X, "random_pairs", y_true=[0, 0, 1, 1], budget=2),
    ):
        with pytest.raises(DataError, match="more than one column named 'a', 'b'. Rename"):
            use(frame)
