"""How the heads of a block weigh positions, as its file states it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from krohn.program.domains import BoolArray, IntArray
from krohn.program.errors import demand

SOFTMAX, SPARSE, LINEAR = "softmax", "sparse", "linear"
_SIZES = ("block", "windows", "last")
_KEYS = {SOFTMAX: {"kind"}, LINEAR: {"kind"}, SPARSE: {"kind", *_SIZES}}
_BLOCK = {"heads", "d_qk", "d_v", "mlp", "activation", "sine", "causal", "attention"}


@dataclass(frozen=True)
class Kind:
    """The arithmetic that all heads of a block have in common.

    Attributes:
        name: `SOFTMAX`, `SPARSE` or `LINEAR`.
        causal: For each head whether it sees no position after its own.
        sizes: Of a sparse one the positions of a block, how many blocks back everything
            is seen, and how many positions at the end of each block always are.
    """

    name: str
    causal: list[bool]
    sizes: tuple[int, ...] = ()

    def hidden(self, t: IntArray, size: int) -> BoolArray:
        """``(rows, size)``: where positions t do not look, though it may be before."""
        j, i = np.arange(size), t[:, None]
        if self.name != SPARSE:
            return j > i
        block, windows, last = self.sizes
        return (j > i) | (i - j >= block * windows) & ((j - 1) % block < block - last)


def kind_of(header: Any, block: int) -> Kind:
    """The kind of the heads of a block.

    Raises:
        Refused: If it is not stated, or not known.
    """
    shape, version = header["architecture"]["blocks"][block], header["version"]
    demand(shape.keys() <= _BLOCK, "a block states a key that no rule is about")
    told = shape.get("attention", {"kind": SOFTMAX})
    name = str(told["kind"]) if type(told) is dict else ""
    known = name in _KEYS and told.keys() == _KEYS[name]
    demand(known, f"there is no rule for a block whose attention is {str(told)[:60]}")
    new = shape.keys() & {"causal", "attention"}
    demand(version > 4 or not new, "this version has no blocks of this kind")
    causal: list[bool] = shape.get("causal", [True] * shape["heads"])
    demand(len(causal) == shape["heads"], "not every head says what it sees")
    demand(all(type(x) is bool for x in causal), "a head does not say what it sees")
    demand(name == SOFTMAX or all(causal), f"a {name} head sees later positions")
    if name != SPARSE:
        return Kind(name, causal)
    sizes = tuple(told[n] for n in _SIZES)
    demand(all(type(n) is int and n > 0 for n in sizes), "a sparse block has no size")
    demand(sizes[2] <= sizes[0], "a head always sees more than a block")
    return Kind(name, causal, sizes)
