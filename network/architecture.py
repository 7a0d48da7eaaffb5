"""What a model file says of the shape of its network: kinds, tensors, activations.

`KINDS` is the one place that says how the kinds of networks differ; whoever needs to
know asks the kind of an architecture, and not for its name.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from krohn.network.attention_kind import attention_kind
from krohn.network.errors import ModelFileError
from krohn.network.sparse import is_index

StrArray = npt.NDArray[np.str_]
Shapes = dict[str, tuple[int, ...]]
Architecture = Mapping[str, Any]

MOST_BLOCKS = 2**12
"""Blocks may be empty, and so as many as a short header lists."""
ACTIVATIONS = ("relu", "sine", "gelu")
NORMS = ("layer", "none")


@dataclass(frozen=True)
class Kind:
    """What networks of one kind have in common.

    Attributes:
        title: The network, as people call it.
        shapes: The name and shape of every tensor of an architecture.
        layers: For each layer of an architecture ``heads``, and the hidden widths ``mlp``.
        width: How many numbers an architecture has for each position.
        marks: How many tokens there are beside the letters: BOS.
        recurrent: Whether it reads a letter at a time, and words of every length.
        program: Whether its file can state a Program, and a proof starts from that.
        bounded: Whether a recurrent one may be claimed for words up to a length only.
        answers: What the outputs say: the state of the machine or its output; how likely
            each letter is to come next; or real vectors, of inputs that are real vectors.
    """

    title: str
    shapes: Callable[[Architecture], Shapes]
    layers: Callable[[Architecture], Sequence[Mapping[str, Any]]]
    width: Callable[[Architecture], int]
    marks: int = 0
    recurrent: bool = False
    program: bool = False
    bounded: bool = False
    answers: Literal["classes", "laws", "reals"] = "classes"

    @property
    def called(self) -> str:
        """With its article: an RNN, a GRU, an attention layer."""
        spelled = "AEFHILMNORSX" if self.title.isupper() else "AEIOUaeiou"
        return f"{'an' if self.title[0] in spelled else 'a'} {self.title}"


def kind_of(architecture: Architecture) -> Kind:
    """The kind of the networks of an architecture.

    Raises:
        ModelFileError: If it is not one that this version knows.
    """
    name = architecture.get("kind")
    if not isinstance(name, str) or name not in KINDS:
        known = ", ".join(map(repr, KINDS))
        raise ModelFileError(f"has architecture {name!r}; known are {known}")
    return KINDS[name]


def expected_shapes(architecture: Architecture) -> Shapes:
    """The name and shape of every tensor that an architecture has.

    Raises:
        ModelFileError: If the architecture is not one that this version knows.
    """
    return kind_of(architecture).shapes(architecture)


def _transformer_shapes(architecture: Architecture) -> Shapes:
    d = size(architecture, "d_model")
    shapes: Shapes = {
        "embed.token": (size(architecture, "vocabulary"), d),
        "embed.position": (size(architecture, "positions"), d),
        "unembed.weight": (d, size(architecture, "outputs")),
        "unembed.bias": (size(architecture, "outputs"),),
    }
    blocks = architecture.get("blocks")
    if not isinstance(blocks, list):
        raise ModelFileError("is damaged: its architecture has no list of blocks")
    if len(blocks) > MOST_BLOCKS:
        raise ModelFileError(f"has more than {MOST_BLOCKS} blocks")
    for i, block in enumerate(blocks):
        shapes |= _block_shapes(
            f"blocks.{i}", block, d, bool(architecture.get("strict"))
        )
    return shapes


def _block_shapes(at: str, block: Any, d: int, strict: bool) -> Shapes:
    if not isinstance(block, dict) or not isinstance(block.get("mlp"), list):
        raise ModelFileError(f"is damaged: {at} is no block")
    heads = size(block, "heads", least=0)
    k, v = (size(block, key, least=min(heads, 1)) for key in ("d_qk", "d_v"))
    shapes: Shapes = {}
    if heads:
        shapes |= {
            f"{at}.attention.query": (heads, d, k),
            f"{at}.attention.key": (heads, d, k),
            f"{at}.attention.value": (heads, d, v),
            f"{at}.attention.out": (heads, v, d),
        }
    widths = [size({"mlp": w}, "mlp") for w in block["mlp"]]
    if widths:
        shapes |= _affine_shapes(at, [d, *widths, d])
    if not strict:
        shapes[f"{at}.mlp.residual"] = (d,)
    activations(block)
    causal(block)
    attention_kind(block)
    return shapes


def causal(block: Architecture) -> list[bool]:
    """Of each head of a block, whether it sees no position after its own.

    A head that is not causal sees the whole word, but from BOS only BOS.

    Raises:
        ModelFileError: If that is not said of each.
    """
    told = block.get("causal", [True] * block["heads"])
    if (
        not isinstance(told, list)
        or len(told) != block["heads"]
        or any(type(each) is not bool for each in told)
    ):
        raise ModelFileError("is damaged: not every head says what it sees")
    return told


def _affine_shapes(at: str, widths: list[int]) -> Shapes:
    shapes: Shapes = {}
    for j, (rows, columns) in enumerate(pairwise(widths)):
        shapes[f"{at}.mlp.{j}.weight"] = (rows, columns)
        shapes[f"{at}.mlp.{j}.bias"] = (columns,)
    return shapes


def _generator_shapes(architecture: Architecture) -> Shapes:
    layers, letters = architecture.get("layers"), size(architecture, "vocabulary")
    moves = architecture.get("moves")
    if not isinstance(layers, list) or not layers:
        raise ModelFileError("is damaged: its architecture has no list of layers")
    if (
        not isinstance(moves, list)
        or len(moves) != letters
        or any(type(move) is not int or abs(move) != 1 for move in moves)
    ):
        raise ModelFileError("is damaged: it does not say which letters open or close")
    if len(layers) > MOST_BLOCKS:
        raise ModelFileError(f"has more than {MOST_BLOCKS} layers")
    if any(not isinstance(x, dict) or type(x.get("mlp")) is not list for x in layers):
        raise ModelFileError("is damaged: one of its layers is no layer")
    widths = [size(layer, "d") for layer in layers]
    shapes: Shapes = {
        "embed.letter": (letters, size(architecture, "depths"), widths[0]),
        "embed.start": (widths[0],),
    }
    ends = [*widths[1:], size(architecture, "outputs")]
    for i, (layer, end) in enumerate(zip(layers, ends, strict=True)):
        at, d, k = f"layers.{i}", widths[i], size(layer, "d_qk")
        shapes |= {
            f"{at}.attention.query": (d, k),
            f"{at}.attention.key": (d, k),
            f"{at}.attention.value": (d, d),
        }
        if norm(layer) == "layer":
            shapes[f"{at}.constant"] = (1,)
        hidden = [size({"mlp": w}, "mlp") for w in layer["mlp"]]
        shapes |= _affine_shapes(at, [d, *hidden, end])
    return shapes


def norm(layer: Mapping[str, Any]) -> str:
    """How what the head of a layer adds is normalised: ``"layer"`` or ``"none"``.

    Files of the first releases do not say it: there it is LN_C.

    Raises:
        ModelFileError: If it is no way that is known.
    """
    name = layer.get("norm", "layer")
    if not isinstance(name, str) or name not in NORMS:
        known = ", ".join(map(repr, NORMS))
        raise ModelFileError(f"is damaged: a layer has norm {name!r}, not {known}")
    return name


def activations(block: Mapping[str, Any]) -> tuple[StrArray, ...]:
    """The name of the activation of each unit of each hidden layer of a block.

    Files of version 2 say of each layer how many units, the first ones, are sines.

    Raises:
        ModelFileError: If it does not name one that is known for every unit.
    """
    widths = block["mlp"]
    if "activation" in block:
        told = block["activation"]
    else:
        sines = block.get("sine", [0] * len(widths))
        if not isinstance(sines, list) or len(sines) != len(widths):
            raise ModelFileError("is damaged: 'sine' is not said of each hidden layer")
        told = [
            [["sine", n], ["relu", w - size({"sine": n}, "sine", least=0)]]
            for n, w in zip(sines, widths, strict=True)
        ]
    if not isinstance(told, list) or len(told) != len(widths):
        raise ModelFileError("is damaged: a hidden layer has no activations")
    return tuple(_names(runs, w) for runs, w in zip(told, widths, strict=True))


def _names(runs: Any, width: int) -> StrArray:
    if not isinstance(runs, list) or any(
        not isinstance(run, list) or len(run) != 2 or run[0] not in ACTIVATIONS
        for run in runs
    ):
        raise ModelFileError("is damaged: a hidden layer has unknown activations")
    counts = [size({name: n}, name, least=0) for name, n in runs]
    if sum(counts) != width:
        raise ModelFileError("is damaged: a hidden layer has other units than named")
    return np.repeat([name for name, _ in runs], counts)


def _rnn_shapes(architecture: Architecture) -> Shapes:
    hidden = size(architecture, "hidden")
    outputs = size(architecture, "outputs")
    if "entries" in architecture:
        return _sparse_rnn_shapes(architecture, hidden, outputs)
    return {
        "hidden.start": (hidden,),
        "hidden.weight": (hidden, hidden),
        "hidden.bias": (hidden,),
        "input.weight": (size(architecture, "vocabulary"), hidden),
        "unembed.weight": (hidden, outputs),
        "unembed.bias": (outputs,),
    }


def _gated_shapes(gates: int, start: Sequence[str]) -> Callable[[Architecture], Shapes]:
    """Of a layer of torch's: so many gates, one below the other, and a start."""

    def shapes(architecture: Architecture) -> Shapes:
        hidden, outputs = size(architecture, "hidden"), size(architecture, "outputs")
        rows = gates * hidden
        return {
            **{f"start.{name}": (hidden,) for name in start},
            "recurrent.weight_ih_l0": (rows, size(architecture, "vocabulary")),
            "recurrent.weight_hh_l0": (rows, hidden),
            "recurrent.bias_ih_l0": (rows,),
            "recurrent.bias_hh_l0": (rows,),
            "unembed.weight": (hidden, outputs),
            "unembed.bias": (outputs,),
        }

    return shapes


