"""Recognising stacks of bounded depth: well-nested brackets of several kinds."""

from dataclasses import dataclass

import numpy as np

from krohn.algebra.automaton import Automaton

Stack = tuple[int, ...]


@dataclass(frozen=True)
class Brackets:
    """A machine that keeps a stack of open brackets (thesis, Dyck languages).

    Attributes:
        depth: The most brackets that can be open.
        opens: The kind that each letter opens, None for letters that close.
        closes: The kind that each letter closes, None for letters that open.
        stacks: The stack of each state, bottom first; None for the error, to which
            illegal letters lead and from which no letter leads away.
    """

    depth: int
    opens: tuple[int | None, ...]
    closes: tuple[int | None, ...]
    stacks: tuple[Stack | None, ...]

    @property
    def kinds(self) -> int:
        """How many kinds of brackets there are."""
        return sum(kind is not None for kind in self.opens)


def as_brackets(a: Automaton) -> Brackets | None:
    """The stack machine that ``a`` is, or None.

    All stacks of up to some depth must be there, and one absorbing error.
    """
    table = a.transitions
    fixed = np.flatnonzero((table == np.arange(table.shape[1])).all(axis=0))
    if len(fixed) != 1:
        return None
    error = int(fixed[0])
    for empty in range(table.shape[1]):
        found = _from_empty(a, empty, error) if empty != error else None
        if found is not None:
            return found
    return None


def _from_empty(a: Automaton, empty: int, error: int) -> Brackets | None:
    """The stack machine in which ``empty`` is the empty stack, if it is one."""
    table = a.transitions
    opening = [x for x in range(len(a.letters)) if table[x, empty] != error]
    closing = [x for x in range(len(a.letters)) if table[x, empty] == error]
    pairs = [
        [x for x in closing if table[x, table[y, empty]] == empty] for y in opening
    ]
    if not opening or any(len(p) != 1 for p in pairs):
        return None
    kinds = {p[0]: kind for kind, p in enumerate(pairs)}
    if len(kinds) != len(closing) or len(opening) != len(closing):
        return None
    opens = tuple(opening.index(x) if x in opening else None for x in range(len(table)))
    closes = tuple(kinds.get(x) for x in range(len(table)))
    stacks = _stacks_of_states(a, empty, error, opens)
    if stacks is None:
        return None
    depth = max(len(s) for s in stacks if s is not None)
    found = Brackets(depth, opens, closes, stacks)
    return found if _agrees(a, found, error) else None


def _stacks_of_states(
    a: Automaton, empty: int, error: int, opens: tuple[int | None, ...]
) -> tuple[Stack | None, ...] | None:
    """The stack of each state, found by opening brackets from the empty one."""
    stacks: dict[int, Stack | None] = {error: None, empty: ()}
    todo: list[tuple[int, Stack]] = [(empty, ())]
    while todo:
        state, stack = todo.pop()
        for letter, kind in enumerate(opens):
            after = int(a.transitions[letter, state])
            if kind is None or after == error:
                continue
            if after in stacks:
                return None
            stacks[after] = grown = (*stack, kind)
            todo.append((after, grown))
    if len(stacks) < len(a.states):
        return None
    return tuple(stacks[q] for q in range(len(a.states)))


def _agrees(a: Automaton, found: Brackets, error: int) -> bool:
    """Whether every letter opens or closes as it should, in every state."""
    state = {stack: q for q, stack in enumerate(found.stacks)}
    for q, stack in enumerate(found.stacks):
        for letter, (opened, closed) in enumerate(
            zip(found.opens, found.closes, strict=True)
        ):
            after = None if stack is None else _step(stack, opened, closed, found.depth)
            if after not in state or a.transitions[letter, q] != state[after]:
                return False
    return state[None] == error


def _step(
    stack: Stack, opened: int | None, closed: int | None, depth: int
) -> Stack | None:
    if opened is not None:
        return (*stack, opened) if len(stack) < depth else None
    return stack[:-1] if stack and stack[-1] == closed else None
