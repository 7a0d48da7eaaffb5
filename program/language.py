"""The Program language for who writes Programs: all its names, and how files state one.

`krohn.program.statement` reads the Program of a file.
"""

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from krohn.program.errors import Refused
from krohn.program.functions import Row, Select, Sum, Table, table
from krohn.program.operations.base import Flagged, LookBack, Match, Operation
from krohn.program.operations.map import Map
from krohn.program.operations.token import Token
from krohn.program.program import Domain, Program, Vectors
from krohn.program.statement import StatedPlace, cone

if TYPE_CHECKING:
    from krohn.program.operations.at import At
    from krohn.program.operations.at_anywhere import AtAnywhere
    from krohn.program.operations.best import Best
    from krohn.program.operations.block_sum import BlockSum
    from krohn.program.operations.earliest import Earliest
    from krohn.program.operations.final import Final
    from krohn.program.operations.latest import Latest
    from krohn.program.operations.latest_match import LatestMatch
    from krohn.program.operations.letter_matrix import LetterMatrix
    from krohn.program.operations.marked_sum import MarkedSum
    from krohn.program.operations.match_anywhere import MatchAnywhere
    from krohn.program.operations.matrix_product import MatrixProduct
    from krohn.program.operations.mean import Mean
    from krohn.program.operations.normalised import Normalised
    from krohn.program.operations.position import Position
    from krohn.program.operations.prefix_sum import PrefixSum
    from krohn.program.operations.shift import Shift
    from krohn.program.operations.shift_by import ShiftBy
    from krohn.program.operations.sibling_latest import SiblingLatest
    from krohn.program.piecewise import Piecewise

__all__ = [
    "At",
    "AtAnywhere",
    "Best",
    "BlockSum",
    "Domain",
    "Earliest",
    "Final",
    "Flagged",
    "Latest",
    "LatestMatch",
    "LetterMatrix",
    "LookBack",
    "Map",
    "MarkedSum",
    "Match",
    "MatchAnywhere",
    "MatrixProduct",
    "Mean",
    "Normalised",
    "Operation",
    "Piecewise",
    "Position",
    "PrefixSum",
    "Program",
    "Refused",
    "Row",
    "Select",
    "Shift",
    "ShiftBy",
    "SiblingLatest",
    "Sum",
    "Table",
    "Token",
    "Vectors",
    "cone",
    "is_embedded",
    "is_sum",
    "table",
]


def is_sum(operation: Operation) -> bool:
    """Whether the operation adds up channels, which paths cannot decide."""
    added = (Sum.wire, "piecewise")
    return isinstance(operation, Map) and operation.function.wire in added


def is_embedded(program: Program, operation: Operation) -> bool:
    """Whether a channel is a function of the letter alone."""
    if operation.wire == "letter-matrix":
        return True
    return isinstance(operation, Map) and all(
        isinstance(program.operations[n], Token) for n in operation.inputs
    )


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


def operation_to_wire(operation: Operation) -> dict[str, Any]:
    """An operation as a model file states it: its fields under their own names."""
    if isinstance(operation, Map):
        return _map_to_wire(operation)
    if operation.wire == "letter-matrix":
        return _letter_matrix_to_wire(operation)
    values = {each.name: getattr(operation, each.name) for each in fields(operation)}
    listed = {n: list(v) if isinstance(v, tuple) else v for n, v in values.items()}
    return {"op": operation.wire, **listed}


def _map_to_wire(operation: Map) -> dict[str, Any]:
    function: Any = operation.function
    more: dict[str, Any] = {}
    if isinstance(function, Table):
        more = {"rows": function.with_values.tolist()}
    if function.wire == "piecewise":
        more = {"expression": function.expression.to_wire()}
    named = {"op": operation.wire, "function": function.wire}
    return {**named, "inputs": list(operation.inputs), **more}


def _letter_matrix_to_wire(operation: Any) -> dict[str, Any]:
    matrices = [[list(row) for row in matrix] for matrix in operation.matrices]
    start = {"start": list(operation.start)} if operation.start else {}
    named = {"op": operation.wire, "source": operation.source}
    return {**named, "matrices": matrices, **start}


def _place(place: StatedPlace) -> dict[str, Any]:
    wire_form = {"code": place.code, "dims": [place.start, place.stop]}
    head = {} if place.head is None else {"head": place.head}
    return {**wire_form, "snapshots": [place.born, place.dies], **head}
