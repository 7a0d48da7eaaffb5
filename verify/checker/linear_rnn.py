"""Linear systems: an RNN with a gate for each letter is right up to a stated error.

Theorem W7 of docs/within.md.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from krohn.program.architecture import held
from krohn.program.architectures.rnn import Rnn
from krohn.program.domains import FloatArray
from krohn.program.errors import Refused, demand
from krohn.verify.checker.arithmetic import INFLATION, STEPS, UNDERFLOW, Format, fits
from krohn.verify.checker.linear_source import Source, source_of
from krohn.verify.checker.matrix_norms import NORMS, Norm
from krohn.verify.checker.model_file import Model

MOST_LETTERS = 10**7
"""The longest words that the recursion is followed for: some seconds."""


class Gates(NamedTuple):
    """What the tensors hold.

    Attributes:
        half: α/2.
        matrices: ``(letters, n, n)``: those of the letters, as they are stored.
    """

    half: float
    matrices: FloatArray


@dataclass(frozen=True)
class Established:
    """What was shown of a gated RNN, for all words up to T.

    Attributes:
        form: Its format.
        length: T.
        norm: The norm in which states are bounded.
        error: How far any output can be off, at any position of any word.
    """

    form: Format
    length: int
    norm: Norm
    error: float

    def facts(self) -> dict[str, Any]:
        """In numbers."""
        return {
            "covers": f"all words of up to {self.length} letters",
            "length": self.length,
            "dtype": self.form.name,
            "error": self.error,
            "norm": self.norm.name,
            "growth": self.norm.growth,
        }


def established(model: Model, said: Any = None) -> Established:
    """The least error that can be shown, in any norm.

    `claimed_error.claimed` says if it is enough.

    Raises:
        Refused: If the network is another one.
    """
    source, claim = source_of(model.header["source"]), model.header["claim"]
    length = claim.get("length")
    demand(type(length) is int and 0 < length <= MOST_LETTERS, "no length is claimed")
    gates, found, reasons = _gates(model, source), list[Established](), list[str]()
    for kind in NORMS:
        try:
            norm = kind.of(source.matrices, length)
            error = _error(model, source, norm, gates, length)
        except Refused as reason:
            reasons.append(str(reason))
            continue
        found.append(Established(model.format, length, norm, error))
    demand(bool(found), "; ".join(reasons))
    return min(found, key=lambda one: one.error)


def _gates(model: Model, source: Source) -> Gates:
    """α/2 and Â_o, from tensors that are the ones of the theorem, but for start and bias.

    Raises:
        Refused: If they are others.
    """
    held(Rnn, model.header, model.tensors)
    t, (letters, n, _) = model.tensors, source.matrices.shape
    narrow = model.format.unit > model.format.sum_unit
    demand(not narrow, f"{model.format.name} cannot hold states of real numbers")
    scale = float(t["input.weight"][0, 0])
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
    model: Model, source: Source, norm: Norm, gates: Gates, length: int
) -> float:
    """How far an output can be off after T letters.

    Raises:
        Refused: If a gate can let something through for another letter.
    """
    half, form = gates.half, model.format
    first, drift = _deviations(model, source, gates)
    one = float(np.exp(norm.excess(source.matrices)) * INFLATION)
    others = (gates.matrices - source.matrices).reshape(len(source.matrices), -1)
    apart = _largest(norm, INFLATION, others)
    most = norm.applied(norm.growth, source.start)
    off, shift = norm.applied(1.0, first), _largest(norm, 1.0, drift)
    rows = np.abs(gates.matrices).sum(axis=2)
    beside = np.abs(model.tensors["hidden.bias"]).reshape(rows.shape) + 2 * half
    terms, u = norm.size + 2, form.sum_unit
    unit = terms * u / (1 - terms * u)
    flushed = norm.size * terms * UNDERFLOW + shift
    slope, least = (_largest(norm, unit, x) for x in (rows, beside))
    for _ in range(length):
        step = (slope * (most + off + half) + least + flushed) * INFLATION
        safe = ((one + apart) * (most + off) + step) * INFLATION <= half
        demand(safe, "the gate of another letter may let something through")
        off = (one * off + apart * (most + off) + step) * INFLATION
    largest = rows.max() * (most + off + half) + beside.max()
    fits(largest, form, "a sum", STEPS)
    return (off + 3 * u * (most + off + 2 * half)) * INFLATION


def _deviations(
    model: Model, source: Source, gates: Gates
) -> tuple[FloatArray, FloatArray]:
    """``(n,)`` and ``(letters, n)``: how far start and biases are from α's, exactly."""
    start, bias = (model.tensors[n].tolist() for n in ("hidden.start", "hidden.bias"))
    n, exact = len(source.start), Fraction(gates.half)
    rows = gates.matrices.reshape(-1, n).tolist()
    both = zip(start[:n], source.start.tolist(), strict=True)
    first = [abs(Fraction(h) - exact - Fraction(b)) for h, b in both]
    sums = [sum(map(Fraction, row), Fraction(1)) for row in rows]
    drift = [abs(Fraction(b) + exact * s) for b, s in zip(bias, sums, strict=True)]
    return _floats(first), _floats(drift).reshape(-1, n)


def _largest(norm: Norm, bound: float, vectors: FloatArray) -> float:
    """The largest entry of Xv, for N(X) ≤ bound, over some vectors; NaN stays NaN."""
    return float(np.max([norm.applied(bound, vector) for vector in vectors]))


def _floats(exact: list[Fraction]) -> FloatArray:
    return np.array([float(x) * INFLATION for x in exact])
