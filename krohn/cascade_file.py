"""Cascades as data, for other programs: everything that the proof speaks about."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from krohn.algebra.cascade import Cascade, Component, Projection, Wiring
from krohn.algebra.errors import MachineError
from krohn.algebra.formats.files import read_text
from krohn.algebra.semiautomaton import IntArray, Semiautomaton
from krohn.program import strict_json
from krohn.program.writing import atomic_write

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
    """The cascade of such values; ``covering.prove`` says what it covers.

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
    found = np.array(values)
    if found.size and found.dtype.kind != "i":
        raise MachineError("not a cascade: a table holds something other than integers")
    return found.astype(np.int64).reshape(shape)


def save(cascade: Cascade, path: str | Path) -> None:
    """Write a cascade to a JSON file, whole or not at all.

    Raises:
        MachineError: If the file system refuses.
    """
    atomic_write(path, json.dumps(to_object(cascade), ensure_ascii=False) + "\n")


def load(path: str | Path) -> Cascade:
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
