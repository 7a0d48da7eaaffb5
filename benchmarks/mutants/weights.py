"""Mutations of single weights and of rows, columns and entries that trade places."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from krohn.network.architecture import sparse_matrices
from krohn.network.precision import FloatArray, Precision
from krohn.network.sparse import Sparse
from mutants.subject import Mutant, Mutation, Subject

SCALES = (1e-6, 1e-3, 0.01, 0.1, 0.5)
SHIFTS = (1e-6, 1e-3, 0.1, 0.5, 1.0)


def _changed(
    subject: Subject,
    rng: np.random.Generator,
    change: Callable[[float, Precision], float],
    nonzero: bool = True,
    names: tuple[str, ...] = ("",),
) -> Mutant | None:
    """One weight of a tensor whose name ends so, drawn tensor first."""
    places = {
        name: np.flatnonzero((array.reshape(-1) != 0) == nonzero)
        for name, array in subject.weights
        if name.endswith(names)
    }
    places = {name: found for name, found in places.items() if found.size}
    if not places:
        return None
    name = str(rng.choice(list(places)))
    index = int(rng.choice(places[name]))
    array = subject.file.tensors[name].copy()
    flat = array.reshape(-1)
    flat[index] = change(float(flat[index]), subject.file.precision)
    return Mutant(f"{name}[{index}]", subject.with_tensors({name: array}))


def sign(subject: Subject, rng: np.random.Generator) -> Mutant | None:
    """A weight with the other sign."""
    return _changed(subject, rng, lambda weight, _: -weight)


def zero(subject: Subject, rng: np.random.Generator) -> Mutant | None:
    """A weight set to 0."""
    return _changed(subject, rng, lambda *_: 0.0)


def one(subject: Subject, rng: np.random.Generator) -> Mutant | None:
    """A zero set to 1."""
    return _changed(subject, rng, lambda *_: 1.0, nonzero=False)


def scaled(by: float) -> Mutation:
    """A weight larger or smaller by a share of itself."""

    def scale(subject: Subject, rng: np.random.Generator) -> Mutant | None:
        factor = 1 + by * rng.choice([-1, 1])
        return _changed(subject, rng, lambda weight, _: weight * factor)

    return scale


def _neighbour(up: int, weight: float, precision: Precision) -> float:
    fraction, exponent = np.frexp(abs(weight))
    # Below a power of two numbers are twice as dense.
    dense = up < 0 and fraction == 0.5
    step = 2.0 ** (int(exponent) - precision.digits - dense)
    return float(np.copysign(abs(weight) + up * step, weight))


def ulp(subject: Subject, rng: np.random.Generator) -> Mutant | None:
    """A weight replaced by the next number of the format, above or below."""
    return _changed(subject, rng, partial(_neighbour, int(rng.choice([-1, 1]))))


def shifted(by: float) -> Mutation:
    """A bias larger or smaller by a number."""

    def shift(subject: Subject, rng: np.random.Generator) -> Mutant | None:
        step = by * float(rng.choice([-1, 1]))
        add = lambda weight, _: weight + step  # noqa: E731
        zeros = bool(rng.integers(2))
        return _changed(subject, rng, add, zeros, ("bias",)) or _changed(
            subject, rng, add, not zeros, ("bias",)
        )

    return shift


def swapped(axis: int) -> Mutation:
    """Two rows (axis −2) or two columns (−1) of a matrix trade places."""

    def swap(subject: Subject, rng: np.random.Generator) -> Mutant | None:
        names = [n for n, a in subject.weights if a.ndim > 1 and a.shape[axis] > 1]
        if not names:
            return None
        name = str(rng.choice(names))
        array = subject.file.tensors[name]
        left, right = rng.choice(array.shape[axis], size=2, replace=False)
        changed = exchanged(array, int(left), int(right), axis)
        where = f"{name}: {left} and {right}"
        return Mutant(where, subject.with_tensors({name: changed}))

    return swap


def elsewhere(subject: Subject, rng: np.random.Generator) -> Mutant | None:
    """An entry of a sparse matrix moves to another column."""
    matrices = sparse_matrices(subject.file.header["architecture"])
    if not matrices:
        return None
    name = str(rng.choice(list(matrices)))
    held = Sparse.from_tensors(subject.file.tensors, name, matrices[name])
    columns, at = held.columns.copy(), int(rng.integers(len(held.columns)))
    columns[at] = rng.integers(matrices[name])
    order = np.lexsort((columns, held.rows))
    moved = replace(held, columns=columns[order], values=held.values[order])
    if moved.problem() is not None:  # the column was taken
        return None
    return Mutant(f"{name}: entry {at}", subject.with_tensors(moved.tensors(name)))


def exchanged(array: FloatArray, left: int, right: int, axis: int) -> FloatArray:
    """A copy in which two slices along an axis have traded places."""
    order = np.arange(array.shape[axis])
    order[[left, right]] = order[[right, left]]
    return np.take(array, order, axis=axis)


KINDS: dict[str, Mutation] = {
    "sign flipped": sign,
    "weight ±1 ulp": ulp,
    **{f"weight ±{100 * by:g} %": scaled(by) for by in SCALES},
    "weight to 0": zero,
    "zero to 1": one,
    **{f"bias ±{by:g}": shifted(by) for by in SHIFTS},
    "two rows exchanged": swapped(-2),
    "two columns exchanged": swapped(-1),
    "sparse entry elsewhere": elsewhere,
}
