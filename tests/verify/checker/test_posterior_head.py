"""What is shown of a posterior head is never exceeded, nor of a damaged one."""

import copy
from typing import Any

import numpy as np
import pytest

from krohn.compiler.compiled_network import CompiledNetwork
from krohn.compiler.posterior_head import network
from krohn.network.modelfile import ModelFile
from krohn.network.precision import PRECISIONS, FloatArray
from krohn.program.errors import Refused
from krohn.source_kinds.posterior_heads import PosteriorHeads
from krohn.source_kinds.real_sequences import said
from krohn.sources.posterior_heads import PosteriorHead, named
from krohn.verify.checker.softmax import swayed
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
    source, precision = named(name), PRECISIONS[dtype]
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
        np.concatenate([bad, KIND.sampled(source, (count, 3), random)])
    )


def measured(file: ModelFile) -> float:
    source = PosteriorHead.from_wire(file.header["source"])
    x = inputs(source, file)
    with np.errstate(all="ignore"):
        off = np.abs(said(file, x) - source.run(x)).max()
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
        most = swayed(apart, np.ptp(values)).most
        off = float(np.abs(means[0] - means[1]).max())
        assert off <= most * (1 + 1e-12)
        worst = max(worst, off / most)
    tight = np.array([0.5, -0.5])
    ends = [1 / (1 + np.exp(-2 * s)) for s in tight]
    assert ends[0] - ends[1] == pytest.approx(swayed(2.0, 1.0).most)
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
    with pytest.raises(Refused, match="not stationary"):
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
