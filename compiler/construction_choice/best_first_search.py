"""Best-first search over plans, with lower bounds (branch and bound).

All ways start together, with what is known of them without work. The one whose bound is
best goes a step further: its Program is built, put through the passes, scheduled, laid
out and at last priced. When the best of all has an exact price, no other can beat it: a
bound is never above what follows it. So what loses is mostly never laid out.
"""

from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from typing import Any, Generic, TypeAlias, TypeVar

from compiler.bounds import Bound, Priced, Steps
from compiler.errors import CompileError

Found = TypeVar("Found", bound=Priced)
Way: TypeAlias = "Steps[Found | list[Way[Found]]]"
"""Bounds, and at the end a plan, or the ways into which it parts."""

Key = Callable[[Bound], tuple[float, ...]]
Rank: TypeAlias = tuple[int, ...]
"""Where a way stands among equals; its parts follow it."""


@dataclass
class Open(Generic[Found]):
    """A way that has not been followed to its end.

    Attributes:
        name: The construction.
        rank: Where it stands among equals.
        steps: The rest of it.
        bound: What is known of all that it can lead to.
    """

    name: str
    rank: Rank
    steps: "Way[Found]"
    bound: Bound = field(default_factory=Bound)


@dataclass
class Search(Generic[Found]):
    """What is known of all ways so far.

    Attributes:
        ways: Those still open, by their rank.
        found: The plans that were priced, by their rank.
        reasons: Why a construction, or a form of it, leads to nothing.
    """

    ways: dict[Rank, Open[Found]]
    found: dict[Rank, Found] = field(default_factory=dict)
    reasons: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, ways: Iterable[tuple[str, "Way[Found]"]]) -> "Search[Found]":
        """A search that begins; of equal ways the first ones go first.

        Args:
            ways: With the names of their constructions.
        """
        return cls({(i,): Open(n, (i,), way) for i, (n, way) in enumerate(ways)})

    def best_first(self, key: Key, names: Container[str]) -> Iterator[Found]:
        """Plans, best first, each as soon as it is known that none is better.

        Args:
            key: What is compared; it grows with the sizes.
            names: The constructions to choose from.
        """
        ahead = [
            (key(way.bound), rank)
            for rank, way in self.ways.items()
            if way.name in names
        ]
        ahead += [
            (key(plan.cost), rank)
            for rank, plan in self.found.items()
            if plan.construction in names
        ]
        heapify(ahead)
        while ahead:
            _, rank = heappop(ahead)
            if rank in self.found:
                yield self.found[rank]
                continue
            for after in self.advance(rank):
                known = self.ways.get(after)
                bound = known.bound if known else self.found[after].cost
                heappush(ahead, (key(bound), after))

    def advance(self, rank: Rank) -> list[Rank]:
        """Follow a way to its next bound, its end, or where it parts.

        Returns:
            The ranks of what it led to: the same, or those of its parts.
        """
        way = self.ways[rank]
        try:
            way.bound = way.bound.and_also(next(way.steps))
        except StopIteration as end:
            del self.ways[rank]
            return self._ended(way, end.value)
        except CompileError as error:
            del self.ways[rank]
            self.reasons.setdefault(way.name, []).append(str(error))
            return []
        return [rank]

    def _ended(self, way: Open[Found], end: Any) -> list[Rank]:
        if not isinstance(end, list):
            self.found[way.rank] = end
            return [way.rank]
        parts = [
            Open(way.name, (*way.rank, i), steps, way.bound)
            for i, steps in enumerate(end)
        ]
        self.ways |= {part.rank: part for part in parts}
        return [part.rank for part in parts]
