"""Hostile files of networks of real vectors: nothing wrong is shown, and at small cost."""

import contextlib
import copy
import tracemalloc
from typing import Any

import numpy as np
import pytest
from kernel_networks import attending, of

import krohn
from krohn.architectures.attention_layer.build import attention_layer_network
from krohn.kinds.attention_targets.build import (
    Axis,
    tents,
)
from krohn.kinds.posterior_heads.source import PosteriorHead
from krohn.network.modelfile import ModelFile
from krohn.network.precision import PRECISIONS, FloatArray
from krohn.program.errors import Refused
from krohn.source_kinds.real_sequences import run_network
from krohn.verify.proof import prove, shown_of

CLAIM = {"kind": "within", "dtype": "float64", "error": 1e300}
FLOAT64 = PRECISIONS["float64"]


def target_file(
    f_hat: FloatArray, outer_hat: list[Axis], bias: FloatArray, **source: Any
) -> ModelFile:
    """A layer of one input that looks nowhere and says F̂(f̂), beside a target."""
    size = f_hat.shape[1]
    axis = Axis(float(len(f_hat) - 1), np.hstack([f_hat * 0, f_hat]))
    tensors = tents([axis], "features")
    chosen = np.eye(2 * size)
    tensors["attention.query"] = tensors["attention.key"] = chosen[:, :1]
    tensors["attention.value"] = chosen[:, size:]
    if not outer_hat:
        tensors |= {"output.0.weight": np.eye(size, len(bias)), "output.0.bias": bias}
    else:
        tensors |= tents(outer_hat, "output")
    shape = attention_layer_network(tensors, 1, FLOAT64).architecture
    flat = [[0.0]] * len(source["f"])
    said = {"kind": "attention-target", "name": "n", "length": 1, "causal": False}
    said |= {"left": flat, "right": flat, "moduli": [0.0] * 3, "outer": None, **source}
    header = {"architecture": shape, "source": said, "claim": CLAIM | {"length": 1}}
    return ModelFile(header, tensors, FLOAT64)


def test_an_error_that_is_no_number_is_not_left_out() -> None:
    """f̂ is so far below f that the shift is infinite; 0 times that was no error."""
    constant = Axis(2.0**20, np.full((3, 1), 1000.0))
    outer = {"low": 0.0, "step": 1.0, "values": [[0.0], [0.0]]}
    f = [[0.0]] * 3
    file = target_file(
        np.full((3, 1), -8e307), [constant], np.zeros(1), f=f, outer=outer
    )
    proof = prove(file, None)
    assert proof.verdict == "undecided"


def test_all_knots_are_looked_at_far_from_0() -> None:
    """Knots 2^-20 apart near 2^34 are no numbers of float64 when they are counted."""
    far, near = 2.0**34, 2.0**-8
    rising = Axis(2.0**20, np.linspace(0, 1, 2**11)[:, None])
    f = np.array([[far], [far + near / 2], [far + near]])
    outer = {"low": far, "step": 1.0, "values": [[0.0], [0.0]]}
    told = {"f": f.tolist(), "outer": outer}
    file = target_file(f - far, [rising], np.zeros(1), **told)
    with contextlib.suppress(Refused):
        assert shown_of(file).error >= 0.49


@pytest.mark.sample(1)
@pytest.mark.parametrize("scales", [(2.0, 1.0), (1.0, 2.0), (8.0, 0.5), (1.0, 1.0)])
@pytest.mark.parametrize("below", [0.0, 0.5, 0.25])
def test_each_number_may_have_its_own_knots(
    scales: tuple[float, float], below: float
) -> None:
    """F̂ is F at all multiples of one distance of knots, and f̂ is f less a shift."""
    f = np.outer([0.0, 1.0, 2.0], [1.0, 1.0])
    outer = {"low": 0.0, "step": 1.0, "values": [[0.0] * 2, [1.0] * 2, [0.0] * 2]}
    axes = []
    for i, scale in enumerate(scales):
        places = np.arange(3 * max(1, int(scale)) + 1) / scale + below
        values = np.interp(places, [0, 1, 2], [0, 1, 0])
        if scale == 1 and below:  # right at whole numbers, and nowhere else
            values = np.array([0.0, 1 / (1 - below), 0.0, 0.0])
            values[2] = -(below / (1 - below)) * values[1]
        axes.append(Axis(scale, values[:, None] * (np.arange(2) == i)))
    file = target_file(f - below, axes, np.zeros(2), f=f.tolist(), outer=outer)
    x = np.linspace(0, 1, 257)
    right = np.interp(2 * x, [0, 1, 2], [0, 1, 0])
    off = np.abs(run_network(file, x[:, None, None])[:, 0] - right[:, None]).max()
    try:
        error = shown_of(file).error
    except Refused:
        return
    assert off <= error


