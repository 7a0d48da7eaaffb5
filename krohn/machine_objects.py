"""Machines from Python objects: tables, functions, graphs, other libraries' automata."""

from collections.abc import (
    Callable,
    Collection,
    Hashable,
    Iterable,
    Mapping,
    Sequence,
)
from dataclasses import replace
from enum import Enum
from inspect import signature
from itertools import islice
from typing import Any, NamedTuple

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import MachineError
from krohn.algebra.formats.acceptors import EMPTY, machine_of
from krohn.algebra.formats.assembly import Transition, with_remark
from krohn.algebra.wording import near
from krohn.machine_reading import Accepting, MachineReading, Outputs
from krohn.program.quoting import cut, kind_of_value
from krohn.program.user_input import EPSILONS

# Tables with the states and letters of an object, and the machines that they are.


class NoLetter(Enum):
    """The letter of a move that reads none."""

    EMPTY = "the empty word"


NO_LETTER = NoLetter.EMPTY


class Table(NamedTuple):
    """A machine as an object gives it, with the object's own states and letters.

    Attributes:
        moves: For each state where its letters lead.
        start: The start state.
        letters: The letters, in their order.
        shown: What states show, or transitions, by state and letter; None for nothing.
        remark: What may have been meant otherwise.
    """

    moves: Mapping[Any, Mapping[Any, Any]]
    start: Hashable
    letters: Sequence[Any]
    shown: Outputs | None = None
    remark: str = ""


def make_table(
    moves: Mapping[Any, Mapping[Any, Any]],
    told: MachineReading,
    shown: Outputs | None = None,
) -> Table:
    """A table that starts in its first state if nothing else is said.

    Raises:
        MachineError: If the start is no state, and none is called so.
    """
    start = next(iter(moves)) if told.start is None else told.start
    if start not in moves:
        called = [q for q in moves if str(q) == start]
        if not called:
            hint = near(str(start), map(str, moves))
            raise MachineError(f"the start state {start!r} is no state{hint}")
        start = called[0]
    every = (a for row in moves.values() for a in row)
    letters = every if told.letters is None else told.letters
    return Table(moves, start, list(dict.fromkeys(letters)), shown)


def machine(table: Table, told: MachineReading) -> Automaton:
    """The machine of a table, its states and letters by name."""
    states = names("state", table.moves)
    letters = names("letter", table.letters)
    if EMPTY in letters.values():
        raise MachineError("a letter is called by an empty text; give it a name")
    shown, transition_output = _outputs(table, told)
    transitions = [
        Transition(
            states[q],
            _letter(letters, q, a),
            target,
            None if transition_output is None else str(transition_output(q, a)),
        )
        for q, row in table.moves.items()
        for a, to in row.items()
        for target in _targets(states, q, a, to)
    ]
    seen = {states[q]: str(shown(q)) for q in table.moves} if shown else None
    made = machine_of(
        transitions,
        states[table.start],
        "machine",
        told.complete,
        states=states.values(),
        letters=letters.values(),
        shown=seen,
    )
    return with_remark(made, table.remark)


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


def check_letter(letter: object) -> None:
    """Refuse a letter that may stand for none, where no library says what it is.

    Raises:
        MachineError: If it is None, or a sign that drawings have for the empty word.
    """
    if letter is None or (isinstance(letter, str) and letter in EPSILONS):
        raise MachineError(
            f"{letter!r} as a letter may stand for none: name the letter otherwise, or "
            "give an automaton of automata-lib or pyformlang, which have empty moves"
        )


def _targets(states: Mapping[Any, str], q: object, a: object, to: Any) -> list[str]:
    """The states to which a letter leads: one, or a collection of them."""
    several = isinstance(to, list | set | frozenset | tuple) and (
        not isinstance(to, Hashable) or to not in states
    )
    targets = sorted(to, key=str) if several else [to]
    strange = next((r for r in targets if r not in states), None)
    if strange is not None:
        raise MachineError(
            f"from {q!r} the letter {a!r} leads to {strange!r}, no state"
        )
    return [states[r] for r in targets]


def _letter(letters: Mapping[Any, str], q: object, a: Any) -> str:
    if a is NO_LETTER:
        return EMPTY
    if a not in letters:
        raise MachineError(f"state {q!r} has the letter {a!r}, which letters= lacks")
    return letters[a]


