"""Access to the parameters of parts that are nested in the parameters of an estimator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from . import _catalogue, _config
from .exceptions import ConfigError

if TYPE_CHECKING:
    from typing_extensions import Self


class Nested:
    """Access to parts of parameters that are tables or lists.

    Parts have names in the style of scikit-learn: ``config__clusterer__weight``, and
    ``config__transforms__0__deviation`` for a list.
    """

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; if ``deep``, also the parameters of parts."""
        params: dict[str, Any] = super().get_params(deep=deep)  # type: ignore[misc]
        if deep:
            for name in list(super().get_params(deep=False)):  # type: ignore[misc]
                if isinstance(params[name], (Mapping, list, tuple)):
                    params.update(_within(name, params[name]))
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters, including parameters of parts."""
        own: dict[str, Any] = super().get_params(deep=False)  # type: ignore[misc]
        plain: dict[str, Any] = {}
        parts: dict[str, dict[str, Any]] = {}
        for name, value in params.items():
            first, _, rest = name.partition("__")
            if rest and first in own and isinstance(params.get(first, own[first]), (Mapping, list, tuple, str)):
                parts.setdefault(first, {})[rest] = value
            else:
                plain[name] = value
        super().set_params(**plain)  # type: ignore[misc]
        for name, values in parts.items():
            # The caller may use the parts elsewhere, so copies are changed.
            for path, value in values.items():
                part = self._part(name, path)
                setattr(self, name, _changed(part, path.split("__"), value, f"{name}__{path}"))
        return self

    def _part(self, name: str, path: str) -> Any:
        """Return the parameter whose part at ``path`` is to be set."""
        return getattr(self, name)


def _within(name: str, part: Any) -> Iterator[tuple[str, Any]]:
    """Yield the names and values of all parameters in a part."""
    inner: Any = ()
    if isinstance(part, Mapping):
        inner = part.items()
    elif isinstance(part, (list, tuple)):
        inner = enumerate(part)
    elif hasattr(part, "get_params") and not isinstance(part, type):
        inner = part.get_params(deep=False).items()
    for key, value in inner:
        yield f"{name}__{key}", value
        yield from _within(f"{name}__{key}", value)


def _changed(part: Any, path: list[str], value: Any, whole: str) -> Any:
    """Return a copy of a part in which the parameter at ``path`` has the new value."""
    if not path:
        return value
    first, rest = path[0], path[1:]
    if isinstance(part, str) and (part in _config.CALLABLES or any(p.tag == part for p in _catalogue.catalogue())):
        # The name of a plugin is short for a table of its options.
        part = {"type": part}
    if isinstance(part, Mapping):
        return {**part, first: _changed(part.get(first), rest, value, whole)}
    if isinstance(part, (list, tuple)) and first.isdecimal() and int(first) < len(part):
        at = int(first)
        return [*part[:at], _changed(part[at], rest, value, whole), *part[at + 1 :]]
    if hasattr(part, "get_params") and not isinstance(part, type):
        from sklearn.base import clone

        return clone(part).set_params(**{"__".join(path): value})
    raise ConfigError(f"{whole}: cannot be set: {part!r} does not contain {first}")