def _state_space_shapes(architecture: Architecture) -> Shapes:
    layers, rows = architecture.get("layers"), size(architecture, "vocabulary")
    selective, shapes = architecture.get("selective"), Shapes()
    if not isinstance(layers, list) or not 0 < len(layers) <= MOST_BLOCKS:
        raise ModelFileError("is damaged: its architecture has no list of layers")
    if type(selective) is not bool:
        raise ModelFileError(
            "is damaged: it does not say whether letters choose decays"
        )
    for i, layer in enumerate(layers):
        if not isinstance(layer, dict) or not isinstance(layer.get("decode"), list):
            raise ModelFileError("is damaged: one of its layers is no layer")
        at, width = f"layers.{i}", size(layer, "coordinates")
        shapes |= {
            f"{at}.start": (width,),
            f"{at}.decay": (rows, width) if selective else (width,),
            f"{at}.input": (rows, width),
        }
        decode = [width, *(size({"decode": w}, "decode") for w in layer["decode"])]
        table = [rows + decode[-1], size(layer, "hidden"), size(layer, "symbols")]
        for part, widths in (("decode", decode), ("table", table)):
            for j, pair in enumerate(pairwise(widths)):
                shapes[f"{at}.{part}.{j}.weight"] = pair
                shapes[f"{at}.{part}.{j}.bias"] = pair[1:]
        rows = table[-1]
    if rows != size(architecture, "outputs"):
        raise ModelFileError("is damaged: its last layer has other outputs than stated")
    return shapes


