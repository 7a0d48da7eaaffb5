"""Sums of independent parts are as near as Theorem 14a says, in any order."""

import numpy as np
from hypothesis import given, strategies as st

from krohn.verify.checker.affine_arithmetic import Noisy, Sums
from krohn.verify.checker.arithmetic import FORMATS
from krohn.verify.checker.model_file import FloatArray
from krohn.verify.checker.passed_sums import independent

FORM = FORMATS["float32"]
Part = tuple[FloatArray, FloatArray, FloatArray]
"""Numbers ``(values, units)``, how far each is off, and weights."""


def drawn(rng: np.random.Generator) -> Part:
    """Units of one part: whole numbers or others, with noise or without."""
    values, units = rng.integers(1, 5, size=2)
    x = rng.integers(0, 9, size=(values, units)).astype(np.float64)
    noise = rng.random((values, units)) * rng.choice([0, 0, 2.0**-5])
    weight = rng.integers(-3, 4, size=units) * rng.choice([1.0, 0.5, 0.1])
    return x, noise, weight.astype(np.float32).astype(np.float64)


def sums(part: Part) -> Sums:
    x, noise, weight = part
    none = np.zeros((0, *x.shape))
    return Noisy(x, none, noise, FORM).products(weight[:, None])


@given(st.integers(0, 2**32))
def test_no_choice_of_values_noises_and_orders_is_further_off(seed: int) -> None:
    rng = np.random.default_rng(seed)
    parts = [drawn(rng) for _ in range(rng.integers(1, 5))]
    goals = [np.rint(x @ weight)[:, None] for x, _, weight in parts]
    bias = float(rng.integers(-2, 3))
    told = zip(map(sums, parts), goals, strict=True)
    with np.errstate(all="ignore"):
        bound = independent(list(told), bias, FORM)
    for _ in range(20):
        right, terms = bias, [np.float32(bias)]
        for (x, noise, weight), goal in zip(parts, goals, strict=True):
            i = rng.integers(len(x))
            signs = rng.choice([-1.0, 0.0, 1.0], size=weight.shape)
            held = (x[i] + signs * noise[i]).astype(np.float32)
            inside = np.abs(held.astype(np.float64) - x[i]) <= noise[i]
            held = np.where(inside, held, x[i]).astype(np.float32)
            terms += list(held * weight.astype(np.float32))
            right += float(goal[i, 0])
        total = np.float32(0)
        for at in rng.permutation(len(terms)):
            total = np.float32(total + terms[at])
        assert abs(float(total) - right) <= bound


def test_whole_numbers_are_added_exactly() -> None:
    """Lemma 7: without noise nothing is lost, however many terms there are."""
    part = np.arange(12.0).reshape(3, 4), np.zeros((3, 4)), np.array([1.0, 2, -1, 0.5])
    told = [(sums(part), (part[0] @ part[2])[:, None])] * 50
    with np.errstate(all="ignore"):
        assert independent(told, 3.0, FORM) == 0
        assert independent([(told[0][0], told[0][1] + 1)] * 2, 0.0, FORM) == 2
