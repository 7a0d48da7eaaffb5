"""The tensors of an attention layer over real inputs, as its header says their shapes."""

from itertools import pairwise
from typing import NamedTuple

from krohn.program.errors import demand
from krohn.verify.checker.model_file import FloatArray, Format, Model

MOST = 2**31
Affine = tuple[FloatArray, FloatArray]


class Layer(NamedTuple):
    """An attention layer (`docs/model-format.md`), its shapes as stated.

    Attributes:
        form: Its format.
        length: The longest input.
        inputs: How many numbers an input vector has.
        causal: Whether it sees no later position.
        code: ``(length, codes)``: what f̂ sees of each position.
        features: f̂: a weight ``(in, out)`` and a bias for each affine layer.
        query: ``(n, k)``.
        key: ``(n, k)``; ``(slots, k)`` of a memory.
        value: ``(n, v)``; ``(slots, v)`` of a memory.
        bias: ``(slots,)``, of a memory; None if it looks at positions.
        output: F̂.
    """

    form: Format
    length: int
    inputs: int
    causal: bool
    code: FloatArray
    features: list[Affine]
    query: FloatArray
    key: FloatArray
    value: FloatArray
    bias: FloatArray | None
    output: list[Affine]


def layer_of(model: Model) -> Layer:
    """The layer of a file.

    Raises:
        Refused: If its tensors are others than its header says.
    """
    said, t = model.header["architecture"], model.tensors
    sizes = ("length", "inputs", "features", "d_qk", "d_v", "outputs")
    length, inputs, n, k, v, outputs = (_size(said[name]) for name in sizes)
    codes, slots = (_size(said[name], 0) for name in ("codes", "memory"))
    demand(type(said["causal"]) is bool, "it is not said what the head sees")
    demand(not (slots and said["causal"]), "a memory has no later positions")
    held = "memory" if slots else "attention"
    shapes: dict[str, tuple[int, ...]] = {"attention.query": (n, k)}
    shapes |= {f"{held}.key": (slots or n, k), f"{held}.value": (slots or n, v)}
    shapes |= {"memory.bias": (slots,)} if slots else {}
    shapes |= {"code": (length, codes)} if codes else {}
    ends = {"features": (inputs + codes, n), "output": (v, outputs)}
    depth = {}
    for at, (first, last) in ends.items():
        widths = [first, *map(_size, said[f"{at}_units"]), last]
        depth[at] = len(widths) - 1
        for j, pair in enumerate(pairwise(widths)):
            shapes[f"{at}.{j}.weight"], shapes[f"{at}.{j}.bias"] = pair, pair[1:]
    found = {name: tensor.shape for name, tensor in t.items()}
    demand(found == shapes, "other tensors than stated")
    layers = {
        at: [(t[f"{at}.{j}.weight"], t[f"{at}.{j}.bias"]) for j in range(depth[at])]
        for at in ends
    }
    return Layer(
        model.format,
        length,
        inputs,
        said["causal"],
        t["code"] if codes else t["attention.query"][:0, :0],
        layers["features"],
        t["attention.query"],
        t[f"{held}.key"],
        t[f"{held}.value"],
        t["memory.bias"] if slots else None,
        layers["output"],
    )


def _size(said: object, least: int = 1) -> int:
    demand(type(said) is int and least <= said <= MOST, "it has no sensible sizes")
    assert isinstance(said, int)
    return said
