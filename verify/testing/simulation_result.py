"""The result of a simulation of a network against its machine."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from krohn.verify.testing.counterexample import Counterexample

Progress = Callable[[int, int], None]
"""Told after every batch how many words are done, and how many there are."""

Reading = Literal["at once", "letter by letter", "among others"]
"""How a network was run: a word whole, a letter at a time, or in a batch of words."""

BUDGET = 200_000
"""How many words may be run to make a wrong one minimal; some seconds on one core."""


@dataclass(frozen=True)
class Simulation:
    """How many words were run, and the shortest of them that failed.

    Attributes:
        words: How many words were checked. In an exhaustive simulation every nonempty
            prefix is a word by itself; a sampled word counts once, although the answer
            at each of its positions is checked.
        length: The length of the longest words.
        counterexample: The shortest word found on which network and machine differ, cut
            at the first wrong answer; None if there was no such word.
        about: Further words about the words, to follow their number.
        every: Whether the words are all up to the length, or up to the
            counterexample's; then no word before it, shortest first, fails.
        elsewhere: The start state of the network that is wrong, if it is another than the
            first; None if it is that one.
        largest_error: How far an output was from what is right, at most; None where
            answers are classes.
    """

    words: int
    length: int
    counterexample: "Counterexample | None"
    about: str = ""
    every: bool = False
    elsewhere: str | None = None
    largest_error: float | None = None

    @property
    def has_passed(self) -> bool:
        """Whether every answer was right."""
        return self.counterexample is None
