"""Gadgets of the constructions for automata and for nested brackets (Liu 2024)."""

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, log2

import numpy as np

from krohn.compiler.units import Expression, Stage, step
from krohn.instruments.gadgets.certificates import as_rounded
from krohn.instruments.gadgets.record import (
    Case,
    Gadget,
    Layers,
    Number,
    between,
    gadget,
    gaps,
    near,
    rational,
    round_up,
)
from krohn.network.meaning.net import Affine
from krohn.program.errors import demand

Vector = Sequence[Number]
GRID = 64
"""Ramps begin at multiples of 1/64 of their height, so that the two units of a step
differ by exactly 1, whatever the points are; that moves them by a small part of a gap."""


def indicator(stage: Stage, place: int, point: Fraction, gap: Fraction) -> Expression:
    """1 within a quarter of the gap of a point, 0 from half of it on: four units."""
    slope = 2.0 ** ceil(log2(8 / gap))
    ends = (point - gap * 3 / 8, point + gap * 3 / 8)
    middles = (round(Fraction(slope) * end * GRID) / GRID for end in ends)
    up, down = (step(stage, {place: slope}, middle) for middle in middles)
    return up.add(down, -1.0)


def table(points: Vector, values: Vector) -> Gadget:
    """The value of a point, from numbers within a quarter of the least gap (Lemma 10).

    Four units for each point; where points are whole numbers, `lookup` needs two.

    Args:
        points: Two or more.
        values: As many.

    Raises:
        Refused: If points are equal, or fewer than two.
    """
    return table_of_several([[x] for x in points], values)


def table_of_several(points: Sequence[Vector], values: Vector) -> Gadget:
    """The value of a vector, from numbers near those of it (Lemma 11, repaired).

    Each number may be off by a quarter of the least gap *of its coordinate*. Four units
    for each number that a coordinate has, then one for each vector that has all of them.

    Args:
        points: Vectors of one length.
        values: As many.

    Raises:
        Refused: If a coordinate has the same number everywhere, or two vectors are equal.
    """
    exact = [rational(point) for point in points]
    demand(
        len({tuple(x) for x in exact}) == len(values),
        "vectors are not as many as values",
    )
    first, both = Stage(), Stage()
    seen, noise = list[dict[Fraction, Expression]](), []
    for place, column in enumerate(zip(*exact, strict=True)):
        gap = gaps([*{*column}])
        seen.append({x: indicator(first, place, x, gap) for x in sorted({*column})})
        noise.append(gap / 4)
    if len(seen) == 1:
        stages, units = [first], [seen[0][x] for (x,) in exact]
    else:
        stages, units = [first, both], []
        for x in exact:
            inside = Expression({}, 1.0 - len(seen))
            for known, number in zip(seen, x, strict=True):
                inside.add(known[number])
            units.append(both.unit(inside))
    output = Expression()
    for unit, value in zip(units, values, strict=True):
        output.add(unit, float(value))
    cases = [_near(x.tolist(), noise, y) for x, y in zip(exact, values, strict=True)]
    return gadget("table", stages, [output], cases)


def _near(point: Sequence[Fraction], noise: Sequence[Fraction], value: Number) -> Case:
    box = [(x - off, x + off) for x, off in zip(point, noise, strict=True)]
    return between(box, [[0]] * len(box), [float(value)])


def threshold(gap: Number, farthest: Number) -> Gadget:
    """1 where x ≥ D, 0 where x ≤ −D, also within D/4 of these (Lemma 12, repaired).

    Args:
        gap: D.
        farthest: The largest |x|.

    Raises:
        Refused: If the gap is not positive.
    """
    demand(0 < gap <= farthest, "a gap is above 0, and not beyond the farthest number")
    stage, exact = Stage(), Fraction(gap)
    outputs = [step(stage, {0: float(1 / exact)}, 0.0)]
    ends, most = exact * 3 / 4, Fraction(farthest)
    cases = [between([(ends, most)], [[0]], [1]), between([(-most, -ends)], [[0]], [0])]
    return gadget("threshold", [stage], outputs, cases)


def composition(
    largest: int, gate: int | None = None, noise: Number = Fraction(1, 4)
) -> Gadget:
    """Of g in 1..n and f(1), …, f(n) the number f(g) (Lemma 14, repaired).

    Numbers f(i) from 1 to n may be off; f(g) is passed on as it comes, not rounded (E12).

    Args:
        largest: n.
        gate: What closes a gate; n + 1 by default, which is above every f(i).
        noise: How far g, and each f(i), may be off; up to 1/4.
    """
    gate, off = gate or largest + 1, Fraction(noise)
    first, gates, output = Stage(), Stage(), Expression()
    for i in range(1, largest + 1):
        inside = first.unit(Expression({i: 1.0}))
        inside.add(
            indicator(first, 0, Fraction(i), Fraction(1)), float(gate)
        ).constant -= gate
        output.add(gates.unit(inside))
    box = [(1 - off, largest + off)] * largest
    cases = [
        between([(g - off, g + off), *box], [[0], *unit_column(g - 1, largest)], [0])
        for g in range(1, largest + 1)
    ]
    return gadget("composition", [first, gates], [output], cases)


def unit_column(place: int, count: int) -> list[list[int]]:
    """The column that picks one of some numbers."""
    return [[int(i == place)] for i in range(count)]


