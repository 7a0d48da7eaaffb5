"""What operations may be and remember, beside their meaning."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from krohn.program import (
    Earliest,
    Latest,
    LatestMatch,
    Map,
    MarkedSum,
    Operation,
    Position,
    PrefixSum,
    Refused,
    Select,
    Shift,
    SiblingLatest,
    Sum,
    Table,
    Token,
    table,
)
from krohn.program.domains import (
    ChannelDomain,
    PossibleValues,
    Values,
    beside,
    joint,
    sums,
)
from krohn.program.interpreter import evaluate_operation
from krohn.program.language import operation_to_wire
from krohn.program.operations.base import Frame

DIGITS = np.array([0, 1])
FOLLOWED = [
    Shift("x", 1),
    Shift("x", 3),
    Latest("x", "f"),
    LatestMatch("x", "k", "q"),
    Earliest("x", "f"),
    PrefixSum("x"),
    MarkedSum("x", "f"),
]


def possible_values(sets: list[list[int]], domain: Any = DIGITS) -> PossibleValues:
    return PossibleValues(domain, np.array(sets, np.bool_))


@pytest.mark.parametrize("operation", FOLLOWED, ids=repr)
def test_steps_are_the_meaning_letter_by_letter(operation: Operation) -> None:
    """All words of five positions: cells of single values give what is evaluated."""
    length, names = 5, dict.fromkeys(operation.reads)
    bos = {"x": 0, "k": 0, "q": 0, "f": int(operation.wire == "latest")}
    each = list(product(DIGITS, repeat=len(names)))
    words = np.array(list(product(range(len(each)), repeat=length)))[::7]
    columns = {
        name: np.insert(np.array(each)[words, i], 0, bos[name], axis=1)
        for i, name in enumerate(names)
    }
    read = [columns[n] for n in operation.reads]
    meant = evaluate_operation(operation, read, np.zeros_like(read[0]))
    domain = np.arange(length + 1)
    own, known = (
        ChannelDomain(domain, 0),
        [ChannelDomain(DIGITS, bos[n]) for n in operation.reads],
    )
    memory = operation.memory(own, known)
    assert memory is not None
    cells = np.zeros((len(words), memory.cells, len(memory.domain)), np.bool_)
    cells[:, :, memory.domain == memory.start] = True
    for t in range(1, length + 1):
        now = [
            PossibleValues(DIGITS, np.equal.outer(column[:, t], DIGITS))
            for column in read
        ]
        found, cells = operation.step(own, now, cells)
        assert np.array_equal(found, np.equal.outer(meant[:, t], domain)), t


@pytest.mark.parametrize("operation", FOLLOWED, ids=repr)
def test_what_may_be_holds_what_is(operation: Operation) -> None:
    random = np.random.default_rng(5)
    known = [ChannelDomain(DIGITS, int(n == "f")) for n in operation.reads]
    own = ChannelDomain(np.arange(7), 0)
    memory = operation.memory(own, known)
    assert memory is not None
    shape = (300, memory.cells, len(memory.domain))
    cell = random.integers(len(memory.domain), size=shape[:2])
    one = np.equal.outer(cell, np.arange(shape[2]))
    some = one | (random.random(shape) < 0.3)
    value = [random.integers(2, size=300) for _ in operation.reads]
    narrow = [PossibleValues(DIGITS, np.equal.outer(v, DIGITS)) for v in value]
    wide = [
        PossibleValues(DIGITS, m.sets | (random.random(m.sets.shape) < 0.4))
        for m in narrow
    ]
    few = operation.step(own, narrow, one)
    many = operation.step(own, wide, some)
    assert all((x <= y).all() for x, y in zip(few, many, strict=True))
    assert many[0].sum() > few[0].sum()


def test_a_latest_match_that_finds_nothing_is_the_value_at_bos() -> None:
    source, key = possible_values([[0, 1]] * 3), possible_values([[1, 0]] * 3)
    query = possible_values([[1, 0, 0], [0, 0, 1], [0, 1, 1]], np.arange(3))
    old = np.array([[[True, False], [True, False]]] * 3)
    operation = LatestMatch("x", "k", "c")
    found, new = operation.step(ChannelDomain(DIGITS, 1), [source, key, query], old)
    assert found.tolist() == [[False, True], [False, True], [True, True]]
    assert new.tolist() == [[[False, True], [True, False]]] * 3


def test_every_operation_is_read_as_it_is_written() -> None:
    given: list[Operation] = [
        Token(),
        *FOLLOWED,
        SiblingLatest("x", "f", 3),
        Map(Select(), ("i", "x", "y")),
        Map(Sum(), ("x", "y")),
        Map(table({(0, 1): 3, (1, 1): 0}), ("x", "y")),
    ]
    for operation in given:
        told = operation_to_wire(operation)
        assert Operation.named[told["op"]].from_wire(told) == operation
        names = {n: n.upper() for n in operation.reads}
        assert operation.rename_channels(names).reads == tuple(
            names[n] for n in operation.reads
        )
    assert set(Operation.named) >= {operation.wire for operation in given}


@pytest.mark.parametrize(
    "told",
    [
        {"op": "shift", "source": "x", "by": True},
        {"op": "shift", "source": "x", "by": -1},
        {"op": "shift", "source": "x", "by": 2**31},
        {"op": "shift", "source": 3, "by": 1},
        {"op": "at", "source": "x", "digits": "ab"},
        {"op": "position", "values": [0, 0.5]},
        {"op": "map", "inputs": ["x"], "function": "product"},
        {"op": "map", "inputs": [], "function": "sum"},
        {"op": "map", "inputs": ["x"], "function": "table", "rows": [[0, 1], [1]]},
        {"op": "map", "inputs": ["x"], "function": "table", "rows": [[0, 1, 1]]},
        {"op": "map", "inputs": ["x"], "function": "table", "rows": [[0, -1]]},
    ],
    ids=repr,
)
def test_what_is_malformed_is_refused(told: dict[str, Any]) -> None:
    with pytest.raises((Refused, ValueError)):
        Operation.named[told["op"]].from_wire(told)


def values(bos: int, *later: int) -> Values:
    return Values(bos, np.array(later))


def test_tables_keep_the_rows_that_occur_and_miss_none() -> None:
    square = table({(v,): v * v for v in range(5)})
    assert square.occurring([values(0, 1, 2)]).rows.tolist() == [[0], [1], [2]]
    with pytest.raises(Refused, match=r"no row for \[7\]"):
        square.occurring([values(0, 1, 7)])
    twice = Table(np.array([[0], [1], [1]]), np.array([0, 1, 2]))
    with pytest.raises(Refused, match="twice"):
        twice.occurring([values(0, 1)])


@pytest.mark.parametrize("seed", range(20))
def test_a_sum_goes_as_far_as_positions_let_it(seed: int) -> None:
    """All words of five letters: of a table that reads positions, and of its sums."""
    rng, length, letters = np.random.default_rng(seed), 5, 2
    p, q, marks = (tuple(rng.integers(3, size=length + 1).tolist()) for _ in range(3))
    marks = (0, *(min(m, 1) for m in marks[1:]))
    later = product(sorted(set(p[1:])), range(letters), sorted(set(q[1:])))
    rows = {row: int(rng.integers(4)) for row in later}
    each = {
        "p": Position(p),
        "q": Position(q),
        "marks": Position(marks),
        "token": Token(),
        "x": Map(table(rows | {(p[0], letters, q[0]): 0}), ("p", "token", "q")),
        "sum": PrefixSum("x"),
        "some": MarkedSum("x", "marks"),
    }
    words = np.array(list(product(range(letters), repeat=length)))
    tokens = np.insert(words, 0, letters, axis=1)
    meant, known = dict[str, Any](), dict[str, Values]()
    for name, operation in each.items():
        meant[name] = evaluate_operation(
            operation, [meant[n] for n in operation.reads], tokens
        )
        read = [known[n] for n in operation.reads]
        known[name] = operation.infer(read, Frame(letters, length))
        assert np.isin(meant[name][:, 1:], known[name].later).all()
    assert known["x"].most is not None
    assert known["x"].most.tolist() == meant["x"].max(axis=0).tolist()
    assert known["sum"].later[-1] == meant["sum"].max()
    assert known["some"].later[-1] == meant["some"].max()


def test_sets_of_values() -> None:
    assert sums(np.array([0, 1, 2]), np.array([4, 5])).tolist() == [4, 5, 6, 7]
    assert sums(np.array([0, 10]), np.array([0, 1])).tolist() == [0, 1, 10, 11]
    assert joint([np.array([1, 2]), np.array([5])]).tolist() == [[1, 5], [2, 5]]
    which, place = beside(np.array([1, 0]), np.array([[True, False], [True, True]]))
    assert (which.tolist(), place.tolist()) == ([0, 0, 1], [0, 1, 0])
    assert PrefixSum("x").infer([values(0, 0, 4, 6)], Frame(2, 3)).later.tolist() == [
        *range(0, 19, 2)
    ]
