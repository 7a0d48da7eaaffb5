"""The stored channels from which an MLP decides a Map."""

from collections.abc import Container

from krohn.program import Map, Program, Sum, is_sum


def summands(program: Program, name: str, stored: Container[str]) -> tuple[str, ...]:
    """The channels of a sum, if the table's only input is a sum that nothing stores.

    An MLP makes such a table of steps along the sum: it is not computed for itself.
    """
    operation = program.operations[name]
    if not isinstance(operation, Map) or len(operation.inputs) != 1:
        return ()
    (read,) = operation.inputs
    return program.operations[read].reads if _opens(program, read, stored) else ()


def _opens(program: Program, name: str, stored: Container[str]) -> bool:
    """Whether a channel is a sum of two stored integers that is not stored itself."""
    operation = program.operations[name]
    summed = isinstance(operation, Map) and isinstance(operation.function, Sum)
    if name in stored or not summed:
        return False
    read = operation.reads
    two = len(read) == 2 and all(n in stored for n in read)
    return two and program.one_hot.isdisjoint(read)


def leaves(program: Program, name: str, stored: Container[str]) -> tuple[str, ...]:
    """The channels from which a channel is decided, in the order it reads them.

    These are stored ones, and such as no MLP can compute or decide.
    """
    found: dict[str, None] = {}
    todo = list(
        reversed(summands(program, name, stored) or program.operations[name].reads)
    )
    seen: set[str] = set()
    while todo:
        at = todo.pop()
        operation = program.operations[at]
        if at in stored or operation.is_attention or is_sum(operation):
            found[at] = None
        elif at not in seen:
            seen.add(at)
            below = reversed(operation.reads)
            todo += [n for n in below if n not in found and n not in seen]
    return tuple(found)