def interpolation(points: Sequence[Vector], values: Vector, along: Vector) -> Gadget:
    """The value of a vector, exactly, by two ReLUs for each of them (Lemma 38).

    It has no plateau: numbers near a vector give another value.

    Args:
        points: Vectors.
        values: As many.
        along: A direction u such that no two vectors x have the same u · x.

    Raises:
        Refused: If two have.
    """
    exact, u = [rational(x) for x in points], rational(along)
    order = sorted(range(len(exact)), key=lambda i: exact[i] @ u)
    margin = gaps([x @ u for x in exact]) / 2
    stage, output, before = Stage(), Expression(), Fraction(0)
    direction = {i: float(w) for i, w in enumerate(u) if w}
    for i in order:
        share = Fraction(values[i]) / margin - 2 * before
        before += share
        for sign in (1, -1):
            shift = float(sign * margin - exact[i] @ u)
            output.add(
                stage.unit(Expression(dict(direction), shift)), float(sign * share)
            )
    cases = [
        near(x.tolist(), 0, [float(y)]) for x, y in zip(exact, values, strict=True)
    ]
    return as_rounded(gadget("interpolation", [stage], [output], cases))


def component(count: int, most: Number) -> Gadget:
    """Of x(1), …, x(n), from 0 to M, and y in 1..n the number x(y) (Lemma 40, repaired).

    2n units. One says −M(y − 1), which stands outside of the units that are printed; the
    last of those is always 0, and left out.

    Args:
        count: n.
        most: M.
    """
    stage, output, largest = Stage(), Expression(), round_up(most)
    for i in range(count):
        for shift, sign in ((i + 1, 1.0), (i + 2, -1.0)):
            if shift <= count:
                inside = Expression({i: 1.0, count: largest}, -largest * shift)
                output.add(stage.unit(inside), sign)
    output.add(stage.unit(Expression({count: 1.0}, -1.0)), -largest)
    box = [(0, most)] * count
    cases = [
        between([*box, (y, y)], [*unit_column(y - 1, count), [0]], [0])
        for y in range(1, count + 1)
    ]
    return gadget("component", [stage], [output], cases)


def place(count: int, least: Number, most: Number) -> Gadget:
    """Of n numbers, all but one of which are 0, the place of that one (Lemma 41, repaired).

    Args:
        count: n.
        least: M, the least that it is.
        most: The most that it is.
    """
    stage, output = Stage(), Expression()
    slope = 2.0 ** ceil(-log2(least))
    for i in range(count):
        inside = {i: slope}
        for shift, sign in ((0.0, 1.0), (-1.0, -1.0)):
            output.add(stage.unit(Expression(dict(inside), shift)), sign * (i + 1))
    boxes = [
        [(0, 0)] * i + [(least, most)] + [(0, 0)] * (count - 1 - i)
        for i in range(count)
    ]
    cases = [between(box, [[0]] * count, [i]) for i, box in enumerate(boxes, start=1)]
    return gadget("place", [stage], [output], cases)


def chosen_network(
    networks: Sequence[Gadget], box: Sequence[tuple[Number, Number]]
) -> Gadget:
    """Of y in 1..K and x what network y says of x (Lemma 42, repaired).

    Args:
        networks: Of one output, with one hidden layer of ReLUs and the same inputs.
        box: The least and the greatest of each input.

    Raises:
        Refused: If a network has another form.
    """
    return as_rounded(gated(networks, box, 2))


def gated(
    networks: Sequence[Gadget], box: Sequence[tuple[Number, Number]], factor: int
) -> Gadget:
    """The same with gates of a width: y moves units by so often what none exceeds.

    A unit of another network is closed or saturated. The constants that saturated ones
    leave are functions of y, which a unit for each y takes back.
    """
    fit = all(len(n.layers) == 2 and len(n.layers[1].bias) == 1 for n in networks)
    demand(fit, "networks to choose from have one hidden layer and one output")
    most = round_up(max(_largest(n, box) for n in networks))
    stage, output = Stage(), Expression()
    taken_back, before = list[Fraction](), Fraction(0)
    for k, network in enumerate(networks, start=1):
        (weight, bias), (out, added) = ((a.weight, a.bias) for a in network.layers)
        for i, amount in enumerate(out[:, 0].tolist()):
            inside = Expression({0: factor * most}, float(bias[i]) - factor * most * k)
            inside.terms |= {j + 1: float(w) for j, w in enumerate(weight[:, i]) if w}
            less = Expression(dict(inside.terms), inside.constant - most)
            output.add(stage.unit(inside), amount).add(stage.unit(less), -amount)
        steps = sum(c * (k - i) for i, c in enumerate(taken_back))
        taken_back.append(Fraction(float(added[0])) - before - steps)
        before += Fraction(most) * sum(map(Fraction, out[:, 0].tolist()))
    for k, amount in enumerate(taken_back):
        output.add(stage.unit(Expression({0: 1.0}, -float(k))), float(amount))
    cases = [
        _of_network(k, network, box) for k, network in enumerate(networks, start=1)
    ]
    return gadget("one of several networks", [stage], [output], cases)


def _largest(network: Gadget, box: Sequence[tuple[Number, Number]]) -> Fraction:
    """What no unit exceeds, in absolute value."""
    layer = network.exact.layers[0]
    low, high = rational(box).reshape(-1, 2).T
    middle, half = (high + low) / 2, (high - low) / 2
    return Fraction(
        max(abs(middle @ layer.weight + layer.bias) + half @ abs(layer.weight))
    )


def _of_network(k: int, network: Gadget, box: Sequence[tuple[Number, Number]]) -> Case:
    whole = between([(k, k), *box], [[0]] * (len(box) + 1), [0])
    first, last = network.exact.layers
    weight = np.vstack([rational([[0] * len(first.bias)]), first.weight])
    wanted: Layers = (Affine(weight, first.bias, first.runs), last)
    return Case(whole.low, whole.high, wanted)
