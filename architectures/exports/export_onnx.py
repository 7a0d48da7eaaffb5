"""ONNX: a graph whose constants are the tensors of the file, by their names there."""

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import ModelProto, TensorProto, ValueInfoProto, helper, numpy_helper
from torch import Tensor

from krohn.architectures.exports import circuit
from krohn.architectures.exports.circuit import (
    Labels,
    demand_said,
    labels,
    possible_labels,
    statement,
)
from krohn.architectures.exports.destinations import (
    Destination,
    StoredNetwork,
    read_back,
)
from krohn.architectures.exports.export_onnx_nodes import (
    Graph,
    Nodes,
    Value,
)
from krohn.network import ExportError
from krohn.network.architecture import is_index, kind_of
from krohn.network.meaning.attention import Points
from krohn.network.meaning.forward import read_out, through
from krohn.network.meaning.net import Net
from krohn.network.meaning.step import Step
from krohn.network.modelfile import ModelFile, alphabets
from krohn.network.precision import FloatArray
from krohn.program.architectures.transformer import Transformer

LETTERS, LETTER, LOGITS = "letters", "letter", "logits"
BATCH, TIME = "batch", "time"


# The nodes of a network: constants have the names of the tensors of the file.
#
# Exporters trace torch's code, and put numbers into a graph that they round. Here the
# forward pass writes it, over an engine that computes nothing.


def letters(graph: Graph, count: int, longest: int | None) -> Value:
    """The input, once it is known to be words: others are refused by a named node.

    ONNX has no messages, but an error has the name of its node, and `Gather` refuses an
    index beyond a table. It takes −1 for the last row, and BOS has a row of the embedding.

    Args:
        graph: Where nodes are written.
        count: How many letters there are.
        longest: The longest word; None if there is none.
    """
    given = Value(graph, LETTERS)
    index = (given < 0).op("Where", count, given)
    known = graph.value(range(count)).op("Gather", index)
    graph.places[f"letters_are_0_to_{count - 1}"] = known.name
    if longest is None:
        return known
    too_many = (given.op("Shape").op("Gather", 1) - longest).op("Max", 0)
    none = graph.value(0).op("Gather", too_many)
    graph.places[f"words_have_up_to_{longest}_letters"] = none.name
    return known + none


def transformer(graph: Graph, file: ModelFile, words: Value) -> None:
    """The nodes of a Transformer."""
    o, net = Nodes(), Net.of(file.architecture, _tensors(graph, file))
    bos = graph.value(file.architecture.vocabulary - 1)
    front = bos.op("Expand", _count(words).op("Concat", 1, axis=0))
    tokens = front.op("Concat", words, axis=1)
    length = tokens.op("Shape").op("Gather", 1)
    zero, one = (graph.value(np.array(n)) for n in (0, 1))
    t = zero.op("Range", length.op("Squeeze"), one)
    points = Points(tokens, t, lambda: (t.op("Unsqueeze", 1), t))
    stream, _ = through(net, o, points)
    read_out(net, o, stream.op("Slice", 1, length, 1))


def recurrent(graph: Graph, file: ModelFile, step: Step, words: Value) -> None:
    """The nodes of a recurrent network: a `Scan` over the letters of a word."""
    o, tensors, count = Nodes(), _tensors(graph, file), _count(words)
    widths = [len(file.tensors[name]) for name in step.starts]
    start_values = [
        tensors[name].op("Expand", count.op("Concat", size, axis=0)).name
        for name, size in zip(step.starts, widths, strict=True)
    ]
    body = Graph(graph.number, front="step.")
    before = [f"{name}.before" for name in step.starts]
    output, after = step.after(
        o,
        step.net({name: Value(body, name, graph) for name in tensors}),
        Value(body, LETTER),
        tuple(Value(body, name) for name in before),
    )
    kept, read = [value.name for value in after], output.op("Identity").name
    letter = body.info(LETTER, TensorProto.INT64, BATCH)

    def info(names: list[str]) -> list[ValueInfoProto]:
        sized = zip(names, widths, strict=True)
        return [body.info(name, graph.number, BATCH, size) for name, size in sized]

    writes = [*info(kept), body.info(read, graph.number, BATCH, "read")]
    inner = helper.make_graph(
        body.nodes, "step", [*info(before), letter], writes, body.constants
    )
    steps = words.op("Transpose", perm=[1, 0]).name
    *_, all_outputs = graph.op(
        "Scan",
        *start_values,
        steps,
        outputs=len(start_values) + 1,
        body=inner,
        num_scan_inputs=1,
    )
    each = Value(graph, all_outputs).op("Transpose", perm=[1, 0, 2])
    o.at(LOGITS, step.said(o, step.net(tensors), each))


def _longest(file: ModelFile) -> int | None:
    """The longest word that the network has room for and claims something of, if any."""
    shape = file.architecture
    room = shape.positions - 1 if isinstance(shape, Transformer) else None
    return min((n for n in (room, file.claim.length) if n is not None), default=None)


