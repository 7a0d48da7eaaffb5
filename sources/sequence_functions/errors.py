"""The one error that the writer of a sequence function sees."""

from krohn.program.errors import KrohnError


class ProgramError(KrohnError, ValueError):
    """A channel cannot be what it is asked to be; the message names its line."""
