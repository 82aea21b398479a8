"""What can go wrong, by kind. The texts are those of the command line."""

from __future__ import annotations


class MustlinkWarning(UserWarning):
    """Something legal that is worth knowing."""


class MustlinkError(ValueError):
    """Anything that mustlink refuses or cannot do."""


class ConfigError(MustlinkError):
    """An option, a number of clusters or a configuration that is not accepted."""


class MissingKError(ConfigError):
    """The method needs the number of clusters, and none was given."""

    def __init__(self, text: str) -> None:
        # What the command line calls ``--k`` has another name here, whoever asked.
        super().__init__(text.replace("give --k or the option k", "give n_clusters"))


class DataError(MustlinkError):
    """Values, shapes or files that are not accepted."""


class ConstraintError(MustlinkError):
    """Constraints that are not accepted."""


class InconsistentConstraintsError(ConstraintError):
    """Cannot-links that contradict must-links."""


class InfeasibleConstraintsError(ConstraintError):
    """Cannot-links that so few clusters cannot hold."""


class NumericalError(MustlinkError):
    """Arithmetic that has no answer."""


class OracleError(MustlinkError):
    """A question or an answer that is none."""


class PluginError(MustlinkError, RuntimeError):
    """A plugin that broke its contract."""


class MemoryLimitError(MustlinkError, MemoryError):
    """A method that needs more memory than is allowed."""


class TimeLimitError(MustlinkError, TimeoutError):
    """A run that went over its time."""


class CancelledError(MustlinkError):
    """A run that was stopped."""
