"""Kinds of maps that the compiler treats apart."""

from krohn.program.functions import Sum
from krohn.program.operations.base import Operation
from krohn.program.operations.letter_matrix import LetterMatrix
from krohn.program.operations.map import Map
from krohn.program.operations.token import Token
from krohn.program.piecewise import Piecewise
from krohn.program.program import Program


def is_sum(operation: Operation) -> bool:
    """Whether the operation adds up channels, which paths cannot decide."""
    added = (Sum, Piecewise)
    return isinstance(operation, Map) and isinstance(operation.function, added)


def is_embedded(program: Program, operation: Operation) -> bool:
    """Whether a channel is a function of the letter alone."""
    if isinstance(operation, LetterMatrix):
        return True
    return isinstance(operation, Map) and all(
        isinstance(program.operations[n], Token) for n in operation.inputs
    )