RANKS = ("hidden", "input", "unembed")
"""The matrices of an RNN, each of which a pruned one holds as a product of two."""


def sparse_matrices(architecture: Mapping[str, Any]) -> dict[str, int]:
    """The sparse matrices of an architecture, each with the number of its columns."""
    if "entries" not in architecture:
        return {}
    return {name: columns for name, (_, columns) in _sparse_sides(architecture).items()}


def hidden_axis(name: str) -> int | None:
    """Which axis of a sparse matrix counts hidden units; None if neither does."""
    if name in ("hidden.left", "unembed.weight", "unembed.left"):
        return 0
    return 1 if name in ("hidden.right", "input.weight", "input.right") else None


def _sparse_sides(architecture: Mapping[str, Any]) -> dict[str, tuple[int, int]]:
    """Rows and columns of each sparse matrix."""
    hidden, letters, outputs = (
        size(architecture, key) for key in ("hidden", "vocabulary", "outputs")
    )
    ranks = architecture.get("ranks")
    if ranks is None:
        rank = size(architecture, "rank")
        return {
            "hidden.left": (hidden, rank),
            "hidden.right": (rank, hidden),
            "input.weight": (letters, hidden),
            "unembed.weight": (hidden, outputs),
        }
    if not isinstance(ranks, dict) or set(ranks) != set(RANKS):
        raise ModelFileError("is damaged: 'ranks' does not name the three matrices")
    ends = ((hidden, hidden), (letters, hidden), (hidden, outputs))
    found = dict[str, tuple[int, int]]()
    for name, (rows, columns) in zip(RANKS, ends, strict=True):
        found[f"{name}.left"] = rows, size(ranks, name)
        found[f"{name}.right"] = size(ranks, name), columns
    return found


