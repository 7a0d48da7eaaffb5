"""Attention layers of real vectors from their tensors."""

from collections.abc import Mapping

from krohn.compiler.transformer import Network
from krohn.network.precision import FloatArray, Precision


def attention_layer_network(
    tensors: Mapping[str, FloatArray],
    length: int,
    precision: Precision,
    causal: bool = False,
) -> Network:
    """An attention layer of real vectors, whose sizes are those of its tensors.

    Args:
        tensors: By the names of the architecture.
        length: T.
        precision: The format.
        causal: Whether it sees no later position.
    """

    def widths(part: str) -> list[int]:
        count = sum(name.startswith(f"{part}.") for name in tensors) // 2
        return [len(tensors[f"{part}.{j}.bias"]) for j in range(count)]

    features, output = widths("features"), widths("output")
    prefix = "memory" if "memory.key" in tensors else "attention"
    codes = tensors["code"].shape[1] if "code" in tensors else 0
    architecture = {
        "kind": "attention-layer",
        "dtype": precision.name,
        "length": length,
        "inputs": len(tensors["features.0.weight"]) - codes,
        "codes": codes,
        "features": features[-1],
        "features_units": features[:-1],
        "d_qk": tensors["attention.query"].shape[1],
        "d_v": tensors[f"{prefix}.value"].shape[1],
        "memory": len(tensors["memory.key"]) if prefix == "memory" else 0,
        "causal": causal,
        "output_units": output[:-1],
        "outputs": output[-1],
    }
    return Network(architecture, tensors, {})
