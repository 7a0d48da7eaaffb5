"""Gadgets as papers print them, with what the papers say of them; each is refused.

Feng et al. (2023) and Yang et al. (2024, App. A): A.4 to A.12. Liu (2024): Lemmas 11 to 42.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from krohn.compiler.units import Expression, Stage
from krohn.instruments.gadgets import brackets, choices, whole_numbers
from krohn.instruments.gadgets.record import Gadget, Number, between, gadget, near
from krohn.instruments.gadgets.whole_numbers import at_least

THIRD, QUARTER = Fraction(1, 3), Fraction(1, 4)


def selection(size: int, largest: Number, gap: Number, farthest: Number) -> Gadget:
    """A.4 says x for every t ≥ 0, as (11) defines it; where |t| < α it mixes x and y."""
    right = choices.selection(size, largest, gap, farthest)
    first, other = right.cases
    low = first.low.copy()
    low[-1] = Fraction(0)
    return replace(right, cases=(replace(first, low=low), other))


def thermometer(most: int, *, falling: bool = False) -> Gadget:
    """A.5 and A.6 say that slope 2 takes noise of 1/3; it takes 1/4 (E3)."""
    asked = whole_numbers.thermometer(most, THIRD, falling=falling)
    return replace(
        whole_numbers.thermometer(most, QUARTER, falling=falling), cases=asked.cases
    )


def block_number(size: int) -> Gadget:
    """A.7 adds up whether i ≤ jn, which is n + 1 − ⌈i/n⌉ (E4)."""
    stage, block = Stage(), Expression({}, float(size))
    for j in range(1, size + 1):
        block.add(at_least(stage, j * size + 1, QUARTER), -1.0)
    number = Expression({}, 0.5).add(stage.unit(Expression({0: 1.0}, -0.5)))
    place = Expression({}, float(size)).add(number).add(block, -size)
    before = Expression({}, -1.0).add(block)
    cases = whole_numbers.block_number(size).cases
    return gadget("block number", [stage], [block, before, place], cases)


def place_in_block(size: int) -> Gadget:
    """A.7 says a whole number as the place in a block; it is off by as much as i."""
    right = whole_numbers.block_number(size)
    cases = []
    for i in range(size * size):
        said = [i // size + 1, i // size, i % size + 1]
        cases.append(near([i + 1], QUARTER, said))
    return replace(right, cases=tuple(cases))


def slots(count: int, largest: Number, *, next_slot: bool = True) -> Gadget:
    """A.12: ReLU(ReLU(v + M) − M(1 + |j − r|)) for slot r + 1: 0 where v < 0 (E14).

    Args:
        count: B.
        largest: M.
        next_slot: False to ask of slot r instead, which its formula fills.
    """
    most, read, last = float(largest), Stage(), Stage()
    up, outputs = read.unit(Expression({0: 1.0}, most)), []
    for j in range(1, count + 1):
        inside = Expression({}, -most).add(up)
        for sign in (1.0, -1.0):
            inside.add(read.unit(Expression({1: sign}, -sign * j)), -most)
        outputs.append(last.unit(inside))
    cases = [
        between(
            [(-Fraction(largest), largest), (r, r)],
            [[int(j == r + next_slot) for j in range(1, count + 1)], [0] * count],
            [0] * count,
        )
        for r in range(count)
    ]
    return gadget("slots", [read, last], outputs, cases)


def table_of_several(
    points: Sequence[brackets.Vector], values: brackets.Vector
) -> Gadget:
    """Lemma 11 has the bias −d: every unit is always 0 (E3)."""
    right = brackets.table_of_several(points, values)
    first, both, last = right.layers
    return replace(right, layers=(first, replace(both, bias=both.bias - 1), last))


def threshold(gap: Number, farthest: Number) -> Gadget:
    """Lemma 12 has slopes 1/(2D): at 3D/4 it says 7/8 (E4)."""
    right = brackets.threshold(gap, farthest)
    first, last = right.layers
    return replace(right, layers=(replace(first, weight=first.weight / 2), last))


def composition(largest: int) -> Gadget:
    """Lemma 14 closes gates with n: one leaks where a number is above n (E12)."""
    return brackets.composition(largest, largest)


def component(count: int, most: Number) -> Gadget:
    """Lemma 40 has −M(y − 1) outside of its units, where an MLP has no place (D7)."""
    right = brackets.component(count, most)
    first, last = right.layers
    weight = last.weight.copy()
    weight[-1] = 0.0
    return replace(right, layers=(first, replace(last, weight=weight)))


def place(count: int, least: Number, most: Number) -> Gadget:
    """Lemma 41 adds M, the place says n(n + 1)/2 too much (D5)."""
    right = brackets.place(count, least, most)
    first, last = right.layers
    more = replace(last, bias=last.bias + count * (count + 1) / 2)
    return replace(right, layers=(first, more))


def chosen_network(
    networks: Sequence[Gadget], box: Sequence[tuple[Number, Number]]
) -> Gadget:
    """Lemma 42 has gates half as wide: wrong where a unit is negative inside (D6)."""
    return brackets.gated(networks, box, 1)
