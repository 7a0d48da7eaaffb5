"""Causal convolutions with exact kernels: changed, predicted, and how hard they are."""

from collections.abc import Sequence
from dataclasses import replace
from math import exp, inf, log
from typing import Self

import numpy as np

from krohn.kinds.kernels.statement import Mode, StatedKernel
from krohn.program.domains import FloatArray
from krohn.program.errors import demand
from krohn.program.user_input import real_array

# Causal convolutions: y_t = Σ_{s≤t} ρ(s)·x(t − s) of real inputs, with exact kernels.


DIGITS = 256
"""Binary places of the powers of modes: what is rounded there is below every double."""
ROUNDED = 2.0**-53


class Kernel(StatedKernel):
    """A kernel with its reference in float64."""

    def __post_init__(self) -> None:
        # Whole numbers may be given; a file has none.
        modes = tuple(Mode(complex(c), complex(b)) for c, b in self.modes)
        inputs = tuple(real_array(self.inputs, "inputs").tolist())
        object.__setattr__(
            self, "values", tuple(real_array(self.values, "values").tolist())
        )
        object.__setattr__(self, "modes", modes)
        object.__setattr__(self, "inputs", inputs)
        super().__post_init__()

    def of_length(self, length: int | None) -> Self:
        """The kernel for another number of inputs; itself for None.

        Raises:
            Refused: If its inputs are permuted: then there are as many as there are.
        """
        if length is None or length == self.length:
            return self
        demand(
            self.order is None,
            f"{self.name} permutes {self.length} inputs; leave -T out",
        )
        return replace(self, length=length)

    def samples(self) -> FloatArray:
        """``(T,)``: ρ(0), ρ(1), …, each the nearest float64 but for 2^-180."""
        totals = [_to_fixed_point(v) for v in self.values[: self.length]]
        totals += [0] * (self.length - len(totals))
        for weight, base in self.modes:
            c = _to_fixed_point(weight.real), _to_fixed_point(weight.imag)
            a, b = _to_fixed_point(base.real), _to_fixed_point(base.imag)
            p, q = 1 << DIGITS, 0
            for s in range(self.length):
                totals[s] += (c[0] * p - c[1] * q) >> DIGITS
                p, q = (a * p - b * q) >> DIGITS, (a * q + b * p) >> DIGITS
        return np.array([total / (1 << DIGITS) for total in totals])

    def matrix(self) -> FloatArray:
        """``(T, T)``: y = M x of inputs of full length."""
        t = np.arange(self.length)
        back = t[:, None] - t
        causal = np.where(back >= 0, self.samples()[np.maximum(back, 0)], 0.0)
        if self.order is None:
            return causal
        matrix = np.empty_like(causal)
        matrix[:, list(self.order)] = causal
        return matrix

    def run(self, inputs: FloatArray) -> FloatArray:
        """The right outputs, up to `rounding`.

        Args:
            inputs: ``(batch, time)``, at most T; all of them if they are permuted.

        Returns:
            ``(batch, time)``: y.
        """
        size = inputs.shape[1]
        demand(size <= self.length, f"{size} inputs are more than {self.length}")
        demand(
            self.order is None or size == self.length,
            f"inputs that are permuted are {self.length}, not {size}",
        )
        rows: FloatArray = inputs @ self.matrix()[:size, :size].T
        return rows

    def rounding(self) -> float:
        """How far `run` can be off itself."""
        terms = self.length + 2
        unit = terms * ROUNDED / (1 - terms * ROUNDED)
        return float(unit * np.abs(self.samples()).sum() * self.largest_input)

    def sample_inputs(self, count: int, generator: np.random.Generator) -> FloatArray:
        """``(count, T)`` inputs: a third at random, the others at the ends of the box."""
        low, high = self.inputs
        inputs = generator.uniform(low, high, (count, self.length))
        ends = generator.choice([low, high], (count, self.length))
        inputs[count // 3 :] = ends[count // 3 :]
        return inputs


def _to_fixed_point(number: float) -> int:
    """A number in units of 2^-256, rounded down."""
    above, below = number.as_integer_ratio()
    return (above << DIGITS) // below


# Changes of the inputs of a kernel: other orders, and causal filters.
#
# Jiang and Li, section 6. Their filter reads x(t + s), the future; with it a causal
# kernel is none any more (erratum A23). Here filters read x(t − s).


def permute_inputs(kernel: Kernel, order: Sequence[int], name: str = "") -> Kernel:
    """The kernel reads at time t what the network is given at time order[t].

    This is H̃(x∘p) = H(x): inputs are moved and outputs stay. It is causal only if no input
    is read before it is given, that is, for the identity (Proposition 6.1 with ρ(0) ≠ 0;
    a kernel with ρ(0) = 0 can stay causal, A28). To permute the *kernel* is another thing
    and stays causal (A29).

    Raises:
        Refused: If it is no permutation, or inputs are permuted already.
    """
    demand(kernel.causal, f"the inputs of {kernel.name} are permuted already")
    if list(order) == list(range(kernel.length)):
        return kernel
    return replace(kernel, order=tuple(order), name=name or f"{kernel.name}, permuted")


def swap_ends(kernel: Kernel, count: int, name: str = "") -> Kernel:
    """The first inputs are exchanged with as many at the end, each group in its order.

    Raises:
        Refused: If there are not twice as many.
    """
    size = kernel.length
    demand(
        0 < count <= size // 2, f"of {size} inputs, 1 to {size // 2} can be exchanged"
    )
    first, last = range(count), range(size - count, size)
    return permute_inputs(kernel, [*last, *range(count, size - count), *first], name)


def mix_inputs(kernel: Kernel, weights: Sequence[float], name: str = "") -> Kernel:
    """Inputs pass a causal filter before: ρ̃(s) = Σ_j θ(j)·ρ(s − j).

    A mode c·λ^s becomes c·(Σ_j θ(j) λ^−j)·λ^s from s = l − 1 on; what it is before is
    listed. The numbers of the new kernel are these, rounded: it is a kernel of its own.

    Raises:
        Refused: If a number is out of range, or inputs are permuted.
    """
    demand(kernel.causal, "apply mix before swap")
    demand(
        all(b != 0 for _, b in kernel.modes),
        "a mode with λ = 0 is a single value; write it as a value",
    )
    late = [c * sum(w * b**-j for j, w in enumerate(weights)) for c, b in kernel.modes]
    modes = [Mode(c, b) for c, (_, b) in zip(late, kernel.modes, strict=True)]
    values = list(kernel.values)
    length = min(kernel.length, len(values) + len(weights) - 1)
    listed = [
        sum(
            w * values[s - j] for j, w in enumerate(weights) if 0 <= s - j < len(values)
        )
        for s in range(length)
    ]
    for s in range(min(len(weights) - 1, length)):
        for c, b in kernel.modes:
            # The terms that are too early, which the new mode has and the kernel lacks.
            early = sum(w * b ** (s - j) for j, w in enumerate(weights) if j > s)
            listed[s] -= (c * early).real
    name = name or f"{kernel.name}, mixed"
    return replace(kernel, name=name, values=tuple(listed), modes=tuple(modes))


# How hard a kernel is for linear RNNs (Jiang and Li, Appendix D.1, repaired).
#
# C_RNN = C1·C2 with C1 = 1 + inf{β > 0: e^{t/β}|ρ(t)| → 0} and C2 = sup_t e^{t/C1}|ρ(t)|.


MOST_STEPS = 2**20


def decay(kernel: Kernel) -> float:
    """inf{β > 0: e^{t/β}|ρ(t)| → 0}: −1/log of the largest |λ|; 0 of a finite kernel."""
    sizes = [abs(base) for weight, base in _modes(kernel) if weight]
    largest = max(sizes, default=0.0)
    if largest >= 1:
        return inf
    return 0.0 if largest == 0 else -1 / log(largest)


def complexity(kernel: Kernel) -> tuple[float, float]:
    """C1 and C2; both infinite if the kernel does not decay.

    With γ = C1 − 1, e^{t/C1}·|ρ(t)| is at most Σ|c|·e^{−t·(1/γ − 1/C1)} past the values, so
    the supremum is reached before this falls below the largest value that was seen.
    """
    gamma = decay(kernel)
    if gamma == inf:
        return inf, inf
    first = 1 + gamma
    total = sum(abs(weight) for weight, _ in kernel.modes)
    fall = inf if gamma == 0 else 1 / gamma - 1 / first
    powers = np.ones(len(kernel.modes), complex)
    weights, bases = (np.array([m[i] for m in kernel.modes], complex) for i in (0, 1))
    supremum = 0.0
    for t in range(MOST_STEPS):
        value = kernel.values[t] if t < len(kernel.values) else 0.0
        value += float((weights * powers).sum().real)
        supremum = max(supremum, exp(t / first) * abs(value))
        powers *= bases
        if t >= len(kernel.values) and total * exp(-t * fall) <= supremum:
            break
        if t >= len(kernel.values) and not kernel.modes:
            break
    return first, supremum


def under_mixing(kernel: Kernel, taps: int) -> float:
    """An upper bound of C_RNN after a causal filter of length l with ‖θ‖₁ ≤ 1.

    |ρ(s)| ≤ C2·e^{−s/C1}, so |ρ̃(s)| ≤ C2·e^{(l−1)/C1}·e^{−s/C1}, and C_RNN grows by a
    factor of e^{(l−1)/C1} at most, if the filter does not take the slowest mode away.
    Printed is that both are at most γ if |ρ(s)| ≤ e^{−s/γ}, which e^{−s} has not: its C_RNN
    is 2, and γ is 1 (erratum A23).
    """
    first, second = complexity(kernel)
    return inf if first == inf else first * second * exp((taps - 1) / first)


def _modes(kernel: Kernel) -> list[Mode]:
    """Modes of one base as one."""
    sums: dict[complex, complex] = {}
    for weight, base in kernel.modes:
        sums[complex(base)] = sums.get(complex(base), 0) + weight
    return [Mode(weight, base) for base, weight in sums.items()]


# How well causal networks can do: least squares, from exact second moments.
#
# Inputs are independent and uniform on the box of a kernel, as in the experiments of
# Jiang and Li, Appendix C. Errors are squared, and their mean is over all times.


def causal_floor(kernel: Kernel) -> float:
    """The least mean squared error of ŷ_t = b_t + Σ_{s≤t} a_ts x_s, with any a and b.

    The inputs that have not come are independent of those that have: what they add to y_t,
    less its mean, is lost, and nothing else. No causal network does better, linear or not.
    """
    low, high = kernel.inputs
    late = np.triu(kernel.matrix(), 1)
    return float((late**2).sum() / len(late) * (high - low) ** 2 / 12)


def invariant_floor(kernel: Kernel) -> float:
    """The least mean squared error of ŷ_t = b_t + Σ_{s≤t} k(t − s) x_s, with any k and b.

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
