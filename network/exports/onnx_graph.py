"""Writing an ONNX graph down, node by node, for Transformers and recurrent networks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import numpy as np
import numpy.typing as npt
from onnx import NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

from krohn.network.architectures.transformer import activations, causal
from krohn.network.attention_kind import Linear, Rectified, Sparse, attention_kind
from krohn.network.modelfile import ModelFile

LETTERS, LOGITS = "letters", "logits"
BATCH, TIME = "batch", "time"


@dataclass
class Graph:
    """Nodes so far; each writes one tensor, and is called by the name of that.

    Attributes:
        number: The format of the network, by ONNX's number.
        nodes: Each after those that it reads.
        constants: Tensors that are given: those of a file by their names in it.
        front: What stands in front of names that are made: a graph inside another one
            shares none with it.
    """

    number: int
    nodes: list[NodeProto] = field(default_factory=list)
    constants: list[TensorProto] = field(default_factory=list)
    front: str = ""

    def op(self, kind: str, *inputs: str, to: str = "", **attributes: Any) -> str:
        """One more node, and the name of what it writes."""
        name = to or f"{self.front}{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], name, **attributes))
        return name

    def whole(self, *values: int) -> str:
        """A constant list of whole numbers."""
        return self.constant(np.array(values, dtype=np.int64))

    def real(self, value: float) -> str:
        """A constant in the format of the network: no number is a literal."""
        dtype = helper.tensor_dtype_to_np_dtype(self.number)
        return self.constant(np.array(value, dtype=dtype))

    def constant(self, array: npt.NDArray[Any], name: str = "") -> str:
        """A constant."""
        name = name or f"{self.front}constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def info(self, name: str, number: int, *shape: int | str) -> ValueInfoProto:
        """What is said of an input or an output."""
        return helper.make_tensor_value_info(name, number, shape)


def letters(graph: Graph, count: int) -> str:
    """The input, once it is known to be letters: an index that is none is an error.

    A `Gather` takes −1 for the last row, and BOS has a row of the embedding.
    """
    below = graph.op("Less", LETTERS, graph.whole(0))
    index = graph.op("Where", below, graph.whole(count), LETTERS)
    return graph.op("Gather", graph.whole(*range(count)), index)


def transformer(graph: Graph, file: ModelFile, words: str) -> None:
    """The nodes of a Transformer, as docs/model-format.md has its operations."""
    shape = file.header["architecture"]
    count = graph.op("Gather", graph.op("Shape", words), graph.whole(0))
    bos = graph.whole(shape["vocabulary"] - 1)
    front = graph.op("Expand", bos, graph.op("Concat", count, graph.whole(1), axis=0))
    tokens = graph.op("Concat", front, words, axis=1)
    length = graph.op("Gather", graph.op("Shape", tokens), graph.whole(1))
    zero, one = (graph.constant(np.array(n)) for n in (0, 1))
    t = graph.op("Range", zero, graph.op("Squeeze", length), one)
    x = graph.op(
        "Add",
        graph.op("Gather", "embed.token", tokens),
        graph.op("Gather", "embed.position", t),
        to="blocks.0.hook_resid_pre",
    )
    for i, block in enumerate(shape["blocks"]):
        at = f"blocks.{i}"
        if block["heads"]:
            added = _heads(graph, at, block, x, t, shape["d_model"])
            x = graph.op("Add", x, added, to=f"{at}.hook_resid_mid")
        x = _mlp(graph, at, block, x, f"{at}.mlp.residual" in file.tensors)
    later = graph.op("Slice", x, graph.whole(1), length, graph.whole(1))
    product = graph.op("MatMul", later, "unembed.weight")
    graph.op("Add", product, "unembed.bias", to=LOGITS)


def _heads(
    graph: Graph, at: str, block: Mapping[str, Any], x: str, t: str, d: int
) -> str:
    """What the heads of a block add, ``(batch, time, d)``."""
    kind, alone = attention_kind(block), graph.op("Unsqueeze", x, graph.whole(1))
    query, key, value = (
        graph.op("MatMul", alone, f"{at}.attention.{name}")
        for name in ("query", "key", "value")
    )
    if isinstance(kind, Linear):
        query, key = _feature(graph, query), _feature(graph, key)
    scores = graph.op("MatMul", query, graph.op("Transpose", key, perm=[0, 1, 3, 2]))
    seen = _seen(graph, block, t)
    if isinstance(kind, Linear | Rectified):
        if isinstance(kind, Rectified):
            scores = graph.op("Relu", scores)
        weights = graph.op("Where", seen, scores, graph.real(0.0))
        mixed = graph.op("MatMul", weights, value)
    else:
        shown = graph.op("Where", seen, scores, graph.real(-np.inf))
        weights = graph.op("Softmax", shown, axis=-1, to=f"{at}.attn.hook_pattern")
        mixed = graph.op("MatMul", weights, value)
    if isinstance(kind, Linear):
        total = graph.op("ReduceSum", weights, graph.whole(-1), keepdims=1)
        mixed = graph.op("Div", mixed, total)
    turned = graph.op("Transpose", mixed, perm=[0, 2, 1, 3])
    wide = graph.op("Reshape", turned, graph.whole(0, 0, -1))
    out = graph.op("Reshape", f"{at}.attention.out", graph.whole(-1, d))
    return graph.op("MatMul", wide, out)


def _feature(graph: Graph, x: str) -> str:
    """elu(x) + 1: x + 1 above 0, e^x below."""
    above = graph.op("Greater", x, graph.real(0.0))
    more = graph.op("Add", x, graph.real(1.0))
    return graph.op("Where", above, more, graph.op("Exp", x))


def _seen(graph: Graph, block: Mapping[str, Any], t: str) -> str:
    """Which positions see which: ``(time, time)``, or for each head."""
    i, j = (graph.op("Unsqueeze", t, graph.whole(axis)) for axis in (1, 0))
    past = graph.op("LessOrEqual", j, i)
    kind = attention_kind(block)
    if isinstance(kind, Sparse):
        near = graph.op("Less", graph.op("Sub", i, j), graph.whole(kind.window))
        place = graph.op(
            "Mod", graph.op("Sub", j, graph.whole(1)), graph.whole(kind.block)
        )
        end = graph.op("GreaterOrEqual", place, graph.whole(kind.block - kind.last))
        return graph.op("And", past, graph.op("Or", near, end))
    if all(causal(block)):
        return past
    everywhere = ~np.array(causal(block))[:, None, None]
    later = graph.op("Greater", i, graph.whole(0))
    return graph.op("Or", past, graph.op("And", graph.constant(everywhere), later))


def _mlp(graph: Graph, at: str, block: Mapping[str, Any], x: str, masked: bool) -> str:
    """The stream after the MLP of a block."""
    kept = graph.op("Mul", x, f"{at}.mlp.residual") if masked else x
    if not block["mlp"]:
        return kept
    h = x
    for j, names in enumerate(activations(block)):
        h = _affine(graph, f"{at}.mlp.{j}", h)
        h = _activated(graph, h, [str(name) for name in names])
    h = _affine(graph, f"{at}.mlp.{len(block['mlp'])}", h)
    return graph.op("Add", kept, h, to=f"{at}.hook_resid_post")


def _affine(graph: Graph, name: str, x: str) -> str:
    return graph.op("Add", graph.op("MatMul", x, f"{name}.weight"), f"{name}.bias")


def _activated(graph: Graph, x: str, names: Sequence[str]) -> str:
    """Units after the functions that their activations name."""
    functions = {"relu": "Relu", "sine": "Sin", "gelu": "Gelu"}
    runs = [(name, len(list(run))) for name, run in groupby(names)]
    if len(runs) == 1:
        return graph.op(functions[runs[0][0]], x)
    ends = np.cumsum([0, *(count for _, count in runs)]).tolist()
    parts = [
        graph.op(
            functions[name],
            graph.op("Slice", x, *map(graph.whole, (first, last, -1))),
        )
        for (name, _), first, last in zip(runs, ends, ends[1:], strict=False)
    ]
    return graph.op("Concat", *parts, axis=-1)
