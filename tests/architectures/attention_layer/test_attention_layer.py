"""One attention layer over real inputs: what it computes, and what it refuses."""

from typing import Any

import mpmath
import numpy as np
import pytest
import torch
from many_digits import DIGITS, ManyDigits, exact, near
from slices_here import needs

from krohn.architectures.attention_layer import meaning as declared
from krohn.architectures.attention_layer.check import layer_of
from krohn.architectures.attention_layer.engine import AttentionLayer
from krohn.network import ModelFileError
from krohn.network.architecture import expected_shapes, kind_of
from krohn.network.meaning.arrays import Arrays, points
from krohn.network.meaning.engine import Engine
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile, pack
from krohn.network.precision import PRECISIONS
from krohn.network.running_file import plain_network
from krohn.program.errors import Refused
from krohn.verify.checker.arithmetic import FORMATS
from krohn.verify.checker.model_file import Model as Checked
from krohn.verify.checker.network import check_claim

SHAPE: dict[str, Any] = {
    "kind": "attention-layer",
    "dtype": "float64",
    "length": 6,
    "inputs": 2,
    "codes": 3,
    "features": 5,
    "features_units": [4, 7],
    "d_qk": 2,
    "d_v": 3,
    "memory": 0,
    "causal": False,
    "output_units": [8],
    "outputs": 2,
}
CLAIM = {"kind": "within", "length": 6, "error": 1.0}
reads_the_claim = needs("kinds.linear_systems")


def made(dtype: str = "float64", **changed: Any) -> ModelFile:
    shape = {**SHAPE, "dtype": dtype, **changed}
    random, precision = np.random.default_rng(0), PRECISIONS[dtype]
    tensors = {
        name: precision.round(random.normal(size=size) / 2)
        for name, size in expected_shapes(shape).items()
    }
    source = {
        "kind": "linear-system",
        "name": "none",
        "letters": [],
    }  # of which no such layer is proved
    header = {"architecture": shape, "source": source, "claim": CLAIM}
    return ModelFile(header, tensors, precision)


def relus(x: Any, t: dict[str, Any], at: str, layers: int) -> Any:
    for j in range(layers):
        x = (np.maximum(x, 0) if j else x) @ t[f"{at}.{j}.weight"] + t[f"{at}.{j}.bias"]
    return x


def by_hand(file: ModelFile, x: Any) -> Any:
    """The formula of the paper, position by position."""
    shape, t = file.header["architecture"], file.tensors
    code = t["code"][: len(x)] if shape["codes"] else np.zeros((len(x), 0))
    f = relus(np.hstack([x, code]), t, "features", 3)
    found = []
    for i in range(len(x)):
        seen = f[: i + 1] if shape["causal"] else f
        if shape["memory"]:
            keys, values, bias = (t[f"memory.{n}"] for n in ("key", "value", "bias"))
        else:
            keys, values = seen @ t["attention.key"], seen @ t["attention.value"]
            bias = 0.0
        scores = keys @ (f[i] @ t["attention.query"]) + bias
        weights = np.exp(scores - scores.max())
        found.append(weights @ values / weights.sum())
    return relus(np.array(found), t, "output", 2)


FORMS = [{}, {"causal": True}, {"codes": 0}, {"memory": 9}]


@pytest.mark.parametrize("changed", FORMS)
@pytest.mark.parametrize(("dtype", "most"), [("float64", 1e-12), ("float32", 1e-4)])
def test_it_computes_the_formula(changed: Any, dtype: str, most: float) -> None:
    file = made(dtype, **changed)
    network = plain_network(file)
    for count in (1, 4, 6):
        x = file.precision.round(np.random.default_rng(1).uniform(size=(count, 2)))
        found = network(torch.from_numpy(x[None]).to(getattr(torch, dtype)))
        assert found.shape == (1, count, 2)
        right = by_hand(file, x)
        assert np.abs(found[0].double().numpy() - right).max() < most * abs(right).max()


def by_engine(o: Engine, tensors: Any, file: ModelFile, x: Any) -> Any:
    net = declared.AttentionLayer.of(file.architecture, tensors)
    return declared.through(o, net, x, points(x))


@reads_the_claim
@pytest.mark.parametrize("changed", FORMS)
def test_all_engines_compute_it(changed: Any) -> None:
    file = made(**changed)
    x = np.random.default_rng(1).uniform(size=(2, 6, 2))
    right = np.stack([by_hand(file, each) for each in x])
    with mpmath.workdps(DIGITS):
        tensors = {name: exact(tensor) for name, tensor in file.tensors.items()}
        true = near(by_engine(ManyDigits(), tensors, file, exact(x)))
    for found in (
        plain_network(file)(torch.from_numpy(x)).numpy(),
        by_engine(Arrays(), file.tensors, file, x),
        true,
    ):
        assert np.abs(found - right).max() < 1e-14 * np.abs(right).max()


