"""The command `mustlink`."""

from __future__ import annotations

import signal
import sys

from . import _mustlink


def main() -> None:
    """Run the command line with the arguments of the process."""
    # Python's handler raises nothing while no Python runs. Interrupts that the shell has ignored stay so.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_mustlink.command(sys.argv))
