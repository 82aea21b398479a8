"""`python -m mustlink` is the command `mustlink`."""

from ._command import main

main()
