"""The one family of errors that a user can cause and mend."""


class KrohnError(Exception):
    """A problem with what the user gave; the message says what to do about it.

    Commands print the message on one line and exit with code 2.
    """


class MachineError(KrohnError):
    """A machine is malformed, or an operation does not apply to it."""
