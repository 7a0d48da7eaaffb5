"""TransformerLens 4: a `TransformerBridge` of its own native architecture.

TransformerLens divides scores by the root of the width of a head, and has one number of
heads and one width for all blocks. So a head is made 4^k wide by columns of zeros and
its queries are multiplied by 2^k; heads and units that a block lacks are zeros. What is
computed there is proved with these scores (docs/soundness.md, Theorem L5).
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.numpy import load_file, save_file
from torch import Tensor

from krohn.network import ExportError
from krohn.network.architecture import kind_of
from krohn.network.exports import Destination, StoredNetwork, circuit
from krohn.network.exports.circuit import labels
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FloatArray
from krohn.program.block_kinds import BlockKinds
from krohn.program.retelling import told_as
from krohn.program.strict_json import canonical

ACTIVATIONS = ("relu", "gelu")
"""The activations that TransformerLens has under the same name."""
BLOCKS = BlockKinds(
    "the export to TransformerLens",
    units=ACTIVATIONS,
    instead="; export to huggingface or onnx",
)


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
    tensors = bridge_tensors(file, config)
    stored = {
        name: np.ascontiguousarray(file.precision.store(tensor))
        for name, tensor in tensors.items()
    }
    names = labels(file, states).to_object()
    save_file(stored, directory / "model.safetensors")
    for name, content in (("config.json", config), ("names.json", names)):
        text = json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False)
        (directory / name).write_text(text + "\n", encoding="utf-8")
    circuit.write(file, directory)


def bridge(directory: Path) -> Any:
    """The `TransformerBridge` of a directory; it reads BOS, its last token, in front."""
    from transformer_lens.config import TransformerBridgeConfig
    from transformer_lens.model_bridge import TransformerBridge

    config = json.loads((directory / "config.json").read_text(encoding="utf-8"))
    dtype = getattr(torch, config.pop("dtype"))
    boot: Any = TransformerBridge.boot_native  # type: ignore[attr-defined]
    made = boot(TransformerBridgeConfig(**config, dtype=dtype), dtype=dtype)
    tensors = {n: torch.from_numpy(a).to(dtype) for n, a in _read(directory).items()}
    made.load_state_dict(tensors)
    return made.eval()


def open_logits(directory: Path) -> Callable[[Tensor], Tensor]:
    """Letters to logits, by the bridge of a directory."""
    made = bridge(directory)
    bos = made.cfg.d_vocab - 1

    def logits(tokens: Tensor) -> Tensor:
        front = tokens.new_full((len(tokens), 1), bos)
        found = made(torch.cat([front, tokens], dim=1), return_type="logits")
        assert isinstance(found, Tensor)
        return found[:, 1:]

    return logits


def read(file: ModelFile, directory: Path) -> StoredNetwork:
    """The network that was written, which is that of the file with larger queries.

    Raises:
        ExportError: If a number differs, as where a query is too large for its format.
    """
    config = configuration(file)
    wanted, found = bridge_tensors(file, config), _read(directory)
    for name, tensor in wanted.items():
        if not np.array_equal(found[name], tensor):
            raise ExportError(f"the tensor {name!r} does not fit {file.precision.name}")
    said, names = (
        json.loads((directory / name).read_text(encoding="utf-8"))
        for name in ("config.json", "names.json")
    )
    alike = canonical(said) == canonical(config)
    circuit.check_said(file, names["letters"], names["classes"], alike)
    return StoredNetwork(file, scale(config))


def _read(directory: Path) -> dict[str, FloatArray]:
    stored = load_file(directory / "model.safetensors")
    return {name: tensor.astype(np.float64) for name, tensor in stored.items()}


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
        if len(block.mlp) > 1 or not kept.all():
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
    found = {str(a) for b in blocks for layer in b.activations for a in layer}
    if len(found) > 1:
        raise ExportError(
            f"its hidden units are {' and '.join(sorted(found))}, and TransformerLens has "
            "one of relu and gelu for all; export to huggingface or onnx"
        )
    return found.pop() if found else "relu"


def scale(config: Mapping[str, Any]) -> float:
    """2^k, by which scores are divided there."""
    return float(np.sqrt(float(config["d_head"])))


def bridge_tensors(file: ModelFile, config: Mapping[str, Any]) -> dict[str, FloatArray]:
    """The state of a bridge: `torch.nn.Linear` has outputs as rows."""
    given = file.tensors
    found = {
        "embed.weight": given["embed.token"],
        "pos_embed.weight": given["embed.position"],
        "unembed.weight": given["unembed.weight"].T,
        "unembed.bias": given["unembed.bias"],
    }
    d, units, head = config["d_model"], config["d_mlp"], config["d_head"]
    heads = (config["n_heads"], head, d)
    for i in range(config["n_layers"]):
        at = f"blocks.{i}"
        for ours, theirs in (("query", "q"), ("key", "k"), ("value", "v")):
            matrix = given.get(f"{at}.attention.{ours}", np.zeros((0, 0, 0)))
            flat = _padded(matrix.transpose(0, 2, 1), heads).reshape(-1, d)
            found[f"{at}.attn.{theirs}.weight"] = flat * (
                scale(config) if theirs == "q" else 1
            )
            found[f"{at}.attn.{theirs}.bias"] = np.zeros(len(flat))
        out = _padded(given.get(f"{at}.attention.out", np.zeros((0, 0, 0))), heads)
        found[f"{at}.attn.o.weight"] = out.reshape(-1, d).T
        found[f"{at}.attn.o.bias"] = np.zeros(d)
        for j, theirs, size in ((0, "in", (units, d)), (1, "out", (d, units))):
            weight = given.get(f"{at}.mlp.{j}.weight", np.zeros((0, 0))).T
            bias = given.get(f"{at}.mlp.{j}.bias", np.zeros(0))
            found[f"{at}.mlp.{theirs}.weight"] = _padded(weight, size)
            found[f"{at}.mlp.{theirs}.bias"] = _padded(bias, size[:1])
    return found


def _padded(array: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    widths = [(0, n - m) for n, m in zip(shape, array.shape, strict=True)]
    return np.pad(array, widths)


DESTINATION = Destination(
    name="transformer-lens",
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
from krohn.network.exports.transformer_lens import bridge  # of Krohn; docs: without it

model = bridge(pathlib.Path("."))
logits = model(torch.tensor([[model.cfg.d_vocab - 1, *{letters}]]))[0, 1:]
classes = json.loads(pathlib.Path("names.json").read_text("utf-8"))["classes"]""",
)
