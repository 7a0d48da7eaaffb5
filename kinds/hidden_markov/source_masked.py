"""Masked prediction, which models it determines, and models that predict the same."""

from collections.abc import Callable, Sequence
from math import cos, pi, sin, sqrt

import numpy as np

from krohn.kinds.hidden_markov.source_model import HiddenMarkovModel
from krohn.kinds.hidden_markov.statement_masked import SUM, Task
from krohn.program.domains import FloatArray
from krohn.program.errors import demand

# Masked prediction: the mean of one letter, or of two, given another (Liu 2024, 2.2).
#
# A stationary chain of k hidden states says a letter, or a point, in each. The best
# guess of x_a, or of x_a ⊗ x_b, after x_c alone is linear in the posterior φ of the
# state h_c: E[x_a ⊗ x_b | x_c] = Σ_j φ_j(x_c) E[x_a ⊗ x_b | h_c = j]. Letters are unit
# vectors here, so their mean is their law.


def stationary(transitions: FloatArray, near: float | None = None) -> FloatArray:
    """``(k,)``: the only law that a step keeps; uniform ones exactly.

    Args:
        transitions: ``(k, k)``: T[s', s] = Pr(s' | s); columns add up to 1.
        near: How far rows of a uniform law may be from adding up to 1; roundings if
            absent, so that the law does not jump where a model comes near to it.

    Raises:
        Refused: If there are several.
    """
    size = len(transitions)
    near = size * UNIT if near is None else near
    if (np.abs(transitions.sum(axis=1) - 1) <= near).all():
        return np.full(size, 1 / size)
    system = np.vstack([transitions - np.eye(size), np.ones(size)])
    law, _, rank, _ = np.linalg.lstsq(system, np.eye(size + 1)[size], rcond=None)
    demand(rank == size, "the chain has more than one stationary law")
    positive = np.maximum(law, 0)
    stationary_law: FloatArray = positive / positive.sum()
    return stationary_law


def reversed_chain(transitions: FloatArray, prior: FloatArray) -> FloatArray:
    """``(k, k)``: Pr(h_t = i | h_{t+1} = j) of the stationary chain.

    Raises:
        Refused: If a state never occurs.
    """
    demand(prior > 0, "a state of the chain never occurs")
    back: FloatArray = prior[:, None] * transitions.T / prior
    return back


def given_state(
    task: Task, emissions: FloatArray, transitions: FloatArray, prior: FloatArray
) -> FloatArray:
    """``(k, d)`` or ``(k, d, d)``: E[x_a | h_c = j], or E[x_a ⊗ x_b | h_c = j].

    Args:
        task: What is predicted.
        emissions: ``(d, k)``: the mean of x in each state: laws of letters, or points.
        transitions: ``(k, k)``: T[s', s] = Pr(s' | s).
        prior: ``(k,)``: the stationary law.
    """

    def steps(start: int, end: int) -> FloatArray:
        """The law of h_end in each state of h_start."""
        step = transitions if end > start else reversed_chain(transitions, prior)
        power: FloatArray = np.linalg.matrix_power(step, abs(end - start))
        return power

    given, first, last = task.given, task.predicted[0], task.predicted[-1]
    if first == last:
        one: FloatArray = (emissions @ steps(given, first)).T
        return one
    if first < given < last:
        before, after = (emissions @ steps(given, t) for t in (first, last))
        around: FloatArray = np.einsum("aj,bj->jab", before, after)
        return around
    near, far = (first, last) if given < first else (last, first)
    at, then = steps(given, near), emissions @ steps(near, far)
    pairs: FloatArray = np.einsum("ij,ai,bi->jab", at, emissions, then)
    return pairs if near == first else pairs.transpose(0, 2, 1)


def letter_posterior(emissions: FloatArray, prior: FloatArray) -> FloatArray:
    """``(d, k)``: Pr(h | x), a row for each letter.

    Raises:
        Refused: If no state says a letter.
    """
    joint = emissions * prior
    demand(joint.sum(axis=1) > 0, "no state says one of the letters")
    posterior: FloatArray = joint / joint.sum(axis=1, keepdims=True)
    return posterior


def predictor(
    task: Task,
    emissions: FloatArray,
    transitions: FloatArray,
    prior: FloatArray | None = None,
) -> FloatArray:
    """``(d, d)`` or ``(d, d, d)``: what is predicted, for each letter that is given.

    Args:
        task: What is predicted.
        emissions: ``(d, k)``: O[o, s] = Pr(o | s).
        transitions: ``(k, k)``: T[s', s] = Pr(s' | s).
        prior: ``(k,)``: the stationary law; found if absent.
    """
    law = stationary(transitions) if prior is None else prior
    values = given_state(task, emissions, transitions, law)
    prediction: FloatArray = np.tensordot(
        letter_posterior(emissions, law), values, axes=1
    )
    return prediction


