"""Each refusal is entered: of the checker and of what it reads."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from krohn.kinds.dynamic_programs.statement import ChainOfThought
from krohn.kinds.linear_systems.check_matrix_norms import ColumnSums
from krohn.program import BlockSum, Map, Program, Refused, Token, table
from krohn.program.domains import Values
from krohn.program.operations.base import Frame
from krohn.program.program import statement_of
from krohn.program.statement import Channel
from krohn.verify.checker.model_file import Machine
from krohn.verify.checker.windows import read_windows

BITS = Values(0, np.arange(2))
CHANNEL = Channel("x", Token(), np.arange(3), Values(2, np.arange(2)), None)
NORM = ColumnSums(2, 1.0)
CHAIN: dict[str, Any] = {
    **{"name": "text", "letters": ["0", "1"], "contents": [0, 1], "numbers": 2},
    **{"prompt": [[0, 1]], "rules": [], "steps": [1], "answer": 2},
}
ZERO = {"token": Token(), "zero": Map(table({(a,): 0 for a in range(3)}), ("token",))}
PROGRAM = statement_of(Program(("0", "1"), 1, 2, ZERO, ("zero",), {(0,): 0}))
FAMILY = {"families": [["zero"]], "ranks": [None], "windows": {"zero": [0, 1]}}
MACHINE = Machine(0, np.zeros((2, 1), np.int64), np.zeros(1, np.int64))


def of_chain(**other: Any) -> Callable[[], object]:
    return lambda: ChainOfThought.from_wire({**CHAIN, **other})


def test_the_chain_that_is_damaged_below_is_read() -> None:
    assert ChainOfThought.from_wire(CHAIN).length == 2


@pytest.mark.parametrize(
    ("reason", "refused"),
    [
        ("is no number from 0 on", of_chain(answer=-1)),
        ("is no number from 0 on", of_chain(contents=[0, True])),
        ("is no number from 0 on", of_chain(numbers=2.0)),
        (
            "needs a function of the position",
            lambda: BlockSum("x", "y", 2).infer([BITS, BITS], Frame(2, 4)),
        ),
        ("is no table", lambda: CHANNEL.table),
        ("is no function of the position", lambda: CHANNEL.values_by_position),
        ("is not embedded", lambda: NORM.codes(CHANNEL)),
        ("is no window", lambda: read_windows(PROGRAM, FAMILY, MACHINE)),
    ],
)
def test_what_cannot_be_is_refused(reason: str, refused: Callable[[], object]) -> None:
    with pytest.raises(Refused, match=reason):
        refused()
