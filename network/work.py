"""How many operations a network needs for a text, from the shapes of its tensors."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from krohn.network.attention_kind import Linear, Sparse, attention_kind


def parts(shape: Mapping[str, Any], length: int) -> tuple[int, int]:
    """Operations of a compiled Transformer for a word: where positions meet; the rest.

    A position meets those that its kind of attention shows it: all, its window and the
    ends of blocks, or none but two running sums. Masked halves count, and a
    multiply-add twice.
    """
    d, positions = shape["d_model"], length + 1
    meeting = products = 0.0
    for block in shape["blocks"]:
        keys, values = block["d_qk"], block["d_v"]
        kind = attention_kind(block)
        seen = float(positions)
        if isinstance(kind, Sparse):
            seen = min(seen, kind.window + kind.last * positions / kind.block)
        each = (keys + values) * seen
        if isinstance(kind, Linear):
            each = 2.0 * keys * (values + 1)
        meeting += block["heads"] * each
        products += block["heads"] * (keys + values) * 2 * d
        widths = [d, *block["mlp"], d] if block["mlp"] else []
        products += sum(a * b for a, b in pairwise(widths))
    rest = 2 * (positions * products + length * d * shape["outputs"])
    return int(2 * positions * meeting), int(rest)
