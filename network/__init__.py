"""The model file and the plain network runtime, which compiler and verifier share."""

from krohn.program.errors import KrohnError


class ModelFileError(KrohnError, ValueError):
    """A model file cannot be read or written; the message says why."""


class ExportError(ModelFileError):
    """A network cannot go to another place; the message says what can be done."""
