"""Whether two counting programs or machines accept the same words, and in what sense."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Unpack, get_args

from krohn.algebra.automaton import Automaton
from krohn.algebra.bisimulation import beside
from krohn.algebra.errors import KrohnError
from krohn.algebra.minimisation import minimise, moore
from krohn.algebra.wording import near
from krohn.instruments.learning.teacher import make_observable_machine
from krohn.kinds.counting.commands import counting_program
from krohn.kinds.counting.commands_words import (
    BY_ACCEPTANCE,
    Answer,
    Notion,
    compare_words,
)
from krohn.kinds.counting.source import CountingProgram
from krohn.kinds.counting.source_systems import Relation, Source
from krohn.machine_reading import AS_IT_IS, MachineKeywords, MachineReading
from krohn.machines import machine_of, with_outputs
from krohn.program.word_texts import join_letters

# The notions by which two machines can be one, and the names that may differ.


UpTo = Literal["names", "outputs", "accept"]
Basis = Literal[Notion, "claims"]
"""What two networks are compared by: a notion, or a claim that is proved of both."""
SAID: dict[Basis, str] = {
    "accept": BY_ACCEPTANCE,
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
    check_known("--up-to", up_to, get_args(UpTo))
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


def check_known(option: str, value: str | None, known: tuple[str, ...]) -> None:
    """Refuse a value of an option that there is not.

    Raises:
        KrohnError: If it is none of those that are known.
    """
    if value is not None and value not in known:
        raise KrohnError(
            f"{option} takes {', '.join(known)}, not {value!r}{near(str(value), known)}"
        )


def compare_machines(left: Automaton, right: Automaton, notion: Notion) -> Compared:
    """Follow two machines side by side, over words of every length.

    Letters are the same by name; by their order, if names may differ and are other ones.

    Raises:
        KrohnError: If the letters differ.
    """
    called = _letters(left, right, notion)
    renaming = Renaming()
    one, other = _minimal(left), _rename_letters(_minimal(right), called)
    comparison = beside(one, other, renaming if notion == "names" else str.__eq__)
    if comparison.word is None:
        return Compared(notion, None, None, renaming.changes, len(comparison.pairs))
    word = tuple(left.letters[a] for a in comparison.word)
    says = one.run(word)[-1], other.run(word)[-1]
    words = word, tuple(called[a] for a in word)
    return Compared(notion, words, says, renaming.changes, len(comparison.pairs))


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
        return make_observable_machine(machine, "states", "moore")
    return minimise(moore(machine))


def _rename_letters(machine: Automaton, called: Mapping[str, str]) -> Automaton:
    """A machine whose letters are called like those of another one."""
    mine = {ours: theirs for theirs, ours in called.items()}
    letters = tuple(mine[letter] for letter in machine.letters)
    moves = replace(machine.semiautomaton, letters=letters)
    return replace(machine, semiautomaton=moves)


# Whether two counting programs or machines accept the same words.


USUAL_LENGTH = 100


def equivalent(
    left: object,
    right: object,
    length: int = USUAL_LENGTH,
    *,
    relation: Relation = "equal",
    always: bool = False,
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
        always: Look for an invariant as well, which covers words of every length.
            That is undecidable in general, so that the answer may be ``undecided``.
        up_to: What is compared: ``"accept"``, which is usual; ``"outputs"`` of machines; or
            ``"names"``: what machines show, outputs or states, up to a renaming.
        most: If given: after how many pairs of memories the exploration stops, so that
            fewer letters are explored than ``length``, instead of refusing.
        progress: Called with letters done and in all.
        **reading: How machines are read, both, by the names in
            `krohn.machine_reading.MachineReading`.

    Raises:
        KrohnError: If a source cannot be read, the letters differ, there is too much to
            be explored, or a source shows nothing of what is to be compared.

    Examples:
        >>> krohn.equivalent("regex:(ab)*", "regex:(ab)*a", 10).word
        ('a',)
    """
    if length < 1:
        raise KrohnError("the length must be at least 1")
    check_known("--up-to", up_to, get_args(UpTo))
    check_known("--relation", relation, get_args(Relation))
    how = MachineReading(**reading)
    first, second = read(left, how), read(right, how)
    if up_to in ("outputs", "names"):
        return _machines(first, second, up_to, relation)
    return compare_words(
        first, second, length, relation, always, most=most, progress=progress
    )


def read(source: object, reading: MachineReading = AS_IT_IS) -> Source:
    """A counting program, its file or name, or what a machine can be read from.

    Raises:
        KrohnError: If it is neither.
    """
    if isinstance(source, CountingProgram):
        return source
    if isinstance(source, str | Path) and (program := counting_program(str(source))):
        return program
    return with_outputs(machine_of(source, reading), reading.observe)


def _machines(left: Source, right: Source, up_to: str, relation: Relation) -> Answer:
    """Whether two machines show the same, after words of every length."""
    if not isinstance(left, Automaton) or not isinstance(right, Automaton):
        raise KrohnError(
            "a counting program accepts words and shows nothing else; leave --up-to out"
        )
    if relation != "equal":
        raise KrohnError("only what is accepted can be included; leave --up-to out")
    comparison = compare_machines(left, right, notion_of(left, right, up_to))
    word = None if comparison.words is None else comparison.words[0]
    only = (
        compare_machines(left, right, "names")
        if up_to == "outputs" and word
        else comparison
    )
    return Answer(
        left=left.name,
        right=right.name,
        notion=comparison.notion,
        relation="equal",
        verdict="verified" if word is None else "refuted",
        explored=comparison.pairs if word is None else len(word),
        length=None if word is None else len(word),
        word=word,
        accepts=None,
        memories=comparison.pairs,
        invariant="",
        says=comparison.says,
        renamed=only.renamed if only.words is None else None,
    )
