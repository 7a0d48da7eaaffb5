"""RNNs, LSTMs and GRUs as an ONNX graph: a `Scan` over the letters of a word."""

from collections.abc import Callable

from onnx import TensorProto, helper

from krohn.network.exports.onnx_graph import BATCH, LOGITS, Graph
from krohn.network.modelfile import ModelFile

HELD = ("h.before", "c.before")
"""What is remembered of the letters so far; only an LSTM has a cell."""
LETTER = "letter"


def recurrent(graph: Graph, file: ModelFile, words: str) -> None:
    """The nodes of a recurrent network, as docs/model-format.md has its operations."""
    kind, size = (file.header["architecture"][key] for key in ("kind", "hidden"))
    starts, step = STEPS[kind]
    count = graph.op("Gather", graph.op("Shape", words), graph.whole(0))
    shape = graph.op("Concat", count, graph.whole(size), axis=0)
    held = [graph.op("Expand", start, shape) for start in starts]
    steps = graph.op("Transpose", words, perm=[1, 0])
    for name in ("weight_ih", "weight_hh"):
        if f"recurrent.{name}_l0" in file.tensors:  # torch has outputs as rows
            graph.op("Transpose", f"recurrent.{name}_l0", perm=[1, 0], to=name)
    body = Graph(graph.number, front="step.")
    kept = step(body)
    said = body.op("Identity", kept[0])
    reads = [body.info(name, graph.number, BATCH, size) for name in HELD[: len(starts)]]
    letter = body.info(LETTER, TensorProto.INT64, BATCH)
    writes = [body.info(name, graph.number, BATCH, size) for name in (*kept, said)]
    inner = helper.make_graph(
        body.nodes, "step", [*reads, letter], writes, body.constants
    )
    ends = [f"{name}.last" for name in starts]
    graph.nodes.append(
        helper.make_node(
            "Scan", [*held, steps], [*ends, "hidden"], body=inner, num_scan_inputs=1
        )
    )
    h = graph.op("Transpose", "hidden", perm=[1, 0, 2])
    product = graph.op("MatMul", h, "unembed.weight")
    graph.op("Add", product, "unembed.bias", to=LOGITS)


def _rnn(body: Graph) -> list[str]:
    product = body.op("MatMul", HELD[0], "hidden.weight")
    before = body.op("Add", product, "hidden.bias")
    letter = body.op("Gather", "input.weight", LETTER)
    return [body.op("Relu", body.op("Add", before, letter))]


def _halves(body: Graph, gates: int) -> tuple[list[str], list[str]]:
    """What the letter says to each gate, and what the past does."""
    letter = body.op("Gather", "weight_ih", LETTER)
    past = body.op("MatMul", HELD[0], "weight_hh")
    both = []
    for part, bias in ((letter, "bias_ih"), (past, "bias_hh")):
        whole = body.op("Add", part, f"recurrent.{bias}_l0")
        names = [f"{whole}_{gate}" for gate in range(gates)]
        node = helper.make_node("Split", [whole], names, axis=-1, num_outputs=gates)
        body.nodes.append(node)
        both.append(names)
    return both[0], both[1]


def _lstm(body: Graph) -> list[str]:
    """Gates in torch's order: i, f, g, o."""
    sums = [body.op("Add", *both) for both in zip(*_halves(body, 4), strict=True)]
    i, f, o = (body.op("Sigmoid", sums[n]) for n in (0, 1, 3))
    new = body.op("Mul", i, body.op("Tanh", sums[2]))
    cell = body.op("Add", body.op("Mul", f, HELD[1]), new)
    return [body.op("Mul", o, body.op("Tanh", cell)), cell]


def _gru(body: Graph) -> list[str]:
    """Gates in torch's order: r, z, n."""
    letter, past = _halves(body, 3)
    r, z = (body.op("Sigmoid", body.op("Add", letter[n], past[n])) for n in (0, 1))
    new = body.op("Tanh", body.op("Add", letter[2], body.op("Mul", r, past[2])))
    rest = body.op("Mul", z, body.op("Sub", HELD[0], new))
    return [body.op("Add", new, rest)]


STEPS: dict[str, tuple[tuple[str, ...], Callable[[Graph], list[str]]]] = {
    "rnn": (("hidden.start",), _rnn),
    "lstm": (("start.hidden", "start.cell"), _lstm),
    "gru": (("start.hidden",), _gru),
}
"""What each kind starts from, and what it makes of a letter."""
