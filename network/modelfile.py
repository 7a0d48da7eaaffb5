"""The model file: one safetensors file with one metadata key of canonical JSON."""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy

from krohn.network import ModelFileError as ModelFileError
from krohn.network.architecture import (
    INDEX,
    expected_shapes,
    is_index,
    kind_of,
    sparse_matrices,
)
from krohn.network.precision import BY_CODE, PRECISIONS, FloatArray, Precision
from krohn.program import strict_json
from krohn.program.architectures.transformer import PLAIN as PLAIN
from krohn.program.claim import Claim, check_digest, digest_of, first_version
from krohn.program.errors import KrohnError, Refused, told_as
from krohn.program.files import Unreadable, read_bytes
from krohn.program.writing import atomic_write

# The model file: one safetensors file with one metadata key of canonical JSON.
#
# The format is described in docs/model-format.md. Reading needs the safetensors library
# and numpy, never executes anything, and answers a file that it cannot vouch for with a
# single `ModelFileError`.


FORMAT = "krohn-model"
VERSIONS = (1, 2, 3, 4, 5, 6, 7)
KEY = "krohn"
STORED = "stored"
"""The key of compact files; what it says is made anew when a file is written."""
MISFIT = "it is cut short, or has bytes that belong to no tensor"
"""What is wrong with a file that the library of the format refuses, in plain words."""
LARGEST_FILE = 16 * 2**30
LARGEST_HEADER = 96 * 2**20
LONGEST = 2**31
"""The longest words that a file without positions may claim, in letters."""


@dataclass(frozen=True)
class ModelFile:
    """The contents of a model file.

    Attributes:
        header: The decoded JSON: architecture, machine, program, claim, evidence.
        tensors: Every tensor as float64, which represents all stored formats exactly,
            and the places of sparse matrices.
        precision: The format that the tensors are stored in and run in.
    """

    header: dict[str, Any]
    tensors: dict[str, FloatArray]
    precision: Precision

    @cached_property
    def claim(self) -> Claim:
        """What the header says that the network computes; it is never changed in place.

        Raises:
            Refused: If it says nothing that can be.
        """
        return Claim.of(self.header)

    @property
    def architecture(self) -> Any:
        """The sizes and flags of the network, by the type of its architecture."""
        return self.claim.architecture


def write(
    path: str | Path, header: Mapping[str, Any], tensors: Mapping[str, FloatArray]
) -> None:
    """Write a model file whole or not at all; the same content gives the same bytes.

    Raises:
        KrohnError: If the file system refuses.
    """
    atomic_write(path, pack(header, tensors))


def pack(header: Mapping[str, Any], tensors: Mapping[str, FloatArray]) -> bytes:
    """The bytes of a model file; the same content gives the same bytes."""
    precision = PRECISIONS[header["architecture"]["dtype"]]
    version = first_version(header)
    digest = digest_of(header)
    body = {"format": FORMAT, "version": version, **header, "digest": digest}
    if STORED in header:
        from krohn.network.sparse import compact

        body[STORED], tensors = compact(tensors, precision)
    packed = {
        name: np.ascontiguousarray(
            array.astype(np.int32) if is_index(name) else precision.store(array)
        )
        for name, array in sorted(tensors.items())
    }
    return safetensors.numpy.save(packed, {KEY: strict_json.canonical(body)})


