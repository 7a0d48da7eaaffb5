"""A GPT-2 that computes what a strict network computes (docs/proofs/gpt2.md).

It reads two files of an exported directory, and makes a strict network of them
whose readers see what LayerNorms leave. `krohn.verify.checker.transformer` proves that.
The files of the tokenizer are to be those that the names of the machine give.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from safetensors import deserialize

from krohn.architectures.gpt2.check_layer_norms import LayerNorms
from krohn.program import strict_json
from krohn.program.claim import Claim, Shows, check_digest
from krohn.program.errors import Refused, demand
from krohn.program.files import names_in, read_bytes
from krohn.program.letter_tokenizer import TOKENIZER, library_files, tokens
from krohn.verify.checker.arithmetic import FORMATS, Format
from krohn.verify.checker.model_file import (
    DAMAGE,
    LARGEST_FILE,
    FloatArray,
    Model,
    check_numbers,
    tensors_of,
)

STATED = {
    "model_type": "gpt2",
    "architectures": ["GPT2LMHeadModel"],
    "add_cross_attention": False,
    "reorder_and_upcast_attn": False,
    "scale_attn_by_inverse_layer_idx": False,
    "scale_attn_weights": True,
    "tie_word_embeddings": False,
}
"""Entries that a configuration must have."""
SIZES = ("n_embd", "n_head", "n_inner", "n_layer", "n_positions", "vocab_size")
ACTIVATIONS = ("relu", "gelu", "gelu_new")
SHARES = {"attn_pdrop", "embd_pdrop", "resid_pdrop", "summary_first_dropout"}
"""Rates of dropout, of effect in training alone: numbers between 0 and 1."""
HARMLESS: Mapping[str, tuple[type, ...]] = {
    **dict.fromkeys(SHARES, (int, float)),
    "initializer_range": (float,),
    "summary_activation": (str, type(None)),
    "summary_proj_to_labels": (bool,),
    "summary_type": (str,),
    "summary_use_proj": (bool,),
    "task_specific_params": (dict, type(None)),
    "transformers_version": (str,),
    "use_cache": (bool,),
}
"""Entries without effect on logits but in training, with the types that load."""
MARKS = ("bos_token_id", "eos_token_id", "pad_token_id")
"""Tokens that are all BOS, which is the number of letters."""
NAMES = ("config.json", "model.safetensors")
TOLD = ("generation_config.json", *TOKENIZER)
"""Files that the names of the machine give; the library reads one tokenizer of two."""
LIBRARY = ("is_local", "local_files_only", "transformers_version")
"""Entries that the library adds when it saves a configuration again."""
BESIDE = {"README.md", "circuit.csv", "circuit.json"}
"""Files that nothing depends on."""
MASKED = 4.0
"""The least factor of scores: the least number is added to some, to hide them (A5)."""
Parts = dict[str, FloatArray]
"""Tensors by the names that they have in a model file."""
_BLOCK = {"heads", "d_qk", "d_v", "mlp"}


class Files(NamedTuple):
    """The bytes of ``config.json``, ``model.safetensors``, and of `TOLD` by their names."""

    config: bytes
    weights: bytes
    told: Mapping[str, bytes] = {}

    @staticmethod
    def of(directory: Path) -> "Files":
        """Those in a directory.

        Raises:
            Refused: If there is a file that may make another network of them.
            KrohnError: If one cannot be read.
        """
        there = names_in(directory)
        others = sorted(there - BESIDE - {*NAMES, *TOLD})
        demand(not others, f"no rule is about the files {others[:3]}")
        both = len(there & {*TOKENIZER}) != 1
        demand(both, "one of the two files of the tokenizer is not there")
        texts = {name: read_bytes(directory / name) for name in there & {*TOLD}}
        config, weights = (read_bytes(directory / name, LARGEST_FILE) for name in NAMES)
        return Files(config, weights, texts)

    @property
    def digest(self) -> str:
        """The digest of configuration and weights, by which evidence names the files."""
        both = (self.config, self.weights)
        parts = b"".join(hashlib.sha256(part).digest() for part in both)
        return hashlib.sha256(parts).hexdigest()


class Shape(NamedTuple):
    """The sizes of a configuration, and d, the width of the strict network."""

    width: int
    heads: int
    inner: int
    layers: int
    positions: int
    vocabulary: int
    d: int

    @property
    def ground(self) -> int:
        """The place of ground, behind the stream and its mirror; then the constant."""
        return 2 * self.d

    @property
    def gain(self) -> float:
        """2^k, the root of a head's width, by which scores are divided."""
        return float(np.sqrt(self.width // self.heads))


def read(files: Files) -> Model:
    """The strict network in the files, with what its LayerNorms leave to readers.

    Raises:
        Refused: If the files are damaged, or are not those of such a network.
    """
    try:
        return _model(files)
    except DAMAGE as error:
        raise Refused(f"the files are damaged: {str(error)[:200]}") from None


def _model(files: Files) -> Model:
    config = strict_json.read(files.config)
    demand("krohn" in config, "config.json does not say what the network computes")
    krohn_part = config.pop("krohn")
    entries = deserialize(files.weights)  # type: ignore[no-untyped-call]
    header, form = krohn_part["model"], FORMATS[config["dtype"]]
    shape = _shape(config, header)
    known = krohn_part.keys() == {"format", "version", "digest", "model"}
    known = known and (krohn_part["format"], krohn_part["version"]) == ("krohn-gpt2", 2)
    demand(known, "what config.json says to Krohn is not what this checker knows")
    tokenizer = _tokenizer(files.told, header, shape)
    tensors = tensors_of(entries, form)
    sizes = {name: tensor.shape for name, tensor in tensors.items()}
    demand(sizes == _shapes(shape), "tensors differ from those of such a GPT-2")
    taken = _Taken(config, header, form, shape, tensors)
    model = replace(taken.model(), tokenizer=tokenizer)
    check_digest({**header, "digest": krohn_part["digest"]}, tokenizer)
    return model


def _tokenizer(told: Mapping[str, bytes], header: Any, shape: Shape) -> dict[str, Any]:
    """The tokenizer that the names of the machine give; others are refused."""
    outputs = Claim.of(header).shows is Shows.OUTPUTS
    called = tokens(header["machine"], outputs)
    right = library_files(
        called, header["architecture"]["vocabulary"] - 1, shape.positions
    )
    demand(len(called) == shape.vocabulary, "there are other names than tokens")
    for name, text in told.items():
        stated = strict_json.read(text)
        content = {key: stated[key] for key in stated.keys() - {*LIBRARY}}
        same = strict_json.alike(content, right[name])
        demand(same, f"{name} is not what the names of the machine give")
    return {name: right[name] for name in TOKENIZER}


def _shape(config: Any, header: Any) -> Shape:
    """The sizes; refused if the configuration says what no rule is about."""
    keys = {*STATED, *SIZES, *HARMLESS, *MARKS}
    keys |= {"activation_function", "layer_norm_epsilon", "dtype"}
    unknown = sorted(config.keys() - keys)
    demand(not unknown, f"no rule is about {unknown[:3]} of config.json")
    for key, value in STATED.items():
        right = config[key] == value and type(config[key]) is type(value)
        demand(right, f"{key!r} of config.json is another one")
    for key in config.keys() & HARMLESS:
        typed = type(config[key]) in HARMLESS[key]
        right = typed and (key not in SHARES or 0 <= config[key] <= 1)
        demand(right, f"{key!r} of config.json is none that the library loads")
    sizes = [config[key] for key in SIZES]
    whole = all(type(n) is int and 0 < n < 2**31 for n in sizes)
    demand(whole, "a size in config.json is no positive whole number")
    shape = Shape._make([*sizes, header["architecture"]["d_model"]])
    architecture = header["architecture"]
    name, strict = architecture["kind"], architecture["strict"]
    demand(name == "transformer" and strict is True, "the network is not strict")
    demand("source" not in header, "the network is not about a machine")
    objects = [type(header[name]) is dict for name in ("machine", "claim", "program")]
    demand(all(objects), "config.json does not say what the network is")
    demand(architecture["dtype"] == config["dtype"], "the format is another one")
    blocks = [
        block.keys() == _BLOCK and len(block["mlp"]) < 2
        for block in architecture["blocks"]
    ]
    demand(all(blocks), "a block is of a kind that GPT-2 has not")
    demand(len(blocks) == shape.layers, "the number of layers is another one")
    letters, classes = architecture["vocabulary"], architecture["outputs"]
    demand(shape.vocabulary == letters + classes, "the vocabulary has another size")
    marks = [type(config[key]) is int and config[key] == letters - 1 for key in MARKS]
    demand(all(marks), "BOS, EOS or the token of padding is another one")
    demand(
        shape.positions == architecture["positions"],
        "the number of positions is another one",
    )
    demand(shape.width % shape.heads == 0, "heads do not share the width")
    even = np.frexp(shape.gain)[0] == 0.5
    demand(even, "the root of a head's width is no power of 2")
    return shape


def _shapes(shape: Shape) -> dict[str, tuple[int, ...]]:
    """All tensors of a GPT-2 by the names of its library."""
    wide, inner = shape.width, shape.inner
    shapes: dict[str, tuple[int, ...]] = {
        "transformer.wte.weight": (shape.vocabulary, wide),
        "transformer.wpe.weight": (shape.positions, wide),
        "lm_head.weight": (shape.vocabulary, wide),
    }
    norms = ["ln_f"]
    for b in range(shape.layers):
        at = f"transformer.h.{b}"
        norms += [f"h.{b}.ln_1", f"h.{b}.ln_2"]
        for name, size in (
            ("attn.c_attn", (wide, 3 * wide)),
            ("attn.c_proj", (wide, wide)),
            ("mlp.c_fc", (wide, inner)),
            ("mlp.c_proj", (inner, wide)),
        ):
            shapes[f"{at}.{name}.weight"] = size
            shapes[f"{at}.{name}.bias"] = size[1:]
    for name in norms:
        shapes |= {f"transformer.{name}.{part}": (wide,) for part in ("weight", "bias")}
    return shapes


class _Taken(NamedTuple):
    """Parts of the files that were read, and the strict network that is made of them."""

    config: Mapping[str, Any]
    header: Mapping[str, Any]
    form: Format
    shape: Shape
    files: Mapping[str, FloatArray]

    def model(self) -> Model:
        """The strict network."""
        shape, architecture = self.shape, self.header["architecture"]
        tensors, ground = Parts(), Parts()
        large, scales = self._embedding(tensors), list[float]()
        for b, block in enumerate(architecture["blocks"]):
            scales += [self._scale(f"h.{b}.ln_1"), self._scale(f"h.{b}.ln_2")]
            self._heads(b, block, tensors, ground)
            self._mlp(b, block, tensors, ground)
        scales.append(self._scale("ln_f"))
        self._read_out(tensors, ground)
        for name, tensor in tensors.items():
            check_numbers(name, tensor, self.form)
        named = self.config["activation_function"]
        demand(named in ACTIVATIONS, "the activation is one that no rule is about")
        blocks = [self._block(block, named) for block in architecture["blocks"]]
        outputs = {"outputs": shape.vocabulary, "blocks": blocks}
        header = {
            **self.header,
            "architecture": {**architecture, **outputs},
            "version": 5,
        }
        epsilon = self.config["layer_norm_epsilon"]
        demand(type(epsilon) is float and 0 < epsilon < 1, "ε is not between 0 and 1")
        norms = LayerNorms(
            self.form,
            shape.width,
            float(large[large > 0][0]),
            len(large),
            epsilon,
            tuple(scales),
            shape.gain,
            tensors,
            ground,
        )
        gain = max(shape.gain, MASKED)
        return Model(
            self.form, tensors, header, norms, architecture["vocabulary"], gain=gain
        )

    def _block(self, block: Any, named: str) -> Any:
        return {**block, "activation": [[[named, n]] for n in block["mlp"]]}

    def _tensor(self, name: str) -> FloatArray:
        return self.files[f"transformer.{name}"]

    def _writer(self, name: str, rows: FloatArray) -> FloatArray:
        """Sums of rows ``(rows, D)`` for the strict stream; its mirror gets minus that."""
        d = self.shape.d
        demand(rows[:, d : 2 * d] == -rows[:, :d], f"{name} writes no mirror")
        demand(rows[:, 2 * d :] == 0, f"{name} writes to ground or beside it")
        return rows[:, :d]

    def _reader(
        self, name: str, rows: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Weights of the stream, of the ground and of the constant in ``(D, columns)``."""
        d, at = self.shape.d, self.shape.ground
        others = np.vstack([rows[d:at], rows[at + 2 :]])
        demand(others == 0, f"{name} reads the mirror or pairs")
        return rows[:d], rows[at], rows[at + 1]

    def _embedding(self, tensors: Parts) -> FloatArray:
        """Take the embeddings; returns the entries ±K."""
        shape, architecture = self.shape, self.header["architecture"]
        rows, pairs = self._tensor("wte.weight"), shape.ground + 2
        demand(pairs < shape.width, "there is no room beside the stream")
        tensors["embed.token"] = self._writer("wte", rows[: architecture["vocabulary"]])
        rows = self._tensor("wpe.weight")
        large, plain = rows[0, pairs:], rows.copy()
        demand(rows[:, pairs:] == large, "pairs are not the same at all positions")
        large = large[large != 0]
        demand(len(large) > 0 and np.abs(large) == np.abs(large[0]), "uneven pairs")
        demand(large.sum() == 0, "pairs do not add up to 0")
        plain[:, pairs:] = 0
        tensors["embed.position"] = self._writer("wpe", plain)
        return np.asarray(large)

    def _scale(self, name: str) -> float:
        """The weight of a LayerNorm."""
        weight, bias = (self._tensor(f"{name}.{part}") for part in ("weight", "bias"))
        constant = np.arange(len(weight)) == self.shape.ground + 1
        if name == "ln_f":
            demand(weight[constant] == 0, "the constant of the read-out is not 1")
            demand(bias[constant] == 1, "the constant of the read-out is not 1")
            weight, bias = weight[~constant], bias[~constant]
        demand((weight == weight[0]) & (weight > 0), f"{name} has uneven weights")
        demand(bias == 0, f"{name} has a bias")
        return float(weight[0])

    def _heads(self, b: int, block: Any, tensors: Parts, ground: Parts) -> None:
        """Take the heads of a block."""
        at, shape, heads = f"h.{b}.attn", self.shape, block["heads"]
        size, sizes = shape.width // shape.heads, (block["d_qk"], block["d_v"])
        demand(0 <= heads <= shape.heads and max(sizes) <= size, "too many heads")
        for name in ("c_attn", "c_proj"):
            demand(self._tensor(f"{at}.{name}.bias") == 0, "heads have biases")
        both = self._tensor(f"{at}.c_attn.weight").reshape(
            shape.width, 3, shape.heads, -1
        )
        out = self._tensor(f"{at}.c_proj.weight").reshape(shape.heads, size, -1)
        prefix = f"blocks.{b}.attention"
        for i, name in enumerate(("query", "key", "value")):
            used = sizes[i == 2]
            rows = both[:, i].copy()
            kept = rows[:, :heads, :used].copy()
            rows[:, :heads, :used] = 0
            demand(rows == 0, "unused heads read something")
            flat = kept.reshape(shape.width, -1) / (
                shape.gain if name == "query" else 1.0
            )
            reads, less, constant = self._reader("c_attn", flat)
            demand(constant == 0, "heads read the constant")
            if heads:
                moved = reads.reshape(shape.d, heads, used).transpose(1, 0, 2)
                tensors[f"{prefix}.{name}"] = np.ascontiguousarray(moved)
                ground[f"{prefix}.{name}"] = less.reshape(heads, used)
        rest = out.copy()
        rest[:heads, : sizes[1]] = 0
        demand(rest == 0, "unused heads write something")
        kept = out[:heads, : sizes[1]]
        writes = self._writer("c_proj", kept.reshape(-1, shape.width))
        if heads:
            tensors[f"{prefix}.out"] = writes.reshape(heads, sizes[1], shape.d)

    def _mlp(self, b: int, block: Any, tensors: Parts, ground: Parts) -> None:
        """Take the MLP of a block."""
        at, inner = f"h.{b}.mlp", sum(block["mlp"])
        demand(0 <= inner <= self.shape.inner, "an MLP is too wide")
        weight, bias, out, after = (
            self._tensor(f"{at}.{name}")
            for name in ("c_fc.weight", "c_fc.bias", "c_proj.weight", "c_proj.bias")
        )
        demand(weight[:, inner:] == 0, "an unused unit reads something")
        demand(bias[inner:] == 0, "an unused unit has a bias")
        demand(out[inner:] == 0, "an unused unit writes something")
        reads, less, constant = self._reader("c_fc", weight[:, :inner])
        demand(constant == 0, "units read the constant")
        writes = self._writer("c_proj", out[:inner])
        (last,) = self._writer("c_proj", after[None])
        if not block["mlp"]:
            demand(after == 0, "an unused MLP writes something")
            return
        prefix = f"blocks.{b}.mlp"
        tensors[f"{prefix}.0.weight"], ground[f"{prefix}.0.weight"] = reads, less
        tensors[f"{prefix}.0.bias"] = bias[:inner]
        tensors[f"{prefix}.1.weight"], tensors[f"{prefix}.1.bias"] = writes, last

    def _read_out(self, tensors: Parts, ground: Parts) -> None:
        """Take the read-out; the classes of the machine come first."""
        letters = self.header["architecture"]["vocabulary"]
        rows = np.roll(self.files["lm_head.weight"], -letters, axis=0)
        reads, less, constant = self._reader("lm_head", rows.T)
        tensors["unembed.weight"], tensors["unembed.bias"] = reads, constant
        ground["unembed.weight"] = less
