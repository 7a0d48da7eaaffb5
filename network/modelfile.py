"""The model file: one safetensors file with one metadata key of canonical JSON.

The format is described in docs/model-format.md. Reading needs the safetensors library
and numpy, never executes anything, and answers a file that it cannot vouch for with a
single `ModelFileError`.
"""

import os
import stat
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import safetensors
import safetensors.numpy

from network import strict_json
from network.precision import BY_CODE, PRECISIONS, FloatArray, Precision
from network.sparse import INDEX, Sparse, is_index

StrArray = npt.NDArray[np.str_]

FORMAT = "krohn-model"
VERSIONS = (1, 2, 3, 4)
KEY = "krohn"
LARGEST_FILE = 16 * 2**30
LARGEST_HEADER = 96 * 2**20
MOST_BLOCKS = 2**12
"""Blocks may be empty, and so as many as a short header lists."""
LONGEST = 2**31
"""What a file without positions may claim, in letters."""
ACTIVATIONS = ("relu", "sine")


class ModelFileError(Exception):
    """A model file cannot be read or written; the message says why."""


@dataclass(frozen=True)
class ModelFile:
    """What a model file holds.

    Attributes:
        header: The decoded JSON: architecture, machine, program, claim, evidence.
        tensors: Every tensor as float64, which represents all stored formats exactly,
            and the places of sparse matrices.
        precision: The format that the tensors are stored in and run in.
    """

    header: dict[str, Any]
    tensors: dict[str, FloatArray]
    precision: Precision


def write(
    path: str | Path, header: Mapping[str, Any], tensors: Mapping[str, FloatArray]
) -> None:
    """Write a model file whole or not at all; the same content gives the same bytes.

    Raises:
        ModelFileError: If the file system refuses.
    """
    _replace(Path(path), pack(header, tensors))


def pack(header: Mapping[str, Any], tensors: Mapping[str, FloatArray]) -> bytes:
    """The bytes of a model file; the same content gives the same bytes."""
    precision = PRECISIONS[header["architecture"]["dtype"]]
    version = _version(header["architecture"])
    body = {"format": FORMAT, "version": version, **header}
    packed = {
        name: array.astype(np.int32) if is_index(name) else precision.store(array)
        for name, array in sorted(tensors.items())
    }
    return safetensors.numpy.save(packed, {KEY: strict_json.canonical(body)})


def _version(architecture: Mapping[str, Any]) -> int:
    """The first version whose readers understand it."""
    if "entries" in architecture:
        return 3
    blocks = architecture.get("blocks", [])
    if any("activation" in block for block in blocks):
        return 4
    return 2 if any("sine" in block for block in blocks) else 1


def _replace(path: Path, data: bytes) -> None:
    temporary = None
    try:
        with tempfile.NamedTemporaryFile(
            dir=path.parent, prefix=f".{path.name}.", delete=False
        ) as file:
            temporary = file.name
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, path)
    except BaseException as error:
        if temporary is not None and os.path.exists(temporary):
            os.unlink(temporary)
        if isinstance(error, OSError):
            reason = error.strerror or str(error)
            raise ModelFileError(f"cannot write {path}: {reason}") from error
        raise


def read(path: str | Path) -> ModelFile:
    """Read a model file and check its shape; its claims are the verifier's business.

    Raises:
        ModelFileError: If the file is missing, damaged, too large, of a newer version,
            or does not hold the tensors that its header announces.
    """
    try:
        return _parse(_read_bytes(Path(path)))
    except ModelFileError as error:
        raise ModelFileError(f"{path}: {error}") from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise ModelFileError(f"{path}: cannot be read: {reason}") from None
    except ValueError as error:
        raise ModelFileError(f"{str(path)!r} names no file: {error}") from None


def _read_bytes(path: Path) -> bytes:
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise ModelFileError("is not a regular file")
    if status.st_size > LARGEST_FILE:
        raise ModelFileError(f"is larger than {LARGEST_FILE} bytes")
    data = path.read_bytes()
    if len(data) < 8:
        raise ModelFileError(
            "is not a safetensors file (shorter than its length field)"
        )
    if int.from_bytes(data[:8], "little") > min(LARGEST_HEADER, len(data) - 8):
        raise ModelFileError(
            "is not a safetensors file, or is truncated (its header does not fit)"
        )
    return data


