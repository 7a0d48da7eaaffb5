"""Well-nested brackets of bounded depth: machines recognised, and random words."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from krohn.algebra.automaton import Automaton, IntArray
from krohn.algebra.errors import MachineError

# Recognising stacks of bounded depth: well-nested brackets of several kinds.


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
        brackets = _from_empty(a, empty, error) if empty != error else None
        if brackets is not None:
            return brackets
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
    brackets = Brackets(depth, opens, closes, stacks)
    return brackets if _agrees(a, brackets, error) else None


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


# Random words of nested brackets, and the law of the letter that comes next.
#
# This is the distribution D_{q,k,D,N} of the thesis, section 3.6.1, with the exponent of
# its formula (3.20) completed (erratum D1): at depth 0 every opening bracket is as likely
# as any other, at depth D the innermost bracket must be closed, and in between a bracket
# opens with probability q.


Law = tuple[Fraction, ...]


@dataclass(frozen=True)
class BracketDistribution:
    """Prefixes of words of nested brackets, drawn letter by letter.

    Attributes:
        brackets: The stacks, and the bracket that each letter opens or closes.
        opening: q, the probability of opening a bracket at depths 1..D−1.

    Raises:
        MachineError: If ``opening`` is not strictly between 0 and 1.
    """

    brackets: Brackets
    opening: Fraction

    def __post_init__(self) -> None:
        if not 0 < self.opening < 1:
            raise MachineError(
                f"the probability of opening is {self.opening}; take one between 0 and 1"
            )

    @property
    def letters(self) -> int:
        """How many letters there are: two for each kind."""
        return len(self.brackets.opens)

    def law(self, stack: Stack) -> Law:
        """The probability of each letter after a prefix that leaves this stack."""
        brackets, kinds = self.brackets, self.brackets.kinds
        opening = self._opens(len(stack))
        inner = stack[-1] if stack else None
        return tuple(
            (1 - opening) * (closes == inner) if opens is None else opening / kinds
            for opens, closes in zip(brackets.opens, brackets.closes, strict=True)
        )

    def _opens(self, depth: int) -> Fraction:
        """The probability of opening some bracket at a depth."""
        if depth == 0:
            return Fraction(1)
        return Fraction(0) if depth == self.brackets.depth else self.opening

    def stacks(self, word: Sequence[int]) -> list[Stack]:
        """The open brackets before the first letter and after each letter of a prefix.

        Raises:
            MachineError: If a letter is illegal where it stands.
        """
        stack: Stack = ()
        stacks = [stack]
        for at, letter in enumerate(word):
            if not self.law(stack)[letter]:
                raise MachineError(
                    f"letter {at + 1} of the word is illegal: a prefix of nested brackets "
                    f"of depth at most {self.brackets.depth} cannot go on with it"
                )
            stack = self._after(stack, letter)
            stacks.append(stack)
        return stacks

    def _after(self, stack: Stack, letter: int) -> Stack:
        opened = self.brackets.opens[letter]
        return stack[:-1] if opened is None else (*stack, opened)

    def probability(self, word: Sequence[int]) -> Fraction:
        """The probability that the first ``len(word)`` letters are these."""
        result, stack = Fraction(1), ()  # type: tuple[Fraction, Stack]
        for letter in word:
            chance = self.law(stack)[letter]
            if not chance:
                return Fraction(0)
            result, stack = result * chance, self._after(stack, letter)
        return result

    def prefixes(self, length: int) -> Iterator[tuple[tuple[int, ...], Stack]]:
        """Every legal prefix of this length with the stack it leaves, in letter order."""
        todo: list[tuple[tuple[int, ...], Stack]] = [((), ())]
        while todo:
            word, stack = todo.pop()
            if len(word) == length:
                yield word, stack
                continue
            law = self.law(stack)
            todo += [
                ((*word, letter), self._after(stack, letter))
                for letter in reversed(range(self.letters))
                if law[letter]
            ]

    def count(self, length: int) -> int:
        """How many legal prefixes have this length, without listing them.

        Only the depth matters: k letters lead up from it and one leads down.
        """
        depth, kinds = self.brackets.depth, self.brackets.kinds
        ways = [1] + [0] * depth
        for _ in range(length):
            ups = [0, *(kinds * w for w in ways[:-1])]
            downs = [*ways[1:], 0]
            ways = [u + d for u, d in zip(ups, downs, strict=True)]
        return sum(ways)

    def sample(self, rng: "np.random.Generator", count: int, length: int) -> IntArray:
        """Independent prefixes ``(count, length)``, letter indices."""
        words = np.zeros((count, length), dtype=np.int64)
        for word in words:
            stack: Stack = ()
            for t in range(length):
                law = np.array(self.law(stack), dtype=np.float64)
                word[t] = rng.choice(self.letters, p=law / law.sum())
                stack = self._after(stack, int(word[t]))
        return words


def distribution(machine: Automaton, opening: Fraction) -> BracketDistribution:
    """The distribution over the words of a stack machine that starts empty.

    Raises:
        MachineError: If the machine is no stack of bounded depth, or starts elsewhere.
    """
    brackets = as_brackets(machine)
    if brackets is None or brackets.stacks[machine.start] != ():
        raise MachineError(
            f"{machine.name} is no empty stack of brackets; take a machine of the zoo such "
            "as Dyck4,2 (depth first, then kinds)"
        )
    return BracketDistribution(brackets, opening)
