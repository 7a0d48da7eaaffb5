"""How far off a gadget is at most: by its pieces in fractions, and bounds for GeLUs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from krohn.instruments.gadgets.pieces import RATIONALS, hull_of, pieces, trim
from krohn.instruments.gadgets.record import (
    Case,
    Gadget,
    Product,
    rational,
)
from krohn.network.meaning.net import Affine
from krohn.network.meaning.rationals import Rationals
from krohn.program.errors import KrohnError, demand

GELU_GAP = Fraction(17, 100)
"""No GeLU is further from its ReLU (Lemma 8b of docs/proofs/arithmetic.md)."""
ROUNDING = Fraction(1, 2**40)
"""How far off, beside its largest weight, a gadget is whose weights had to be rounded."""
ROOTS = tuple(Fraction(2506628274631000502415765284811 + i, 10**30) for i in (0, 1))
"""√(2π) lies between them."""


@dataclass(frozen=True)
class Deviation:
    """How far off a gadget is at most.

    Attributes:
        error: No output is further off, for no input of any case.
        inputs: Where an output is off by as much; with GeLUs, where the ReLUs are.
        output: What the gadget says there.
        wanted: What is right there.
    """

    error: Fraction
    inputs: Rationals
    output: Rationals
    wanted: Rationals


class TooFarOff(KrohnError):
    """A gadget is further off than it may be.

    Attributes:
        found: Where.
    """

    def __init__(self, gadget: Gadget, found: Deviation) -> None:
        at, said, right = (
            ", ".join(map(str, each))
            for each in (found.inputs, found.output, found.wanted)
        )
        super().__init__(
            f"{gadget.name} says ({said}) at ({at}), where ({right}) is right"
        )
        self.found = found


def certify(gadget: Gadget) -> Deviation:
    """How far off a gadget is at most, where that is no more than it may be.

    Raises:
        TooFarOff: With a counterexample.
        Refused: If it has other units, or too many inputs are read by one output.
    """
    found = largest_deviation(gadget)
    if found.error > gadget.error:
        raise TooFarOff(gadget, found)
    return found


def as_rounded(gadget: Gadget) -> Gadget:
    """A gadget with the error that comes of rounding its weights to floats, and no more.

    Raises:
        Refused: If it is off by more.
    """
    found = largest_deviation(gadget)
    least = ROUNDING * max(
        1, *(abs(x) for each in gadget.exact.arrays for x in each.flat)
    )
    demand(found.error <= least, f"the numbers of {gadget.name} are too far apart")
    return replace(gadget, error=found.error)


def largest_deviation(gadget: Gadget) -> Deviation:
    """How far off a gadget is at most, over all real inputs of all cases.

    Raises:
        Refused: If it has other units, or too many inputs are read by one output.
    """
    if isinstance(gadget, Product):
        return _of_product(gadget)
    smooth = curved(gadget)
    exact = with_relus(gadget).exact
    worst: Deviation | None = None
    for case in gadget.cases:
        for output, bend in enumerate(smooth):
            off, x = _worst(exact, case, output)
            if worst is None or off + bend > worst.error:
                wanted = replace(exact, layers=case.wanted, kept=None)(x, RATIONALS)
                worst = Deviation(off + bend, x, exact(x, RATIONALS), wanted)
    assert worst is not None
    return worst


def _of_product(gadget: Product) -> Deviation:
    """The bound on a product by four GeLU units (Lemma W3, proofs/linear_systems.md).

    With c = √(2π)·λ²/8 exactly they say ab − θ·ab(a² + b²)/(3λ²), θ in [0, 1], for r and
    q of the proof of the Lemma rise with |x|. Another c is off by its share of that.

    Raises:
        Refused: If the units are not those.
    """
    first, last = gadget.exact.layers
    w, c = abs(first.weight[0, 0]), abs(last.weight[0, 0])
    signs = [tuple(int(x / w) for x in row) for row in first.weight.T]
    demand(
        sorted(signs) == sorted(product((-1, 1), repeat=2)), "a product has other units"
    )
    demand(abs(first.weight) == w, "a product has units of several scales")
    demand(first.runs == (("gelu", 4),), "a product has four GeLUs")
    right = [a * b * c for a, b in signs]
    demand(last.weight[:, 0] == right, "a product has other weights")
    demand([*first.bias, *last.bias] == [0] * 5, "a product has no biases")
    share = max(abs(8 * c * w * w / root - 1) for root in ROOTS)
    size = gadget.largest**2
    curve = 2 * size * size * w * w / 3
    corner = rational([gadget.largest] * 2)
    said = rational(gadget(corner.astype(np.float64)))
    return Deviation(curve * (1 + share) + share * size, corner, said, rational([size]))


def with_relus(gadget: Gadget) -> Gadget:
    """The same with a ReLU in place of each GeLU."""
    runs = [(("relu", len(each.bias)),) for each in gadget.layers[:-1]]
    changed = zip(gadget.layers, [*runs, ()], strict=True)
    return replace(gadget, layers=tuple(replace(a, runs=of) for a, of in changed))


def curved(gadget: Gadget) -> list[Fraction]:
    """How far each output may be from that of ReLUs, as some units are GeLUs.

    max(z, 0) − g(z) is the same at −z, at most 0.17, and never negative. So units that
    read the same up to the sign count by the sum of what they are multiplied with. What
    a layer is off passes through the ReLUs above it, whose slopes are at most 1.

    Raises:
        Refused: If a unit is neither a ReLU nor a GeLU.
    """
    off = [Fraction(0)] * len(gadget.layers[0].weight)
    bends: list[Fraction] = []
    inside: list[tuple[Any, ...]] = []
    for layer in gadget.exact.layers:
        passed = (
            off @ abs(layer.weight) if any(off) else [Fraction(0)] * len(layer.bias)
        )
        off = [a + b for a, b in zip(passed, _bend(inside, bends, layer), strict=True)]
        kinds = [name for name, count in layer.runs for _ in range(count)]
        demand({*kinds} <= {"relu", "gelu"}, "a gadget has ReLUs and GeLUs")
        rows = zip(layer.weight.T, layer.bias, strict=True)
        inside = [_up_to_sign((*w, b)) for w, b in rows]
        bends = [GELU_GAP * (kind == "gelu") for kind in kinds]
    return off


def _bend(
    inside: Sequence[tuple[Any, ...]],
    bends: Sequence[Fraction],
    layer: Affine[Rationals],
) -> list[Fraction]:
    """What the GeLUs below a layer add to how far its sums are off."""
    if not any(bends):
        return [Fraction(0)] * len(layer.bias)
    groups: dict[tuple[Any, ...], Any] = {}
    for key, bend, row in zip(inside, bends, layer.weight, strict=True):
        groups[key] = groups.get(key, 0) + bend * row
    return list(sum(abs(total) for total in groups.values()))


def _up_to_sign(row: tuple[Any, ...]) -> tuple[Any, ...]:
    first = next((x for x in row if x), Fraction(0))
    return row if first > 0 else tuple(-x for x in row)


def _worst(gadget: Gadget, case: Case, output: int) -> tuple[Fraction, Rationals]:
    """How far off an output is at most in a case, and where."""
    (layers, reads), (wanted, needs) = (
        trim(each, [output]) for each in (gadget.layers, case.wanted)
    )
    kept = None if gadget.kept is None else gadget.kept[:, output]
    rows = [row for row, _ in case.above] + ([] if kept is None else [kept])
    more = [i for row in rows for i in np.flatnonzero(row)]
    used = np.array(sorted({*reads, *needs, *more}), dtype=np.int64)
    worst, where, at = Fraction(-1), case.low.copy(), len(used)
    for x, said in pieces(layers, hull_of(case, used), np.searchsorted(used, reads)):
        both = x.beside(said)
        for y, right in pieces(wanted, both, np.searchsorted(used, needs)):
            off = y.corners[:, at] - right[:, 0]
            if kept is not None:
                off = off + y.corners[:, :at] @ kept[used]
            far = int(np.argmax(abs(off)))
            if abs(off[far]) > worst:
                worst, where[used] = abs(off[far]), y.corners[far, :at]
    demand(worst >= 0, "a case of a gadget has no inputs")
    return worst, where
