"""How hard a kernel is for linear RNNs (Jiang and Li, Appendix D.1, repaired).

C_RNN = C1·C2 with C1 = 1 + inf{β > 0: e^{t/β}|ρ(t)| → 0} and C2 = sup_t e^{t/C1}|ρ(t)|.
"""

from math import exp, inf, log

import numpy as np

from krohn.sources.kernels.kernel import Kernel, Mode

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
    found = 0.0
    for t in range(MOST_STEPS):
        value = kernel.values[t] if t < len(kernel.values) else 0.0
        value += float((weights * powers).sum().real)
        found = max(found, exp(t / first) * abs(value))
        powers *= bases
        if t >= len(kernel.values) and total * exp(-t * fall) <= found:
            break
        if t >= len(kernel.values) and not kernel.modes:
            break
    return first, found


def under_mixing(kernel: Kernel, taps: int) -> float:
    """What C_RNN is at most after a causal filter of length l with ‖θ‖₁ ≤ 1.

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
