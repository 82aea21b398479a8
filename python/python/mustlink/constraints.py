"""Knowledge about pairs of objects, in a form that cross-validation cannot corrupt."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from . import _mustlink
from ._data import _absent, classes, doubles, row_names, warn, with_default_index
from ._given import GROUP, NO_GROUPS, gathered, grouped, is_pair, moment, moments, of_kinds, strength_of, weights_of
from .exceptions import ConstraintError

_MOST_PAIRS = 50_000_000
_KINDS = {"must_link": 1, "cannot_link": -1, "must-link": 1, "cannot-link": -1}


class Constraints:
    """Must-links and cannot-links between objects, given by row number or by id.

    In cross-validation, scikit-learn splits every argument that looks like an array with one entry per row. It passes
    everything else on unchanged, so pairs of row numbers would refer to other rows in every fold. A ``Constraints``
    object is therefore not an array: it has no length, no shape and no items. It stores the number of objects and
    rejects data with another number of rows.

    In folds, constraints find their rows by id. Pass ``sample_id`` to ``fit``: an array with the id (or the row
    number) of each row, which scikit-learn splits like ``X``. Pairs that lose an end are left out and counted.

    Outside folds, a pandas frame with all rows does not need ``sample_id`` if its index contains the ids: its rows are
    matched by the index, in any order. In folds it does.

    Parameters
    ----------
    must_link, cannot_link : array of shape (m, 2), optional
        Pairs, of row numbers in ``0..n`` or of ids.
    n : int, optional
        Number of objects.
    ids : sequence, optional
        The id of each object, in the order of the rows; instead of ``n``. If it is a frame, its index is used; if it
        is an AnnData, its ``obs_names``.
    weights : (array, array) or number, optional
        Cost of breaking a constraint: for the must-links and for the cannot-links. Default: 1. A single array
        is used if only one kind of constraint is given.
    strength : "soft", "hard" or None
        Mark of all constraints; None leaves the choice to the method.
    apart : sequence, optional
        The group of each object, in the order of the rows: no two objects of one group belong
        together. None, NaN and "" mean that an object has no group. A group of a thousand objects is stored as a
        thousand entries, not as half a million pairs.

    Examples
    --------
    >>> from mustlink import Constraints
    >>> Constraints(must_link=[(0, 2)], cannot_link=[(0, 1), (1, 2)], n=4)
    Constraints(1 must-link, 2 cannot-links, n=4)
    >>> Constraints(must_link=[("a", "c")], ids=["a", "b", "c"]).pairs()
    (array([[0, 2]]), array([1]))
    >>> Constraints(apart=["photo 1", "photo 1", None, "photo 2", "photo 2"], n=5)
    Constraints(0 must-links, 0 cannot-links, 2 groups apart, n=5)
    """

    n: int
    ids: tuple[Any, ...] | None
    _columns: tuple[Any, ...]

    def __init__(
        self,
        must_link: Any = None,
        cannot_link: Any = None,
        n: int | None = None,
        ids: Iterable[Any] | None = None,
        *,
        weights: Any = None,
        strength: str | None = None,
        apart: Iterable[Any] | None = None,
    ) -> None:
        if (n is None) == (ids is None):
            raise ConstraintError(
                "constraints: pass either n, the number of rows, or ids, one for each row"
            )
        if n is not None and not (isinstance(n, (int, np.integer)) and n >= 0):
            raise ConstraintError(f"n: must be a whole number of at least 0, the number of objects, got {n!r}")
        self.ids = None if ids is None else tuple(moments(_listed(ids)))
        self.n = int(n) if self.ids is None and n is not None else len(self.ids or ())
        self._places: dict[Any, int] | None = None
        must, cannot = self._rows(must_link, "must_link"), self._rows(cannot_link, "cannot_link")
        pairs = np.concatenate([must, cannot])
        kinds = np.repeat(np.array([1, -1], np.int8), [len(must), len(cannot)])
        of_must, of_cannot = of_kinds(weights, len(must), len(cannot))
        weight = np.concatenate([weights_of(of_must, len(must)), weights_of(of_cannot, len(cannot))])
        groups = NO_GROUPS
        if apart is not None:
            each = 1.0 if np.ndim(of_cannot) else float(weights_of(of_cannot, 1)[0])
            groups = grouped(list(apart), self.n, each, strength_of(strength))
        self._set(pairs, kinds, weight, np.full(len(pairs), strength_of(strength), np.int8), groups)

    def _set(
        self, pairs: Any, kinds: Any, weights: Any, strengths: Any, groups: Any = NO_GROUPS
    ) -> None:
        self._columns = (
            np.ascontiguousarray(pairs[:, 0], np.uint32),
            np.ascontiguousarray(pairs[:, 1], np.uint32),
            np.ascontiguousarray(kinds, np.int8),
            doubles(weights),
            np.ascontiguousarray(strengths, np.int8),
            groups,
        )

    def _rows(self, pairs: Any, name: str) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Pairs of two objects as row numbers."""
        rows = self._ends(pairs, name)
        same = np.flatnonzero(rows[:, 0] == rows[:, 1])
        if len(same):
            own = int(rows[same[0], 0])
            of = own if self.ids is None else repr(self.ids[own])
            raise ConstraintError(f"{name}: pair {same[0]} links object {of} to itself; a pair needs two objects")
        return rows

    def _ends(self, pairs: Any, name: str) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Both ends of each pair as row numbers."""
        if pairs is None:
            return np.empty((0, 2), np.int64)
        pairs = pairs if hasattr(pairs, "__array__") else list(pairs)
        if self.ids is not None and isinstance(pairs, list) and all(is_pair(pair) for pair in pairs):
            # NumPy would make texts of ids of several kinds, and a matrix of ids that are tuples.
            ends = [moment(end) for pair in pairs for end in pair]
            return self._find(ends, name).reshape(-1, 2)
        given: np.ndarray[Any, Any] = moments(np.asarray(pairs))
        if given.size == 0:
            return np.empty((0, 2), np.int64)
        if given.ndim != 2 or given.shape[1] != 2:
            raise ConstraintError(f"{name}: must be pairs, of shape (m, 2), got {given.shape}")
        if self.ids is not None:
            return self._find(given.ravel().tolist(), name).reshape(-1, 2)
        if given.dtype.kind not in "iu":
            raise ConstraintError(
                f"{name}: must be row numbers, 0 to {self.n - 1}, got {given.dtype}; give ids, if these are"
            )
        if given.min() < 0 or given.max() >= self.n:
            wrong = given[(given < 0) | (given >= self.n)][0]
            raise ConstraintError(f"{name}: object {wrong} does not exist; objects are 0 to {self.n - 1}")
        return given.astype(np.int64)

    def _find(self, ids: Sequence[Any], name: str) -> np.ndarray[Any, np.dtype[np.int64]]:
        if self._places is None:
            own = self.ids if self.ids is not None else range(self.n)
            try:
                self._places = {id_: row for row, id_ in enumerate(own)}
            except TypeError as wrong:
                raise ConstraintError(f"ids: must be numbers, words or times, one per row: {wrong}") from None
            missing = next((row for row, id_ in enumerate(own) if self.ids is not None and _absent(id_)), None)
            if missing is not None:
                raise ConstraintError(f"ids: the id of row {missing} is missing; every object needs one of its own")
            if len(self._places) < self.n:
                raise ConstraintError("ids: an id occurs twice; every object needs one of its own")
        try:
            return np.array([self._places[id_] for id_ in ids], np.int64)
        except KeyError as missing:
            raise ConstraintError(f"{name}: no object has the id {missing}") from None
        except TypeError as wrong:
            raise ConstraintError(f"{name}: must be numbers, words or times, as ids are: {wrong}") from None

    @classmethod
    def _of(cls, columns: Any, n: int, ids: Any) -> Constraints:
        made = cls(n=n) if ids is None else cls(ids=ids)
        made._columns = tuple(columns)
        return made

    @classmethod
    def from_pairs(
        cls,
        pairs: Any,
        signs: Any,
        n: int | None = None,
        ids: Iterable[Any] | None = None,
        *,
        weights: Any = None,
        strength: str | None = None,
    ) -> Constraints:
        """Make constraints from pairs and one +1 (must-link) or -1 (cannot-link) for each.

        >>> Constraints.from_pairs([(0, 1), (1, 2)], [1, -1], n=3)
        Constraints(1 must-link, 1 cannot-link, n=3)
        """
        made = cls(n=n, ids=ids)
        rows, signs = made._rows(pairs, "pairs"), np.asarray(signs)
        if signs.shape != (len(rows),) or not np.isin(signs, (-1, 1)).all():
            raise ConstraintError("signs: must be +1 or -1, one for each pair")
        strengths = np.full(len(rows), strength_of(strength), np.int8)
        made._set(rows, signs, weights_of(weights, len(rows)), strengths)
        return made

    @classmethod
    def from_matrix(cls, matrix: Any, ids: Iterable[Any] | None = None) -> Constraints:
        """Make constraints from a sparse n x n matrix.

        Positive entries are must-links, negative entries cannot-links; the absolute value is the weight. Entries
        on both sides of the diagonal count once.

        >>> import scipy.sparse as sp
        >>> Constraints.from_matrix(sp.csr_matrix([[0, 1, -1], [0, 0, 0], [0, 0, 0]]))
        Constraints(1 must-link, 1 cannot-link, n=3)
        """
        import scipy.sparse as sp

        entries = sp.coo_matrix(matrix)
        n, columns = entries.shape
        if n != columns:
            raise ConstraintError(f"matrix: must be square, got {entries.shape}")
        made = cls(n=n) if ids is None else cls(ids=ids)
        if made.n != n:
            raise ConstraintError(f"ids: must be one per row, {n}, got {made.n}")
        entries.sum_duplicates()
        if not np.isfinite(entries.data).all():
            at = np.flatnonzero(~np.isfinite(entries.data))[0]
            entry = (int(entries.row[at]), int(entries.col[at]))
            raise ConstraintError(f"matrix: entry {entry} must be a finite number, got {entries.data[at]}")
        used = (entries.data != 0) & (entries.row != entries.col)
        values = entries.data[used]
        ends = np.stack([entries.row[used], entries.col[used]], axis=1)
        pairs, first, place = np.unique(
            np.sort(ends, axis=1), axis=0, return_index=True, return_inverse=True
        )
        unequal = np.flatnonzero(values != values[first][place.ravel()])
        if len(unequal):
            at = unequal[0]
            (i, j), other = ends[at].tolist(), values[first][place.ravel()][at]
            raise ConstraintError(
                f"matrix: entry ({i}, {j}) is {values[at]} and entry ({j}, {i}) is {other}; must be equal, or one of "
                "them 0: pass one half only, as scipy.sparse.triu returns it"
            )
        values = values[first]
        signs = np.where(values > 0, 1, -1)
        made._set(pairs, signs, weights_of(np.abs(values), len(pairs)), np.zeros(len(pairs), np.int8))
        return made

    @classmethod
    def from_frame(
        cls, frame: Any, n: int | None = None, ids: Iterable[Any] | None = None
    ) -> Constraints:
        """Make constraints from a frame with the columns that ``to_frame`` and ``to_csv`` write.

        The columns are ``i``, ``j`` and ``type`` (must_link or cannot_link); ``weight`` (1 if missing) and
        ``strength`` (soft or hard) are optional. A row of type cannot_link_group puts object ``i`` into the group
        named in ``j``.
        """
        made = cls(n=n, ids=ids)
        columns = [str(c) for c in frame.columns]
        missing = [c for c in ("i", "j", "type") if c not in columns]
        if missing:
            raise ConstraintError(f"frame: no column {missing[0]}; it has {', '.join(columns)}")
        kinds = []
        for at, word in enumerate(np.asarray(frame["type"]).tolist()):
            if not isinstance(word, str) or (word not in _KINDS and word != GROUP):
                raise ConstraintError(
                    f'type: row {at}: must be "must_link", "cannot_link" or "{GROUP}", got {word!r}'
                )
            kinds.append(_KINDS.get(word, 0))
        i, j = (np.asarray(frame[c]).tolist() for c in ("i", "j"))
        of_group = [at for at, kind in enumerate(kinds) if kind == 0]
        pair = [at for at, kind in enumerate(kinds) if kind != 0]
        if of_group:
            # Group names turn the numbers in the same column into words.
            j = [made._number(end) if kind else end for end, kind in zip(j, kinds)]
        pairs = made._rows([(i[at], j[at]) for at in pair], "frame")
        weights = None
        if "weight" in columns:
            weights = np.asarray(frame["weight"], float)
            weights = np.where(np.isnan(weights), 1.0, weights)
        weights = weights_of(weights, len(kinds))
        given = np.asarray(frame["strength"]).tolist() if "strength" in columns else None
        strengths = np.array([strength_of(s) for s in given or [None] * len(kinds)], np.int8)
        members = made._ends([(i[at], i[at]) for at in of_group], "frame")[:, 0]
        groups = gathered(
            members, [j[at] for at in of_group], weights[of_group], strengths[of_group]
        )
        made._set(pairs, np.array(kinds, np.int8)[pair], weights[pair], strengths[pair], groups)
        return made

    def _number(self, end: Any) -> Any:
        """Convert a row number or an id that is written as text."""
        own = range(self.n) if self.ids is None else self.ids
        return int(end) if isinstance(end, str) and end.isdecimal() and end not in own else end

    @classmethod
    def from_csv(
        cls,
        file: str | os.PathLike[str],
        n: int | None = None,
        ids: Iterable[Any] | None = None,
    ) -> Constraints:
        """Make constraints from a CSV ``i,j,type,weight,strength``, as ``mustlink select`` writes it."""
        made = cls(n=n, ids=ids)
        texts = None if made.ids is None else [str(id_) for id_ in made.ids]
        made._columns = _mustlink.read_constraints(os.fspath(file), made.n, texts)
        return made

    @classmethod
    def from_labels(cls, y: Any, ids: Iterable[Any] | None = None) -> Constraints:
        """Make all constraints that follow from known classes, pair by pair.

        -1, NaN and None are unknown classes, and so are the texts ``""``, ``"?"``, ``"NA"``, ``"N/A"``, ``"NaN"``,
        ``"null"`` (in upper or lower case), ``"None"`` and ``"-1"``, as in CSV files.

        With more than 10 000 known objects, use ``fit(X, y)`` instead: it takes ``y`` itself and keeps only
        constraints from which the others follow.

        If ``y`` is a pandas Series and ``ids`` are missing, its index contains the ids, unless it is the default one.

        >>> Constraints.from_labels([0, -1, 0, 1])
        Constraints(1 must-link, 2 cannot-links, n=4)
        """
        n = len(y)
        codes = classes(y, n)
        assert codes is not None
        known = np.flatnonzero(codes >= 0)
        m = len(known)
        if m * (m - 1) // 2 > _MOST_PAIRS:
            raise ConstraintError(
                f"y: {m} known objects make {m * (m - 1) // 2} pairs, more than {_MOST_PAIRS}; give y, with -1 "
                "for unknown ones, to fit, which keeps those from which the others follow"
            )
        a, b = np.triu_indices(m, 1)
        pairs = np.stack([known[a], known[b]], axis=1)
        signs = np.where(codes[pairs[:, 0]] == codes[pairs[:, 1]], 1, -1)
        if ids is None and not with_default_index(y):
            ids = row_names(y)
        made = cls(n=n) if ids is None else cls(ids=ids)
        if made.n != n:
            raise ConstraintError(f"ids: must be one per row, {n}, got {made.n}")
        # An index may contain a name twice, or none.
        made._find([], "ids")
        made._set(pairs, signs, np.ones(len(pairs)), np.zeros(len(pairs), np.int8))
        return made

    def to_frame(self) -> Any:
        """Return a pandas DataFrame that ``from_frame`` can read.

        It has the columns ``i``, ``j``, ``type``, ``weight`` and ``strength``. There is one row for each pair and one
        for each member of a group, with the name of the group in ``j``.

        >>> Constraints(must_link=[(0, 1)], n=3).to_frame()
           i  j       type  weight strength
        0  0  1  must_link     1.0     None
        """
        import pandas as pd

        i, j, kinds, weights, strengths, (members, group, names, of_groups, binding) = self._columns
        ends = [[self.ids[row] for row in rows] if self.ids is not None else rows.tolist() for rows in (i, j, members)]
        words = [None, "soft", "hard"]
        return pd.DataFrame(
            {
                "i": ends[0] + ends[2],
                "j": ends[1] + [names[at] for at in group],
                "type": ["must_link" if kind > 0 else "cannot_link" for kind in kinds] + [GROUP] * len(members),
                "weight": np.concatenate([weights, of_groups[group]]),
                "strength": [words[at] for at in (*strengths, *binding[group])],
            }
        )

    def to_csv(self, file: str | os.PathLike[str]) -> None:
        """Write a CSV ``i,j,type,weight,strength``, as ``mustlink cluster --constraints`` reads it."""
        texts = None if self.ids is None else [str(id_) for id_ in self.ids]
        _mustlink.write_constraints(os.fspath(file), self._columns, self.n, texts)

    def pairs(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Return pairs of row numbers, (m, 2), and one +1 or -1 for each; pairs of groups are not listed."""
        i, j, kinds = self._columns[:3]
        return np.stack([i, j], axis=1).astype(np.int64), kinds.astype(np.int64)

    @property
    def weights(self) -> np.ndarray[Any, Any]:
        """Cost of breaking each constraint."""
        weights: np.ndarray[Any, Any] = self._columns[3].copy()
        return weights

    @property
    def n_must_link(self) -> int:
        """Number of must-links."""
        return int(np.count_nonzero(self._columns[2] > 0))

    @property
    def n_cannot_link(self) -> int:
        """Number of cannot-links."""
        return int(np.count_nonzero(self._columns[2] < 0))

    @property
    def n_groups(self) -> int:
        """Number of groups whose members must all be apart."""
        return len(self._columns[5][2])

    def groups(self) -> dict[str, np.ndarray[Any, Any]]:
        """Return the row numbers of each group whose members must all be apart, by the name of the group."""
        members, group, names = self._columns[5][:3]
        return {name: members[group == at].astype(np.int64) for at, name in enumerate(names)}

    def violated(self, labels: Any) -> Constraints:
        """Return the constraints that ``labels`` violate, such as those of ``consensus``; -1 is noise.

        Pairs of groups are listed one by one.

        >>> Constraints(must_link=[(0, 1)], cannot_link=[(0, 2)], n=3).violated([0, 1, 1]).pairs()
        (array([[0, 1]]), array([1]))
        """
        found = _mustlink.violated(self._columns, classes(labels, self.n, "labels"))
        return Constraints._of(found, self.n, self.ids)

    def subset(self, which: Any, groups: bool = True) -> Constraints:
        """Return the pairs at the positions ``which``, for the same objects, with or without the groups."""
        columns = [c[which] for c in self._columns[:5]]
        kept = self._columns[5] if groups else NO_GROUPS
        return Constraints._of([*columns, kept], self.n, self.ids)

    def union(self, more: Constraints) -> Constraints:
        """Return these constraints together with those of ``more``, which must be about the same objects."""
        if not isinstance(more, Constraints):
            raise ConstraintError(f"union: must be given mustlink.Constraints, got {type(more).__name__}")
        if (self.n, self.ids) != (more.n, more.ids):
            raise ConstraintError("constraints: a union needs constraints of the same objects")
        columns = [np.concatenate(c) for c in zip(self._columns[:5], more._columns[:5])]
        ours, theirs = self._columns[5], more._columns[5]
        members, weights, strengths = (np.concatenate([ours[c], theirs[c]]) for c in (0, 3, 4))
        group = np.concatenate([ours[1], theirs[1] + np.uint32(self.n_groups)])
        names = list(ours[2])
        for name in theirs[2]:
            # Two groups of one name would be one group in a file.
            free = (f"{name} ({at})" for at in range(2, len(names) + 3))
            names.append(name if name not in names else next(other for other in free if other not in names))
        groups = (members, group, names, weights, strengths)
        return Constraints._of([*columns, groups], self.n, self.ids)

    def at(self, sample_id: Any) -> tuple[Constraints, int]:
        """Return the constraints of some rows, and the number of pairs that were left out.

        ``sample_id`` contains the ids of these rows, or their row numbers if the constraints have no ids. The result
        numbers the rows in this order. Groups keep the members that are among the rows.
        """
        given = sample_id if isinstance(sample_id, (list, tuple)) else moments(np.asarray(sample_id)).tolist()
        rows = self._find([moment(id_) for id_ in given], "sample_id")
        place = np.full(self.n, -1, np.int64)
        place[rows] = np.arange(len(rows))
        if np.count_nonzero(place >= 0) < len(rows):
            raise ConstraintError("sample_id: an id occurs twice; a row can be in a fold only once")
        i, j = place[self._columns[0]], place[self._columns[1]]
        kept = (i >= 0) & (j >= 0)
        ends = [i[kept].astype(np.uint32), j[kept].astype(np.uint32)]
        members, group, *rest = self._columns[5]
        members = place[members]
        there = members >= 0
        groups = (members[there].astype(np.uint32), group[there], *rest)
        columns = [*ends, *(c[kept] for c in self._columns[2:5]), groups]
        return Constraints._of(columns, len(rows), None), int(np.count_nonzero(~kept))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Constraints) or (self.n, self.ids) != (other.n, other.ids):
            return False
        ours, theirs = ([*c._columns[:5], *c._columns[5]] for c in (self, other))
        return all(np.array_equal(a, b) for a, b in zip(ours, theirs))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        def count(number: int, kind: str) -> str:
            return f"{number} {kind}{'' if number == 1 else 's'}"

        groups = f", {count(self.n_groups, 'group')} apart" if self.n_groups else ""
        both = f"{count(self.n_must_link, 'must-link')}, {count(self.n_cannot_link, 'cannot-link')}"
        return f"Constraints({both}{groups}, n={self.n}{'' if self.ids is None else ', by id'})"


