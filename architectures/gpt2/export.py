"""A strict network as an unmodified GPT-2: its weights, and its directory on disk."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log2
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from safetensors.numpy import save_file

from krohn.architectures.exports import circuit
from krohn.architectures.exports.circuit import (
    Labels,
    labels,
)
from krohn.architectures.exports.destinations import Destination
from krohn.network import ExportError
from krohn.network.directions import refuse
from krohn.network.meaning.net import Block, Net
from krohn.network.meaning.rewrites import (
    divide_scores,
    ground,
    mirror,
    pad,
    widen,
)
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FloatArray
from krohn.program import strict_json
from krohn.program.architectures.transformer import Transformer
from krohn.program.block_kinds import BlockKinds
from krohn.program.claim import digest_of
from krohn.program.errors import told_as
from krohn.program.files import read_bytes
from krohn.program.letter_tokenizer import (
    TOKENIZER,
    blank,
    library_files,
    outputs_of_states,
    tokens,
)

if TYPE_CHECKING:
    from torch import Tensor

# A strict network as the weights of an unmodified GPT-2 (docs/architectures/gpt2.md).
#
# One pair ±K or more makes LayerNorm a factor near 1, a coordinate that is always 0
# (ground), which every reader subtracts, removes the mean, and a mirror of the stream
# keeps that mean small. Units of tables are multiplied by λ where they are GeLUs, and
# so far from 0 that these are ReLUs. All factors are powers of two.
#
# The stream: the d dimensions of the strict network, minus the same, ground, a constant,
# which is 0 but for the read-out, and last of all the pairs.


Activation = Literal["relu", "gelu", "gelu_new"]
ACTIVATIONS: tuple[Activation, ...] = ("relu", "gelu", "gelu_new")
BLOCKS = BlockKinds(
    "the export to GPT-2",
    instead="; compile the network with standard attention and --activation relu",
)
EPSILON = 1e-5
"""The number that GPT-2 adds to the variance."""
LEAST = -(2.0**14)
"""The logit of tokens that are no states: any number below all logits of states."""


@dataclass(frozen=True)
class Plan:
    """The sizes of a GPT-2 for a strict network.

    Attributes:
        heads: How many each block has.
        size: The width of each, 4^k.
        inner: The units of each MLP.
        large: K.
        count: How many entries are ±K.
        gain: λ.
        activation: Of all units.
        epsilon: What LayerNorms add to the variance.
    """

    heads: int
    size: int
    inner: int
    large: float
    count: int
    gain: float
    activation: Activation = "gelu_new"
    epsilon: float = EPSILON

    @property
    def width(self) -> int:
        """D, the width of the stream."""
        return self.heads * self.size

    @property
    def scale(self) -> float:
        """The weight of every LayerNorm: the deviation of the pairs, nearly."""
        return float(np.sqrt(self.count * self.large**2 / self.width + self.epsilon))


def plan(file: ModelFile, activation: Activation = "gelu_new") -> Plan:
    """The sizes that fit a network, with K where its noise is least.

    Raises:
        ExportError: If the network has what GPT-2 lacks.
    """
    check(file)
    blocks, d = file.architecture.blocks, file.architecture.d_model
    widest = max(max(block.d_qk, block.d_v, 2) for block in blocks)
    size = 4 ** int(np.ceil(log2(widest) / 2))
    heads = max(2, *(block.heads for block in blocks))
    # One of ±K for each head, or each fourth: so the deviation is a power of 2.
    heads = max(heads, -(-(2 * d + 2) // (size - 1)))
    heads += heads % 2
    count = heads
    while count % 8 == 0:
        count //= 4
    inner = max(1, *(sum(block.mlp) for block in blocks))
    large = magnitude(file, count)
    double = activation != "relu" and file.precision.digits > 24
    gain = 1.0 if activation == "relu" else 32.0 if double else 16.0
    return Plan(heads, size, inner, large, count, gain, activation)


def check(file: ModelFile) -> None:
    """Refuse what GPT-2 lacks.

    Raises:
        ExportError: Which says what, and how to compile the network instead.
    """
    refuse(file, "a GPT-2")
    architecture = file.architecture
    if not isinstance(architecture, Transformer) or not architecture.strict:
        raise ExportError(
            "GPT-2 has plain residuals and one hidden layer in each MLP: compile a "
            "Transformer with --strict"
        )
    if "machine" not in file.header or not file.claim.of_machine:
        raise ExportError("networks of machines can be GPT-2s, this is no such file")
    if "program" not in file.header:
        raise ExportError("the file does not say where its variables lie; compile one")
    if not architecture.blocks:
        raise ExportError("the network has no blocks; GPT-2 has one at least")
    with told_as(ExportError):
        BLOCKS.check(architecture)


def magnitude(file: ModelFile, count: int) -> float:
    """K, a power of two.

    The factor of a LayerNorm is off from 1 by X²/(2·count·K²), X the length of the rest
    of the stream, and a mean of (count + 4)·u·K is rounded in sums of n terms, by 2n·u
    of it, 16 being many; in 16-bit formats the mean itself is what ground is off by. Their
    sum is least where K³ = X²/(count·a), a·K being the second.
    """
    precision = file.precision
    ones, squares = _size(file)
    mean = (count + 4) * precision.accumulator_unit
    narrow = precision.digits < precision.accumulator_digits
    rounded = mean if narrow else mean * 32 * precision.accumulator_unit
    best = (squares / (count * rounded)) ** (1 / 3)
    return float(2.0 ** round(log2(max(best, 2 * ones))))


def _size(file: ModelFile) -> tuple[float, float]:
    """The largest sums of absolute values and of squares, with the mirror."""
    program, position = file.header["program"], file.tensors["embed.position"]
    sizes = [position[:, slice(*span)] for span in program["features"].values()]
    stored = [channel for channel in program["channels"] if "dims" in channel]
    most, blocks = np.zeros(2), file.architecture.blocks
    for snapshot in range(2 * len(blocks) + 1):
        there = [
            c for c in stored if c["snapshots"][0] <= snapshot <= c["snapshots"][1]
        ]
        hot = [c["code"] == "one-hot" for c in there]
        numbers = [
            1.0 if h else max(c["domain"]) for h, c in zip(hot, there, strict=True)
        ]
        most = np.maximum(most, [sum(numbers), sum(x * x for x in numbers)])
    ones = most[0] + sum(np.abs(p).sum(axis=1).max() for p in sizes)
    squares = most[1] + sum((p * p).sum(axis=1).max() for p in sizes)
    return float(2 * ones), float(2 * squares)


def tensors(file: ModelFile, sizes: Plan) -> dict[str, FloatArray]:
    """All tensors of the GPT-2, by the names of Hugging Face's library, as float64."""
    net = ground(mirror(Net.of(file.architecture, file.tensors)))
    net = widen(net, sizes.heads, sizes.size, sizes.inner)
    net = divide_scores(net, float(np.sqrt(sizes.size)))
    letters, classes, constant = len(net.token), len(net.out.bias), len(net.out.weight)
    pairs = np.tile([sizes.large, -sizes.large], sizes.count // 2)
    positions = pad(net.position, (len(net.position), sizes.width))
    positions[:, -sizes.count :] = pairs
    head = np.zeros((sizes.width, letters + classes))
    head[:constant, letters:] = net.out.weight
    head[constant] = [*[LEAST] * letters, *net.out.bias]
    weights = {
        "transformer.wte.weight": pad(net.token, (letters + classes, sizes.width)),
        "transformer.wpe.weight": positions,
        "lm_head.weight": head.T,
        **_norm("ln_f", sizes),
    }
    weights["transformer.ln_f.weight"][constant] = 0
    weights["transformer.ln_f.bias"][constant] = 1
    for b, block in enumerate(net.blocks):
        weights |= _norm(f"h.{b}.ln_1", sizes) | _norm(f"h.{b}.ln_2", sizes)
        maps = _attention(block, sizes) | _mlp(block, sizes)
        weights |= {f"transformer.h.{b}.{name}": each for name, each in maps.items()}
    return weights


def _norm(name: str, sizes: Plan) -> dict[str, FloatArray]:
    ones = np.ones(sizes.width)
    parts = {"weight": sizes.scale * ones, "bias": 0 * ones}
    return {f"transformer.{name}.{part}": x for part, x in parts.items()}


def _attention(block: Block[FloatArray], sizes: Plan) -> dict[str, FloatArray]:
    """The heads of a block, which lie side by side."""
    width, heads = sizes.width, block.heads
    assert heads is not None
    three = (x.transpose(1, 0, 2) for x in (heads.query, heads.key, heads.value))
    reads = np.hstack([x.reshape(len(x), width) for x in three])
    return {
        "attn.c_attn.weight": pad(reads, (width, 3 * width)),
        "attn.c_attn.bias": np.zeros(3 * width),
        "attn.c_proj.weight": pad(heads.out.reshape(width, -1), (width, width)),
        "attn.c_proj.bias": np.zeros(width),
    }


def _mlp(block: Block[FloatArray], sizes: Plan) -> dict[str, FloatArray]:
    """The MLP of a block: λ inside, 1/λ behind."""
    width, inner, gain = sizes.width, sizes.inner, sizes.gain
    below, above = block.layers
    return {
        "mlp.c_fc.weight": pad(below.weight * gain, (width, inner)),
        "mlp.c_fc.bias": below.bias * gain,
        "mlp.c_proj.weight": pad(above.weight / gain, (inner, width)),
        "mlp.c_proj.bias": pad(above.bias, (width,)),
    }


def configuration(file: ModelFile, sizes: Plan) -> dict[str, Any]:
    """``config.json``."""
    shape = file.architecture
    bos = shape.vocabulary - 1
    return {
        "activation_function": sizes.activation,
        "add_cross_attention": False,
        "architectures": ["GPT2LMHeadModel"],
        "attn_pdrop": 0.0,
        "bos_token_id": bos,
        "dtype": file.precision.name,
        "embd_pdrop": 0.0,
        "eos_token_id": bos,
        "layer_norm_epsilon": sizes.epsilon,
        "model_type": "gpt2",
        "n_embd": sizes.width,
        "n_head": sizes.heads,
        "n_inner": sizes.inner,
        "n_layer": len(shape.blocks),
        "n_positions": shape.positions,
        "pad_token_id": bos,
        "reorder_and_upcast_attn": False,
        "resid_pdrop": 0.0,
        "scale_attn_by_inverse_layer_idx": False,
        "scale_attn_weights": True,
        "tie_word_embeddings": False,
        "vocab_size": shape.vocabulary + shape.outputs,
    }


# A directory that Hugging Face's library opens as a GPT-2, and Krohn as a proof.
#
# ``model.safetensors``; ``config.json``, which says what the network computes, too, where
# `save_pretrained` keeps it; and a tokenizer of letters and answers by name.


FORMAT, VERSION = "krohn-gpt2", 2


def write(
    file: ModelFile,
    directory: Path,
    states: bool = False,
    activation: Activation = "gelu_new",
) -> None:
    """Write a strict network into an empty directory.

    Args:
        file: The network.
        directory: Where to.
        states: Whether it may say states only, though the machine has outputs.
        activation: Of all units.

    Raises:
        ExportError: If the network has what GPT-2 lacks.
    """
    sizes = plan(file, activation)
    stored = {
        name: np.ascontiguousarray(file.precision.store(tensor))
        for name, tensor in tensors(file, sizes).items()
    }
    header = {k: v for k, v in file.header.items() if k not in ("evidence", "digest")}
    library = _library(file, states)
    digest = digest_of(header, {name: library[name] for name in TOKENIZER})
    krohn_part = {
        "format": FORMAT,
        "version": VERSION,
        "digest": digest,
        "model": header,
    }
    texts = {"config.json": {**configuration(file, sizes), "krohn": krohn_part}}
    texts |= library
    save_file(stored, directory / "model.safetensors", {"format": "pt"})
    for name, content in texts.items():
        text = json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False)
        (directory / name).write_text(text + "\n", "utf-8")
    circuit.write(file, directory)


