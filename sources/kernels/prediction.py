"""How well causal networks can do: least squares, from exact second moments.

Inputs are independent and uniform on the box of a kernel, as in the experiments of Jiang
and Li, Appendix C. Errors are squared, and their mean is over all times.
"""

import numpy as np

from krohn.program.domains import FloatArray
from krohn.sources.kernels.kernel import Kernel


def causal_floor(kernel: Kernel) -> float:
    """The least mean squared error of ŷ_t = b_t + Σ_{s≤t} a_ts x_s, with any a and b.

    The inputs that have not come are independent of those that have: what they add to y_t,
    less its mean, is lost, and nothing else. No causal network does better, linear or not.
    """
    low, high = kernel.inputs
    late = np.triu(kernel.matrix(), 1)
    return float((late**2).sum() / len(late) * (high - low) ** 2 / 12)


def invariant_floor(kernel: Kernel) -> float:
    """The same of ŷ_t = b_t + Σ_{s≤t} k(t − s) x_s: one kernel, and any offsets.

    That is what linear RNNs with biases can say. With the means of inputs in the offsets,
    least squares fall apart by lags: the best k(j) is the mean of what the outputs take of
    the input j steps ago.
    """
    low, high = kernel.inputs
    matrix = kernel.matrix()
    lost = (np.triu(matrix, 1) ** 2).sum()
    for lag in range(len(matrix)):
        taken = np.diagonal(matrix, -lag)
        lost += ((taken - taken.mean()) ** 2).sum()
    return float(lost / len(matrix) * (high - low) ** 2 / 12)


def errors(found: FloatArray, kernel: Kernel, inputs: FloatArray) -> float:
    """The mean squared error of outputs ``(count, T)`` on inputs ``(count, T)``."""
    return float(((found - kernel.run(inputs)) ** 2).mean())
