"""Hidden Markov models as people bring them: drawn anew, and well-known ones; ways in."""

from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from krohn.kinds.hidden_markov import source_files as files
from krohn.kinds.hidden_markov.source import HiddenMarkovModel
from krohn.network.precision import FloatArray

STICKINESS = (0.0, 0.5, 0.8, 0.95)
ZERO = 0.3


class Case(NamedTuple):
    """A model by its arrays, whose rows are laws.

    Attributes:
        name: What it is called.
        kind: In which row of the table it counts.
        start: ``(n,)``.
        step: ``(n, n)``.
        say: ``(n, m)``.
    """

    name: str
    kind: str
    start: FloatArray
    step: FloatArray
    say: FloatArray


def drawn(seed: int) -> Case:
    """The model of a seed; kinds take turns, so that each is as often drawn."""
    random = np.random.default_rng([29, seed])
    sticky, zeros = STICKINESS[seed % 4], bool(seed // 4 % 2)
    states, letters = int(random.integers(2, 9)), int(random.integers(2, 7))
    step = _laws(random, (states, states), zeros)
    step = sticky * np.eye(states) + (1 - sticky) * step
    start, say = (
        _laws(random, (1, states), zeros)[0],
        _laws(random, (states, letters), zeros),
    )
    kind = f"stays {sticky:g}" + (", zeros" if zeros else "")
    return Case(f"seed {seed}", kind, start, step, say)


def _laws(
    random: np.random.Generator, shape: tuple[int, int], zeros: bool
) -> FloatArray:
    found = random.random(shape)
    if zeros:
        kept = random.random(shape) >= ZERO
        found = found * (kept | (found == found.max(axis=1, keepdims=True)))
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def _nearly(rows: Sequence[Sequence[float]]) -> FloatArray:
    found = np.array(rows, np.float64)
    return np.asarray(found / found.sum(axis=-1, keepdims=True))


def known() -> list[Case]:
    """Models that people bring, among them hard ones."""
    even = np.full(2, 0.5)
    casino = _nearly([[0.95, 0.05], [0.1, 0.9]]), _nearly([[1] * 6, [1] * 5 + [5]])
    bases = _nearly([[0.15, 0.35, 0.35, 0.15], [0.3, 0.2, 0.2, 0.3]])
    islands = _nearly([[0.999, 0.001], [0.0002, 0.9998]])
    inside = [
        [0.18, 0.274, 0.426, 0.12],
        [0.171, 0.368, 0.274, 0.188],
        [0.161, 0.339, 0.375, 0.125],
        [0.079, 0.355, 0.384, 0.182],
    ]
    outside = [
        [0.3, 0.205, 0.285, 0.21],
        [0.322, 0.298, 0.078, 0.302],
        [0.248, 0.246, 0.298, 0.208],
        [0.177, 0.239, 0.292, 0.292],
    ]
    both = np.block(
        [
            [0.99 * _nearly(inside), np.full((4, 4), 0.0025)],
            [np.full((4, 4), 0.00125), 0.995 * _nearly(outside)],
        ]
    )
    forward = _nearly(
        [[0.7, 0.3, 0, 0], [0, 0.6, 0.4, 0], [0, 0, 0.8, 0.2], [0, 0, 0, 1]]
    )
    forward_say = _nearly([[6, 2, 1], [1, 6, 2], [2, 1, 6], [4, 4, 1]])
    tiny = _nearly([[0.9, 0.1], [1e-12, 1]])
    two = _nearly([[0.7, 0.3], [0.2, 0.8]])
    one = np.array([1.0, 0.0])
    three = np.array([1.0, 0, 0])
    found = [
        ("dishonest casino", even, *casino),
        ("CpG islands, 2 states", even, islands, bases),
        ("CpG islands, 8 states", np.full(8, 0.125), both, np.tile(np.eye(4), (2, 1))),
        ("left to right", np.eye(4)[0], forward, forward_say),
        (
            "absorbing",
            three,
            _nearly([[0.8, 0.15, 0.05], [0.1, 0.8, 0.1], [0, 0, 1]]),
            _nearly([[5, 3, 2], [2, 5, 3], [1, 2, 7]]),
        ),
        ("identity", even, np.eye(2), two),
        ("an entry of 1e-12", one, tiny, two),
        *(_fitted(states) for states in (3, 4, 6)),
    ]
    return [Case(name, "known", *map(np.asarray, arrays)) for name, *arrays in found]


def _fitted(states: int) -> tuple[Any, ...]:
    """As a fit leaves a model: a certain start, and entries from 1e-30 to 1."""
    random = np.random.default_rng([31, states])
    laws = [
        10.0 ** -random.gamma(1.0, 2.0, shape)
        for shape in ((states, states), (states, 4))
    ]
    step = _nearly(laws[0] + 5 * np.eye(states))
    return f"fitted, {states} states", np.eye(states)[0], step, _nearly(laws[1])


# The ways in. Arrays and fitted objects say the law of the state that says the first
# letter; `.pomdp` files and own ones that of the state before the first step.


def _arrays(case: Case) -> dict[str, FloatArray]:
    return {"startprob": case.start, "transmat": case.step, "emissionprob": case.say}


def _array_file(case: Case, folder: Path) -> str:
    np.savez(folder / "model.npz", **_arrays(case))
    return str(folder / "model.npz")


def _fitted_object(case: Case, folder: Path) -> object:
    return SimpleNamespace(
        **{f"{name}_": array for name, array in _arrays(case).items()}
    )


def _python(case: Case, folder: Path) -> HiddenMarkovModel:
    return HiddenMarkovModel.of(case.name, case.step.T, case.say.T, before=case.start)


def _own_file(case: Case, folder: Path) -> str:
    (folder / "model.json").write_text(files.text(_python(case, folder)))
    return str(folder / "model.json")


def _pomdp(case: Case, folder: Path) -> str:
    def told(rows: FloatArray) -> str:
        return "\n".join(" ".join(map(repr, row)) for row in rows.tolist())

    states, letters = case.say.shape
    text = (
        f"discount: 1\nvalues: reward\nstates: {states}\nactions: go\n"
        f"observations: {letters}\nstart: {told(case.start[None])}\n\n"
        f"T: go\n{told(case.step)}\n\nO: go\n{told(case.say)}\n"
    )
    (folder / "model.pomdp").write_text(text)
    return str(folder / "model.pomdp")


WAYS: dict[str, Callable[[Case, Path], Any]] = {
    "arrays, `.npz`": _array_file,
    "fitted object": _fitted_object,
    "Python": _python,
    "own file": _own_file,
    "`.pomdp`": _pomdp,
}
