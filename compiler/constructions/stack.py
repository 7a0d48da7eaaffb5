"""The channels of all Programs for nested brackets: depths, partners, first error."""

from collections.abc import Callable
from dataclasses import dataclass

from krohn.algebra.brackets import Brackets, Stack
from krohn.program import Latest, LatestMatch, Map, Operation, PrefixSum, Row, table


@dataclass(frozen=True)
class Nesting:
    """The channels that say how deep a word is nested and whether it is legal.

    Attributes:
        found: The stack machine.
        first: What it holds before the first letter; None for the error.
        length: T.
        direct: Whether tables read pairs of counts as they are, not modulo D + 2.
    """

    found: Brackets
    first: Stack | None
    length: int
    direct: bool

    @property
    def start(self) -> Stack:
        """The stack that BOS stands for; any will do if it is the error."""
        return self.first or ()

    @property
    def levels(self) -> range:
        """The depths at which brackets are opened."""
        return range(1, self.found.depth + 1)

    @property
    def outside(self) -> int:
        """A number that stands for every depth that no stack has."""
        return self.found.depth + 1

    def operations(self) -> dict[str, Operation]:
        """The letters, the depth, the partner of a closing bracket, and the verdict."""
        return {
            **self._letters(),
            **self._depths(),
            "partner": LatestMatch("kind", "level", "above"),
            **self._verdict(),
        }

    def of_depth(self, value: Callable[[int], int]) -> Map:
        """A table of the depth; `outside` where there is none."""
        rows = {row: value(z) for row, z in self._depth_rows().items()}
        return Map(table(rows), self._counts)

    def bracket(self, level: int, kind: int) -> int | None:
        """The kind of the bracket that is open at a level, from the kind fetched there."""
        if kind < self.found.kinds:
            return kind
        return self.start[level - 1] if level <= len(self.start) else None

    @property
    def _counts(self) -> tuple[str, str]:
        return ("ups", "downs") if self.direct else ("upwards", "downwards")

    def _letters(self) -> dict[str, Operation]:
        """The bracket that a letter opens or closes; BOS opened an unknown one."""
        opens, closes = self.found.opens, self.found.closes
        kinds = self.found.kinds
        return {
            "opening": letter([int(kind is not None) for kind in opens], 0),
            "closing": letter([int(kind is not None) for kind in closes], 0),
            "kind": letter([kind or 0 for kind in opens], kinds),
            "closed": letter([0 if k is None else k + 1 for k in closes], kinds + 1),
        }

    def _depths(self) -> dict[str, Operation]:
        """The depth, the level that a bracket opens, and the one that it closes."""
        modulus = self.found.depth + 2
        residues: dict[Row, int] = {(s,): s % modulus for s in range(self.length + 1)}
        residue = table(residues)
        levels: dict[Row, int] = {
            (*row, opening): z * opening if z != self.outside else 0
            for row, z in self._depth_rows().items()
            for opening in (0, 1)
        }
        return {
            "ups": PrefixSum("opening"),
            "downs": PrefixSum("closing"),
            "upwards": Map(residue, ("ups",)),
            "downwards": Map(residue, ("downs",)),
            "depth": self.of_depth(lambda z: z),
            "outside": self.of_depth(lambda z: int(z == self.outside)),
            "level": Map(table(levels), (*self._counts, "opening")),
            "above": self.of_depth(lambda z: z + 1 if z < self.found.depth else 0),
        }

    def _depth_rows(self) -> dict[Row, int]:
        """The depth for each pair of counts.

        Counts modulo D + 2 tell −1 and D + 1, both illegal, from all legal depths.
        """
        modulus = self.found.depth + 2
        each = range(self.length + 1 if self.direct else modulus)
        depths = {(u, v): len(self.start) + u - v for u in each for v in each}
        if not self.direct:
            return {row: z % modulus for row, z in depths.items()}
        legal = range(self.outside)
        return {row: z if z in legal else self.outside for row, z in depths.items()}

    def _verdict(self) -> dict[str, Operation]:
        """Whether a letter up to here was illegal."""
        kinds = self.found.kinds
        # Where nothing was open at first, an unknown partner is none at any depth.
        reads, depths = "outside", [0, self.outside]
        if self.start:
            reads, depths = "depth", [*range(self.outside + 1)]
        rows: dict[Row, int] = {
            (partner, i, closed): self._illegal(partner, z, closed)
            for partner in range(kinds + 1)
            for i, z in enumerate(depths)
            for closed in range(kinds + 2)
        }
        flags: dict[Row, int] = {
            row: bad or int(row[2] == kinds + 1) for row, bad in rows.items()
        }
        inputs = ("partner", reads, "closed")
        return {
            "illegal": Map(table(rows), inputs),
            "flagged": Map(table(flags), inputs),
            "failed": Latest("illegal", "flagged"),
        }

    def _illegal(self, partner: int, z: int, closed: int) -> int:
        kinds = self.found.kinds
        if closed == kinds + 1:
            return int(self.first is None)
        if z == self.outside:
            return 1
        return int(closed > 0 and self.bracket(z + 1, partner) != closed - 1)


def letter(values: list[int], at_bos: int) -> Map:
    """A table of the letter."""
    rows: dict[Row, int] = {(a,): v for a, v in enumerate([*values, at_bos])}
    return Map(table(rows), ("token",))
