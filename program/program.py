"""Program: a small typed language for causal sequence functions.

A Program is a list of named *channels*. Every channel has a value at every position
0, 1, …, T. Position 0 holds the symbol BOS (beginning of sequence), so that start values
need no special case: whatever lies before the start is the value at BOS. All channels are
whole numbers from a finite domain.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np

from krohn.program.domains import FloatArray
from krohn.program.functions import Table
from krohn.program.operations.base import Frame, Operation
from krohn.program.operations.map import Map
from krohn.program.statement import Channel, Statement

Domain: TypeAlias = tuple[int, ...]
Vectors: TypeAlias = tuple[tuple[float, ...], ...]
"""Real vectors of one width, one for each value from 0 on."""


@dataclass(frozen=True)
class Program:
    """Channels in the order in which they can be computed, and how to read the result.

    Attributes:
        letters: The names of the letters; token values are their indices, then BOS.
        states: How many states, or outputs of the machine, there are to decode to.
        length: The longest word the Program is for (T).
        operations: Channel name to operation; each reads earlier channels only.
        outputs: The channels whose values together say the state or output.
        decode: Which state or output each tuple of output values means.
        domains: The values that each channel can take, where already inferred.
        one_hot: Channels to be laid out as one-hot vectors instead of integers.
        sizes: How many rows the matrices have of each channel that holds some.
        vector: What an output that holds matrices is applied to; the results are said.
        vectors: Channels to be laid out as one real vector for each value, instead of
            integers. Nothing reads them but the read-out, which says the vector.
        near: How far back is fetched at most, in the texts that it is for, by look-backs
            whose place the words decide; None if it may be any distance.
    """

    letters: tuple[str, ...]
    states: int
    length: int
    operations: Mapping[str, Operation]
    outputs: tuple[str, ...]
    decode: Mapping[tuple[int, ...], int]
    domains: Mapping[str, Domain] = field(default_factory=dict)
    one_hot: frozenset[str] = frozenset()
    sizes: Mapping[str, int] = field(default_factory=dict)
    vector: tuple[float, ...] = ()
    vectors: Mapping[str, Vectors] = field(default_factory=dict)
    near: int | None = None

    def __repr__(self) -> str:
        return f"<Program of {len(self.operations)} channels: T = {self.length}>"

    @property
    def bos(self) -> int:
        """The token value at position 0."""
        return len(self.letters)

    @property
    def frame(self) -> Frame:
        """The letters' number and the longest word, which all channels share."""
        return Frame(len(self.letters), self.length)

    def with_operations(self, operations: Mapping[str, Operation]) -> "Program":
        """This Program with other operations; annotations of lost channels go."""
        return replace(
            self,
            operations=operations,
            domains={n: d for n, d in self.domains.items() if n in operations},
            one_hot=self.one_hot & operations.keys(),
            vectors={n: v for n, v in self.vectors.items() if n in operations},
        )

    def numbers(self, name: str) -> FloatArray:
        """What stands in the stream for each value of a channel of one dimension."""
        values = np.array(self.domains[name], dtype=np.int64)
        numbers = self.operations[name].numbers
        return values.astype(np.float64) if numbers is None else numbers[values]

    def code(self, name: str) -> str:
        """How the values of a channel are laid out, as a model file says it."""
        if name in self.sizes:
            return "matrix"
        if name in self.vectors or self.operations[name].numbers is not None:
            return "vector"
        return "one-hot" if name in self.one_hot else "integer"


def statement_of(program: Program) -> Statement:
    """A Program as a file would state it, before anything has a place.

    Raises:
        Refused: If a channel cannot be.
    """
    channels = dict[str, Channel]()
    for name, operation in program.operations.items():
        read = [channels[n].values for n in operation.reads]
        if isinstance(operation, Map) and isinstance(operation.function, Table):
            operation = Map(operation.function.occurring(read), operation.inputs)
        values = operation.infer(read, program.frame)
        domain = np.array(values.domain)
        channels[name] = Channel(name, operation, domain, values, None)
    return Statement(channels, {}, program.outputs, program.decode, program.frame)
