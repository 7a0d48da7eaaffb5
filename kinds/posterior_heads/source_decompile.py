"""From what a network predicts back to the hidden Markov model: Jennrich's algorithm.

A law W[x, a, b] = E[x_a ⊗ x_b | x_c] of three letters in a row is the sum over the hidden
states i of A[x, i] B[a, i] C[b, i]. Such sums of products come apart in one way only
(Kruskal 1977), so the law determines the model up to the names of its states (Liu 2024,
Theorem 7). For random u and v, one of the matrices Σ_x u_x W[x] and Σ_x v_x W[x] times the
inverse of the other has the columns of B as eigenvectors (Harshman 1970, for R. Jennrich).
The proofs are in docs/proofs/posterior_heads.md.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from krohn.kinds.hidden_markov.source_masked import (
    moves,
    nearest,
    predictor,
    reversed_chain,
)
from krohn.kinds.hidden_markov.source_model import HiddenMarkovModel
from krohn.kinds.hidden_markov.statement_masked import Task
from krohn.program.domains import FloatArray
from krohn.program.errors import demand
from krohn.program.user_input import real_array

DRAWS, SWEEPS = 8, 1000
"""How many random pairs (u, v) are tried; how often the best factors are fitted again."""
UNIT = float(np.finfo(np.float64).eps)
MOST_NUMBERS = 2**25
"""Of a law's derivative: entries of the law, for each number of the model."""
FORWARD = Task((2, 3), 1)
TASKS = (FORWARD, Task((1, 3), 2), Task((1, 2), 3))
"""The tasks that a model can be decompiled from."""


@dataclass(frozen=True, eq=False)
class Decompiled:
    """A model that is recovered from a law.

    Attributes:
        emissions: ``(d, k)``: O[o, s] = Pr(o | s). States are in the order of their laws.
        transitions: ``(k, k)``: T[s', s] = Pr(s' | s).
        prior: ``(k,)``: the law of the state at the time of the given letter.
        residual: The largest entry of the law less that of this model.
        condition: By how much more than the law O, T and the prior can move, to first
            order: the largest singular value of the inverse of the law's derivative.
        task: What the law predicts.
    """

    emissions: FloatArray
    transitions: FloatArray
    prior: FloatArray
    residual: float
    condition: float
    task: Task

    def model(self, name: str = "decompiled") -> HiddenMarkovModel:
        """The model, whose first letter is said in a state of the prior.

        Raises:
            Refused: If no law of the state before leads to this prior.
        """
        start = np.linalg.pinv(self.transitions) @ self.prior
        start = _law(start[:, None])[:, 0]
        near = np.abs(self.transitions @ start - self.prior) <= 1e-6
        demand(near, "no law of the state before the first step leads to the prior")
        return HiddenMarkovModel.of(
            name, self.transitions, self.emissions, before=start
        )


def decompiled(
    law: npt.ArrayLike,
    task: Task = FORWARD,
    states: int | None = None,
    off: float = 0.0,
    draws: int = DRAWS,
    seed: int = 0,
) -> Decompiled:
    """The hidden Markov model of a law of three letters in a row.

    Args:
        law: ``(d, d, d)``: E[x_a ⊗ x_b | x_c = x], for each x.
        task: Which of three letters in a row are a, b and c. The chain is stationary,
            except if the first letter is given: then h_1 may have any law.
        states: How many hidden states there are; found from the law if absent.
        off: How far an entry of the law may be off. What is smaller is no state.
        draws: How many random projections are tried; the best is taken.
        seed: Of the projections.

    Raises:
        Refused: If that is no such law, or it does not determine a model: Kruskal's
            condition fails.
    """
    said = real_array(law, "the law")
    _check(said, task, off)
    # Given the last letter, the chain runs backwards: x_2, then x_1.
    tensor = said.transpose(0, 2, 1) if task.given == 3 else said
    left, right = _bases(tensor, states, off)
    tried = _factors(tensor, left, right, draws, seed)
    best = min(tried, key=lambda found: _off(tensor, found), default=None)
    demand(
        best is not None,
        "no projection of this array has real eigenvalues, so it is not a law of "
        "this task",
    )
    assert best is not None
    given, first, second = _fitted(tensor, best)
    _apart(given, np.einsum("ai,bi->abi", first, second), off)
    given = given * first.sum(axis=0) * second.sum(axis=0)  # now B and C are laws
    parts = _model_of(task, given, _law(first), _law(second))
    recovered = _told(said, nearest(said, task, parts), task)
    # The true model has at most this residual, if there is one.
    most = max(off, np.sqrt(UNIT)) * len(said) ** 1.5
    demand(
        states is not None or recovered.residual <= most,
        f"no model of {len(recovered.prior)} states has this law, the nearest is off by "
        f"{recovered.residual:.2g}; and the letters do not tell more states apart "
        "(Kruskal's condition). Say how many there are for the nearest model",
    )
    return recovered


