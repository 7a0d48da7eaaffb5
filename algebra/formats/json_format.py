"""The project's own machine format: JSON that carries everything a machine has.

The format is described in ``docs/formats.md`` and numbered by ``VERSION``.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, NotRequired, TypedDict, cast

import numpy as np

from krohn.algebra.automaton import Automaton, Inputs, IntArray, Output, Semiautomaton
from krohn.algebra.errors import MachineError
from krohn.algebra.formats.files import Complete, check_size, problem, quote
from krohn.program import strict_json

FORMAT: Literal["krohn-machine"] = "krohn-machine"
VERSION: Literal[2] = 2
"""Written as 1 where a reader of version 1 understands everything: without ``inputs``."""

EXAMPLE = (
    '{"format": "krohn-machine", "version": 1, "letters": ["press", "wait"], "states": '
    '["off", "on"], "start": "off", "transitions": [[1, 0], [0, 1]]}'
)
BY_LETTER = "a list for each letter, in it for each state the number of"
MOVES = f"{BY_LETTER} the next state, as [[1, 0], [0, 1]]: press exchanges, wait keeps"
SAID = f"{BY_LETTER} the output, of the state before the letter"
SHOWN = "for each state the number of its output"
MAPS = "a list for each letter, in it for each point the number of the next point"
"""The rows and columns of tables, for those who have mixed them up."""

_SIGN = re.compile(r"\s*+\{\s*+[\"}]")
_REQUIRED = ("format", "version", "letters", "states", "start", "transitions")
_OPTIONAL = ("name", "output", "action", "inputs")


class MachineOutput(TypedDict):
    """The outputs of a machine: names, and for each state, or move, the index of one."""

    on: Literal["states", "transitions"]
    names: list[str]
    table: list[int] | list[list[int]]


class MachineInputs(TypedDict):
    """Letters that are bits; the nodes say which letter they are."""

    bits: int
    nodes: list[list[int]]


class MachineFile(TypedDict):
    """A machine as its file states it; `to_object` says what each key holds."""

    format: Literal["krohn-machine"]
    version: Literal[1, 2]
    name: NotRequired[str]
    letters: list[str]
    states: list[str]
    start: str
    transitions: list[list[int]]
    output: NotRequired[MachineOutput]
    action: NotRequired[list[list[int]]]
    inputs: NotRequired[MachineInputs]


def has_sign(text: str) -> bool:
    """Whether a text is an object of JSON, be it a machine or not."""
    return _SIGN.match(text) is not None


def read(text: str, name: str, complete: Complete = "reject") -> Automaton:
    """The machine that a JSON text describes.

    Args:
        text: One JSON object with the keys of ``to_object``, or one of XState.
        name: What to call the file in messages.
        complete: The treatment of missing transitions in the latter.

    Raises:
        MachineError: If the text is no JSON, nests too deeply, or ``from_object``
            refuses its content.
    """
    try:
        obj = strict_json.read(text)
    except json.JSONDecodeError as error:
        raise problem(name, error.lineno, f"not JSON: {error.msg}") from error
    except ValueError as error:
        raise problem(name, 0, f"not JSON: {error}") from error
    from krohn.algebra.formats import xstate

    if xstate.is_chart(obj):
        return xstate.from_object(obj, name, complete)
    try:
        return from_object(obj)
    except MachineError as error:
        raise problem(name, 0, str(error)) from error


def write(machine: Automaton) -> str:
    """The machine as JSON, one key on a line, the keys sorted."""
    parts = [
        f"  {_dump(key)}: {_dump(value)}"
        for key, value in sorted(to_object(machine).items())
    ]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def to_object(machine: Automaton) -> MachineFile:
    """The machine as JSON values; ``from_object`` gives an equal machine back.

    Keys: ``format`` and ``version``; ``name``; ``letters`` and ``states``, lists of
    strings; ``start``, the name of a state; ``transitions``, for each letter the
    list of the state index that each state goes to; ``output`` with ``on``
    (``"states"`` or ``"transitions"``), ``names`` and ``table``, a list over the states
    or for each letter a list over the states before it; ``action``, for each letter
    a list of points; ``inputs`` with ``bits`` and ``nodes``, triples as `Inputs` has
    them. ``output``, ``action`` and ``inputs`` are absent where the machine has none.
    """
    obj: MachineFile = {
        "format": FORMAT,
        "version": 1 if machine.inputs is None else VERSION,
        "name": machine.name,
        "letters": list(machine.letters),
        "states": list(machine.states),
        "start": machine.states[machine.start],
        "transitions": machine.transitions.tolist(),
    }
    if machine.output is not None:
        obj["output"] = {
            "on": machine.output.on,
            "names": list(machine.output.names),
            "table": machine.output.table.tolist(),
        }
    if machine.action is not None:
        obj["action"] = [[int(i) for i in row] for row in machine.action]
    if machine.inputs is not None:
        nodes = [list(node) for node in machine.inputs.nodes]
        obj["inputs"] = {"bits": machine.inputs.bits, "nodes": nodes}
    return obj


def claimed_machine(machine: Automaton) -> MachineFile:
    """The machine as a model file claims it: without what follows from nothing there.

    How letters act on a smaller set helps to compile it, and no proof compares it.
    """
    return to_object(replace(machine, action=None))


def from_object(obj: object) -> Automaton:
    """The machine that JSON values describe, as ``to_object`` gives them.

    Raises:
        MachineError: If a key is missing or unknown, a value has the wrong type or
            shape, an index is out of range, a name occurs twice, or the version is
            newer than this program.
    """
    fields = _machine_fields(obj)
    letters = _names(fields["letters"], "letters")
    states = _names(fields["states"], "states")
    check_size(len(letters), len(states), "the machine")
    size = len(states)
    table = _matrix(
        fields["transitions"], "transitions", (len(letters), size), size, MOVES
    )
    machine = Automaton(
        Semiautomaton(table, letters, states),
        output=_output(fields.get("output"), (len(letters), size)),
        name=_string(fields.get("name", "machine"), "name"),
        action=_action(fields.get("action"), len(letters)),
        inputs=_inputs(fields.get("inputs")),
    )
    start = _string(fields["start"], "start")
    if start not in states:
        raise MachineError(f"the key 'start' names {quote(start)}, which is no state")
    return replace(machine, start=states.index(start))


def _machine_fields(obj: object) -> Mapping[str, Any]:
    if not isinstance(obj, dict):
        raise MachineError(f"expected a JSON object, found {_kind(obj)}")
    if obj.get("format") != FORMAT:
        raise MachineError(
            f"the key 'format' must be {FORMAT!r}, as in {EXAMPLE} ({MOVES})"
        )
    version = obj.get("version")
    if type(version) is not int or version < 1:
        raise MachineError("the key 'version' must be a positive whole number")
    if version > VERSION:
        raise MachineError(
            f"version {version} of the format is newer than this krohn, which reads "
            f"up to version {VERSION}; install a newer krohn"
        )
    return _fields(obj, _REQUIRED, _OPTIONAL)


def _fields(
    obj: object, required: tuple[str, ...], optional: tuple[str, ...] = ()
) -> Mapping[str, Any]:
    if not isinstance(obj, dict):
        raise MachineError(f"expected a JSON object, found {_kind(obj)}")
    for key in obj:
        if key not in required + optional:
            known = ", ".join(required + optional)
            raise MachineError(f"unknown key {quote(key)}; the keys are {known}")
    for key in required:
        if key not in obj:
            raise MachineError(f"the key {key!r} is missing")
    return obj


def _output(value: object, shape: tuple[int, int]) -> Output | None:
    if value is None:
        return None
    fields = _fields(value, ("on", "names", "table"))
    names = _names(fields["names"], "output.names")
    if fields["on"] not in ("states", "transitions"):
        raise MachineError("the key 'output.on' must be 'states' or 'transitions'")
    on = cast(Literal["states", "transitions"], fields["on"])
    if on == "states":
        rows = [fields["table"]]
        (table,) = _matrix(rows, "output.table", (1, shape[1]), len(names), SHOWN)
    else:
        table = _matrix(fields["table"], "output.table", shape, len(names), SAID)
    return Output(on, table, names)


def _action(value: object, letters: int) -> tuple[tuple[int, ...], ...] | None:
    if value is None:
        return None
    first = value[0] if isinstance(value, list) and value else None
    points = len(first) if isinstance(first, list) else 0
    table = _matrix(value, "action", (letters, points), points, MAPS)
    return tuple(tuple(row) for row in table.tolist())


def _inputs(value: object) -> Inputs | None:
    if value is None:
        return None
    fields = _fields(value, ("bits", "nodes"))
    bits, nodes = fields["bits"], fields["nodes"]
    if type(bits) is not int or not isinstance(nodes, list):
        raise MachineError("the key 'inputs' must have a number of bits and a list")
    for node in nodes:
        whole = isinstance(node, list) and {type(x) for x in node} == {int}
        if not whole or len(node) != 3:
            raise MachineError("a node of the key 'inputs' is not three whole numbers")
    return Inputs(bits, tuple((bit, zero, one) for bit, zero, one in nodes))


def _matrix(
    value: object, key: str, shape: tuple[int, int], bound: int, form: str
) -> IntArray:
    """A table of whole numbers below a bound; errors say what its rows and columns are."""
    rows, columns = shape
    if not isinstance(value, list) or len(value) != rows:
        raise MachineError(f"the key {key!r} must be a list of {rows} lists: {form}")
    for number, row in enumerate(value):
        where = f"row {number} of the key {key!r}"
        if not isinstance(row, list) or len(row) != columns:
            raise MachineError(
                f"{where} must be a list of {columns} whole numbers: {form}"
            )
        for entry in row:
            if type(entry) is not int or not 0 <= entry < bound:
                raise MachineError(
                    f"{where} holds {_kind(entry)}, not a whole number in "
                    f"0..{bound - 1}: {form}"
                )
    return np.array(value, dtype=np.int64).reshape(shape)


def _names(value: object, key: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not value:
        raise MachineError(f"the key {key!r} must be a list of at least one name")
    names = tuple(_string(entry, key) for entry in value)
    if len(set(names)) < len(names):
        twice = next(n for i, n in enumerate(names) if n in names[:i])
        raise MachineError(f"the key {key!r} holds {quote(twice)} twice")
    return names


def _string(value: object, key: str) -> str:
    if not isinstance(value, str):
        raise MachineError(f"the key {key!r} holds {_kind(value)}, not a string")
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise MachineError(f"the key {key!r} holds half a surrogate pair")
    return value


def _kind(value: object) -> str:
    kinds = {dict: "an object", list: "a list", type(None): "null"}
    return kinds.get(type(value)) or quote(json.dumps(value), 20)


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
