"""Regular expressions as trees, and the smallest acceptors of their words.

What letters a part stands for may depend on the whole expression: on the letters that
it names anywhere. The automaton with choices is Thompson's (1968), with fewer moves that
read no letter; it is counted before it is built. Letters that no part tells apart are
one letter until the acceptor is made.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from krohn.algebra.automaton import Automaton, Semiautomaton
from krohn.algebra.errors import MachineError
from krohn.algebra.formats.acceptors import (
    EMPTY,
    MAX_TRANSITIONS,
    Choices,
    acceptor,
)

MAX_PARTS = 100_000
"""The most states and moves of the automaton with choices."""


@dataclass(frozen=True)
class OneOf:
    """One letter.

    Attributes:
        explicit: The letters that are written out.
        tests: Which other letters are among them, of those that there are.
        negated: Whether all letters are meant but these.
    """

    explicit: frozenset[str] = frozenset()
    tests: tuple[Callable[[str], bool], ...] = ()
    negated: bool = False

    @property
    def is_open(self) -> bool:
        """Whether it depends on other letters than its own."""
        return self.negated or bool(self.tests)

    def letters(self, universe: frozenset[str]) -> frozenset[str]:
        """The letters that it stands for, of all that there are."""
        if not self.is_open:
            return self.explicit
        others = {a for a in universe if any(test(a) for test in self.tests)}
        inside = self.explicit | others
        return universe - inside if self.negated else inside


@dataclass(frozen=True)
class Concatenation:
    """Parts one after the other; without parts the empty word."""

    parts: Sequence["Expression"]


@dataclass(frozen=True)
class Union:
    """Words of one of the parts."""

    parts: Sequence["Expression"]


@dataclass(frozen=True)
class Intersection:
    """Words of all parts."""

    parts: Sequence["Expression"]


@dataclass(frozen=True)
class Repetition:
    """A part several times.

    Attributes:
        part: What is repeated.
        least: How often at least.
        most: How often at most; None for any number of times.
    """

    part: "Expression"
    least: int
    most: int | None


Expression = OneOf | Concatenation | Union | Intersection | Repetition


def letters_of(expression: Expression) -> Iterator[OneOf]:
    """The places of an expression where a letter stands, from the left."""
    if isinstance(expression, OneOf):
        yield expression
    elif isinstance(expression, Repetition):
        yield from letters_of(expression.part)
    else:
        for part in expression.parts:
            yield from letters_of(part)


def acceptor_of(
    expression: Expression,
    universe: frozenset[str],
    name: str,
    refuse: Callable[[str], MachineError],
) -> Automaton:
    """The smallest complete deterministic acceptor of the words of an expression.

    Its letters are those that the expression has or stands for, sorted; its states
    are ``"0"``, ``"1"``, … in the order of a breadth-first search.

    Args:
        expression: The expression.
        universe: The letters that there are; those that it writes out among them.
        name: What to call it in messages.
        refuse: The error with a reason.

    Raises:
        MachineError: If it becomes too large, or there are no letters.
    """
    classes = {place: place.letters(universe) for place in letters_of(expression)}
    letters = sorted(
        frozenset().union(*classes.values(), *(p.explicit for p in classes))
    )
    if not letters:
        raise refuse("no letters in it")
    first = _representatives(classes.values(), letters)
    firsts = sorted(set(first.values()))
    members = {p: sorted({first[a] for a in each}) for p, each in classes.items()}
    if _size(expression, members) > MAX_PARTS:
        raise refuse(f"needs more than {MAX_PARTS} states and moves")
    moves = {
        str(q): {a: [*map(str, targets)] for a, targets in row.items()}
        for q, row in _moves(expression, members).items()
    }
    machine = acceptor(Choices(firsts, "0", moves, {"1"}), name, refuse)
    if len(letters) * len(machine.states) > MAX_TRANSITIONS:
        raise refuse(f"needs more than {MAX_TRANSITIONS} transitions")
    number = {a: i for i, a in enumerate(firsts)}
    table = machine.transitions[[number[first[a]] for a in letters]]
    whole = Semiautomaton(table, tuple(letters), machine.states)
    return replace(machine, semiautomaton=whole)


def _representatives(
    classes: Iterable[frozenset[str]], letters: Sequence[str]
) -> dict[str, str]:
    """For each letter the first one that lies in the same classes."""
    within: dict[str, list[int]] = {a: [] for a in letters}
    for i, each in enumerate(classes):
        for a in each:
            within[a].append(i)
    first: dict[tuple[int, ...], str] = {}
    return {a: first.setdefault(tuple(within[a]), a) for a in letters}


_Members = Mapping[OneOf, Sequence[str]]
_Moves = dict[int, dict[str, list[int]]]


def _size(expression: Expression, members: _Members) -> int:
    """At least as many states and moves as `_moves` makes, but for the two ends."""
    match expression:
        case OneOf():
            return max(1, len(members[expression]))
        case Repetition(part, least, most):
            copies = max(1, least if most is None else most)
            return copies * (_size(part, members) + 2) + 4
        case Intersection(parts):
            # A pair of states is a state, and a move leaves it with each state or move.
            return prod(_size(part, members) + 2 for part in parts)
        case Concatenation(parts) | Union(parts):
            return 1 + sum(_size(part, members) + 1 for part in parts)


def _moves(expression: Expression, members: _Members) -> _Moves:
    """The automaton with choices of an expression: its start is 0, its end 1."""
    automaton = _Automaton(members)
    automaton.add(expression, 0, 1)
    return automaton.moves


class _Automaton:
    """An automaton with choices that grows.

    No expression that is added makes a move into its start or out of its end, so that
    others may share these.
    """

    def __init__(self, members: _Members) -> None:
        self.members = members
        self.moves: _Moves = {0: {}, 1: {}}

    def add(self, expression: Expression, start: int, end: int) -> None:
        """Make the words of an expression lead from one state to another."""
        match expression:
            case OneOf():
                for letter in self.members[expression]:
                    self._move(start, letter, end)
            case Union(parts):
                for part in parts:
                    self.add(part, start, end)
            case Concatenation(parts):
                self._concatenate(parts, start, end)
            case Intersection(parts):
                self._intersect(parts, start, end)
            case Repetition(part, least, most):
                self._repeat(part, least, most, start, end)

    def _state(self) -> int:
        self.moves[len(self.moves)] = {}
        return len(self.moves) - 1

    def _move(self, source: int, letter: str, target: int) -> None:
        self.moves[source].setdefault(letter, []).append(target)

    def _concatenate(self, parts: Sequence[Expression], start: int, end: int) -> None:
        for i, part in enumerate(parts, 1):
            after = end if i == len(parts) else self._state()
            self.add(part, start, after)
            start = after
        if not parts:
            self._move(start, EMPTY, end)

    def _repeat(
        self, part: Expression, least: int, most: int | None, start: int, end: int
    ) -> None:
        at = self._state()
        self._move(start, EMPTY, at)
        for done in range(max(least - 1, 0) if most is None else most):
            if done >= least:
                self._move(at, EMPTY, end)
            after = self._state()
            self.add(part, at, after)
            at = after
        if most is None:
            after = self._state() if least else at
            self.add(part, at, after)
            if least:
                self._move(after, EMPTY, at)
            at = after
        self._move(at, EMPTY, end)

    def _intersect(self, parts: Sequence[Expression], start: int, end: int) -> None:
        first, *others = (_moves(part, self.members) for part in parts)
        for other in others:
            first = _both(first, other)
        number = {q: self._state() for q in first if q > 1} | {0: start, 1: end}
        for q, row in first.items():
            for letter, targets in row.items():
                for r in targets:
                    self._move(number[q], letter, number[r])


def _both(one: _Moves, other: _Moves) -> _Moves:
    """The automaton of the words of two."""
    number = {(0, 0): 0, (1, 1): 1}
    moves: _Moves = {0: {}, 1: {}}
    queue = [(0, 0)]
    for p, q in queue:
        pairs = [(EMPTY, (r, q)) for r in one[p].get(EMPTY, ())]
        pairs += [(EMPTY, (p, r)) for r in other[q].get(EMPTY, ())]
        for letter in sorted(one[p].keys() & other[q].keys() - {EMPTY}):
            pairs += [
                (letter, (r, s)) for r in one[p][letter] for s in other[q][letter]
            ]
        for letter, pair in pairs:
            if pair not in number:
                number[pair] = len(number)
                moves[number[pair]] = {}
                queue.append(pair)
            moves[number[p, q]].setdefault(letter, []).append(number[pair])
    return moves
