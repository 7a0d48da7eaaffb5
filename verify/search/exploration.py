"""Exploring a part of a Program from BOS on, within an effort."""

from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from krohn.algebra.automaton import IntArray
from krohn.program.statement import Sets
from krohn.verify.checker.invariant import Part, memory
from krohn.verify.errors import Rejected, WrongWord

# The work that may be spent on a file: small files of much work are refused midway.


MOST_STEPS = 20_000_000
"""A step looks at one value, in a microsecond or less, or at a hundred in arrays."""
STEPS_A_NUMBER = 300
"""So many more for each number that a file states of its Program. By trial, not derived:
the largest tables seen, those of PermReset4 by permutation-reset at T = 33, take 224 for
each of their 140,502 numbers beyond the first twenty million."""


@dataclass
class Effort:
    """Steps that are left; the same file takes the same steps on every machine.

    Attributes:
        left: How many.
    """

    left: int = field(default_factory=lambda: MOST_STEPS)

    def allow(self, numbers: int) -> None:
        """More steps for a file that states so many numbers."""
        self.left += STEPS_A_NUMBER * numbers

    def spend_on_arrays(self, entries: int) -> None:
        """Spend the work on the entries of arrays."""
        self.spend(entries // 100)

    def spend(self, steps: int) -> None:
        """Take steps off before they are taken.

        Raises:
            Rejected: If none are left.
        """
        self.left -= steps
        if self.left < 0:
            raise Rejected(
                f"the proof takes more than {MOST_STEPS:,} steps, and {STEPS_A_NUMBER} "
                "for each number that the file states of its Program"
            )


# Exploring a part of a Program from BOS on, by the checker's own step function.


Mode = Literal["state", "joined", "all"]
"""Which memories beside one state of the machine are joined: all of them, those that
differ in what latest matches remember, or none."""

MOST_STATES = 500_000
MOST_BITS = 2**31  # of all cells of all abstract states
CELLS = 30_000_000
ADVANCE = 4
"""Steps for every letter that is followed, beside its channels."""

Packed = dict[str, npt.NDArray[np.uint8]]
Allowed = set[tuple[int, ...]] | None
"""Allowed values of outputs, each with the class of the state; None if unknown."""


class GivenUp(Exception):
    """A way to explore does not lead to evidence."""


def explore(
    first: Part, mode: Mode, effort: Effort, allowed: Allowed
) -> tuple[dict[str, Any], Part]:
    """Evidence of a part, and the part with the outputs that it shows.

    Args:
        first: The part, of which nothing is known but the abstract state of BOS.
        mode: Which memories are joined.
        effort: The work that may still be spent.
        allowed: The outputs that the part may show.

    Raises:
        GivenUp: If there are too many memories, if a state that memories were joined
            beside shows several things, or something that it may not.
        WrongWord: With a shortest word after which the outputs are wrong, if the part has
            all outputs and no memories were joined.
        Refused: If some memory cannot be followed.
        Rejected: If nothing is left to be spent.
    """
    explorer = Explorer(first, mode, effort, allowed)
    explorer.run()
    return explorer.evidence(), replace(first, shown=explorer.shown)


class Explorer:
    """Abstract states as they are found; each round follows new ones and ones that grew.

    Of states that grew only the new values are followed, until none comes any more; then
    they are followed whole, since values of different memories may act together.

    Attributes:
        size: How many abstract states there are; arrays have room for more.
        states: The state of the machine in each of them.
        depths: The least number of letters that lead to it.
        parents: From which abstract state, and by which letter, it was first reached.
        follow: ``(states, letters)``: the next one.
        cells: Of each channel ``(states, bytes)``: sets of all its cells, packed.
        fresh: Of each channel whose memories are joined, packed: values not yet followed.
        dirty: Whether it is still to be followed.
        stale: Whether it is still to be followed whole.
    """

    def __init__(
        self, first: Part, mode: Mode, effort: Effort, allowed: Allowed = None
    ) -> None:
        self.part, self.mode, self.effort, self.allowed = first, mode, effort, allowed
        kinds = {c.name: kind for c, kind, _ in first.steps}
        self.shapes = {
            n: (of.shape[1], s.shape[1]) for n, (s, of) in first.cells.items()
        }
        some = [n for n, (cells, _) in self.shapes.items() if cells]
        apart = {"state": [], "all": some}
        unmatched = [n for n in some if kinds[n] != "latest-match"]
        self.apart = apart.get(mode, unmatched)
        self.joined = [n for n in some if n not in self.apart]
        self.size, self.shown = 0, set[tuple[int, ...]]()
        self.index: dict[bytes, int] = {}
        none = np.zeros(0, np.int64)
        self.states, self.depths = none, none
        self.dirty, self.stale = none.astype(np.bool_), none.astype(np.bool_)
        self.parents = np.zeros((0, 2), np.int64)
        self.follow = np.zeros((0, first.program.letters), np.int64)
        widths = {
            n: -(-cells * values // 8) for n, (cells, values) in self.shapes.items()
        }
        self.cells = {n: np.zeros((0, widths[n]), np.uint8) for n in some}
        self.fresh = {n: self.cells[n] for n in self.joined}
        self.width = sum(len(c.domain) for c, _, _ in first.steps)
        self.width += sum(cells * values for cells, values in self.shapes.values())

    def run(self) -> None:
        """Follow letters until nothing grows any more."""
        start = {n: sets[of] for n, (sets, of) in self.part.cells.items()}
        q, none = self.part.states[:1], np.zeros(1, np.int64)
        self._find(q, none, start, np.zeros((1, 2), np.int64))
        while len(pending := self._next()):
            frontier = pending[self.depths[pending] < self.part.length]
            self._each(frontier, self._step if self.cells else self._walk)
        if not self.cells:
            every = np.flatnonzero(self.depths[: self.size] < self.part.length)
            self._each(every, self._look)

    def _next(self) -> IntArray:
        """The abstract states to be followed: by their new values, or whole."""
        pending = np.flatnonzero(self.dirty[: self.size])
        if not len(pending):
            pending = np.flatnonzero(self.stale[: self.size])
            self.stale[pending] = False
            return pending
        for name, fresh in self.fresh.items():
            part = (fresh[pending] != self.cells[name][pending]).any(axis=1)
            self.stale[pending[part & fresh[pending].any(axis=1)]] = True
        self.dirty[pending] = False
        return pending

    def values(self) -> IntArray:
        """The outputs of each state, if no memories were joined: ``(states, outputs)``.

        It is -1 beside the first one if no word leads back to it.
        """
        table = np.full((self.size, len(self.part.outputs)), -1)

        def note(s: IntArray, a: IntArray) -> None:
            old, t = self._old_sets(s), self.depths[s] + 1
            row, known, _ = self.part.move(old, self.states[s], a, t)
            for i, name in enumerate(self.part.outputs):
                if (known[name].sum(axis=1) != 1).any():
                    raise GivenUp("a sum has no value here")
                domain = self.part.program.channels[name].domain
                table[self.follow[s, a][row], i] = domain[known[name].argmax(axis=1)]

        self._each(np.flatnonzero(self.depths[: self.size] < self.part.length), note)
        return table

    def _each(self, frontier: IntArray, follow: Any) -> None:
        """Follow letters out of some abstract states, not too many at once."""
        letters = np.arange(self.part.program.letters)
        s, a = (x.ravel() for x in np.meshgrid(frontier, letters, indexing="ij"))
        possible = self.part.machine.transitions[a, self.states[s]] >= 0
        s, a = s[possible], a[possible]
        size = max(1, CELLS // self.width)
        for low in range(0, len(s), size):
            follow(s[low : low + size], a[low : low + size])

    def _step(self, s: IntArray, a: IntArray) -> None:
        row, after = self._look(s, a)
        if len(row):
            self._walk(s[row], a[row], after)

    def _walk(self, s: IntArray, a: IntArray, after: Sets | None = None) -> None:
        q = self.part.machine.transitions[a, self.states[s]]
        made = np.stack([s, a], axis=1)
        self.follow[s, a] = self._find(q, self.depths[s] + 1, after or {}, made)

    def _look(self, s: IntArray, a: IntArray) -> tuple[IntArray, Sets]:
        """Note the outputs after letters; the result is the rows, with their memories."""
        self.effort.spend(len(s) * (ADVANCE + len(self.part.steps)))
        self.effort.spend_on_arrays(len(s) * self.width)
        q = self.states[s]
        row, known, after = self.part.move(self._old_sets(s), q, a, self.depths[s] + 1)
        reached = self.part.machine.transitions[a, q][row]
        new = self.part.show(known, reached) - self.shown
        self.shown |= new
        wrong = {one for one in new if not self._allows(one)}
        if wrong:
            self._refuse(wrong, known, reached, s[row], a[row])
        several = len({state for *_, state in self.shown}) < len(self.shown)
        if several and self.mode != "all" and not self._is_whole():
            raise GivenUp("a state shows several things")
        return row, after

    def _allows(self, one: tuple[int, ...]) -> bool:
        *values, state = one
        right = int(self.part.machine.shows[state])
        return self.allowed is None or (*values, right) in self.allowed

    def _is_whole(self) -> bool:
        return set(self.part.outputs) == set(self.part.program.outputs)

    def _refuse(
        self,
        wrong: set[tuple[int, ...]],
        known: Sets,
        reached: IntArray,
        s: IntArray,
        a: IntArray,
    ) -> None:
        """Give up; if no memories were joined, with a word that leads to a wrong output."""
        lemmas = [known.beside for known in self.part.assumed.values()]
        sure = all(beside.sum(axis=1).max() <= 1 for beside in lemmas)
        if self.mode != "all" or not sure or not self._is_whole():
            raise GivenUp("the outputs are not those of the machine")
        for i, state in enumerate(reached.tolist()):
            one = {n: known[n][i : i + 1] for n in self.part.outputs}
            if self.part.show(one, np.array([state])) & wrong:
                raise WrongWord((*self._path(int(s[i])), int(a[i])))

    def _path(self, state: int) -> tuple[int, ...]:
        word: list[int] = []
        while state:
            state, letter = self.parents[state].tolist()
            word.append(letter)
        return tuple(reversed(word))

    def _old_sets(self, s: IntArray) -> Sets:
        sets: Sets = {}
        for name, shape in self.shapes.items():
            if name in self.cells:
                packed = self._take_cells(name, s)
                bits = np.unpackbits(packed, axis=1, count=shape[0] * shape[1])
                sets[name] = bits.view(np.bool_).reshape(len(s), *shape)
            else:
                sets[name] = np.zeros((len(s), *shape), np.bool_)
        return sets

    def _take_cells(self, name: str, s: IntArray) -> npt.NDArray[np.uint8]:
        """The values of a channel's cells that are followed: the new ones, if any are."""
        cells = self.cells[name][s]
        if name not in self.fresh:
            return cells
        fresh = self.fresh[name][s]
        self.fresh[name][s] = 0
        return np.where(fresh.any(axis=1, keepdims=True), fresh, cells)

    def _find(self, q: IntArray, t: IntArray, after: Sets, made: IntArray) -> IntArray:
        """The abstract states of memories; they are made, or grow, as need be."""
        packed: Packed = {
            n: np.packbits(after[n].reshape(len(q), -1), axis=1) for n in self.cells
        }
        apart = [packed[n] for n in self.apart]
        positions = self.part.first_alike[t.clip(max=self.part.program.length)]
        numbers = np.stack([q, positions], axis=1)
        keys = np.hstack([numbers.view(np.uint8), *apart])
        state_numbers = np.array(
            [self.index.setdefault(k, len(self.index)) for k in _bytes(keys)], np.int64
        )
        order = np.argsort(state_numbers, kind="stable")
        first = np.flatnonzero(np.diff(state_numbers[order], prepend=-1))
        at = state_numbers[order[first]]
        new = order[first][at >= self.size]
        if len(new):
            self._add(
                q[new], t[new], {n: packed[n][new] for n in self.cells}, made[new]
            )
        least = np.minimum.reduceat(t[order], first)
        self.dirty[at] |= least < self.depths[at]
        self.depths[at] = np.minimum(self.depths[at], least)
        for name in self.joined:
            sets = np.bitwise_or.reduceat(packed[name][order], first, axis=0)
            new_bits = sets & ~self.cells[name][at]
            self.dirty[at] |= new_bits.any(axis=1)
            self.cells[name][at] |= new_bits
            self.fresh[name][at] |= new_bits
        return state_numbers

    def _add(self, q: IntArray, t: IntArray, cells: Packed, made: IntArray) -> None:
        size = self.size + len(q)
        bits = 8 * sum(x.shape[1] for x in self.cells.values())
        if size > MOST_STATES or size * bits > MOST_BITS:
            raise GivenUp("there are too many memories")
        room = range(self.size, size)
        self.states = _with(self.states, room, q)
        self.depths = _with(self.depths, room, t)
        self.dirty = _with(self.dirty, room, np.ones(len(q), np.bool_))
        self.stale = _with(self.stale, room, np.zeros(len(q), np.bool_))
        self.parents = _with(self.parents, room, made)
        none = np.zeros((len(q), self.part.program.letters), np.int64)
        self.follow = _with(self.follow, room, none)
        for name in self.cells:
            self.cells[name] = _with(self.cells[name], room, cells[name])
        for name in self.joined:
            self.fresh[name] = _with(self.fresh[name], room, cells[name])
        self.size = size

    def evidence(self) -> dict[str, Any]:
        """The evidence found, as the checker reads it."""
        cells = {n: self._sets(n) for n in self.shapes}
        arrays = {"states": self.states, "depths": self.depths, "follow": self.follow}
        return {k: v[: self.size].tolist() for k, v in arrays.items()} | {
            "cells": cells
        }

    def _sets(self, name: str) -> list[Any]:
        """The distinct sets, and which of them each cell may be."""
        if name not in self.cells:
            return [[], [[] for _ in range(self.size)]]
        cells, values = self.shapes[name]
        bits = np.unpackbits(
            self.cells[name][: self.size], axis=1, count=cells * values
        ).reshape(-1, values)
        index: dict[bytes, int] = {}
        packed = np.packbits(bits, axis=1)
        of = [index.setdefault(k, len(index)) for k in _bytes(packed)]
        first = np.unique(of, return_index=True)[1]
        step = next(step for step in self.part.steps if step[0].name == name)
        known = self.part.assumed
        domain, _, _ = memory(self.part.program, self.part.machine, step, known)
        sets = [domain[bits[i] > 0].tolist() for i in first]
        return [sets, np.reshape(of, (self.size, cells)).tolist()]


def _bytes(rows: npt.NDArray[np.uint8]) -> list[bytes]:
    rows = np.ascontiguousarray(rows)
    keys: list[bytes] = rows.view(f"V{rows.shape[1]}").ravel().tolist()
    return keys


def _with(array: Any, places: range, values: Any) -> Any:
    """An array with values in some places, and twice as large if need be."""
    if places.stop > len(array):
        more = np.zeros(
            (max(places.stop, 2 * len(array)), *array.shape[1:]), array.dtype
        )
        more[: len(array)] = array
        array = more
    array[places.start : places.stop] = values
    return array
