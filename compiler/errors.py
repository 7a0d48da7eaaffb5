"""The error that stops a compilation."""

from krohn.algebra.errors import KrohnError


class CompileError(KrohnError):
    """A machine cannot be compiled as asked; the message says what to do."""


class Unsuited(CompileError):
    """A construction does not serve a source in any number format."""


class Uncertified(CompileError):
    """A network was made, and cannot be proved in a number format.

    Attributes:
        why: Why not.
    """

    def __init__(self, message: str, why: str) -> None:
        super().__init__(message)
        self.why = why
