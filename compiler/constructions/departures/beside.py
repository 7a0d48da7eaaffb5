"""Channels that say the states of the parts beside a machine, after a letter and before."""

from dataclasses import dataclass, field
from itertools import product

import numpy as np

from krohn.algebra.departures.nodes import NEVER
from krohn.algebra.departures.parts import Part
from krohn.algebra.semiautomaton import IntArray
from krohn.compiler.constructions.departures.state_channels import (
    StateChannels,
    state_channels,
)
from krohn.program import Map, Operation, Row, Token, table


@dataclass(frozen=True)
class Function:
    """A channel that is a function of the letter and of the parts before it.

    Attributes:
        name: The channel; 0 at BOS.
        shown: ``(values, letters)``: its values, also where they do not matter.
        depth: After how many attention layers it is known.
    """

    name: str
    shown: IntArray = field(repr=False)
    depth: int


class PartChannels:
    """The parts of a machine as channels, made when they are first asked for.

    Attributes:
        operations: The channels so far.
    """

    def __init__(
        self, parts: tuple[Part, ...], values: IntArray, letters: int, length: int
    ) -> None:
        """Begin with the token alone.

        Args:
            parts: What runs beside the machine.
            values: ``(values, parts)``: the tuples of states that occur.
            letters: How many letters there are.
            length: T.
        """
        self.parts, self.values = parts, values
        self.letters, self.length = letters, length
        self.operations: dict[str, Operation] = {"token": Token()}
        self._known: dict[tuple[int, bool], StateChannels] = {}
        self._functions: dict[bytes, Function] = {}

    def now(self, i: int) -> StateChannels:
        """The state of part ``i`` after the letter."""
        return self._say(i, before=False)

    def before(self, i: int) -> StateChannels:
        """The state of part ``i`` before the letter."""
        return self._say(i, before=True)

    def _say(self, i: int, before: bool) -> StateChannels:
        if (i, before) not in self._known:
            part, prefix = self.parts[i], f"part{i}."
            found, made = state_channels(
                part, self.letters, self.length, prefix, before
            )
            self.operations |= made
            self._known[i, before] = found
        return self._known[i, before]

    def function(self, name: str, shown: IntArray) -> Function:
        """A function of the letter and of the parts before it; 0 at BOS.

        Args:
            name: The name of the channel, if none has these values yet.
            shown: ``(values, letters)``: its values; `NEVER` where they do not matter.
        """
        read = _deciding_parts(self.values, shown)
        full = _fill(self.values[:, read], shown)
        key = full.tobytes()
        if key not in self._functions:
            self.operations |= self._table(name, full, at_bos=0)
            depth = max((self.before(i).depth for i in read), default=0)
            self._functions[key] = Function(name, full, depth)
        return self._functions[key]

    def flag_with_bos(self, flag: Function) -> str:
        """The flag with 1 at BOS, as `Latest` needs it."""
        name = f"{flag.name}.or-bos"
        if name not in self.operations:
            self.operations |= self._table(name, flag.shown, at_bos=1)
        return name

    def _table(self, name: str, full: IntArray, at_bos: int) -> dict[str, Operation]:
        read = _deciding_parts(self.values, full)
        told = [self.before(i) for i in read]
        columns, kind = np.unique(full, axis=1, return_inverse=True)
        kinds: IntArray = kind.reshape(-1)
        if not read:
            rows: dict[Row, int] = {
                (a,): int(columns[0, k]) for a, k in enumerate(kinds.tolist())
            }
            return {name: Map(table({**rows, (self.letters,): at_bos}), ("token",))}
        letter, made = self._letter(kinds)
        first: dict[Row, int] = {}
        for index, value in enumerate(self.values[:, read].tolist()):
            first.setdefault(tuple(value), index)
        rows = {}
        for shown in product(*(k.means.items() for k in told)):
            index = first.get(tuple(state for _, state in shown), NEVER)
            tail = tuple(v for row, _ in shown for v in row)
            for k in range(columns.shape[1]):
                rows[k, *tail] = 0 if index == NEVER else int(columns[index, k])
            rows[columns.shape[1], *tail] = at_bos
        inputs = (letter, *(c for k in told for c in k.channels))
        return made | {name: Map(table(rows), inputs)}

    def _letter(self, kinds: IntArray) -> tuple[str, dict[str, Operation]]:
        """A channel with the kind of a letter; BOS is of a kind of its own."""
        name = "letter." + ".".join(map(str, kinds.tolist()))
        rows: dict[Row, int] = {(a,): k for a, k in enumerate(kinds.tolist())}
        rows[(self.letters,)] = int(kinds.max()) + 1
        return name, {name: Map(table(rows), ("token",))}

    def state(self, name: str, states: IntArray) -> tuple[str | int, int]:
        """A function of the parts after the letter, as a channel or a number; its depth.

        Args:
            name: The name of the channel.
            states: ``(values,)``: its values; `NEVER` where they do not matter.
        """
        read = _deciding_parts(self.values, states[:, None])
        full = _fill(self.values[:, read], states[:, None])[:, 0]
        if not read:
            return int(states.max()), 0
        told = [self.now(i) for i in read]
        said = dict(
            zip(map(tuple, self.values[:, read].tolist()), full.tolist(), strict=True)
        )
        rows: dict[Row, int] = {}
        for shown in product(*(k.means.items() for k in told)):
            row = tuple(v for values, _ in shown for v in values)
            rows[row] = max(said.get(tuple(s for _, s in shown), 0), 0)
        inputs = tuple(c for k in told for c in k.channels)
        self.operations[name] = Map(table(rows), inputs)
        return name, max(k.depth for k in told)


def _deciding_parts(values: IntArray, shown: IntArray) -> list[int]:
    """Parts that together decide, none of which can be left out."""
    read = list(range(values.shape[1]))
    for i in reversed(range(values.shape[1])):
        fewer = [j for j in read if j != i]
        if _decides(values[:, fewer], shown):
            read = fewer
    return read


def _decides(values: IntArray, shown: IntArray) -> bool:
    full = _fill(values, shown)
    return bool(((shown == NEVER) | (full == shown)).all())


def _fill(values: IntArray, shown: IntArray) -> IntArray:
    """The value of each row, also where any would do: as at equal parts, else 0."""
    _, group = np.unique(values, axis=0, return_inverse=True)
    group = group.reshape(-1)
    most = np.full((int(group.max()) + 1, shown.shape[1]), NEVER)
    np.maximum.at(most, group, shown)
    return np.asarray(np.maximum(most, 0)[group])
