"""The work of ``krohn decompose``: a proved cascade, its picture, and its file."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from krohn.algebra.automaton import Automaton, IntArray, Semiautomaton
from krohn.algebra.budget import Budget, BudgetExceeded, steps_of
from krohn.algebra.cascade import Cascade, Component, Projection, Wiring
from krohn.algebra.decomposition import methods
from krohn.algebra.decomposition.diagrams import (
    BoolArray,
    Reading,
    common,
    dependencies,
    kind,
    levels,
    meaning,
    merge_readings,
    say_context,
)
from krohn.algebra.decomposition.simplify import CascadeCost
from krohn.algebra.errors import KrohnError, MachineError
from krohn.algebra.formats.files import read_text
from krohn.algebra.groups.naming import name
from krohn.algebra.minimisation import reachable
from krohn.algebra.wording import count, cut
from krohn.machine_reading import MachineKeywords, MachineReading
from krohn.machines import machine_of, with_outputs
from krohn.notebook import attach_to_cascades
from krohn.program import strict_json
from krohn.program.writing import atomic_write

if TYPE_CHECKING:
    from matplotlib.figure import Figure

attach_to_cascades(Cascade)

# Cascades as data, for other programs: everything that the proof speaks about.


FORMAT = "krohn-cascade"
VERSION = 1


def to_object(cascade: Cascade) -> dict[str, Any]:
    """A cascade as JSON values; ``from_object`` gives an equal one back.

    Keys: ``format`` and ``version``; ``letters`` and ``states`` of the machine, lists of
    strings; ``components``, top one first, each with ``states``, ``letters`` and
    ``transitions`` (for each letter the list of the state that each state goes to);
    ``wiring`` with ``entry`` (for each letter of the machine a node of the first layer)
    and ``layers``, for each component ``emit`` (for each node the letter that the
    component reads) and ``follow`` (for each node and state of the component, before the
    step, a node of the next layer, −1 where no valid coordinates lead);
    ``projection``, for each component a ``follow`` of the same kind from node 0, whose
    last layer leads to states of the machine; ``lift``, coordinates of each state.
    """
    wiring = cascade.wiring
    return {
        "format": FORMAT,
        "version": VERSION,
        "letters": list(cascade.letters),
        "states": list(cascade.states),
        "components": [_component(component) for component in cascade.components],
        "wiring": {
            "entry": wiring.entry.tolist(),
            "layers": [
                {"emit": emit.tolist(), "follow": follow.tolist()}
                for emit, follow in zip(wiring.emit, wiring.follow, strict=True)
            ],
        },
        "projection": [follow.tolist() for follow in cascade.projection.follow],
        "lift": cascade.lift.tolist(),
    }


def _component(component: Component) -> dict[str, Any]:
    machine = component.machine
    return {
        "states": list(machine.states),
        "letters": list(machine.letters),
        "transitions": machine.transitions.tolist(),
    }


def from_object(obj: Mapping[str, Any]) -> Cascade:
    """The cascade of such values; `krohn.algebra.cascade.prove` says what it covers.

    Raises:
        MachineError: If it is no cascade.
    """
    try:
        return _cascade(obj)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise MachineError(f"not a cascade: {error}") from error


def _cascade(obj: Mapping[str, Any]) -> Cascade:
    if (obj["format"], obj["version"]) != (FORMAT, VERSION):
        raise MachineError(
            f"not a cascade of version {VERSION}: write it again with this Krohn"
        )
    components = tuple(_read_component(one) for one in obj["components"])
    sizes = [component.size for component in components]
    layers = zip(obj["wiring"]["layers"], sizes, strict=True)
    emit, follow = [], []
    for layer, size in layers:
        emit.append(_numbers(layer["emit"], -1))
        follow.append(_numbers(layer["follow"], -1, size))
    pairs = zip(obj["projection"], sizes, strict=True)
    return Cascade(
        tuple(obj["letters"]),
        tuple(obj["states"]),
        components,
        Wiring(_numbers(obj["wiring"]["entry"], -1), tuple(emit), tuple(follow)),
        Projection(tuple(_numbers(rows, -1, size) for rows, size in pairs)),
        _numbers(obj["lift"], len(obj["states"]), len(components)),
    )


def _read_component(obj: Mapping[str, Any]) -> Component:
    states, letters = tuple(obj["states"]), tuple(obj["letters"])
    table = _numbers(obj["transitions"], len(letters), len(states))
    return Component(Semiautomaton(table, letters, states))


def _numbers(values: Any, *shape: int) -> IntArray:
    array = np.array(values)
    if array.size and array.dtype.kind != "i":
        raise MachineError("not a cascade: a table holds something other than integers")
    return array.astype(np.int64).reshape(shape)


def save_cascade(cascade: Cascade, path: str | Path) -> None:
    """Write a cascade to a JSON file, whole or not at all.

    Raises:
        MachineError: If the file system refuses.
    """
    atomic_write(path, json.dumps(to_object(cascade), ensure_ascii=False) + "\n")


def load_cascade(path: str | Path) -> Cascade:
    """The cascade of a JSON file.

    Raises:
        MachineError: If it cannot be read or is no cascade.
    """
    text = read_text(Path(path))
    try:
        obj = strict_json.read(text)
    except ValueError as error:
        raise MachineError(f"{path}: not JSON: {error}") from error
    return from_object(obj)


# The work of ``krohn decompose``: a proved cascade, and its picture.


PICTURES = (".svg", ".png", ".pdf")
DATA = ".json"
STEPS_PER_IMAGE = 20
MOST_READINGS = 8


@dataclass(frozen=True, eq=False)
class Decomposed:
    """A machine with its proved decomposition.

    Attributes:
        machine: What was decomposed.
        found: The decomposition.
        budget: What the search might spend, what it spent, and what it left out.
    """

    machine: Automaton
    found: methods.Decomposition
    budget: Budget

    def __repr__(self) -> str:
        cascade = self.found.cascade
        parts = count(len(cascade.components), "component")
        rows = count(len(levels(cascade)), "level")
        name = cut(self.machine.name, 40)
        return f"<Decomposed {name}: {self.found.method}, {parts} on {rows}>"

    def _repr_svg_(self) -> str | None:
        from krohn.drawing import svg  # matplotlib

        return svg(lambda: picture(self))


def decompose(
    source: object,
    method: str = "auto",
    effort: str | float = "high",
    **reading: Unpack[MachineKeywords],
) -> Decomposed:
    """Decompose a machine into a cascade that is proved to cover it.

    Args:
        source: Anything that `krohn.automaton` takes.
        method: ``auto`` or a key of ``krohn.algebra.decomposition.methods.METHODS``.
        effort: How much work to do: a key of `krohn.algebra.budget.EFFORTS`, or steps.
        **reading: How it is read, by the names in
            `krohn.machine_reading.MachineReading`. Of a ``start`` that is given, only
            what it reaches is decomposed.

    Raises:
        KrohnError: If the machine cannot be read, or there is no such method.
        BudgetExceeded: If that is not enough; the message says what to do.

    Examples:
        >>> krohn.decompose("S3")
        <Decomposed S3: derived, 2 components on 2 levels>
    """
    steps = steps_of(effort)
    how = MachineReading(**reading)
    machine = with_outputs(machine_of(source, how), how.observe)
    machine = machine if how.start is None else reachable(machine)
    budget = Budget(steps, max(methods.MOST_IMAGES, steps / STEPS_PER_IMAGE))
    try:
        decomposition = methods.decompose(machine.semiautomaton, method, budget)
    except BudgetExceeded as error:
        others = [name for name in methods.METHODS if name != method]
        raise BudgetExceeded(
            f"{machine.name} was not decomposed, of {len(machine.states):,} states: "
            f"{error}; raise --effort, or choose another --method ({', '.join(others)}); "
            "an RNN of it needs no decomposition (krohn compile --arch rnn)",
            error.found,
        ) from error
    return Decomposed(machine, decomposition, budget)


def check_output(path: Path) -> None:
    """Refuse a file name before the search rather than after it.

    Raises:
        KrohnError: If its ending says neither picture nor data.
    """
    endings = (*PICTURES, DATA)
    if path.suffix.lower() not in endings:
        raise KrohnError(
            f"{path}: the ending {path.suffix!r} says neither picture nor data; "
            f"choose a name that ends in {', '.join(endings)}"
        )


def save(result: Decomposed, path: Path) -> None:
    """Write a decomposition as a picture, or as data to a ``.json`` file.

    Raises:
        KrohnError: If the ending is another one, the picture would be too large, or
            the file system refuses.
    """
    check_output(path)
    decomposition = result.found
    if path.suffix.lower() == DATA:
        save_cascade(decomposition.cascade, path)
        return
    from krohn import drawing

    drawing.save(picture(result), path)


def picture(result: Decomposed) -> "Figure":
    """The components of a cascade and their wires.

    Raises:
        DrawingError: If it would be too large.
    """
    from krohn import drawing  # matplotlib only where something is drawn

    decomposition = result.found
    return drawing.draw_cascade(
        decomposition.cascade,
        result.machine.name,
        decomposition.method,
        decomposition.covering,
    )


def describe(result: Decomposed) -> dict[str, Any]:
    """The facts about a decomposition, as JSON values.

    Returns:
        ``machine``, ``states``, ``letters`` (counts), ``method``, ``why``; ``levels``, for
        each the list of its components with ``component`` (its number), ``kind``,
        ``states`` (how many values), ``group``, ``order``, ``reads`` (numbers of
        components), ``nodes`` (of the wiring) and ``meaning``; ``covers`` (true),
        ``coordinates`` and ``triples`` (of the proof), ``start`` (the coordinates of the
        start state), ``steps`` (the work of the search), ``effort`` (the most there
        might have been; null if unlimited), ``cut_short`` (what was left out for that);
        ``tried``, for each method its cost or the ``reason`` why it failed.
    """
    machine, decomposition = result.machine, result.found
    cascade = decomposition.cascade
    components = list(_components(cascade))
    return {
        "machine": machine.name,
        "states": len(machine.states),
        "letters": len(machine.letters),
        "method": decomposition.method,
        "why": _why(decomposition),
        "levels": [[components[i] for i in level] for level in levels(cascade)],
        "covers": True,
        "coordinates": decomposition.covering.coordinates,
        "triples": decomposition.covering.triples,
        "start": {
            "state": machine.states[machine.start],
            "coordinates": cascade.lift[machine.start].tolist(),
        },
        "steps": result.budget.spent,
        **result.budget.record(),
        "tried": [
            _method_row(method, cost) for method, cost in decomposition.tried.items()
        ],
    }


def _components(cascade: Cascade) -> Iterator[dict[str, Any]]:
    reads, readings = dependencies(cascade), meaning(cascade)
    for i, component in enumerate(cascade.components):
        group = component.group
        yield {
            "component": i + 1,
            "kind": kind(component),
            "states": component.size,
            "group": name(group),
            "order": group.order,
            "reads": [j + 1 for j in np.flatnonzero(reads[i]).tolist()],
            "nodes": len(cascade.wiring.emit[i]),
            "meaning": _meaning(cascade, i, readings[i]),
        }


def _meaning(
    cascade: Cascade, component: int, readings: tuple[Reading, ...]
) -> dict[str, Any]:
    """The meaning of a component's values; one reading for all contexts if it is exact."""
    shown = merge_readings(readings)
    return {
        "contexts": len(readings),
        "same_everywhere": common(readings) is not None,
        "readings": [_reading(cascade, component, r) for r in shown[:MOST_READINGS]],
    }


