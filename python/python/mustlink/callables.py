"""Functions as plugins: they stay in the catalogue as long as the process runs, for use in any configuration."""

from __future__ import annotations

import functools
import hashlib
import inspect
import json
import math
import operator
import os
import reprlib
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import suppress
from types import CodeType
from typing import Any, TypeVar

import numpy as np

from . import _config, _data, _mustlink
from .exceptions import ConfigError

__all__ = ["clusterer", "metric", "selector"]

F = TypeVar("F", bound=Callable[..., Any])


#: The name of an optional parameter of functions.
_IF_NAMED = "eligible"


def _options(function: Callable[..., Any], taken: Sequence[str]) -> dict[str, Any]:
    """Return the defaults of the options of a function, that is, of all its other parameters."""
    options: dict[str, Any] = {}
    for name, parameter in list(inspect.signature(function).parameters.items())[len(taken) :]:
        if name == _IF_NAMED and "X" in taken:
            continue
        default = parameter.default
        if type(default) not in (bool, int, float, str):
            raise ConfigError(
                f"{name}: an option needs a default that is a number, a word, True or False"
            )
        options[name] = default
    return options


def _named(name: Any, decorator: str) -> None:
    """Reject a function in place of its name: a decorator without brackets would replace the function."""
    if not isinstance(name, str):
        got = getattr(name, "__name__", repr(name))
        raise ConfigError(f'name: must be a word, as in @{decorator}("my_{decorator}"), got {got}')


def _whole(labels: Any) -> list[int]:
    """Return labels as whole numbers; 0.7 and NaN are not accepted as clusters."""
    try:
        found = np.asarray(labels).ravel()
        found = np.asarray(found.tolist()) if found.dtype.kind == "O" else found
    except ValueError:
        # The rows have lists of different lengths.
        found = np.empty(0, object)
    if found.dtype.kind not in "biuf":
        got = f"{type(labels).__name__} of {found.dtype}"
        raise ValueError(f"labels must be whole numbers, one for each row, got {got}")
    # Larger numbers are not exact as floats, and no data have so many rows.
    numbers = found.astype(np.float64)
    is_wrong = (numbers != np.floor(numbers)) | ~(np.abs(numbers) < 2**53)
    if is_wrong.any():
        row = int(is_wrong.argmax())
        raise ValueError(f"labels must be whole numbers, got {found[row]} for row {row}")
    whole: list[int] = found.astype(np.int64).tolist()
    return whole


def _score(score: Any, least: float | None, most: float | None) -> float | None:
    """Return a score as a number, None if it is not defined. A score outside its bounds is an error."""
    if score is None:
        return None
    number = None
    # float() would also read texts, and take parts of arrays and complex numbers.
    if not isinstance(score, (str, bytes, complex)) and getattr(score, "shape", ()) == ():
        with suppress(TypeError, ValueError, OverflowError):
            number = float(score)
    if number is None or math.isinf(number):
        got = f"{reprlib.repr(score)} ({type(score).__name__})"
        raise ValueError(f"the score must be a finite number, or None if it is not defined, got {got}")
    if math.isnan(number):
        return None
    # The bounds hold up to rounding.
    slack = 1e-9 * (1 + abs(number))
    if (least is not None and number < least - slack) or (most is not None and number > most + slack):
        bounds = [("at least", least), ("at most", most)]
        legal = " and ".join(f"{word} {bound:g}" for word, bound in bounds if bound is not None)
        raise ValueError(
            f"the score must be {legal}, got {number}; correct the function, or declare other bounds with min and max "
            "of the decorator metric"
        )
    return number


