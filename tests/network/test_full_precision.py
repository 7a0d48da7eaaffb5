"""Whatever torch is set to, networks are run with products of all digits."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.overrides import TorchFunctionMode

import krohn
from krohn.algebra.zoo import machine
from krohn.network.forward_pass import full_precision
from krohn.network.generator import load
from krohn.network.model import Model
from krohn.network.transformer import Attention, Transformer
from krohn.verify.testing.exhaustive import exhaustive

BACKENDS: Any = torch.backends
NEW = hasattr(BACKENDS.cuda.matmul, "fp32_precision")
Settings = dict[str, Any]


def settings() -> Settings:
    """The settings of torch; None where two ways of setting one disagree."""
    try:
        precision = torch.get_float32_matmul_precision()
    except RuntimeError:
        precision = "mixed"
    cuda = BACKENDS.cuda.matmul
    found = {
        "precision": precision,
        "bfloat16": cuda.allow_bf16_reduced_precision_reduction,
        "float16": cuda.allow_fp16_reduced_precision_reduction,
        "cudnn": BACKENDS.cudnn.allow_tf32,
    }
    if NEW:
        found["cuda"] = cuda.fp32_precision
        found["cpu"] = BACKENDS.mkldnn.matmul.fp32_precision
    return found


def coarse(found: Settings) -> bool:
    allowed = {"precision": "highest", "cuda": "ieee", "cpu": "ieee"}
    return any(value != allowed.get(name, False) for name, value in found.items())


def by_precision() -> None:
    torch.set_float32_matmul_precision("medium")


def by_switches() -> None:
    BACKENDS.cuda.matmul.allow_tf32 = True
    BACKENDS.cuda.matmul.allow_bf16_reduced_precision_reduction = True


def by_new_names() -> None:
    BACKENDS.cuda.matmul.fp32_precision = "tf32"
    BACKENDS.mkldnn.matmul.fp32_precision = "bf16"


class Products(TorchFunctionMode):
    """Looks at the settings wherever products are added up."""

    NAMES = (
        "matmul",
        "baddbmm",
        "einsum",
        "scaled_dot_product",
        "lstm",
        "gru",
        "scatter",
    )

    def __init__(self) -> None:
        super().__init__()
        self.seen = list[Settings]()

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        if any(name in getattr(func, "__name__", "") for name in self.NAMES):
            self.seen.append(settings())
        return func(*args, **(kwargs or {}))


WAYS = [by_precision, by_switches, *([by_new_names] if NEW else [])]


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    yield
    torch.set_float32_matmul_precision("highest")
    BACKENDS.cuda.matmul.allow_tf32 = False


@pytest.mark.parametrize("way", WAYS)
def test_what_is_set_is_off_for_a_while(way: Any) -> None:
    way()
    before = settings()
    assert coarse(before)
    with full_precision():
        assert not coarse(settings())
    assert settings() == before
    with pytest.raises(ZeroDivisionError), full_precision():
        raise ZeroDivisionError
    assert settings() == before


@pytest.mark.sample(2)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("name", "arch"),
    [("S3", "transformer"), ("C3", "rnn"), ("C3", "lstm"), ("C3", "gru")],
)
def test_networks_are_run_with_it(name: str, arch: Any, way: Any) -> None:
    """Whole words, letter by letter and trees of words: seen where numbers are made."""
    length = None if arch != "transformer" else 8
    model = Model(krohn.compile(name, length, arch=arch).file)
    way()
    before, products = settings(), Products()
    with products:
        assert exhaustive(model, machine(name), 4).passed
        model(torch.zeros((2, 5), dtype=torch.int64))
    assert len(products.seen) > 5
    assert not any(map(coarse, products.seen))
    assert settings() == before


def test_laws_and_weights_are_computed_with_it(tmp_path: Path) -> None:
    krohn.compile_generator("Dyck2,2", 8).save(tmp_path / "g.safetensors")
    network, words = load(tmp_path / "g.safetensors"), torch.zeros((1, 2)).long()
    heads = Model(krohn.compile("FlipFlop", 8).file).network
    assert isinstance(heads, Transformer)
    x = heads.embed(words)
    by_precision()
    with Products() as products:
        network(words)
        network.attention(words)
        for each in heads.attention:
            if isinstance(each, Attention):
                each.weights(x)
    assert len(products.seen) > 5
    assert not any(map(coarse, products.seen))
