"""The latest value strictly before a position, in one layer.

No head can leave out its own position and keep the order of the others. But the blocks
that t's binary digits 1 point back to cover 0..t−1, one head finds the latest value in
each, and the first that found one, from the nearest block on, is the latest before t.
"""

from collections.abc import Sequence
from itertools import product

from krohn.program import Map, Operation, Row, SiblingLatest, table


def latest_before(
    name: str, source: str, where: str, values: Sequence[int], length: int
) -> dict[str, Operation]:
    """Channels that end in ``name``: ``source`` at the last flagged j < t, 0 if none.

    Args:
        name: What to call the last channel.
        source: A channel that is 0 at BOS and at no other flagged position.
        where: The flag, 1 at BOS.
        values: All values of the source.
        length: T.
    """
    levels = range(length.bit_length())
    operations: dict[str, Operation] = {
        f"{name}@{level}": SiblingLatest(source, where, level) for level in levels
    }
    rows: dict[Row, int] = {(a, b): a or b for a, b in product(values, repeat=2)}
    first, layer = table(rows), list(operations)
    while len(layer) > 1:
        joined = []
        for i in range(0, len(layer) - 1, 2):
            both = f"{name}@{len(operations)}"
            operations[both] = Map(first, (layer[i], layer[i + 1]))
            joined.append(both)
        layer = joined + layer[len(joined) * 2 :]
    operations[name] = Map(table({(v,): v for v in values}), (layer[0],))
    return operations
