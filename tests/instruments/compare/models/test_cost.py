"""Formulas of weights and arithmetic against what torch counts."""

from collections.abc import Callable
from typing import get_args

import pytest
import torch
from hypothesis import given, settings, strategies as st
from torch.utils.flop_counter import FlopCounterMode

import krohn
from krohn.algebra.errors import KrohnError
from krohn.instruments.compare.models import (
    Derived,
    Gpt,
    Lstm,
    build,
    cost,
    latencies,
    wrap_compiled,
)
from krohn.instruments.compare.models.architecture import (
    Architecture,
    Positions,
    Specification,
)
from krohn.instruments.compare.models.cost import (
    flops,
    parameters,
)

pytest.importorskip("transformers")

gpts = st.builds(
    lambda heads, size, **rest: Gpt(heads=heads, width=2 * heads * size, **rest),
    heads=st.integers(1, 3),
    size=st.integers(1, 4),
    depth=st.integers(1, 3),
    inner=st.integers(1, 20),
    positions=st.sampled_from(get_args(Positions)),
)
lstms = st.builds(
    Lstm,
    embedding=st.integers(1, 9),
    hidden=st.integers(1, 9),
    layers=st.integers(1, 3),
)


def counted(run: Callable[[], object]) -> int:
    """The operations that torch counts in dense matrix products."""
    with FlopCounterMode(display=False) as counter:
        run()
    return counter.get_total_flops()


@settings(max_examples=30)
@given(
    architecture=gpts | lstms,
    letters=st.integers(1, 5),
    classes=st.integers(1, 5),
    longest=st.integers(1, 20),
)
def test_weights_are_counted_without_making_them(
    architecture: Architecture, letters: int, classes: int, longest: int
) -> None:
    network = build(architecture, letters, classes, longest, 0)
    found = cost(network, longest)
    assert found.parameters == parameters(network.specification)
    assert found.trainable == found.parameters >= found.nonzero


def test_the_numbers_of_the_thesis_are_met() -> None:
    """133,381 weights with an embedding of 128; 19 million for the baseline."""
    lstm = Specification(Lstm(embedding=128, hidden=128), 5, 5, 512)
    assert parameters(lstm) == 133_381
    baseline = Gpt(depth=6, width=512, heads=8, inner=2048, positions="learned")
    assert parameters(Specification(baseline, 5, 5, 512)) == pytest.approx(
        19e6, rel=0.02
    )


@pytest.mark.slow
@settings(max_examples=10)
@given(architecture=gpts, length=st.integers(2, 9))
def test_operations_of_gpt_are_what_torch_counts(
    architecture: Architecture, length: int
) -> None:
    network = build(architecture, 3, 4, 9, 0).eval()
    word = torch.zeros(1, length, dtype=torch.long)
    # With weights of attention formed: fused kernels are not counted on a CPU.
    assert counted(lambda: network.inside(word)) == flops(network, length)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:TF32 acceleration")
@settings(max_examples=10)
@given(architecture=lstms, length=st.integers(2, 9))
def test_operations_of_lstms_are_what_torch_counts(
    architecture: Architecture, length: int
) -> None:
    network = build(architecture, 3, 4, 9, 0).eval()
    word = torch.zeros(1, length, dtype=torch.long)
    with torch.backends.mkldnn.flags(enabled=False):  # its kernel is not counted
        assert counted(lambda: network(word)) == flops(network, length)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Grid4", "S3", "C3"])
def test_operations_of_compiled_networks_are_what_torch_counts(name: str) -> None:
    made = {"Grid4": "gridworld", "S3": "scan"}
    file = krohn.compile(name, 12, made[name]) if name in made else None
    network = wrap_compiled((file or krohn.compile(name, arch="rnn")).file)
    word = torch.zeros(1, 8, dtype=torch.long)
    network.requires_grad_()  # else it may multiply zeros, for speed
    assert counted(lambda: network(word)) == flops(network, 8)


@pytest.mark.slow
def test_compiled_networks_cost_what_they_are() -> None:
    file = krohn.compile("Grid4", 12, "gridworld").file
    found = cost(wrap_compiled(file), 8)
    weights = sum(t.size for t in file.tensors.values())
    assert (found.depth, found.steps, found.parameters) == (2, 2, weights)
    assert found.trainable == 0 < found.nonzero < weights
    free = cost(wrap_compiled(file, Derived("", trains=True)), 8)
    masks = sum(t.size for name, t in file.tensors.items() if "residual" in name)
    assert free.trainable == weights - masks


def test_what_is_recurrent_takes_a_step_for_each_letter() -> None:
    assert cost(build(Lstm(8, 8, layers=2), 2, 2, 12, 0), 12).steps == 24
    assert cost(build(Gpt(depth=3), 2, 2, 12, 0), 12).steps == 3
    assert cost(wrap_compiled(krohn.compile("C2", arch="rnn").file), 12).steps == 12


def test_latency_is_relative_to_the_first_network() -> None:
    networks = {
        "small": build(Lstm(8, 8), 2, 2, 64, 0),
        "large": build(Lstm(8, 8, layers=8), 2, 2, 64, 0),
    }
    found = latencies(networks, 64, rounds=5)
    assert found["small"].ratio == 1
    assert found["large"].ratio > 1
    assert found["large"].seconds > found["small"].seconds > 0
    assert all(network.training for network in networks.values())


def test_latency_of_nothing_is_refused() -> None:
    with pytest.raises(KrohnError, match="at least one network"):
        latencies({}, 8)
