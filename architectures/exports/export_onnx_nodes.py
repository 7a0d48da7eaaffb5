"""The engine of ONNX: operations write the nodes of a graph."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from operator import methodcaller
from typing import Any

import numpy as np
import numpy.typing as npt
from onnx import NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

from krohn.architectures.exports.circuit import hook
from krohn.network.meaning.attention import PROJECT, SCORES, View, weigh
from krohn.network.meaning.engine import Engine, operation
from krohn.network.meaning.net import Heads

# A graph and the values in it.


@dataclass
class Graph:
    """Nodes so far; what is written down once is not written down again.

    Attributes:
        number: The format of the network, by ONNX's number.
        nodes: Each after those that it reads.
        constants: Tensors that are given: those of a file by their names in it.
        front: What stands in front of names that are made: a graph inside another one
            shares none with it.
        places: Names that are promised, and the values that they are for.
    """

    number: int
    nodes: list[NodeProto] = field(default_factory=list)
    constants: list[TensorProto] = field(default_factory=list)
    front: str = ""
    places: dict[str, str] = field(default_factory=dict)
    _known: dict[Any, list[str]] = field(default_factory=dict)

    def op(
        self, kind: str, *inputs: str, outputs: int = 1, **attributes: Any
    ) -> list[str]:
        """The names of what a node writes."""
        key = kind, inputs, repr(attributes)
        if key not in self._known:
            name = f"{self.front}{kind.lower()}_{len(self.nodes)}"
            names = [f"{name}_{i}" for i in range(outputs)] if outputs > 1 else [name]
            self.nodes.append(helper.make_node(kind, inputs, names, name, **attributes))
            self._known[key] = names
        return self._known[key]

    def constant(self, array: npt.NDArray[Any]) -> str:
        """A constant."""
        key = array.dtype, array.shape, array.tobytes()
        if key not in self._known:
            name = f"{self.front}constant_{len(self.constants)}"
            self.constants.append(numpy_helper.from_array(array, name))
            self._known[key] = [name]
        return self._known[key][0]

    def value(self, x: Any) -> "Value":
        """A value: whole numbers are one axis, real ones are in the network's format."""
        if isinstance(x, Value):
            return x
        if isinstance(x, float):
            x = np.array(x, helper.tensor_dtype_to_np_dtype(self.number))
        elif not isinstance(x, np.ndarray):
            x = np.array(x, np.int64, ndmin=1)
        return Value(self, self.constant(x))

    def info(self, name: str, number: int, *shape: int | str) -> ValueInfoProto:
        """The description of an input or an output."""
        return helper.make_tensor_value_info(name, number, shape)

    def name_nodes(self) -> list[NodeProto]:
        """The nodes, with the names that are promised.

        A value is called by the first of its names; a copy has each other one.
        """
        first = {value: name for name, value in reversed(self.places.items())}
        for node in self.nodes:
            for names in (node.input, node.output):
                names[:] = [first.get(name, name) for name in names]
        copies = (
            helper.make_node("Identity", [first[value]], [name])
            for name, value in self.places.items()
            if first[value] != name
        )
        nodes = [*self.nodes, *copies]
        for node in nodes:
            node.name = node.output[0]
        return nodes


def _infix(kind: str) -> Callable[["Value", Any], "Value"]:
    """An operator of Python that writes a node of some kind."""
    return lambda value, other: value.op(kind, other)


@dataclass(frozen=True)
class Value:
    """A value of a graph; what is computed with it writes nodes.

    Attributes:
        graph: Where it is read.
        name: What it is called there.
        outer: Where it is given, if it is a tensor of the file and read inside a loop.
    """

    graph: Graph
    name: str
    outer: Graph | None = None

    def op(self, kind: str, *others: Any, **attributes: Any) -> "Value":
        """What a node of some kind makes of this value and others."""
        return self.ops(kind, *others, **attributes)[0]

    def ops(self, kind: str, *others: Any, **attributes: Any) -> list["Value"]:
        """All that a node makes of this value and others."""
        names = (self.graph.value(x).name for x in others)
        made = self.graph.op(kind, self.name, *names, **attributes)
        return [Value(self.graph, name) for name in made]

    __add__, __sub__, __mul__ = map(_infix, ("Add", "Sub", "Mul"))
    __truediv__, __matmul__, __mod__ = map(_infix, ("Div", "MatMul", "Mod"))
    __lt__, __le__ = map(_infix, ("Less", "LessOrEqual"))
    __gt__, __ge__ = map(_infix, ("Greater", "GreaterOrEqual"))
    __and__, __or__ = map(_infix, ("And", "Or"))

    @property
    def T(self) -> "Value":
        """A matrix of the file, turned once for all letters."""
        turned = Value(self.outer or self.graph, self.name).op("Transpose", perm=[1, 0])
        return Value(self.graph, turned.name)


