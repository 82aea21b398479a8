"""Conversion of pairs, groups, ids, weights and strengths to the columns of constraints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._data import _absent
from .exceptions import ConstraintError

_STRENGTHS = {None: 0, "": 0, "soft": 1, "hard": 2}
NO_GROUPS: tuple[Any, ...] = (
    np.empty(0, np.uint32),
    np.empty(0, np.uint32),
    [],
    np.empty(0),
    np.empty(0, np.int8),
)
GROUP = "cannot_link_group"


def moments(ids: Any) -> Any:
    """Return ids with NumPy moments converted to Python moments, so that they can be found by value."""
    first = next(iter(ids), None) if isinstance(ids, (list, tuple)) else ids
    if not isinstance(first, np.datetime64) and not hasattr(ids, "__array__"):
        return ids
    values = np.asarray(ids)
    return values.astype("datetime64[us]").astype(object) if values.dtype.kind == "M" else values


def moment(id_: Any) -> Any:
    """Return an id; a NumPy moment is converted to a Python moment."""
    return id_.astype("datetime64[us]").item() if isinstance(id_, np.datetime64) else id_


def is_pair(pair: Any) -> bool:
    """Return true if ``pair`` is a list or tuple of two ends."""
    return isinstance(pair, (list, tuple)) and len(pair) == 2


def grouped(names: Sequence[Any], n: int, weight: float, strength: int) -> tuple[Any, ...]:
    """Return the columns of groups from the name of the group of each row.

    These are the members and the number of the group of each, then names, weights and strengths of the groups, in the
    order of their first members.
    """
    if len(names) != n:
        raise ConstraintError(f"apart: must be one group for each object, {n}, got {len(names)}")
    numbers: dict[Any, int] = {}
    members, group = [], []
    for row, name in enumerate(names):
        if _absent(name) or name == "":
            continue
        members.append(row)
        group.append(numbers.setdefault(name, len(numbers)))
    return (
        np.array(members, np.uint32),
        np.array(group, np.uint32),
        [str(name) for name in numbers],
        np.full(len(numbers), weight),
        np.full(len(numbers), strength, np.int8),
    )


def gathered(members: Any, names: Sequence[Any], weights: Any, strengths: Any) -> tuple[Any, ...]:
    """Return the columns of groups from rows that each put a member into a group; groups of one are left out."""
    sets: dict[str, set[int]] = {}
    facts: dict[str, tuple[float, int]] = {}
    for member, name, weight, strength in zip(members, names, weights, strengths):
        if _absent(name) or name == "":
            raise ConstraintError(f"j: a {GROUP} needs its name there, got {name!r}")
        name, fact = str(name), (float(weight), int(strength))
        if facts.setdefault(name, fact) != fact:
            raise ConstraintError(f"j: the rows of the group {name!r} must have the same weight and the same strength")
        sets.setdefault(name, set()).add(int(member))
    kept = [name for name, rows in sets.items() if len(rows) > 1]
    return (
        np.array([row for name in kept for row in sorted(sets[name])], np.uint32),
        np.array([at for at, name in enumerate(kept) for _ in sets[name]], np.uint32),
        kept,
        np.array([facts[name][0] for name in kept], np.float64),
        np.array([facts[name][1] for name in kept], np.int8),
    )


def of_kinds(weights: Any, must: int, cannot: int) -> tuple[Any, Any]:
    """Return the weights of the must-links and of the cannot-links, given the number of each."""
    if isinstance(weights, tuple) and len(weights) == 2:
        return weights
    alone = not isinstance(weights, tuple) and np.ndim(weights) > 0
    if isinstance(weights, tuple) or (alone and must and cannot):
        raise ConstraintError(
            "weights: must be a number, or a tuple of what the must-links and what the cannot-links weigh, such as "
            f"(2.0, 1.0) or two arrays, got a {type(weights).__name__}"
        )
    return (weights if must or not alone else None, weights if cannot or not alone else None)


def weights_of(given: Any, m: int) -> np.ndarray[Any, Any]:
    try:
        weights = np.ones(m) if given is None else np.asarray(given, np.float64)
    except (TypeError, ValueError) as wrong:
        raise ConstraintError(f"weights: must be numbers of at least 0: {wrong}") from None
    bad = np.flatnonzero(~((weights >= 0) & (weights <= 1e100)))
    if len(bad):
        place = f"weights[{bad[0]}]" if weights.ndim else "weights"
        raise ConstraintError(f"{place}: must be a number between 0 and 1e100, got {weights.ravel()[bad[0]]}")
    if weights.ndim == 0:
        weights = np.full(m, float(weights))
    if weights.shape != (m,):
        raise ConstraintError(f"weights: must be one for each pair, {m}, got shape {weights.shape}")
    return weights


def strength_of(word: Any) -> int:
    word = None if _absent(word) else word
    if not (word is None or isinstance(word, str)) or word not in _STRENGTHS:
        raise ConstraintError(f'strength: must be "soft" or "hard", got {word!r}')
    return _STRENGTHS[word]
