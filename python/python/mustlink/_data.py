"""Conversion of arrays, frames and labels for the core."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
import scipy.sparse as sp

from . import _catalogue, _config, _mustlink
from .exceptions import DataError, MemoryLimitError, MustlinkWarning


def doubles(x: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return numbers in the form of the core: in C order and aligned in memory."""
    return np.require(x, np.float64, ["C", "A"])


def parts(x: Any) -> Any:
    """Return the matrix in the form of the core: unchanged, or the parts of a sparse one."""
    if isinstance(x, tuple):
        return x
    if not sp.issparse(x):
        return x if x.flags.aligned else x.copy()
    rows = sp.csr_matrix(x, dtype=np.float64, copy=False)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return (rows.indptr.astype(np.int64), rows.indices.astype(np.uint32), doubles(rows.data), rows.shape[1])


def table(x: Any, given: Any = None) -> Any:
    """Return a table in the form of the core.

    It has numbers, NaN if one is missing, and for each column with words the sorted list of its words. The numbers of
    such a column are places in that list. ``given`` is the container with these rows if a method is fitted to them;
    then a word in a column of numbers is rejected.
    """
    cells = np.asarray(x)
    _refuse_times(cells)
    if cells.dtype.kind in "biuf":
        return (doubles(cells), [None] * cells.shape[1])
    values = np.full(cells.shape, np.nan)
    words: list[list[str] | None] = []
    for at in range(cells.shape[1]):
        column = [None if _absent(v) else v for v in cells[:, at].tolist()]
        known = [i for i, v in enumerate(column) if v is not None]
        try:
            numbers = [_number(column[i]) for i in known]
            words.append(None)
        except ValueError:
            texts = [str(column[i]) for i in known]
            if given is not None:
                _refuse_typing_error(given, at, known, texts)
            found = sorted(set(texts))
            place = {text: float(at) for at, text in enumerate(found)}
            numbers = [place[text] for text in texts]
            words.append(found)
        except TypeError as wrong:
            raise TypeError(f"column {at}: {wrong}") from None
        values[known, at] = numbers
    return (values, words)


def _refuse_typing_error(given: Any, at: int, rows: list[int], texts: list[str]) -> None:
    """Reject a word in a column of numbers, which would make each number a category."""
    is_frame = hasattr(given, "columns") and hasattr(given, "dtypes")
    # Categories of pandas and Polars, and enumerations of Polars.
    if is_frame and str(list(given.dtypes)[at]).lower().startswith(("categor", "enum")):
        return
    wrong = _mustlink.typing_error(texts)
    if wrong is None:
        return
    name = given.columns[at] if is_frame else at
    declared = f'X[{name!r}].astype("category")' if hasattr(given, "iloc") else "use a frame with such a column"
    raise DataError(
        f"column {name}: must be numbers, as most of its cells are, got the word {texts[wrong]!r} in row "
        f"{rows[wrong]}; correct the cell, or declare the column as categories: {declared}"
    )


def _number(value: Any) -> float:
    if isinstance(value, str):
        raise ValueError(value)
    if isinstance(value, (dict, list, tuple, set)):
        raise TypeError(f"argument must be a string or a real number, not {type(value).__name__!r}")
    return float(value)


def _absent(value: Any) -> bool:
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        # The missing value of pandas is not a truth value.
        return type(value).__name__ == "NAType"


def joined(made: Any) -> Any:
    """Return a matrix of the core for NumPy or SciPy; a table with words becomes an array of objects."""
    if not isinstance(made, tuple):
        return made
    if len(made) == 2:
        cells = made[0].astype(object)
        for at, words in enumerate(made[1]):
            if words is not None:
                cells[:, at] = [np.nan if v != v else words[int(v)] for v in made[0][:, at]]
        return cells
    offsets, columns, values, d = made
    return sp.csr_matrix((values, columns.astype(np.int64), offsets), shape=(len(offsets) - 1, d))


def checked(
    estimator: Any, X: Any, accepts: list[str], reset: bool, least: int = 1, kind: str = "dense"
) -> tuple[Any, Any]:
    """Return the rows given to an estimator, as checked by scikit-learn and in the form of the core.

    The core checks that they are finite, because it reports row and column.
    """
    from sklearn.utils.validation import validate_data

    table_too = "table" in accepts
    _refuse_containers(X)
    _refuse_times(X)
    _refuse_equal_names(X)
    given = X if reset else None
    X = all_pairs(_of_objects(X) if table_too else X, kind)
    with _words_named(X):
        rows = validate_data(
            estimator,
            X,
            accept_sparse="csr" if "csr" in accepts else False,
            dtype=None if table_too else [np.float64, np.float32],
            ensure_all_finite=False,
            reset=reset,
            ensure_min_samples=least,
        )
    return rows, table(rows, given) if table_too else parts(rows)


