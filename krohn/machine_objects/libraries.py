"""Automata of other libraries, read by their attributes: none of these is imported."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import MachineError
from krohn.algebra.formats import Complete, att
from krohn.machine_objects.table import Table, Told, started

EDGE = "letter"


def of_automata_lib(source: Any, told: Told) -> Table:
    """A DFA; sets have no order of their own, so that of the names is taken."""
    for has in ("stack_symbols", "tape_symbols"):
        if hasattr(source, has):
            raise MachineError(f"a {type(source).__name__} is no finite machine")
    states = sorted(source.states, key=str)
    moves = {q: dict(source.transitions.get(q, {})) for q in states}
    shown = {q: "accept" if q in source.final_states else "reject" for q in states}
    letters = sorted(source.input_symbols, key=str)
    return Table(moves, source.initial_state, letters, shown)


def of_pyformlang(source: Any, told: Told) -> Table:
    """A DFA; sets have no order of their own, so that of the names is taken."""
    if not source.is_deterministic() or len(source.start_states) != 1:
        raise MachineError(
            f"a {type(source).__name__} with one start and one way for each letter is "
            "needed; to_deterministic() makes it"
        )
    (start,) = source.start_states
    found = source.to_dict()
    states = sorted(source.states, key=str)
    moves = {
        q.value: {a.value: r.value for a, r in found.get(q, {}).items()} for q in states
    }
    shown = {
        q.value: "accept" if q in source.final_states else "reject" for q in states
    }
    letters = sorted((a.value for a in source.symbols), key=str)
    return Table(moves, start.value, letters, shown)


def of_aalpy(source: Any, told: Told) -> Table:
    """A Dfa, a MooreMachine or a MealyMachine."""
    moves, shown = {}, {}
    for state in source.states:
        for a, to in state.transitions.items():
            if not hasattr(to, "state_id"):
                raise MachineError(
                    f"a {type(source).__name__} is nondeterministic: {a!r} leads from "
                    f"{state.state_id!r} to several states"
                )
        moves[state.state_id] = {a: to.state_id for a, to in state.transitions.items()}
        shown[state.state_id] = _aalpy_output(state)
    return started(moves, replace(told, start=source.initial_state.state_id), shown)


def _aalpy_output(state: Any) -> Any:
    if hasattr(state, "is_accepting"):
        return "accept" if state.is_accepting else "reject"
    return state.output if hasattr(state, "output") else state.output_fun


def of_graph(source: Any, told: Told) -> Table:
    """A node is a state; the first one is the start if nothing else is said."""
    if not source.is_directed():
        raise MachineError("the graph has no directions; give a DiGraph")
    if not len(source):
        raise MachineError("the graph has no nodes")
    attribute = told.edge or EDGE
    moves: dict[Any, dict[Any, Any]] = {q: {} for q in source.nodes}
    for q, to, data in source.edges(data=True):
        if attribute not in data:
            raise MachineError(
                f"the edge from {q!r} to {to!r} has no attribute {attribute!r}; say edge= "
                f"(it has {', '.join(map(repr, data)) or 'none'})"
            )
        found = data[attribute]
        several = isinstance(found, list | tuple | set | frozenset)
        for a in sorted(found, key=str) if several else [found]:
            if moves[q].setdefault(a, to) != to:
                raise MachineError(
                    f"nondeterministic: from {q!r} the letter {a!r} leads to "
                    f"{moves[q][a]!r} and to {to!r}"
                )
    return started(moves, told)


def of_fst(source: Any, told: Told, complete: Complete) -> Automaton:
    """An Fst of OpenFst, written as the AT&T text that OpenFst prints."""
    start = source.start()
    if start < 0:
        raise MachineError("the Fst has no start state")
    rest = [q for q in source.states() if q != start]
    lines = [line for q in [start, *rest] for line in _fst_lines(source, q)]
    if not lines or not lines[0].startswith(f"{start}"):
        raise MachineError("the start state of the Fst has no arcs")
    return att.read("\n".join(lines), "fst", complete, told.kind)


def _fst_lines(source: Any, q: int) -> Iterable[str]:
    tables = source.input_symbols(), source.output_symbols()
    for arc in source.arcs(q):
        labels = (
            str(label) if table is None else str(table.find(label))
            for table, label in zip(tables, (arc.ilabel, arc.olabel), strict=True)
        )
        words = [str(q), str(arc.nextstate), *labels, str(arc.weight)]
        if any(len(word.split()) != 1 for word in words):
            raise MachineError(f"the Fst has a label that is no single word: {words}")
        yield "\t".join(words)
    if str(weight := source.final(q)) not in ("Infinity", "inf"):
        yield f"{q}\t{weight}"