@reads_the_claim
@pytest.mark.parametrize("changed", FORMS)
def test_what_is_hidden_has_no_part(changed: Any) -> None:
    """An infinite input spoils what sees it, and nothing else."""
    file, x = made(**changed), np.random.default_rng(1).uniform(size=(2, 6, 2))
    network = plain_network(file)
    wanted = network(torch.from_numpy(x)).numpy()
    x[:, 4] = np.inf
    spoilt = [t == 4 or (t > 4 and "causal" in changed) for t in range(6)]
    if not {"causal", "memory"} & changed.keys():
        spoilt = [True] * 6
    with np.errstate(invalid="ignore"):
        by_numpy = by_engine(Arrays(), file.tensors, file, x)
    for found in (network(torch.from_numpy(x)).numpy(), by_numpy):
        kept = np.abs(found - wanted).max(axis=(0, 2)) < 1e-13
        assert kept.tolist() == [not each for each in spoilt]
        assert not np.isfinite(found[:, spoilt]).any()


def test_it_runs_in_bfloat16() -> None:
    found = plain_network(made("bfloat16"))(torch.zeros(1, 6, 2, dtype=torch.bfloat16))
    assert found.dtype is torch.bfloat16
    assert found.isfinite().all()


def test_without_codes_it_is_equivariant() -> None:
    file, order = made(codes=0), [3, 1, 5, 0, 2, 4]
    x = torch.rand(1, 6, 2, generator=torch.Generator().manual_seed(0)).double()
    network = plain_network(file)
    assert torch.allclose(network(x)[:, order], network(x[:, order]), atol=1e-12)
    coded = plain_network(made())
    assert not torch.allclose(coded(x)[:, order], coded(x[:, order]), atol=1e-3)


@pytest.mark.parametrize("shape", [(6, 2), (1, 6, 3), (1, 7, 2), (1, 0, 2)])
def test_other_inputs_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ModelFileError, match="takes"):
        plain_network(made())(torch.zeros(*shape, dtype=torch.float64))


@pytest.mark.parametrize(
    "changed",
    [
        {"causal": 1},
        {"memory": 4, "causal": True},
        {"features_units": 3},
        {"output_units": [0]},
        {"inputs": 0},
        {"codes": -1},
        {"length": "6"},
    ],
)
def test_damaged_headers_are_refused(changed: Any) -> None:
    with pytest.raises(ModelFileError, match="damaged"):
        expected_shapes({**SHAPE, **changed})


@reads_the_claim
def test_it_is_no_reader_of_letters() -> None:
    assert kind_of(SHAPE).answers == "reals"
    with pytest.raises(ModelFileError, match="vectors instead of letters"):
        Model(made())


@pytest.mark.parametrize("changed", FORMS)
def test_its_kind_tells_the_sizes(changed: Any) -> None:
    file = made(**changed)
    shape, kind = file.header["architecture"], kind_of(SHAPE)
    assert kind.shapes(shape) == {n: t.shape for n, t in file.tensors.items()}
    assert kind.width(shape) == len(file.tensors["attention.query"])
    assert list(kind.layers(shape)) == [{"heads": 1, "mlp": [4, 7, 8]}]
    assert (kind.program, kind.recurrent, kind.declared.marks) == (False, False, 0)


@reads_the_claim
@pytest.mark.parametrize("changed", FORMS)
def test_the_checker_reads_the_same_layer(changed: Any) -> None:
    file = made(**changed)
    model = Checked(FORMATS["float64"], file.tensors, {**file.header, "version": 5})
    layer = layer_of(model)
    assert layer.causal == bool(changed.get("causal"))
    assert (layer.bias is not None) == ("memory" in changed)
    again = AttentionLayer(
        file.header["architecture"],
        {n: torch.from_numpy(a) for n, a in file.tensors.items()},
    )
    assert again.length == layer.length
    file.tensors["attention.query"] = file.tensors["attention.query"][:, :1]
    with pytest.raises(Refused, match="tensors are not as stated"):
        layer_of(model)


@reads_the_claim
def test_a_source_without_a_check_is_refused() -> None:
    file = made()
    model = Checked(FORMATS["float64"], file.tensors, {**file.header, "version": 5})
    with pytest.raises(Refused, match="there is no rule for a network"):
        check_claim(model, {}, None)
    assert pack(file.header, file.tensors) == pack(file.header, file.tensors)
