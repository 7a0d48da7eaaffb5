"""The latest value before a position, recognised in the answers of sibling blocks.

At position t ≥ 1 let t have the binary digit 1 at levels k₁ < k₂ < …. The sibling blocks of
t at these levels are disjoint, cover 0..t−1, and those of higher levels lie earlier. A
sibling-latest of each level 0..K−1, 2^K > T, answers 0 if its block holds no flag after
BOS, and else the source at the last flagged position of it, which is not 0. So the
first answer that is not 0, lowest level first, is the source at the last flagged j < t;
if all are 0 there is none after BOS, and 0 is the source at BOS.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from verify.errors import Rejected
from verify.statement import Channel, Reach, Statement


@dataclass(frozen=True)
class _Answer:
    """The first answer that is not 0 of sibling-latests of the levels low..high − 1."""

    source: str
    where: str
    low: int
    high: int

    def complete(self, statement: Statement, reach: Mapping[str, Reach]) -> bool:
        """Whether it is the source at the last flagged position before, for t ≤ T."""
        values = reach[self.source]
        tells = values.bos == 0 and 0 not in values.later
        return tells and self.low == 0 and 2**self.high > statement.length


def strictly_before(
    statement: Statement, reach: Mapping[str, Reach]
) -> tuple[dict[str, tuple[str, str]], frozenset[str]]:
    """The channels that hold the latest value before a position, and their parts.

    Args:
        statement: The Program.
        reach: The values of each channel.

    Returns:
        For each such channel the source and the flag; and the parts that they are put
        together from, which nothing else reads.

    Raises:
        Rejected: If something else depends on the answer of single blocks.
    """
    found: dict[str, tuple[str, str]] = {}
    parts: dict[str, _Answer] = {}
    for channel in statement.channels.values():
        answer = _answer(channel, parts)
        if answer is None:
            _check_visible(channel.name, channel.inputs, parts)
        elif answer.complete(statement, reach):
            found[channel.name] = answer.source, answer.where
            _check_visible(channel.name, found[channel.name], parts)
        else:
            parts[channel.name] = answer
    _check_visible(", ".join(statement.outputs), statement.outputs, parts)
    return found, frozenset(parts)


def _answer(channel: Channel, parts: Mapping[str, _Answer]) -> _Answer | None:
    """What a channel says of sibling blocks, if it says nothing else."""
    if channel.op == "sibling-latest":
        source, where = channel.inputs
        return _Answer(source, where, channel.by, channel.by + 1)
    if channel.op != "table" or not parts.keys() >= set(channel.inputs):
        return None
    first, *others = (parts[name] for name in channel.inputs)
    for other in others:
        if other != replace(first, low=first.high, high=other.high):
            return None
        first = replace(first, high=other.high)
    return first if _takes_first(channel.table) else None


def _takes_first(table: Mapping[tuple[int, ...], int]) -> bool:
    """Whether every row, also that of BOS, gives its first value that is not 0."""
    return all(
        next((value for value in row if value), 0) == result
        for row, result in table.items()
    )


def _check_visible(
    name: str, read: tuple[str, ...], parts: Mapping[str, _Answer]
) -> None:
    if any(n in parts for n in read):
        raise Rejected(
            f"{name!r} depends on positions in a way that no argument of this checker "
            "covers"
        )
