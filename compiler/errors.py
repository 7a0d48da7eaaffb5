"""The error that stops a compilation."""

from krohn.algebra.errors import KrohnError


class CompileError(KrohnError):
    """A machine cannot be compiled as asked; the message says what to do."""


class Unsuited(CompileError):
    """A construction does not serve a source in any number format."""
