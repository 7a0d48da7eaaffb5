"""Attention heads over real vectors and the codes of their positions."""

from dataclasses import dataclass

from krohn.program.architecture import Architecture, Shapes
from krohn.program.stated import Size


@dataclass(frozen=True)
class MultiheadAttention(Architecture):
    """Causal softmax heads over (x_s, c_s), and over a start that all positions see."""

    kind = "multihead-attention"
    length: Size
    inputs: Size
    codes: Size
    heads: Size
    d_qk: Size
    d_v: Size
    outputs: Size

    @property
    def shapes(self) -> Shapes:
        """Features are inputs, then codes."""
        n, heads = self.inputs + self.codes, self.heads
        shapes: Shapes = {"code": (self.length, self.codes), "start": (1, n)}
        shapes |= {
            f"attention.{name}": (heads, n, width)
            for name, width in (
                ("query", self.d_qk),
                ("key", self.d_qk),
                ("value", self.d_v),
            )
        }
        return {**shapes, "attention.output": (heads, self.d_v, self.outputs)}
