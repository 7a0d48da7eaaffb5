"""ONNX: a graph whose constants are the tensors of the file, by their names there."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime
import torch
from onnx import NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper
from torch import Tensor

from krohn.network import ExportError
from krohn.network.architecture import Step, is_index, kind_of
from krohn.network.exports import Destination, StoredNetwork, circuit
from krohn.network.exports.circuit import labels
from krohn.network.meaning.engine import Engine
from krohn.network.modelfile import ModelFile
from krohn.program.architectures.transformer import Block, Transformer
from krohn.program.attention import Linear, Rectified, Softmax, Sparse, sees_ahead
from krohn.program.errors import demand, unknown

# Writing an ONNX graph down, node by node, for Transformers and recurrent networks.


LETTERS, LOGITS = "letters", "logits"
BATCH, TIME = "batch", "time"
EXPORT = "the export to ONNX"


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
        """The description of an input or an output."""
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
    shape = file.architecture
    count = graph.op("Gather", graph.op("Shape", words), graph.whole(0))
    bos = graph.whole(shape.vocabulary - 1)
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
    for i, block in enumerate(shape.blocks):
        at = f"blocks.{i}"
        if block.heads:
            added = _heads(graph, at, block, x, t, shape.d_model)
            x = graph.op("Add", x, added, to=f"{at}.hook_resid_mid")
        x = _mlp(graph, at, block, x, f"{at}.mlp.residual" in file.tensors)
    later = graph.op("Slice", x, graph.whole(1), length, graph.whole(1))
    product = graph.op("MatMul", later, "unembed.weight")
    graph.op("Add", product, "unembed.bias", to=LOGITS)


def _heads(graph: Graph, at: str, block: Block, x: str, t: str, d: int) -> str:
    """The sum that the heads of a block add, ``(batch, time, d)``."""
    kind, alone = block.attention, graph.op("Unsqueeze", x, graph.whole(1))
    query, key, value = (
        graph.op("MatMul", alone, f"{at}.attention.{name}")
        for name in ("query", "key", "value")
    )
    if isinstance(kind, Linear):
        query, key = _feature(graph, query), _feature(graph, key)
    scores = graph.op("MatMul", query, graph.op("Transpose", key, perm=[0, 1, 3, 2]))
    seen = _visible(graph, block, t)
    match kind:
        case Softmax() | Sparse():
            shown = graph.op("Where", seen, scores, graph.real(-np.inf))
            weights = graph.op("Softmax", shown, axis=-1, to=f"{at}.attn.hook_pattern")
            mixed = graph.op("MatMul", weights, value)
        case Rectified():
            scores = graph.op("Relu", scores)
            weights = graph.op("Where", seen, scores, graph.real(0.0))
            mixed = graph.op("MatMul", weights, value)
        case Linear():
            weights = graph.op("Where", seen, scores, graph.real(0.0))
            total = graph.op("ReduceSum", weights, graph.whole(-1), keepdims=1)
            mixed = graph.op("Div", graph.op("MatMul", weights, value), total)
        case other:
            unknown(other, EXPORT)
    turned = graph.op("Transpose", mixed, perm=[0, 2, 1, 3])
    wide = graph.op("Reshape", turned, graph.whole(0, 0, -1))
    out = graph.op("Reshape", f"{at}.attention.out", graph.whole(-1, d))
    return graph.op("MatMul", wide, out)


def _feature(graph: Graph, x: str) -> str:
    """elu(x) + 1: x + 1 above 0, e^x below."""
    above = graph.op("Greater", x, graph.real(0.0))
    more = graph.op("Add", x, graph.real(1.0))
    return graph.op("Where", above, more, graph.op("Exp", x))


def _visible(graph: Graph, block: Block, t: str) -> str:
    """Which positions see which: ``(time, time)``, or for each head."""
    i, j = (graph.op("Unsqueeze", t, graph.whole(axis)) for axis in (1, 0))
    past = graph.op("LessOrEqual", j, i)
    kind = block.attention
    if isinstance(kind, Sparse):
        near = graph.op("Less", graph.op("Sub", i, j), graph.whole(kind.window))
        place = graph.op(
            "Mod", graph.op("Sub", j, graph.whole(1)), graph.whole(kind.block)
        )
        end = graph.op("GreaterOrEqual", place, graph.whole(kind.block - kind.last))
        return graph.op("And", past, graph.op("Or", near, end))
    whole = [sees_ahead(sight, EXPORT) for sight in block.sights]
    if not any(whole):
        return past
    everywhere = np.array(whole)[:, None, None]
    later = graph.op("Greater", i, graph.whole(0))
    return graph.op("Or", past, graph.op("And", graph.constant(everywhere), later))


def _mlp(graph: Graph, at: str, block: Block, x: str, masked: bool) -> str:
    """The stream after the MLP of a block."""
    kept = graph.op("Mul", x, f"{at}.mlp.residual") if masked else x
    if not block.mlp:
        return kept
    h = x
    for j, names in enumerate(block.activations):
        h = _affine(graph, f"{at}.mlp.{j}", h)
        h = _activated(graph, h, [str(name) for name in names])
    h = _affine(graph, f"{at}.mlp.{len(block.mlp)}", h)
    return graph.op("Add", kept, h, to=f"{at}.hook_resid_post")


def _affine(graph: Graph, name: str, x: str) -> str:
    return graph.op("Add", graph.op("MatMul", x, f"{name}.weight"), f"{name}.bias")


def _activated(graph: Graph, x: str, names: Sequence[str]) -> str:
    """Units after the functions that their activations name."""
    functions = {"relu": "Relu", "sine": "Sin", "gelu": "Gelu"}
    for name in names:
        demand(name in functions, f"{EXPORT} is not about {name!r} units")
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


# Recurrent networks as an ONNX graph: a `Scan` over the letters of a word.


LETTER = "letter"


@dataclass(frozen=True)
class Value:
    """A value of a graph, with the operations of `Step`.

    Attributes:
        graph: Where it is read.
        name: What it is called there.
        outer: Where it is given, if it is a tensor of the file.
    """

    graph: Graph
    name: str
    outer: Graph | None = None

    def op(self, kind: str, *others: "Value") -> "Value":
        """The value that a node of some kind makes of this one and others."""
        names = (self.name, *(other.name for other in others))
        return Value(self.graph, self.graph.op(kind, *names))

    def __add__(self, other: "Value") -> "Value":
        return self.op("Add", other)

    def __sub__(self, other: "Value") -> "Value":
        return self.op("Sub", other)

    def __mul__(self, other: "Value") -> "Value":
        return self.op("Mul", other)

    def __matmul__(self, other: "Value") -> "Value":
        return self.op("MatMul", other)

    @property
    def T(self) -> "Value":
        """A tensor of the file, turned once for all letters."""
        assert self.outer is not None
        name = f"{self.name}.turned"
        if name not in {node.output[0] for node in self.outer.nodes}:
            self.outer.op("Transpose", self.name, perm=[1, 0], to=name)
        return Value(self.graph, name)


class Nodes(Engine):
    """Operations that write nodes."""

    def gather(self, table: Value, index: Value) -> Value:
        """Rows of a table."""
        return table.op("Gather", index)

    def relu(self, x: Value) -> Value:
        """max(x, 0)."""
        return x.op("Relu")

    def sigmoid(self, x: Value) -> Value:
        """1 / (1 + e^−x)."""
        return x.op("Sigmoid")

    def tanh(self, x: Value) -> Value:
        """The hyperbolic tangent."""
        return x.op("Tanh")

    def parts(self, x: Value, count: int) -> tuple[Value, ...]:
        """Equal parts of the last axis."""
        names = [f"{x.name}_{part}" for part in range(count)]
        node = helper.make_node("Split", [x.name], names, axis=-1, num_outputs=count)
        x.graph.nodes.append(node)
        return tuple(Value(x.graph, name) for name in names)


def recurrent(graph: Graph, file: ModelFile, step: Step, words: str) -> None:
    """The nodes of a recurrent network, by the step of its architecture."""
    count = graph.op("Gather", graph.op("Shape", words), graph.whole(0))
    widths = [len(file.tensors[name]) for name in step.starts]
    held = [
        graph.op("Expand", name, graph.op("Concat", count, graph.whole(size), axis=0))
        for name, size in zip(step.starts, widths, strict=True)
    ]
    steps = graph.op("Transpose", words, perm=[1, 0])
    body = Graph(graph.number, front="step.")
    tensors = {name: Value(body, name, graph) for name in file.tensors}
    before = [f"{name}.before" for name in step.starts]
    read = tuple(Value(body, name) for name in before)
    after = step.after(tensors, Value(body, LETTER), read, Nodes())
    kept = [value.name for value in after]
    said = body.op("Identity", kept[0])
    letter = body.info(LETTER, TensorProto.INT64, BATCH)

    def info(names: list[str]) -> list[ValueInfoProto]:
        sized = zip(names, widths, strict=True)
        return [body.info(name, graph.number, BATCH, size) for name, size in sized]

    writes = [*info(kept), body.info(said, graph.number, BATCH, widths[0])]
    inner = helper.make_graph(
        body.nodes, "step", [*info(before), letter], writes, body.constants
    )
    ends = [f"{name}.last" for name in step.starts]
    graph.nodes.append(
        helper.make_node(
            "Scan", [*held, steps], [*ends, "hidden"], body=inner, num_scan_inputs=1
        )
    )
    h = graph.op("Transpose", "hidden", perm=[1, 0, 2])
    product = graph.op("MatMul", h, "unembed.weight")
    graph.op("Add", product, "unembed.bias", to=LOGITS)


# ONNX: a graph whose constants are the tensors of the file, by their names there.
#
# The graph is written node by node, since exporters trace torch's code and put numbers
# into it that they round: what stands here is what docs/model-format.md says.


OPSET = 20
"""The first with GeLU."""
NUMBERS = {
    "float64": TensorProto.DOUBLE,
    "float32": TensorProto.FLOAT,
    "float16": TensorProto.FLOAT16,
}
NAME = "model.onnx"


def write(file: ModelFile, directory: Path, states: bool = False) -> None:
    """Write ``model.onnx`` and the circuit.

    Args:
        file: The network.
        directory: Where to.
        states: Whether states are called by their names, though the machine has outputs.

    Raises:
        ExportError: If ONNX Runtime has no kernels for such a network.
    """
    _check(file)
    shape, names = file.architecture, labels(file, states)
    graph = Graph(NUMBERS[file.claim.dtype])
    for name, tensor in sorted(file.tensors.items()):
        graph.constant(file.precision.store(tensor), name)
    words = letters(graph, len(names.letters))
    step = kind_of(shape).step
    if step is None:
        transformer(graph, file, words)
    else:
        recurrent(graph, file, step, words)
    made = helper.make_graph(
        graph.nodes,
        "krohn",
        [graph.info(LETTERS, TensorProto.INT64, BATCH, TIME)],
        [graph.info(LOGITS, graph.number, BATCH, TIME, shape.outputs)],
        graph.constants,
    )
    opset = helper.make_opsetid("", OPSET)
    model = helper.make_model(
        made,
        producer_name="krohn",
        opset_imports=[opset],
        ir_version=helper.find_min_ir_version_for([opset]),
    )
    called = names.to_object().items()
    told = {key: json.dumps(value, ensure_ascii=False) for key, value in called}
    helper.set_model_props(model, told)
    onnx.checker.check_model(model, full_check=True)
    (directory / NAME).write_bytes(model.SerializeToString(deterministic=True))
    circuit.write(file, directory)


def _check(file: ModelFile) -> None:
    shape = file.architecture
    kind = kind_of(shape)
    if not kind.program and kind.step is None:
        raise ExportError(f"no graph is known for {kind.called}")
    if any(is_index(name) for name in file.tensors):
        raise ExportError(
            "only RNNs of up to 1,024 units go to ONNX, and none that are pruned"
        )
    if (dtype := file.claim.dtype) not in NUMBERS:
        raise ExportError(
            f"ONNX Runtime has no kernels for {dtype}; compile it again with "
            "--dtype float32"
        )
    units = {
        str(name)
        for block in (shape.blocks if isinstance(shape, Transformer) else ())
        for layer in block.activations
        for name in layer
    }
    if "gelu" in units and dtype == "float64":
        raise ExportError(
            "ONNX Runtime has no GeLU in float64; compile it again with --dtype float32"
        )
    if sum(tensor.size for tensor in file.tensors.values()) * 8 >= 2**31:
        raise ExportError("an ONNX file holds 2 GiB at most, and the network has more")


def open_logits(directory: Path) -> Callable[[Tensor], Tensor]:
    """Letters to logits, by ONNX Runtime."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    session = onnxruntime.InferenceSession(
        directory / NAME, options, providers=["CPUExecutionProvider"]
    )

    def logits(tokens: Tensor) -> Tensor:
        (found,) = session.run([LOGITS], {LETTERS: tokens.numpy()})
        return torch.from_numpy(found)

    return logits


def read(file: ModelFile, directory: Path) -> StoredNetwork:
    """The network that was written, if the constants are the tensors of the file.

    Raises:
        ExportError: If one differs.
    """
    stored = {
        tensor.name: numpy_helper.to_array(tensor)
        for tensor in onnx.load(directory / NAME).graph.initializer
    }
    for name, tensor in file.tensors.items():
        if not np.array_equal(stored[name].astype(np.float64), tensor):
            raise ExportError(f"the tensor {name!r} was not written as it is")
    return StoredNetwork(file)


DESTINATION = Destination(
    name="onnx",
    title="ONNX Runtime",
    write=write,
    open=open_logits,
    arithmetic=f"the same operations, of opset {OPSET}, by other kernels",
    read=read,
    program="""\
import json, numpy, onnxruntime

session = onnxruntime.InferenceSession("model.onnx")
(logits,) = session.run(["logits"], {{"letters": numpy.array([{letters}])}})
classes = json.loads(session.get_modelmeta().custom_metadata_map["classes"])
logits = logits[0]""",
    unproved="nobody has looked at ONNX Runtime's own arithmetic",
)
