"""Hanoi Omega-Automata (HOA, version 1), read as acceptors of finite words.

The format is about infinite words. A finite word is accepted here if it can end in a state
of the one acceptance set, which is what finite acceptors mean that are written so.
``docs/formats.md`` says what is refused.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import MachineError
from krohn.algebra.formats.acceptors import machine_of_acceptor
from krohn.algebra.formats.assembly import Transition, with_remark
from krohn.algebra.formats.conditions import all_letters, truth_of
from krohn.algebra.formats.files import Complete, check_count, misread, problem, quote
from krohn.program.errors import Refused
from krohn.program.parsing import Language, Misread, Node

ALIVE = "alive"
"""A proposition that says in infinite words whether the finite word still goes on."""
_HOA = Language(Path(__file__).with_name("hoa.lark"))
_SIGN = re.compile(r"\s*+HOA:\s*+v\d")
_Truth = npt.NDArray[np.bool_]


def has_sign(text: str) -> bool:
    """Whether a text begins as HOA does."""
    return _SIGN.match(text) is not None


def read(text: str, name: str, complete: Complete = "reject") -> Automaton:
    """The acceptor of the finite words of a file; its letters are digits, as in KISS2.

    Args:
        text: The file.
        name: What to call it in messages.
        complete: The treatment of missing transitions.

    Raises:
        MachineError: If it is no HOA, has another acceptance than that of states in one
            set, or of all states, goes on in several states at once, or has more
            propositions than can be letters.
    """
    try:
        tree = _HOA.parse(text)
    except Misread as wrong:
        raise misread(name, wrong, "HOA") from None
    file = _File(name, tree)
    machine = machine_of_acceptor(
        [*file.transitions()],
        file.starts(),
        file.accepting(),
        name,
        complete,
        states=file.states,
        letters=file.letters,
    )
    digits = ", ".join(file.propositions)
    remark = (
        f"{name}: read as the acceptor of the finite words that can end in an accepting "
        f"state; the digits of a letter are {digits}"
    )
    return with_remark(machine, remark)


@dataclass
class _File:
    """A file as it says an automaton.

    Attributes:
        name: What to call it in messages.
        tree: What it says.
        states: The states by their numbers.
        propositions: The names of the propositions.
        letters: All letters.
        values: ``(letters,)``: where each proposition and alias holds.
    """

    name: str
    tree: Node
    states: dict[str, Node] = field(default_factory=dict)
    propositions: list[str] = field(default_factory=list)
    letters: list[str] = field(default_factory=list)
    values: dict[str, _Truth] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.tree.parts[0] != "v1":
            raise self.wrong(self.tree, f"HOA {self.tree.parts[0]}; version 1 is read")
        for note in self.of("note"):
            if note.parts[0][0].isupper():
                raise self.wrong(note, f"the line {quote(note.parts[0])} is not read")
        for state in self.of("state"):
            number = next(part for part in state.parts if isinstance(part, str))
            if number in self.states:
                raise self.wrong(state, f"the state {number} is there twice")
            self.states[number] = state
        self._name_letters()

    def _name_letters(self) -> None:
        propositions = self.one("propositions")
        if propositions is not None:
            count, *names = propositions.parts
            self.propositions = [name[1:-1] for name in names]
            if int(count) != len(names) or len({*names}) < len(names):
                raise self.wrong(
                    propositions, f"AP: {count} different names are to follow"
                )
        if not self.propositions:
            raise problem(
                self.name, 0, "no propositions (AP:), so there are no letters"
            )
        if ALIVE in self.propositions:
            reason = (
                f"the proposition {ALIVE!r} stands for the end of finite words; "
                "spot.to_finite removes it"
            )
            raise problem(self.name, 0, reason)
        try:
            self.letters, bits = all_letters(len(self.propositions))
        except Refused as error:
            raise problem(self.name, 0, str(error)) from None
        true = np.ones(len(self.letters), dtype=np.bool_)
        columns = {str(i): bits[:, i] for i in range(len(self.propositions))}
        self.values = columns | {"t": true, "f": ~true}
        for alias in self.of("alias"):
            self.values[alias.parts[0]] = self.truth(alias, alias.parts[1])

    def of(self, kind: str) -> list[Node]:
        """The parts of a kind."""
        return [p for p in self.tree.parts if isinstance(p, Node) and p.kind == kind]

    def one(self, kind: str) -> Node | None:
        """The one part of a kind; None if there is none."""
        lines = self.of(kind)
        if len(lines) > 1:
            raise self.wrong(lines[1], "this line is there twice; keep one of the two")
        return lines[0] if lines else None

    def truth(self, place: Node, condition: Node | str) -> _Truth:
        """``(letters,)``: where a condition holds."""
        try:
            return truth_of(condition, self.values)
        except KeyError as error:
            reason = f"{error} is no proposition and no alias above it"
            raise self.wrong(place, reason) from None

    def starts(self) -> list[str]:
        """The states in which words may begin."""
        lines = self.of("begin")
        if not lines:
            raise problem(self.name, 0, "no line 'Start:', so no word is accepted")
        return [self.target(line) for line in lines]

    def target(self, place: Node) -> str:
        """The one state that a place names."""
        number, *others = place.parts
        if others:
            reason = "several states at once (&), as alternating automata have them"
            raise self.wrong(place, f"{reason}; make it nondeterministic first")
        if number not in self.states:
            raise self.wrong(place, f"{number} is no state of the body")
        return str(number)

    def accepting(self) -> list[str]:
        """The accepting states."""
        acceptance = self.one("acceptance")
        condition = "".join(acceptance.parts[1:]) if acceptance else ""
        marked = {
            q: any(part.kind == "marks" and "0" in part.parts for part in _nodes(state))
            for q, state in self.states.items()
        }
        match condition:
            case "0t":
                return [*self.states]
            case "1Inf(0)":
                return [q for q, accepts in marked.items() if accepts]
        reason = (
            f"the acceptance {quote(condition)} means nothing for finite words; read are "
            "'1 Inf(0)', the states of set 0, and '0 t', all states"
        )
        raise self.wrong(acceptance or self.tree, reason)

    def transitions(self) -> Iterator[Transition]:
        """The transitions, letter by letter."""
        count = 0
        for q, state in self.states.items():
            for edge, holds in self.edges(state):
                places = np.flatnonzero(holds)
                count += len(places)
                check_count(count, self.name)
                (target,) = (p for p in _nodes(edge) if p.kind == "target")
                to = self.target(target)
                for i in places:
                    yield Transition(q, self.letters[i], to, None, edge.line)

    def edges(self, state: Node) -> Iterator[tuple[Node, _Truth]]:
        """The edges of a state, with ``(letters,)`` where each is taken."""
        around = next((p for p in _nodes(state) if p.kind == "label"), None)
        edges = [p for p in _nodes(state) if p.kind == "edge"]
        parts = [{p.kind: p for p in _nodes(edge)} for edge in edges]
        bare = sum(not around and "label" not in known for known in parts)
        if bare and not bare == len(edges) == len(self.letters):
            reason = (
                f"{len(self.letters)} edges without labels are needed, one a letter"
            )
            raise self.wrong(state, reason)
        for number, (edge, known) in enumerate(zip(edges, parts, strict=True)):
            if "marks" in known:
                reason = "acceptance on edges; Spot's autfilt -S moves it to the states"
                raise self.wrong(edge, reason)
            label = known.get("label", around)
            yield (
                edge,
                self.truth(edge, label.parts[0]) if label else self.implicit(number),
            )

    def implicit(self, number: int) -> _Truth:
        """Where an edge without a label is taken: the first proposition changes first."""
        digits = f"{number:0{len(self.propositions)}b}"[::-1]
        return np.array([letter == digits for letter in self.letters])

    def wrong(self, place: Node, reason: str) -> MachineError:
        """The error at a place of the file."""
        return problem(self.name, place.line, reason)


def _nodes(node: Node) -> list[Node]:
    return [part for part in node.parts if isinstance(part, Node)]
