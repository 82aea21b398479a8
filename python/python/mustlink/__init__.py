"""Clustering with a few answers to "same or different?": scikit-learn estimators on a Rust core.

What stands here is loaded when it is first used, so that the command ``mustlink`` starts at once.
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
    from .constraints import *  # noqa: F403
    from .ensembles import *  # noqa: F403
    from .exceptions import *  # noqa: F403
    from .experiments import *  # noqa: F403
    from .session import *  # noqa: F403

__version__: str = _version()

__all__ = [*_WHERE, "metrics"]


def __getattr__(name: str) -> Any:
    if name in ("metrics", "model_selection", "pairs", "testing"):
        return import_module(f".{name}", __name__)
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_WHERE[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
