"""What every network of a dynamic program must keep of its prompt, and what ours are."""

from collections.abc import Mapping, Sequence
from math import ceil, isqrt
from typing import Any

import numpy as np

from krohn.compiler.constructions.chain_of_thought import LOCAL, block_size
from krohn.network.attention_kind import Sparse
from krohn.network.precision import Precision
from krohn.program.chain_of_thought import ChainOfThought
from krohn.verify.attention_limits.prompt_memory import (
    least_width,
    linear_bits,
    sparse_bits,
)


def width_needed(
    source: ChainOfThought,
    network: Mapping[str, Any],
    precision: Precision,
    texts: float,
) -> int | None:
    """The least width that keeps the prompts of different texts apart, by counting.

    Args:
        source: The texts.
        network: ``attention``, ``depth`` and ``heads`` of a network of them.
        precision: The format of its numbers.
        texts: log2 of the number of different texts.

    Returns:
        None for standard heads, which go back to the prompt itself.
    """
    layers, heads = network["depth"], network["heads"]
    bits = 8 * np.dtype(precision.name).itemsize
    if network["attention"] == "linear":
        return least_width(texts, lambda d: linear_bits(layers, heads, d, bits))
    if network["attention"] == "sparse":
        kind, prompt = Sparse(block_size(source), 1, 1), len(source.prompt)
        return least_width(texts, lambda d: sparse_bits(layers, d, bits, prompt, kind))
    return None


def sentences(
    source: ChainOfThought, facts: Mapping[str, Any], networks: Sequence[dict[str, Any]]
) -> list[str]:
    """Which lower bounds of Yang et al. (2024) hold, and what they come to here."""
    told = [_asymptotic(source, facts)]
    needed = [
        f"{row['attention']} heads keep so many at width {row['width_needed']}, and have "
        f"{row['d_model']}"
        for row in networks
        if row.get("width_needed")
    ]
    kept = f"{ceil(facts['text_bits'])} bits or more of a prompt must be kept"
    if needed:
        told.append(
            f"{kept}: {'; '.join(needed)}; at this size the bound rules no network out"
        )
    return told


def _asymptotic(source: ChainOfThought, facts: Mapping[str, Any]) -> str:
    """The bound as the text grows, and under what condition."""
    m, root = facts["locality"], isqrt(source.length - 1) + 1
    if m <= LOCAL * root:
        return (
            f"local at this size (m = {m}, at most {LOCAL}√L): a constant width is "
            "enough for sparse heads (Proposition 5.4); linear ones need Ω(√m) up to "
            "logarithms (Proposition 5.5), if there are 2^Ω(m) texts"
        )
    return (
        "not local: linear and sparse heads need a width of Ω(√L) up to logarithms "
        "(Theorem 4.4), if there are 2^Ω(n) texts and the prompt is a share of the text; "
        f"here n is {facts['prompt']} of {facts['tokens']} tokens"
    )
