"""Evidence of Elman networks, LSTMs and GRUs for the kernel: boxes or parallelotopes.

The searches are those of the checker in Python, with the errors of the kernel's arithmetic.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from krohn.architectures.gated import find_parallelotopes as parallelotopes
from krohn.architectures.gated.check import (
    NOISES,
    Cell,
    Letters,
    Nodes,
    open_network,
)
from krohn.architectures.gated.check_affine_forms import (
    SIGMOID,
    TANH,
    AffineForm,
    Curve,
    join_forms,
)
from krohn.architectures.gated.find import CellBoxes
from krohn.program.domains import FloatArray, IntArray
from krohn.program.errors import Refused
from krohn.verify.checker.arithmetic import Interval
from krohn.verify.checker.model_file import Machine, Model
from krohn.verify.checker.simulation import decode_array, machine_of
from krohn.verify.errors import WrongWord
from krohn.verify.search.boxes import Unsettled

UNIT, TURN, TOGETHER = 2.0**64, 48, 64
"""Bounds are whole numbers in units of 2^-64, entries of matrices in units of 2^-48; so
many parallelotopes are followed together."""
OFF, ROUNDED = 2.0**-27, 2.0**-58
"""More than the kernel's exponentials make gates wider, and than its units do sums."""


@dataclass(frozen=True)
class Line:
    """A curve as the kernel bounds it: along a line through its middle.

    Attributes:
        value: The curve.
        slope: Its slope where it has a value.
        peak: The value where it is steepest.
    """

    value: Callable[[FloatArray], FloatArray]
    slope: Callable[[FloatArray], FloatArray]
    peak: float

    def secant(self, bounds: Interval) -> FloatArray:
        """The middle of all slopes; 0 where the ends alone bound it as well."""
        return self._line(bounds)[0]

    def beside(self, bounds: Interval, slope: FloatArray) -> Interval:
        """What is left of the line."""
        _, plain, off = self._line(bounds)
        low, high = self.value(bounds.low), self.value(bounds.high)
        middle = bounds.low / 2 + bounds.high / 2
        at = self.value(middle) - slope * middle
        ends = np.where(plain, low, at - off), np.where(plain, high, at + off)
        return Interval(*ends).wider(OFF)

    def _line(self, bounds: Interval) -> tuple[FloatArray, Any, FloatArray]:
        low, high = self.value(bounds.low), self.value(bounds.high)
        ends = self.slope(low), self.slope(high)
        least, most = np.minimum(*ends), np.maximum(*ends)
        steepest = self.slope(np.array(self.peak))
        most = np.where((low <= self.peak) & (self.peak <= high), steepest, most)
        off = (most - least) * (bounds.high - bounds.low) / 4
        plain = high - low <= 2 * off
        return np.where(plain, 0.0, least / 2 + most / 2), plain, off


LINES = {
    id(SIGMOID): Line(SIGMOID.value, lambda y: y * (1 - y), 0.5),
    id(TANH): Line(TANH.value, lambda y: 1 - y * y, 0.0),
}


