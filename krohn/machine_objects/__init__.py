"""Machines from Python objects: tables, functions, graphs, other libraries' automata.

Each reader makes a table with the object's own states and letters, and the readers of
files share the rest with it: `krohn.algebra.formats.assembly`,
`krohn.algebra.formats.completion`.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import MachineError
from krohn.algebra.formats import Complete
from krohn.machine_objects.libraries import (
    of_aalpy,
    of_automata_lib,
    of_fst,
    of_graph,
    of_pyformlang,
)
from krohn.machine_objects.python_objects import of_dict, of_function, of_permutations
from krohn.machine_objects.table import Told, ToldKeywords, line, machine

__all__ = ["Told", "ToldKeywords", "from_object"]


def from_object(source: object, told: Told, complete: Complete) -> Automaton:
    """The machine that an object is.

    Raises:
        MachineError: If it is no object of a known kind, something said has no meaning
            for it, or it describes no deterministic machine.
    """
    reader = next((r for r in READERS if r.recognises(source)), None)
    if reader is None:
        raise MachineError(
            f"there is no machine in an object of type {type(source).__name__}; "
            "help(krohn.automaton) says what machines are read from"
        )
    for option in told.given:
        if option not in reader.takes:
            raise MachineError(f"{option}= has no effect on {reader.called}")
    try:
        if reader.read is of_fst:
            return of_fst(source, told, complete)
        return machine(reader.read(source, told), told, complete)
    except (AttributeError, TypeError, LookupError) as error:
        raise MachineError(f"{reader.called} is malformed: {line(error)}") from error


def _has(*attributes: str) -> Callable[[Any], bool]:
    return lambda source: all(hasattr(source, name) for name in attributes)


def _is_permutations(source: Any) -> bool:
    one = next(iter(source), None) if isinstance(source, list | tuple) else None
    return hasattr(one, "array_form") or isinstance(one, list | tuple)


class Reader(NamedTuple):
    """How objects of one kind are recognised and read.

    Attributes:
        called: The kind in messages.
        recognises: Whether an object is of the kind.
        read: Its table; of an Fst its machine.
        takes: What may be said beside the object.
    """

    called: str
    recognises: Callable[[Any], bool]
    read: Callable[..., Any]
    takes: frozenset[str]


_SHOWN = frozenset({"start", "letters", "accepting", "outputs"})
READERS = (
    Reader("a dict", lambda s: isinstance(s, Mapping), of_dict, _SHOWN),
    Reader("a list of permutations", _is_permutations, of_permutations, _SHOWN),
    Reader(
        "a DFA of automata-lib",
        _has("input_symbols", "transitions", "initial_state"),
        of_automata_lib,
        frozenset(),
    ),
    Reader(
        "an automaton of AALpy", _has("states", "initial_state"), of_aalpy, frozenset()
    ),
    Reader(
        "an automaton of pyformlang",
        _has("start_states", "final_states", "symbols", "to_dict"),
        of_pyformlang,
        frozenset(),
    ),
    Reader(
        "a graph", _has("nodes", "edges", "is_directed"), of_graph, _SHOWN | {"edge"}
    ),
    Reader("an Fst", _has("arcs", "final", "start"), of_fst, frozenset({"kind"})),
    Reader("a transition function", callable, of_function, _SHOWN | {"limit"}),
)
