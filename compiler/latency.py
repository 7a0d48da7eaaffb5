"""How long a network takes for one word, by a model that was fitted to measurements.

`python benchmarks/latency.py` measures and fits: 90 networks of 200 to 7.5 million
parameters, one word of 32, 100 or 300 letters at a time, one thread of an AMD EPYC,
float32. A network that the model was not fitted to is off by 24 % in the median and by
93 % at worst; of two whose times differ by a fifth or more, the model puts 95 % in the
right order.
On another machine what matters are the ratios of the coefficients.
"""

BLOCK, ATTENTION = 134.0, 116.0
"""Microseconds for a block, and for its attention if it has any: mostly calls."""

OPERATION = 1.80e-5
"""Microseconds for a multiplication or an addition."""

PARAMETER = 3.78e-4
"""Microseconds for a number that is read from memory."""


def latency(
    depth: int, layers: int, parameters: int, flops_per_token: int, length: int
) -> float:
    """Microseconds for one word.

    Args:
        depth: Blocks with attention.
        layers: Blocks, one after the other.
        parameters: Entries of all tensors.
        flops_per_token: Multiplications and additions for one letter.
        length: Letters of the word.
    """
    calls = BLOCK * layers + ATTENTION * depth
    operations = flops_per_token * length
    return calls + OPERATION * operations + PARAMETER * parameters
