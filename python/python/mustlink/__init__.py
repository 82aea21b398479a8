"""Clustering with a few answers to "same or different?": scikit-learn estimators on a Rust core.

Each name is loaded when it is first used, so that the command ``mustlink`` starts quickly.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._mustlink import version as _version
from ._names import WHERE as _WHERE

if TYPE_CHECKING:
    from . import metrics as metrics
    from ._base import *  # noqa: F403
    from ._estimators import *  # noqa: F403
    from ._transformers import *  # noqa: F403
    from .annotated import *  # noqa: F403
    from .constraints import *  # noqa: F403
    from .ensembles import *  # noqa: F403
    from .exceptions import *  # noqa: F403
    from .experiments import *  # noqa: F403
    from .judged import *  # noqa: F403
    from .session import *  # noqa: F403

__version__: str = _version()

__all__ = [*_WHERE, "metrics"]

_MODULES = ("metrics", "model_selection", "notebook", "pairs", "testing")


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{_like(name)}")
    value = getattr(import_module(f".{_WHERE[name]}", __name__), name)
    globals()[name] = value
    return value


def _like(name: str) -> str:
    if name.startswith("_"):
        return ""
    from difflib import get_close_matches

    own = {known.lower(): known for known in (*_WHERE, *_MODULES)}
    found = get_close_matches(name.lower(), own, 1, 0.7)
    return f"; did you mean {own[found[0]]}?" if found else ""


def __dir__() -> list[str]:
    own = [name for name in globals() if name.startswith("__")]
    return sorted({*own, *__all__, *_MODULES, "exceptions"})
