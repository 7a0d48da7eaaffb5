"""Names that somebody may have meant."""

from collections.abc import Iterable
from difflib import get_close_matches


def near(name: str, known: Iterable[str], most: int = 1, cutoff: float = 0.6) -> str:
    """`` (did you mean scan?)`` where a known name is much like it; else nothing.

    Args:
        name: What was asked for.
        known: The names that there are.
        most: How many of them to say.
        cutoff: How alike they must be, as `difflib.get_close_matches` counts.
    """
    folded = {k.casefold(): k for k in known}
    close = get_close_matches(name.casefold(), list(folded), n=most, cutoff=cutoff)
    return f" (did you mean {' or '.join(folded[c] for c in close)}?)" if close else ""
