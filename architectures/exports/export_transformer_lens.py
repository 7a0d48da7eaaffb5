"""TransformerLens 4: a `TransformerBridge` of its own native architecture.

TransformerLens divides scores by the root of the width of a head, and has one number of
heads and one width for all blocks. So `widen` gives heads the width 4^k, and the rest is
up to `divide_scores`, by 2^k. What is proved is the network that is read back from the
directory, with these scores (docs/proofs/network.md).
"""

import json
from collections.abc import Callable, Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import deserialize
from safetensors.numpy import save_file
from safetensors.torch import load_file
from torch import Tensor

from krohn.architectures.exports import circuit
from krohn.architectures.exports.circuit import (
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
from krohn.network import ExportError
from krohn.network.architecture import kind_of
from krohn.network.meaning.net import Net
from krohn.network.meaning.rewrites import divide_scores, pad, widen
from krohn.network.modelfile import LARGEST_FILE, ModelFile, decode_tensor
from krohn.network.precision import PRECISIONS, FloatArray
from krohn.program import strict_json
from krohn.program.architectures.transformer import APART, Transformer
from krohn.program.block_kinds import BlockKinds
from krohn.program.errors import demand, told_as
from krohn.program.files import read_bytes
from krohn.program.quoting import listed

ACTIVATIONS = ("relu", "gelu")
"""The activations that TransformerLens has under the same name."""
BLOCKS = BlockKinds(
    "the export to TransformerLens",
    units=ACTIVATIONS,
    instead="; export to huggingface or onnx",
)
STATED = {
    "attention_dir": "causal",
    "init_weights": False,
    "model_name": "krohn",
    "normalization_type": None,
}
"""Entries that a configuration must have."""
SIZES = {
    *("d_head", "d_mlp", "d_model", "d_vocab", "d_vocab_out", "n_ctx"),
    *("n_heads", "n_layers"),
}
CONFIG, WEIGHTS, NAMES = "config.json", "model.safetensors", "names.json"


def write(file: ModelFile, directory: Path, states: bool = False) -> None:
    """Write ``config.json``, ``model.safetensors``, ``names.json`` and the circuit.

    Args:
        file: The network.
        directory: Where to.
        states: Whether states are called by their names, though the machine has outputs.

    Raises:
        ExportError: If the network has what TransformerLens lacks.
    """
    config = configuration(file)
    sizes = config["n_heads"], config["d_head"], config["d_mlp"]
    net = Net.of(file.architecture, file.tensors)
    net = divide_scores(widen(net, *sizes, config["act_fn"]), scale(config))
    stored = {
        name: np.ascontiguousarray(file.precision.store(tensor))
        for name, tensor in bridge_tensors(net).items()
    }
    names = statement(file, labels(file, states))
    save_file(stored, directory / WEIGHTS)
    for name, content in ((CONFIG, config), (NAMES, names)):
        text = json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False)
        (directory / name).write_text(text + "\n", encoding="utf-8")
    circuit.write(file, directory)


def bridge(directory: Path) -> Any:
    """The `TransformerBridge` of a directory; it reads BOS, its last token, in front."""
    from transformer_lens.config import TransformerBridgeConfig
    from transformer_lens.model_bridge import TransformerBridge

    config = json.loads((directory / CONFIG).read_text(encoding="utf-8"))
    dtype = getattr(torch, config.pop("dtype"))
    boot: Any = TransformerBridge.boot_native  # type: ignore[attr-defined]
    made = boot(TransformerBridgeConfig(**config, dtype=dtype), dtype=dtype)
    made.load_state_dict(load_file(directory / WEIGHTS))
    return made.eval()


def open_logits(directory: Path) -> Callable[[Tensor], Tensor]:
    """Letters to logits, by the bridge of a directory."""
    made = bridge(directory)
    bos = made.cfg.d_vocab - 1

    def logits(tokens: Tensor) -> Tensor:
        front = tokens.new_full((len(tokens), 1), bos)
        output = made(torch.cat([front, tokens], dim=1), return_type="logits")
        assert isinstance(output, Tensor)
        return output[:, 1:]

    return logits


def read(file: ModelFile, directory: Path) -> StoredNetwork:
    """The network in a directory, of its configuration and its tensors alone.

    Heads and units that stand there for nothing are heads and units of its own. From the
    file is what it is said to compute, and what that says of a disguise.

    Raises:
        ExportError: If there is another network, or one with other names than the file.
    """
    with read_back():
        return _read(file, directory)


