"""Recurrent networks as an ONNX graph: a `Scan` over the letters of a word."""

from dataclasses import dataclass

from onnx import TensorProto, ValueInfoProto, helper

from krohn.network.exports.onnx_graph import BATCH, LOGITS, Graph
from krohn.network.modelfile import ModelFile
from krohn.network.step import Step

LETTER = "letter"


@dataclass(frozen=True)
class Value:
    """What stands at a place of a graph, with the operations of `Step`.

    Attributes:
        graph: Where it is read.
        name: What it is called there.
        outer: Where it is given, if it is a tensor of the file.
    """

    graph: Graph
    name: str
    outer: Graph | None = None

    def op(self, kind: str, *others: "Value") -> "Value":
        """What a node of some kind makes of it."""
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

    def __getitem__(self, letter: "Value") -> "Value":
        return self.op("Gather", letter)

    @property
    def T(self) -> "Value":
        """A tensor of the file, turned once for all letters."""
        assert self.outer is not None
        name = f"{self.name}.turned"
        if name not in {node.output[0] for node in self.outer.nodes}:
            self.outer.op("Transpose", self.name, perm=[1, 0], to=name)
        return Value(self.graph, name)


class OnnxFunctions:
    """`krohn.network.step.Functions` of ONNX."""

    def relu(self, x: Value) -> Value:
        """max(x, 0)."""
        return x.op("Relu")

    def sigmoid(self, x: Value) -> Value:
        """1 / (1 + e^−x)."""
        return x.op("Sigmoid")

    def tanh(self, x: Value) -> Value:
        """The hyperbolic tangent."""
        return x.op("Tanh")

    def split(self, x: Value, parts: int) -> tuple[Value, ...]:
        """Equal parts of each row."""
        names = [f"{x.name}_{part}" for part in range(parts)]
        node = helper.make_node("Split", [x.name], names, axis=-1, num_outputs=parts)
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
    after = step.after(tensors, Value(body, LETTER), read, OnnxFunctions())
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
