"""Whether two counting programs or machines accept the same words."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import KrohnError
from krohn.equivalence.exploration import explore
from krohn.equivalence.notions import Notion, check_known, compared, notion_of
from krohn.equivalence.systems import Relation, Source, read, system_of, systems_of

USUAL_LENGTH = 100
Side = Literal["left", "right"]


@dataclass(frozen=True)
class Answer:
    """What is known of two sources.

    Attributes:
        left: The name of the first.
        right: The name of the second.
        notion: What was compared: a key of `krohn.equivalence.notions.SAID`.
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


def equivalent(
    left: object,
    right: object,
    length: int = USUAL_LENGTH,
    *,
    relation: Relation = "equal",
    every_length: bool = False,
    up_to: str | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Answer:
    """Decide whether two sources accept the same words; the empty one is not asked.

    Or whether two machines show the same, for words of every length.

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
        up_to: What is compared: ``"accept"``, which is usual; ``"outputs"`` of machines; or
            ``"names"``: what machines show, outputs or states, up to a renaming.
        progress: Called with letters done and in all.

    Raises:
        KrohnError: If a source cannot be read, the letters differ, there is too much to
            be explored, or a source shows nothing of what is to be compared.
    """
    if length < 1:
        raise KrohnError("the length must be at least 1")
    check_known(up_to)
    first, second = read(left), read(right)
    if up_to in ("outputs", "names"):
        return _machines(first, second, up_to, relation)
    systems = systems_of(first, second, relation)
    found = explore(*systems, relation, length, progress)
    said: dict[str, Any] = {
        "left": first.name,
        "right": second.name,
        "notion": "accept",
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


def _machines(left: Source, right: Source, up_to: str, relation: Relation) -> Answer:
    """Whether two machines show the same, after words of every length."""
    if not isinstance(left, Automaton) or not isinstance(right, Automaton):
        raise KrohnError(
            "a counting program accepts words and shows nothing else; leave --up-to out"
        )
    if relation != "equal":
        raise KrohnError("only what is accepted can be included; leave --up-to out")
    found = compared(left, right, notion_of(left, right, up_to))
    word = None if found.words is None else found.words[0]
    only = compared(left, right, "names") if up_to == "outputs" and word else found
    return Answer(
        left=left.name,
        right=right.name,
        notion=found.notion,
        relation="equal",
        verdict="verified" if word is None else "refuted",
        explored=found.pairs if word is None else len(word),
        length=None if word is None else len(word),
        word=word,
        accepts=None,
        memories=found.pairs,
        invariant="",
        says=found.says,
        renamed=only.renamed if only.words is None else None,
    )


def _accepting(left: Source, word: tuple[int, ...]) -> Side:
    """Which of two sources accepts a word that one of them alone accepts."""
    system = system_of(left, left.letters)
    memory, says = system.start[None], np.zeros(1, bool)
    for letter in word:
        memory, says = system.step(memory, np.array([letter]))
    return "left" if says[0] else "right"
