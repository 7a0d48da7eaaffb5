"""Systems that read a word and remember whole numbers, explored two at a time."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import KrohnError
from krohn.kinds.counting.source import (
    Builder,
    Comparison,
    CountingProgram,
    Junction,
    Letter,
    Negation,
)
from krohn.program.domains import BoolArray, IntArray
from krohn.program.word_texts import join_letters

if TYPE_CHECKING:
    import z3

# Systems that read a word letter by letter and remember whole numbers.


Relation = Literal["equal", "included"]
Source = CountingProgram | Automaton
NONE = 2**40
"""No sum within any length that can be explored is so large."""


class System(Protocol):
    """It starts from some numbers, and a letter leads to others."""

    @property
    def letters(self) -> tuple[str, ...]:
        """The names of the letters."""
        ...

    @property
    def start(self) -> IntArray:
        """``(numbers,)``: what it remembers before the first letter."""
        ...

    def bounds(self, length: int) -> tuple[IntArray, IntArray]:
        """``(numbers,)``: the least and the largest of each within so many letters."""
        ...

    def step(self, before: IntArray, letters: IntArray) -> tuple[IntArray, BoolArray]:
        """``(rows, numbers)`` and ``(rows,)`` to the numbers then; whether it accepts."""
        ...

    def formal(
        self, before: "list[z3.ArithRef]", letter: int
    ) -> "tuple[list[z3.ArithRef], z3.BoolRef]":
        """The next memory after a letter, and whether the letter is possible, as terms."""
        ...


@dataclass(frozen=True)
class Acceptor:
    """A machine: its one number is the state.

    Attributes:
        letters: The names of the letters.
        transitions: ``(letters, states)``: the state that a letter leads to.
        first: The start state.
        accepting: ``(states,)``: where it accepts.
    """

    letters: tuple[str, ...]
    transitions: IntArray
    first: int
    accepting: BoolArray

    @property
    def start(self) -> IntArray:
        """The start state."""
        return np.array([self.first])

    def bounds(self, length: int) -> tuple[IntArray, IntArray]:
        """Between the first state and the last one."""
        return np.array([0]), np.array([len(self.accepting) - 1])

    def step(self, before: IntArray, letters: IntArray) -> tuple[IntArray, BoolArray]:
        """The next state, and whether it accepts."""
        after = self.transitions[letters, before[:, 0]]
        return after[:, None], self.accepting[after]

    def formal(
        self, before: "list[z3.ArithRef]", letter: int
    ) -> "tuple[list[z3.ArithRef], z3.BoolRef]":
        """The next state by cases of the state."""
        import z3

        (state,), row = before, self.transitions[letter].tolist()
        after: z3.ArithRef = z3.IntVal(row[-1])
        for q, target in enumerate(row[:-1]):
            after = z3.If(state == q, target, after)
        here = np.flatnonzero(self.accepting).tolist()
        return [after], z3.Or([after == q for q in here])


@dataclass(frozen=True)
class Counting:
    """A counting program: its numbers are its sums of counts."""

    program: CountingProgram

    @property
    def letters(self) -> tuple[str, ...]:
        """The names of the letters."""
        return self.program.letters

    @property
    def start(self) -> IntArray:
        """All sums are 0."""
        return np.zeros(len(self.program.sums), np.int64)

    @cached_property
    def caps(self) -> IntArray:
        """``(sums,)``: the least value of each from which on all values are alike.

        A sum that never falls is above all that it is compared with for ever, once it
        is; others have no such value.
        """
        ends = dict.fromkeys(self.program.sums, 0)
        for formula in self.program.formulas:
            if isinstance(formula, Comparison):
                given = (e for e in (formula.least, formula.most) if e is not None)
                ends[formula.counts] = max(ends[formula.counts], *given)
        falls = (any(k < 0 for _, k in counts) for counts in ends)
        capped = [
            NONE if falling else end + 1
            for falling, end in zip(falls, ends.values(), strict=True)
        ]
        return np.array(capped, np.int64)

    def bounds(self, length: int) -> tuple[IntArray, IntArray]:
        """A letter adds at most all positive factors, and at least all negative ones."""
        factors = [[k for _, k in counts] for counts in self.program.sums]
        low = np.array([sum(min(k, 0) for k in each) for each in factors], np.int64)
        high = np.array([sum(max(k, 0) for k in each) for each in factors], np.int64)
        return length * low, np.minimum(length * high, self.caps)

    def step(self, before: IntArray, letters: IntArray) -> tuple[IntArray, BoolArray]:
        """The sums with one more letter, up to their caps, and what the program says."""
        after, says = self.program.step(before, letters)
        return np.minimum(after, self.caps), says

    def formal(
        self, before: "list[z3.ArithRef]", letter: int
    ) -> "tuple[list[z3.ArithRef], z3.BoolRef]":
        """The sums with one more letter, formula by formula."""
        import z3

        after = dict(zip(self.program.sums, before, strict=True))
        held = list[z3.BoolRef]()
        new = dict[object, z3.ArithRef]()
        for formula in self.program.formulas:
            match formula:
                case Letter(number):
                    held.append(z3.BoolVal(number == letter))
                case Negation(part):
                    held.append(z3.Not(held[part]))
                case Junction(every, read):
                    join = z3.And if every else z3.Or
                    held.append(join([held[i] for i in read]))
                case Comparison(counts, least, most):
                    if counts not in new:
                        added = [z3.If(held[i], k, 0) for i, k in counts]
                        new[counts] = after[counts] + z3.Sum(added)
                    ends = [] if least is None else [new[counts] >= least]
                    ends += [] if most is None else [new[counts] <= most]
                    held.append(z3.And(ends))
        return [new[counts] for counts in self.program.sums], held[self.program.output]


def systems_of(
    left: CountingProgram | Automaton,
    right: CountingProgram | Automaton,
    relation: Relation,
) -> tuple[System, System]:
    """Two systems over the same letters that never differ if the relation holds.

    Two counting programs become one, which shares the sums that they have in common and
    says where they are wrong; beside it stands a machine that accepts nothing.

    Raises:
        KrohnError: If they have different letters, or a machine accepts no words.
    """
    letters = left.letters
    if sorted(letters) != sorted(right.letters):
        raise KrohnError(
            f"{left.name} and {right.name} have different letters: "
            f"{join_letters(letters)}, and {join_letters(right.letters)}"
        )
    if isinstance(left, CountingProgram) and isinstance(right, CountingProgram):
        return Counting(_wrong(left, right, relation)), _rejecting(letters)
    first, second = (system_of(x, letters) for x in (left, right))
    return first, second


def _wrong(
    left: CountingProgram, right: CountingProgram, relation: Relation
) -> CountingProgram:
    """The program that accepts the words on which a relation does not hold."""
    builder = Builder(left.letters)
    one, other = builder.copy_program(left), builder.copy_program(right)
    found = builder.every(one, builder.no(other))
    if relation == "equal":
        found = builder.some(found, builder.every(builder.no(one), other))
    return builder.program("wrong", found)


def _rejecting(letters: tuple[str, ...]) -> Acceptor:
    return Acceptor(
        letters, np.zeros((len(letters), 1), np.int64), 0, np.zeros(1, bool)
    )


def system_of(source: Source, letters: tuple[str, ...]) -> System:
    """A source, its letters in an order.

    Raises:
        KrohnError: If it is a machine that accepts no words.
    """
    if isinstance(source, CountingProgram):
        builder = Builder(letters)
        return Counting(builder.program(source.name, builder.copy_program(source)))
    output = source.output
    said = () if output is None or output.on != "states" else output.names
    if output is None or set(said) != {"accept", "reject"}:
        raise KrohnError(
            f"{source.name} does not state which words it accepts; use a regular "
            "expression, or a machine file with accepting states. To compare outputs "
            "or names instead, choose by --up-to"
        )
    order = [source.letters.index(letter) for letter in letters]
    accepting = np.asarray(output.table == said.index("accept"))
    return Acceptor(letters, source.transitions[order], source.start, accepting)


# All that two systems can remember together after words of up to some length.


MOST_PAIRS = 20_000_000
"""The pairs of memories that are remembered, at most: 160 MB, and about a minute."""
Report = Callable[[int, int], None]


@dataclass(frozen=True)
class Explored:
    """The answers of two systems on all words of up to some length, compared.

    Attributes:
        length: How long words were.
        pairs: How many different pairs of memories they lead to.
        word: The letters of a shortest word on which the systems are wrong, by their
            numbers; None if there is none.
    """

    length: int
    pairs: int
    word: tuple[int, ...] | None


def explore(
    left: System,
    right: System,
    relation: Relation,
    length: int,
    report: Report,
    most: int | None = None,
) -> Explored:
    """Follow two systems with the same letters side by side, shortest words first.

    Two words that lead to the same memories are continued once: what follows depends on
    the memories alone, and the shorter word has more letters left. So all words of up to
    ``length`` letters are covered.

    Args:
        left: The first system.
        right: The second system.
        relation: What is wrong: a word that one alone accepts, or the first alone.
        length: How long words are, at most.
        report: Called with letters done and in all.
        most: After how many pairs of memories to stop, with shorter words; None to
            refuse at `MOST_PAIRS` instead.

    Raises:
        KrohnError: If there are too many memories to tell them apart by numbers of 64
            bits, or more than `MOST_PAIRS`, and ``most`` is None.
    """
    if most is not None:
        length = _numbered(left, right, length)
    number = _numbering(left, right, length)
    width, letters = len(left.start), len(left.letters)
    rows = np.concatenate([left.start, right.start])[None]
    seen, levels = number(rows), list[tuple[IntArray, IntArray]]()
    for done in range(length):
        if not len(rows):
            break
        if most is not None and len(seen) + letters * len(rows) > most:
            return Explored(done, len(seen), None)
        parent = np.repeat(np.arange(len(rows)), letters)
        letter = np.tile(np.arange(letters), len(rows))
        first, says = left.step(rows[parent, :width], letter)
        second, says_too = right.step(rows[parent, width:], letter)
        bad = says & ~says_too if relation == "included" else says != says_too
        if bad.any():
            at = int(bad.argmax())
            word = (*_word(levels, int(parent[at])), int(letter[at]))
            return Explored(done + 1, len(seen), word)
        rows = np.concatenate([first, second], axis=1)
        seen, once = _with_new(seen, number(rows))
        if len(seen) > MOST_PAIRS:
            raise KrohnError(
                f"words of {done + 1} letters lead to more than {MOST_PAIRS:,} different "
                f"memories; ask for at most {done} letters (-T {done})"
            )
        levels.append((parent[once], letter[once]))
        rows = rows[once]
        report(done + 1, length)
    return Explored(length, len(seen), None)


def _with_new(seen: IntArray, found: IntArray) -> tuple[IntArray, IntArray]:
    """All numbers, sorted, and where each that was not seen is first found."""
    key, once = np.unique(found, return_index=True)
    place = np.searchsorted(seen, key)
    new = seen[np.minimum(place, len(seen) - 1)] != key
    return np.insert(seen, place[new], key[new]), once[new]


def _numbered(left: System, right: System, length: int) -> int:
    """The longest words, halved until all pairs of memories have numbers of 64 bits."""
    while length:
        try:
            _numbering(left, right, length)
        except KrohnError:
            length //= 2
        else:
            break
    return length


def _numbering(
    left: System, right: System, length: int
) -> Callable[[IntArray], IntArray]:
    """A number of its own for every pair of memories within so many letters."""
    bounds = [system.bounds(length) for system in (left, right)]
    low = np.concatenate([each[0] for each in bounds])
    spread = np.concatenate([each[1] for each in bounds]) - low + 1
    if np.prod(spread.astype(float)) >= 2.0**62:
        raise KrohnError(
            f"within {length} letters there are too many values of "
            f"{len(spread)} counts to be told apart; ask for a shorter length (-T)"
        )
    factors = np.concatenate([[1], np.cumprod(spread[:-1])])
    return lambda rows: np.asarray((rows - low) @ factors)


def _word(levels: list[tuple[IntArray, IntArray]], at: int) -> Iterator[int]:
    """The letters that lead to a row of the last level."""
    found = []
    for parent, letter in reversed(levels):
        found.append(int(letter[at]))
        at = int(parent[at])
    return reversed(found)
