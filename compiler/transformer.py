"""Lowering to the tensors of a causal Transformer, with a map of all places."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from krohn.compiler import CompileError
from krohn.compiler.attention import Head, Lowering, look
from krohn.compiler.layout import Layout, code_matrix
from krohn.compiler.positions import Positions
from krohn.network.precision import FloatArray, Precision
from krohn.program import (
    Map,
    Operation,
    Program,
    Table,
    is_embedded,
)
from krohn.program.attention import Sparse
from krohn.program.domains import IntArray
from krohn.program.language import program_to_wire
from krohn.program.operations.base import LookBack
from krohn.program.statement import StatedPlace

if TYPE_CHECKING:
    from krohn.compiler.mlp import BlockMlp

# Attention heads: one for every way of looking back.


def patterns(layout: Layout, block: int) -> dict[Operation, list[str]]:
    """The channels of a block by how they look; each way becomes one head."""
    grouped: dict[Operation, list[str]] = {}
    for name in layout.plan.attention(block):
        operation = layout.plan.program.operations[name]
        grouped.setdefault(look(operation), []).append(name)
    return grouped


def kind(layout: Layout, block: int, sparse: Sparse | None) -> dict[str, Any]:
    """The entry of the architecture for the kind of a block's heads, if any.

    Args:
        layout: The channels of the network, and their places.
        block: The number of the block.
        sparse: The positions that all heads see; None for all.

    Raises:
        CompileError: If a head must look where it does not see.
    """
    by_pattern = patterns(layout, block)
    linear = {looked.linear for looked in by_pattern}
    if len(linear) > 1:
        raise CompileError(
            "a block cannot have both linear heads and heads of another kind"
        )
    if sparse is None:
        return {"attention": {"kind": "linear"}} if True in linear else {}
    program = layout.plan.program
    t = np.arange(program.length + 1)
    for looked, channels in by_pattern.items():
        fetched = _looked_at(program, looked)
        hidden = None if fetched is None else t[~sparse.sees(t, fetched)]
        if hidden is None and program.near is not None:
            hidden = t[:0] if program.near < sparse.window else t
        if hidden is None or len(hidden):
            raise CompileError(
                f"{channels[0]!r} looks {_far(t, fetched, hidden)}, and sparse heads see "
                f"the last {sparse.window} positions"
            )
    return {"attention": {"kind": "sparse", **asdict(sparse)}} if by_pattern else {}


def _looked_at(program: Program, looked: Operation) -> IntArray | None:
    """Where a head looks from each position, ``(T + 1,)``; None if words decide it."""
    others: list[Any] = [program.operations[name] for name in looked.reads[1:]]
    given = [np.array([x.values]) for x in others if x.wire == "position"]
    if not isinstance(looked, LookBack) or len(given) < len(others):
        return None
    return np.ravel(looked.position(given, np.arange(program.length + 1)))


def _far(t: IntArray, fetched: IntArray | None, hidden: IntArray | None) -> str:
    """Where a head looks that sees too little, in words."""
    if fetched is None or hidden is None:
        return "anywhere"
    return f"{(t - fetched)[hidden].max()} positions back"


def build(
    layout: Layout, positions: Positions, looked: Operation, channels: list[str]
) -> Head:
    """The head of a way of looking, copying each channel's source to the channel."""
    lowering = Lowering.of[type(looked)]
    query, key = lowering.matrices(layout, positions, looked)
    gain = lowering.gain(layout.plan.program, looked)
    value, out = _copy(layout, channels, gain)
    return Head(query, key, value, out)


def _copy(
    layout: Layout, channels: list[str], gain: float
) -> tuple[FloatArray, FloatArray]:
    sources: list[int] = []
    targets: list[int] = []
    for name in channels:
        operation = layout.plan.program.operations[name]
        source, target = layout.places[operation.reads[0]], layout.places[name]
        sources += range(source.start, source.stop)
        targets += range(target.start, target.stop)
    value = np.zeros((layout.d_model, len(sources)))
    out = np.zeros((len(sources), layout.d_model))
    value[sources, range(len(sources))] = 1.0
    out[range(len(sources)), targets] = gain
    return value, out


# Lowering to the tensors of a causal Transformer, with a map of all places.