def _parse(data: bytes) -> ModelFile:
    header = _header(_metadata(data))
    try:
        stored = dict(safetensors.deserialize(data))  # type: ignore[no-untyped-call]
    except safetensors.SafetensorError as error:
        raise ModelFileError(f"is damaged: {error}") from None
    precision = _precision(header)
    tensors = {name: _tensor(name, entry, precision) for name, entry in stored.items()}
    architecture = header["architecture"]
    _check_shapes(tensors, expected_shapes(architecture))
    if _version(architecture) > header["version"]:
        raise ModelFileError(
            "is damaged: a file of its version has ReLUs and dense matrices only"
        )
    for name, columns in sparse_matrices(architecture).items():
        problem = Sparse.named(tensors, name, columns).problem()
        if problem is not None:
            raise ModelFileError(f"is damaged: the matrix {name!r} has {problem}")
    claimed_length(header)
    return ModelFile(header, tensors, precision)


def _metadata(data: bytes) -> str:
    length = int.from_bytes(data[:8], "little")
    outer = _json(data[8 : 8 + length])
    metadata = outer.get("__metadata__") if isinstance(outer, dict) else None
    text = metadata.get(KEY) if isinstance(metadata, dict) else None
    if not isinstance(text, str):
        raise ModelFileError(f"is no Krohn model (its metadata has no key {KEY!r})")
    return text


def _json(text: str | bytes) -> Any:
    try:
        return strict_json.read(text)
    except ValueError as error:
        raise ModelFileError(f"is damaged: its header is no JSON ({error})") from None


def _header(text: str) -> dict[str, Any]:
    header = _json(text)
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ModelFileError(f"is no Krohn model (its format is not {FORMAT!r})")
    if header.get("version") not in VERSIONS:
        raise ModelFileError(
            f"has format version {header.get('version')!r}; this Krohn reads versions "
            f"up to {VERSIONS[-1]}. Install a newer Krohn, or compile the model again"
        )
    for key in ("architecture", "machine", "claim"):
        if not isinstance(header.get(key), dict):
            raise ModelFileError(f"is damaged: its header has no object {key!r}")
    if not _is_canonical(text, header):
        raise ModelFileError(
            "is damaged: its header is not in canonical form (docs/model-format.md), so "
            "that readers may differ on it"
        )
    return header


def _is_canonical(text: str, header: Mapping[str, Any]) -> bool:
    try:
        return text == strict_json.canonical(header)
    except ValueError:  # a number that is too large for a float
        return False


def _precision(header: dict[str, Any]) -> Precision:
    name = header["architecture"].get("dtype")
    if not isinstance(name, str) or name not in PRECISIONS:
        raise ModelFileError(f"has dtype {name!r}; known are {', '.join(PRECISIONS)}")
    return PRECISIONS[name]


def _tensor(name: str, entry: Mapping[str, Any], precision: Precision) -> FloatArray:
    if is_index(name) and entry["dtype"] == INDEX:
        places = np.frombuffer(bytes(entry["data"]), dtype=np.int32)
        return places.astype(np.float64).reshape(entry["shape"])
    stored = BY_CODE.get(str(entry["dtype"]))
    if stored is not precision:
        raise ModelFileError(
            f"is damaged: tensor {name!r} is stored as {entry['dtype']}, "
            f"the header announces {precision.code}"
        )
    array = precision.decode(bytes(entry["data"])).reshape(entry["shape"])
    if not np.isfinite(array).all():
        raise ModelFileError(
            f"is damaged: tensor {name!r} has entries that are not finite"
        )
    return array


def _check_shapes(
    tensors: Mapping[str, FloatArray], expected: Mapping[str, tuple[int, ...]]
) -> None:
    for name in sorted(expected.keys() | tensors.keys()):
        if name not in tensors:
            raise ModelFileError(f"is damaged: tensor {name!r} is missing")
        if name not in expected:
            raise ModelFileError(
                f"is damaged: tensor {name!r} is not in its architecture"
            )
        if tensors[name].shape != expected[name]:
            raise ModelFileError(
                f"is damaged: tensor {name!r} has shape {tensors[name].shape}, "
                f"its architecture says {expected[name]}"
            )


