"""``python -m krohn`` is ``krohn``."""

from krohn.cli import main

main()
