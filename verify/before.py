"""The latest value before a position, recognised in the answers of sibling blocks.

At position t ≥ 1 let t have the binary digit 1 at levels k₁ < k₂ < …. The sibling blocks of
t at these levels are disjoint, cover 0..t−1, and those of higher levels lie earlier. A
sibling-latest of each level 0..K−1, 2^K > T, answers 0 if its block holds no flag after
BOS, and else the source at the last flagged position of it, which is not 0. So the
first answer that is not 0, lowest level first, is the source at the last flagged j < t;
if all are 0 there is none after BOS, and 0 is the source at BOS.
"""

from collections.abc import Mapping

from verify.statement import Channel, Reach, Statement


def strictly_before(
    statement: Statement, reach: Mapping[str, Reach]
) -> tuple[dict[str, tuple[str, str]], frozenset[str]]:
    """The channels that hold the latest value before a position, and their parts.

    Args:
        statement: The Program.
        reach: The values of each channel.

    Returns:
        For each such channel the source and the flag; and all channels that serve only
        to compute them, whose own values nothing else may read.
    """
    found: dict[str, tuple[str, str]] = {}
    parts: set[str] = set()
    for channel in list(statement.channels.values())[::-1]:
        if channel.name in parts:
            continue
        leaves = _leaves(statement, channel, reach)
        read = _source(statement, leaves, reach) if leaves else None
        if read is not None:
            found[channel.name] = read
            parts |= _below(statement, channel)
    if not _kept_apart(statement, found, parts):
        return {}, frozenset()
    return found, frozenset(parts)


def _leaves(
    statement: Statement, channel: Channel, reach: Mapping[str, Reach]
) -> list[Channel]:
    """The sibling-latests among which a channel takes the first that is not 0, in order."""
    if channel.op == "sibling-latest":
        return [channel]
    if channel.op != "table" or not 1 <= len(channel.inputs) <= 2:
        return []
    for row in channel.table:
        first = next((value for value in row if value), 0)
        if channel.table[row] != first:
            return []
    below = [_leaves(statement, statement.channels[n], reach) for n in channel.inputs]
    return [leaf for leaves in below for leaf in leaves] if all(below) else []


def _source(
    statement: Statement, leaves: list[Channel], reach: Mapping[str, Reach]
) -> tuple[str, str] | None:
    """The source and flag of leaves that answer for all positions before, if they do."""
    source, where = leaves[0].inputs
    alike = all(leaf.inputs == (source, where) for leaf in leaves)
    levels = [leaf.by for leaf in leaves]
    values = reach[source]
    if not alike or levels != list(range(len(leaves))) or values.bos != 0:
        return None
    if 2 ** len(leaves) <= statement.length or 0 in values.later:
        return None
    return source, where


def _below(statement: Statement, channel: Channel) -> set[str]:
    """All channels between a channel and the source and flag of its leaves."""
    if channel.op == "sibling-latest":
        return set()
    found = set(channel.inputs)
    for name in channel.inputs:
        found |= _below(statement, statement.channels[name])
    return found


def _kept_apart(
    statement: Statement, found: Mapping[str, tuple[str, str]], parts: set[str]
) -> bool:
    """Whether nothing but these channels and their parts reads the parts."""
    inside = parts | found.keys()
    for channel in statement.channels.values():
        if channel.name not in inside and parts & set(channel.inputs):
            return False
    return not parts & set(statement.outputs)