def fingerprint(file: ModelFile) -> str:
    """SHA-256 of all that a file holds, 64 hexadecimal digits."""
    digest = hashlib.sha256(strict_json.canonical(file.header).encode())
    for name, array in sorted(file.tensors.items()):
        digest.update(f"{name} {array.shape} {array.dtype}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


NOT_COMPILED = "; `krohn compile` writes model files"
"""A hint for messages where a machine is named and a file is needed."""


def read(path: str | Path) -> ModelFile:
    """Read a model file and check its shape; its claims are the verifier's business.

    Raises:
        ModelFileError: If the file is missing, damaged, too large, of a newer version,
            or does not hold the tensors that its header announces.
    """
    return parse(read_data(path), path)


def read_data(path: str | Path) -> bytes:
    """The bytes of a model file, of which `parse` makes its contents.

    Raises:
        ModelFileError: If the file is missing or too large.
    """
    try:
        return read_bytes(path, LARGEST_FILE)
    except Unreadable as error:
        from krohn.network.export_card import say_export  # only who is refused pays

        known = Path(path).suffix == ".safetensors"
        hint = "" if known or not error.missing else NOT_COMPILED
        raise ModelFileError(say_export(path) or f"{error}{hint}") from None


def parse(data: bytes, path: str | Path) -> ModelFile:
    """The contents of a model file that was read; messages name its path.

    Raises:
        ModelFileError: As `read` does, if the bytes are no model file.
    """
    try:
        _check_framing(data)
        return _parse(data)
    except ModelFileError as error:
        known = Path(path).suffix in ("", ".safetensors", ".st")
        raise ModelFileError(
            f"{path}: {error}{'' if known else NOT_COMPILED}"
        ) from None


def _check_framing(data: bytes) -> None:
    """Refuse what is not a file whose header fits in."""
    if len(data) < 8:
        raise ModelFileError(
            "is not a safetensors file (shorter than its length field)"
        )
    if data.startswith(b"PK"):
        raise ModelFileError(
            "is a file of torch.save; write the state dict with "
            "safetensors.torch.save_file"
        )
    if int.from_bytes(data[:8], "little") > min(LARGEST_HEADER, len(data) - 8):
        raise ModelFileError(
            "is not a safetensors file, or is truncated (its header does not fit)"
        )


def _parse(data: bytes) -> ModelFile:
    header = _header(_metadata(data))
    try:
        stored = dict(safetensors.deserialize(data))  # type: ignore[no-untyped-call]
    except safetensors.SafetensorError:
        raise ModelFileError(f"is damaged: {MISFIT}") from None
    precision = _precision(header)
    tensors = {
        name: decode_tensor(name, entry, precision) for name, entry in stored.items()
    }
    if STORED in header:
        tensors = _expand_tensors(header[STORED], tensors, precision)
    architecture = header["architecture"]
    _check_shapes(tensors, expected_shapes(architecture))
    if sparse := sparse_matrices(architecture):
        _check_sparse(tensors, sparse)
    file = ModelFile(header, tensors, precision)
    with told_as(ModelFileError, "is damaged: "):
        check_digest(header)
        _check_length(file.claim, "program" in header)
    return file


def _check_sparse(
    tensors: Mapping[str, FloatArray], columns: Mapping[str, int]
) -> None:
    from krohn.network.sparse import Sparse  # few files have such matrices

    for name, number in columns.items():
        problem = Sparse.from_tensors(tensors, name, number).problem()
        if problem is not None:
            raise ModelFileError(f"is damaged: the matrix {name!r} has {problem}")


def _expand_tensors(
    stored: object, tensors: Mapping[str, FloatArray], precision: Precision
) -> dict[str, FloatArray]:
    from krohn.program.stored_tensors import expand_tensors

    try:
        return expand_tensors(stored, tensors, precision.name)
    except Refused as error:
        raise ModelFileError(f"is damaged: {error}") from None
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise ModelFileError(
            f"is damaged: it does not say how its tensors are stored ({error!r})"
        ) from None


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
        # What other classes say is about characters and columns of no use here.
        why = f" ({error})" if type(error) is ValueError else ""
        raise ModelFileError(f"is damaged: its header cannot be read{why}") from None


def _header(text: str) -> dict[str, Any]:
    header = _json(text)
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ModelFileError(f"is no Krohn model (its format is not {FORMAT!r})")
    version = header.get("version")
    if type(version) is not int or version not in VERSIONS:
        raise ModelFileError(
            f"has format version {version!r}; this Krohn reads versions "
            f"up to {VERSIONS[-1]}. Install a newer Krohn, or compile the model again"
        )
    about = "machine" if "machine" in header else "source"
    if {"machine", "source"} <= header.keys():
        raise ModelFileError("is damaged: it is about a machine and about a source")
    for key in ("architecture", about, "claim"):
        if not isinstance(header.get(key), dict):
            raise ModelFileError(f"is damaged: its header has no object {key!r}")
    if text != strict_json.canonical(header):
        raise ModelFileError(
            "is damaged: its header is not in canonical form (docs/model-format.md), so "
            "that readers may differ on it"
        )
    return header


def _precision(header: dict[str, Any]) -> Precision:
    name = header["architecture"].get("dtype")
    if not isinstance(name, str) or name not in PRECISIONS:
        raise ModelFileError(f"has dtype {name!r}; known are {', '.join(PRECISIONS)}")
    return PRECISIONS[name]


def decode_tensor(
    name: str, entry: Mapping[str, Any], precision: Precision
) -> FloatArray:
    """A tensor of a file, as safetensors gives it, as float64.

    Raises:
        ModelFileError: If it is of another format, or has numbers that are not finite.
    """
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


def _check_length(claim: Claim, program: bool) -> None:
    """Refuse a length that no such network, or not its Program, can have.

    An RNN of a machine has no longest word; a file without a Program need not claim one.

    Raises:
        ModelFileError: If it is one.
    """
    shape, length = claim.architecture, claim.length
    assert shape is not None
    kind = kind_of(shape)
    endless = kind.recurrent and not kind.bounded
    if endless and length is not None and claim.of_machine:
        raise ModelFileError(
            f"is damaged: it claims the length {length!r}, but an RNN has no longest word"
        )
    foreign = kind.program and not program
    if length is None and (foreign or kind.recurrent):
        return
    if length is None or length > LONGEST:
        raise ModelFileError(f"is damaged: it claims the length {length!r}")
    longest = getattr(shape, "positions", LONGEST + 1) - 1
    if length > longest and not foreign:
        raise ModelFileError(
            f"is damaged: it claims words of {length} letters, and can read at most "
            f"{longest}"
        )


def longest(file: ModelFile) -> int | None:
    """The longest word that a network has positions for; None if there is no limit."""
    positions: int | None = getattr(file.architecture, "positions", None)
    return None if positions is None else positions - 1


def check_length(length: int, most: int | None) -> None:
    """Refuse words that are too long.

    Raises:
        KrohnError: If a network that reads so many letters has no positions for them.
    """
    if most is not None and length > most:
        raise KrohnError(
            f"this model is for words of up to {most} letters; compile it again with a "
            f"larger length (-T {length})"
        )


def names(holder: object, key: str) -> tuple[str, ...]:
    """The names that an object of a header lists.

    Raises:
        ModelFileError: If it lists none.
    """
    listed = holder.get(key) if isinstance(holder, Mapping) else None
    if not isinstance(listed, list | tuple) or not all(
        isinstance(n, str) for n in listed
    ):
        raise ModelFileError(f"is damaged: its machine has no list of {key}")
    return tuple(listed)


def alphabets(
    file: ModelFile,
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """The names of letters, states and classes, as many as the architecture has.

    Raises:
        ModelFileError: If there are others than the tensors are made for.
    """
    claim, shape = file.claim, file.architecture
    classes = claim.answers or claim.letters
    tokens = len(claim.letters) + shape.marks
    if not claim.letters or (shape.vocabulary, shape.outputs) != (tokens, len(classes)):
        raise ModelFileError(
            "is damaged: its machine and its tensors differ in how many letters or states "
            "there are"
        )
    return claim.letters, claim.states if claim.of_machine else classes, classes


TRAINED_KEY = "krohn-network"
"""The key that such a file has among its metadata."""


def is_trained_network(path: str | Path) -> bool:
    """Whether a file says of itself that Krohn wrote it after training.

    It may be damaged all the same.
    """
    if not os.path.isfile(path):  # also of a name that no file can have
        return False
    try:
        with open(path, "rb") as file:
            length = int.from_bytes(file.read(8), "little")
            header = strict_json.read(file.read(min(length, LARGEST_HEADER)))
        return TRAINED_KEY in header["__metadata__"]
    except (OSError, ValueError, LookupError, TypeError):
        return False