@dataclass(frozen=True)
class Network:
    """A network ready to be written: architecture and tensors of a model file.

    Attributes:
        architecture: Sizes, as docs/model-format.md describes them.
        tensors: Name to array.
        heads: For each channel that a head writes, the index of the head.
    """

    architecture: dict[str, Any]
    tensors: Mapping[str, FloatArray]
    heads: Mapping[str, int]


def transformer_network(
    tensors: Mapping[str, FloatArray],
    blocks: Sequence[Mapping[str, Any]],
    precision: Precision,
    strict: bool,
    heads: Mapping[str, int],
) -> Network:
    """A Transformer, whose sizes are those of its tensors.

    Args:
        tensors: By the names of the architecture.
        blocks: What the architecture says of each block.
        precision: The format.
        strict: Whether all residuals are plain.
        heads: As `Network` has them.
    """
    vocabulary, width = tensors["embed.token"].shape
    architecture = {
        "kind": "transformer",
        "dtype": precision.name,
        "strict": strict,
        "d_model": width,
        "vocabulary": vocabulary,
        "positions": len(tensors["embed.position"]),
        "outputs": len(tensors["unembed.bias"]),
        "blocks": blocks,
    }
    return Network(architecture, tensors, heads)


def lower(
    layout: Layout,
    features: Positions,
    strict: bool,
    activation: str = "relu",
    scale: float = 1.0,
    sparse: Sparse | None = None,
) -> Network:
    """The Transformer of a layout.

    Args:
        layout: Where every channel lies.
        features: The position features that the layout has room for.
        strict: Plain residuals x + f(x) and one hidden layer in every MLP; otherwise an
            MLP may overwrite dimensions (the 0/1 residual masks of the thesis).
        activation: As `krohn.compiler.pipeline.Options` has it.
        scale: λ of the units that multiply.
        sparse: What the heads of all blocks see; None for everything.

    Raises:
        CompileError: If a head must look where it does not see.
    """
    weight, bias = unembedding(layout)
    tensors = {
        "embed.token": token_embedding(layout),
        "embed.position": position_embedding(layout, features),
        "unembed.weight": weight,
        "unembed.bias": bias,
    }
    blocks, head_of = [], {}
    for b in range(layout.plan.blocks):
        shape, chosen, block = _block(layout, features, b, strict, activation, scale)
        tensors |= {f"blocks.{b}.{name}": array for name, array in block.items()}
        blocks.append({**shape, **kind(layout, b, sparse)})
        head_of.update(chosen)
    return transformer_network(tensors, blocks, features.precision, strict, head_of)


def token_embedding(layout: Layout) -> FloatArray:
    """``(letters + 1, d)``: the codes of every channel that the letter determines."""
    program = layout.plan.program
    embedding = np.zeros((len(program.letters) + 1, layout.d_model))
    operation: Any
    for name, operation in program.operations.items():
        if name in layout.places and is_embedded(program, operation):
            place = layout.places[name]
            if operation.wire == "letter-matrix":
                rows = operation.rows.reshape(len(embedding), -1)
                embedding[:, place.start : place.stop] = rows
                continue
            assert isinstance(operation, Map)
            assert isinstance(operation.function, Table)
            tokens = operation.function.rows[:, 0]
            codes = code_matrix(program, name, operation.function.values)
            embedding[tokens, place.start : place.stop] = codes
    return embedding


def position_embedding(layout: Layout, features: Positions) -> FloatArray:
    """``(T + 1, d)``: the position features, and functions of the position alone."""
    program = layout.plan.program
    embedding = np.zeros((features.length + 1, layout.d_model))
    for name, place in layout.places.items():
        operation: Any = program.operations[name]
        if operation.wire == "position":
            codes = code_matrix(program, name, operation.values)
            embedding[:, place.start : place.stop] = codes
    for name, values in features.table().items():
        low, high = layout.features[name]
        embedding[:, low:high] = values
    return embedding


