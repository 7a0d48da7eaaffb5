"""Chains of subgroups, each normal in the one before, with coset representatives.

Two chains are built of any listed group. ``derived_chain`` goes down the derived series
and takes each abelian factor apart into cyclic ones that do not see each other: as many
levels as the derived length, which decides a network's depth.
``prime_chain`` goes on to factors of prime order: a composition series
(Jordan–Hölder). Where the group is not solvable, its perfect core follows, simple factor
by simple factor.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from krohn.algebra.groups.table import GroupTable
from krohn.algebra.primes import factorise
from krohn.algebra.semiautomaton import IntArray


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
    found = np.zeros(len(elements), dtype=np.int64)
    power, exponent = elements, 1
    while not found.all():
        found[(found == 0) & inside[power]] = exponent
        power, exponent = table.product[power, elements], exponent + 1
    return found


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
