"""Random Transformers, and words for them.

The same seed gives the same network. They mix what they may: kinds of attention,
sights, activations within a layer, blocks without heads or without an MLP.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from krohn.network.meaning.net import A, Net
from krohn.network.modelfile import ModelFile
from krohn.network.precision import PRECISIONS
from krohn.program.architectures.transformer import Transformer
from krohn.program.domains import FloatArray, IntArray

KINDS = "softmax", "linear", "relu", "sparse"
UNITS = "relu", "sine", "gelu"
SIZES = 5
"""Widths are up to this."""
Architecture = dict[str, Any]


@dataclass(frozen=True)
class RandomNetwork:
    """A network and words that it reads.

    Attributes:
        architecture: As a header has it.
        tensors: Numbers of its format, as float64.
        words: ``(batch, time)`` letters.
    """

    architecture: Architecture
    tensors: dict[str, FloatArray]
    words: IntArray

    @property
    def shape(self) -> Transformer:
        """The architecture."""
        return Transformer.of(self.architecture)

    @property
    def net(self) -> Net[FloatArray]:
        """The network as data."""
        return Net.of(self.shape, self.tensors)

    @property
    def file(self) -> ModelFile:
        """A file that claims nothing."""
        shape = self.architecture
        letters, states = range(shape["vocabulary"] - 1), range(shape["outputs"])
        names = {"letters": [*map(str, letters)], "states": [f"q{i}" for i in states]}
        header = {"architecture": shape, "machine": names, "claim": {}}
        return ModelFile(header, self.tensors, PRECISIONS[shape["dtype"]])


def named(net: Net[A], shape: Transformer) -> dict[str, A]:
    """The tensors of a network by their names on file."""
    names, tensors = list[str](), list[A]()
    Net.of(shape, {name: name for name in shape.shapes}).each(names.append)
    net.each(tensors.append)
    return dict(zip(names, tensors, strict=True))


def random_transformer(
    seed: int,
    dtype: str = "float64",
    *,
    kinds: Sequence[str] = KINDS,
    units: Sequence[str] = UNITS,
    ahead: bool = True,
    alike: bool = False,
    longest: int = 20,
) -> RandomNetwork:
    """A Transformer and three words, as long as it reads.

    Args:
        seed: Of all that is random.
        dtype: The format of its numbers.
        kinds: How heads may weigh positions.
        units: The functions that units may have.
        ahead: Whether heads may see the whole word.
        alike: Whether the units of a layer have one function.
        longest: How long words may be.
    """
    rng = np.random.default_rng(seed)
    length, letters = int(rng.integers(1, longest + 1)), int(rng.integers(1, 4))
    architecture: Architecture = {
        "kind": "transformer",
        "dtype": dtype,
        "strict": bool(rng.integers(2)),
        "d_model": int(rng.integers(1, 2 * SIZES)),
        "vocabulary": letters + 1,
        "positions": length + 1,
        "outputs": int(rng.integers(1, SIZES)),
    }
    architecture["blocks"] = [
        _block(rng, kinds, units, ahead, alike) for _ in range(rng.integers(1, 4))
    ]
    words = rng.integers(letters, size=(3, length))
    return RandomNetwork(architecture, _tensors(rng, architecture), words)


def _tensors(
    rng: np.random.Generator, architecture: Architecture
) -> dict[str, FloatArray]:
    """Numbers of the format: sums are of the size of their terms, up to some factor."""
    precision = PRECISIONS[architecture["dtype"]]
    factors: dict[str, float] = {}
    for b, block in enumerate(architecture["blocks"]):
        at, kind = f"blocks.{b}.attention", block.get("attention", {}).get("kind")
        if kind == "relu":  # which adds up
            factors[f"{at}.value"] = 1 / architecture["positions"]
        elif kind != "linear":  # where features may be too small
            factors[f"{at}.query"] = 2.0
    found = {}
    for name, shape in Transformer.of(architecture).shapes.items():
        terms = 1 if len(shape) == 1 or name.startswith("embed") else shape[-2]
        factor = factors.get(name, 1.0) * rng.choice([0.5, 1.0]) / np.sqrt(terms)
        found[name] = precision.normal(rng.normal(size=shape) * factor)
    return found


def _block(
    rng: np.random.Generator,
    kinds: Sequence[str],
    units: Sequence[str],
    ahead: bool,
    alike: bool,
) -> Architecture:
    heads = int(rng.integers(4))
    mlp = [int(rng.integers(1, SIZES + 1)) for _ in range(rng.integers(4))]
    block: Architecture = {"heads": heads, "mlp": mlp}
    for name in ("d_qk", "d_v"):
        block[name] = int(rng.integers(1, SIZES)) if heads else 0
    runs = [_runs(rng, width, units, alike) for width in mlp]
    if units != ("relu",) and mlp:
        block["activation"] = runs
    kind = str(rng.choice(kinds))
    if kind != "softmax":
        block["attention"] = {"kind": kind}
    if kind == "sparse":
        size = int(rng.integers(1, 5))
        block["attention"] |= {
            "block": size,
            "windows": int(rng.integers(1, 3)),
            "last": int(rng.integers(1, size + 1)),
        }
    if ahead and kind in ("softmax", "relu") and rng.integers(2):
        block["causal"] = [bool(rng.integers(2)) for _ in range(heads)]
    return block


def _runs(
    rng: np.random.Generator, width: int, units: Sequence[str], alike: bool
) -> list[list[Any]]:
    """Units in a row with one function."""
    if alike or width == 1 or len(units) == 1:
        return [[str(rng.choice(units)), width]]
    first = int(rng.integers(1, width))
    one, other = (str(name) for name in rng.choice(units, size=2, replace=False))
    return [[one, first], [other, width - first]]
