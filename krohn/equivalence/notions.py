"""What it means that two machines are one: what is compared, and what may differ."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, get_args

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import KrohnError
from krohn.algebra.minimisation import minimise
from krohn.algebra.near_names import near
from krohn.algebra.shown import moore
from krohn.learning.machines import beside, observed

UpTo = Literal["names", "outputs", "accept"]
Notion = Literal["names", "outputs", "accept", "states"]
SAID: dict[Notion, str] = {
    "accept": "acceptance, whatever the names of states are",
    "outputs": "outputs by their names, whatever the names of states are",
    "states": "states by their names",
    "names": "answers up to a renaming, one to one",
}
"""What is compared, as a line says it."""
ACCEPTANCE = {"accept", "reject"}


@dataclass(frozen=True)
class Compared:
    """What comes of following two machines side by side.

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
    """What is compared of two machines.

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


def compared(left: Automaton, right: Automaton, notion: Notion) -> Compared:
    """Follow two machines side by side, over words of every length.

    Letters are the same by name; by their order, if names may differ and are other ones.

    Raises:
        KrohnError: If the letters differ.
    """
    called = _letters(left, right, notion)
    renaming = Renaming()
    one, other = _shown(left), _lettered(_shown(right), called)
    found = beside(one, other, renaming if notion == "names" else str.__eq__)
    if found.word is None:
        return Compared(notion, None, None, renaming.changes, len(found.pairs))
    word = tuple(left.letters[a] for a in found.word)
    says = _last(one, word), _last(other, word)
    words = word, tuple(called[a] for a in word)
    return Compared(notion, words, says, renaming.changes, len(found.pairs))


def _letters(left: Automaton, right: Automaton, notion: Notion) -> dict[str, str]:
    """For each letter of the first machine that of the second."""
    if sorted(left.letters) == sorted(right.letters):
        return {letter: letter for letter in left.letters}
    if notion == "names" and len(left.letters) == len(right.letters):
        return dict(zip(left.letters, right.letters, strict=True))
    raise KrohnError(
        f"{left.name} and {right.name} have different letters: {' '.join(left.letters)}, "
        f"and {' '.join(right.letters)}"
    )


def _shown(machine: Automaton) -> Automaton:
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


def _last(machine: Automaton, word: tuple[str, ...]) -> str:
    """What a machine with outputs on states shows after a word."""
    state, output = machine.start, machine.output
    assert output is not None
    for letter in machine.encode(word):
        state = int(machine.transitions[letter, state])
    return output.names[int(output.table[state])]