def _check(tensor: FloatArray, task: Task, off: float) -> None:
    """A law of three letters in a row, as exact as is said."""
    demand(
        task in TASKS,
        f"{task} does not determine a model; one of {', '.join(map(str, TASKS))} does "
        "(Liu 2024, Theorem 7)",
    )
    demand(
        tensor.ndim == 3 and len(set(tensor.shape)) == 1, "a law is an array (d, d, d)"
    )
    demand(np.isfinite(tensor), "an entry of the law is no number")
    size = len(tensor)
    near = off + size * size * UNIT
    demand(tensor >= -near, "an entry of the law is negative")
    total = np.abs(tensor.sum(axis=(1, 2)) - 1).max()
    demand(
        total <= size * size * near,
        f"the laws of a letter add up to 1 ± {total:.2g}, not to 1",
    )


def _bases(
    tensor: FloatArray, states: int | None, off: float
) -> tuple[FloatArray, FloatArray]:
    """``(d, k)`` each: what the first and the second letter can tell apart.

    By Weyl's inequality noise moves a singular value by at most its own norm.

    Raises:
        Refused: If that is not k directions of both.
    """
    size = len(tensor)
    noise = max(off, UNIT * np.sqrt(size)) * size**1.5
    found = []
    for axis in (1, 2):
        unfolded = np.moveaxis(tensor, axis, 0).reshape(size, -1)
        basis, values, _ = np.linalg.svd(unfolded, full_matrices=False)
        rank = int((values > noise).sum())
        found.append((rank, basis, values))
    ranks = [rank for rank, _, _ in found]
    count = states or max(ranks)
    numbers = size**3 * (size + count + 1) * count
    demand(
        numbers <= MOST_NUMBERS,
        f"a law of {size} letters and {count} states is too large: its derivative has "
        f"{numbers:,} entries, more than {MOST_NUMBERS:,}",
    )
    demand(
        1 <= count <= size,
        f"{count} hidden states of {size} letters: their laws are not independent, and the "
        "law does not determine them (Kruskal's condition)",
    )
    for rank, which in zip(ranks, ("first", "second"), strict=True):
        demand(
            rank >= count,
            f"the {which} predicted letter tells only {rank} of {count} states apart, so "
            "the law does not determine a model (Kruskal's condition): emissions or "
            "transitions have not full rank"
            + (f" above the error {off:.2g} of the law" if off else ""),
        )
    return found[0][1][:, :count], found[1][1][:, :count]


Factors = tuple[FloatArray, FloatArray, FloatArray]
"""A, B and C: ``(d, k)`` each."""


def _factors(
    tensor: FloatArray, left: FloatArray, right: FloatArray, draws: int, seed: int
) -> Iterator[Factors]:
    """Jennrich's algorithm, once for each random pair of weights."""
    small = np.einsum("xab,ai,bj->xij", tensor, left, right)
    random = np.random.default_rng(seed)
    for _ in range(draws):
        one, other = np.tensordot(random.standard_normal((2, len(tensor))), small, 1)
        try:
            values, vectors = np.linalg.eig(np.linalg.solve(other.T, one.T).T)
            if np.iscomplexobj(values):
                values, vectors = values.real, _real(vectors)
            inverse = np.linalg.inv(vectors)
        except np.linalg.LinAlgError:
            continue
        # inverse @ small[x] = diag(A[x]) C^T: row i of all x together is A_i ⊗ C_i
        each = np.einsum("ij,xjl->ixl", inverse, small)
        u, s, v = np.linalg.svd(each, full_matrices=False)
        given, second = (u[:, :, 0] * s[:, :1]).T, right @ v[:, 0].T
        yield given, left @ vectors, second


def _real(vectors: npt.NDArray[np.complex128]) -> FloatArray:
    """A real basis of pairs of conjugate eigenvectors, which noise makes of close ones."""
    conjugate = (vectors.imag != 0).any(axis=0)
    real = vectors.real.copy()
    second = np.flatnonzero(conjugate)[1::2]
    real[:, second] = vectors.imag[:, second]
    return real


def _together(factors: Factors) -> FloatArray:
    given, first, second = factors
    found: FloatArray = np.einsum("xi,ai,bi->xab", given, first, second)
    return found


def _off(tensor: FloatArray, factors: Factors) -> float:
    return float(np.linalg.norm(tensor - _together(factors)))


