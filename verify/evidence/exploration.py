"""Exploring a part of a Program from BOS on, by the checker's own step function."""

from collections import defaultdict
from typing import Any, Literal

import numpy as np

from algebra.semiautomaton import IntArray
from verify.recheck.meaning import Part, Ways, memory, part, steps
from verify.recheck.model import BoolArray, Machine
from verify.recheck.program import MAPS, Program, Sets

Mode = Literal["state", "joined", "all"]
"""Which memories beside one state of the machine are joined: all of them, those that
differ in what latest matches remember, or none."""

MODES: tuple[Mode, ...] = ("state", "joined", "all")
MOST_STATES = 200_000
CELLS = 30_000_000


class GivenUp(Exception):
    """A way to explore does not lead to evidence."""


def explore(
    program: Program,
    machine: Machine,
    followed: Ways,
    parts: list[Part],
    said: dict[str, Any],
    mode: Mode,
) -> dict[str, Any]:
    """The evidence of a part of which outputs, length, assumptions and rules are given.

    Raises:
        GivenUp: If there are too many memories, or if a state that memories were joined
            beside shows several things.
        Refused: If some memory cannot be followed.
    """
    start = {**said, **_start(program, machine, followed, parts, said)}
    explorer = _Explorer(part(program, machine, followed, parts, start), mode)
    explorer.run()
    return {**start, **explorer.evidence()}


def _start(
    program: Program,
    machine: Machine,
    followed: Ways,
    parts: list[Part],
    said: dict[str, Any],
) -> dict[str, Any]:
    """The evidence of the first abstract state alone."""
    known = followed | dict.fromkeys(said["assumed"], ("assumed", ()))
    cells = {}
    for step in steps(program, known, said["outputs"]):
        channel, kind, _ = step
        if kind not in ("token", "position", *MAPS):
            back = None
            if kind == "assumed":
                other = parts[said["assumed"][channel.name]]
                back = 0 if other.outputs == [channel.name] else channel.by
            _, start, size = memory(program, machine, step, back)
            cells[channel.name] = [[[start]], [[0] * size]]
    letters = [[0] * program.letters]
    return {"states": [machine.start], "depths": [0], "follow": letters, "cells": cells}


class _Explorer:
    """Abstract states as they are found; each round follows those that are new or grew."""

    def __init__(self, first: Part, mode: Mode) -> None:
        self.part = first
        self.strict = mode != "all"
        kinds = {c.name: kind for c, kind, _ in first.steps}
        apart = {"state": (), "all": first.cells}.get(
            mode, [n for n in first.cells if kinds[n] != "latest-match"]
        )
        self.apart = [n for n in first.cells if n in apart]
        self.joined = [n for n in first.cells if n not in apart]
        self.states = first.states.tolist()
        self.depths = [0]
        self.follow = [[0] * first.program.letters]
        self.cells = {n: [sets[of[0]]] for n, (sets, of) in first.cells.items()}
        self.shown: dict[int, set[tuple[int, ...]]] = defaultdict(set)
        self.index: dict[bytes, int] = {}
        self.new: dict[int, None] = {0: None}

    def run(self) -> None:
        """Follow letters until nothing grows any more."""
        self._find(
            np.array(self.states), np.zeros(1, np.int64), self._old(np.zeros(1, int))
        )
        while self.new:
            frontier = [s for s in self.new if self.depths[s] < self.part.length]
            self.new = {}
            pairs = np.array(np.meshgrid(frontier, range(self.part.program.letters)))
            s, a = pairs.reshape(2, -1).astype(np.int64)
            size = max(1, CELLS // self._width())
            for low in range(0, len(s), size):
                self._step(s[low : low + size], a[low : low + size])
            if len(self.states) > MOST_STATES:
                raise GivenUp("there are too many memories")

    def _width(self) -> int:
        domains = [len(c.domain) for c, _, _ in self.part.steps]
        return sum(domains) + sum(int(one[0].size) for one in self.cells.values())

    def _old(self, s: IntArray) -> Sets:
        return {n: np.stack([one[i] for i in s]) for n, one in self.cells.items()}

    def _step(self, s: IntArray, a: IntArray) -> None:
        q, t = np.array(self.states)[s], np.array(self.depths)[s] + 1
        moved = self.part.machine.transitions[a, q]
        row, known, after = self.part.move(self._old(s), q, a, t)
        s, a, t, reached = s[row], a[row], t[row], moved[row]
        for *values, state in self.part.show(known, reached):
            self.shown[state].add(tuple(values))
            if self.strict and len(self.shown[state]) > 1:
                raise GivenUp("a state shows several things")
        for i, target in enumerate(self._find(reached, t, after)):
            self.follow[s[i]][a[i]] = target

    def _find(self, q: IntArray, t: IntArray, after: Sets) -> list[int]:
        """The abstract states of memories; they are made, or grow, as need be."""
        keys = [q.view(np.uint8).reshape(len(q), -1)]
        keys += [self.part.told[t].view(np.uint8).reshape(len(q), -1)]
        keys += [np.packbits(after[n].reshape(len(q), -1), axis=1) for n in self.apart]
        found = []
        for i, row in enumerate(np.hstack(keys)):
            target = self.index.setdefault(row.tobytes(), len(self.index))
            if target == len(self.states):
                self._add(int(q[i]), int(t[i]), {n: after[n][i] for n in self.cells})
            elif target or t[i]:
                self._grow(target, int(t[i]), {n: after[n][i] for n in self.joined})
            found.append(target)
        return found

    def _add(self, q: int, t: int, cells: Sets) -> None:
        self.new[len(self.states)] = None
        self.states.append(q)
        self.depths.append(t)
        self.follow.append([0] * self.part.program.letters)
        for name, value in cells.items():
            self.cells[name].append(value)

    def _grow(self, target: int, t: int, cells: Sets) -> None:
        if t < self.depths[target]:
            self.depths[target] = t
            self.new[target] = None
        for name, value in cells.items():
            if (value & ~self.cells[name][target]).any():
                self.cells[name][target] = self.cells[name][target] | value
                self.new[target] = None

    def evidence(self) -> dict[str, Any]:
        """What was found, as the checker reads it."""
        return {
            "states": self.states,
            "depths": self.depths,
            "follow": self.follow,
            "cells": {n: self._sets(n, np.stack(c)) for n, c in self.cells.items()},
        }

    def _sets(self, name: str, cells: BoolArray) -> list[Any]:
        """The distinct sets, and which of them each cell may be."""
        states, size, values = cells.shape
        flat = cells.reshape(states * size, values)
        if not size:
            return [[], [[] for _ in range(states)]]
        _, first, of = np.unique(
            np.packbits(flat, axis=1), axis=0, return_index=True, return_inverse=True
        )
        step = next(step for step in self.part.steps if step[0].name == name)
        back = self.part.assumed[name][1] if name in self.part.assumed else None
        domain, _, _ = memory(self.part.program, self.part.machine, step, back)
        sets = [domain[flat[i]].tolist() for i in first]
        return [sets, of.reshape(states, size).tolist()]
