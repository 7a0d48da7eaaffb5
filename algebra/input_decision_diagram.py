"""Vectors of input bits as letters: a binary decision diagram (Bryant, 1986).

A circuit of 20 input bits has a million input vectors, of which most act alike. The
letters of its machine are the classes of vectors that act alike; the diagram says which
vector is of which class.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from krohn.algebra.errors import MachineError
from krohn.algebra.semiautomaton import IntArray

Node = tuple[int, int, int]
MOST_BITS = 64
MOST_PATHS = 100_000
"""Of a diagram that is written as a list of cubes."""


@dataclass(frozen=True)
class Inputs:
    """Which letter each vector of input bits is.

    Attributes:
        bits: How many bits a vector has.
        nodes: Each with a bit, where to go on if it is 0, and where if it is 1: to the
            node of that number, which comes earlier and asks for a later bit; a number
            x < 0 stands for the letter −1 − x. The last node is the root. Without nodes
            all vectors are the letter 0.

    Raises:
        MachineError: If a node leads nowhere.
    """

    bits: int
    nodes: tuple[Node, ...]

    def __post_init__(self) -> None:
        if not 1 <= self.bits <= MOST_BITS:
            raise MachineError(
                f"there are {self.bits} input bits, not 1 to {MOST_BITS}"
            )
        for number, (bit, *children) in enumerate(self.nodes):
            later = (self.nodes[c][0] for c in children if 0 <= c < number)
            if not bit < min(later, default=self.bits) or bit < 0:
                raise MachineError(f"node {number} of the inputs asks for no later bit")
            if max(children) >= number:
                raise MachineError(
                    f"node {number} of the inputs leads to no earlier one"
                )

    @property
    def letters(self) -> int:
        """One more than the largest letter."""
        leaves = (-x for node in self.nodes for x in node[1:] if x < 0)
        return max(leaves, default=1)

    def named_nodes(
        self, letters: Sequence[str]
    ) -> list[tuple[int, int | str, int | str]]:
        """The nodes, with the names of the letters to which they lead."""
        zeros, ones = (
            [letters[-1 - node[i]] if node[i] < 0 else node[i] for node in self.nodes]
            for i in (1, 2)
        )
        return list(zip((bit for bit, *_ in self.nodes), zeros, ones, strict=True))

    def takes(self, word: str) -> bool:
        """Whether a word is a vector of as many bits."""
        return len(word) == self.bits and not set(word) - {"0", "1"}

    def encode(self, vectors: Sequence[str]) -> IntArray:
        """The letter of each vector, written as zeros and ones."""
        digits = np.frombuffer("".join(vectors).encode(), dtype=np.uint8)
        return self.of(digits.reshape(len(vectors), self.bits) == ord("1"))

    def of(self, vectors: npt.NDArray[np.bool_]) -> IntArray:
        """The letter ``(count,)`` of each vector ``(count, bits)``."""
        rows = np.arange(len(vectors))
        at = np.full(len(vectors), len(self.nodes) - 1)
        nodes = np.array(self.nodes, dtype=np.int64).reshape(-1, 3)
        while (inside := at >= 0).any():
            node = nodes[at[inside]]
            chosen = vectors[rows[inside], node[:, 0]]
            at[inside] = np.where(chosen, node[:, 2], node[:, 1])
        return -1 - at

    def paths(self) -> list[tuple[str, int]]:
        """Disjoint cubes that cover all vectors, each with its letter.

        Raises:
            MachineError: If there are more than `MOST_PATHS`.
        """
        waiting, found = [("-" * self.bits, len(self.nodes) - 1)], []
        while waiting:
            cube, at = waiting.pop()
            if at < 0:
                found.append((cube, -1 - at))
                continue
            bit, zero, one = self.nodes[at]
            ends = f"{cube[:bit]}1{cube[bit + 1 :]}", f"{cube[:bit]}0{cube[bit + 1 :]}"
            waiting += zip(ends, (one, zero), strict=True)
            if len(found) + len(waiting) > MOST_PATHS:
                raise MachineError(
                    f"the letters have more than {MOST_PATHS:,} cubes of input bits; "
                    "write JSON, which needs none"
                )
        return found

    def cubes(self) -> tuple[str, ...]:
        """For each letter the largest cube that the diagram has for it.

        Two letters have different cubes. If a letter has other vectors as well, a ``+``
        follows. All nodes and letters must be reached from the root.
        """
        free = "-" * self.bits
        ways = {len(self.nodes) - 1: (free, 1)}
        for number in range(len(self.nodes) - 1, -1, -1):
            path, count = ways.pop(number, (free, 0))
            bit, *children = self.nodes[number]
            for value, child in enumerate(children):
                longer = f"{path[:bit]}{value}{path[bit + 1 :]}"
                known, others = ways.get(child, (longer, 0))
                best = max(longer, known, key=lambda cube: cube.count("-"))
                ways[child] = (best, others + count)
        found = (ways[-1 - letter] for letter in range(self.letters))
        return tuple(cube if count == 1 else f"{cube}+" for cube, count in found)
