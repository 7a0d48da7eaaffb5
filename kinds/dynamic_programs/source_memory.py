"""The bits that a network can keep of a prompt, and has to keep (Yang et al. 2024).

After its prompt a network goes on from its memory of the prompt, and from nothing else.
So prompts that are continued by different texts must be kept apart: with N texts, the
memory has log2 N bits at least. Of linear heads these are two sums for each head, of sparse
heads the positions that are still seen (Theorem 4.4, Propositions 5.2 and 5.5).

The bound is for every network of the kind, trained or compiled. It is far below the widths
that one meets: the longest increasing subsequence of 250 numbers takes 1,206 bits, and
three layers of linear heads with 16-bit numbers keep them at a width of 9.
"""

from collections.abc import Callable
from itertools import accumulate

import numpy as np

from krohn.program.architectures.transformer import Transformer
from krohn.program.attention import Linear, Rectified, Softmax, Sparse
from krohn.program.block_kinds import whatever_blocks_do
from krohn.program.domains import FloatArray, IntArray
from krohn.program.errors import refuse_unknown

BLOCKS = whatever_blocks_do("the memory of prompts")


def linear_bits(layers: int, heads: int, width: int, bits: int) -> float:
    """M(D²/H + D)b: the sums Σ φ(k) vᵀ and Σ φ(k) of all heads.

    Args:
        layers: M, with heads.
        heads: H, of D/H numbers each.
        width: D.
        bits: b, of a number.
    """
    return layers * (width**2 / heads + width) * bits


def sparse_bits(layers: int, width: int, bits: int, prompt: int, kind: Sparse) -> float:
    """(M + 1)·D·b for each position of the prompt that is still seen after it.

    These are the last kB, and c of each block of B; of each the stream before every layer
    and after the last.

    Args:
        layers: M, with heads.
        width: D.
        bits: b, of a number.
        prompt: n, its tokens.
        kind: B, k and c.
    """
    return (layers + 1) * width * bits * _positions_seen(kind, prompt)


def _positions_seen(kind: Sparse, prompt: int) -> int:
    """How many positions of a prompt are still seen after it, at most."""
    return min(prompt, min(prompt, kind.window) + kind.last * (prompt // kind.block))


def kept_numbers(shape: Transformer, prompt: int) -> int:
    """How many numbers of a prompt a compiled Transformer keeps for its heads.

    It keeps keys and values of the positions still seen; of linear heads, their sums.

    Args:
        shape: The architecture of its file.
        prompt: The tokens of the prompt.
    """
    BLOCKS.check(shape)
    total = 0
    for block in shape.blocks:
        each = block.d_qk + block.d_v
        match block.attention:
            case Linear():
                kept = block.d_qk * (block.d_v + 1)
            case Sparse():
                kept = each * _positions_seen(block.attention, prompt)
            case Softmax() | Rectified():
                kept = each * prompt
            case other:
                refuse_unknown(other, BLOCKS.who)
        total += block.heads * kept
    return total


def least_width(texts: float, keeps: Callable[[int], float]) -> int:
    """The smallest width at which as many bits are kept as there must be.

    Args:
        texts: log2 of the number of different texts.
        keeps: The bits that are kept at a width; they grow with it, without end.
    """
    high = 1
    while keeps(high) < texts:
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if keeps(middle) >= texts else (middle, high)
    return high


def collision(kept: FloatArray, texts: IntArray) -> tuple[int, int] | None:
    """Two prompts that leave the same numbers, though their texts differ; None if none.

    A network that keeps these numbers is wrong after one of both.

    Args:
        kept: ``(prompts, numbers)``: the numbers kept of each prompt.
        texts: ``(prompts, tokens)``: how each has to be continued.
    """
    _, of = np.unique(kept, axis=0, return_inverse=True)
    _, text = np.unique(texts, axis=0, return_inverse=True)
    first = np.full(of.max() + 1, -1)
    # Written from the last to the first, so that the first one of each class stays.
    first[of.ravel()[::-1]] = np.arange(len(of))[::-1]
    wrong = np.flatnonzero(text.ravel() != text.ravel()[first[of.ravel()]])
    return (int(first[of.ravel()[wrong[0]]]), int(wrong[0])) if len(wrong) else None


def bell(count: int) -> int:
    """B(n): the texts of increasing subsequences of n numbers, by Bell's triangle.

    d_1, …, d_n are lengths of increasing subsequences just if d_1 = 1 and no d_i is above
    the largest before it by more than 1: as many as there are partitions of n things.
    Each is reached, by s_i = n·d_i − i.
    """
    row = [1]
    for _ in range(count - 1):
        row = list(accumulate(row, initial=row[-1]))
    return row[-1]
