"""Numbers that a person types are rounded before a network reads them, and that counts.

The answer is held against the source at the decimals themselves, in fractions.
"""

from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import krohn
from krohn.algebra.errors import KrohnError
from krohn.kinds.attention_targets.source_sampling import attention_target
from krohn.kinds.attention_targets.source_target import AttentionTarget
from krohn.kinds.hidden_markov.statement_masked import Task
from krohn.kinds.kernels.source_kernel import (
    Kernel,
    Mode,
)
from krohn.kinds.posterior_heads.source import PosteriorHead
from krohn.source_kinds import KINDS
from krohn.source_kinds.real_sequences import RealSequences

TYPED = ("0.1", "0.3", "0." + "3" * 40, "0.7", "0.99999999999999999999", "1e-41")
Vectors = list[tuple[Fraction, ...]]
Oracle = Callable[[Any, Vectors], list[list[Fraction]]]


def kernel(source: Kernel, x: Vectors) -> list[list[Fraction]]:
    """Σ ρ(s) x(t − s); its modes are real."""

    def rho(s: int) -> Fraction:
        values = [Fraction(v) for v in source.values]
        modes = (Fraction(c.real) * Fraction(b.real) ** s for c, b in source.modes)
        return sum(modes, values[s] if s < len(values) else Fraction(0))

    times = range(len(x))
    return [
        [sum((rho(s) * x[t - s][0] for s in range(t + 1)), Fraction(0))] for t in times
    ]


def predicted(source: Any, x: Vectors) -> list[list[Fraction]]:
    """With A = B = R = 1 and Q = 1/2 the variance is 1, and F and the gain are 1/2."""
    state, said = Fraction(0), []
    for (y,) in x:
        state = (state + y) / 2
        said.append([state])
    return said


def target(source: AttentionTarget, x: Vectors) -> list[list[Fraction]]:
    """Σ softmax[ρ] f, of tables that are joined by lines."""

    def at(table: Any, place: Fraction) -> list[Fraction]:
        below = min(int(place * source.points), source.points - 1)
        part = place * source.points - below
        rows = (map(Fraction, row.tolist()) for row in table[below : below + 2])
        return [a * (1 - part) + b * part for a, b in zip(*rows, strict=True)]

    places = [place for (place,) in x]
    left, right, f = (
        [at(table, place) for place in places]
        for table in (source.left, source.right, source.f)
    )
    scores = [[dot(a, b) for b in right] for a in left]
    return [mean(softmax(row), f) for row in scores]


def selected(source: Any, x: Vectors) -> list[list[Fraction]]:
    """The mean of each own segment, or of what each vector picks."""
    if source.form == "selection":
        weights = [row[2:] for row in x]
        return [mean(normed(row), [y[:2] for y in x]) for row in weights]
    weighed = [[m * (own == s) for _, m, s in x] for _, _, own in x]
    return [mean(normed(row), [y[:1] for y in x]) for row in weighed]


def posterior(source: PosteriorHead, x: Vectors) -> list[list[Fraction]]:
    """The mean of the guesses, weighed by the law of the state; the prior is uniform."""
    means = [[Fraction(m) for m in row] for row in source.emissions.T.tolist()]
    steps = [[Fraction(p) for p in row] for row in source.transitions.T.tolist()]
    guesses = [mean(row, means) for row in steps]
    near = [[dot(m, p) - dot(m, m) / 2 for m in means] for p in x]
    return [mean(softmax(row), guesses) for row in near]


def grid(source: Any, x: Vectors) -> list[list[Fraction]]:
    """The table itself."""
    return [[y] for y in source.values[tuple(x)]]


def dot(one: Sequence[Fraction], other: Sequence[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(one, other, strict=True)), Fraction(0))


def mean(
    weights: Sequence[Fraction], rows: Sequence[Sequence[Fraction]]
) -> list[Fraction]:
    return [dot(weights, column) for column in zip(*rows, strict=True)]


def normed(weights: Sequence[Fraction]) -> list[Fraction]:
    return [w / sum(weights) for w in weights]


