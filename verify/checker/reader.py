"""What readers see of a stream that passes a LayerNorm (docs/soundness.md, section 6a)."""

from dataclasses import dataclass

import numpy as np

from krohn.verify.checker.affine_arithmetic import snaps
from krohn.verify.checker.arithmetic import INFLATION, Format
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
        gain: What queries, and scores that are stored, are larger than the file's times.
    """

    form: Format
    shrink: float
    mean: float
    relative: float
    absolute: float
    gain: float

    def apart(self, code: FloatArray, noise: FloatArray) -> FloatArray:
        """How far what is read can be from the stream itself, which is near a code."""
        read = self.off(code, noise)
        return np.asarray(
            np.minimum(read + noise, self._moved(code, noise) * INFLATION)
        )

    def off(self, code: FloatArray, noise: FloatArray) -> FloatArray:
        """How far what is read can be from codes that the stream is near (L2, L3)."""
        common = self._common(code, noise)
        own = self.summed(np.abs(code) + noise + common)
        return np.asarray((common + own) * INFLATION)

    def own(self, code: FloatArray, noise: FloatArray) -> FloatArray:
        """How much of it each reader has by itself: its sums, its weight at ground (L3)."""
        size = np.abs(code) + noise + self._common(code, noise)
        return np.asarray(self.summed(size) * INFLATION)

    def _common(self, code: FloatArray, noise: FloatArray) -> FloatArray:
        """How far what LayerNorm leaves can be from codes, for all readers alike (L2)."""
        form, size = self.form, np.abs(code) + noise
        off = noise + self._moved(code, noise)
        if form.unit > form.sum_unit:
            before = noise + self.shrink * size + self._rounded(size) + self.mean
            held = snaps(code, before, form) & (code != 0)
            off = np.where(held, np.minimum(self.mean, off), off)
        return np.asarray(off)

    def summed(self, size: FloatArray) -> FloatArray:
        """What a term more is worth in a sum, for each unit of such a number."""
        return np.asarray(self.relative * size + self.absolute)

    def _rounded(self, size: FloatArray) -> FloatArray:
        return np.asarray(4 * self.form.sum_unit * (size + self.mean))

    def _moved(self, code: FloatArray, noise: FloatArray) -> FloatArray:
        """How far LayerNorm and a store move a number, less ground (L2)."""
        form, size = self.form, np.abs(code) + noise
        around = self._rounded(size)
        off = self.shrink * size + around + 4 * form.sum_unit * self.mean
        if form.unit > form.sum_unit:
            off += form.unit * (size * (1 + self.shrink) + 2 * self.mean + around)
            off += 2 * form.unit * form.smallest
        return np.asarray(off)
