"""Two machines followed side by side: whether they ever show different things."""

from collections.abc import Callable
from dataclasses import dataclass

from krohn.algebra.automaton import Automaton

Word = tuple[int, ...]
"""Letters by their numbers."""


@dataclass(frozen=True)
class Beside:
    """The result of following two machines with the same letters side by side.

    Attributes:
        word: A shortest word after which they show different things; None if none.
        pairs: The names of states where equal words lead, if there is no such word.
    """

    word: Word | None
    pairs: tuple[tuple[str, str], ...] = ()

    @property
    def states(self) -> dict[str, str] | None:
        """The state of the other for each of one, if that is a bijection.

        It keeps the start, the letters and what is shown: an isomorphism.
        """
        partner = dict(self.pairs)
        one_to_one = len(partner) == len(set(partner.values())) == len(self.pairs)
        return partner if self.word is None and one_to_one else None


def beside(
    one: Automaton, other: Automaton, same: Callable[[str, str], bool] = str.__eq__
) -> Beside:
    """Follow two machines, breadth first; letters are those of the first, by name.

    Machines that show something on states are compared after each letter, not before.

    Args:
        one: The first.
        other: The second.
        same: Whether what the two show is the same; asked in the order of words.
    """
    letters = [other.letters.index(letter) for letter in one.letters]
    words: dict[tuple[int, int], Word] = {(one.start, other.start): ()}
    queue = list(words)
    for p, q in queue:
        for a, b in enumerate(letters):
            word = (*words[p, q], a)
            if not same(_says(one, a, p), _says(other, b, q)):
                return Beside(word)
            after = int(one.transitions[a, p]), int(other.transitions[b, q])
            if after not in words:
                words[after] = word
                queue.append(after)
    return Beside(None, tuple((one.states[p], other.states[q]) for p, q in queue))


def _says(machine: Automaton, letter: int, state: int) -> str:
    output = machine.output
    assert output is not None
    if output.on == "transitions":
        return output.names[int(output.table[letter, state])]
    return output.names[int(output.table[machine.transitions[letter, state]])]
