"""How a model file states a Program: `krohn.program.statement` reads it."""

from collections.abc import Mapping
from dataclasses import fields
from functools import singledispatch
from typing import Any

from krohn.program.functions import Table
from krohn.program.operations.base import Operation
from krohn.program.operations.letter_matrix import LetterMatrix
from krohn.program.operations.map import Map
from krohn.program.operations.token import Token
from krohn.program.piecewise import Piecewise
from krohn.program.program import Program
from krohn.program.statement import StatedPlace


def program_to_wire(
    program: Program,
    places_of: Mapping[str, StatedPlace],
    features: Mapping[str, tuple[int, int]],
) -> dict[str, Any]:
    """A Program with the place of every stored channel, as a model file states them.

    The token comes first, the others in the order of the Program.
    """
    ordered = sorted(
        program.operations.items(), key=lambda item: item[1].wire != Token.wire
    )

    def entry(name: str, operation: Operation) -> dict[str, Any]:
        values = program.domains.get(name)
        listed: dict[str, Any] = {} if values is None else {"domain": list(values)}
        if name in program.vectors:
            listed["vectors"] = [list(vector) for vector in program.vectors[name]]
        place = _place(places_of[name]) if name in places_of else {}
        return {"name": name, **operation_to_wire(operation), **listed, **place}

    vector = {"vector": list(program.vector)} if program.vector else {}
    return {
        "channels": [entry(name, operation) for name, operation in ordered],
        "features": {n: list(span) for n, span in features.items()},
        "outputs": list(program.outputs),
        "decode": [[list(values), q] for values, q in program.decode.items()],
        **vector,
    }


@singledispatch
def operation_to_wire(operation: Operation) -> dict[str, Any]:
    """An operation as a model file states it: its fields under their own names."""
    told = {each.name: getattr(operation, each.name) for each in fields(operation)}
    listed = {n: list(v) if isinstance(v, tuple) else v for n, v in told.items()}
    return {"op": operation.wire, **listed}


@operation_to_wire.register
def _(operation: Map) -> dict[str, Any]:
    function, more = operation.function, dict[str, Any]()
    if isinstance(function, Table):
        more = {"rows": function.with_values.tolist()}
    if isinstance(function, Piecewise):
        more = {"expression": function.expression.to_wire()}
    named = {"op": operation.wire, "function": function.wire}
    return {**named, "inputs": list(operation.inputs), **more}


@operation_to_wire.register
def _(operation: LetterMatrix) -> dict[str, Any]:
    matrices = [[list(row) for row in matrix] for matrix in operation.matrices]
    start = {"start": list(operation.start)} if operation.start else {}
    named = {"op": operation.wire, "source": operation.source}
    return {**named, "matrices": matrices, **start}


def _place(place: StatedPlace) -> dict[str, Any]:
    told = {"code": place.code, "dims": [place.start, place.stop]}
    head = {} if place.head is None else {"head": place.head}
    return {**told, "snapshots": [place.born, place.dies], **head}