def _reading(cascade: Cascade, component: int, reading: Reading) -> dict[str, Any]:
    states, values = cascade.states, cascade.components[component].machine.states
    rows = zip(values, reading.refined, strict=True)
    return {
        "when": say_context(cascade, component, reading),
        "possible": _names(states, reading.possible),
        "leaves": {value: _names(states, row) for value, row in rows},
    }


def _names(states: tuple[str, ...], chosen: BoolArray) -> list[str]:
    return [states[q] for q in np.flatnonzero(chosen).tolist()]


def _method_row(method: str, cost: CascadeCost | str) -> dict[str, Any]:
    if isinstance(cost, str):
        return {"method": method, "reason": cost}
    return {
        "method": method,
        "depth": cost.depth,
        "values": cost.values,
        "nodes": cost.nodes,
    }


def _why(found: methods.Decomposition) -> str:
    others = {m: cost for m, cost in found.tried.items() if m != found.method}
    if not others:
        return f"{found.method}, which was asked for"
    finished = [cost for cost in others.values() if isinstance(cost, CascadeCost)]
    if not finished:
        return f"{found.method}, the only method that came to an end"
    depth = found.cost.depth
    if min(cost.depth for cost in finished) > depth:
        return f"{found.method}, which gives the least depth, {depth}"
    if min(finished) > found.cost:
        return (
            f"{found.method}, which gives the smallest network of least depth, {depth}"
        )
    same = [m for m, cost in others.items() if cost == found.cost]
    return f"{found.method}, which costs no more than {' or '.join(same)}"