def with_categories(X: Any, transforms: Any) -> Any:
    """Return a pandas frame with the columns as categories that ``one_hot`` or ``gower`` in ``transforms`` declares as such."""
    if not (hasattr(X, "iloc") and X.ndim == 2):
        return X
    steps = [step for step in transforms or () if isinstance(step, dict) and step.get("type") in ("one_hot", "gower")]
    lists = [step["columns"] for step in steps if isinstance(step.get("columns"), (list, tuple))]
    declared = {name: "category" for names in lists for name in names}
    return X.astype(declared) if declared else X


def _of_objects(x: Any) -> Any:
    """Return lists, and pandas frames with columns that are not numbers, as objects; anything else unchanged.

    scikit-learn finds no common type for columns of several kinds, and NumPy turns numbers next to words into words.
    Categories are words, even if they are numbers, such as zip codes.
    """
    if isinstance(x, (list, tuple)):
        return np.array(x, dtype=object)
    if not (hasattr(x, "iloc") and x.ndim == 2):
        return x
    kinds = list(x.dtypes)
    if all(isinstance(kind, np.dtype) and kind.kind in "iuf" for kind in kinds):
        return x
    made = x.copy(deep=False)
    for at, kind in enumerate(kinds):
        if str(kind) == "category":
            cells = [None if _absent(v) else str(v) for v in x.iloc[:, at]]
            made.isetitem(at, np.array(cells, dtype=object))
    return made.astype(object)


def tag_tables(tags: Any) -> None:
    """Set the tags of an estimator that accepts words and missing values."""
    tags.input_tags.allow_nan = True
    tags.input_tags.string = True
    tags.input_tags.categorical = True


def _refuse_containers(X: Any) -> None:
    """Reject an AnnData, which NumPy would search for minutes before it fails."""
    if not hasattr(X, "obsm"):
        return
    keys = list(X.obsm)
    first = f'adata.obsm["{"X_pca" if "X_pca" in keys else keys[0]}"] or ' if keys else ""
    raise DataError(
        f"X: must be a matrix, got {type(X).__name__}; give {first}adata.X. If the constraints have ids, add "
        "sample_id=adata.obs_names"
    )


@contextmanager
def _words_named(X: Any) -> Iterator[None]:
    """Add the column to the error about words in a matrix of numbers."""
    try:
        yield
    except ValueError as wrong:
        if "could not convert string" not in str(wrong):
            raise
        named = hasattr(X, "columns") and hasattr(X, "shape")
        cells = X.to_numpy() if named else np.asarray(X, dtype=object)
        names = [f"column {name}" for name in X.columns] if named else [f"column {at}" for at in range(cells.shape[-1])]
        for at, name in enumerate(names if cells.ndim == 2 else []):
            for row, value in enumerate(cells[:, at].tolist()):
                if isinstance(value, str) and not _is_number(value):
                    raise DataError(
                        f"{name}: must be numbers, got the word {value!r} in row {row}; drop the column, or encode it: "
                        f'Method({{"transforms": {_steps(cells.ravel().tolist())}, "clusterer": …}})'
                    ) from None
        raise


