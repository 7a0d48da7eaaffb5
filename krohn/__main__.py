"""``python -m krohn`` is ``krohn``."""

import sys


def main() -> None:
    """Load the command and run it; an interrupt while it is loaded is one line, too."""
    try:
        from krohn.cli import run
    except KeyboardInterrupt:
        print("krohn: interrupted; nothing was written", file=sys.stderr)
        sys.exit(2)
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
