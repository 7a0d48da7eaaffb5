"""Position features: the content of the position table."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from krohn.compiler.attention_scales import (
    PositionCode,
    count_scores,
    feature_scale,
    mark_scores,
    spread,
)
from krohn.network.precision import FloatArray, Precision
from krohn.program import Operation
from krohn.program.domains import IntArray
from krohn.program.operations.block_sum import members

FEATURES = (
    *("one", "bos", "code", "index", "square", "count", "marked", "bits", "block"),
    "asked",
)
"""All of them, in the order in which they lie."""


@dataclass(frozen=True)
class Positions:
    """The position features that a Program needs.

    Attributes:
        length: T.
        precision: The format they will be stored in.
        code: The position code of its look-backs, if it has any.
        fetched: The largest value that operations of each kind fetch, among operations that
            look at other positions.
        needed: The features that their heads read.
        uniform: Whether weights must not depend on the length.
        marks: The flags, position by position, by which its marked sums choose.
        spread: Whether the index of a position is a number on either side of 0, of
            which a format holds more, and not the position itself.
        blocks: For each way in which linear heads add up a block the size of blocks, and
            the number of the block meant at each position.
    """

    length: int
    precision: Precision
    code: PositionCode | None
    fetched: Mapping[type[Operation], int]
    needed: frozenset[str]
    uniform: bool = False
    marks: tuple[tuple[int, ...], ...] = ()
    spread: bool = False
    blocks: tuple[tuple[int, tuple[int, ...]], ...] = ()

    @cached_property
    def sizes(self) -> Mapping[str, int]:
        """How many dimensions each feature has."""
        wide = {
            "code": self.code.dimensions if self.code else 0,
            "marked": len(self.marks),
            "bits": self.bits,
            "block": sum(self.block_counts.values()),
            "asked": sum(self.block_counts[size] + 1 for size, _ in self.blocks),
        }
        return {name: wide.get(name, 1) for name in FEATURES if name in self.needed}

    def table(self) -> dict[str, FloatArray]:
        """Each feature at positions 0..T, ``(T + 1, size)``."""
        t = np.arange(self.length + 1, dtype=np.float64)
        whole = {
            "one": np.ones((len(t), 1)),
            "bos": (t == 0).astype(np.float64)[:, None],
            "index": self._index(t)[:, None],
            "square": (t - self.length // 2)[:, None] ** 2,
            "count": count_scores(self.length)[:, None],
        }
        digits = (t[:, None].astype(np.int64) >> np.arange(self.bits)) & 1
        whole["bits"] = (2.0 * digits - 1.0) * (t > 0)[:, None]
        if self.marks:
            whole["marked"] = np.stack([mark_scores(m) for m in self.marks], axis=1)
        if self.blocks:
            counts = self.block_counts.items()
            own = [(-(-t // size), count) for size, count in counts]
            whole["block"] = np.hstack([_unit(x, count) for x, count in own])
            whole["asked"] = np.hstack(
                [self._block_asked(*each) for each in self.blocks]
            )
        if self.code:
            # BOS is found by the sink alone, so its code is empty.
            whole["code"] = self.code.vectors(t) * (t > 0)[:, None]
        return {name: whole[name] for name in self.sizes}

    def _index(self, t: FloatArray) -> FloatArray:
        if not self.spread:
            return t
        return spread((self.length + 1) // 2, self.precision)[: self.length + 1]

    def _block_asked(self, size: int, numbers: tuple[int, ...]) -> FloatArray:
        """The block that is meant, as a unit vector; then the weight of BOS, before φ."""
        t, number = np.arange(self.length + 1), np.array(numbers)
        present = members(number, t, size).sum(axis=1)
        filler = np.full(len(t), -feature_scale(self.precision))
        filler[present < size] = np.log1p(-present[present < size] / size)
        return np.column_stack([_unit(number, self.block_counts[size]), filler])

    @cached_property
    def block_counts(self) -> Mapping[int, int]:
        """How many blocks of each size there are."""
        return {size: -(-self.length // size) for size, _ in self.blocks}

    @property
    def block_entries(self) -> int:
        """How many entries queries and keys of linear heads have."""
        return max(self.block_counts.values()) + 1

    def block_place(self, size: int) -> int:
        """Where the number of the own block of a size stands in its feature."""
        before = list(self.block_counts)[: list(self.block_counts).index(size)]
        return sum(self.block_counts[each] for each in before)

    def asked_by(self, numbers: tuple[int, ...], size: int) -> int:
        """Where the number of the block that is meant stands in its feature."""
        before = self.blocks[: self.blocks.index((size, numbers))]
        return sum(self.block_counts[each] + 1 for each, _ in before)

    @property
    def bits(self) -> int:
        """How many binary digits of positions heads compare; 0 if none does."""
        return self.length.bit_length() if "bits" in self.needed else 0

    @property
    def horizon(self) -> int:
        """The longest word that the temperature of look-backs is chosen for."""
        return 2**self.precision.digits if self.uniform else self.length


def _unit(numbers: FloatArray | IntArray, count: int) -> FloatArray:
    """``(positions, count)``: unit vectors of 1, …, count; 0 is the zero vector."""
    return np.eye(count + 1)[numbers.astype(np.int64), 1:]
