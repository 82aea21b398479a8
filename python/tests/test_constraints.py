"""Constraints find their rows, however scikit-learn splits them, or refuse."""

import io
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from mustlink import (
    Constraints,
    ConstraintError,
    COPKMeans,
    KMeans,
    MustlinkWarning,
    PCKMeans,
)
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import _is_arraylike

N = 60
X = np.random.default_rng(0).normal(size=(N, 2)) + 6 * (np.arange(N) % 3)[:, None]
CLASS = np.arange(N) % 3
IDS = np.array([f"p{i}" for i in range(N)])


def chain(m):
    """m pairs whose ends tell where they belong."""
    rng = np.random.default_rng(m)
    return np.sort(np.array([rng.choice(N, 2, replace=False) for _ in range(m)]), axis=1)


def true_constraints(m, **of):
    pairs = chain(m)
    signs = np.where(CLASS[pairs[:, 0]] == CLASS[pairs[:, 1]], 1, -1)
    return Constraints.from_pairs(IDS[pairs] if "ids" in of else pairs, signs, **of)


class Spy(PCKMeans):
    """Keeps what reaches the core, by the values of the rows."""

    seen = []

    def _run(self, X, y, constraints, sample_id, **more):
        found = super()._run(X, y, constraints, sample_id, **more)
        i, j, kind = found.constraints[:3]
        # In canonical form a pair counts once.
        Spy.seen.append({(X[a].tobytes(), X[b].tobytes(), int(k)) for a, b, k in zip(i, j, kind)})
        return found


def right(constraints):
    pairs, signs = constraints.pairs()
    rows = [X[p] for p in pairs]
    both = {(a.tobytes(), b.tobytes(), int(s)) for (a, b), s in zip(rows, signs)}
    return both | {(b, a, s) for a, b, s in both}


@pytest.mark.parametrize("m", [7, N - 20, N])
@pytest.mark.parametrize("by", ["n", "ids"])
def test_folds_keep_the_right_pairs(m, by):
    constraints = true_constraints(m, **({"n": N} if by == "n" else {"ids": IDS}))
    ids = np.arange(N) if by == "n" else IDS
    Spy.seen = []
    params = {"constraints": constraints, "sample_id": ids}
    cross_validate(Spy(3), X, CLASS, cv=KFold(3), params=params, scoring="rand_score")
    assert len(Spy.seen) == 3
    assert all(seen <= right(constraints) for seen in Spy.seen)
    assert any(Spy.seen) and not all(len(s) == m for s in Spy.seen)


@pytest.mark.parametrize("m", [7, N])
def test_a_search_over_a_pipeline_keeps_the_right_pairs(m):
    constraints = true_constraints(m, n=N)
    search = GridSearchCV(Spy(3), {"weight": [0.5, 2.0]}, cv=3, scoring="rand_score")
    Spy.seen = []
    search.fit(X, CLASS, constraints=constraints, sample_id=np.arange(N))
    assert len(Spy.seen) == 7
    assert all(seen <= right(constraints) for seen in Spy.seen)
    # The last fit is that of all rows: nothing is lost.
    assert {frozenset(p[:2]) for p in Spy.seen[-1]} == {frozenset(p[:2]) for p in right(constraints)}
    pipe = make_pipeline(StandardScaler(), PCKMeans(3))
    handed = {"pckmeans__constraints": constraints, "pckmeans__sample_id": np.arange(N)}
    scores = cross_validate(pipe, X, CLASS, cv=3, params=handed, scoring="rand_score")
    assert (scores["test_score"] > 0.9).all()


@pytest.mark.parametrize("m", [7, N - 20, N])
def test_without_ids_folds_refuse(m):
    params = {"constraints": true_constraints(m, n=N)}
    with pytest.raises(ValueError, match="made for 60 rows, but X has 40. If rows are split"):
        cross_validate(
            PCKMeans(3), X, CLASS, cv=3, params=params, scoring="rand_score", error_score="raise"
        )


@pytest.mark.parametrize("m", [7, N])
def test_arrays_are_refused(m):
    for raw in (chain(m), chain(m).tolist(), sp.csr_matrix((N, N))):
        with pytest.raises(ConstraintError, match="must be mustlink.Constraints"):
            PCKMeans(3).fit(X, constraints=raw)


def test_they_are_no_array():
    constraints = true_constraints(N, n=N)
    assert not _is_arraylike(constraints)
    for name in ("__len__", "shape", "__array__", "__getitem__", "__iter__"):
        assert not hasattr(constraints, name)


