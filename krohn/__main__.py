"""``python -m krohn`` is ``krohn``."""

import sys


def main() -> None:
    """Load the command and run it; what ends it while it is loaded is one line, too."""
    from krohn.program.errors import KrohnError

    try:
        from krohn.cli import run
    except KeyboardInterrupt:
        print("krohn: interrupted; nothing was written", file=sys.stderr)
        sys.exit(2)
    except KrohnError as error:  # two slices that exclude each other
        print(f"krohn: {error}", file=sys.stderr)
        sys.exit(2)
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