def factors(model: HiddenMarkovModel) -> tuple[FloatArray, FloatArray]:
    """Emissions ``(d, k)`` and transitions ``(k, k)``, of letters said in states.

    Raises:
        Refused: If the letter depends on the step, and not on the state alone; if letters
            are chosen; or if nothing leads to a state.
    """
    demand(model.actions is None, f"the letters of {model.name} are chosen")
    transitions = model.operators.sum(axis=0)
    into = transitions.sum(axis=1)
    demand(into > 0, f"a state of {model.name} is never reached")
    emissions = model.operators.sum(axis=2) / into
    near = np.abs(emissions[:, :, None] * transitions - model.operators) <= SUM
    demand(near, f"{model.name} emits letters on steps, not in states")
    return emissions, transitions


# Which predictions determine a hidden Markov model: to first order, by a derivative.
#
# Some moves of emissions and transitions leave what is predicted as it is. If a whole
# direction does, to first order, then the predictions do not determine the model near it;
# if none does, they do nearby, and Kruskal's theorem decides the rest.


STEP = float(np.finfo(np.float64).eps ** (1 / 3))
"""Of a central difference: its errors of rounding and of curvature are equal then."""


def moves(
    tasks: Sequence[Task],
    emissions: FloatArray,
    transitions: FloatArray,
    prior: FloatArray | None = None,
) -> FloatArray:
    """How far predictions move with the model: singular values, the least last.

    Moves keep the sums of columns. A chain whose transitions are doubly stochastic stays
    one (Liu 2024, Assumption 5).

    Args:
        tasks: What is predicted, all of it together.
        emissions: ``(d, k)``: O[o, s] = Pr(o | s).
        transitions: ``(k, k)``: T[s', s] = Pr(s' | s).
        prior: ``(k,)``: the law of the given state, which moves as well; if absent, the
            chain is stationary.
    """
    k, uniform = len(transitions), np.abs(transitions.sum(axis=1) - 1) <= SUM
    doubly = bool(uniform.all()) and prior is None
    across = _sums_to_zero(k) if doubly else np.eye(k)
    parts = [
        (emissions, _each(_sums_to_zero(len(emissions)), np.eye(k))),
        (transitions, _each(_sums_to_zero(k), across)),
    ]
    if prior is not None:
        parts.append((prior, _sums_to_zero(k)))

    def predict_all(values: Sequence[FloatArray]) -> FloatArray:
        law = values[2] if prior is not None else stationary(values[1])
        every = [predictor(task, values[0], values[1], law) for task in tasks]
        return np.concatenate([prediction.ravel() for prediction in every])

    singular_values: FloatArray = np.linalg.svd(
        derivative(predict_all, parts), full_matrices=False
    )[1]
    return singular_values


def freedom(
    tasks: Sequence[Task], emissions: FloatArray, transitions: FloatArray
) -> int:
    """In how many directions a stationary model can move while no prediction does."""
    values = moves(tasks, emissions, transitions)
    return int((values <= STEP * values[0]).sum())


def _sums_to_zero(size: int) -> FloatArray:
    """``(n, n − 1)``: orthonormal columns, each of sum 0."""
    basis = np.linalg.qr(np.eye(size) - 1 / size)[0][:, : size - 1]
    return np.asarray(basis, np.float64)


def _each(rows: FloatArray, columns: FloatArray) -> FloatArray:
    return np.asarray(np.kron(rows, columns), np.float64)


def derivative(
    told: Callable[[Sequence[FloatArray]], FloatArray],
    parts: Sequence[tuple[FloatArray, FloatArray]],
) -> FloatArray:
    """``(outputs, directions)``, by central differences.

    Args:
        told: What is said, from values.
        parts: Each value, and ``(entries, directions)``: where it moves.
    """
    values, columns = [value for value, _ in parts], []
    for at, (value, basis) in enumerate(parts):
        for direction in basis.T:
            step = STEP * direction.reshape(value.shape)
            ends = [
                told([*values[:at], value + sign * step, *values[at + 1 :]])
                for sign in (1, -1)
            ]
            columns.append((ends[0] - ends[1]) / (2 * STEP))
    return np.array(columns).T


# The stationary model nearest to a law that is off: least squares from a first guess.
#
# Probabilities are squares divided by their sum, so that none is negative and each step
# is free (Levenberg 1944, Marquardt 1963).


STEPS = 100
"""How many steps are tried."""
DAMPING, FACTOR = 1e-3, 10.0
"""The first damping, in units of the largest curvature; by what it is changed."""
LITTLE, UNIT = 1e-6, float(np.finfo(np.float64).eps)
"""By what part the sum of squares must fall for another step."""
Told = Callable[[Sequence[FloatArray]], FloatArray]
Parts = tuple[FloatArray, FloatArray, FloatArray]


