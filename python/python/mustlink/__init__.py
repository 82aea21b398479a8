"""Clustering with a few answers to "same or different?": scikit-learn estimators on a Rust core."""

from . import _estimators, _transformers, metrics
from ._base import Method
from ._estimators import *  # noqa: F403
from ._mustlink import version as _version
from ._transformers import *  # noqa: F403
from .constraints import Constraints
from .ensembles import consensus, generate, impute, plugins
from .exceptions import (
    CancelledError,
    ConfigError,
    ConstraintError,
    DataError,
    InconsistentConstraintsError,
    InfeasibleConstraintsError,
    MemoryLimitError,
    MissingKError,
    MustlinkError,
    MustlinkWarning,
    NumericalError,
    OracleError,
    PluginError,
    TimeLimitError,
)
from .experiments import ExperimentResult, run_experiment
from .session import Question, Session, select

__version__: str = _version()

__all__ = [
    *_estimators.__all__,
    *_transformers.__all__,
    "CancelledError",
    "ConfigError",
    "ConstraintError",
    "Constraints",
    "DataError",
    "ExperimentResult",
    "InconsistentConstraintsError",
    "InfeasibleConstraintsError",
    "MemoryLimitError",
    "Method",
    "MissingKError",
    "MustlinkError",
    "MustlinkWarning",
    "NumericalError",
    "OracleError",
    "PluginError",
    "Question",
    "Session",
    "TimeLimitError",
    "consensus",
    "generate",
    "impute",
    "metrics",
    "plugins",
    "run_experiment",
    "select",
]
