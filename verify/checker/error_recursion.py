"""Rule E: errors that grow by stated factors (Theorem E of docs/within.md)."""

from collections.abc import Callable

from krohn.program.errors import demand
from krohn.verify.checker.arithmetic import Interval, Operand


def settled(bound: Callable[[Interval], Interval], room: Operand) -> Interval:
    """A bound of the errors of all steps (Theorem E).

    Args:
        bound: What no later error exceeds, if no earlier one exceeds its argument; it
            rises with it.
        room: What bounds itself.

    Raises:
        Refused: If it does not.
    """
    most = Interval.of(room)
    for _ in range(2):
        found = Interval.of(bound(most).high)
        demand(found <= most, "errors cannot be bounded: they may grow")
        most = found
    return most