def _register(
    role: str, name: str, function: Callable[..., Any], adapted: Any, taken: Sequence[str], facts: Any
) -> None:
    found = list(inspect.signature(function).parameters)
    if found[: len(taken)] != list(taken):
        raise ConfigError(
            f"{name}: the function must begin with {', '.join(taken)}, got {', '.join(found)}"
        )
    defaults = _options(function, taken)
    file = _file_of(function)
    key = {"base_clusterer": "clusterer", "query_selector": "selector", "metric": "metric"}[role]

    def config(options: dict[str, Any]) -> dict[str, Any]:
        for option in options:
            if option not in defaults:
                legal = ", ".join(defaults) or "none"
                raise ConfigError(f"{name}.{option}: unknown option; accepted: {legal}")
        if role == "metric" and options:
            raise ConfigError(f"{name}.{next(iter(options))}: a metric is called with its defaults alone")
        table: dict[str, Any] = {"type": f"python_{key}", "name": name}
        if file is not None:
            table["source"] = [file]
        if role != "metric":
            table["options"] = {**defaults, **options}
        return table

    _mustlink.register(name, json.dumps(facts), adapted)
    _config.CALLABLES[name] = (role, config, facts)
    _config.WITHOUT_FILE.pop(name, None)
    if file is None:
        _config.WITHOUT_FILE[name] = lambda: _digest(function)


def _file_of(function: Any) -> str | None:
    """Return the path of the file that defines a function; None for functions of notebooks and standard input."""
    try:
        file = inspect.getsourcefile(function)
    except TypeError:
        return None
    return os.path.abspath(file) if file is not None and os.path.isfile(file) else None


def _digest(function: Any) -> str:
    """Return a digest of the code of a function that has no file.

    It covers the code, the defaults, and the functions and simple values that the code uses from outside. It does not
    depend on line numbers and file names, so running a notebook again gives the same digest.
    """
    return hashlib.sha256(repr(_facts_of(function, set())).encode("utf-8", "surrogatepass")).hexdigest()


def _facts_of(value: Any, seen: set[int]) -> Any:
    """Return a value for a digest: code in parts, simple values unchanged, and only the type of all others."""
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        return repr(value)
    if isinstance(value, tuple):
        return [_facts_of(v, seen) for v in value]
    if isinstance(value, frozenset):
        return sorted(repr(_facts_of(v, seen)) for v in value)
    if isinstance(value, CodeType):
        names = (value.co_names, value.co_varnames, value.co_freevars, value.co_cellvars)
        counts = (value.co_argcount, value.co_posonlyargcount, value.co_kwonlyargcount, value.co_flags)
        handlers = getattr(value, "co_exceptiontable", b"")
        return [value.co_code, handlers, names, counts, [_facts_of(v, seen) for v in value.co_consts]]
    if isinstance(value, functools.partial):
        return [_facts_of(v, seen) for v in (value.func, value.args, *sorted(value.keywords.items()))]
    if inspect.ismethod(value):
        return _facts_of(value.__func__, seen)
    if not inspect.isfunction(value):
        call = getattr(type(value), "__call__", None)
        kind = type(value).__qualname__
        return [kind, _facts_of(call, seen)] if inspect.isfunction(call) else kind
    # Functions may call one another. Functions of a file are named by it, because libraries are large.
    if id(value) in seen or (seen and _file_of(value) is not None):
        return value.__qualname__
    seen.add(id(value))
    outside = {name: value.__globals__.get(name) for name in sorted(_names_in(value.__code__))}
    cells = dict(zip(value.__code__.co_freevars, value.__closure__ or ()))
    for name, cell in cells.items():
        with suppress(ValueError):
            # A cell is empty until its variable has a value.
            outside[name] = cell.cell_contents
    options = sorted((value.__kwdefaults__ or {}).items())
    parts = (value.__code__, value.__defaults__, *options, *outside.items())
    return [_facts_of(part, seen) for part in parts]


def _names_in(code: CodeType) -> set[str]:
    """Return the names that code and the functions in it may look up outside."""
    inner = [_names_in(c) for c in code.co_consts if isinstance(c, CodeType)]
    return set(code.co_names).union(*inner)


_OF_PROBLEM = ("X", "n_clusters", "constraints", "seed")


