"""The Program language, said once: the fields, values, meaning and memory of operations.

Compiler and checker both read this package. How an operation becomes tensors is the
compiler's business, how tensors are shown to be it is the checker's; neither knows the
other. A proof rests on what it imports, so nothing is imported here before it is asked for.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from krohn.program.language import *  # noqa: F403


PLACES = {
    "Piecewise": "piecewise",
    "At": "operations.at",
    "AtAnywhere": "operations.at_anywhere",
    "Best": "operations.best",
    "BlockSum": "operations.block_sum",
    "Earliest": "operations.earliest",
    "Final": "operations.final",
    "Latest": "operations.latest",
    "LatestMatch": "operations.latest_match",
    "LetterMatrix": "operations.letter_matrix",
    "MarkedSum": "operations.marked_sum",
    "MatchAnywhere": "operations.match_anywhere",
    "MatrixProduct": "operations.matrix_product",
    "Mean": "operations.mean",
    "Normalised": "operations.normalised",
    "Position": "operations.position",
    "PrefixSum": "operations.prefix_sum",
    "Shift": "operations.shift",
    "ShiftBy": "operations.shift_by",
    "SiblingLatest": "operations.sibling_latest",
}
"""The files of what is not in `krohn.program.language`."""


def __getattr__(name: str) -> Any:
    """A name of the language: an operation from its file, others from the language."""
    if name.startswith("_") or find_spec(f"{__name__}.{name}"):  # a module is no name
        raise AttributeError(f"there is no {name!r} in {__name__}")
    file = PLACES.get(name, "language")
    return getattr(import_module(f"{__name__}.{file}"), name)
