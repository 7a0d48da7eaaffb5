"""The proof of covering accepts what covers, and nothing else."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from bestiary import BESTIARY, cerny, machine

from krohn.algebra.automaton import IntArray, Semiautomaton
from krohn.algebra.budget import Budget, BudgetExceeded
from krohn.algebra.cascade import (
    INVALID,
    Cascade,
    Component,
    NotCovering,
    Projection,
    Wiring,
    prove,
    trivial,
)
from krohn.algebra.decomposition.holonomy import holonomy
from krohn.algebra.decomposition.methods import METHODS, decompose
from krohn.algebra.errors import MachineError

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


@pytest.mark.slow
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


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", CHANGED)
def test_no_damage_that_matters_is_proved(name: str) -> None:
    """A changed cascade that is still accepted covers the machine, by brute force."""
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


def valid_coordinates(cascade: Cascade) -> dict[tuple[int, ...], int]:
    """All tuples that the projection accepts, with their states, one by one."""
    found = {}
    for row in product(*map(range, cascade.sizes)):
        node = 0
        for follow, value in zip(cascade.projection.follow, row, strict=True):
            node = int(follow[node][value]) if node != INVALID else INVALID
        if node != INVALID:
            found[row] = node
    return found


def keeps_its_invariant(a: Semiautomaton, cascade: Cascade) -> bool:
    """The three conditions of a covering, for every tuple, in plain steps."""
    valid = valid_coordinates(cascade)
    if any(valid.get(tuple(x)) != q for q, x in enumerate(cascade.lift.tolist())):
        return False
    return all(
        valid.get(after(cascade, row, letter)) == a.transitions[letter, state]
        for row, state in valid.items()
        for letter in range(len(a.letters))
    )


def after(
    cascade: Cascade, row: tuple[int, ...], letter: int
) -> tuple[int, ...] | None:
    """The tuple after a letter; None where the wiring does not lead on."""
    node, out, wiring = int(cascade.wiring.entry[letter]), [], cascade.wiring
    for i, value in enumerate(row):
        table = cascade.components[i].machine.transitions
        out.append(int(table[wiring.emit[i][node]][value]))
        node = int(wiring.follow[i][node][value])
        if node == INVALID:
            return None
    return tuple(out)


def randomly_damaged(cascade: Cascade, rng: np.random.Generator) -> Cascade:
    """One to three numbers of the diagrams, tables or lifts drawn anew."""
    wiring, down = cascade.wiring, [f.copy() for f in cascade.projection.follow]
    emits, follows = [e.copy() for e in wiring.emit], [f.copy() for f in wiring.follow]
    tables = [c.machine.transitions.copy() for c in cascade.components]
    entry, lift = wiring.entry.copy(), cascade.lift.copy()
    for _ in range(rng.integers(1, 4)):
        i = int(rng.integers(len(emits)))
        last = i == len(emits) - 1
        choices = [
            (emits[i], 0, len(tables[i])),
            (follows[i], INVALID, 1 if last else len(follows[i + 1])),
            (down[i], INVALID, len(cascade.states) if last else len(down[i + 1])),
            (tables[i], 0, cascade.sizes[i]),
            (lift[:, i], 0, cascade.sizes[i]),
            (entry, 0, len(emits[0])),
        ]
        array, low, high = choices[rng.integers(len(choices))]
        array[tuple(rng.integers(array.shape))] = rng.integers(low, high)
    parts = zip(cascade.components, tables, strict=True)
    return Cascade(
        cascade.letters,
        cascade.states,
        tuple(Component(replace(c.machine, transitions=t)) for c, t in parts),
        Wiring(entry, tuple(emits), tuple(follows)),
        Projection(tuple(down)),
        lift,
    )


@pytest.mark.slow
def test_the_proof_agrees_with_the_definition_on_random_cascades() -> None:
    """Right and damaged ones alike, over all tuples: no false yes, and no false no."""
    rng = np.random.default_rng(4)
    accepted = refused = 0
    for _ in range(30):
        n, letters = rng.integers(2, 6), rng.integers(1, 4)
        a = machine(rng.integers(0, n, (letters, n)))
        right = decompose(a, str(rng.choice(list(METHODS)))).cascade
        if np.prod(right.sizes) > 300:
            continue
        assert keeps_its_invariant(a, right)
        for cascade in (randomly_damaged(right, rng) for _ in range(8)):
            try:
                prove(a, cascade)
            except NotCovering:
                refused += 1
                assert not keeps_its_invariant(a, cascade)
            else:
                accepted += 1
                assert keeps_its_invariant(a, cascade)
    assert min(accepted, refused) > 25


def test_dead_ends_of_the_projection_are_refused_rather_than_believed() -> None:
    """Not complete, but sound: a path that stands for nothing may go wrong."""
    a = machine([[0, 1]])
    one = trivial(a)
    useless = Component(machine([[0, 1], [1, 1]]))
    follow = np.array([[0, 1], [INVALID, INVALID]])  # the upper 1 cannot be completed
    cascade = Cascade(
        a.letters,
        a.states,
        (useless, *one.components),
        Wiring(
            np.array([0]),
            (np.array([0]), np.array([0])),
            (np.array([[0, INVALID]]), np.zeros((1, 2), dtype=int)),
        ),
        Projection((follow[:1], np.array([[0, 1], follow[1]]))),
        np.array([[0, 0], [0, 1]]),
    )
    assert keeps_its_invariant(a, cascade)
    with pytest.raises(NotCovering, match="invalid ones in component 1 of 2"):
        prove(a, cascade)


def test_a_wiring_that_ends_at_valid_coordinates_is_refused() -> None:
    """NumPy would read its node −1 as the last one, which is right here by chance."""
    a = BESTIARY["T_3"]
    right = decompose(a, "holonomy").cascade
    node = int(right.wiring.entry[0])
    follow = right.wiring.follow[0].copy()
    follow[node, 0] = INVALID
    wiring = replace(right.wiring, follow=(follow, *right.wiring.follow[1:]))
    with pytest.raises(NotCovering, match="letter a0 leads from valid"):
        prove(a, replace(right, wiring=wiring))


def test_a_cascade_without_components_covers_machines_of_one_state_only() -> None:
    def empty(a: Semiautomaton) -> Cascade:
        nothing = np.zeros((len(a.states), 0), dtype=int)
        entry = np.zeros(len(a.letters), dtype=int)
        wiring, projection = Wiring(entry, (), ()), Projection(())
        return Cascade(a.letters, a.states, (), wiring, projection, nothing)

    one, two = BESTIARY["one state"], BESTIARY["constants alone"]
    assert prove(one, empty(one)).coordinates == 1
    with pytest.raises(NotCovering, match="stands for another state"):
        prove(two, empty(two))
    nobody = Cascade((), (), (), Wiring([], (), ()), Projection(()), np.zeros((0, 0)))
    with pytest.raises(NotCovering, match="other letters or states"):
        prove(one, nobody)


def test_more_than_64_components_are_no_matter() -> None:
    """NumPy's arrays have at most 32 or 64 dimensions."""
    n = 70
    chain = machine([np.minimum(np.arange(n) + 1, n - 1)])
    found = decompose(chain, "holonomy")
    assert len(found.cascade.components) == n - 1
    assert prove(chain, found.cascade) == found.covering