def test_every_way_gives_the_same():
    pairs, signs = np.array([[0, 3], [1, 2], [2, 3]]), np.array([1, -1, -1])
    one = Constraints(must_link=pairs[:1], cannot_link=pairs[1:], n=5)
    matrix = sp.lil_matrix((5, 5))
    for (i, j), s in zip(pairs, signs):
        matrix[i, j] = matrix[j, i] = s
    pd = pytest.importorskip("pandas")
    words = ["must_link", "cannot_link", "cannot_link"]
    frame = pd.DataFrame({"i": pairs[:, 0], "j": pairs[:, 1], "type": words})
    others = [
        Constraints.from_pairs(pairs, signs, n=5),
        Constraints.from_frame(frame, n=5),
        pickle.loads(pickle.dumps(one)),
    ]
    for other in others:
        assert other == one
    # Both halves, or either of them.
    for half in (matrix, sp.triu(matrix), sp.tril(matrix), matrix.toarray()):
        assert Constraints.from_matrix(half) == one


def test_files_go_both_ways(tmp_path):
    file = tmp_path / "pairs.csv"
    for of in ({"n": N}, {"ids": IDS}):
        given = true_constraints(9, **of)
        given.to_csv(file)
        assert Constraints.from_csv(file, **of) == given
    with pytest.raises(ValueError, match="pairs.csv, line 2"):
        file.write_text("i,j,type\n0,99,must_link\n")
        Constraints.from_csv(file, n=N)


def test_a_frame_is_read_as_its_file(tmp_path):
    pd = pytest.importorskip("pandas")
    file = tmp_path / "pairs.csv"
    file.write_text("i,j,type,weight,strength\n0,1,must_link,,hard\n1,2,cannot_link,2.5,\n")
    read = Constraints.from_frame(pd.read_csv(file), n=3)
    assert read == Constraints.from_csv(file, n=3)
    assert read.weights.tolist() == [1.0, 2.5]
    # Names of groups make words of the numbers in their column.
    for of in ({"n": 4}, {"ids": [10, 20, 30, 40]}, {"ids": ["x", "y", "z", "w"]}):
        ids = of.get("ids", range(4))
        given = Constraints(must_link=[(ids[0], ids[3])], apart=["a", "b", "a", "b"], weights=2.0, **of)
        given.to_csv(file)
        read = Constraints.from_frame(pd.read_csv(file), **of)
        assert read == Constraints.from_csv(file, **of)
        assert (read.n_must_link, read.n_groups) == (1, 2)
    rows = {"i": [0, 1, 2], "j": ["a", "a", "b"], "type": ["cannot_link_group"] * 3}
    assert Constraints.from_frame(pd.DataFrame(rows), n=3) == Constraints(apart=["a", "a", None], n=3)
    with pytest.raises(ConstraintError, match="group 'a' must have the same weight"):
        Constraints.from_frame(pd.DataFrame({**rows, "weight": [1, 2, 1]}), n=3)
    with pytest.raises(ConstraintError, match="a cannot_link_group needs its name there"):
        Constraints.from_frame(pd.DataFrame({**rows, "j": ["a", None, "b"]}), n=3)


def test_wrong_ones_are_refused():
    matrix = sp.csr_matrix([[0.0, 1, 0], [1, 0, 2], [0, 3, 0]])
    with pytest.raises(ConstraintError, match=r"entry \(2, 1\) is 3.0 and entry \(1, 2\) is 2.0; must be equal"):
        Constraints.from_matrix(matrix)
    for weights in (-1, 1e308, (None, [1.0, np.nan])):
        said = r"weights(\[1\])?: must be a number between 0 and 1e100, got (-1|1e\+308|nan)"
        with pytest.raises(ConstraintError, match=said):
            Constraints(must_link=[(0, 1)], cannot_link=[(0, 2), (1, 2)], n=5, weights=weights)
    with pytest.raises(ConstraintError, match="weights: must be a number between 0 and 1e100"):
        Constraints(apart=["a", "a"], n=2, weights=-1)
    for n in (-3, 2.5):
        with pytest.raises(ConstraintError, match=f"n: must be a whole number of at least 0, the number of objects, got {n}"):
            Constraints(n=n)
    with pytest.raises(ConstraintError, match="y: 10001 known objects make 50005000 pairs, more than 50000000"):
        Constraints.from_labels(np.zeros(10_002, int) - (np.arange(10_002) == 7))
    with pytest.raises(ConstraintError, match="pass either n"):
        Constraints(must_link=[(0, 1)])
    with pytest.raises(ConstraintError, match="object 9 does not exist; objects are 0 to 4"):
        Constraints(must_link=[(0, 9)], n=5)
    with pytest.raises(ConstraintError, match="object -1 does not exist"):
        Constraints(must_link=[(0, -1)], n=5)
    with pytest.raises(ConstraintError, match="no object has the id 'z'"):
        Constraints(cannot_link=[("a", "z")], ids=["a", "b"])
    with pytest.raises(ConstraintError, match="occurs twice"):
        Constraints(cannot_link=[("a", "b")], ids=["a", "b", "a"])
    with pytest.raises(ConstraintError, match=r"shape \(m, 2\)"):
        Constraints(must_link=[0, 1], n=5)
    with pytest.raises(ConstraintError, match="an id occurs twice"):
        PCKMeans(2).fit(X, constraints=true_constraints(3, n=N), sample_id=np.zeros(N, int))