def expected_shapes(architecture: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """The name and shape of every tensor that an architecture has.

    Raises:
        ModelFileError: If the architecture is not one that this version knows.
    """
    kind = architecture.get("kind")
    if kind == "transformer":
        return _transformer_shapes(architecture)
    if kind == "rnn":
        return _rnn_shapes(architecture)
    if kind == "generator":
        return _generator_shapes(architecture)
    raise ModelFileError(
        f"has architecture {kind!r}; known are 'transformer', 'rnn' and 'generator'"
    )


def _transformer_shapes(architecture: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    d = size(architecture, "d_model")
    shapes: dict[str, tuple[int, ...]] = {
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


def _block_shapes(
    at: str, block: Any, d: int, strict: bool
) -> dict[str, tuple[int, ...]]:
    if not isinstance(block, dict) or not isinstance(block.get("mlp"), list):
        raise ModelFileError(f"is damaged: {at} is no block")
    heads = size(block, "heads", least=0)
    k, v = (size(block, key, least=min(heads, 1)) for key in ("d_qk", "d_v"))
    shapes: dict[str, tuple[int, ...]] = {}
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
    return shapes


def _affine_shapes(at: str, widths: list[int]) -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {}
    for j, (rows, columns) in enumerate(pairwise(widths)):
        shapes[f"{at}.mlp.{j}.weight"] = (rows, columns)
        shapes[f"{at}.mlp.{j}.bias"] = (columns,)
    return shapes


def _generator_shapes(architecture: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    layers, letters = architecture.get("layers"), size(architecture, "vocabulary")
    moves = architecture.get("moves")
    if not isinstance(layers, list) or not layers:
        raise ModelFileError("is damaged: its architecture has no list of layers")
    if not isinstance(moves, list) or len(moves) != letters or set(moves) - {1, -1}:
        raise ModelFileError("is damaged: it does not say which letters open or close")
    if len(layers) > MOST_BLOCKS:
        raise ModelFileError(f"has more than {MOST_BLOCKS} layers")
    if any(not isinstance(x, dict) or type(x.get("mlp")) is not list for x in layers):
        raise ModelFileError("is damaged: one of its layers is no layer")
    widths = [size(layer, "d") for layer in layers]
    shapes: dict[str, tuple[int, ...]] = {
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
            f"{at}.constant": (1,),
        }
        hidden = [size({"mlp": w}, "mlp") for w in layer["mlp"]]
        shapes |= _affine_shapes(at, [d, *hidden, end])
    return shapes


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


def _rnn_shapes(architecture: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
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


def sparse_matrices(architecture: Mapping[str, Any]) -> dict[str, int]:
    """The sparse matrices of an architecture, each with the number of its columns."""
    if "entries" not in architecture:
        return {}
    hidden = size(architecture, "hidden")
    return {
        "hidden.left": size(architecture, "rank"),
        "hidden.right": hidden,
        "input.weight": hidden,
        "unembed.weight": size(architecture, "outputs"),
    }


def _sparse_rnn_shapes(
    architecture: Mapping[str, Any], hidden: int, outputs: int
) -> dict[str, tuple[int, ...]]:
    entries = architecture["entries"]
    if not isinstance(entries, dict):
        raise ModelFileError("is damaged: 'entries' is no object")
    rows = {
        "hidden.left": hidden,
        "hidden.right": size(architecture, "rank"),
        "input.weight": size(architecture, "vocabulary"),
        "unembed.weight": hidden,
    }
    shapes: dict[str, tuple[int, ...]] = {
        "hidden.start": (hidden,),
        "hidden.bias": (hidden,),
        "unembed.bias": (outputs,),
    }
    for name, count in rows.items():
        held = size(entries, name, least=0)
        shapes[f"{name}.offsets"] = (count + 1,)
        shapes[f"{name}.columns"] = shapes[f"{name}.values"] = (held,)
    return shapes


def size(holder: Mapping[str, Any], key: str, least: int = 1) -> int:
    """A whole number from a header.

    Raises:
        ModelFileError: If it is none, too small, or absurdly large.
    """
    value = holder.get(key)
    if type(value) is not int or not least <= value <= 2**31:
        raise ModelFileError(f"is damaged: {key!r} is {value!r}, not a sensible size")
    return value


def claimed_length(header: Mapping[str, Any]) -> int | None:
    """The longest word that a file is said to be for; None if it is for all.

    An RNN has no longest word, and a file without a Program need not claim one.

    Raises:
        ModelFileError: If that is no length, or one that its Program cannot have.
    """
    shape, length = header["architecture"], header["claim"].get("length")
    if shape["kind"] == "rnn" and length is not None:
        raise ModelFileError(
            f"is damaged: it claims the length {length!r}, but an RNN has no longest word"
        )
    foreign = shape["kind"] == "transformer" and "program" not in header
    if length is None and (foreign or shape["kind"] == "rnn"):
        return None
    if type(length) is not int or length < 1:
        raise ModelFileError(f"is damaged: it claims the length {length!r}")
    longest = shape.get("positions", LONGEST + 1) - 1
    if length > longest and not foreign:
        raise ModelFileError(
            f"is damaged: it claims words of {length} letters, and can read at most "
            f"{longest}"
        )
    return length


def parameters(architecture: Mapping[str, Any]) -> int:
    """How many numbers the tensors of an architecture hold, places of entries apart."""
    shapes = expected_shapes(architecture).items()
    return sum(prod(shape) for name, shape in shapes if not is_index(name))
