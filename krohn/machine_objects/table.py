"""Tables with the states and letters of an object, and the machines that they are."""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from inspect import signature
from typing import Any, NamedTuple, TypedDict

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import MachineError
from krohn.algebra.formats import Complete, Kind
from krohn.algebra.formats.assembly import Transition, assemble
from krohn.algebra.formats.completion import complete_draft

Outputs = Mapping[Any, Any] | Callable[..., object]
Accepting = Collection[Any] | Callable[[Any], object]


class ToldKeywords(TypedDict, total=False):
    """The keywords of `krohn.automaton` that `Told` has."""

    letters: Iterable[Any] | None
    accepting: Accepting | None
    outputs: Outputs | None
    limit: int | None
    edge: str | None
    kind: Kind | None


@dataclass(frozen=True)
class Told:
    """What is said of an object beside itself; None for what is not said.

    Attributes:
        start: The start state.
        letters: The letters in their order: of a function always, of others if theirs
            is not right.
        accepting: Of a dict, a function, permutations, a graph: the accepting states, or
            a function that says which ones accept.
        outputs: Of the same: what a state shows, as a dict or a function of the state;
            or what a letter shows, as a dict of dicts, or a function of both.
        limit: How many states of a function are explored, at most; 100,000 if nothing
            is said.
        edge: The attribute of a graph's edges that has the letter, or a list of them;
            ``"letter"`` if nothing is said.
        kind: What an Fst or an AT&T file is read as: ``"acceptor"``, ``"mealy"``, or None
            for what its labels say.
    """

    start: Hashable | None = None
    letters: Iterable[Any] | None = None
    accepting: Accepting | None = None
    outputs: Outputs | None = None
    limit: int | None = None
    edge: str | None = None
    kind: Kind | None = None

    @property
    def given(self) -> list[str]:
        """The names of what is said."""
        return [f.name for f in fields(self) if getattr(self, f.name) is not None]


class Table(NamedTuple):
    """A machine as an object gives it, with the object's own states and letters.

    Attributes:
        moves: For each state where its letters lead.
        start: The start state.
        letters: The letters, in their order.
        shown: What states show, or transitions, by state and letter; None for nothing.
    """

    moves: Mapping[Any, Mapping[Any, Any]]
    start: Hashable
    letters: Sequence[Any]
    shown: Outputs | None = None


def started(
    moves: Mapping[Any, Mapping[Any, Any]], told: Told, shown: Outputs | None = None
) -> Table:
    """A table that starts in its first state if nothing else is said.

    Raises:
        MachineError: If the start is no state.
    """
    start = next(iter(moves)) if told.start is None else told.start
    if start not in moves:
        raise MachineError(f"the start state {start!r} is no state")
    every = (a for row in moves.values() for a in row)
    letters = every if told.letters is None else told.letters
    return Table(moves, start, list(dict.fromkeys(letters)), shown)


def machine(table: Table, told: Told, complete: Complete) -> Automaton:
    """The machine of a table, its states and letters by name."""
    states = names("state", table.moves)
    letters = names("letter", table.letters)
    shown, said = _said(table, told)
    transitions = [
        Transition(
            states[q],
            _letter(letters, q, a),
            _target(states, q, a, to),
            None if said is None else str(said(q, a)),
        )
        for q, row in table.moves.items()
        for a, to in row.items()
    ]
    seen = {states[q]: str(shown(q)) for q in table.moves} if shown else None
    draft = assemble(
        transitions,
        states[table.start],
        "machine",
        states=states.values(),
        letters=letters.values(),
        shown=seen,
    )
    return complete_draft(draft, complete)


def names(what: str, things: Iterable[Hashable]) -> dict[Any, str]:
    """How states or letters are called; different ones differently.

    Raises:
        MachineError: If two have one name, or one cannot be told from others.
    """
    named: dict[Any, str] = {}
    taken: dict[str, Any] = {}
    for thing in things:
        try:
            known = thing in named
        except TypeError:
            raise MachineError(
                f"the {what} {line(thing)} is not hashable; use a tuple or a string"
            ) from None
        if known:
            continue
        if (name := str(thing)) in taken:
            raise MachineError(
                f"the {what}s {taken[name]!r} and {thing!r} would both be called {name!r}"
            )
        named[thing], taken[name] = name, thing
    return named


def _target(states: Mapping[Any, str], q: object, a: object, to: Any) -> str:
    if isinstance(to, list | set | frozenset | tuple) and (
        not isinstance(to, Hashable) or to not in states
    ):
        raise MachineError(
            f"nondeterministic: from {q!r} the letter {a!r} leads to {line(to)}, which is "
            "no state; a letter leads to one state"
        )
    if to not in states:
        raise MachineError(f"from {q!r} the letter {a!r} leads to {to!r}, no state")
    return states[to]


def _letter(letters: Mapping[Any, str], q: object, a: Any) -> str:
    if a not in letters:
        raise MachineError(f"state {q!r} has the letter {a!r}, which letters= lacks")
    return letters[a]


def _said(
    table: Table, told: Told
) -> tuple[Callable[[Any], Any] | None, Callable[[Any, Any], Any] | None]:
    """What a state shows, or what a letter shows in a state."""
    if told.accepting is not None:
        if told.outputs is not None:
            raise MachineError("say accepting= or outputs=, not both")
        return _accepts(table, told.accepting), None
    outputs = table.shown if told.outputs is None else told.outputs
    if outputs is None:
        return None, None
    if not isinstance(outputs, Mapping):
        many = len(signature(outputs).parameters) > 1
        return (None, outputs) if many else (outputs, None)
    missing = next((q for q in table.moves if q not in outputs), None)
    if missing is not None:
        raise MachineError(f"outputs= says nothing of the state {missing!r}")
    rows = [outputs[q] for q in table.moves]
    if not all(isinstance(row, Mapping) for row in rows):
        return outputs.__getitem__, None
    for q, row in zip(table.moves, rows, strict=True):
        silent = next((a for a in table.moves[q] if a not in row), None)
        if silent is not None:
            raise MachineError(f"outputs= says nothing of {q!r} under {silent!r}")
    return None, lambda q, a: outputs[q][a]


def _accepts(table: Table, accepting: Accepting) -> Callable[[Any], str]:
    if callable(accepting):
        return lambda q: "accept" if accepting(q) else "reject"
    if isinstance(accepting, str):
        raise MachineError("accepting= is a collection of states, not a string")
    strange = next((q for q in accepting if q not in table.moves), None)
    if strange is not None:
        raise MachineError(f"accepting= names {strange!r}, which is no state")
    return lambda q: "accept" if q in accepting else "reject"


def line(thing: object) -> str:
    """Something on one line of a message."""
    return " ".join(str(thing).split())[:100]