def _tensors(graph: Graph, file: ModelFile) -> dict[str, Value]:
    return {name: Value(graph, name) for name in file.tensors}


def _count(words: Value) -> Value:
    """How many words there are."""
    return words.op("Shape").op("Gather", 0)


# The file.


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
    model = model_of(file)
    helper.set_model_props(model, _make_metadata(file, labels(file, states)))
    onnx.checker.check_model(model, full_check=True)
    (directory / NAME).write_bytes(_serialize_model(model))
    circuit.write(file, directory)


def model_of(file: ModelFile) -> ModelProto:
    """The network of a file, without the names of its letters and classes.

    Raises:
        Refused: If a kind of heads or units has no nodes.
    """
    shape = file.architecture
    graph = Graph(NUMBERS[file.precision.name])
    for name, tensor in sorted(file.tensors.items()):
        stored = file.precision.store(tensor)
        graph.constants.append(numpy_helper.from_array(stored, name))
    words = letters(graph, len(alphabets(file)[0]), _longest(file))
    step = kind_of(shape).step(shape)
    if step is None:
        transformer(graph, file, words)
    else:
        recurrent(graph, file, step, words)
    made = helper.make_graph(
        graph.name_nodes(),
        "krohn",
        [graph.info(LETTERS, TensorProto.INT64, BATCH, TIME)],
        [graph.info(LOGITS, graph.number, BATCH, TIME, shape.outputs)],
        graph.constants,
    )
    opset = helper.make_opsetid("", OPSET)
    return helper.make_model(
        made,
        producer_name="krohn",
        opset_imports=[opset],
        ir_version=helper.find_min_ir_version_for([opset]),
    )


def _serialize_model(model: ModelProto) -> bytes:
    data: bytes = model.SerializeToString(deterministic=True)
    return data


def _check(file: ModelFile) -> None:
    shape = file.architecture
    kind = kind_of(shape)
    step = kind.step(shape)
    if not kind.program and step is None:
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
    if step is not None and dtype == "float16":
        raise ExportError(
            "ONNX Runtime crashes on loops in float16; compile it again with "
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
        (output,) = session.run([LOGITS], {LETTERS: tokens.numpy()})
        return torch.from_numpy(output)

    return logits


def read(file: ModelFile, directory: Path) -> StoredNetwork:
    """The network that was written: its tensors are the constants of the graph.

    The nodes are those that are written for these tensors, one by one.

    Raises:
        ExportError: If it is another one than that of the file.
    """
    with read_back():
        return _read(file, onnx.load(directory / NAME, load_external_data=False))


def _read(file: ModelFile, stored: ModelProto) -> StoredNetwork:
    constants = {tensor.name: tensor for tensor in stored.graph.initializer}
    tensors = dict[str, FloatArray]()
    for name, tensor in file.tensors.items():
        constant = constants.get(name, TensorProto())
        if constant.raw_data != file.precision.store(tensor).tobytes():
            raise ExportError(f"the tensor {name!r} was not written as it is")
        tensors[name] = file.precision.decode(constant.raw_data).reshape(tensor.shape)
    there = replace(file, tensors=tensors)
    made = model_of(there)
    for ours, theirs in zip_longest(made.graph.node, stored.graph.node):
        if ours != theirs:
            name = (theirs or ours).name
            raise ExportError(f"the node {name!r} is not as it was written")
    metadata = [(p.key, p.value) for p in stored.metadata_props]
    possible = (_make_metadata(file, names) for names in possible_labels(file))
    demand_said(metadata in [list(each.items()) for each in possible])
    stored.ClearField("metadata_props")
    if _serialize_model(stored) != _serialize_model(made):
        raise ExportError(f"{NAME} is not as it was written")
    return StoredNetwork(there)


def _make_metadata(file: ModelFile, names: Labels) -> dict[str, str]:
    """The metadata: texts as they are, all else as JSON."""
    return {
        key: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for key, value in statement(file, names).items()
    }


DESTINATION = Destination(
    name="onnx",
    opened_by="onnx",
    title="ONNX Runtime",
    write=write,
    open=open_logits,
    arithmetic=f"ONNX Runtime's own kernels (opset {OPSET})",
    read=read,
    program="""\
import json, numpy, onnxruntime

session = onnxruntime.InferenceSession("model.onnx")
(logits,) = session.run(["logits"], {{"letters": numpy.array([{letters}])}})
classes = json.loads(session.get_modelmeta().custom_metadata_map["classes"])
logits = logits[0]""",
    streams="""\
`circuit.csv` names streams by the hooks of TransformerLens. `model.onnx` gives logits
alone: to read a stream, export the network to TransformerLens or Hugging Face.""",
    unproved="the arithmetic of ONNX Runtime",
)
