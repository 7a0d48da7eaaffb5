"""Channels that say how far along a path of departures a run has come.

A path is a sequence of flags f_1, …, f_k. Its departures are made at the first position
with f_1, at the first one after it with f_2, and so on. There are two ways to follow it.
*One by one*: a flag counts where the departure before it was made; a layer for each flag,
and a sum sees several equal flags in one. *By doubling*: the first departures from the
left, the others by pointers from the right (`krohn.compiler.constructions.pointers`),
about half of them each; a layer for each power of two.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

from krohn.compiler.constructions import pointers
from krohn.compiler.constructions.departures.channels import Function, PartChannels
from krohn.program import Earliest, Map, Operation, PrefixSum, Row, table

Path: TypeAlias = tuple[int, ...]
"""Flags by their number."""

ANY = "any-letter"
LONGEST_SUM = 1400
"""T of the longest prefix sum that float32 tells apart, about: 2·T²·2^-24 < 1/4."""


@dataclass(frozen=True)
class ChannelRecipe:
    """A way to make a channel.

    Attributes:
        depth: After how many attention layers it stands.
        make: Makes it and says its name.
    """

    depth: int
    make: Callable[[], str]


class Paths:
    """Channels for paths; each is made when it is first asked for.

    Attributes:
        beside: Where the flags stand and the channels go.
        flags: The flags by their number.
        sums: Whether prefix sums may be used; pointers replace them, in more layers.
    """

    def __init__(self, beside: PartChannels) -> None:
        self.beside = beside
        self.flags: list[Function] = []
        self.sums = beside.length <= LONGEST_SUM
        self._ways: dict[tuple[str, Path], ChannelRecipe] = {}

    def flag(self, flag: Function) -> int:
        """The number of a flag."""
        names = [f.name for f in self.flags]
        if flag.name not in names:
            self.flags.append(flag)
        return names.index(flag.name) if flag.name in names else len(names)

    def has_left(self, path: Path) -> ChannelRecipe:
        """Whether all departures were made; 0 at BOS, and 1 for good once it is 1."""
        return self._first_of("left", path, self._ways_to_tell)

    def completes(self, path: Path) -> ChannelRecipe:
        """A flag that is 1 first where the last departure is made; 0 at BOS."""
        return self._first_of("completes", path, self._completes)

    def value_at_departure(self, path: Path, source: Function) -> ChannelRecipe:
        """The value of a function at the last departure; 0 before it."""
        ends, name = self.completes(path), f"{source.name}.at.{_spell(path)}"
        return ChannelRecipe(
            1 + max(ends.depth, source.depth),
            lambda: self._add(name, Earliest(source.name, ends.make())),
        )

    def _first_of(
        self, kind: str, path: Path, ways: Callable[[Path], Iterable[ChannelRecipe]]
    ) -> ChannelRecipe:
        if (kind, path) not in self._ways:
            self._ways[kind, path] = min(ways(path), key=lambda way: way.depth)
        return self._ways[kind, path]

    def _add(self, name: str, operation: Operation) -> str:
        self.beside.operations.setdefault(name, operation)
        return name

    def _add_all(self, name: str, operations: Mapping[str, Operation]) -> str:
        for made, operation in operations.items():
            self._add(made, operation)
        return name

    def _ways_to_tell(self, path: Path) -> Iterable[ChannelRecipe]:
        rest, times = _split_repeats(path)
        ends = self._one_by_one(path)
        if times == 1 and ends is not None:
            yield self._ever(path, ends)
        if self.sums:
            yield self._count(rest, path[-1], times)
        yield from self._halves(path)

    def _completes(self, path: Path) -> Iterable[ChannelRecipe]:
        ends = self._one_by_one(path)
        if ends is not None:
            yield ends
        if len(path) > 1:
            yield self.has_left(path)

    def _one_by_one(self, path: Path) -> ChannelRecipe | None:
        """The last flag, where all other departures were made before, if that is known."""
        flag = self.flags[path[-1]]
        if len(path) == 1:
            return ChannelRecipe(flag.depth, lambda: flag.name)
        before = self._before(path[:-1], path[-1])
        if before is None:
            return None
        name = f"departs.{_spell(path)}"
        both: dict[Row, int] = {(a, b): a & b for a, b in product(range(2), repeat=2)}

        def make() -> str:
            return self._add(name, Map(table(both), (flag.name, before.make())))

        return ChannelRecipe(max(before.depth, flag.depth), make)

    def _ever(self, path: Path, ends: ChannelRecipe) -> ChannelRecipe:
        name = f"left.{_spell(path)}"

        def make() -> str:
            letters = self.beside.letters
            rows: dict[Row, int] = {(a,): int(a < letters) for a in range(letters + 1)}
            self._add(ANY, Map(table(rows), ("token",)))
            return self._add(name, Earliest(ANY, ends.make()))

        return ChannelRecipe(ends.depth + 1, make)

    def _before(self, path: Path, after: int) -> ChannelRecipe | None:
        """Whether all departures were made before a position with the flag ``after``."""
        rest, times = _split_repeats(path)
        ways = [self._count(rest, path[-1], times, before=True)] if self.sums else []
        if not (self.flags[path[-1]].shown & self.flags[after].shown).any():
            # The last departure is not made there, so it was made before if it was made.
            ways.insert(0, self.has_left(path))
        return min(ways, key=lambda way: way.depth, default=None)

    def _count(
        self, rest: Path, flag: int, times: int, before: bool = False
    ) -> ChannelRecipe:
        """Whether a flag was there so often since other departures, by a sum."""
        ends = self._one_by_one((*rest, flag))
        assert ends is not None  # a sum says what was so before
        name = f"{'before' if before else 'left'}.{_spell((*rest, *[flag] * times))}"
        most = self.beside.length

        def make() -> str:
            here = ends.make()
            total = self._add(f"{here}.sum", PrefixSum(here))
            if not before:
                enough: dict[Row, int] = {
                    (s,): int(s >= times) for s in range(most + 1)
                }
                return self._add(name, Map(table(enough), (total,)))
            few: dict[Row, int] = {(s,): min(s, times + 1) for s in range(most + 1)}
            upto = self._add(f"{name}.few", Map(table(few), (total,)))
            rows: dict[Row, int] = {
                (s, x): int(s - x >= times) for s in range(times + 2) for x in range(2)
            }
            return self._add(name, Map(table(rows), (upto, here)))

        return ChannelRecipe(ends.depth + 1, make)

    def _halves(self, path: Path) -> Iterable[ChannelRecipe]:
        """From the left up to some departure, from the right for the others."""
        return (self._compare_pointers(path[:i], path[i:]) for i in range(1, len(path)))

    def _compare_pointers(self, done: Path, left: Path) -> ChannelRecipe:
        ends, last = self.completes(done), self._pointer(left)
        start = f"first.{_spell(done)}"
        name, length = f"left.{_spell(done)}-{_spell(left)}", self.beside.length

        def make() -> str:
            self._add_all("", pointers.places(length))
            self._add_all(start, pointers.first(start, ends.make()))
            made = pointers.has_happened(name, start, last.make(), length)
            return self._add_all(name, made)

        return ChannelRecipe(max(ends.depth + 1, last.depth), make)

    def _pointer(self, path: Path) -> ChannelRecipe:
        return self._first_of("pointer", path, self._pointers)

    def _pointers(self, path: Path) -> Iterable[ChannelRecipe]:
        name, length = f"last.{_spell(path)}", self.beside.length
        if len(path) > 1:
            cuts = range(1, len(path))
            yield from (self._compose(name, path[:i], path[i:]) for i in cuts)
            return
        flag = self.flags[path[0]]

        def make() -> str:
            self._add_all("", pointers.places(length))
            where = self.beside.flag_with_bos(flag)
            return self._add_all(name, pointers.last(name, where, length))

        yield ChannelRecipe(flag.depth + 1, make)

    def _compose(self, name: str, first: Path, then: Path) -> ChannelRecipe:
        outer, inner = self._pointer(first), self._pointer(then)

        def make() -> str:
            read = outer.make(), inner.make()
            made = pointers.compose_pointers(name, *read, self.beside.length)
            return self._add_all(name, made)

        return ChannelRecipe(1 + max(outer.depth, inner.depth), make)


def _split_repeats(path: Path) -> tuple[Path, int]:
    """The path without the equal flags at its end, and how many they are."""
    times = next((i for i, f in enumerate(reversed(path)) if f != path[-1]), len(path))
    return path[: len(path) - times], times


def _spell(path: Path) -> str:
    return ".".join(map(str, path))
