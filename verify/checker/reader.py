"""A stream behind a LayerNorm, as its readers see it (docs/proofs/gpt2.md)."""

from dataclasses import dataclass

import numpy as np

from krohn.verify.checker.affine_arithmetic import snaps
from krohn.verify.checker.arithmetic import Format, Interval
from krohn.verify.checker.model_file import FloatArray


@dataclass(frozen=True)
class Reader:
    """How far entries of the stream, less ground, are off where they are read.

    Attributes:
        form: The format that is computed in.
        shrink: How far the common factor s of a position can be from 1.
        mean: What ground can hold in absolute value after LayerNorm.
        relative: What sums over one more term are off by, for each unit that they read.
        absolute: The same that does not depend on what is read.
    """

    form: Format
    shrink: float
    mean: float
    relative: float
    absolute: float

    def apart(self, code: FloatArray, noise: FloatArray) -> FloatArray:
        """How far what is read can be from the stream itself, which is near a code."""
        read = Interval.of(self.off(code, noise)) + noise
        return read.minimum(self._bound_shift(code, noise)).high

    def off(self, code: FloatArray, noise: FloatArray) -> FloatArray:
        """How far what is read can be from codes that the stream is near (L2, L3)."""
        common = self._common(code, noise)
        return (common + self.bound_term_error(np.abs(code) + (noise + common))).high

    def bound_own_error(self, code: FloatArray, noise: FloatArray) -> FloatArray:
        """How much of it each reader has by itself: its sums, its weight at ground (L3)."""
        return self.bound_term_error(
            np.abs(code) + (noise + self._common(code, noise))
        ).high

    def _common(self, code: FloatArray, noise: FloatArray) -> Interval:
        """How far what LayerNorm leaves can be from codes, for all readers alike (L2)."""
        form, size = self.form, Interval.of(np.abs(code)) + noise
        off = noise + self._bound_shift(code, noise)
        if form.narrow:
            before = noise + self.shrink * size + self._bound_rounding(size) + self.mean
            snapped = snaps(code, before.high, form) & (code != 0)
            off = off.each(lambda x: np.where(snapped, np.minimum(self.mean, x), x))
        return off

    def bound_term_error(self, size: Interval) -> Interval:
        """The error of one more term of a sum, for each unit of such a number."""
        return self.relative * size + self.absolute

    def _bound_rounding(self, size: Interval) -> Interval:
        return 4 * self.form.sum_unit * (size + self.mean)

    def _bound_shift(self, code: FloatArray, noise: FloatArray) -> Interval:
        """How far LayerNorm and a store move a number, less ground (L2)."""
        form, size = self.form, Interval.of(np.abs(code)) + noise
        around, mean = self._bound_rounding(size), Interval.of(self.mean)
        off = self.shrink * size + around + 4 * form.sum_unit * mean
        if form.narrow:
            before = size * (1 + Interval.of(self.shrink)) + 2 * mean + around
            off += form.unit * (before + 2 * form.smallest)
        return off
