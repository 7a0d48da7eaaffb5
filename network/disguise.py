"""Disguised networks: where variables lie, and which heads and units carry them."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from krohn.network.errors import ModelFileError
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FloatArray

PLAIN = "plain."


class Directions(NamedTuple):
    """The directions of the dimensions of the plain network in a disguised stream.

    Attributes:
        writes: ``(d, D)``: what each dimension adds to the stream.
        reads: ``(D, d)``: what it is read by.
    """

    writes: FloatArray
    reads: FloatArray


def is_disguised(header: Mapping[str, Any]) -> bool:
    """Whether a file holds a disguised network."""
    return "disguise" in header["architecture"]


def directions(file: ModelFile) -> Directions | None:
    """The directions of variables; None where each has dimensions of its own."""
    if not is_disguised(file.header):
        return None
    d = file.header["architecture"]["disguise"]["d_model"]
    writes, reads = (file.tensors[f"disguise.{n}"] for n in ("directions", "readings"))
    return Directions(writes[:d], reads[:, :d])


def head_of(header: Mapping[str, Any], block: int, head: int) -> int:
    """The head that carries what a head of the plain network carries."""
    if not is_disguised(header):
        return head
    return int(header["architecture"]["disguise"]["heads"][block].index(head + 1))


def units_of(
    header: Mapping[str, Any], block: int, units: Iterable[int]
) -> tuple[int, ...]:
    """The units that stand for some of the plain network."""
    if not is_disguised(header):
        return tuple(units)
    told = header["architecture"]["disguise"]["units"][block]
    return tuple(sorted(told.index(unit + 1) for unit in units))


def own_tensors(file: ModelFile) -> Mapping[str, FloatArray]:
    """The tensors whose dimensions are those of the Program."""
    if not is_disguised(file.header):
        return file.tensors
    return {
        name.removeprefix(PLAIN): tensor
        for name, tensor in file.tensors.items()
        if name.startswith(PLAIN)
    }


def refuse(header: Mapping[str, Any], what: str) -> None:
    """Refuse what cannot work with directions.

    Raises:
        ModelFileError: If the network is disguised.
    """
    if is_disguised(header):
        raise ModelFileError(
            f"{what} needs variables with dimensions of their own, and this network is "
            "disguised; compile it without --disguise"
        )
