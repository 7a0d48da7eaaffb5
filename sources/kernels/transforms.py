"""What may be done to the inputs of a kernel: other orders, and causal filters.

Jiang and Li, section 6. Their filter reads x(t + s), the future; with it a causal kernel
is none any more (erratum A23). Here filters read x(t − s).
"""

from collections.abc import Sequence
from dataclasses import replace

from krohn.program.errors import demand
from krohn.sources.kernels.kernel import Kernel, Mode


def permuted(kernel: Kernel, order: Sequence[int], name: str = "") -> Kernel:
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


def swapped(kernel: Kernel, count: int, name: str = "") -> Kernel:
    """The first inputs are exchanged with as many at the end, each group in its order.

    Raises:
        Refused: If there are not twice as many.
    """
    size = kernel.length
    demand(
        0 < count <= size // 2, f"of {size} inputs, 1 to {size // 2} can be exchanged"
    )
    first, last = range(count), range(size - count, size)
    return permuted(kernel, [*last, *range(count, size - count), *first], name)


def mixed(kernel: Kernel, weights: Sequence[float], name: str = "") -> Kernel:
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