def _listed(ids: Any) -> Any:
    """Return the ids: the index of a frame, the ``obs_names`` of an AnnData, anything else unchanged."""
    holds_rows = hasattr(ids, "obs_names") or (hasattr(ids, "iloc") and ids.ndim == 2)
    return np.asarray(row_names(ids)) if holds_rows else ids


#: What to do about rows without an index, for callers that take the ids of rows and for those that do not.
SAMPLE_ID = 'Give sample_id, the id of each row; in a pipeline, set_output(transform="pandas") keeps the index'
IDS = "Give ids, the id of each row"
FRAME = "Give X as a frame whose index contains the ids"


def row_ids(given: Any, X: Any, sample_id: Any = None, remedy: str | None = None) -> Any:
    """Return the id of each row of ``X``: ``sample_id``, otherwise the index of ``X`` if the constraints have ids.

    None if the constraints refer to the rows by position. ``remedy`` describes how the caller can give the ids of rows
    without an index; then a warning is raised if such rows are taken in the order of the ids.
    """
    if sample_id is not None:
        return _listed(sample_id)
    index = row_names(X)
    if not isinstance(given, Constraints) or given.ids is None:
        return None
    if index is None:
        n = X.shape[0] if getattr(X, "shape", ()) else len(X) if hasattr(X, "__len__") else None
        if remedy is not None and n == given.n > 0 and given.ids != tuple(range(n)):
            warn(
                [
                    "constraints: have ids, but X has no index, so the rows were taken in the order of the ids: row 0 "
                    f"is {given.ids[0]!r}. {remedy}"
                ]
            )
        return None
    if len(index) != given.n:
        return None
    names = moments(np.asarray(index)).tolist()
    if names == list(given.ids):
        return None
    known = set(given.ids)
    missing = next((at for at, name in enumerate(names) if name not in known), None)
    if missing is None and len(set(names)) == len(names):
        return np.fromiter(names, object, len(names))
    if with_default_index(X):
        return None
    what = "contains a name twice"
    if missing is not None:
        what = f"has {names[missing]!r} in row {missing}, which is not an id"
    raise ConstraintError(
        f"constraints: their ids must be the index of X, which {what}; give sample_id, the id of each row, or "
        "X.reset_index(drop=True) if the rows are in the order of the ids"
    )