class KernelCell(Cell):
    """A cell with the errors of the kernel's arithmetic, or a little more."""

    def off(self, size: Any, count: int) -> FloatArray:
        """What sums of so many terms are off by at most, wherever they are stored."""
        form = self.form
        high = np.asarray(Interval.of(size).size) * (1 + 2.0**-20)
        lowest = max(
            round(-np.log2(form.sum_unit)) - 63,
            round(np.log2(form.smallest)) + form.digits + 1,
        )
        unit = form.sum_unit + (form.unit if form.narrow else 0.0)
        power = np.maximum(np.where(high > 0, np.frexp(high)[1], lowest), lowest)
        for _ in range(2):
            found = count * np.ldexp(unit, power)
            power = power + (high + found > np.ldexp(1.0, power))
        return np.asarray(count * np.ldexp(unit, power))

    def affine(
        self,
        held: AffineForm,
        weight: FloatArray,
        *added: FloatArray,
        letters: Letters | None = None,
    ) -> AffineForm:
        """Sums of products with what is remembered."""
        value, count = held @ weight, len(added)
        size = abs(held.bounds) @ np.abs(weight)
        if letters is not None:
            value, size = value + letters.value, size + letters.size
            count += letters.terms
        for each in added:
            value, size = value + each, size + np.abs(each)
        count += int((weight != 0).sum(axis=0).max(initial=0))
        return value.wider(self.off(size, count) + ROUNDED)

    def store_memory(self, found: AffineForm, size: Interval) -> AffineForm:
        """A sum of two products at most, which is stored once more."""
        return found.wider(self.off(size, 3) + ROUNDED)

    def gate(self, x: AffineForm, curve: Curve) -> AffineForm:
        """The value of a gate at a sum."""
        line: Any = LINES[id(curve)] if len(x.slopes) else curve
        off = OFF + 8 * self.form.sum_unit + self.off(1.0, 1)
        return x.through(line).wider(off)

    def _lstm(self, held: AffineForm, gates: list[AffineForm]) -> AffineForm:
        n = len(self.weight)
        c = held.columns(n, 2 * n)
        i, f, o = (self.gate(gates[at], SIGMOID) for at in (0, 1, 3))
        g = self.gate(gates[2], TANH)
        size = abs(f.bounds) * abs(c.bounds) + abs(i.bounds) * abs(g.bounds)
        c = self.store_memory(f * c + i * g, size)
        squashed = self.gate(c, TANH)
        size = abs(o.bounds) * abs(squashed.bounds)
        return join_forms([self.store_memory(o * squashed, size), c], axis=-1)

    def _gru(self, h: AffineForm, gates: list[AffineForm]) -> AffineForm:
        """Both forms of the last sum: the kernel has one form for what either holds."""
        n = len(self.weight)
        r, z = (self.gate(x, SIGMOID) for x in gates[:2])
        inside = self.affine(h, self.weight[:, 2 * n :], self.bias[1, 2 * n :])
        letter, bias = self.letters.value[:, 2 * n :], self.bias[0, 2 * n :]
        size = abs(r.bounds) * abs(inside.bounds) + self.letters.size[:, 2 * n :]
        reset = r * inside + (letter + bias)
        off = self.off(size + np.abs(bias), self.letters.terms + 2)
        new = self.gate(reset.wider(off + ROUNDED), TANH)
        one = (-z + 1.0).wider(self.off(abs(z.bounds) + 1.0, 2))
        size = abs(one.bounds) * abs(new.bounds) + abs(z.bounds) * abs(h.bounds)
        mixed = self.store_memory(one * new + z * h, size)
        apart = (h - new).wider(self.off(abs(h.bounds) + abs(new.bounds), 2))
        size = abs(new.bounds) + abs(z.bounds) * abs(apart.bounds)
        other = self.store_memory(new + z * apart, size)
        more = np.abs(other.slopes - mixed.slopes).sum(axis=0)
        return AffineForm(mixed.base.join_with(other.base.wider(more)), mixed.slopes)


def find_evidence(model: Model) -> dict[str, Any]:
    """Sets of what is remembered, and where letters lead from each.

    Raises:
        Refused: If none are found.
    """
    opened = open_network(model)
    cell = KernelCell(**{f.name: getattr(opened, f.name) for f in fields(Cell)})
    machine = machine_of(model, None, cell.reads)
    try:
        return {"nodes": list(_nodes(cell, machine))}
    except WrongWord as wrong:
        raise Refused("the network is wrong on a word") from wrong


def _nodes(cell: KernelCell, machine: Machine) -> Iterator[Any]:
    boxes, small = CellBoxes(cell, machine), cell.first.shape[-1]
    try:
        boxes.close()
        settled = boxes.certain or small > parallelotopes.LARGEST
    except Unsettled:
        if small > parallelotopes.LARGEST:
            raise
        settled = False
    return _of_boxes(boxes) if settled else _of_parallelotopes(cell, machine)


def _of_boxes(boxes: CellBoxes) -> Iterator[Any]:
    each = zip(boxes.low, boxes.high, boxes.states, boxes.edges, strict=True)
    for low, high, state, edges in each:
        yield [{"box": _bounds(low, high)}, state, edges]


