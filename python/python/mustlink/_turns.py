"""Calls of a session, which one thread at a time may make."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

from .exceptions import MustlinkError, OracleError

F = TypeVar("F", bound=Callable[..., Any])


def alone(method: F) -> F:
    """Reject calls of a session's method while another thread is inside one.

    A call does not wait for its turn, because a selector that reads its own session would wait for ever.
    """

    @functools.wraps(method)
    def guarded(self: Any, *given: Any, **named: Any) -> Any:
        if not self._lock.acquire(blocking=False):
            self._here()
            raise OracleError("this Session is in use by another thread. Repeat the call when that thread is done")
        try:
            return method(self, *given, **named)
        except RuntimeError as wrong:
            # The core reports a call inside another one of the same thread so.
            if "borrowed" not in str(wrong) or isinstance(wrong, MustlinkError):
                raise
            raise OracleError(
                "this Session is in use by another call of this thread. Do not use it in a signal handler"
            ) from None
        finally:
            self._lock.release()

    return cast(F, guarded)
