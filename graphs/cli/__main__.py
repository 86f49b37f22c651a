"""`python -m graphs.cli` is `rungs`."""

from graphs.cli import main

main()
