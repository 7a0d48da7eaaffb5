"""The tensors of an attention layer over real inputs, as its header says their shapes."""

from typing import NamedTuple

from krohn.architectures.attention_layer.statement import AttentionLayer
from krohn.program.errors import demand
from krohn.verify.checker.arithmetic import Format
from krohn.verify.checker.model_file import FloatArray, Model

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
        Refused: If its tensors are others than its header says, or its format is narrow.
    """
    narrow = model.format.narrow
    demand(not narrow, f"{model.format.name} is too narrow for real numbers")
    shape, t = model.network(AttentionLayer), model.tensors
    at = "memory" if shape.memory else "attention"
    depths = {"features": shape.features_units, "output": shape.output_units}
    layers = {
        of: [
            (t[f"{of}.{j}.weight"], t[f"{of}.{j}.bias"]) for j in range(len(units) + 1)
        ]
        for of, units in depths.items()
    }
    return Layer(
        model.format,
        shape.length,
        shape.inputs,
        shape.causal,
        t.get("code", t["attention.query"][:0, :0]),
        layers["features"],
        t["attention.query"],
        t[f"{at}.key"],
        t[f"{at}.value"],
        t.get("memory.bias"),
        layers["output"],
    )
