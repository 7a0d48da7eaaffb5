"""Directions of variables: where they lie in a disguised network, and what carries them."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from krohn.network import ModelFileError
from krohn.network.modelfile import PLAIN, ModelFile
from krohn.network.precision import FloatArray
from krohn.program.architectures.transformer import APART, MASKS


class Directions(NamedTuple):
    """The directions of the dimensions of the plain network in a disguised stream.

    Attributes:
        all: ``(d + waste, D)``: what each dimension adds to the stream; the last ones
            mean nothing.
        d: How wide the plain stream is.
        features: Dimensions of what only positions decide, first and one past the last.
        lives: For each variable its dimensions, and the first and last snapshot.
    """

    all: FloatArray
    d: int
    features: list[tuple[int, int]]
    lives: list[tuple[tuple[int, int], tuple[int, int]]]

    def writes(self, dims: tuple[int, int]) -> FloatArray:
        """``(dimensions, D)``: what a variable adds to the stream."""
        return self.all[slice(*dims)]

    def reads(self, dims: tuple[int, int], snapshot: int) -> FloatArray:
        """``(D, dimensions)``: what tells it from all else at a snapshot.

        If the stream has fewer dimensions than variables need, a unit vector is read up
        to what is added to all of its entries.
        """
        there = [span for span, (born, dies) in self.lives if born <= snapshot <= dies]
        rows = [i for span in (*self.features, *there) for i in range(*span)]
        inverse = np.linalg.pinv(self.all[[*rows, *range(self.d, len(self.all))]])
        return np.asarray(inverse[:, [rows.index(i) for i in range(*dims)]])


def is_disguised(file: ModelFile) -> bool:
    """Whether a file holds a disguised network."""
    return getattr(file.architecture, "disguise", None) is not None


def directions(file: ModelFile) -> Directions | None:
    """The directions of variables; None where each has dimensions of its own.

    Raises:
        ModelFileError: If the Program of the file does not say where they live.
    """
    if not is_disguised(file):
        return None
    d = file.architecture.disguise.d_model
    try:
        program = file.header["program"]
        lives = [
            (tuple(c["dims"]), tuple(c["snapshots"]))
            for c in program["channels"]
            if "dims" in c
        ]
        features = [tuple(span) for span in program["features"].values()]
    except (LookupError, TypeError, AttributeError):
        raise ModelFileError(
            "is damaged: its Program does not say where variables live"
        ) from None
    return Directions(file.tensors["disguise.directions"], d, features, lives)


def head_of(file: ModelFile, block: int, head: int) -> int:
    """The head that carries what a head of the plain network carries."""
    if not is_disguised(file):
        return head
    return int(file.architecture.disguise.heads[block].index(head + 1))


def units_of(file: ModelFile, block: int, units: Iterable[int]) -> tuple[int, ...]:
    """The units that stand for some of the plain network."""
    if not is_disguised(file):
        return tuple(units)
    stated_units = file.architecture.disguise.units[block]
    return tuple(sorted(stated_units.index(unit + 1) for unit in units))


def own_tensors(file: ModelFile) -> Mapping[str, FloatArray]:
    """The tensors whose dimensions are those of the Program."""
    if not is_disguised(file):
        return file.tensors
    return {
        name.removeprefix(PLAIN): tensor
        for name, tensor in file.tensors.items()
        if name.startswith(PLAIN)
    }


def running_tensors(file: ModelFile) -> dict[str, FloatArray]:
    """The tensors that run: without those that only tell what a disguise is."""
    return {n: t for n, t in file.tensors.items() if not n.startswith(APART)}


def without_masks(file: ModelFile) -> ModelFile:
    """A file of the same network that does not say what its matrices are products of."""
    if getattr(file.architecture, "masks", None) is None:
        return file
    stated = file.header["architecture"]
    bare = {key: value for key, value in stated.items() if key != "masks"}
    tensors = {n: t for n, t in file.tensors.items() if not n.startswith(MASKS)}
    return ModelFile({**file.header, "architecture": bare}, tensors, file.precision)


def refuse(file: ModelFile, what: str) -> None:
    """Refuse what cannot work with directions.

    Raises:
        ModelFileError: If the network is disguised.
    """
    if is_disguised(file):
        pruned = getattr(file.architecture, "masks", None) is not None
        option = "--construction pruned" if pruned else "--disguise"
        raise ModelFileError(
            f"{what} needs variables with dimensions of their own, and this network is "
            f"disguised; compile it without {option}"
        )