def _bounds(low: FloatArray, high: FloatArray) -> list[list[int]]:
    """Whole numbers around intervals."""
    ends = np.floor(low * UNIT), np.ceil(high * UNIT)
    return [[int(a), int(b)] for a, b in zip(*map(np.ravel, ends), strict=True)]


def _of_parallelotopes(cell: KernelCell, machine: Machine) -> Iterator[Any]:
    said = parallelotopes.find_closure(cell, machine)
    width, ways = cell.first.shape[-1], cell.reads
    states, made = decode_array(said["states"]), decode_array(said["made"])
    edges = decode_array(said["edges"]).reshape(-1, ways)
    low, high = decode_array(said["nodes"], "<f8").reshape(2, -1, width)
    directions = decode_array(said["directions"], "<f4").reshape(-1, width, width)
    own, starts = np.cumsum(made < 0) - 1, np.flatnonzero(made < 0)
    keeps = dict[int, list[bool]]()
    for at in range(0, len(starts), TOGETHER):
        some = slice(at, at + TOGETHER)
        none = np.full(len(starts[some]), -1)
        nodes = Nodes(Interval(low[some], high[some]), directions[some], none)
        form = nodes.parallelotopes(np.arange(len(none)))
        keeps |= _kept(cell, form, starts[some], edges, made)

    def tree(before: int, letter: int) -> Any:
        to = int(edges[before, letter])
        if made[to] != before * ways + letter:
            return int(own[to])
        return [keeps[to], [tree(to, a) for a in range(ways)]]

    for at, node in enumerate(starts.tolist()):
        turn = np.rint(directions[at] * 2.0**TURN)
        back = np.rint(np.linalg.inv(turn * 2.0**-TURN) * 2.0**TURN)
        whole = [[[int(x) for x in row] for row in m] for m in (turn, back)]
        turned = [-TURN, whole[0], -TURN, whole[1], _bounds(low[at], high[at])]
        after = [tree(node, letter) for letter in range(ways)]
        yield [{"turned": turned}, int(states[node]), after]


def _kept(
    cell: KernelCell,
    form: AffineForm,
    numbers: IntArray,
    edges: IntArray,
    made: IntArray,
) -> dict[int, list[bool]]:
    """Which noises each node keeps that letters make, in the kernel's order.

    In that order new noises come first, and then those that are kept.

    Args:
        cell: The network.
        form: ``(nodes, 1, remembered)``: parallelotopes.
        numbers: ``(nodes,)``: theirs.
        edges: Of all nodes.
        made: Of all nodes, what they are made by.
    """
    ways, width = cell.reads, cell.first.shape[-1]
    most, kept = NOISES * width, dict[int, list[bool]]()
    places = np.tile(np.arange(len(form.slopes)), (len(numbers), 1))
    while len(numbers):
        images = cell.after(form).reshape(-1)
        of = (numbers[:, None] * ways + np.arange(ways)).reshape(-1)
        to = edges[numbers].reshape(-1)
        rows = np.flatnonzero(made[to] == of)
        numbers, places = to[rows], places.repeat(ways, axis=0)[rows]
        images = images.rows(rows)
        count = len(images.slopes)
        order = np.tile(np.arange(count)[:, None], len(rows))
        if count > most:
            sizes = np.abs(images.slopes).sum(axis=-1)
            order = np.argsort(-sizes, axis=0, kind="stable")[:most]
        after = np.tile(np.arange(width), (len(rows), 1))
        chosen = np.take_along_axis(places, order.T, axis=1)
        keep = np.zeros((len(rows), count), bool)
        np.put_along_axis(keep, chosen, True, axis=1)
        moved = np.take_along_axis(keep.cumsum(axis=1) - 1, chosen, axis=1)
        places = np.hstack([width + moved, after])
        kept |= {
            number: [] if row.all() else [bool(x) for x in row]
            for number, row in zip(numbers.tolist(), keep, strict=True)
        }
        form = images.fewer(most).with_noises().reshape(len(rows), 1)
    return kept
