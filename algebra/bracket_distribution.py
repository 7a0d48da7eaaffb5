"""Random words of nested brackets, and the law of the letter that comes next.

This is the distribution D_{q,k,D,N} of the thesis, section 3.6.1, with the exponent of
its formula (3.20) completed (erratum D1): at depth 0 every opening bracket is as likely
as any other, at depth D the innermost bracket must be closed, and in between a bracket
opens with probability q.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.brackets import Brackets, Stack, as_brackets
from krohn.algebra.errors import MachineError
from krohn.algebra.semiautomaton import IntArray

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
        found, kinds = self.brackets, self.brackets.kinds
        opening = self._opens(len(stack))
        inner = stack[-1] if stack else None
        return tuple(
            (1 - opening) * (closes == inner) if opens is None else opening / kinds
            for opens, closes in zip(found.opens, found.closes, strict=True)
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
        found = [stack]
        for at, letter in enumerate(word):
            if not self.law(stack)[letter]:
                raise MachineError(
                    f"letter {at + 1} of the word is illegal: a prefix of nested brackets "
                    f"of depth at most {self.brackets.depth} cannot go on with it"
                )
            stack = self._after(stack, letter)
            found.append(stack)
        return found

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

    def sample(self, rng: np.random.Generator, count: int, length: int) -> IntArray:
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
    found = as_brackets(machine)
    if found is None or found.stacks[machine.start] != ():
        raise MachineError(
            f"{machine.name} is no empty stack of brackets; take a machine of the zoo such "
            "as Dyck4,2 (depth first, then kinds)"
        )
    return BracketDistribution(found, opening)