def test_moments_are_ids():
    days = pd.date_range("2026-01-01", periods=4)
    for ids in (days, days.to_numpy(), list(days), list(days.to_numpy()), pd.Series(days)):
        for pair in ([(days[0], days[2])], [tuple(days.to_numpy()[[0, 2]])], days.to_numpy()[[0, 2]][None]):
            made = Constraints(must_link=pair, ids=ids)
            assert made.pairs()[0].tolist() == [[0, 2]]
            assert made.at(days[[2, 0]])[0].pairs()[0].tolist() == [[1, 0]]


def test_what_nobody_reads_is_said():
    with pytest.warns(MustlinkWarning, match="kmeans reads no constraints: 5 given constraints change"):
        KMeans(3).fit(X, constraints=true_constraints(5, n=N))


def test_weights_and_strength_reach_the_method():
    pair = [(0, 1)]
    light = Constraints(must_link=pair, n=N, weights=1e-6)
    heavy = Constraints(must_link=pair, n=N, weights=1e6)
    labels = [PCKMeans(3, weight=1.0).fit(X, constraints=c).labels_ for c in (light, heavy)]
    assert labels[0][0] != labels[0][1]
    assert labels[1][0] == labels[1][1]
    hard = Constraints(must_link=pair, n=N, strength="hard")
    with pytest.raises(ConstraintError, match="is marked hard, and pck_means does not promise"):
        PCKMeans(3).fit(X, constraints=hard)


def test_lost_pairs_are_counted():
    constraints = true_constraints(30, n=N)
    fitted = PCKMeans(3).fit(X[:30], constraints=constraints, sample_id=np.arange(30))
    pairs, _ = constraints.pairs()
    assert fitted.n_constraints_dropped_ == np.count_nonzero((pairs >= 30).any(axis=1)) > 0


def test_known_classes_are_constraints():
    y = np.where(np.arange(N) % 5 == 0, CLASS, -1)
    with pytest.warns(MustlinkWarning, match="k = 3, the number of classes of the"):
        fitted = PCKMeans().fit(X, y)
    assert fitted.labels_.max() == 2
    as_floats = np.where(y < 0, np.nan, y)
    as_objects = np.array([None if c < 0 else f"c{c}" for c in y], dtype=object)
    for same in (as_floats, as_objects, y.tolist()):
        assert np.array_equal(PCKMeans(3).fit(X, same).labels_, fitted.labels_)
    # All classes are what scores are made by: they say nothing to the method.
    assert np.array_equal(PCKMeans(3).fit(X, CLASS).labels_, PCKMeans(3).fit(X).labels_)


@pytest.mark.filterwarnings("ignore:constraints. have ids")
def test_errors_name_objects_by_their_ids():
    ids = [f"p{i}" for i in range(N)]
    pairs = Constraints(must_link=[("p1", "p2")], cannot_link=[("p2", "p1")], ids=ids)
    from mustlink import COPKMeans, InconsistentConstraintsError

    for given in ({}, {"sample_id": ids}):
        with pytest.raises(InconsistentConstraintsError, match="cannot-link p1–p2 contradicts"):
            COPKMeans(3).fit(X, constraints=pairs, **given)


