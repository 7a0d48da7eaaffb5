"""Whatever torch is set to, networks are run with all digits of their numbers."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import pytest
import torch
from torch.overrides import TorchFunctionMode

import krohn
from krohn.algebra.zoo import machine
from krohn.architectures.generator.engine import load
from krohn.network.architecture import every_kind, expected_shapes
from krohn.network.forward_pass import full_precision
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
        "gates of cudnn": BACKENDS.cudnn.enabled,
        "autocast": torch.is_autocast_enabled("cpu"),
        "autocast on cuda": torch.is_autocast_enabled("cuda"),
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


def by_autocast() -> None:
    torch.set_autocast_enabled("cpu", True)
    torch.set_autocast_enabled("cuda", True)


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


WAYS = [by_precision, by_switches, by_autocast, *([by_new_names] if NEW else [])]
REALS = {"inputs": 2, "outputs": 2}
LETTERS = {"vocabulary": 3, "outputs": 2}
BLOCK = {"heads": 2, "d_qk": 4, "d_v": 4, "mlp": [8]}
SSM = {"coordinates": 4, "decode": [4], "hidden": 8, "symbols": 2}
SHAPES: dict[str, dict[str, Any]] = {
    "transformer": LETTERS | {"d_model": 8, "positions": 9, "blocks": [BLOCK]},
    **{kind: LETTERS | {"hidden": 16} for kind in ("rnn", "elman", "gru", "lstm")},
    "ssm": LETTERS | {"selective": True, "layers": [SSM]},
    "linear-recurrence": REALS | {"hidden": 8, "form": "dense"},
    "started-recurrence": REALS | {"hidden": 8, "form": "dense"},
    "multihead-attention": REALS
    | {"length": 8, "codes": 3, "heads": 2, "d_qk": 4, "d_v": 4},
    "attention-layer": REALS
    | {"length": 8, "codes": 0, "features": 4, "features_units": [8], "d_qk": 4}
    | {"d_v": 4, "memory": 0, "causal": True, "output_units": [8]},
}
"""A network of each kind but generators, whose laws are in a test of their own."""


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    yield
    torch.set_float32_matmul_precision("highest")
    BACKENDS.cuda.matmul.allow_tf32 = False
    for device in ("cpu", "cuda"):
        torch.set_autocast_enabled(device, False)


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


def test_the_last_thread_puts_the_settings_back() -> None:
    """One that ends earlier leaves them to those that still run a network."""
    by_precision()
    before, entered, left = settings(), Event(), Event()

    def other() -> Settings:
        with full_precision():
            entered.set()
            left.wait(60)
            return settings()

    with ThreadPoolExecutor(1) as pool:
        with full_precision():
            seen = pool.submit(other)
            assert entered.wait(60)
        left.set()
        assert not coarse(seen.result(60))
    assert settings() == before


@pytest.mark.sample(1)
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
        assert exhaustive(model, machine(name), 4).has_passed
        model(torch.zeros((2, 5), dtype=torch.int64))
    assert len(products.seen) > 5
    assert not any(map(coarse, products.seen))
    assert settings() == before


@pytest.mark.parametrize("kind", sorted(every_kind().keys() - {"generator"}))
def test_numbers_of_every_kind_keep_their_format(kind: str) -> None:
    """Autocast makes products of numbers of 16 bits, and ties where one is right."""
    shape, rng = {"kind": kind, **SHAPES[kind]}, torch.Generator().manual_seed(0)
    tensors = {
        name: torch.randn(size, generator=rng)
        for name, size in sorted(expected_shapes(shape).items())
    }
    network = every_kind()[kind].network(shape, tensors).eval()
    words = torch.tensor([[0, 1, 2, 1, 0]])
    if every_kind()[kind].answers == "reals":
        words = torch.randn((1, 5, 2), generator=rng)
    wanted = network(words)
    with torch.autocast("cpu", torch.bfloat16):
        found = network(words)
    assert found.dtype == torch.float32
    assert torch.equal(found, wanted)


@pytest.mark.slow
def test_laws_and_weights_are_computed_with_it(tmp_path: Path) -> None:
    krohn.compile_generator("Dyck2,2", 8).save(tmp_path / "g.safetensors")
    network, words = load(tmp_path / "g.safetensors"), torch.zeros((1, 2)).long()
    heads = Model(krohn.compile("FlipFlop", 8).file).network
    assert isinstance(heads, Transformer)
    x = heads.snapshots(words)[0]
    by_precision()
    with Products() as products:
        wanted = network(words)
        network.attention(words)
        for each in heads.attention:
            if isinstance(each, Attention):
                each.weights(x)
    assert len(products.seen) > 5
    assert not any(map(coarse, products.seen))
    by_autocast()
    assert torch.equal(network(words), wanted)
