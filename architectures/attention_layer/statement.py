"""Attention layers of real vectors, between two ReLU networks."""

from dataclasses import dataclass

import numpy as np

from krohn.program.architecture import Architecture, Shapes, affine
from krohn.program.attention import Sight, Softmax, visible
from krohn.program.domains import BoolArray
from krohn.program.errors import demand
from krohn.program.stated import Count, Size, Sizes


@dataclass(frozen=True)
class AttentionLayer(Architecture):
    """One head over the features of positions, or over the slots of a memory."""

    kind = "attention-layer"
    length: Size
    inputs: Size
    codes: Count
    features: Size
    features_units: Sizes
    d_qk: Size
    d_v: Size
    memory: Count
    causal: bool
    output_units: Sizes
    outputs: Size

    @property
    def shapes(self) -> Shapes:
        """Keys and values are read from features, or are those of the memory."""
        n, slots, outputs = self.features, self.memory, self.outputs
        demand(not (slots and self.causal), "a memory has no later positions")
        prefix, rows = ("memory", slots) if slots else ("attention", n)
        shapes: Shapes = {"attention.query": (n, self.d_qk)}
        shapes |= {
            f"{prefix}.key": (rows, self.d_qk),
            f"{prefix}.value": (rows, self.d_v),
        }
        shapes |= {"memory.bias": (slots,)} if slots else {}
        shapes |= {"code": (self.length, self.codes)} if self.codes else {}
        read = [self.inputs + self.codes, *self.features_units, n]
        output_widths = [self.d_v, *self.output_units, outputs]
        return {**shapes, **affine("features", read), **affine("output", output_widths)}


def sight(causal: bool) -> Sight:
    """The inputs that a layer sees."""
    return Sight.CAUSAL if causal else Sight.WHOLE


def mark_visible(causal: bool, size: int) -> BoolArray:
    """``(size, size)``: which inputs a layer sees from each, the first at position 1."""
    t = np.arange(1, size + 1)
    who = "an attention layer"
    mask: BoolArray = visible(Softmax(), (sight(causal),), t[:, None], t, np.array, who)
    return mask
