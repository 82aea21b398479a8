"""Exceptions, by kind. Their messages are those of the command line."""

from __future__ import annotations

import re

from . import _option_names


class MustlinkWarning(UserWarning):
    """Something that is allowed, but that the user should know."""


class MustlinkError(ValueError):
    """Base class: something that mustlink rejects or cannot do.

    Examples
    --------
    >>> from mustlink import KMeans, MustlinkError
    >>> try:
    ...     KMeans(n_clusters=3).fit([[0.0], [1.0]])
    ... except MustlinkError as error:
    ...     type(error).__name__
    'ConfigError'
    """


class ConfigError(MustlinkError):
    """An option, a number of clusters or a configuration that is not accepted."""

    def __init__(self, text: str) -> None:
        # The number of clusters of a run has another name in Python, and so have options of estimators.
        text = re.sub(r"^k(?=: | = )", "n_clusters", text).replace("; leave k out, or", "; leave n_clusters out, or")
        unknown = re.search(r"(\w+): unknown option of (\w+);", text)
        if unknown is not None:
            own = {python: name for name, python in _option_names.NAMES.items()}.get(unknown[1])
            text = text if own is None else f"{text[: unknown.end()]} in a table, use its name in method files, {own}"
        super().__init__(text)


class MissingKError(ConfigError):
    """The method needs the number of clusters, but it was not given."""

    def __init__(self, text: str) -> None:
        # The option ``--k`` of the command line has another name in Python.
        super().__init__(text.replace("give --k or the option k", "give n_clusters"))


class DataError(MustlinkError):
    """Values, shapes or files that are not accepted."""


class ConstraintError(MustlinkError):
    """Constraints that are not accepted."""


class InconsistentConstraintsError(ConstraintError):
    """Cannot-links that contradict must-links."""


class InfeasibleConstraintsError(ConstraintError):
    """Cannot-links that need more clusters."""


class NumericalError(MustlinkError):
    """A computation without a valid result."""


class OracleError(MustlinkError):
    """An invalid question or answer."""


class PluginError(MustlinkError, RuntimeError):
    """A plugin that broke its contract."""


class MemoryLimitError(MustlinkError, MemoryError):
    """A method that needs more memory than is allowed."""

    def __init__(self, text: str) -> None:
        # Estimators have no parameter for the limit, so the advice to raise it is left out.
        super().__init__(text.replace("raise --memory-limit, or choose", "choose"))


class TimeLimitError(MustlinkError, TimeoutError):
    """A run that exceeded its time limit."""


class CancelledError(MustlinkError):
    """A run that was stopped."""