def _handed(function: Callable[..., Any], x: Any, k: Any, constraints: Any, seed: int, more: tuple[Any, str]) -> Any:
    """Call a function with a problem; ``more`` contains the eligible objects and the options."""
    eligible, options = more
    given = json.loads(options)
    if _IF_NAMED in inspect.signature(function).parameters:
        given[_IF_NAMED] = eligible
    return function(_data.joined(x), k, constraints, seed, **given)


def _excused(waives: Mapping[str, str] | None) -> dict[str, str]:
    """Return the laws that are waived for a function, each with the reason."""
    excused = dict(waives or {})
    for law, reason in excused.items():
        if not isinstance(reason, str) or not reason.strip():
            raise ConfigError(f"waives: {law}: must be the reason in words, got {reason!r}")
    return excused


def clusterer(
    name: str,
    *,
    accepts: Sequence[str] = ("dense",),
    needs_k: bool = True,
    reads_constraints: bool = False,
    hard_must: bool = False,
    hard_cannot: bool = False,
    soft_weights: bool = False,
    waives: Mapping[str, str] | None = None,
) -> Callable[[F], F]:
    """Make a function a clusterer.

    The function gets ``X``, ``n_clusters``, ``constraints`` and ``seed`` and returns one label per row: a whole number
    from 0 to ``len(X) - 1``, or -1 for noise. Numbers may be left out. If the function has a parameter ``eligible``, it
    also gets one truth value per row: true if the row may be asked about or be a representative. All other parameters
    are its options, each with a default.

    Parameters
    ----------
    name : str
        Name of the clusterer in configurations, in snake_case.
    accepts : sequence of str
        Kinds of data: "dense", "csr", "distances", "affinity", "table".
    needs_k : bool
        If true, it is an error if no number of clusters is given.
    reads_constraints, hard_must, hard_cannot, soft_weights : bool
        True if the function uses constraints; obeys all must-links; obeys all cannot-links; uses their weights.
    waives : dict, optional
        Laws that cannot hold for it, each with the reason: ``{"any_unit": "gamma is in the unit of the data"}``.
        ``mustlink.testing.check_plugin`` does not report them.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import Method, clusterer
    >>> @clusterer("slices")
    ... def slices(X, n_clusters, constraints, seed, column=0):
    ...     "Equal slices of one column."
    ...     order = np.argsort(np.argsort(X[:, column], kind="stable"), kind="stable")
    ...     return order * n_clusters // len(X)
    >>> Method({"clusterer": {"type": "slices", "column": 1}}, 2).fit_predict([[0, 9], [5, 8], [1, 1], [6, 2]])
    array([0, 0, 1, 1])
    """
    _named(name, "clusterer")
    facts = {
        "accepts": [accepts] if isinstance(accepts, str) else list(accepts),
        "needs_k": needs_k,
        "reads_constraints": reads_constraints,
        "hard_must": hard_must,
        "hard_cannot": hard_cannot,
        "soft_weights": soft_weights,
        "waives": _excused(waives),
    }

    def decorate(function: F) -> F:
        def adapted(x: Any, k: Any, constraints: Any, seed: int, *more: Any) -> list[int]:
            return _whole(_handed(function, x, k, constraints, seed, more))

        _register("base_clusterer", name, function, adapted, _OF_PROBLEM, facts)
        return function

    return decorate


class _Asking:
    """A generator of pairs, in the form of the core."""

    def __init__(self, generator: Generator[Any, bool | None, Any]) -> None:
        self.generator = generator

    def ask(self, answer: bool | None) -> tuple[int, int] | None:
        """Return the next pair, after the answer to the last one."""
        try:
            pair = self.generator.send(answer)
        except StopIteration:
            return None
        try:
            i, j = (operator.index(end) for end in pair)
        except (TypeError, ValueError):
            raise ValueError(f"yields must be pairs of row numbers, got {pair!r}") from None
        if min(i, j) < 0:
            raise ValueError(f"yields must be pairs of row numbers of at least 0, got {pair!r}")
        return i, j