def _sparse_rnn_shapes(
    architecture: Mapping[str, Any], hidden: int, outputs: int
) -> Shapes:
    entries = architecture["entries"]
    if not isinstance(entries, dict):
        raise ModelFileError("is damaged: 'entries' is no object")
    shapes: Shapes = {
        "hidden.start": (hidden,),
        "hidden.bias": (hidden,),
        "unembed.bias": (outputs,),
    }
    for name, (rows, _) in _sparse_sides(architecture).items():
        held = size(entries, name, least=0)
        shapes[f"{name}.offsets"] = (rows + 1,)
        shapes[f"{name}.columns"] = shapes[f"{name}.values"] = (held,)
    return shapes


BANDS = ("hidden.own", "hidden.before", "hidden.after")
"""Of a banded recurrence: what each unit takes of itself, of the unit before and after."""


def _linear_recurrence_shapes(architecture: Architecture) -> Shapes:
    """Of `krohn.network.linear_recurrence.LinearRecurrence`."""
    units, form = size(architecture, "hidden"), architecture.get("form")
    inputs, outputs = size(architecture, "inputs"), size(architecture, "outputs")
    matrix: Shapes = {"hidden.weight": (units, units)}
    if form == "banded":
        matrix = {f"hidden.{band}": (units,) for band in ("own", "before", "after")}
    elif form != "dense":
        raise ModelFileError("is damaged: its recurrence is neither banded nor dense")
    return matrix | {
        "input.weight": (inputs, units),
        "unembed.weight": (units, outputs),
        "skip.weight": (inputs, outputs),
    }


