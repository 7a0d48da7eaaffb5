"""What came of learning a machine."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from krohn.algebra import formats
from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import KrohnError
from krohn.algebra.formats import json_format
from krohn.algebra.wording import count
from krohn.drawing import check_suffix, draw_machine
from krohn.drawing import save as save_picture
from krohn.learning.lstar import Kind
from krohn.learning.machines import Beside
from krohn.learning.teacher import Parted


@dataclass(frozen=True)
class Learned:
    """The machine that a network follows, and how far.

    Attributes:
        machine: It. A state is called by a word that leads to it.
        network: What the network is called.
        method: How it was learned: ``"lstar"`` or ``"rpni"``.
        kind: Whether its states show what is said (``"moore"``), or its transitions.
        length: No longer word taught anything.
        right: All words of up to so many letters are as the machine says; more were run.
        queries: How many words the learner asked.
        words: How many more were run to compare.
        rounds: How many guesses there were.
        spent: Why there is no better guess although it parts within `length`; None if
            it does not, or the method makes one guess only.
        chow: If the network follows any machine of up to so many states, it is this one;
            0 if that was not asked.
        parted: Where network and machine part.
        wanted: The minimal machine that the network should follow; None if none is known.
        beside: Both side by side; None without one.
        seconds: How long it took.
    """

    machine: Automaton
    network: str
    method: str
    kind: Kind
    length: int
    right: int
    queries: int
    words: int
    rounds: int
    spent: str | None
    chow: int
    parted: Parted
    wanted: Automaton | None
    beside: Beside | None
    seconds: float = field(default=0.0, compare=False)

    @property
    def states(self) -> Mapping[str, str] | None:
        """The state of the wanted machine for each of the learned one: an isomorphism.

        None if there is no such machine, or they are not isomorphic.
        """
        return None if self.beside is None else self.beside.states

    @property
    def differs(self) -> tuple[str, ...] | None:
        """A shortest word on which the learned machine and the wanted one differ."""
        if self.beside is None or self.beside.word is None:
            return None
        return tuple(self.machine.letters[a] for a in self.beside.word)

    @property
    def verdict(self) -> str:
        """``"isomorphic"``, ``"different"``, or ``"unnamed"``: nothing to compare with."""
        if self.beside is None:
            return "unnamed"
        return "different" if self.states is None else "isomorphic"

    def __repr__(self) -> str:
        states = count(len(self.machine.states), "state")
        return f"<Learned {self.network}: {states}, {self.verdict}>"

    def to_object(self) -> dict[str, Any]:
        """As ``krohn learn --json`` prints it."""
        word = self.parted.word
        return {
            "network": self.network,
            "verdict": self.verdict,
            "method": self.method,
            "kind": self.kind,
            "states": len(self.machine.states),
            "length": self.length,
            "right": self.right,
            "queries": self.queries,
            "words": self.words,
            "rounds": self.rounds,
            "spent": self.spent,
            "chow": self.chow or None,
            "parted": word.found.to_object() if word else None,
            "shortest": word.least if word else None,
            "minimality": word.summary if word else None,
            "searched": self.parted.searched,
            "wanted": None if self.wanted is None else self.wanted.name,
            "bijection": None if self.states is None else dict(self.states),
            "differs": None if self.differs is None else list(self.differs),
            "machine": json_format.to_object(self.machine),
            "seconds": round(self.seconds, 3),
        }


def check_output(path: Path) -> None:
    """Refuse a name that says no form in which a machine is written, before it is learned.

    Raises:
        KrohnError: If it ends in no format of machines and of no picture.
    """
    if not _is_machine(path):
        try:
            check_suffix(path)
        except KrohnError as error:
            raise KrohnError(
                f"{error}; or a machine: {', '.join(formats.SUFFIXES)}"
            ) from None


def save(found: Learned, path: Path) -> None:
    """Write the machine, in a format of machines or as a picture.

    Raises:
        KrohnError: If it cannot be written.
    """
    if _is_machine(path):
        formats.write(found.machine, path)
    else:
        save_picture(draw_machine(found.machine), path)


def _is_machine(path: Path) -> bool:
    plain = path.name.lower().removesuffix(".gz")
    return any(plain.endswith(suffix) for suffix in formats.SUFFIXES)