def _read(file: ModelFile, directory: Path) -> StoredNetwork:
    config, names = (
        strict_json.read(read_bytes(directory / name)) for name in (CONFIG, NAMES)
    )
    _check_said(config)
    possible = (statement(file, each) for each in possible_labels(file))
    demand_said(any(strict_json.alike(names, each) for each in possible))
    precision, gain = PRECISIONS[config["dtype"]], scale(config)
    data = read_bytes(directory / WEIGHTS, LARGEST_FILE)
    entries = deserialize(data)  # type: ignore[no-untyped-call]
    stored = {name: decode_tensor(name, entry, precision) for name, entry in entries}
    architecture = _architecture(config)
    tensors = _arrange_tensors(Transformer.of(architecture), stored)
    queries = {n: x / gain for n, x in tensors.items() if n.endswith(".query")}
    exact = [np.array_equal(x * gain, tensors[n]) for n, x in queries.items()]
    demand(exact, "a query is too small to be divided")
    tensors |= queries
    if file.architecture.disguise is not None:
        disguise, disguise_tensors = _disguise(file, architecture["blocks"])
        architecture, tensors = (
            {**architecture, "disguise": disguise},
            tensors | disguise_tensors,
        )
    header = {**file.header, "architecture": architecture}
    return StoredNetwork(ModelFile(header, tensors, precision), gain)


def configuration(file: ModelFile) -> dict[str, Any]:
    """The arguments of `TransformerBridgeConfig`, as JSON.

    Raises:
        ExportError: If the network has what TransformerLens lacks.
    """
    _check(file)
    shape = file.architecture
    blocks = shape.blocks
    widest = max((max(b.d_qk, b.d_v) for b in blocks if b.heads), default=1)
    return {
        "act_fn": _activation(file),
        "attention_dir": "causal",
        "d_head": next(4**k for k in range(32) if 4**k >= widest),
        "d_mlp": max((width for block in blocks for width in block.mlp), default=1),
        "d_model": shape.d_model,
        "d_vocab": shape.vocabulary,
        "d_vocab_out": shape.outputs,
        "dtype": file.claim.dtype,
        "init_weights": False,
        "model_name": "krohn",
        "n_ctx": shape.positions,
        "n_heads": max((block.heads for block in blocks), default=0) or 1,
        "n_layers": len(blocks),
        "normalization_type": None,
    }


def _check(file: ModelFile) -> None:
    shape = file.architecture
    if not kind_of(shape).program:
        raise ExportError(
            f"TransformerLens holds Transformers, and this is {kind_of(shape).title}"
        )
    for i, block in enumerate(shape.blocks):
        kept = file.tensors.get(f"blocks.{i}.mlp.residual", np.ones(1))
        if len(block.mlp) > 1 or (kept != 1).any():
            raise ExportError(
                f"block {i} has several hidden layers or overwrites dimensions, which "
                "TransformerLens cannot; compile it again with --strict"
            )
    with told_as(ExportError):
        BLOCKS.check(shape)


def _activation(file: ModelFile) -> str:
    """The one activation of all hidden units.

    Raises:
        ExportError: If there are several.
    """
    blocks = file.architecture.blocks
    activations = {str(a) for b in blocks for layer in b.activations for a in layer}
    if len(activations) > 1:
        raise ExportError(
            f"its hidden units are {' and '.join(sorted(activations))}, and "
            "TransformerLens has one of relu and gelu for all; export to "
            "huggingface or onnx"
        )
    return activations.pop() if activations else "relu"


def scale(config: Mapping[str, Any]) -> float:
    """2^k, by which scores are divided there."""
    return float(np.sqrt(float(config["d_head"])))


def bridge_tensors(net: Net[FloatArray]) -> dict[str, FloatArray]:
    """The state of a bridge: `torch.nn.Linear` has outputs as rows.

    Args:
        net: Of blocks of equal sizes, with one hidden layer each.
    """
    state = {
        "embed.weight": net.token,
        "pos_embed.weight": net.position,
        "unembed.weight": net.out.weight.T,
        "unembed.bias": net.out.bias,
    }
    d = net.token.shape[1]
    for i, block in enumerate(net.blocks):
        at, heads = f"blocks.{i}", block.heads
        assert heads is not None
        for name, matrix in (("q", heads.query), ("k", heads.key), ("v", heads.value)):
            flat = matrix.transpose(0, 2, 1).reshape(-1, d)
            state[f"{at}.attn.{name}.weight"] = flat
            state[f"{at}.attn.{name}.bias"] = np.zeros(len(flat))
        state[f"{at}.attn.o.weight"] = heads.out.reshape(-1, d).T
        state[f"{at}.attn.o.bias"] = np.zeros(d)
        for name, layer in zip(("in", "out"), block.layers, strict=True):
            state[f"{at}.mlp.{name}.weight"] = layer.weight.T
            state[f"{at}.mlp.{name}.bias"] = layer.bias
    return state


# The network in a directory.


