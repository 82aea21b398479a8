"""Conversion of Python arguments to a configuration of the core."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Union

import numpy as np

from . import _mustlink
from .exceptions import ConfigError

#: A plugin: its name, its configuration, or an estimator.
PluginLike = Union[str, Mapping[str, Any], Any]


#: Functions that are plugins, by name: their role, their form in a configuration, and their properties.
CALLABLES: dict[str, tuple[str, Any, Mapping[str, Any]]] = {}
#: For functions that no file defines, by name: a digest of their code, as it is when it is called.
WITHOUT_FILE: dict[str, Callable[[], str]] = {}


#: Parameters of an estimator that belong to its own run, with their defaults.
_OF_ITS_RUN = {"random_state": (None, 0), "kind": (None, "dense")}

#: Numbers (with their names in Python), truth values and shares in a request.
_WHOLE = {
    "k": "n_clusters",
    "budget": "budget",
    "memory_limit": "memory_limit",
    "min_presence": "min_presence",
    "max_matrix": "max_matrix_bytes",
    "max_pairs": "max_pairs",
}
_FLAGS = ("must_link", "cannot_link", "co_presence")
_SHARES = ("kappa_must", "kappa_cannot")

#: Keys whose value may be only the name of a plugin.
_SLOTS = ("clusterer", "metric", "selector")
#: The sections of a method.
SECTIONS = ("transforms", "clusterer", "selector", "oracle")


def slot(value: PluginLike) -> Any:
    """Return a plugin, given as a name, a configuration or an estimator, in the form of the core."""
    return _own({"type": value}) if isinstance(value, str) and value in CALLABLES else plain(value)


def _in_slot(key: str, value: Any) -> Any:
    """Return the value of a key in the form of the core; it may be the name of a plugin or a list of names."""
    if key == "metrics" and isinstance(value, (list, tuple)):
        return [slot(v) for v in value]
    return slot(value) if key in _SLOTS else plain(value)


def _own(value: dict[str, Any]) -> dict[str, Any]:
    """Return a function that is a plugin in the form of the core."""
    name = value.get("type")
    if name not in CALLABLES:
        return value
    return dict(CALLABLES[name][1]({k: v for k, v in value.items() if k != "type"}))


def plain(value: Any) -> Any:
    """Return the value as plain data for JSON; estimators become their configurations."""
    if isinstance(value, type):
        raise ConfigError(f"{value.__name__}: is a class, and an estimator is needed: {value.__name__}()")
    if hasattr(value, "to_config"):
        return plain(value.to_config())
    if isinstance(value, Mapping):
        made = {str(k): v for k, v in value.items() if v is not None}
        return _own({k: _in_slot(k, v) for k, v in made.items()})
    if isinstance(value, (np.bool_, np.number)):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    raise ConfigError(
        f"{type(value).__name__}: is not a value of an option; accepted are numbers, words, lists, "
        "tables and estimators of mustlink"
    )


def not_of_parts(parts: Any) -> list[str]:
    """Return warnings about run parameters of estimators that are parts of something larger."""
    if hasattr(parts, "to_config"):
        said = [
            f"{type(parts).__name__}({name}={value!r}): has no effect in a part; give {name} to the whole"
            for name, unless_given in _OF_ITS_RUN.items()
            if isinstance(value := getattr(parts, name, None), (int, str, np.integer))
            and value not in unless_given
        ]
        return said + not_of_parts(parts.get_params(deep=False))
    if isinstance(parts, Mapping):
        parts = list(parts.values())
    return [text for part in parts for text in not_of_parts(part)] if isinstance(parts, (list, tuple)) else []


def options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that are not at their defaults."""
    return {name: plain(value) for name, value in given.items() if value is not None}


def method(config: PluginLike) -> dict[str, Any]:
    """Return a whole method from a table, the path of a method file, or a clusterer alone."""
    if isinstance(config, (str, os.PathLike)):
        path = os.fspath(config)
        # No name of a plugin has a separator.
        if isinstance(config, os.PathLike) or path.endswith((".toml", ".json")) or os.sep in path:
            found: dict[str, Any] = json.loads(_mustlink.read_method(path))
            return dict(plain(found))
        return {"clusterer": slot(path)}
    table = plain(config)
    if not isinstance(table, dict):
        raise ConfigError(f"a method is a table, a name or a file, got {config!r}")
    return {"clusterer": table} if "type" in table else table


def text(request: Mapping[str, Any]) -> str:
    """Return a request in the form of the core.

    Raises ConfigError, with the name of the parameter, for numbers that the core does not accept.
    """
    for key in _WHOLE:
        number = request.get(key)
        whole = isinstance(number, (int, np.integer)) and not isinstance(number, bool)
        if number is not None and not (whole and number >= 0):
            raise ConfigError(f"{_WHOLE[key]}: must be a whole number of at least 0, got {number!r}")
    for key in _FLAGS:
        if not isinstance(request.get(key, False), (bool, np.bool_)):
            raise ConfigError(f"{key}: must be True or False, got {request[key]!r}")
    for key in _SHARES:
        if isinstance(request.get(key, 0.0), bool) or not isinstance(request.get(key, 0.0), (int, float, np.number)):
            raise ConfigError(f"{key}: must be a number, got {request[key]!r}")
    _finite(request, "")
    return json.dumps(request, default=lambda value: value.item())


def _finite(value: Any, path: str) -> None:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            _finite(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, (list, tuple)):
        for at, inner in enumerate(value):
            _finite(inner, f"{path}[{at}]")
    elif isinstance(value, (float, np.floating)) and not np.isfinite(value):
        name = path.removeprefix("method.").removeprefix("clusterer.")
        raise ConfigError(f"{name}: must be a finite number, got {value}")


def seed(random_state: Any) -> int:
    """Return the seed of a run: a whole number unchanged, anything else through NumPy."""
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool):
        if not 0 <= random_state < 2**64:
            raise ConfigError(f"random_state: must be at least 0 and below 2**64, got {random_state}")
        return int(random_state)
    from sklearn.utils import check_random_state

    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def threads(n_jobs: int | None) -> int | None:
    """Return the number of threads; None, for one per core, if given None or -1."""
    if n_jobs is None or n_jobs == -1:
        return None
    whole = isinstance(n_jobs, (int, np.integer)) and not isinstance(n_jobs, bool)
    if not (whole and 1 <= n_jobs <= 4096):
        raise ConfigError(f"n_jobs: must be a whole number from 1 to 4096, -1 or None, got {n_jobs!r}")
    return int(n_jobs)


def names(given: Sequence[Any] | None) -> list[str] | None:
    """Return names as text."""
    return None if given is None else [str(name) for name in given]