def _outputs(
    table: Table, told: MachineReading
) -> tuple[Callable[[Any], Any] | None, Callable[[Any, Any], Any] | None]:
    """The output of a state, or of a letter in a state, as functions."""
    if told.accepting is not None:
        if told.outputs is not None:
            raise MachineError("say accepting= or outputs=, not both")
        return _accepts(table, told.accepting), None
    outputs = table.shown if told.outputs is None else told.outputs
    if outputs is None:
        return None, None
    if not isinstance(outputs, Mapping):
        if not callable(outputs):
            raise MachineError(
                "outputs= is a dict by state, or a function of the state, or of state and "
                f"letter, not {kind_of_value(outputs)}"
            )
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
    if isinstance(accepting, str) or not isinstance(accepting, Collection):
        what = "a string" if isinstance(accepting, str) else repr(accepting)
        raise MachineError(
            f"accepting= is a collection of states, not {what}; of one state: {{state}}"
        )
    strange = next((q for q in accepting if q not in table.moves), None)
    if strange is not None:
        raise MachineError(f"accepting= names {strange!r}, which is no state")
    return lambda q: "accept" if q in accepting else "reject"


def line(thing: object) -> str:
    """Something on one line of a message."""
    return cut(" ".join(str(thing).split()), 100)


# Machines as dicts, as functions, and as lists of permutations.


LIMIT = 100_000
"""States of a transition function that are explored where nothing else is said."""


OF_ARRAYS = (
    "; a hidden Markov model is a dict of startprob, transmat and emissionprob, a "
    "weighted automaton one of start, matrices and final"
)


def of_dict(source: Mapping[Any, Any], told: MachineReading) -> Table:
    """State to letter to state; the first key is the start if nothing else is said."""
    if not source:
        raise MachineError("the dict is empty; a machine needs at least one state")
    for q, row in source.items():
        if not isinstance(row, Mapping):
            raise MachineError(
                f"the state {q!r} leads to {kind_of_value(row)}, not to a dict from "
                "letters to states: {state: {letter: state}}"
                f"{OF_ARRAYS if isinstance(row, Sequence) and type(row) is not str else ''}"
            )
        for a in row:
            check_letter(a)
    return make_table(source, told)


def of_function(source: Callable[[Any, Any], Any], told: MachineReading) -> Table:
    """Breadth first from the start state."""
    if isinstance(source, type):
        raise MachineError(
            f"{source.__name__} is a class; give an object of it, or a function"
        )
    if told.letters is None or told.start is None:
        raise MachineError(
            "a transition function needs letters= and start=: "
            "krohn.automaton(function, start, letters=letters)"
        )
    letters, limit = list(told.letters), LIMIT if told.limit is None else told.limit
    moves: dict[Any, dict[Any, Any]] = {}
    todo = list(names("state", [told.start]))
    while todo:
        for q in todo:
            moves[q] = {a: _call_transition(source, q, a) for a in letters}
        if len(moves) >= limit + 1:
            raise MachineError(
                f"more than {limit:,} states are reachable; say a larger limit=, or "
                "another function"
            )
        reached = names("state", (to for q in todo for to in moves[q].values()))
        todo = list(islice((q for q in reached if q not in moves), limit + 1))
    return Table(moves, told.start, letters)


def _call_transition(source: Callable[[Any, Any], Any], state: Any, letter: Any) -> Any:
    """Where a transition function leads.

    Raises:
        MachineError: If it fails; what failed in it is the cause.
    """
    try:
        return source(state, letter)
    except MemoryError:
        raise
    except Exception as error:
        raise MachineError(
            f"the transition function fails for state {state!r} and letter {letter!r}: "
            f"{type(error).__name__}: {error}"
        ) from error


def of_permutations(source: Sequence[Any], told: MachineReading) -> Table:
    """One permutation of 0, 1, … for each letter."""
    maps = [list(getattr(each, "array_form", each)) for each in source]
    count = len(maps[0])
    for i, images in enumerate(maps):
        if len(images) != count:
            raise MachineError(
                f"permutation {i} is of {len(images)} points, permutation 0 of {count}; "
                "write the fixed points too (of sympy: size=)"
            )
        if sorted(images) != list(range(count)):
            raise MachineError(
                f"the list for letter {i} is not a permutation of 0, …, {count - 1}; give "
                "any other table as a function: krohn.automaton(lambda state, letter: "
                "table[state][letter], start, letters=range(n))"
            )
    named = [f"g{i}" for i in range(1, len(maps) + 1)]
    letters = named if told.letters is None else list(told.letters)
    if len(letters) != len(maps):
        raise MachineError(f"{len(letters)} letters for {len(maps)} permutations")
    rows = {
        q: {a: int(images[q]) for a, images in zip(letters, maps, strict=True)}
        for q in range(count)
    }
    return make_table(rows, replace(told, letters=letters))