def _library(file: ModelFile, states: bool) -> dict[str, Any]:
    """The files of the tokenizer, and what the library does by default."""
    own_labels, machine = labels(file, states), file.header["machine"]
    with told_as(ExportError, "no tokenizer can be made: "):
        if states and outputs_of_states(machine) is not None:
            raise ExportError(
                "a GPT-2 has tokens that name outputs and states; leave --states out"
            )
        called = tokens(machine, outputs=not own_labels.states)
        letters, positions = (
            len(own_labels.letters),
            file.architecture.positions,
        )
        return library_files(called, letters, positions)


def open_logits(directory: Path) -> "Callable[[Tensor], Tensor]":
    """Letters to logits of the states, by Hugging Face's library and nothing else.

    Args:
        directory: What `write` wrote.
    """
    import torch
    from transformers import AutoModelForCausalLM

    from krohn.architectures.exports.export_huggingface import silent

    with silent():
        model = AutoModelForCausalLM.from_pretrained(directory)
    bos = model.config.bos_token_id

    @torch.inference_mode()
    def logits(letters: "Tensor") -> "Tensor":
        front = letters.new_full((len(letters), 1), bos)
        tokens = torch.cat([front, letters], dim=1)
        output = model(tokens, attention_mask=torch.ones_like(tokens)).logits
        return torch.as_tensor(output[:, 1:, bos + 1 :])

    return logits


