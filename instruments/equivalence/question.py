"""Whether two counting programs or machines accept the same words, and in what sense."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, Unpack, get_args

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.bisimulation import beside
from krohn.algebra.errors import KrohnError
from krohn.algebra.minimisation import minimise, moore
from krohn.algebra.wording import near
from krohn.instruments.equivalence.systems import (
    Explored,
    Relation,
    Source,
    explore,
    read,
    system_of,
    systems_of,
)
from krohn.instruments.learning.teacher import observed
from krohn.machine_objects import MachineKeywords, MachineReading
from krohn.program.word_texts import join_letters

# The notions by which two machines can be one, and the names that may differ.


UpTo = Literal["names", "outputs", "accept"]
Notion = Literal["names", "outputs", "accept", "states"]
Basis = Literal[Notion, "claims"]
"""What two networks are compared by: a notion, or a claim that is proved of both."""
SAID: dict[Basis, str] = {
    "accept": "acceptance, whatever the names of states are",
    "outputs": "outputs by their names, whatever the names of states are",
    "states": "states by their names, or outputs of a machine that shows some",
    "names": "answers up to a renaming, one to one",
    "claims": "both networks with the claim of one file",
}
"""The words for each notion, as a line prints them."""
ACCEPTANCE = {"accept", "reject"}


@dataclass(frozen=True)
class Compared:
    """The result of following two machines side by side.

    Attributes:
        notion: What was compared.
        words: A shortest word after which they differ, by the letters of each; None if
            there is none.
        says: What each shows after it.
        renamed: If names may differ: each name that the first shows for which the second
            has another one, with that, as far as they are one.
        pairs: How many pairs of states words lead to.
    """

    notion: Notion
    words: tuple[tuple[str, ...], tuple[str, ...]] | None
    says: tuple[str, str] | None
    renamed: tuple[tuple[str, str], ...]
    pairs: int


class Renaming:
    """Names of one machine for those of another, one to one, as far as they are met."""

    def __init__(self) -> None:
        self._to, self._back = dict[str, str](), dict[str, str]()

    def __call__(self, one: str, other: str) -> bool:
        """Whether two names may stand for each other, beside all that were met."""
        to, back = self._to.get(one, other), self._back.get(other, one)
        if (to, back) != (other, one):
            return False
        self._to[one], self._back[other] = other, one
        return True

    @property
    def changes(self) -> tuple[tuple[str, str], ...]:
        """The names that differ."""
        return tuple(pair for pair in self._to.items() if pair[0] != pair[1])


def notion_of(left: Automaton, right: Automaton, up_to: str | None) -> Notion:
    """The notion by which two machines are compared.

    Args:
        left: The first.
        right: The second.
        up_to: What somebody asked for: ``"accept"``, ``"outputs"`` or ``"names"``. None:
            outputs, if both have some; acceptance is that of outputs accept and reject.

    Raises:
        KrohnError: If they show no such thing.
    """
    check_known(up_to)
    if up_to == "names":
        return "names"
    both = [m.output for m in (left, right) if m.output is not None]
    accepts = all({*output.names} <= ACCEPTANCE for output in both)
    if len(both) == 2 and up_to != "outputs" and accepts:
        return "accept"
    if len(both) == 2 and up_to != "accept":
        return "outputs"
    if up_to is None:
        return "states"
    lacks = next(
        (m for m in (left, right) if m.output is None or up_to == "accept"), left
    )
    what = "outputs" if up_to == "outputs" else "accept and reject, and nothing else"
    raise KrohnError(
        f"{lacks.name} does not show {what}, so they are not compared; choose by --up-to"
    )


def check_known(up_to: str | None) -> None:
    """Refuse a notion that there is not.

    Raises:
        KrohnError: If it is none.
    """
    known = get_args(UpTo)
    if up_to is not None and up_to not in known:
        raise KrohnError(
            f"--up-to takes {', '.join(known)}, not {up_to!r}{near(str(up_to), known)}"
        )


def compare_machines(left: Automaton, right: Automaton, notion: Notion) -> Compared:
    """Follow two machines side by side, over words of every length.

    Letters are the same by name; by their order, if names may differ and are other ones.

    Raises:
        KrohnError: If the letters differ.
    """
    called = _letters(left, right, notion)
    renaming = Renaming()
    one, other = _minimal(left), _lettered(_minimal(right), called)
    found = beside(one, other, renaming if notion == "names" else str.__eq__)
    if found.word is None:
        return Compared(notion, None, None, renaming.changes, len(found.pairs))
    word = tuple(left.letters[a] for a in found.word)
    says = one.run(word)[-1], other.run(word)[-1]
    words = word, tuple(called[a] for a in word)
    return Compared(notion, words, says, renaming.changes, len(found.pairs))


def _letters(left: Automaton, right: Automaton, notion: Notion) -> dict[str, str]:
    """For each letter of the first machine that of the second."""
    if sorted(left.letters) == sorted(right.letters):
        return {letter: letter for letter in left.letters}
    if notion == "names" and len(left.letters) == len(right.letters):
        return dict(zip(left.letters, right.letters, strict=True))
    raise KrohnError(
        f"{left.name} and {right.name} have different letters: "
        f"{join_letters(left.letters)}, and {join_letters(right.letters)}"
    )


def _minimal(machine: Automaton) -> Automaton:
    """The minimal machine of what `krohn run` says: outputs, or states if it has none."""
    if machine.output is None:
        return observed(machine, "states", "moore")
    return minimise(moore(machine))


def _lettered(machine: Automaton, called: Mapping[str, str]) -> Automaton:
    """A machine whose letters are called like those of another one."""
    mine = {ours: theirs for theirs, ours in called.items()}
    letters = tuple(mine[letter] for letter in machine.letters)
    moves = replace(machine.semiautomaton, letters=letters)
    return replace(machine, semiautomaton=moves)


# Whether two counting programs or machines accept the same words.


USUAL_LENGTH = 100
Side = Literal["left", "right"]


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


def equivalent(
    left: object,
    right: object,
    length: int = USUAL_LENGTH,
    *,
    relation: Relation = "equal",
    every_length: bool = False,
    up_to: str | None = None,
    most: int | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
    **reading: Unpack[MachineKeywords],
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
        most: If given: after how many pairs of memories the exploration stops, so that
            fewer letters are explored than ``length``, instead of refusing.
        progress: Called with letters done and in all.
        **reading: How machines are read, both, by the names in
            `krohn.machine_objects.MachineReading`.

    Raises:
        KrohnError: If a source cannot be read, the letters differ, there is too much to
            be explored, or a source shows nothing of what is to be compared.
    """
    if length < 1:
        raise KrohnError("the length must be at least 1")
    check_known(up_to)
    how = MachineReading(**reading)
    first, second = read(left, how), read(right, how)
    if up_to in ("outputs", "names"):
        return _machines(first, second, up_to, relation)
    systems = systems_of(first, second, relation)
    found = explore(*systems, relation, length, progress, most)
    known = _explored(first, second, relation, found)
    if found.word is not None or not every_length:
        return known
    from krohn.instruments.equivalence.invariant import (
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


def _machines(left: Source, right: Source, up_to: str, relation: Relation) -> Answer:
    """Whether two machines show the same, after words of every length."""
    if not isinstance(left, Automaton) or not isinstance(right, Automaton):
        raise KrohnError(
            "a counting program accepts words and shows nothing else; leave --up-to out"
        )
    if relation != "equal":
        raise KrohnError("only what is accepted can be included; leave --up-to out")
    found = compare_machines(left, right, notion_of(left, right, up_to))
    word = None if found.words is None else found.words[0]
    only = (
        compare_machines(left, right, "names") if up_to == "outputs" and word else found
    )
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
