"""The proof of covering accepts what covers, and nothing else."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from bestiary import BESTIARY, cerny, machine

from algebra.budget import Budget, BudgetExceeded
from algebra.cascade import Cascade, Component, Projection, Wiring, trivial
from algebra.covering import NotCovering, prove
from algebra.decomposition.holonomy import holonomy
from algebra.decomposition.methods import decompose
from algebra.errors import MachineError
from algebra.semiautomaton import IntArray, Semiautomaton

CHANGED = [
    "T_3",
    "Grid5",
    "overlapping covers",
    "a cycle and a reset",
    "S4 with resets",
    "more levels than states",
]


def covers_by_force(a: Semiautomaton, cascade: Cascade) -> bool:
    """Step the cascade beside the machine from every lift, tuple by tuple."""
    todo = {(q, tuple(row)) for q, row in enumerate(cascade.lift.tolist())}
    seen = set(todo)
    while todo:
        state, row = todo.pop()
        if int(cascade.state_of(np.array([row]))[0]) != state:
            return False
        for letter in range(len(a.letters)):
            after = cascade.step(np.array([row]), np.array([letter]))[0]
            pair = (int(a.transitions[letter, state]), tuple(after.tolist()))
            if pair not in seen:
                seen.add(pair)
                todo.add(pair)
    return True


def test_a_machine_covers_itself() -> None:
    for a in BESTIARY.values():
        assert prove(a, trivial(a)).coordinates == len(a.states)


def test_the_number_of_coordinates_may_be_beyond_all_enumeration() -> None:
    a = cerny(16)
    covering = prove(a, holonomy(a))
    assert covering.coordinates == 20_922_789_888_000  # 16!
    assert covering.triples < 500_000


def test_another_machine_is_not_covered() -> None:
    a = BESTIARY["T_3"]
    other = machine([[1, 2, 0], [1, 0, 2], [0, 0, 1]])
    with pytest.raises(NotCovering, match="letter a2 takes coordinates of state"):
        prove(other, holonomy(a))
    renamed = Semiautomaton(a.transitions, ("x", "y", "z"), a.states)
    with pytest.raises(NotCovering, match="other letters or states"):
        prove(renamed, holonomy(a))


def changes(array: IntArray, largest: int) -> Iterator[IntArray]:
    """The array with each entry replaced, in turn, by two other numbers."""
    for at in np.ndindex(array.shape):
        for value in {(array[at] + 1) % largest, largest - 1, -1} - {int(array[at])}:
            changed = array.copy()
            changed[at] = value
            yield changed


def damaged(cascade: Cascade) -> Iterator[tuple[str, Cascade | None]]:
    """Cascades in which one number is changed; None where it cannot even be made."""
    wiring, down = cascade.wiring, cascade.projection.follow
    for i, component in enumerate(cascade.components):
        letters, values = component.machine.transitions.shape
        for table in changes(component.machine.transitions, values):
            if table.min() < 0:
                continue
            other = replace(component.machine, transitions=table)
            parts = (*cascade.components[:i], Component(other))
            parts += cascade.components[i + 1 :]
            yield "table", replace(cascade, components=parts)
        for emit in changes(wiring.emit[i], letters):
            emits = (*wiring.emit[:i], emit, *wiring.emit[i + 1 :])
            yield "emit", attempt(cascade, wiring=replace(wiring, emit=emits))
        after = [*(len(f) for f in wiring.follow[1:]), 1][i]
        for follow in changes(wiring.follow[i], after):
            follows = (*wiring.follow[:i], follow, *wiring.follow[i + 1 :])
            yield "follow", attempt(cascade, wiring=replace(wiring, follow=follows))
        after = [*(len(f) for f in down[1:]), len(cascade.states)][i]
        for follow in changes(down[i], after):
            layers = (*down[:i], follow, *down[i + 1 :])
            yield "projection", attempt(cascade, projection=Projection(layers))
    for lift in changes(cascade.lift, max(cascade.sizes)):
        yield "lift", attempt(cascade, lift=lift)
    for entry in changes(wiring.entry, len(wiring.emit[0])):
        yield "entry", attempt(cascade, wiring=replace(wiring, entry=entry))


def attempt(
    cascade: Cascade,
    wiring: Wiring | None = None,
    projection: Projection | None = None,
    lift: IntArray | None = None,
) -> Cascade | None:
    try:
        return replace(
            cascade,
            wiring=wiring or cascade.wiring,
            projection=projection or cascade.projection,
            lift=cascade.lift if lift is None else lift,
        )
    except MachineError:
        return None


@pytest.mark.parametrize("name", CHANGED)
def test_no_damage_that_matters_is_proved(name: str) -> None:
    """What is still accepted after a change still covers, by brute force."""
    a = BESTIARY[name]
    refused = accepted = 0
    for _, cascade in damaged(decompose(a).cascade):
        if cascade is None:
            refused += 1
            continue
        try:
            prove(a, cascade)
        except NotCovering:
            refused += 1
        else:
            accepted += 1
            assert covers_by_force(a, cascade)
    assert refused > 3 * accepted


def test_the_budget_ends_the_proof() -> None:
    a = cerny(8)
    with pytest.raises(BudgetExceeded, match="triples"):
        prove(a, holonomy(a), Budget(size=10))


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"lift": np.zeros((2, 1), dtype=int)}, "lift of shape"),
        ({"lift": np.array([[0], [1], [3]])}, "coordinate that does not exist"),
        ({"projection": Projection(())}, "projection needs one layer"),
        ({"projection": Projection((np.array([[0, 1]]),))}, "shape"),
        ({"projection": Projection((np.array([[0, 1, 3]]),))}, "node that does not"),
    ],
)
def test_a_cascade_must_fit_together(part: dict[str, object], message: str) -> None:
    cascade = trivial(machine([[1, 2, 0]]))
    with pytest.raises(MachineError, match=message):
        replace(cascade, **part)