def test_groups_are_their_pairs():
    """A group does what its pairs do, in fits, in folds, in files and put together."""
    photo = [i // 3 if i < 30 else None for i in range(N)]
    pairs = [(a, b) for g in range(10) for a, b in [(3 * g, 3 * g + 1), (3 * g, 3 * g + 2), (3 * g + 1, 3 * g + 2)]]
    apart = Constraints(must_link=[(30, 33)], apart=photo, n=N)
    listed = Constraints(must_link=[(30, 33)], cannot_link=pairs, n=N)
    assert repr(apart) == f"Constraints(1 must-link, 0 cannot-links, 10 groups apart, n={N})"
    assert apart.groups()["2"].tolist() == [6, 7, 8]
    for method in (PCKMeans(3, random_state=0), COPKMeans(3, random_state=0)):
        ours, theirs = (method.fit_predict(X, constraints=c) for c in (apart, listed))
        assert np.array_equal(ours, theirs) or isinstance(method, COPKMeans)
        assert all(len({ours[i] for i in rows}) == 3 for rows in apart.groups().values()) or isinstance(
            method, PCKMeans
        )
    rows = np.arange(0, N, 2)
    kept, _ = apart.at(rows)
    assert [len(rows) for rows in kept.groups().values()] == [2, 1] * 5
    both = apart.union(Constraints(apart=["x"] * 2 + [None] * (N - 2), n=N))
    assert both.n_groups == 11
    assert pickle.loads(pickle.dumps(both)) == both


def test_groups_in_files(tmp_path):
    apart = Constraints(cannot_link=[("v", "z")], apart=["a", "a", "", "b", "b"], ids="vwxyz", strength="hard")
    apart.to_csv(tmp_path / "pairs.csv")
    again = Constraints.from_csv(tmp_path / "pairs.csv", ids="vwxyz")
    assert again == apart


def test_groups_of_one_name_stay_two(tmp_path):
    first, second = (Constraints(apart=apart, n=4) for apart in (["a", "a", "", ""], ["", "", "a", "a"]))
    both = first.union(second)
    assert {name: rows.tolist() for name, rows in both.groups().items()} == {"a": [0, 1], "a (2)": [2, 3]}
    both.to_csv(tmp_path / "groups.csv")
    assert Constraints.from_csv(tmp_path / "groups.csv", n=4) == both


def test_a_group_larger_than_k_is_refused_by_its_name():
    with pytest.raises(ConstraintError, match="beach"):
        COPKMeans(2).fit(X[:6], constraints=Constraints(apart=["beach"] * 3 + [None] * 3, n=6))
    with pytest.raises(ConstraintError, match="one group for each object"):
        Constraints(apart=["a"], n=6)


def test_weights_are_of_the_kind_they_are_meant_for():
    """A list of two was taken as one weight for each of two pairs, of both kinds."""
    must, cannot = [(0, 1), (2, 3)], [(0, 2), (1, 3)]
    assert Constraints(must, cannot, n=4, weights=(10.0, 0.1)).weights.tolist() == [10.0, 10.0, 0.1, 0.1]
    for weights in ([10.0, 0.1], np.array([10.0, 0.1]), (1.0, 2.0, 3.0)):
        with pytest.raises(ConstraintError, match="weights: must be a number, or a tuple of what the must-links"):
            Constraints(must, cannot, n=4, weights=weights)
    assert Constraints(must, n=4, weights=[10.0, 0.1]).weights.tolist() == [10.0, 0.1]
    assert Constraints(cannot_link=cannot, n=4, weights=[10.0, 0.1]).weights.tolist() == [10.0, 0.1]
    with pytest.raises(ConstraintError, match="weights: must be numbers of at least 0: could not convert"):
        Constraints(must, n=4, weights="heavy")


def test_missing_values_of_pandas_are_missing():
    for apart in (pd.Series(["a", "a", pd.NA], dtype="string"), ["a", "a", pd.NA]):
        assert Constraints(apart=apart, n=3).groups()["a"].tolist() == [0, 1]
    frame = pd.DataFrame({"i": [0], "j": [1], "type": ["must_link"]})
    for strength in (pd.array([None], dtype="string"), [pd.NA]):
        assert Constraints.from_frame(frame.assign(strength=strength), n=2) == Constraints([(0, 1)], n=2)
    with pytest.raises(ConstraintError, match="type: row 0: must be .*, got <NA>"):
        Constraints.from_frame(frame.assign(type=[pd.NA]), n=2)


def test_ids_of_several_kinds_and_pairs_as_ids():
    """NumPy makes texts of the first and a matrix of the second."""
    for ids in (["a", 1, "c"], [(1, 2), (3, 4), (5, 6)]):
        made = Constraints(must_link=[(ids[0], ids[1])], ids=ids)
        assert made.pairs()[0].tolist() == [[0, 1]]
        assert made.at(ids[::-1])[0].pairs()[0].tolist() == [[2, 1]]
    with pytest.raises(ConstraintError, match="ids: must be numbers, words or times, one per row: unhashable"):
        Constraints(must_link=[(1, 2)], ids=[[1], [2]])


def test_what_is_none_is_named():
    with pytest.raises(ConstraintError, match='strength: must be "soft" or "hard", got \\[.hard.\\]'):
        Constraints([(0, 1)], n=2, strength=["hard"])
    with pytest.raises(ConstraintError, match="union: must be given mustlink.Constraints, got list"):
        Constraints(n=2).union([(0, 1)])
    with pytest.raises(ConstraintError, match=r"matrix: entry \(0, 1\) must be a finite number, got nan"):
        Constraints.from_matrix([[0, np.nan], [np.nan, 0]])
