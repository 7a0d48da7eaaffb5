"""Chains of lemmas: on a channel some positions ago, and so on (Theorem 3)."""

from krohn.program.functions import FUNCTIONS
from krohn.program.operations.shift import Shift
from krohn.program.statement import Channel, Statement
from krohn.verify.checker.followed import Ways, steps

Link = tuple[str, str | None, int]
"""A channel, the shift of the one before it that it reads, and up to where it is right."""


def chain(program: Statement, followed: Ways, output: str) -> list[Link]:
    """The lemmas that lead to an output, first one first.

    Returns:
        Empty if the output is no table of letters and of one shift of a channel that is
        such a table, and so on, or if there are too few of them for words up to T.
    """
    links, name = list[tuple[str, str | None]](), output
    while True:
        shifts = _shifts(program, followed, name)
        if shifts is None or len(shifts) > 1:
            return []
        links.append((name, shifts[0] if shifts else None))
        if not shifts:
            return _with_lengths(program, followed, links[::-1])
        name = program.channels[shifts[0]].inputs[0]


def _shifts(program: Statement, followed: Ways, name: str) -> list[str] | None:
    """The shifts a channel is a map of, of more than letters; None if it reads others."""
    todo, seen, found = [name], set[str](), list[str]()
    while todo:
        one = todo.pop()
        if one in seen:
            continue
        seen.add(one)
        channel = program.channels[one]
        if one in followed or channel.op not in (*FUNCTIONS, "token", "shift"):
            return None
        if channel.op != "shift":
            todo += channel.inputs
        elif not _of_letters(program, channel.inputs[0]):
            found.append(one)
    return found


def _of_letters(program: Statement, name: str) -> bool:
    """Whether a channel is a function of the letter at its position."""
    return {kind for _, kind, _ in steps(program, {}, [name])} <= {*FUNCTIONS, "token"}


def _with_lengths(
    program: Statement, followed: Ways, links: list[tuple[str, str | None]]
) -> list[Link]:
    found, length = list[Link](), 0
    for name, shift in links:
        if shift is not None:
            length += _by(program.channels[shift])
        else:
            read = [c for c, k, _ in steps(program, followed, [name]) if k == "shift"]
            tell = [_by(c) for c in read if c.later.tolist() != [c.bos]]
            length = 1 + max(tell, default=0)
        found.append((name, shift, min(length, program.length)))
    return found if length >= program.length else []


def _by(channel: Channel) -> int:
    """How far a shift looks back."""
    assert isinstance(channel.operation, Shift)
    return channel.operation.by