def unembedding(layout: Layout) -> tuple[FloatArray, FloatArray]:
    """The state whose code is nearest, as a linear map: logits 2⟨c, x⟩ − |c|².

    States that cannot occur get −1, below the logit |c|² ≥ 0 of the state that does. An
    output that holds matrices is applied to the vector of the Program instead, and one
    that is laid out as vectors is said as it is.
    """
    program = layout.plan.program
    weight = np.zeros((layout.d_model, program.states))
    if program.vector:
        place = layout.places[program.outputs[0]]
        applied = np.kron(np.eye(program.states), np.array(program.vector)[:, None])
        weight[place.start : place.stop] = applied
        return weight, np.zeros(program.states)
    if program.outputs[0] in program.vectors:
        place = layout.places[program.outputs[0]]
        weight[place.start : place.stop] = np.eye(program.states)
        return weight, np.zeros(program.states)
    bias = np.full(program.states, -1.0)
    for values, state in program.decode.items():
        bias[state] = 0.0
        for name, value in zip(program.outputs, values, strict=True):
            place = layout.places[name]
            code = code_matrix(program, name, [value])[0]
            weight[place.start : place.stop, state] += 2 * code
            bias[state] -= code @ code
    return weight, bias


def _block(
    layout: Layout,
    features: Positions,
    block: int,
    strict: bool,
    activation: str,
    scale: float,
) -> tuple[dict[str, Any], dict[str, int], dict[str, FloatArray]]:
    tensors: dict[str, FloatArray] = {}
    head_of: dict[str, int] = {}
    built: list[Head] = []
    for pattern, channels in patterns(layout, block).items():
        head_of.update(dict.fromkeys(channels, len(built)))
        built.append(build(layout, features, pattern, channels))
    if built:
        linear = any(looked.linear for looked in patterns(layout, block))
        tensors |= _stack(built, strict, linear)
    mlp: BlockMlp | None = None
    if layout.plan.maps(block):
        from krohn.compiler.mlp import block_mlp

        mlp = block_mlp(layout, features.precision, block, strict, activation, scale)
    layers = mlp.layers() if mlp else []
    for j, (weight, bias) in enumerate(layers):
        tensors[f"mlp.{j}.weight"], tensors[f"mlp.{j}.bias"] = weight, bias
    if not strict:
        tensors["mlp.residual"] = _residual(layout, block)
    shape: dict[str, Any] = {
        "heads": len(built),
        "d_qk": tensors["attention.query"].shape[2] if built else 0,
        "d_v": tensors["attention.value"].shape[2] if built else 0,
        "mlp": [weight.shape[1] for weight, _ in layers[:-1]],
    }
    causal = [looked.causal for looked in patterns(layout, block)]
    if not all(causal):
        shape["causal"] = causal
    activations = mlp.activations() if mlp else []
    if any(name != "relu" for runs in activations for name, _ in runs):
        shape["activation"] = activations
    return shape, head_of, tensors


def _stack(built: list[Head], strict: bool, linear: bool) -> dict[str, FloatArray]:
    """Heads of one block padded with zeros to common sizes, all equal when strict."""
    k = max(head.query.shape[1] for head in built)
    v = max(head.value.shape[1] for head in built)
    if strict and linear and v > k:
        raise CompileError(
            "the strict form pads queries with entries of 0, which a linear head "
            "would give weight to; leave --strict out"
        )
    if strict:
        k = v = max(k, v)
    return {
        "attention.query": np.stack([_pad(h.query, 1, k) for h in built]),
        "attention.key": np.stack([_pad(h.key, 1, k) for h in built]),
        "attention.value": np.stack([_pad(h.value, 1, v) for h in built]),
        "attention.out": np.stack([_pad(h.out, 0, v) for h in built]),
    }


def _pad(matrix: FloatArray, axis: int, size: int) -> FloatArray:
    missing = [(0, 0), (0, 0)]
    missing[axis] = (0, size - matrix.shape[axis])
    return np.pad(matrix, missing)


def _residual(layout: Layout, block: int) -> FloatArray:
    """1 on dimensions that the MLP adds to, 0 on dimensions that it overwrites."""
    mask = np.ones(layout.d_model)
    for name in layout.channels_to_clear(block):
        mask[layout.places[name].start : layout.places[name].stop] = 0.0
    return mask


def describe(layout: Layout, network: Network) -> dict[str, Any]:
    """The Program and the place of every channel, as the model file states them."""
    program = layout.plan.program
    places = {
        n: StatedPlace(
            p.start, p.stop, p.born, p.dies, program.code(n), network.heads.get(n)
        )
        for n, p in layout.places.items()
    }
    return program_to_wire(program, places, layout.features)
