"""The subject of mutations: a model file and the machine that it is compared with."""

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.network.architecture import Kind, is_index, kind_of
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FloatArray

Json: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Subject:
    """A model and the machine that it should compute.

    Attributes:
        file: The model; an RNN has no longest word.
        machine: Letters and states are matched with the file by position.
        longer: The same model compiled for another length, where there is one.
    """

    file: ModelFile
    machine: Automaton
    longer: ModelFile | None = None

    @property
    def kind(self) -> Kind[Any]:
        """The kind of the network."""
        return kind_of(self.file.header["architecture"])

    @property
    def blocks(self) -> list[Json]:
        """The blocks of a Transformer; none for other kinds."""
        return list(self.file.header["architecture"].get("blocks", []))

    @property
    def program(self) -> Json | None:
        """The Program that the file states."""
        return self.file.header.get("program")

    @property
    def weights(self) -> list[tuple[str, FloatArray]]:
        """The tensors that hold numbers, by name; places of sparse entries do not."""
        tensors = sorted(self.file.tensors.items())
        return [(name, array) for name, array in tensors if not is_index(name)]

    def with_tensors(self, changed: Mapping[str, FloatArray]) -> "Subject":
        """With some tensors exchanged, rounded to the format of the file."""
        precision = self.file.precision
        with np.errstate(over="ignore"):
            rounded = {
                name: array if is_index(name) else precision.round(array)
                for name, array in changed.items()
            }
        tensors = {**self.file.tensors, **rounded}
        return replace(self, file=replace(self.file, tensors=tensors))

    def with_header(self, edit: Callable[[Json], object]) -> "Subject":
        """With a copy of the header that was edited in place."""
        header = copy.deepcopy(self.file.header)
        edit(header)
        return replace(self, file=replace(self.file, header=header))


@dataclass(frozen=True)
class Mutant:
    """A subject with something changed.

    Attributes:
        where: What was changed, in words.
        subject: What became of it.
    """

    where: str
    subject: Subject


Mutation: TypeAlias = Callable[[Subject, np.random.Generator], Mutant | None]
"""Changes a subject in one place drawn at random; None if it finds no such place."""


def same(left: Subject, right: Subject) -> bool:
    """Whether a change changed nothing, as when rounding undoes it."""
    tensors = left.file.tensors.keys() == right.file.tensors.keys() and all(
        np.array_equal(array, right.file.tensors[name])
        for name, array in left.file.tensors.items()
    )
    return (
        tensors
        and left.file.precision is right.file.precision
        and left.file.header == right.file.header
        and left.machine is right.machine
    )
