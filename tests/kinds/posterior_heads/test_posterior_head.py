"""What is shown of a posterior head is never exceeded, nor of a damaged one."""

import copy
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise, product
from math import prod
from typing import Any

import numpy as np
import pytest

import krohn
from krohn.compiler.compiled_network import CompiledNetwork
from krohn.kinds.hidden_markov.source_masked import stationary
from krohn.kinds.hidden_markov.statement_masked import Task
from krohn.kinds.posterior_heads.build import network
from krohn.kinds.posterior_heads.commands import PosteriorHeads
from krohn.kinds.posterior_heads.source import (
    PosteriorHead,
    find_by_name,
)
from krohn.network.modelfile import ModelFile
from krohn.network.precision import PRECISIONS, FloatArray
from krohn.program.errors import Refused
from krohn.source_kinds.real_sequences import run_network
from krohn.verify.checker.softmax import bound_sway
from krohn.verify.proof import prove, shown_of

HUGE = float(np.finfo(np.float64).max)
KIND = PosteriorHeads()
NAMES = [
    "GaussianHMM3,2@7",
    "GaussianHMM5,4@2:R=30",
    "GaussianHMM4,3@1:13given2",
    "RanHMM3,5@7:23given1",
    "GoldenMean:2given1",
    "Twin1:12given3",
]


def made(
    name: str,
    dtype: str = "float64",
    construction: str = "posterior",
    error: float = HUGE,
) -> ModelFile:
    source, precision = find_by_name(name), PRECISIONS[dtype]
    assert source is not None
    layer = network(source, construction, 3, precision)
    header = {
        "architecture": layer.architecture,
        "source": source.to_wire(),
        "construction": construction,
        "claim": {"kind": "within", "dtype": dtype, "length": 3, "error": error},
    }
    built = CompiledNetwork(construction, layer, {}, None)
    file = ModelFile(
        header, {n: precision.round(t) for n, t in layer.tensors.items()}, precision
    )
    assert built.network.tensors.keys() == file.tensors.keys()
    return file


def shown(file: ModelFile) -> Any:
    return shown_of(file)


def inputs(source: PosteriorHead, file: ModelFile, count: int = 60) -> FloatArray:
    random = np.random.default_rng(1)
    bad = KIND.adversarial(source, file, count, random)
    return file.precision.round(
        np.concatenate([bad, KIND.sample_vectors(source, (count, 3), random)])
    )


def measured(file: ModelFile) -> float:
    source = PosteriorHead.from_wire(file.header["source"])
    x = inputs(source, file)
    with np.errstate(all="ignore"):
        off = np.abs(run_network(file, x) - source.run(x)).max()
    return float(off) - source.rounding()


@pytest.mark.sample(6)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", NAMES)
def test_no_input_exceeds_what_is_shown(name: str, dtype: str) -> None:
    file = made(name, dtype)
    error = shown(file).error
    assert measured(file) <= error
    largest = max(1.0, float(np.abs(file.tensors["memory.value"]).max()))
    assert error <= 60_000 * file.precision.unit * largest


@pytest.mark.parametrize("name", NAMES[3:])
def test_a_table_is_shown_as_well(name: str) -> None:
    file = made(name, construction="lookup")
    assert measured(file) <= shown(file).error <= 1e-12


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_narrow_formats_are_refused(dtype: str) -> None:
    with pytest.raises(Refused, match="too narrow"):
        shown(made(NAMES[0], dtype))


@pytest.mark.slow
def test_weights_move_a_mean_by_at_most_a_tangent() -> None:
    """Lemma P1: logarithms that move apart by D move a mean by tanh(D/4) of its spread."""
    random = np.random.default_rng(0)
    worst = 0.0
    for _ in range(2000):
        slots, apart = int(random.integers(2, 6)), float(random.exponential(2))
        scores = random.normal(size=slots) * 3
        moved = scores + apart * random.integers(0, 2, slots)
        values = random.normal(size=(slots, 1))
        means = [np.exp(s) @ values / np.exp(s).sum() for s in (scores, moved)]
        most = bound_sway(apart, np.ptp(values)).most
        off = float(np.abs(means[0] - means[1]).max())
        assert off <= most * (1 + 1e-12)
        worst = max(worst, off / most)
    tight = np.array([0.5, -0.5])
    ends = [1 / (1 + np.exp(-2 * s)) for s in tight]
    assert ends[0] - ends[1] == pytest.approx(bound_sway(2.0, 1.0).most)
    assert worst > 0.9


def test_twins_are_equal_on_pairs_and_not_on_triples() -> None:
    for task, least, most in (("2given1", 0, 2e-8), ("23given1", 1.6e-4, 1.7e-4)):
        file, other = made(f"Twin1:{task}"), made(f"Twin2:{task}")
        file.header["source"] = other.header["source"]
        assert least <= shown(file).error <= most


def test_a_rare_state_keeps_its_own_share() -> None:
    """A step back divides by its prior: Pr(x_1 = 1 | x_2 = 2) would be 0.2, and is 1."""
    once, five = 1e-10, 5e-10
    file = made("GoldenMean:1given2")
    model = {
        "emissions": [[1.0, 0.0], [0.0, 1.0]],
        "transitions": [[1 - once, 1.0], [once, 0.0]],
    }
    file.header["source"] |= {**model, "prior": [1 - five, five]}
    with pytest.raises(Refused, match="not the stationary law"):
        shown(file)
    file.header["source"]["prior"] = [1 / (1 + once), once / (1 + once)]
    shown(file)
    with pytest.raises(
        Refused, match=r"a step changes that of state 2 by 0\.8 of itself"
    ):
        PosteriorHead.from_wire(file.header["source"] | {"prior": [1 - five, five]})