def _fitted(tensor: FloatArray, factors: Factors) -> Factors:
    """The factors of least squares: one after the other, while the error falls."""
    least, axes = _off(tensor, factors), (0, 1, 2)
    for _ in range(SWEEPS):
        found = [*factors]
        for axis in axes:
            one, two = (found[other] for other in axes if other != axis)
            products = np.einsum("pi,qi->pqi", one, two).reshape(-1, one.shape[1])
            wanted = np.moveaxis(tensor, axis, 0).reshape(len(tensor), -1)
            found[axis] = np.linalg.lstsq(products, wanted.T, rcond=None)[0].T
        fitted = found[0], found[1], found[2]
        now = _off(tensor, fitted)
        if not now < least * (1 - np.sqrt(UNIT)):
            break
        factors, least = fitted, now
    return factors


def _apart(given: FloatArray, said: FloatArray, off: float) -> None:
    """Refuse two states that follow each letter in one proportion (k_A < 2).

    Least squares on what is said in each state, ``(d, d, k)``, move its share ``given``
    by at most what the law is off by, over the least singular value.
    """
    said = said.reshape(-1, given.shape[1])
    sizes = np.linalg.norm(said, axis=0)
    least = np.linalg.svd(said / sizes, compute_uv=False)[-1]
    shares = np.linalg.norm(given, axis=0) * sizes
    noise = max(off, UNIT) * len(given) ** 1.5 / (least * shares.min())
    units = given / np.linalg.norm(given, axis=0)
    for i, j in combinations(range(given.shape[1]), 2):
        one, other = units[:, i], units[:, j]
        apart = np.linalg.norm(one - (one @ other) * other)
        demand(
            apart > noise,
            "two states are as likely as each other after every letter, so the law does "
            "not determine them (Kruskal's condition)",
        )


def _law(columns: FloatArray) -> FloatArray:
    """Columns as laws; what noise makes negative is 0."""
    signed = columns * np.sign(columns.sum(axis=0))
    kept = np.maximum(signed, 0.0)
    total = kept.sum(axis=0)
    demand(
        total > 0,
        "no model of as many states as the letters tell apart has this law: a law of its "
        "letters or states would be 0. Say how many states there are for the nearest model",
    )
    found: FloatArray = kept / total
    return found


def _model_of(
    task: Task, given: FloatArray, first: FloatArray, second: FloatArray
) -> Factors:
    """Emissions, transitions and the law of the first state, of the factors of a law."""
    if task.given == 2:
        return _around(given, first, second)
    emissions, step, prior = _onwards(given, first, second)
    if task.given == 3:
        demand(prior > 0, "a state of the law never occurs")
        step = _law(reversed_chain(step, step @ prior))
    return emissions, step, prior


def _onwards(given: FloatArray, first: FloatArray, second: FloatArray) -> Factors:
    """O, T and the law of h_1, where A = Pr(h_2 | x_1), B = O and C = OT."""
    transitions = _law(np.linalg.pinv(first) @ second)
    after = _law(given.T)
    before = np.linalg.pinv(transitions) @ after  # Pr(h_1 | x_1), each column a letter
    # before[i, x]·(O s)_x = O[x, i] s_i for the prior s, so s spans the kernel
    letters, size = first.shape
    equations = np.einsum("ix,xj->xij", before, first)
    equations[:, range(size), range(size)] -= first
    rows = equations.reshape(letters * size, size)
    kernel = np.linalg.svd(rows, full_matrices=False)[2]
    return first, transitions, _law(kernel[-1][:, None])[:, 0]


def _around(given: FloatArray, first: FloatArray, second: FloatArray) -> Factors:
    """The same, where A = Pr(h_2 | x_2), B = O·Pr(h_1 | h_2) and C = OT.

    C Aᵀ is the step from x_2 to x_3, so its stationary law m is that of a letter, Aᵀ m the
    prior, and diag(m) A = O diag(prior).
    """
    after = _law(given.T).T
    values, vectors = np.linalg.eig(second @ after.T)
    letter = _law(vectors[:, [int(np.abs(values - 1).argmin())]].real)[:, 0]
    prior = after.T @ letter
    emissions = _law(letter[:, None] * after)
    return emissions, _law(np.linalg.pinv(emissions) @ second), prior


def _told(law: FloatArray, parts: Factors, task: Task) -> Decompiled:
    """The model, with its residual, and states in the order of their laws."""
    emissions, transitions, prior = parts
    order = np.lexsort(emissions.round(9)[::-1])[::-1]
    emissions, prior = emissions[:, order], prior[order]
    transitions = transitions[np.ix_(order, order)]
    residual = np.abs(predictor(task, emissions, transitions, prior) - law).max()
    free = prior if task.given == 1 else None
    with np.errstate(divide="ignore"):
        condition = 1 / moves([task], emissions, transitions, free)[-1]
    return Decompiled(
        emissions, transitions, prior, float(residual), float(condition), task
    )
