"""The command `mustlink`."""

from __future__ import annotations

import sys

from . import _mustlink


def main() -> None:
    """Run the command line with the arguments of the process."""
    sys.exit(_mustlink.command(sys.argv))