def _check_said(said: Any) -> None:
    """Refuse a configuration that says what nobody has said anything about."""
    demand(isinstance(said, dict), f"{CONFIG} is no object")
    keys = {*STATED, *SIZES, "act_fn", "dtype"}
    others = sorted(keys ^ said.keys())
    demand(not others, f"{CONFIG} has no or another {listed(others, 3)}")
    fixed = {key: said[key] for key in STATED}
    demand(strict_json.alike(fixed, STATED), f"{CONFIG} is one of another model")
    whole = [type(said[key]) is int and said[key] > 0 for key in SIZES - {"n_layers"}]
    blocks = type(said["n_layers"]) is int and said["n_layers"] >= 0
    demand(all(whole) and blocks, f"a size in {CONFIG} is no whole number")
    even = np.frexp(scale(said))[0] == 0.5
    demand(even, "the root of a head's width is no power of 2")
    known = said["act_fn"] in ACTIVATIONS and said["dtype"] in PRECISIONS
    demand(known, f"{CONFIG} has an unknown activation or format")


def _architecture(said: Mapping[str, Any]) -> dict[str, Any]:
    """The architecture that a configuration states, as headers have it."""
    head, units, unit = said["d_head"], said["d_mlp"], said["act_fn"]
    block = {"heads": said["n_heads"], "d_qk": head, "d_v": head, "mlp": [units]}
    block |= {} if unit == "relu" else {"activation": [[[unit, units]]]}
    return {
        "kind": "transformer",
        "dtype": said["dtype"],
        "strict": True,
        "d_model": said["d_model"],
        "vocabulary": said["d_vocab"],
        "positions": said["n_ctx"],
        "outputs": said["d_vocab_out"],
        "blocks": [block] * said["n_layers"],
    }


def _arrange_tensors(
    shape: Transformer, stored: Mapping[str, FloatArray]
) -> dict[str, FloatArray]:
    """The tensors that `bridge_tensors` arranges as what is stored, number by number.

    Places of numbers, arranged like these, say where each is.
    """
    shapes = shape.shapes
    *firsts, end = np.cumsum([1, *map(prod, shapes.values())]).tolist()
    places = {
        name: np.arange(first, first + prod(size)).reshape(size)
        for (name, size), first in zip(shapes.items(), firsts, strict=True)
    }
    numbers, there = np.zeros(end), bridge_tensors(Net.of(shape, places))
    others = sorted(there.keys() ^ stored.keys())
    demand(not others, f"there is no or another tensor {listed(others, 3)}")
    for name, moved in there.items():
        alike = stored[name].shape == moved.shape
        demand(alike, f"the tensor {name!r} has another shape")
        numbers[moved.astype(np.int64)] = stored[name]
    tensors = {name: numbers[at] for name, at in places.items()}
    for name, again in bridge_tensors(Net.of(shape, tensors)).items():
        demand(stored[name] == again, f"the tensor {name!r} is of no such network")
    return tensors


def _disguise(
    file: ModelFile, blocks: Sequence[Mapping[str, Any]]
) -> tuple[dict[str, Any], dict[str, FloatArray]]:
    """What a file says of its disguise, which is evidence, with more that stands for none.

    Args:
        file: The network.
        blocks: Those that run, as an architecture states them.
    """
    stated = file.header["architecture"]["disguise"]
    tensors = {n: x for n, x in file.tensors.items() if n.startswith(APART)}
    counts = {
        "heads": [b["heads"] for b in blocks],
        "units": [b["mlp"][0] for b in blocks],
    }
    more = {
        key: [[*x, *[0] * (n - len(x))] for x, n in zip(stated[key], each, strict=True)]
        for key, each in counts.items()
    }
    for b, block in enumerate(blocks):
        own, name = stated["blocks"][b]["d_qk"], f"disguise.blocks.{b}.attention"
        turns = tensors.get(name, np.zeros((0, own, 0)))
        tensors[name] = pad(turns, (block["heads"], own, block["d_qk"]))
    return {**stated, **more}, tensors


DESTINATION = Destination(
    name="transformer-lens",
    opened_by="transformer-lens",
    title="TransformerLens",
    write=write,
    open=open_logits,
    arithmetic=(
        "the same operations; heads and layers are widened by zeros, and scores are "
        "multiplied and divided by the same power of 2"
    ),
    read=read,
    program="""\
import json, pathlib, torch
from krohn.architectures.exports.export_transformer_lens import bridge

model = bridge(pathlib.Path("."))
logits = model(torch.tensor([[model.cfg.d_vocab - 1, *{letters}]]))[0, 1:]
classes = json.loads(pathlib.Path("names.json").read_text("utf-8"))["classes"]""",
    note="Krohn must be installed for `bridge`. `d_vocab - 1` is the start symbol (BOS).",
)
