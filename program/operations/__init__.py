"""The operations, one file each, which has the name of the operation on file.

A new file is found by itself, and imported where a Program has its operation. Slices bring
operations of their own.
"""

from importlib import import_module
from pkgutil import iter_modules

from krohn.program.operations.base import Operation
from krohn.program.slices import slices


def operation_modules() -> dict[str, str]:
    """The module of each operation, by its name on file."""
    own = {
        m.name.replace("_", "-"): f"{__name__}.{m.name}" for m in iter_modules(__path__)
    }
    del own["base"]
    return {k: x for s in slices().values() for k, x in s.operations.items()} | own


def operation_named(name: str) -> type[Operation] | None:
    """The operation that has a name on file; None if there is none."""
    if type(name) is str and name not in Operation.named:  # a file may say anything
        known = operation_modules()
        if name in known:
            import_module(known[name])
    return Operation.named.get(name)
