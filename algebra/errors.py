"""The one family of errors that a user can cause and mend."""

from krohn.program.errors import KrohnError

__all__ = ["KrohnError", "MachineError"]


class MachineError(KrohnError):
    """A machine is malformed, or an operation does not apply to it."""