# The operations.


class Nodes(Engine):
    """Operations that write nodes."""

    who = "the export to ONNX"
    relu, sine, gelu, sigmoid, tanh = (
        operation(methodcaller("op", kind))
        for kind in ("Relu", "Sin", "Gelu", "Sigmoid", "Tanh")
    )

    def gather(self, table: Value, index: Value) -> Value:
        """Rows of a table."""
        return table.op("Gather", index)

    def contract(self, axes: str, x: Value, y: Value) -> Value:
        """A sum of products."""
        if axes == PROJECT:
            return x.op("Unsqueeze", 1) @ y
        if axes == SCORES:
            return x @ y.op("Transpose", perm=[0, 1, 3, 2])
        wide = x.op("Transpose", perm=[0, 2, 1, 3]).op("Reshape", (0, 0, -1))
        return wide @ y.op("Flatten", axis=2)

    def combine(self, weights: Value, values: Value, seen: Value) -> Value:
        """Numbers that are not finite count as 0, and spoil what sees them."""
        number = values.graph.number
        wrong = (values - values).op("IsNaN")
        mixed = weights @ wrong.op("Where", 0.0, values)
        spoilt = seen.op("Cast", to=number) @ wrong.op("Cast", to=number) > 0.0
        return spoilt.op("Where", np.nan, mixed)

    def keep_seen(self, x: Value, seen: Value) -> Value:
        """``x`` where it is seen, and 0 elsewhere."""
        return seen.op("Where", x, 0.0)

    def softmax(self, scores: Value, seen: Value) -> Value:
        """By the operation of this name."""
        return seen.op("Where", scores, -np.inf).op("Softmax", axis=-1)

    def total(self, x: Value) -> Value:
        """The sum over j."""
        return x.op("ReduceSum", -1, keepdims=1)

    def phi(self, x: Value) -> Value:
        """elu(x) + 1."""
        return (x > 0.0).op("Where", x + 1.0, x.op("Exp"))

    def split(self, x: Value, sizes: Sequence[int]) -> Sequence[Value]:
        """Parts of the last axis."""
        return x.ops("Split", sizes, axis=-1, outputs=len(sizes))

    def parts(self, x: Value, count: int) -> Sequence[Value]:
        """Equal parts of the last axis."""
        return x.ops("Split", axis=-1, num_outputs=count, outputs=count)

    def join(self, parts: Sequence[Value]) -> Value:
        """Parts of a last axis, put together."""
        return parts[0].op("Concat", *parts[1:], axis=-1)

    def flags(self, bits: Sequence[bool], like: Value) -> Value:
        """``(h, 1, 1)``: truth values."""
        return like.graph.value(np.array(bits)[:, None, None])

    def one_hot(self, index: Value, count: int, like: Value) -> Value:
        """Rows of the identity."""
        number = helper.tensor_dtype_to_np_dtype(like.graph.number)
        return index.graph.value(np.eye(count, dtype=number)).op("Gather", index)

    def attend(
        self, heads: Heads[Value], query: Value, key: Value, value: Value, view: View
    ) -> Any:
        """``(b, h, i, v)``: what heads take; weights that nothing divides have a name."""
        weights, total = weigh(self, heads, query, key, view)
        if total is None:
            self.at(view.places.pattern, weights)
        return super().attend(heads, query, key, value, view)

    def at(self, place: str, value: Value) -> Value:
        """The value has the name that TransformerLens has for its place."""
        *_, part, name = f".{place}".split(".")
        if part == "stream":
            value.graph.places[hook(int(name))] = value.name
        elif name in ("pattern", "logits"):
            value.graph.places[place.replace("attention.", "attn.hook_")] = value.name
        return value