def test_a_modulus_below_the_unit_of_f_widens_its_range() -> None:
    """F is steep next to the range of f, which f may leave by its modulus."""
    low, off = 2.0**34, 2.0**-22
    f = [[low]] * 3
    outer = {"low": low - 1, "step": 1.0, "values": [[2.0**40], [0.0], [0.0]]}
    flat = Axis(1.0, np.zeros((2, 1)))
    told = {"f": f, "outer": outer, "moduli": [0.0, off, 0.0]}
    file = target_file(np.zeros((3, 1)), [flat], np.zeros(1), **told)
    assert shown_of(file).error >= 2.0**40 * off


def peak(file: ModelFile) -> int:
    tracemalloc.start()
    assert prove(file, None).verdict == "undecided"
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found


def test_outputs_beside_the_values_cost_nothing() -> None:
    f, bias = np.zeros((513, 1)), np.zeros(100_000)
    file = target_file(f, [], bias, f=f.tolist())
    assert peak(file) < 2**27


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("pieces", "d_v"), [([[[0.0]] * 20_000], 1), ([[[0.0]] * 50] * 2, 20_000)]
)
def test_grids_with_many_points_or_wide_heads_cost_little(
    pieces: list[Any], d_v: int
) -> None:
    file = krohn.compile("RanGrid1,1@1").file
    count = int(np.prod([len(p) for p in pieces]))
    header = copy.deepcopy(file.header)
    header["source"] |= {"pieces": pieces, "values": [[0.0] * len(pieces)] * count}
    shape = header["architecture"]
    shape |= {"length": len(pieces), "features": 1, "features_units": []}
    shape |= {"d_qk": 1, "d_v": d_v, "outputs": 1, "output_units": []}
    one = np.ones((1, 1))
    tensors = {"features.0.weight": one, "features.0.bias": np.zeros(1)}
    tensors |= {"attention.query": one, "attention.key": one}
    tensors |= {"attention.value": np.ones((1, d_v))}
    tensors |= {"output.0.weight": np.ones((d_v, 1)), "output.0.bias": np.zeros(1)}
    assert peak(ModelFile(header, tensors, file.precision)) < 2**28


def test_codes_without_features_cost_nothing() -> None:
    file = attending(of("Exp4"))
    header, codes = copy.deepcopy(file.header), 20_000
    header["architecture"] |= {"codes": codes, "features": 1, "features_units": []}
    tensors = {**file.tensors, "code": np.ones((4, codes))}
    tensors |= {"features.0.weight": np.ones((1 + codes, 1))}
    for name in [n for n in tensors if n.startswith("features.1")]:
        del tensors[name]
    tensors["features.0.bias"] = np.zeros(1)
    for name in ("query", "key", "value"):
        tensors[f"attention.{name}"] = tensors[f"attention.{name}"][:1]
    assert peak(ModelFile(header, tensors, file.precision)) < 2**27


def head_file(source: dict[str, Any], key: FloatArray, bias: FloatArray) -> ModelFile:
    """A head with the values that are right, and any scores."""
    stated = PosteriorHead.from_wire(source)
    tensors = {
        "memory.key": key,
        "memory.bias": bias,
        "memory.value": stated.values + 0.0,
    }
    tensors["memory.value"][stated.values < 2.0**-1022] = 0
    n, outputs = key.shape[1], stated.values.shape[1]
    for at, width in (("features", n), ("output", outputs)):
        tensors |= {f"{at}.0.weight": np.eye(width), f"{at}.0.bias": np.zeros(width)}
    tensors["attention.query"] = np.eye(n)
    shape = {"kind": "attention-layer", "dtype": "float64", "length": 1, "inputs": n}
    shape |= {"codes": 0, "memory": len(key), "causal": False, "features": n}
    shape |= {"features_units": [], "output_units": []}
    shape |= {"d_qk": n, "d_v": outputs, "outputs": outputs}
    header = {"architecture": shape, "source": source, "claim": CLAIM | {"length": 1}}
    return ModelFile(header, tensors, FLOAT64)