def nearest(law: FloatArray, task: Task, parts: Parts) -> Parts:
    """O, T and the prior of least squares, from those of a guess.

    Args:
        law: ``(d, d, d)``.
        task: What it says. The prior is free if the first letter is given; otherwise the
            chain is stationary.
        parts: The guess.
    """

    def compute_residuals(roots: Sequence[FloatArray]) -> FloatArray:
        return (predictor(task, *_laws(roots, task)) - law).ravel()

    error = float(np.abs(predictor(task, *parts) - law).max())
    if error <= len(law) * UNIT:  # no more than roundings
        return parts
    roots = [np.sqrt(np.maximum(x, error)) for x in parts[: 2 + (task.given == 1)]]
    roots = _descend_residuals(compute_residuals, roots)
    better = np.abs(compute_residuals(roots)).max() < error
    return _laws(roots, task) if better else parts


def _descend_residuals(told: Told, roots: list[FloatArray]) -> list[FloatArray]:
    """Where the sum of squares falls no more, or hardly."""
    left, damping, slope = told(roots), DAMPING, None
    for _ in range(STEPS):
        if slope is None:
            slope = derivative(told, [(x, np.eye(x.size)) for x in roots])
            square, down = slope.T @ slope, -slope.T @ left
        ridge = damping * max(float(np.diag(square).max()), UNIT) * np.eye(len(down))
        moved = np.split(np.linalg.solve(square + ridge, down), _ends(roots))
        tried = [x + y.reshape(x.shape) for x, y in zip(roots, moved, strict=True)]
        now, before = told(tried), float(left @ left)
        if not now @ now < before:
            damping *= FACTOR
            if damping > 1 / UNIT:
                break
            continue
        roots, left, slope, damping = tried, now, None, damping / FACTOR
        if now @ now > before * (1 - LITTLE):
            break
    return roots


def _ends(roots: Sequence[FloatArray]) -> list[int]:
    ends: list[int] = np.cumsum([x.size for x in roots])[:-1].tolist()
    return ends


def _laws(roots: Sequence[FloatArray], task: Task) -> Parts:
    """Emissions, transitions and the prior."""
    laws = [x**2 / (x**2).sum(axis=0) for x in roots]
    return laws[0], laws[1], laws[2] if task.given == 1 else stationary(laws[1])


# Different models that predict the same: pairs of Liu 2024, section 2.2.


Pair = tuple[FloatArray, FloatArray]
"""Emissions, or means, ``(d, k)``; and transitions ``(k, k)``."""
PRINTED: tuple[Pair, Pair] = (
    (
        np.array(
            [
                [0.23016003, 0.3549092, 0.16493077],
                [0.30716059, 0.06962305, 0.37321636],
                [0.2580854, 0.26965425, 0.22226035],
                [0.20459398, 0.3058135, 0.23959252],
            ]
        ),
        np.array(
            [
                [0.56893146, 0.35811118, 0.07295736],
                [0.35811118, 0.10805638, 0.53383243],
                [0.07295736, 0.53383243, 0.39321021],
            ]
        ),
    ),
    (
        np.array(
            [
                [0.24120928, 0.35062535, 0.15816537],
                [0.28937626, 0.07433156, 0.38629218],
                [0.26077674, 0.26749114, 0.22173212],
                [0.20863772, 0.30755194, 0.23381033],
            ]
        ),
        np.array(
            [
                [0.59740926, 0.30452087, 0.09806987],
                [0.30452087, 0.1331689, 0.56231024],
                [0.09806987, 0.56231024, 0.33961989],
            ]
        ),
    ),
)
"""Equation 2.47: digits of a pair whose pairwise predictions are equal (Theorem 6)."""


def rotation(angle: float) -> FloatArray:
    """A turn about (1, 1, 1): its rows and columns add up to 1 (Rodrigues)."""
    cross = np.array([[0, -1, 1], [1, 0, -1], [-1, 1, 0]]) / sqrt(3)
    along = np.full((3, 3), 1 / 3)
    turn: FloatArray = cos(angle) * (np.eye(3) - along) + sin(angle) * cross + along
    return turn


def same_power(power: int) -> tuple[FloatArray, FloatArray]:
    """Two transition matrices with the same power and no permutation between them.

    A cycle of three that stays half of the time commutes with rotations about (1, 1, 1);
    one by 2π/t has the power t of no rotation (Claim 3; the printed T̃ lacks the factor T).

    Args:
        power: t, at least 2.

    Raises:
        Refused: If a probability comes out negative.
    """
    demand(power >= 2, "a power is at least 2")
    one = (np.eye(3) + np.roll(np.eye(3), 1, axis=0)) / 2
    other = rotation(2 * pi / power) @ one
    # Where a power makes an entry 0, rounding leaves less than a unit of 1.
    other[np.abs(other) <= 4 * np.finfo(np.float64).eps] = 0
    demand(other >= 0, f"with power {power}, a probability is negative")
    return one, other
