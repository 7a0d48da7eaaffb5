"""ONNX: a graph whose constants are the tensors of the file, by their names there.

The graph is written node by node, since exporters trace torch's code and put numbers
into it that they round: what stands here is what docs/model-format.md says.
"""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor

from krohn.network.architecture import kind_of
from krohn.network.architectures.transformer import activations
from krohn.network.errors import ExportError
from krohn.network.exports import Destination, circuit
from krohn.network.exports.labels import labels
from krohn.network.exports.onnx_graph import (
    BATCH,
    LETTERS,
    LOGITS,
    TIME,
    Graph,
    letters,
    transformer,
)
from krohn.network.exports.onnx_recurrent import recurrent
from krohn.network.modelfile import ModelFile
from krohn.network.sparse import is_index

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
    shape, names = file.header["architecture"], labels(file, states)
    graph = Graph(NUMBERS[shape["dtype"]])
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
        [graph.info(LOGITS, graph.number, BATCH, TIME, shape["outputs"])],
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
    shape = file.header["architecture"]
    kind = kind_of(shape)
    if not kind.program and kind.step is None:
        raise ExportError(f"no graph is known for {kind.called}")
    if any(is_index(name) for name in file.tensors):
        raise ExportError(
            "only RNNs of up to 1,024 units go to ONNX, and none that are pruned"
        )
    if shape["dtype"] not in NUMBERS:
        raise ExportError(
            f"ONNX Runtime has no kernels for {shape['dtype']}; compile it again with "
            "--dtype float32"
        )
    units = {
        str(name)
        for block in (shape["blocks"] if kind.program else [])
        for layer in activations(block)
        for name in layer
    }
    if "gelu" in units and shape["dtype"] == "float64":
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


def proved(file: ModelFile, directory: Path) -> str:
    """Hold the constants that were written against the tensors of the file.

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
    return (
        "the constants are the tensors of the file; of ONNX Runtime's own arithmetic "
        "nothing is proved"
    )


DESTINATION = Destination(
    name="onnx",
    title="ONNX Runtime",
    write=write,
    open=open_logits,
    arithmetic=f"the same operations, of opset {OPSET}, by other kernels",
    proved=proved,
)