def _steps(cells: list[Any]) -> str:
    """Return the transforms that turn these cells, some of which are words, into numbers of one scale."""
    gaps = ["impute_missing"] if any(map(_absent, cells)) else []
    numbers = any(isinstance(v, (int, float, np.number)) and v == v for v in cells)
    return json.dumps([*gaps, "one_hot", *(["z_score"] if numbers else [])])


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def all_pairs(x: Any, kind: str) -> Any:
    """Return a sparse matrix of distances or affinities as a dense one.

    A missing affinity is 0. A missing distance is unknown, so it is an error.
    """
    if kind == "dense" or not sp.issparse(x) or x.ndim != 2 or x.shape[0] != x.shape[1]:
        return x
    n = x.shape[0]
    memory = float("inf")
    with suppress(AttributeError, OSError, ValueError):
        # Not every system reports its memory.
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if 8 * n * n > memory:
        raise MemoryLimitError(
            f"X: {n} × {n} numbers need {8 * n * n / 2**30:.0f} GiB, more than this machine has; cluster the rows of a "
            "matrix instead, or fewer of them"
        )
    if kind == "distances":
        entries = sp.coo_matrix(x)
        stored = np.unique(entries.row.astype(np.int64) * n + entries.col)
        stored = stored[stored // n != stored % n]
        missing = n * (n - 1) - len(stored)
        if missing:
            row = int(np.argmin(np.bincount(stored // n, minlength=n) == n - 1))
            column = np.setdiff1d(np.delete(np.arange(n), row), stored[stored // n == row] % n)[0]
            raise DataError(
                f"X: row {row}, column {column}: the sparse matrix has no distance here, which may mean 0 or far "
                f"({missing} of {n * (n - 1)} are missing). Store all of them, or give similarities with "
                'kind="affinity"'
            )
    return x.toarray()


def row_names(X: Any) -> Any:
    """Return the names of the rows of a pandas frame, an AnnData, or an array of a view of an AnnData.

    None for anything else.
    """
    origin = getattr(X, "_view_args", None)
    if isinstance(X, np.ndarray) and origin is not None:
        part = getattr(origin.parent, origin.attrname)
        for key in origin.keys:
            part = part[key]
        # NumPy copies this attribute to arrays with fewer rows, or with rows in another order.
        return origin.parent.obs_names if np.array_equal(np.asarray(part), np.asarray(X)) else None
    names = getattr(X, "obs_names", None)
    return names if names is not None else getattr(X, "index", None) if hasattr(X, "iloc") else None


def with_default_index(x: Any) -> bool:
    """Return true for the default index of pandas, which numbers the rows and does not name them."""
    index = row_names(x)
    return type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1)


def in_order(values: Any, X: Any) -> Any:
    """Return values, one for each row, in the order of the rows of ``X``.

    They are moved only if both are indexed by the same names in another order. All others are taken by position, as
    in scikit-learn.
    """
    own, names = (row_names(values) if hasattr(values, "iloc") else None), row_names(X)
    if own is None or names is None or len(own) != len(names) or own.equals(names):
        return values
    place = {name: at for at, name in enumerate(own)}
    order = [place.get(name) for name in names]
    if None in order or len(set(order)) < len(order):
        return values
    return values.iloc[order]


def _refuse_equal_names(X: Any) -> None:
    """Reject a pandas frame in which two columns have one name, because options and errors refer to columns by name."""
    if not (hasattr(X, "iloc") and X.ndim == 2) or X.columns.is_unique:
        return
    names = list(dict.fromkeys(X.columns[X.columns.duplicated()].tolist()))
    listed = ", ".join(repr(name) for name in names[:5]) + (", …" if len(names) > 5 else "")
    raise DataError(
        f"X: column names must be different, got more than one column named {listed}. Rename them, or drop the "
        "repeated ones: X.loc[:, ~X.columns.duplicated()]"
    )


def _refuse_times(X: Any) -> None:
    """Reject times, because only the user knows their start and unit as numbers."""
    if hasattr(X, "dtypes") and hasattr(X, "columns"):
        kinds = [(f"column {name}", kind) for name, kind in zip(X.columns, X.dtypes)]
    else:
        kinds = [("X", getattr(X, "dtype", None))]
    for place, kind in kinds:
        # pandas and NumPy have a letter for it, Polars a method.
        temporal = getattr(kind, "is_temporal", None)
        if getattr(kind, "kind", None) in ("m", "M") or (temporal is not None and temporal()):
            raise DataError(
                f"{place}: holds times ({kind}), accepted are numbers; turn them into a number in the unit that "
                'counts, for example (t - t.min()) / numpy.timedelta64(1, "D")'
            )


def matrix(x: Any, kind: str = "dense", transforms: Any = None) -> Any:
    """Return a matrix of numbers from any container, or a table if the first transform takes one."""
    from sklearn.utils import check_array

    _refuse_containers(x)
    _refuse_times(x)
    _refuse_equal_names(x)
    if transforms is not None and _catalogue.takes_tables(transforms):
        x = with_categories(x, _config.plain(transforms))
        accept = "csr" if sp.issparse(x) else False
        cells = check_array(_of_objects(x), accept_sparse=accept, dtype=None, ensure_all_finite=False)
        return parts(cells) if sp.issparse(cells) else table(cells, x)
    accept = "csr" if kind == "dense" else False
    with _words_named(x):
        return parts(check_array(all_pairs(x, kind), accept_sparse=accept, dtype=[np.float64, np.float32]))


def classes(y: Any, n: int, name: str = "y") -> np.ndarray[Any, np.dtype[np.int64]] | None:
    """Return classes as numbers; unknown ones become -1.

    Unknown are -1, NaN, None, missing values of a frame, and the texts that CSV files use for unknown classes.
    """
    if y is None:
        return None
    values: np.ndarray[Any, Any]
    if isinstance(y, (list, tuple)) and not any(isinstance(v, (list, tuple, np.ndarray)) for v in y):
        # If some values are text, NumPy would turn all of them into text, including missing ones.
        values = np.empty(len(y), dtype=object)
        values[:] = y
    else:
        values = np.asarray(y)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.shape != (n,):
        raise DataError(f"{name}: must hold one class per row, {n}, got shape {values.shape}")
    if values.dtype.kind == "f":
        unknown = np.isnan(values) | (values == -1)
    elif values.dtype.kind == "O":
        # A missing value differs from itself, or its comparison is not a truth value.
        unknown = np.array([_missing(v) for v in values], dtype=bool)
    elif values.dtype.kind in "iu":
        unknown = values == -1
    elif values.dtype.kind in "mM":
        unknown = np.isnat(values)
    elif values.dtype.kind in "UT":
        unknown = np.array([_mustlink.unknown_class(v) for v in values.tolist()], dtype=bool)
    else:
        unknown = np.zeros(n, dtype=bool)
    out = np.full(n, -1, dtype=np.int64)
    known = values[~unknown]
    if known.dtype.kind == "O" and known.size:
        numbers = all(isinstance(v, (bool, int, float, np.number, np.bool_)) for v in known)
        same = numbers or len({type(v) for v in known}) == 1
        # Values of several types are compared as text; whole numbers of any type have the same text.
        known = np.array(known.tolist() if same else [_text(v) for v in known])
    if known.dtype.kind in "iu" and known.size:
        low, high = int(known.min()), int(known.max())
        # Whole numbers close to one another are counted, which is faster than sorting them.
        if high - low < 4 * known.size and high < 2**62:
            place = known.astype(np.int64) - low
            out[~unknown] = (np.cumsum(np.bincount(place) > 0) - 1)[place]
            return out
    found, out[~unknown] = np.unique(known, return_inverse=True)
    if found.dtype.kind == "f" and len(found) > 2 and np.any(found != np.round(found)):
        first = found[found != np.round(found)][0]
        warn([f"{name}: {first} is one of {len(found)} classes: is it a measurement?"])
    return out


def partial(y: Any, n: int) -> np.ndarray[Any, np.dtype[np.int64]] | None:
    """Return classes if they are known for some objects but not for all; otherwise None.

    If all classes are known, scikit-learn passes them to every estimator for scoring, so the method must not use them.
    """
    if hasattr(y, "n_must_link"):
        raise DataError("y: holds constraints; give them by their name, fit(X, constraints=…)")
    known = classes(y, n)
    some = known is not None and (known < 0).any() and (known >= 0).any()
    return known if some else None


def _text(value: Any) -> str:
    whole = isinstance(value, (float, np.floating)) and value == int(value)
    return str(int(value) if whole else value)


def _missing(value: Any) -> bool:
    if value is None:
        return True
    if isinstance(value, str):
        return _mustlink.unknown_class(value)
    try:
        return bool(value != value) or bool(value == -1)
    except TypeError:
        return True


def warn(texts: Iterable[str]) -> None:
    """Pass the warnings of a run to Python, as warnings of the line that called the package."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(f"{__package__}."):
        level, frame = level + 1, frame.f_back
    for text in texts:
        warnings.warn(text, MustlinkWarning, stacklevel=level)


def rows(x: Any) -> int:
    """Return the number of rows of a result of ``parts``."""
    if isinstance(x, tuple):
        return len(x[0]) if len(x) == 2 else len(x[0]) - 1
    return int(x.shape[0])


#: If an array has more members than this times the number of objects, it is probably transposed.
_MOST_MEMBERS = 10


def partitions(given: Any, n: int | None = None) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return the partitions as numbers, one row per member; -1, NaN and None are missing labels.

    Each row of an array, or each column of a frame, is a partition.
    """
    if hasattr(given, "columns") and np.ndim(given) == 2:
        members = [given.iloc[:, at] if hasattr(given, "iloc") else given[:, at] for at in range(given.shape[1])]
    else:
        given = given.to_numpy() if hasattr(given, "to_numpy") else given
        members = list(given)
    if not members:
        raise DataError("partitions: must hold at least one")
    if np.ndim(members[0]) == 0:
        members = [given]
    if isinstance(given, np.ndarray) and len(members) > _MOST_MEMBERS * len(members[0]):
        raise DataError(
            f"partitions: got {len(members)} partitions of {len(members[0])} objects, since each row of an array is a "
            "partition; give partitions.T if each column is one, list(partitions) if the rows are right"
        )
    lengths = [len(member) if np.ndim(member) else 0 for member in members]
    n = lengths[0] if n is None else n
    for at, length in enumerate(lengths):
        if length != n:
            raise DataError(f"partitions: member {at} has {length} labels, and there are {n} objects")
    numbered = [classes(member, n, "partitions") for member in members]
    return np.stack([member for member in numbered if member is not None])
