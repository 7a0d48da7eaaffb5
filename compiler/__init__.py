"""From a machine to a Program, and from a Program to tensors; the errors that stop it."""

from krohn.algebra.errors import KrohnError


class CompileError(KrohnError):
    """A machine cannot be compiled as asked; the message says what to do.

    Attributes:
        why: The reason alone.
    """

    def __init__(self, message: str, why: str = "") -> None:
        super().__init__(message)
        self.why = why or message


class Unsuited(CompileError):
    """A construction does not serve a source in any number format."""


class ProgramTooLong(CompileError):
    """A Program takes too long to be followed, however it is lowered."""
