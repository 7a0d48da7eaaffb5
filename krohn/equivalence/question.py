"""Whether two counting programs or machines accept the same words."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from algebra.errors import KrohnError
from krohn.equivalence.exploration import explore
from krohn.equivalence.systems import Relation, Source, read, system_of, systems_of

USUAL_LENGTH = 100
Side = Literal["left", "right"]


@dataclass(frozen=True)
class Answer:
    """What is known of two sources.

    Attributes:
        left: The name of the first.
        right: The name of the second.
        relation: ``"equal"``; or ``"included"``: what the first accepts, the second does.
        verdict: ``"verified"``, ``"refuted"``, or ``"undecided"`` of words of every length.
        explored: All words of up to so many letters were decided.
        length: The longest words that the verdict is about; None for every length.
        word: A shortest word on which the relation does not hold.
        accepts: Which of the two accepts this word, ``"left"`` or ``"right"``; the other
            one does not.
        memories: How many pairs of memories words of that length lead to.
        invariant: What z3 found for words of every length, as SMT-LIB text.
    """

    left: str
    right: str
    relation: Relation
    verdict: str
    explored: int
    length: int | None
    word: tuple[str, ...] | None
    accepts: Side | None
    memories: int
    invariant: str

    def to_object(self) -> dict[str, Any]:
        """As ``--json`` prints it."""
        return {**vars(self), "word": None if self.word is None else list(self.word)}


def equivalent(
    left: object,
    right: object,
    length: int = USUAL_LENGTH,
    *,
    relation: Relation = "equal",
    every_length: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Answer:
    """Decide whether two sources accept the same words; the empty one is not asked.

    Args:
        left: A `CountingProgram`, ``crasp:NAME``, a ``.crasp`` file; or a machine that
            accepts or rejects words, or what names one, as ``regex:(ab)*``.
        right: Another one, with the same letters.
        length: All words of up to so many letters are decided, by exploring what both
            can remember.
        relation: ``"equal"``; or ``"included"``: every word of the first is one of the
            second.
        every_length: Look for an invariant as well, which covers words of every length.
            That is undecidable in general, so that the answer may be ``undecided``.
        progress: Called with letters done and in all.

    Raises:
        KrohnError: If a source cannot be read, the letters differ, or there is too much
            to be explored.
    """
    if length < 1:
        raise KrohnError("the length must be at least 1")
    first, second = read(left), read(right)
    systems = systems_of(first, second, relation)
    found = explore(*systems, relation, length, progress)
    said: dict[str, Any] = {
        "left": first.name,
        "right": second.name,
        "relation": relation,
        "memories": found.pairs,
        "explored": found.length,
        "accepts": None,
    }
    if found.word is not None:
        word = tuple(first.letters[a] for a in found.word)
        said["accepts"] = _accepting(first, found.word)
        return Answer(
            **said, verdict="refuted", length=len(word), word=word, invariant=""
        )
    if not every_length:
        return Answer(
            **said, verdict="verified", length=length, word=None, invariant=""
        )
    from krohn.equivalence.invariant import always  # z3 takes as long as a command

    proof = always(*systems, relation)
    verdict = "verified" if proof.verdict == "proved" else "undecided"
    return Answer(
        **said, verdict=verdict, length=None, word=None, invariant=proof.invariant
    )


def _accepting(left: Source, word: tuple[int, ...]) -> Side:
    """Which of two sources accepts a word that one of them alone accepts."""
    system = system_of(left, left.letters)
    memory, says = system.start[None], np.zeros(1, bool)
    for letter in word:
        memory, says = system.step(memory, np.array([letter]))
    return "left" if says[0] else "right"
