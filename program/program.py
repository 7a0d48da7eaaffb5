"""Program: a small typed language for causal sequence functions.

A Program is a list of named *channels*. Every channel has a value at every position
0, 1, …, T. Position 0 holds the symbol BOS (beginning of sequence), so that start values
need no special case: whatever lies before the start is the value at BOS. All channels are
whole numbers from a finite domain.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeAlias

from krohn.program.operations.base import Frame, Operation

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

    def code(self, name: str) -> str:
        """How the values of a channel are laid out, as a model file says it."""
        if name in self.sizes:
            return "matrix"
        if name in self.vectors:
            return "vector"
        return "one-hot" if name in self.one_hot else "integer"


class Runnable(Protocol):
    """A Program, or the statement of one in a model file."""

    @property
    def operations(self) -> Mapping[str, Operation]:
        """The channels, each after those that it reads."""
        ...

    @property
    def bos(self) -> int:
        """The token value at position 0."""
        ...


def cone(program: Runnable, name: str, known: Collection[str]) -> list[str]:
    """The channels that one is computed from, down to known ones: each after its reads."""
    found: dict[str, None] = {}
    todo = [] if name in known else [(name, iter(program.operations[name].reads))]
    while todo:
        at, rest = todo[-1]
        missing = next((n for n in rest if n not in known and n not in found), None)
        if missing is None:
            found[at] = None
            todo.pop()
        else:
            todo.append((missing, iter(program.operations[missing].reads)))
    return list(found)