def selector(
    name: str,
    *,
    needs_k: bool = False,
    skips_entailed: bool = False,
    waives: Mapping[str, str] | None = None,
) -> Callable[[F], F]:
    """Make a generator function a selector.

    The function gets ``X``, ``n_clusters``, ``constraints`` and ``seed``. It yields pairs of rows and is sent the
    answers: True, False, or None.

    Some rows may not be asked about, for example rows of the test part in an experiment with folds. If the function has
    a parameter ``eligible``, it gets one truth value per row: true if the row may be asked about. Yielding a pair with
    another row is then an error. Without this parameter, such pairs are skipped, and the function is sent None.

    Parameters
    ----------
    name : str
        Name of the selector in configurations, in snake_case.
    needs_k : bool
        If true, it is an error if no number of clusters is given.
    skips_entailed : bool
        True if the function never asks about pairs whose answer follows from earlier answers.
    waives : dict, optional
        Laws that cannot hold for it, each with the reason.

    Examples
    --------
    >>> from mustlink import select, selector
    >>> @selector("neighbours")
    ... def neighbours(X, n_clusters, constraints, seed, eligible):
    ...     "Each row and the next of those that may be asked about."
    ...     rows = [i for i in range(len(X)) if eligible[i]]
    ...     for i, j in zip(rows, rows[1:]):
    ...         answer = yield i, j
    >>> select([[0.0], [0.1], [5.0], [5.1]], "neighbours", y_true=[0, 0, 1, 1])
    Constraints(2 must-links, 1 cannot-link, n=4)
    """

    _named(name, "selector")

    def decorate(function: F) -> F:
        def adapted(x: Any, k: Any, constraints: Any, seed: int, *more: Any) -> _Asking:
            made = _handed(function, x, k, constraints, seed, more)
            if not hasattr(made, "send"):
                got = type(made).__name__
                raise ValueError(f"a selector must be a generator function, which yields pairs, got {got}")
            return _Asking(made)

        facts = {
            "needs_k": needs_k,
            "skips_entailed": skips_entailed,
            "waives": _excused(waives),
            "takes_eligible": _IF_NAMED in inspect.signature(function).parameters,
        }
        _register("query_selector", name, function, adapted, _OF_PROBLEM, facts)
        return function

    return decorate


def metric(
    name: str,
    *,
    higher_is_better: bool = True,
    min: float | None = 0.0,
    max: float | None = 1.0,
    waives: Mapping[str, str] | None = None,
) -> Callable[[F], F]:
    """Make a function a metric for ``mustlink.metrics.score`` and experiments.

    The function gets the classes and the labels of the objects whose class is known. It returns a number, or None or
    NaN if the score is not defined. A score outside its bounds is an error. Its other parameters keep their defaults.

    Parameters
    ----------
    name : str
        Name of the metric in configurations, in snake_case.
    higher_is_better : bool
        True if a larger score is better.
    min, max : float or None
        Bounds of the scores; None without a bound.
    waives : dict, optional
        Laws that cannot hold for it, each with the reason.

    Examples
    --------
    >>> from mustlink import metric
    >>> @metric("same_count")
    ... def same_count(labels_true, labels_pred):
    ...     "1 if there are as many clusters as classes, else 0."
    ...     return float(len(set(labels_true)) == len(set(labels_pred)))
    >>> from mustlink.metrics import score
    >>> score("same_count", {}, [4, 4, 2], ["a", "a", "b"])
    1.0
    """

    _named(name, "metric")

    def decorate(function: F) -> F:
        def adapted(classes: Any, labels: Any) -> float | None:
            return _score(function(classes, labels), min, max)

        facts = {"higher_is_better": higher_is_better, "min": min, "max": max, "waives": _excused(waives)}
        _register("metric", name, function, adapted, ("labels_true", "labels_pred"), facts)
        return function

    return decorate
