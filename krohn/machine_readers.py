"""Machines from Python objects: tables, functions, graphs, other libraries' automata.

Each reader makes a table with the object's own states and letters. Objects of libraries are
read by their attributes: none of these libraries is imported.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import MachineError
from krohn.algebra.formats import att
from krohn.algebra.formats.assembly import fresh, with_remark
from krohn.algebra.formats.scxml import letters_taken
from krohn.machine_objects import (
    NO_LETTER,
    Table,
    check_letter,
    line,
    machine,
    make_table,
    of_dict,
    of_function,
    of_permutations,
)
from krohn.machine_reading import MachineReading
from krohn.program.att_text import AttText, letter_of
from krohn.program.parsing import Misread
from krohn.program.quoting import kind_of_value
from krohn.program.user_input import EPSILON, EPSILONS

EDGE = "letter"
EVERY = ("start", "complete", "observe")
"""What may be said of every object."""


def of_automata_lib(source: Any, told: MachineReading) -> Table:
    """A DFA or an NFA; sets have no order of their own, so that of the names is taken."""
    for has in ("stack_symbols", "tape_symbols"):
        if hasattr(source, has):
            raise MachineError(f"{kind_of_value(source)} is no finite machine")
    if hasattr(source, "final_state"):
        raise MachineError(
            "a GNFA has expressions for letters; give the DFA or NFA that it was made of"
        )
    states = sorted(source.states, key=str)
    moves = {
        q: {_symbol(a): to for a, to in source.transitions.get(q, {}).items()}
        for q in states
    }
    shown = {q: "accept" if q in source.final_states else "reject" for q in states}
    letters = sorted(source.input_symbols, key=str)
    return Table(moves, source.initial_state, letters, shown)


def _symbol(letter: Any) -> Any:
    """A letter of automata-lib, which writes the empty text for a move without one."""
    return NO_LETTER if isinstance(letter, str) and not letter else letter


def of_pyformlang(source: Any, told: MachineReading) -> Table:
    """A DFA, an NFA with or without epsilons, or a Regex.

    Sets have no order of their own, so that of the names is taken.
    """
    if hasattr(source, "to_epsilon_nfa"):
        source = source.to_epsilon_nfa()
    if not hasattr(source, "to_dict"):
        raise MachineError(
            f"{kind_of_value(source)} of pyformlang shows words, and no machine of one "
            "output a letter; give a Mealy machine as a dict with outputs="
        )
    if not source.start_states:
        raise MachineError("the automaton of pyformlang has no start state")
    transitions = source.to_dict()
    states = sorted(source.states, key=str)
    moves: dict[Any, dict[Any, Any]] = {
        q.value: {
            NO_LETTER if type(a).__name__ == "Epsilon" else a.value: _values(to)
            for a, to in transitions.get(q, {}).items()
        }
        for q in states
    }
    shown = {
        q.value: "accept" if q in source.final_states else "reject" for q in states
    }
    letters = sorted((a.value for a in source.symbols), key=str)
    starts = _values(source.start_states)
    if len(starts) == 1:
        return Table(moves, starts[0], letters, shown)
    start = fresh("start", [*map(str, moves)])
    moves[start], shown[start] = {NO_LETTER: starts}, "reject"
    return Table(moves, start, letters, shown)


def _values(states: Any) -> list[Any]:
    """The values of a state, or of several, of pyformlang."""
    return [q.value for q in (states if isinstance(states, set) else [states])]


def of_aalpy(source: Any, told: MachineReading) -> Table:
    """A Dfa, a MooreMachine or a MealyMachine."""
    moves, shown = {}, {}
    for state in source.states:
        if state.state_id in moves:
            raise MachineError(
                f"two states of the {type(source).__name__} have the state_id "
                f"{state.state_id!r}; call them differently"
            )
        if not isinstance(state.transitions, Mapping):
            raise MachineError(f"{kind_of_value(source)} reads no letters")
        for a, to in state.transitions.items():
            if not hasattr(to, "state_id"):
                raise MachineError(
                    f"{kind_of_value(source)} is nondeterministic or stochastic: {a!r} "
                    f"leads from {state.state_id!r} to no single state"
                )
        moves[state.state_id] = {a: to.state_id for a, to in state.transitions.items()}
        shown[state.state_id] = _aalpy_output(state)
    return make_table(moves, replace(told, start=source.initial_state.state_id), shown)


def _aalpy_output(state: Any) -> Any:
    if hasattr(state, "is_accepting"):
        return "accept" if state.is_accepting else "reject"
    return state.output if hasattr(state, "output") else state.output_fun


def of_transitions(source: Any, told: MachineReading) -> Table:
    """A Machine of transitions: its triggers are the letters.

    Triggers ``to_STATE`` that the library adds by itself are left out, unless somebody
    added to them. Where invalid triggers are ignored they change nothing.
    """
    nested = next(
        (q for q, s in source.states.items() if getattr(s, "states", ())), None
    )
    if nested is not None:
        raise MachineError(f"the state {nested!r} has states of its own; flatten them")
    late = next((q for q, s in source.states.items() if getattr(s, "timeout", 0)), None)
    if late is not None:
        raise MachineError(
            f"the state {late!r} is left after some time (timeout); make a letter of it"
        )
    added = {f"to_{q}" for q in source.states} if source.auto_transitions else set()
    letters = [
        a
        for a, event in source.events.items()
        if a not in added or any(len(ways) > 1 for ways in event.transitions.values())
    ]
    moves: dict[Any, dict[Any, Any]] = {q: {} for q in source.states}
    for q, state in source.states.items():
        for a in letters:
            ways = source.events[a].transitions.get(q, ())
            if ways and ways[0].conditions:
                raise _conditional(q, a)
            ignores = state.ignore_invalid_triggers
            if ways or (source.ignore_invalid_triggers if ignores is None else ignores):
                led = ways[0].dest if ways else None
                moves[q][a] = q if led is None else led
    return Table(moves, source.initial, letters)


def of_statemachine(source: Any, told: MachineReading) -> Table:
    """A StateMachine of python-statemachine, a class or an object: events are letters.

    Where events that no transition takes are ignored, they change nothing.
    """
    letters = [str(a) for a in source.events]
    taken = letters_taken(letters)
    moves: dict[str, dict[str, str]] = {q.id: {} for q in source.states}
    start = ""
    for q in source.states:
        if q.states:
            raise MachineError(
                f"the state {q.id!r} has states of its own; flatten them"
            )
        _check_invoke(source, q)
        start = q.id if q.initial else start
        for way in q.transitions:
            if not (events := [*map(str, way.events)]):
                raise MachineError(
                    f"a transition from {q.id!r} has no event; let the events lead to "
                    "where it leads"
                )
            for a in events:
                if "*" in a:
                    raise MachineError(
                        f"the event {a!r} stands for others; write a transition for each"
                    )
                if [*way.cond, *way.validators]:
                    raise _conditional(q.id, a)
                for letter in taken[a]:  # by the first transition that takes it
                    moves[q.id].setdefault(letter, way.target.id)
    if getattr(source, "allow_event_without_transition", False):
        moves = {q: {a: led.get(a, q) for a in letters} for q, led in moves.items()}
    return Table(moves, start, letters)


def _check_invoke(source: Any, state: Any) -> None:
    """Refuse a state that runs something beside it; a method may do so by its name."""
    for each in getattr(state, "invoke", ()):
        if not each.is_convention or hasattr(source, str(each.func)):
            raise MachineError(
                f"the state {state.id!r} runs something beside it (invoke); make letters "
                "of what it answers"
            )


def _conditional(state: object, letter: object) -> MachineError:
    return MachineError(
        f"the transition from {state!r} under {letter!r} has a condition; a network sees "
        "letters only: make two letters of it, one for each outcome"
    )


def of_graph(source: Any, told: MachineReading) -> Table:
    """A node is a state; the first one is the start if nothing else is said."""
    if not source.is_directed():
        raise MachineError("the graph has no directions; give a DiGraph")
    if not len(source):
        raise MachineError("the graph has no nodes")
    attribute = told.edge or EDGE
    moves: dict[Any, dict[Any, list[Any]]] = {q: {} for q in source.nodes}
    for q, to, data in source.edges(data=True):
        if attribute not in data:
            raise MachineError(
                f"the edge from {q!r} to {to!r} has no attribute {attribute!r}; say edge= "
                f"(it has {', '.join(map(repr, data)) or 'none'})"
            )
        label = data[attribute]
        several = isinstance(label, list | tuple | set | frozenset)
        for a in sorted(label, key=str) if several else [label]:
            check_letter(a)
            moves[q].setdefault(a, []).append(to)
    return make_table(moves, told)._replace(remark=_not_read(source, told, attribute))


_MEANING = frozenset(
    [
        "accept",
        "accepting",
        "accepts",
        "final",
        "is_accepting",
        "is_final",
        "initial",
        "is_initial",
        "is_start",
        "start",
        "output",
        "outputs",
    ]
)
"""Attributes of graphs that may say something of a machine."""


def _not_read(graph: Any, told: MachineReading, letter: str) -> str:
    """A remark on attributes of a graph that nobody says what to do with."""
    if told.accepting is not None or told.outputs is not None or told.start is not None:
        return ""
    places = (data for *_, data in (*graph.nodes(data=True), *graph.edges(data=True)))
    names = dict.fromkeys(name for data in places for name in data)
    seen = [repr(name) for name in names if name in _MEANING and name != letter]
    if not seen:
        return ""
    advice = "say start=, accepting= or outputs= where they mean something"
    return f"attributes that are not read: {', '.join(seen)}; {advice}"


_BYTES = (
    "the letters of the Fst are the numbers of its labels, for no table of symbols is "
    "attached; where they are bytes, 97 is 'a'"
)


def of_fst(source: Any, told: MachineReading) -> Automaton:
    """An Fst of OpenFst, by the rules of the AT&T text that OpenFst prints.

    Where one table of symbols is attached, and each arc says what it reads, the Fst is an
    acceptor, whose labels this table names.
    """
    start = source.start()
    if start < 0:
        raise MachineError("the Fst has no start state")
    states = [start, *(q for q in source.states() if q != start)]
    arcs = [(q, arc) for q in states for arc in source.arcs(q)]
    tables = source.input_symbols(), source.output_symbols()
    if all(arc.ilabel == arc.olabel for _, arc in arcs):
        first, second = tables
        tables = (
            second if first is None else first,
            first if second is None else second,
        )
    lines = [
        [str(q), str(arc.nextstate), *_fst_labels(tables, arc), str(arc.weight)]
        for q, arc in arcs
    ]
    weights = [(str(q), str(source.final(q))) for q in states]
    finals = [[q, w] for q, w in weights if w not in ("Infinity", "inf")]
    text = AttText([(0, line) for line in lines], [(0, f) for f in finals], str(start))
    machine = att.machine_of_lines(text, "fst", told.complete, told.read_as)
    labels = {label for _, arc in arcs for label in (arc.ilabel, arc.olabel)} - {0}
    if tables == (None, None) and max(labels, default=256) < 256:
        return with_remark(machine, _BYTES)
    return machine


def _fst_labels(tables: tuple[Any, Any], arc: Any) -> list[str]:
    both = zip(tables, (arc.ilabel, arc.olabel), strict=True)
    try:
        return [letter_of(_fst_label(table, label), 0) for table, label in both]
    except Misread as wrong:
        raise MachineError(f"the Fst: {wrong.reason}") from None


def _fst_label(table: Any, label: int) -> str:
    """The name of a label; 0 is epsilon, however a table calls it.

    Raises:
        MachineError: If another label is called as epsilon is.
    """
    if label == 0:
        return EPSILON
    name = str(label) if table is None else str(table.find(label))
    if name in EPSILONS:
        raise MachineError(f"the label {label} is called {name!r}, which means epsilon")
    return name


def from_object(source: object, told: MachineReading) -> Automaton:
    """The machine that an object is.

    Raises:
        MachineError: If it is no object of a known kind, something said has no meaning
            for it, or it describes no deterministic machine.
    """
    reader = next((r for r in READERS if r.recognises(source)), None)
    if reader is None or hasattr(source, "state_dict"):
        raise MachineError(
            f"there is no machine in an object of type {type(source).__name__}; "
            f"{_instead(source)}"
        )
    for option in told.reading_options:
        if option not in (*reader.takes, *EVERY):
            raise MachineError(f"{option}= has no effect on {reader.called}")
    try:
        if reader.read is of_fst:
            automaton = of_fst(source, told)
        else:
            automaton = machine(reader.read(source, told), told)
    except (AttributeError, TypeError, LookupError) as error:
        raise MachineError(f"{reader.called} is malformed: {line(error)}") from error
    automaton = replace(automaton, name=_name_of(source))
    if told.start is None or "start" in reader.takes:
        return automaton
    return automaton.with_start(str(told.start))


def _name_of(source: Any) -> str:
    """What its author calls an object: a function, a class or a graph has a name."""
    told = getattr(source, "__name__", None) or getattr(source, "name", None)
    name = told.strip(": ") if isinstance(told, str) else ""
    return name if name.isprintable() and name not in ("", "<lambda>") else YOURS


def _instead(source: object) -> str:
    """Advice for somebody who gave an object that is no machine."""
    if hasattr(source, "tolist"):
        return (
            "say a table as a function: krohn.automaton(lambda state, letter: "
            "table[state][letter], start, letters=range(n)), or permutations as lists"
        )
    if hasattr(source, "state_dict"):
        return (
            "it is a network: krohn.learn learns the machine that a network follows, and "
            "krohn.verify holds a network against a machine"
        )
    if hasattr(source, "fit") and not any(map(_is_fitted, dir(source))):
        return "it was not fitted: call its fit(...), and give it then"
    return "help(krohn.automaton) says what machines are read from"


def _is_fitted(attribute: str) -> bool:
    """Whether a name is one of those that fitting gives, by scikit-learn's custom."""
    return attribute.endswith("_") and not attribute.startswith("_")


