"""Softmax heads by the worst arithmetic that A1 to A9 of docs/soundness.md allow.

Kernels go through keys in any order, in blocks of any size, in parts that are joined in
the end; they make exponents in any of the ways of A7, divide before or after they add
up, and their exponentials are off by all that A6 allows, to the side that hurts.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from krohn.network.precision import PRECISIONS, FloatArray
from krohn.program.domains import BoolArray, IntArray
from krohn.verify.checker.arithmetic import AT_ZERO, NEAR_ZERO, Format

LOG2E = np.float32(np.log2(np.e))
DIFFERENCE, PRODUCTS, FUSED = "difference", "products", "fused"


@dataclass(frozen=True)
class Kernel:
    """One row of softmax attention in binary32, its result stored in a format.

    Attributes:
        form: The format, not float64.
        order: ``(n,)``: the keys in the order in which they are gone through.
        block: How many keys at a time.
        parts: How many parts of the order have a maximum of their own.
        exponent: How exponents are made (A7).
        up: ``(n,)``: whose exponential is too large; those of others are too small.
        rescale: By what part of the error of A6 rescalings are off, from −1 to 1.
        early: Whether weights are divided by their sum before they multiply values.
        reciprocal: Whether a quotient is a product with a reciprocal.
    """

    form: Format
    order: IntArray
    block: int
    parts: int
    exponent: str
    up: BoolArray
    rescale: float
    early: bool = False
    reciprocal: bool = False

    def mean(self, scores: FloatArray, values: FloatArray) -> FloatArray:
        """``(columns,)``: what is stored, of scores ``(n,)`` and ``(n, columns)`` values.

        Scores are as they were computed, in binary32.
        """
        scores, values = scores.astype(np.float32), values.astype(np.float32)
        found = [
            self._part(part, scores, values)
            for part in np.array_split(self.order, self.parts)
            if len(part)
        ]
        top, total, whole = found[0]
        for other, more, rest in found[1:]:
            most = max(top, other)
            ours, theirs = (self._rescaled(x, most) for x in (top, other))
            total = np.float32(total * ours[0] + more * theirs[0])
            whole = whole * ours[1] + rest * theirs[1]
            top = most
        if self.early:
            _, weighed = self._weights(self.order, scores, top)
            weights = self._quotient(weighed, total)
            weights = self._stored(weights) if self.form.narrow else weights
            return self._stored(_added(weights[:, None] * values[self.order]))
        return self._stored(self._quotient(whole, total))

    def _part(
        self, order: IntArray, scores: FloatArray, values: FloatArray
    ) -> tuple[np.float32, np.float32, FloatArray]:
        """The maximum of some keys, the sum of their weights, and of values by these."""
        top, total = np.float32(-np.inf), np.float32(0)
        whole = np.zeros(values.shape[1], np.float32)
        for first in range(0, len(order), self.block):
            keys = order[first : first + self.block]
            most = max(top, np.float32(scores[keys].max()))
            if np.isfinite(top):
                below, above = self._rescaled(top, most)
                total, whole = np.float32(total * below), whole * above
            top = most
            summed, weighed = self._weights(keys, scores, top)
            if self.form.narrow:
                weighed = self._stored(weighed)
            total = _added(np.append(total, summed))
            whole = _added(np.vstack([whole, weighed[:, None] * values[keys]]))
        return top, total, whole

    def _weights(
        self, keys: IntArray, scores: FloatArray, top: np.float32
    ) -> tuple[FloatArray, FloatArray]:
        """As they are added up, and as they multiply values: in 16 bits others (A8)."""
        x = self._exponents(scores[keys], top, self.exponent)
        weighed = self._exponentials(x, np.where(self.up[keys], 1.0, -1.0))
        if not self.form.narrow:
            return weighed, weighed
        return self._exponentials(x, -self.rescale), weighed

    def _rescaled(
        self, top: np.float32, most: np.float32
    ) -> tuple[np.float32, np.float32]:
        """By what sums are multiplied when their maximum moves, 1 if it stays (A8)."""
        if top == most:
            return np.float32(1), np.float32(1)
        way = self.exponent if self.exponent == DIFFERENCE else PRODUCTS
        x = self._exponents(np.array([top]), most, way)
        above = np.float32(self._exponentials(x, self.rescale)[0])
        if not self.form.narrow:
            return above, above
        return np.float32(self._exponentials(x, -self.rescale)[0]), above

    @staticmethod
    def _exponents(scores: FloatArray, top: np.float32, way: str) -> FloatArray:
        """``scores - top`` in binary32, as a kernel makes it (A7)."""
        if way == DIFFERENCE:
            return np.asarray((scores - top).astype(np.float64))
        exact = scores.astype(np.float64) * float(LOG2E)
        first = exact if way == FUSED else (scores * LOG2E).astype(np.float64)
        power = np.float32(first - np.float64(top * LOG2E))
        return np.asarray(power.astype(np.float64) / np.log2(np.e))

    def _exponentials(self, x: FloatArray, part: FloatArray | float) -> FloatArray:
        """e^x in binary32, off by a part of what A6 allows, and never by more."""
        xi = np.full(x.shape, self.form.exponential)
        if self.form.narrow:
            xi = np.where(np.abs(x) <= NEAR_ZERO, AT_ZERO, xi)
        right = np.exp(x)
        found = (right * (1 + part * xi)).astype(np.float32)
        back = np.nextafter(found, right.astype(np.float32))
        beyond = np.abs(found - right) > xi * right * (1 - 2.0**-40)
        return np.asarray(np.where(beyond, back, found))

    def _quotient(self, x: FloatArray, by: np.float32) -> FloatArray:
        if self.reciprocal:
            return np.asarray(x * (np.float32(1) / by))
        return np.asarray(x / by)

    def _stored(self, x: FloatArray) -> FloatArray:
        found = PRECISIONS[self.form.name].round(x.astype(np.float64))
        return np.asarray(found.astype(np.float32))


def _added(terms: FloatArray) -> FloatArray:
    """Their sum along the first axis, from the first to the last, in binary32."""
    return np.asarray(np.add.accumulate(terms, axis=0)[-1])


def orders(n: int, rng: np.random.Generator) -> Iterator[tuple[IntArray, int]]:
    """Orders of n keys with sizes of blocks: forwards, backwards, by blocks, by chance."""
    forwards = np.arange(n)
    for size in (1, 2, 16, n):
        blocks = [forwards[i : i + size] for i in range(0, n, size)]
        yield forwards, size
        yield np.concatenate(blocks[::-1]), size
        yield np.concatenate([blocks[i] for i in rng.permutation(len(blocks))]), size
        yield rng.permutation(n), size
    # FlashAttention-2 cuts blocks from the first key on, and begins with the last one.
    yield forwards[::-1], 1


def kernels(
    n: int, form: Format, up: BoolArray, rng: np.random.Generator
) -> Iterator[Kernel]:
    """Many kernels for n keys; in 16 bits a maximum moves no oftener than A8 says.

    Args:
        n: How many keys there are.
        form: The format.
        up: ``(n,)``: whose exponentials are too large.
        rng: Chooses orders.
    """
    for order, block in orders(n, rng):
        if form.narrow and block < 16:
            continue
        for exponent, rescale in product((DIFFERENCE, PRODUCTS, FUSED), (-1.0, 1.0)):
            parts = 1 if form.narrow else int(rng.integers(1, 4))
            early, reciprocal = (bool(x) for x in rng.integers(0, 2, 2))
            yield Kernel(
                form, order, block, parts, exponent, up, rescale, early, reciprocal
            )
