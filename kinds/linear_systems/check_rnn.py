"""Linear systems: an RNN with a gate for each letter is right up to a stated error.

Theorem W7 of docs/proofs/linear_systems.md.
"""

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from krohn.architectures.recurrent.statement import Rnn
from krohn.kinds.linear_systems.check_matrix_norms import (
    Norm,
    norm_of,
)
from krohn.kinds.linear_systems.statement import StatedLinearSystem
from krohn.program.domains import FloatArray
from krohn.program.errors import demand
from krohn.program.inputs import Words
from krohn.verify.checker.arithmetic import (
    STEPS,
    Format,
    Interval,
    Operand,
    bound_all_steps,
    bound_underflow,
    fits,
    gamma,
)
from krohn.verify.checker.established import Established
from krohn.verify.checker.model_file import Machine, Model

MOST_LETTERS = 2**50


class Gates(NamedTuple):
    """The gates that the tensors hold.

    Attributes:
        half: α/2.
        matrices: ``(letters, n, n)``: those of the letters, as they are stored.
    """

    half: float
    matrices: FloatArray


def check_claim(model: Model, said: Any, machine: Machine | None) -> Established:
    """The error in the norm that evidence names.

    Raises:
        Refused: If the network is another one.
    """
    source = StatedLinearSystem.from_wire(model.source)
    length = model.length or MOST_LETTERS + 1
    demand(length <= MOST_LETTERS, "no length is claimed, or too long a one")
    norm = norm_of(said, source.matrices, length)
    error = _error(model, source, norm, _gates(model, source), length)
    words = Words(len(source.matrices), length)
    return Established(model.format, words, norm.facts, error.most)


def _gates(model: Model, source: StatedLinearSystem) -> Gates:
    """α/2 and Â_o, from tensors that are the ones of the theorem, but for start and bias.

    Raises:
        Refused: If they are others.
    """
    model.network(Rnn)
    t, (letters, n, _) = model.tensors, source.matrices.shape
    narrow = model.format.narrow
    demand(not narrow, f"{model.format.name} cannot hold states of real numbers")
    scale = float(t["input.weight"][0, 0])
    demand(scale > 0, "the gates of other letters are open")
    demand(t["hidden.weight"].shape == (letters * n,) * 2, "another number of units")
    rows = t["hidden.weight"][:n].T
    right = {
        "hidden.weight": np.tile(rows.T, (letters, 1)),
        "input.weight": np.kron(np.eye(letters), np.full((1, n), scale)),
        "unembed.weight": np.tile(np.eye(n), (letters, 1)),
        "unembed.bias": np.full(n, -scale / 2),
    }
    for name, tensor in right.items():
        demand(np.array_equal(t[name], tensor), f"{name!r} is another one")
    demand(t["hidden.start"][n:] == 0, "it starts in several blocks")
    return Gates(scale / 2, rows.reshape(letters, n, n))


def _error(
    model: Model, source: StatedLinearSystem, norm: Norm, gates: Gates, length: int
) -> Interval:
    """How far an output can be off after T letters.

    Raises:
        Refused: If a gate can let something through for another letter.
    """
    (half, matrices), form, n = gates, model.format, norm.size
    first, drift = _deviations(model, source, gates)
    most = norm.growth * norm.of_vectors(source.start)
    apart = norm.of_matrices(Interval.of(matrices) - source.matrices).max()
    moved = norm.of_matrices(source.matrices).max() + apart
    weight, fall = norm.against(matrices), abs(Interval.of(matrices)).sum(axis=2) * half
    beside = np.abs(model.tensors["hidden.bias"]).reshape(fall.shape) + 2 * Interval.of(
        half
    )

    def step_error(off: Interval) -> Interval:
        """The error that one step adds, but for the letters' own errors."""
        read = weight * (most + off) + fall
        fits(read + beside, form, "a sum", STEPS)
        sums = known_sum_error(form, n + 2, read + beside, 2 * half, read)
        return (norm.of_vectors(sums) + norm.of_vectors(drift)).max()

    def later(off: Interval) -> Interval:
        """A bound of the next error, if no earlier one exceeds ``off``."""
        step = apart * (most + off) + step_error(off)
        return norm.growth * (norm.of_vectors(first) + length * step)

    off = bound_all_steps(later, half)
    safe = moved * (most + off) + step_error(off) <= half
    demand(safe, "the gate of another letter may let something through")
    return off + form.sum_unit * (most + off)


def _deviations(
    model: Model, source: StatedLinearSystem, gates: Gates
) -> tuple[Interval, Interval]:
    """``(n,)`` and ``(letters, n)``: how far start and biases are from α's."""
    start, bias = (model.tensors[n].tolist() for n in ("hidden.start", "hidden.bias"))
    n, exact = len(source.start), Fraction(gates.half)
    rows = gates.matrices.reshape(-1, n).tolist()
    both = zip(start[:n], source.start.tolist(), strict=True)
    first = [Fraction(h) - exact - Fraction(b) for h, b in both]
    sums = [sum(map(Fraction, row), Fraction(1)) for row in rows]
    drift = [Fraction(b) + exact * s for b, s in zip(bias, sums, strict=True)]
    return Interval.nearest(first), Interval.nearest(drift).each(
        lambda x: x.reshape(-1, n)
    )


def known_sum_error(
    form: Format, terms: int, size: Operand, total: Operand, products: Operand
) -> Interval:
    """The largest error of sums of two or more numbers in any order (Lemma 5b).

    No partial sum is more than the positive numbers, or the negative ones, add up to.

    Args:
        form: The format, which stores sums as they are made.
        terms: How many products and numbers are added that may not be 0.
        size: The sum of their absolute values.
        total: At least the absolute value of their sum.
        products: The sum of the absolute values of the products among them.
    """
    size, total = Interval.of(size), Interval.of(total)
    astray = gamma(terms, form.sum_unit) * size + bound_underflow(terms)
    sums = (terms - 2) * (size + total) / 2 + total + (terms - 1) * astray
    return form.sum_unit * (sums + products) + bound_underflow(terms)
