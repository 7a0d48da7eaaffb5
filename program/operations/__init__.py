"""The operations, one file each, which has the name of the operation on file.

A new file is found by itself, and imported where a Program has its operation.
"""

from krohn.program.architecture import load
from krohn.program.operations.base import Operation


def operation_named(name: str) -> type[Operation] | None:
    """The operation that has a name on file; None if there is none."""
    if name not in Operation.named:
        load(__name__, name)
    return Operation.named.get(name)
