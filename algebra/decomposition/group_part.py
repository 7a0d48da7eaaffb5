"""Groups in cascades: taken apart by chains of normal subgroups."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from krohn.algebra.automaton import IntArray
from krohn.algebra.cascade import Cascade, Component, Projection, Wiring, component_of
from krohn.algebra.decomposition.diagrams import (
    letters_of,
    next_layer,
    number_names,
    refine,
)
from krohn.algebra.groups.permutations import GroupTable, factorise, table_of
from krohn.algebra.rows import distinct

# Chains of subgroups, each normal in the one before, with coset representatives.
#
# Two chains are built of any listed group. ``derived_chain`` goes down the derived
# series and takes each abelian factor apart into cyclic ones that do not see each
# other: as many levels as the derived length, which decides a network's depth.
# ``prime_chain`` goes on to factors of prime order: a composition series
# (Jordan–Hölder). Where the group is not solvable, its perfect core follows, simple
# factor by simple factor.


@dataclass(frozen=True, eq=False)
class Step:
    """A subgroup H of the group above it, normal there.

    Attributes:
        subgroup: The elements of H, sorted.
        transversal: ``(index,)``: one element of each coset Hr, the identity first; for a
            cyclic factor the powers 1, x, x², … of one element.
    """

    subgroup: IntArray
    transversal: IntArray


def derived_chain(table: GroupTable) -> tuple[Step, ...]:
    """Steps from the whole group to 1, abelian factors in independent cyclic parts."""
    return tuple(_steps(table))


def prime_chain(table: GroupTable) -> tuple[Step, ...]:
    """Steps from the whole group to 1 with simple factors: a composition series."""
    return tuple(fine for step in _steps(table) for fine in _prime_steps(table, step))


def _steps(table: GroupTable) -> Iterator[Step]:
    upper = np.arange(table.order)
    while len(upper) > 1:
        inner = table.subgroup_table(upper)
        lower = upper[inner.derived_subgroup()]
        if len(lower) < len(upper):
            yield from _cyclic_steps(table, upper, lower)
        else:
            lower = upper[inner.maximal_normal()]
            _, first = inner.cosets(np.searchsorted(upper, lower))
            yield Step(lower, upper[first])
        upper = lower


def _cyclic_steps(table: GroupTable, upper: IntArray, lower: IntArray) -> list[Step]:
    """Steps for an abelian factor: a basis, the elements of large order first.

    An element whose order modulo ``lower`` equals its order modulo the chosen subgroup
    meets that in the identity only; one of largest order among these always splits off,
    because an abelian group splits over a cyclic subgroup of largest order.
    """
    orders = _relative_orders(table, upper, lower)
    steps, chosen = [], lower
    while len(chosen) < len(upper):
        free = _relative_orders(table, upper, chosen) == orders
        x = int(upper[np.argmax(np.where(free, orders, 0))])
        count = int(orders[np.searchsorted(upper, x)])
        steps.append(Step(chosen, _powers(table, x, count)))
        chosen = table.generated_subgroup([x], chosen)
    return steps[::-1]


def _relative_orders(
    table: GroupTable, elements: IntArray, subgroup: IntArray
) -> IntArray:
    """The least power of each element that lies in a subgroup."""
    inside = table.mask(subgroup)
    relative = np.zeros(len(elements), dtype=np.int64)
    power, exponent = elements, 1
    while not relative.all():
        relative[(relative == 0) & inside[power]] = exponent
        power, exponent = table.product[power, elements], exponent + 1
    return relative


def _powers(table: GroupTable, x: int, count: int) -> IntArray:
    powers = np.zeros(count, dtype=np.int64)
    for i in range(1, count):
        powers[i] = table.product[powers[i - 1], x]
    return powers


def _prime_steps(table: GroupTable, step: Step) -> Iterator[Step]:
    """A cyclic step as steps of prime index; others are simple already."""
    if not _is_cyclic(table, step):
        yield step
        return
    count, lower, fine = len(step.transversal), step.subgroup, list[Step]()
    for prime, exponent in factorise(count).items():
        # Parts of coprime orders do not see each other; within one, digits carry.
        x = int(step.transversal[count // prime**exponent])
        for left in range(exponent):
            power = _powers(table, x, prime**exponent)[
                :: prime ** (exponent - 1 - left)
            ]
            fine.append(Step(lower, power[:prime]))
            lower = table.generated_subgroup([int(power[1])], lower)
    yield from reversed(fine)


def _is_cyclic(table: GroupTable, step: Step) -> bool:
    x = int(step.transversal[1])
    powers = _powers(table, x, len(step.transversal))
    return bool(np.array_equal(powers, step.transversal))


# Permutation-reset components as a group and a memory, groups as simpler groups.
#
# Everything here acts on the right: the state q after the letters s, t is q·s·t.


Chain = Callable[[GroupTable], Sequence[Step]]

KEEP = 0


@dataclass(frozen=True, eq=False)
class _Group:
    """A listed permutation group and the group element of each letter of a component.

    Attributes:
        elements: ``(order, degree)`` permutations, the identity first.
        table: Their products.
        letter: ``(letters,)``: the element of each letter; the identity for resets.
    """

    elements: IntArray
    table: GroupTable
    letter: IntArray


def split(component: Component, chain: Chain) -> Cascade:
    """A permutation-reset machine as the factors of its group, and a memory.

    Args:
        component: A permutation-reset machine with a non-trivial group.
        chain: How to take the group apart.

    Raises:
        BudgetExceeded: If the group is too large to list.
    """
    group = _list_group(component)
    regular = _acting_on_itself(group)
    whole = _with_memory(component, group, regular)
    factors = by_subgroups(regular, group.table, group.letter, chain(group.table))
    return refine(whole, 0, factors)


def _list_group(component: Component) -> _Group:
    elements = component.group.elements().astype(np.int64)
    table = table_of(elements, component.group.generators)
    order = np.lexsort(elements.T[::-1])
    letter = np.zeros(len(component.permutes), dtype=np.int64)
    rows = component.machine.transitions[component.permutes]
    _, place = distinct(np.concatenate([elements, rows]))
    letter[component.permutes] = order[place[len(elements) :]]
    return _Group(elements, table, letter)


def _acting_on_itself(group: _Group) -> Component:
    """The group as a machine whose letters are the elements in use, in order."""
    used = np.unique(group.letter)
    return component_of(group.table.product[:, used].T, number_names(group.table.order))


def _with_memory(component: Component, group: _Group, regular: Component) -> Cascade:
    """A permutation-reset machine as its group and a memory.

    Write the state as q = m·g with g the product of all permutations so far. A
    permutation s makes it m·(g·s); a reset to r makes it (r·g⁻¹)·g. So the group never
    waits for the memory, and the value written depends on g alone (thesis, Lemma 20, where
    the division by the group's part at the last reset comes last instead of first).
    A transitive machine without resets is an image of its group and needs no memory.
    """
    letter = np.searchsorted(np.unique(group.letter), group.letter)
    entry = np.arange(len(letter))
    if component.group.is_transitive and not component.resets.any():
        start = group.elements[:, 0]
        _, lift = np.unique(start, return_index=True)
        wiring = Wiring(entry, (letter,), (np.zeros((len(letter), len(start)), int),))
        return _cascade(component, (regular,), wiring, (start[None],), lift[:, None])
    asked, memory = _memory(component, group)
    wiring = Wiring(
        entry,
        (letter, np.arange(memory.size + 1)),
        (asked, np.zeros((memory.size + 1, memory.size), dtype=np.int64)),
    )
    lift = np.stack([np.zeros(component.size, int), np.arange(component.size)], axis=1)
    down = (np.arange(group.table.order)[None], group.elements)
    return _cascade(component, (regular, memory), wiring, down, lift)


def _memory(component: Component, group: _Group) -> tuple[IntArray, Component]:
    """The memory, and the letter it gets from each input letter at each group element.

    The memory's letters are: keep, and one that writes each value.
    """
    written = component.machine.transitions[:, 0]
    inverse = group.elements[group.table.inverse]
    asked = np.where(component.resets[:, None], inverse[:, written].T + 1, KEEP)
    values = np.arange(component.size)
    writes = np.repeat(values[:, None], component.size, axis=1)
    table = np.concatenate([values[None], writes])
    return asked, component_of(table, component.machine.states)


def _cascade(
    component: Component,
    components: tuple[Component, ...],
    wiring: Wiring,
    down: tuple[IntArray, ...],
    lift: IntArray,
) -> Cascade:
    machine = component.machine
    return Cascade(
        machine.letters, machine.states, components, wiring, Projection(down), lift
    )


def by_subgroups(
    regular: Component, table: GroupTable, letter: IntArray, steps: Sequence[Step]
) -> Cascade:
    """A group that acts on itself, by a chain of subgroups G > G₁ > … > 1.

    Write g = g₁·r with r the representative of G₁g. Then g·s = g₁·(r·s·r'⁻¹)·r' with r'
    the representative of G₁rs: the coset moves by s, and g₁, in G₁, by an element of G₁
    that depends on s and the coset. So it goes on down the chain, every factor acting on
    itself by multiplication (thesis, Theorem 16, without wreath products: only
    the cosets' elements that occur are ever formed).

    Args:
        regular: The group on itself; its letters are the elements in ``letter``, sorted.
        table: The group.
        letter: Elements in use.
        steps: The chain.
    """
    nodes = np.unique(letter)
    components, emits, follows, down = [], [], [], []
    above = np.zeros(1, dtype=np.int64)
    for step in steps:
        place = _coset_of(table, step)
        moved = place[table.product[step.transversal[None], nodes[:, None]]]
        rows, emit = letters_of(moved)
        components.append(component_of(rows, number_names(len(step.transversal))))
        emits.append(emit)
        nodes, follow = next_layer(_rest(table, step, nodes, moved)[..., None])
        nodes = nodes[:, 0]
        follows.append(follow)
        above, led = _products(table, step, above)
        down.append(led)
    down[-1] = above[down[-1]]
    return _cascade(
        regular,
        tuple(components),
        Wiring(np.arange(len(emits[0])), tuple(emits), tuple(follows)),
        tuple(down),
        _digits(table, steps),
    )


def _coset_of(table: GroupTable, step: Step) -> IntArray:
    """``(order,)``: which coset of the subgroup each element of the upper one lies in."""
    place = np.full(table.order, -1, dtype=np.int64)
    cosets = table.product[np.ix_(step.subgroup, step.transversal)]
    place[cosets] = np.arange(len(step.transversal))
    return place


def _rest(table: GroupTable, step: Step, nodes: IntArray, moved: IntArray) -> IntArray:
    """``(nodes, cosets)``: r·s·r'⁻¹, the element that is left for the subgroup."""
    there = table.product[step.transversal[None], nodes[:, None]]
    return table.product[there, table.inverse[step.transversal[moved]]]


def _products(
    table: GroupTable, step: Step, above: IntArray
) -> tuple[IntArray, IntArray]:
    """The products of representatives so far: the new nodes, and how they are reached."""
    led = table.product[step.transversal[None], above[:, None]]
    nodes, follow = next_layer(led[..., None])
    return nodes[:, 0], follow


def _digits(table: GroupTable, steps: Sequence[Step]) -> IntArray:
    """``(order, steps)``: the coset that each element lies in, then its rest lies in."""
    rest = np.arange(table.order)
    digits = np.zeros((table.order, len(steps)), dtype=np.int64)
    for j, step in enumerate(steps):
        digits[:, j] = _coset_of(table, step)[rest]
        back = table.inverse[step.transversal[digits[:, j]]]
        rest = table.product[rest, back]
    return digits


def flip_flops(component: Component) -> Cascade:
    """A memory as flip-flops side by side, one for each binary digit of the value.

    Args:
        component: A machine of more than two states whose letters keep or write.
    """
    size, letters = component.size, component.machine.letters
    digits = (np.arange(size)[:, None] >> np.arange((size - 1).bit_length())[::-1]) & 1
    written = digits[component.machine.transitions[:, 0]] + 1
    written[~component.resets] = KEEP
    flip_flop = component_of([[0, 1], [0, 0], [1, 1]], ("0", "1"))
    nodes = np.arange(len(letters))
    follow = np.repeat(nodes[:, None], 2, axis=1)
    count = digits.shape[1]
    follows = (*[follow] * (count - 1), np.zeros_like(follow))
    down, above = [], np.zeros((1, 0), dtype=np.int64)
    for j in range(count):
        both = np.stack([_append(above, b) for b in (0, 1)], axis=1)
        known, _ = distinct(digits[:, : j + 1])
        valid = (both[:, :, None] == known[None, None]).all(axis=-1).any(axis=-1)
        above, led = next_layer(both, valid)
        down.append(led)
    # Rows of digits in order are the values in order.
    return _cascade(
        component,
        (flip_flop,) * count,
        Wiring(nodes, tuple(written.T), follows),
        tuple(down),
        digits,
    )


def _append(rows: IntArray, digit: int) -> IntArray:
    return np.concatenate([rows, np.full((len(rows), 1), digit)], axis=1)
