"""The layout of the residual stream: which dimensions each channel has, and when."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from krohn.compiler.schedule import Schedule
from krohn.network.precision import FloatArray
from krohn.program import Program


@dataclass(frozen=True, slots=True)
class AllocatedPlace:
    """Where a channel lies: residual dimensions ``[start, stop)`` of some snapshots.

    Attributes:
        start: First dimension.
        stop: One past the last dimension.
        born: First snapshot.
        dies: Last snapshot.
    """

    start: int
    stop: int
    born: int
    dies: int


@dataclass(frozen=True)
class Layout:
    """A schedule with a place for every channel and every position feature.

    Attributes:
        plan: The schedule.
        features: Dimensions ``[start, stop)`` of each position feature.
        places: The place of each channel.
        d_model: How many dimensions there are.
    """

    plan: Schedule
    features: Mapping[str, tuple[int, int]]
    places: Mapping[str, AllocatedPlace]
    d_model: int

    def channels_to_clear(self, block: int) -> list[str]:
        """The channels whose dimensions the MLP of a block must clear."""
        return [n for n, p in self.places.items() if p.dies == 2 * block + 1]


def width(program: Program, name: str) -> int:
    """How many dimensions a channel takes."""
    if name in program.sizes:
        return program.sizes[name] ** 2
    if name in program.vectors:
        return len(program.vectors[name][0])
    return max(program.domains[name]) + 1 if name in program.one_hot else 1


def code_matrix(program: Program, name: str, values: Iterable[int]) -> FloatArray:
    """The residual-stream code of each value, ``(values, dimensions)``."""
    column = np.array(list(values), dtype=np.int64)
    if name in program.vectors:
        return np.array(program.vectors[name])[column]
    if name not in program.one_hot:
        return column[:, None].astype(np.float64)
    return np.eye(max(program.domains[name]) + 1)[column]


def allocate(
    plan: Schedule, features: Mapping[str, int], strict: bool = False
) -> Layout:
    """Give every channel dimensions, reusing those of channels no longer read.

    Only an MLP can clear dimensions, so a channel read last by the heads or the MLP of a
    block frees its dimensions at that block's MLP, or the next one. In the strict form
    that MLP erases by subtraction; nothing may be written in the same sum.
    """
    placed: dict[str, tuple[int, int]] = {}
    top = 0
    for feature, dimensions in features.items():
        placed[feature] = (top, top + dimensions)
        top += dimensions
    freed = _freed_at(plan)
    stream = _Stream(top)
    spans: dict[str, tuple[int, int]] = {}
    for name in sorted(plan.born, key=lambda n: plan.born[n]):
        until = freed.get(name, plan.last + 1) + strict
        size = width(plan.program, name)
        spans[name] = stream.take(name, size, plan.born[name], until)
    places = {
        name: AllocatedPlace(
            *spans[name],
            snapshot,
            freed[name] - 1 if name in stream.reused else plan.last,
        )
        for name, snapshot in plan.born.items()
    }
    return Layout(plan, placed, places, top + len(stream.owners))


def _freed_at(plan: Schedule) -> dict[str, int]:
    """The snapshot at which each channel's dimensions can be used again."""
    last = dict(plan.born)
    for name, snapshot in plan.born.items():
        if snapshot:
            for read in plan.leaves(name):
                last[read] = max(last[read], snapshot - 1)
    with_mlp = sorted({s for s in plan.born.values() if s > 0 and s % 2 == 0})
    freed: dict[str, int] = {}
    for name, snapshot in last.items():
        later = bisect_right(with_mlp, snapshot)
        if later < len(with_mlp) and name not in plan.program.outputs:
            freed[name] = with_mlp[later]
    return freed


@dataclass
class _Stream:
    """The owners of the dimensions of the residual stream, above the features.

    Attributes:
        top: The first dimension.
        owners: The last channel that was given each dimension.
        until: The snapshot from which on each can be given to another one.
        reused: The channels some of whose dimensions were given to another one: they
            stay until these are cleared.
    """

    top: int
    owners: list[str] = field(default_factory=list)
    until: list[int] = field(default_factory=list)
    reused: set[str] = field(default_factory=set)

    def take(self, name: str, size: int, born: int, until: int) -> tuple[int, int]:
        """The first dimensions that are free, as ``[start, stop)``."""
        start = free = 0
        while start + free < len(self.until) and free < size:
            if self.until[start + free] <= born:
                free += 1
            else:
                start, free = start + free + 1, 0
        stop = start + size
        self.reused.update(self.owners[start:stop])
        self.owners[start:stop] = [name] * size
        self.until[start:stop] = [until] * size
        return self.top + start, self.top + stop