def hidden(emissions: FloatArray, transitions: FloatArray, **told: Any) -> Any:
    said = {"kind": "posterior-head", "name": "n", "task": "2given1"}
    said |= {"letters": ["a", "b"], "classes": ["a", "b"]}
    k = len(transitions)
    said |= {"emissions": emissions.tolist(), "transitions": transitions.tolist()}
    return said | {"prior": [1 / k] * k} | told


def off_by(file: ModelFile, x: FloatArray) -> float:
    from krohn.source_kinds.real_sequences import run_network

    right = PosteriorHead.from_wire(file.header["source"]).run(x)
    return float(np.abs(run_network(file, x) - right).max())


def test_letters_too_rare_for_the_checker_are_refused() -> None:
    """Of 3 and 1 least numbers, halved, the checker's own posterior was (1, 0)."""
    rare = np.array([[3.0, 1.0]]) * 2.0**-1074
    emissions = np.vstack([rare, [[0.5, 0.25], [0.5, 0.75]]])
    names = {"letters": ["a", "b", "c"], "classes": ["a", "b", "c"]}
    said = hidden(emissions, np.eye(2), **names)
    key = np.array(
        [[0.0, np.log(0.5), np.log(0.5)], [-800.0, np.log(0.25), np.log(0.75)]]
    )
    file = head_file(said, key, np.zeros(2))
    off = off_by(file, np.eye(3)[None, :1])
    assert off > 0.06
    with contextlib.suppress(Refused):
        assert shown_of(file).error >= off


def test_states_too_rare_for_the_checker_are_refused() -> None:
    rare = [1.0, 2.0**-1060, 2.0**-1060]
    steps = np.array([[1.0, 0.0, 0.0], [0.0, 0.5, 0.5], [0.0, 0.5, 0.5]])
    emissions = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    said = hidden(emissions, steps, prior=rare, task="1given2")
    said["letters"] = said["classes"] = ["a", "b", "c"]
    with pytest.raises(Refused, match="rare"):
        shown_of(head_file(said, -800.0 * (1 - np.eye(3)), np.zeros(3)))


def test_differences_of_keys_that_the_checker_rounds_away_are_counted() -> None:
    """Key 2^-54 less mean 1 is -1 in float64; on a box of 2^20 that is 6e-11."""
    means, radius = np.array([[1.0, 1.0], [0.0, 2.0**-12]]), 2.0**20
    said = hidden(means, np.eye(2), radius=radius)
    key = np.array([[2.0**-54, 0.0], [0.0, 2.0**-12]])
    file = head_file(said, key, np.array([2.0**-25, 0.0]))
    spread = 2.0**-12
    assert (
        shown_of(file).told["parts"]["scores"]
        >= np.tanh(2.0**-54 * radius / 4) * spread
    )


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ({"classes": ["b", "a"]}, "other names"),
        ({"letters": ["a", "a"]}, "a letter twice"),
        ({"prior": ["0.5", 0.5]}, "no real numbers"),
        ({"transitions": [[True, 0], [0, 1]]}, "no real numbers"),
    ],
)
def test_what_a_head_says_is_named_as_it_is_proved(
    told: dict[str, Any], reason: str
) -> None:
    key = np.log([[0.75, 0.25], [0.25, 0.75]])
    said = hidden(np.exp(key), np.eye(2))
    assert shown_of(head_file(said, key, np.zeros(2))).error < 1e-12
    file = head_file(said, key, np.zeros(2))
    file.header["source"] |= told
    with pytest.raises(Refused, match=reason):
        shown_of(file)


@pytest.mark.slow
def test_many_functions_are_compared_one_by_one() -> None:
    """Of F with 256 columns each knot is looked at in one column, not in all."""
    n, f = 256, np.tile(np.array([[0.0], [0.5], [1.0]]), (1, 256))
    outer = {"low": 0.0, "step": 1.0, "values": [[0.0] * n] * 2}
    near, one = f - 1 + 2.0**-16, Axis(2.0**15, np.zeros((2, n)))
    file = target_file(near, [one] * n, np.zeros(n), f=f.tolist(), outer=outer)
    file.header["claim"] = CLAIM | {"length": 1, "error": 1e-300}
    assert peak(file) < 2**27
