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
Place: TypeAlias = tuple[int, ...]
"""Where a way stands among equals; its parts follow it."""


@dataclass
class Open(Generic[Found]):
    """A way that has not been followed to its end.

    Attributes:
        name: The construction.
        place: Where it stands among equals.
        steps: The rest of it.
        bound: What is known of all that it can lead to.
    """

    name: str
    place: Place
    steps: "Way[Found]"
    bound: Bound = field(default_factory=Bound)


@dataclass
class Search(Generic[Found]):
    """What is known of all ways so far.

    Attributes:
        ways: Those still open, by their place.
        found: The plans that were priced, by their place.
        reasons: Why a construction, or a form of it, leads to nothing.
    """

    ways: dict[Place, Open[Found]]
    found: dict[Place, Found] = field(default_factory=dict)
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
            (key(way.bound), place)
            for place, way in self.ways.items()
            if way.name in names
        ]
        ahead += [
            (key(plan.cost), place)
            for place, plan in self.found.items()
            if plan.construction in names
        ]
        heapify(ahead)
        while ahead:
            _, place = heappop(ahead)
            if place in self.found:
                yield self.found[place]
                continue
            for after in self.advance(place):
                known = self.ways.get(after)
                bound = known.bound if known else self.found[after].cost
                heappush(ahead, (key(bound), after))

    def advance(self, place: Place) -> list[Place]:
        """Follow a way to its next bound, its end, or where it parts.

        Returns:
            The places of what it led to: the same, or those of its parts.
        """
        way = self.ways[place]
        try:
            way.bound = way.bound.and_also(next(way.steps))
        except StopIteration as end:
            del self.ways[place]
            return self._ended(way, end.value)
        except CompileError as error:
            del self.ways[place]
            self.reasons.setdefault(way.name, []).append(str(error))
            return []
        return [place]

    def _ended(self, way: Open[Found], end: Any) -> list[Place]:
        if not isinstance(end, list):
            self.found[way.place] = end
            return [way.place]
        parts = [
            Open(way.name, (*way.place, i), steps, way.bound)
            for i, steps in enumerate(end)
        ]
        self.ways |= {part.place: part for part in parts}
        return [part.place for part in parts]
