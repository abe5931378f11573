"""`python -m numerate` is the command line."""

from numerate.cli import main

main()
