"""How many operations attention takes, by the kind of its blocks."""

from itertools import pairwise

from krohn.program.architectures.transformer import Transformer
from krohn.program.attention import Linear, Rectified, Softmax, Sparse
from krohn.program.block_kinds import whatever_blocks_do
from krohn.program.errors import refuse_unknown

BLOCKS = whatever_blocks_do("the count of operations")


def parts(shape: Transformer, length: int) -> tuple[int, int]:
    """Operations of a compiled Transformer for a word: where positions meet; the rest.

    A position meets those that its kind of attention shows it: all, its window and the
    ends of blocks, or none but two running sums. Masked halves count, and a
    multiply-add twice.
    """
    BLOCKS.check(shape)
    d, positions = shape.d_model, length + 1
    meeting = products = 0.0
    for block in shape.blocks:
        keys, values, kind = block.d_qk, block.d_v, block.attention
        match kind:
            case Linear():
                each = 2.0 * keys * (values + 1)
            case Sparse():
                seen = kind.window + kind.last * positions / kind.block
                each = (keys + values) * min(float(positions), seen)
            case Softmax() | Rectified():
                each = (keys + values) * float(positions)
            case other:
                refuse_unknown(other, BLOCKS.who)
        meeting += block.heads * each
        products += block.heads * (keys + values) * 2 * d
        widths = [d, *block.mlp, d] if block.mlp else []
        products += sum(a * b for a, b in pairwise(widths))
    rest = 2 * (positions * products + length * d * shape.outputs)
    return int(2 * positions * meeting), int(rest)