def softmax(scores: Sequence[Fraction]) -> list[Fraction]:
    """To 80 digits."""
    with localcontext(prec=80):
        told = [Decimal(s.numerator) / Decimal(s.denominator) for s in scores]
        return normed([Fraction((s - max(told)).exp()) for s in told])


def steep() -> AttentionTarget:
    """A target with which the rounding of inputs outweighs all other errors."""
    up_and_down: Any = 1.0 - 2.0 * (np.arange(257) % 2)
    rho = np.outer(np.arange(257), np.arange(257)) / 2**14
    return attention_target(rho=rho, f=up_and_down, length=2, knots=256)


def points() -> PosteriorHead:
    steps = np.array([[0.75, 0.25], [0.25, 0.75]])
    means = np.array([[1.0, -1.0], [0.5, -2.0]])
    return PosteriorHead.of("points", means, steps, Task.of("2given1"), radius=1.0)


def delta(**modes: Any) -> Kernel:
    return Kernel("delta", (1.0,), **modes, length=6)


WALK = krohn.kalman([[1.0]], [[1.0]], 0.5, 1.0)
FADING = {"modes": (Mode(0.75, 0.5),)}
PAIRS = [f"{a},{b}" for a, b in zip(TYPED, reversed(TYPED), strict=True)]
PICKS = ["0.1,0.3,1,0,2", f"{TYPED[2]},0.7,1,1,1", "0.9,1e-41,0,0,1"]
CASES: list[tuple[str, Any, dict[str, Any], Oracle, list[str]]] = [
    ("kernel", delta(modes=()), {"arch": "rnn"}, kernel, [" ".join(TYPED)]),
    ("kernel", delta(**FADING), {"arch": "rnn"}, kernel, [" ".join(TYPED)]),
    ("kernel", delta(**FADING), {}, kernel, [" ".join(TYPED)]),
    ("kalman-predictor", WALK, {"arch": "rnn"}, predicted, [" ".join(TYPED)]),
    ("kalman-predictor", WALK, {"length": 6}, predicted, [" ".join(TYPED)]),
    ("attention-target", steep(), {}, target, [f"{a} {TYPED[0]}" for a in TYPED]),
    ("selected-mean", "Gravity6", {}, selected, [" ".join(f"{a},3,1" for a in TYPED)]),
    ("selected-mean", "Select3", {}, selected, [" ".join(PICKS)]),
    ("posterior-head", points(), {}, posterior, [" ".join(PAIRS)]),
    ("grid-function", "Sorted3,2", {}, grid, ["0 0.25 0.5", "0.125 0.375 0.625"]),
]
"""Of each kind that reads real numbers sources, networks, and inputs as they are typed."""


def off(right: list[list[Fraction]], said: list[list[float]]) -> Fraction:
    pairs = zip(right, said, strict=True)
    return max(
        abs(a - Fraction(b)) for r, s in pairs for a, b in zip(r, s, strict=True)
    )


def test_every_kind_that_reads_real_numbers_is_asked() -> None:
    real = {name for name, kind in KINDS.items() if isinstance(kind, RealSequences)}
    assert {case[0] for case in CASES} == real


@pytest.mark.sample(3)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_answers_are_within_the_error_of_the_source_at_what_is_typed(
    case: Any, dtype: str
) -> None:
    wire, source, how, oracle, inputs = case
    file = krohn.compile(source, **how, dtype=dtype).file
    kind, error = KINDS[wire], Fraction(file.header["claim"]["error"])
    assert isinstance(kind, RealSequences)
    assert error < Fraction(1, 100)
    for typed in inputs:
        x = [tuple(map(Fraction, v.split(","))) for v in typed.split()]
        told = kind.run(file, [typed])
        assert told["error"] == file.header["claim"]["error"]
        assert off(oracle(kind.of_file(file), x), told["outputs"]) <= error


def test_a_decimal_that_is_no_point_of_a_grid_is_refused() -> None:
    file = krohn.compile("Sorted3,2").file
    with pytest.raises(KrohnError, match="vector 2 is no point of its position"):
        KINDS["grid-function"].run(file, ["0 0.3 0.5"])
