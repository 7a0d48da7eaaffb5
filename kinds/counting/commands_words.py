"""Whether two counting programs or machines accept the same words."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from krohn.kinds.counting.source_systems import (
    Explored,
    Relation,
    Source,
    explore,
    system_of,
    systems_of,
)

Notion = Literal["names", "outputs", "accept", "states"]
"""What two machines can be compared by; counting programs by what they accept."""
Side = Literal["left", "right"]
BY_ACCEPTANCE = "acceptance, whatever the names of states are"
"""The words for what is accepted, as a line prints them."""


@dataclass(frozen=True)
class Answer:
    """The result of comparing two sources.

    Attributes:
        left: The name of the first.
        right: The name of the second.
        notion: What was compared: a key of `krohn.instruments.equivalence.question.SAID`.
        relation: ``"equal"``; or ``"included"``: what the first accepts, the second does.
        verdict: ``"verified"``, ``"refuted"``, or ``"undecided"`` of words of every length.
        explored: All words of up to so many letters were decided.
        length: The longest words that the verdict is about; None for every length.
        word: A shortest word on which the relation does not hold.
        accepts: Which of the two accepts this word, ``"left"`` or ``"right"``; the other
            one does not. None if something else was compared.
        says: What each shows after it, if something else was compared.
        renamed: Of two machines that are one up to names: which names of answers differ,
            in pairs; None if they are not, or nobody asked.
        memories: How many pairs of memories words of that length lead to.
        invariant: What z3 found for words of every length, as SMT-LIB text.
    """

    left: str
    right: str
    notion: Notion
    relation: Relation
    verdict: str
    explored: int
    length: int | None
    word: tuple[str, ...] | None
    accepts: Side | None
    memories: int
    invariant: str
    says: tuple[str, str] | None = None
    renamed: tuple[tuple[str, str], ...] | None = None

    def to_object(self) -> dict[str, Any]:
        """As ``--json`` prints it."""
        return {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in vars(self).items()
        }


def compare_words(
    first: Source,
    second: Source,
    length: int,
    relation: Relation = "equal",
    every_length: bool = False,
    most: int | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Answer:
    """Decide whether two sources accept the same words; the empty one is not asked.

    Args:
        first: A counting program, or a machine that accepts or rejects words.
        second: Another one, with the same letters.
        length: All words of up to so many letters are decided, by exploring what both
            can remember.
        relation: ``"equal"``; or ``"included"``: every word of the first is one of the
            second.
        every_length: Look for an invariant as well, which covers words of every length.
        most: If given: after how many pairs of memories the exploration stops, so that
            fewer letters are explored than ``length``, instead of refusing.
        progress: Called with letters done and in all.

    Raises:
        KrohnError: If the letters differ, there is too much to be explored, or a machine
            does not say what it accepts.
    """
    systems = systems_of(first, second, relation)
    found = explore(*systems, relation, length, progress, most)
    known = _explored(first, second, relation, found)
    if found.word is not None or not every_length:
        return known
    from krohn.kinds.counting.find_invariant import (
        always,  # z3 takes as long as a command
    )

    proof = always(*systems, relation)
    verdict = "verified" if proof.verdict == "proved" else "undecided"
    return replace(known, verdict=verdict, length=None, invariant=proof.invariant)


def _explored(
    first: Source, second: Source, relation: Relation, found: Explored
) -> Answer:
    """The answer about words of the lengths that were explored."""
    wrong = found.word
    word = None if wrong is None else tuple(first.letters[a] for a in wrong)
    return Answer(
        left=first.name,
        right=second.name,
        notion="accept",
        relation=relation,
        verdict="verified" if wrong is None else "refuted",
        explored=found.length,
        length=found.length if word is None else len(word),
        word=word,
        accepts=None if wrong is None else _accepting(first, wrong),
        memories=found.pairs,
        invariant="",
    )


def _accepting(left: Source, word: tuple[int, ...]) -> Side:
    """Which of two sources accepts a word that one of them alone accepts."""
    system = system_of(left, left.letters)
    memory, says = system.start[None], np.zeros(1, bool)
    for letter in word:
        memory, says = system.step(memory, np.array([letter]))
    return "left" if says[0] else "right"