def _answers(file: ModelFile, names: Labels) -> Sequence[str]:
    """The tokens that answer, by name."""
    every = tokens(file.header["machine"], outputs=not names.states)
    return every[len(names.letters) + 1 :]


def _digest(_: ModelFile, directory: Path) -> str:
    """The digest in a directory: the tokenizer is part of its claim."""
    digest = strict_json.read(read_bytes(directory / "config.json"))["krohn"]["digest"]
    return str(digest)


DESTINATION = Destination(
    name="gpt2",
    opened_by="transformers",
    pipeline=lambda _: "text-generation",
    digest=_digest,
    title="GPT-2, by Hugging Face's library",
    write=write,
    open=open_logits,
    arithmetic=(
        "GPT-2 as it is, with its LayerNorms and GeLUs; an answer is the token of the "
        "largest of all logits"
    ),
    read=None,
    program="""\
from transformers import AutoModelForCausalLM, AutoTokenizer

words = AutoTokenizer.from_pretrained(".")
model = AutoModelForCausalLM.from_pretrained(".")
text, known = {text}, words.get_vocab()
for word, _ in words.backend_tokenizer.pre_tokenizer.pre_tokenize_str(text):
    if word not in known:
        raise SystemExit(f"{{word!r}} is not a letter")
logits = model(**words(text, return_tensors="pt")).logits[0, 1:]
classes = words.convert_ids_to_tokens(range(len(words)))""",
    streams="""\
`circuit.csv` names streams by the hooks of TransformerLens. In `hidden_states`, which the
model gives with
`output_hidden_states=True`, number 0 is `blocks.0.hook_resid_pre`, and number b + 1 is
`blocks.b.hook_resid_post`; the last one is taken behind `ln_f`, which changes it little.
`blocks.b.hook_resid_mid` is what `model.transformer.h[b].ln_2` gets. Position 0 is the
start symbol, `<no letter>`. Dimensions behind those of variables are of GPT-2 alone.""",
    spell=lambda word, letters: blank(letters).join(word),
    classes=_answers,
)