def _has(*attributes: str) -> Callable[[Any], bool]:
    return lambda source: all(hasattr(source, name) for name in attributes)


def _first(source: Any, attribute: str) -> Any:
    return next(iter(getattr(source, attribute, ())), None)


def _is_permutations(source: Any) -> bool:
    one = next(iter(source), None) if isinstance(source, list | tuple) else None
    return hasattr(one, "array_form") or isinstance(one, list | tuple)


YOURS = "your machine"
"""What messages call a machine that nobody gave a name."""


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
    Reader(
        "a Machine of transitions",
        _has("events", "ignore_invalid_triggers"),
        of_transitions,
        frozenset(),
    ),
    Reader(
        "a StateMachine of python-statemachine",
        lambda s: (
            hasattr(s, "events") and _has("id", "transitions")(_first(s, "states"))
        ),
        of_statemachine,
        frozenset(),
    ),
    Reader("a dict", lambda s: isinstance(s, Mapping), of_dict, _SHOWN),
    Reader("a list of permutations", _is_permutations, of_permutations, _SHOWN),
    Reader(
        "an automaton of automata-lib",
        _has("input_symbols", "transitions", "initial_state"),
        of_automata_lib,
        frozenset(),
    ),
    Reader(
        "an automaton of AALpy", _has("states", "initial_state"), of_aalpy, frozenset()
    ),
    Reader(
        "an automaton of pyformlang",
        lambda s: hasattr(s, "to_epsilon_nfa") or hasattr(s, "start_states"),
        of_pyformlang,
        frozenset(),
    ),
    Reader(
        "a graph", _has("nodes", "edges", "is_directed"), of_graph, _SHOWN | {"edge"}
    ),
    Reader("an Fst", _has("arcs", "final", "start"), of_fst, frozenset({"read_as"})),
    Reader("a transition function", callable, of_function, _SHOWN | {"limit"}),
)
