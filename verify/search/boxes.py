"""Boxes of hidden states that no letter leads out of: they grow until none does."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from krohn.program.domains import FloatArray
from krohn.program.errors import Refused, demand
from krohn.verify.checker.arithmetic import Interval
from krohn.verify.checker.model_file import Machine
from krohn.verify.checker.simulation import CELLS, follow_letters, rights
from krohn.verify.search.exact_walk import pack_array

MOST_VISITS, MOST_WORK, APART = 24, 2**38, 8
"""Hidden states that differ by less than half of the inverse may share a box."""


class Unsettled(Refused):
    """Boxes go on growing."""


@dataclass
class Boxes:
    """All boxes that were found, each with a state of the machine.

    Attributes:
        net: The network, a dataclass as the checker reads it: ``nodes`` are what it can
            remember, ``follow`` says where letters lead from these.
        machine: The machine.
        steps: How many letters make an edge.
        number: Of each box, by its state and about where it is.
        low: ``(remembered,)``: the least numbers of each box.
        high: The greatest.
        states: Of the machine.
        words: From which box, and along which edge, it was found.
        edges: Of each box, the boxes that hold its images.
        certain: Whether right logits were ahead wherever a letter led.
    """

    net: Any
    machine: Machine
    steps: int = 1
    number: dict[bytes, int] = field(default_factory=dict)
    low: list[FloatArray] = field(default_factory=list)
    high: list[FloatArray] = field(default_factory=list)
    states: list[int] = field(default_factory=list)
    words: list[tuple[int, int]] = field(default_factory=list)
    edges: list[list[int]] = field(default_factory=list)
    certain: bool = True

    def enter(self, found: Interval, state: int, origin: tuple[int, int]) -> int | None:
        """Let a box hold what was found; its number if it is new or had to grow."""
        place = np.round((found.low + found.high) * (APART / 2)).astype(np.int64)
        key = place.tobytes() + state.to_bytes(8, "little")
        at = self.number.setdefault(key, len(self.low))
        if origin[0] >= 0:
            self.edges[origin[0]].append(at)
        if at == len(self.low):
            size = found.shape[0] + len(self.machine.shows)
            if at >= 16 * size + 64:
                raise Unsettled(f"hidden states are in more than {at} places")
            self.states.append(state)
            self.words.append(origin)
            self.edges.append([])
            self.low.append(found.low)
            self.high.append(found.high)
        else:
            low, high = self.low[at], self.high[at]
            if (low <= found.low).all() and (found.high <= high).all():
                return None
            found = found.join_with(Interval(low, high))
        if origin[0] >= 0:  # with room for later positions, so that few grow twice
            found = found.wider((found.high - found.low) / 32)
        self.low[at], self.high[at] = found.low, found.high
        return at

    def close(self) -> None:
        """Follow all letters from all boxes until each leads into one.

        Raises:
            Refused: If boxes go on growing, or there are too many.
        """
        self.enter(self.around(self.net.start)[0], self.machine.start, (-1, -1))
        waiting, visits, work = [0], list[int](), 0
        while waiting:
            visits += [0] * (len(self.low) - len(visits))
            for at in waiting:
                visits[at] += 1
            self.net = self.at(self.some(waiting))
            cost, cells = self.net.cost
            work += len(waiting) * cost
            settled = max(visits) <= MOST_VISITS and work <= MOST_WORK
            if not settled:
                raise Unsettled("hidden states do not settle")
            grown, part = dict[int, None](), max(1, CELLS // cells)
            for low in range(0, len(waiting), part):
                some = np.arange(low, min(low + part, len(waiting)))
                grown |= dict.fromkeys(self._follow_boxes(some, waiting))
            waiting = list(grown)

    def _follow_boxes(self, some: Any, waiting: list[int]) -> Iterator[int]:
        """The boxes that are new, or had to grow, after all letters from some."""
        states = np.array([self.states[waiting[i]] for i in some])
        after = follow_letters(self.machine, states, self.steps)
        images, ahead = self.net.follow(some, rights(self.machine, after))
        self.certain &= bool((ahead > 0).all())
        boxes = self.around(images)
        demand(np.isfinite(boxes.size), "a hidden state has no bound")
        count = len(after[-1]) // len(some)
        for row, state in enumerate(after[-1].tolist()):
            at, letter = waiting[some[row // count]], row % count
            if letter == 0:
                self.edges[at] = []
            if state < 0:  # nothing is claimed of what is impossible
                self.edges[at].append(-1)
                continue
            here = Interval(boxes.low[row], boxes.high[row])
            if (new := self.enter(here, state, (at, letter))) is not None:
                yield new

    def some(self, numbers: list[int]) -> Interval:
        """Boxes by their numbers."""
        low, high = (np.stack([x[at] for at in numbers]) for x in (self.low, self.high))
        return Interval(low, high)

    def at(self, boxes: Interval) -> Any:
        """The network with boxes as its nodes."""
        return replace(self.net, nodes=boxes)

    def around(self, images: Any) -> Interval:
        """Boxes around what the network says that letters lead to."""
        boxes: Interval = images
        return boxes

    def word(self, at: int) -> tuple[int, ...]:
        """A word that leads to a box."""
        letters = list[int]()
        while self.words[at][0] >= 0:
            at, letter = self.words[at]
            letters.append(letter)
        return tuple(reversed(letters))

    def evidence(self) -> dict[str, Any]:
        """The boxes as the checker reads them."""
        return {
            "states": pack_array(np.array(self.states)),
            "edges": pack_array(np.array(self.edges)),
            "nodes": pack_array(np.stack([np.stack(self.low), np.stack(self.high)])),
        }