def ids_of_result(given: Any, X: Any, names: Any = None) -> Any:
    """Return the ids for new constraints on the rows of ``X``.

    These are ``names`` if given, otherwise the ids of the given constraints, otherwise the index of ``X`` if it
    identifies every row. None if the rows have only numbers.
    """
    if names is not None:
        return names
    if isinstance(given, Constraints) and given.ids is not None:
        return given.ids
    index = row_names(X)
    if index is None or with_default_index(X):
        return None
    ids = moments(np.asarray(index)).tolist()
    unique = len(set(ids)) == len(ids) and not any(_absent(id_) for id_ in ids)
    return np.fromiter(ids, object, len(ids)) if unique else None


def columns(given: Any, n: int, sample_id: Any = None) -> tuple[Any, int]:
    """Return the constraints of ``n`` rows in the form of the core, and the number of those left out."""
    if given is None:
        return None, 0
    if not isinstance(given, Constraints):
        raise ConstraintError(
            f"constraints: must be mustlink.Constraints, got {type(given).__name__}; "
            "Constraints(must_link=…, cannot_link=…, n=…) makes them of pairs"
        )
    if sample_id is not None:
        if np.shape(sample_id) != (n,):
            raise ConstraintError(
                f"sample_id: must be one id per row, {n}, got shape {np.shape(sample_id)}"
            )
        given, dropped = given.at(sample_id)
        return given._columns, dropped
    if given.n != n:
        raise ConstraintError(
            f"constraints: made for {given.n} rows, but X has {n}. If rows are split, as in cross-validation, "
            "pass sample_id: the id or row number of each row"
        )
    return given._columns, 0