def _attention_layer_shapes(architecture: Architecture) -> Shapes:
    """Of `krohn.network.attention_layer.AttentionLayer`."""
    n, k, v = (size(architecture, key) for key in ("features", "d_qk", "d_v"))
    codes, slots = (size(architecture, key, least=0) for key in ("codes", "memory"))
    if type(architecture.get("causal")) is not bool:
        raise ModelFileError("is damaged: it does not say if it sees later positions")
    if slots and architecture["causal"]:
        raise ModelFileError("is damaged: a memory has no later positions")
    shapes: Shapes = {"attention.query": (n, k)}
    if codes:
        shapes["code"] = (size(architecture, "length"), codes)
    if slots:
        shapes |= {"memory.key": (slots, k), "memory.value": (slots, v)}
        shapes["memory.bias"] = (slots,)
    else:
        shapes |= {"attention.key": (n, k), "attention.value": (n, v)}
    ends = {
        "features": (size(architecture, "inputs") + codes, n),
        "output": (v, size(architecture, "outputs")),
    }
    size(architecture, "length")
    for at, (first, last) in ends.items():
        hidden = architecture.get(f"{at}_units")
        if not isinstance(hidden, list) or len(hidden) > MOST_BLOCKS:
            raise ModelFileError(f"is damaged: {at}_units is no list of widths")
        widths = [first, *(size({"width": w}, "width") for w in hidden), last]
        for j, pair in enumerate(pairwise(widths)):
            shapes[f"{at}.{j}.weight"], shapes[f"{at}.{j}.bias"] = pair, pair[1:]
    return shapes


def _attention_layers(architecture: Architecture) -> list[Mapping[str, Any]]:
    units = [*architecture["features_units"], *architecture["output_units"]]
    return [{"heads": 1, "mlp": units}]


def size(holder: Mapping[str, Any], key: str, least: int = 1) -> int:
    """A whole number from a header.

    Raises:
        ModelFileError: If it is none, too small, or absurdly large.
    """
    value = holder.get(key)
    if type(value) is not int or not least <= value <= 2**31:
        raise ModelFileError(f"is damaged: {key!r} is {value!r}, not a sensible size")
    return value


def parameters(architecture: Mapping[str, Any]) -> int:
    """How many numbers the tensors of an architecture hold, places of entries apart."""
    shapes = expected_shapes(architecture).items()
    return sum(prod(shape) for name, shape in shapes if not is_index(name))


KINDS = {
    "transformer": Kind(
        title="Transformer",
        shapes=_transformer_shapes,
        layers=lambda shape: shape["blocks"],
        width=lambda shape: int(shape["d_model"]),
        marks=1,
        program=True,
    ),
    "rnn": Kind(
        title="RNN",
        shapes=_rnn_shapes,
        layers=lambda shape: [{"heads": 0, "mlp": []}],
        width=lambda shape: int(shape["hidden"]),
        recurrent=True,
    ),
    **{
        name: Kind(
            title=name.upper(),
            shapes=_gated_shapes(gates, start),
            layers=lambda shape: [{"heads": 0, "mlp": []}],
            width=lambda shape: int(shape["hidden"]),
            recurrent=True,
        )
        for name, gates, start in (
            ("lstm", 4, ("hidden", "cell")),
            ("gru", 3, ("hidden",)),
        )
    },
    "ssm": Kind(
        title="state space model",
        shapes=_state_space_shapes,
        layers=lambda shape: [
            {"heads": 0, "mlp": [*layer["decode"], layer["hidden"]]}
            for layer in shape["layers"]
        ],
        width=lambda shape: max(int(x["coordinates"]) for x in shape["layers"]),
        recurrent=True,
        bounded=True,
    ),
    "generator": Kind(
        title="generator",
        shapes=_generator_shapes,
        layers=lambda shape: [{**layer, "heads": 1} for layer in shape["layers"]],
        width=lambda shape: max(int(layer["d"]) for layer in shape["layers"]),
        answers="laws",
    ),
    "linear-recurrence": Kind(
        title="linear RNN",
        shapes=_linear_recurrence_shapes,
        layers=lambda shape: [{"heads": 0, "mlp": []}],
        width=lambda shape: int(shape["hidden"]),
        recurrent=True,
        answers="reals",
    ),
    "attention-layer": Kind(
        title="attention layer",
        shapes=_attention_layer_shapes,
        layers=_attention_layers,
        width=lambda shape: int(shape["features"]),
        answers="reals",
    ),
}
