"""Cascades hold tables that fit together and cannot be changed."""

from collections.abc import Callable
from dataclasses import replace
from itertools import product

import numpy as np
import numpy.typing as npt
import pytest
from bestiary import BESTIARY, full_transformations, machine

from krohn.algebra.automaton import IntArray
from krohn.algebra.cascade import INVALID, Cascade, Projection, Wiring, prove, trivial
from krohn.algebra.decomposition.holonomy import holonomy
from krohn.algebra.decomposition.methods import decompose
from krohn.algebra.errors import MachineError


def test_coordinates_that_are_not_valid_stand_for_nothing() -> None:
    """Not even where NumPy would go on from the node −1."""
    found = decompose(BESTIARY["one letter with a tail"], "prime").cascade
    rows = np.array(list(product(*map(range, found.sizes))))
    states = found.state_of(rows)
    assert (states == INVALID).any()
    for row, state in zip(rows.tolist(), states.tolist(), strict=True):
        node = 0
        for follow, value in zip(found.projection.follow, row, strict=True):
            node = follow[node, value] if node != INVALID else INVALID
        assert node == state


def retyped(cascade: Cascade, change: Callable[[IntArray], npt.ArrayLike]) -> Cascade:
    wiring = Wiring(
        change(cascade.wiring.entry),
        tuple(change(e) for e in cascade.wiring.emit),
        tuple(change(f) for f in cascade.wiring.follow),
    )
    down = Projection(tuple(change(f) for f in cascade.projection.follow))
    return replace(cascade, wiring=wiring, projection=down, lift=change(cascade.lift))


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.astype(np.int8),
        lambda t: t.astype(">i4"),
        lambda t: np.asfortranarray(t),
        lambda t: np.repeat(t, 2, axis=0)[::2],
        lambda t: t.tolist(),
    ],
    ids=["int8", "big-endian", "by columns", "not contiguous", "lists"],
)
def test_integers_of_every_kind_are_the_same_proof(
    change: Callable[[IntArray], npt.ArrayLike],
) -> None:
    """300 nodes: sums of one byte would come around."""
    a = full_transformations(6)
    cascade = holonomy(a)
    narrow = change(np.zeros(1, dtype=np.int64))
    if isinstance(narrow, np.ndarray) and narrow.dtype == np.int8:
        a, cascade = BESTIARY["T_4"], holonomy(BESTIARY["T_4"])
    assert prove(a, retyped(cascade, change)) == prove(a, cascade)


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t + 0.5,
        lambda t: t.astype(float),
        lambda t: t.astype(bool),
        lambda t: t.astype(object),
        lambda t: t.astype(str),
        lambda t: t.astype(np.uint64) + np.uint64(2**64 - 1),
        lambda t: np.full(t.shape, np.nan),
    ],
    ids=["halves", "float", "bool", "object", "str", "beyond int64", "NaN"],
)
def test_what_is_no_table_of_integers_is_refused(
    change: Callable[[IntArray], npt.ArrayLike],
) -> None:
    cascade = decompose(BESTIARY["T_3"], "holonomy").cascade
    with pytest.raises(MachineError, match="hold integers and nothing else"):
        retyped(cascade, change)


def test_tables_cannot_be_changed_behind_the_proof() -> None:
    a = BESTIARY["T_3"]
    given = decompose(a, "holonomy").cascade.lift.copy()
    cascade = replace(decompose(a, "holonomy").cascade, lift=given)
    given[:] = 0
    assert prove(a, cascade).triples
    tables = (
        cascade.lift,
        cascade.wiring.entry,
        *cascade.wiring.emit,
        *cascade.wiring.follow,
        *cascade.projection.follow,
        cascade.components[0].machine.transitions,
    )
    for table in tables:
        with pytest.raises(ValueError, match="read-only"):
            table[...] = 0


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"lift": np.zeros((2, 1), dtype=int)}, "lift of shape"),
        ({"lift": np.array([[0], [1], [3]])}, "coordinate that does not exist"),
        ({"lift": np.array([[0], [1], [-1]])}, "coordinate that does not exist"),
        ({"projection": Projection(())}, "projection needs one layer"),
        ({"projection": Projection((np.array([[0, 1]]),))}, "shape"),
        ({"projection": Projection((np.array([[0, 1, 3]]),))}, "node that does not"),
        ({"projection": Projection((np.array([[0, 1, -2]]),))}, "node that does not"),
        ({"projection": Projection((np.zeros((0, 3), dtype=int),))}, "one node"),
        ({"projection": Projection((np.array([[0, 1, 2]] * 2),))}, "one node"),
        ({"wiring": Wiring([0], (), ([[0, 0, 0]],))}, "one layer for each"),
        ({"wiring": Wiring([0], ([0],), ())}, "one layer for each"),
        ({"wiring": Wiring([[0]], ([0],), ([[0, 0, 0]],))}, "one entry for each"),
        ({"wiring": Wiring([1], ([0],), ([[0, 0, 0]],))}, "entry names a node"),
        ({"wiring": Wiring([0], ([1],), ([[0, 0, 0]],))}, "letter that does not"),
        ({"wiring": Wiring([0], ([0],), ([[0, 0, 1]],))}, "node that does not"),
        ({"wiring": Wiring([0], ([0],), ([[0, 0, 10**18]],))}, "node that does not"),
    ],
)
def test_a_cascade_must_fit_together(part: dict[str, object], message: str) -> None:
    cascade = trivial(machine([[1, 2, 0]]))
    with pytest.raises(MachineError, match=message):
        replace(cascade, **part)
