"""How to install libraries that only some commands need."""

from pathlib import Path


def install(extra: str) -> str:
    """The command that installs an extra of Krohn, from a checkout or an index.

    Args:
        extra: Its name in ``pyproject.toml``.
    """
    root = Path(__file__).resolve().parents[1]
    checkout = (root / "pyproject.toml").is_file()
    return f"pip install '{root if checkout else 'krohn'}[{extra}]'"