def verdict(file: ModelFile, **source: Any) -> str:
    header = copy.deepcopy(file.header)
    header["source"] |= source
    return prove(ModelFile(header, file.tensors, file.precision), None).verdict


@pytest.mark.sample(6)
@pytest.mark.parametrize(
    "source",
    [
        {"task": "2given1given"},
        {"task": "9999999given1"},
        {"task": 7},
        {"radius": "8"},
        {"radius": float("nan")},
        {"radius": -1.0},
        {"radius": 1e300},
        {"radius": None},
        {"letters": []},
        {"prior": []},
        {"prior": [1e308] * 3},
        {"transitions": [[2.0] * 3] * 3},
        {"transitions": "x"},
        {"emissions": [[[1.0]]]},
        {"emissions": [[float("inf")] * 3] * 2},
        {"kind": "hidden-markov"},
    ],
)
def test_a_damaged_header_is_never_verified(source: dict[str, Any]) -> None:
    file = made(NAMES[0], error=1e-6)
    assert verdict(file) == "verified"
    assert verdict(file, **source) == "undecided"


# Chains whose laws are rounded, or nearly stationary: each reading is within the error.


def chain(seed: int, task: str, drift: float, radius: float | None) -> PosteriorHead:
    """Two states and two tokens; laws are off by up to a drift, of themselves."""
    random = np.random.default_rng(seed)

    def laws(rows: int) -> FloatArray:
        found = random.uniform(0.05, 1, (rows, 2))
        return found / found.sum(axis=0) * (1 + drift * random.uniform(-1, 1, 2))

    transitions = laws(2)
    off = drift * random.uniform(-0.4, 0.4, 2)
    prior = stationary(transitions / transitions.sum(axis=0), 1e-9) * (1 + off)
    emissions = laws(2) if radius is None else random.normal(size=(2, 2))
    letters = ("a", "b")
    return PosteriorHead(
        "drifting", letters, emissions, transitions, prior, Task.of(task), radius
    )


Exact = list[list[Fraction]]


def numbers(source: PosteriorHead) -> Iterator[tuple[Exact, Exact, list[Fraction]]]:
    """Emissions, transitions and prior: as they stand, and made to add up to 1."""
    arrays = source.emissions, source.transitions, source.prior[:, None]
    says, step, begin = ([list(map(Fraction, r)) for r in x.tolist()] for x in arrays)
    yield says, step, [x for (x,) in begin]
    says = scaled(says) if source.radius is None else says
    yield says, scaled(step), [x for (x,) in scaled(begin)]


def scaled(rows: list[list[Fraction]]) -> list[list[Fraction]]:
    sums = [sum(column) for column in zip(*rows, strict=True)]
    return [[x / s for x, s in zip(row, sums, strict=True)] for row in rows]


def guesses(
    source: PosteriorHead, says: Exact, step: Exact, prior: list[Fraction], likely: Any
) -> Iterator[list[Fraction]]:
    """The guesses by all paths of states, from how likely a token is in each state.

    The prior is the law at the first time, or at the time that is given as well; then
    what is guessed in a state is a mean of its paths, or what Bayes' rule says.
    """
    task = source.task
    size, times = 2 ** len(task.predicted), max(*task.predicted, task.given)
    there, found = [Fraction(0)] * 2, [[Fraction(0)] * size for _ in range(2)]
    for path in product(range(2), repeat=times):
        steps = (step[after][before] for before, after in pairwise(path))
        state, chance = path[task.given - 1], prod(steps, start=prior[path[0]])
        there[state] += chance
        columns = [[row[path[t - 1]] for row in says] for t in task.predicted]
        for i, parts in enumerate(product(*columns)):
            found[state][i] += chance * prod(parts)

    def mean(law: list[Fraction], each: list[Fraction]) -> list[Fraction]:
        chances = [p * x for p, x in zip(law, likely, strict=True)]
        pairs = list(zip(chances, each, found, strict=True))
        sums = (sum(c * f[i] / x for c, x, f in pairs) for i in range(size))
        return [x / sum(chances) for x in sums]

    yield mean(there, there)
    yield mean(prior, there)
    yield mean(prior, prior)


TASKS = ["2given1", "1given2", "9given1", "1given9", "13given2", "23given1", "12given3"]


@pytest.mark.sample(1)
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("radius", [None, 3.0])
@pytest.mark.parametrize("drift", [0.0, 1e-12, 5e-10])
def test_each_reading_of_rounded_laws_is_within_the_error(
    task: str, seed: int, radius: float | None, drift: float
) -> None:
    source = chain(seed, task, drift, radius)
    file = krohn.compile(source, dtype="float64").file
    error = file.header["claim"]["error"]
    assert error <= 40 * drift + 1e-12
    points = np.array([[1.0, 0.0], [0.0, 1.0], [-3.0, 3.0]][: 2 + (radius is not None)])
    for x, outputs in zip(
        points, run_network(file, points[:, None])[:, 0], strict=True
    ):
        far, room = ((x[:, None] - source.emissions) ** 2).sum(axis=0) / 2, 0.0
        for says, step, prior in numbers(source):
            likely = says[int(x.argmax())]
            if radius is not None:
                likely, room = list(map(Fraction, np.exp(-far).tolist())), 1e-14
            for right in guesses(source, says, step, prior, likely):
                pairs = zip(outputs.tolist(), right, strict=True)
                assert max(abs(Fraction(y) - r) for y, r in pairs) <= error + room
