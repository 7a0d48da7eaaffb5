"""Parallelotopes of hidden states that no letter leads out of, for trained networks.

From each node all words are followed as affine forms until what is remembered lies in a
node of the right state. Where it has become small, or after some letters, a new node is
put: along its principal axes, with more room where later letters forget more. That room is
a guess: the checker looks at what came of it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from krohn.architectures.gated.check import (
    NOISES,
    Cell,
    Nodes,
)
from krohn.architectures.gated.find_dynamics import (
    SEED,
    Counting,
    Dynamics,
)
from krohn.program.domains import BoolArray, FloatArray, IntArray
from krohn.program.errors import Refused, demand
from krohn.verify.checker.arithmetic import Interval
from krohn.verify.checker.model_file import Machine
from krohn.verify.search.exact_walk import pack_array

LARGEST = 96
"""Networks that remember more numbers are not followed by parallelotopes."""
ROOMS = (0.5, 0.25, 0.12, 0.06, 0.03, 0.015, 0.008, 0.004)
"""How much room nodes get at first, and when a read-out was not certain."""
SMALL, TOGETHER, TRIES = 0.7, 64, 12
"""The share of its room for a new node; nodes that are followed together; near nodes
that an image is compared with."""
SLACK = 1 - 2.0**-30
"""The checker may round otherwise."""
MOST_NODES, MOST_WORK = 40_000, 2**33
TRIALS, LESS = (2**-6, 2**-3, 1), 4
"""Which parts of the work are tried for the largest room that may do; and by how much
less for each smaller one: a large room can need far more sets than a small one."""


class Uncertain(Exception):
    """A read-out is not certain with so much room."""


@dataclass(frozen=True)
class Sense:
    """How much what is remembered matters later, at samples of it.

    Attributes:
        scale: ``(width,)``: powers of two by which numbers are divided.
        at: ``(samples, width)``: samples, divided.
        states: Of the machine there.
        later: ``(samples, width, width)``: the sum of squares of changes after 0, 1, …
            letters that a unit of change can make, for words that are bad for it.
        soon: The largest of these squares after few letters.
        counting: Which cells count letters.
    """

    scale: FloatArray
    at: FloatArray
    states: IntArray
    later: FloatArray
    soon: FloatArray
    counting: Counting

    @classmethod
    def of(cls, net: Dynamics, samples: int = 300, letters: int = 40) -> "Sense":
        """By products of Jacobians along the worst words of a few."""
        rng, beam = np.random.default_rng(SEED), 6
        if net.width > 24:
            samples, beam = 100, 4
        seen = net.run(net.words(60, 60, rng))
        every = np.concatenate([x for x, _ in seen])
        scale = np.ones(net.width)
        n = len(net.cell.weight)
        spread = np.maximum(every[:, n:].std(axis=0), 0.5)
        scale[n:] = 2.0 ** np.round(np.log2(spread))
        times = [*range(10), *range(12, 60, 3)]
        x = np.concatenate([seen[t][0] for t in times])
        states = np.concatenate([seen[t][1] for t in times])
        some = rng.permutation(len(x))[:samples]
        x, states = x[some], states[some]
        count, width, ways = len(x), net.width, net.cell.reads
        same = np.broadcast_to(np.eye(width), (count, width, width))
        later, soon = same.copy(), same.copy()
        front, slopes = x[:, None], same[:, None]
        for t in range(letters):
            paths = front.shape[1]
            letter = np.tile(np.arange(ways), count * paths)
            before = np.repeat(front.reshape(-1, width), ways, axis=0)
            after, own = net.jacobians(before, letter)
            own = own * scale / scale[:, None]
            own = own.reshape(count * paths, ways, width, width)
            slopes = own @ slopes.reshape(count * paths, 1, width, width)
            slopes = slopes.reshape(count, paths * ways, width, width)
            front = after.reshape(count, paths * ways, width)
            size = (slopes**2).sum(axis=(2, 3))
            if paths * ways > beam:
                kept = np.argpartition(-size, beam - 1, axis=1)[:, :beam]
                slopes = np.take_along_axis(slopes, kept[:, :, None, None], axis=1)
                front = np.take_along_axis(front, kept[:, :, None], axis=1)
                size = np.take_along_axis(size, kept, axis=1)
            worst = slopes[np.arange(count), size.argmax(axis=1)]
            square = worst.swapaxes(1, 2) @ worst
            later += square
            if t < 8:
                more = np.trace(square, axis1=1, axis2=2) > np.trace(
                    soon, axis1=1, axis2=2
                )
                soon = np.where(more[:, None, None], square, soon)
        counting = Counting.of(net)
        return cls(scale, counting.near(x) / scale, states, later, soon, counting)

    def place(self, x: FloatArray) -> FloatArray:
        """Where something is, to tell what is near."""
        return np.asarray(self.counting.near(x) / self.scale)

    def along(
        self, centre: FloatArray, axes: FloatArray, states: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """Changes that a unit along each axis makes in all, and soon; at least 1."""
        apart = ((self.place(centre)[:, None] - self.at) ** 2).sum(axis=2)
        near = (apart + 1e6 * (states[:, None] != self.states)).argmin(axis=1)
        changes = [
            np.sqrt(np.maximum(1, np.einsum("bik,bkl,bil->bi", axes, m[near], axes)))
            for m in (self.later, self.soon)
        ]
        return changes[0], changes[1]


class Parallelotope(NamedTuple):
    """A set.

    Attributes:
        directions: ``(width, width)``: W.
        centre: ``(width,)``: of x.
        radii: ``(width,)``: of W·x.
        size: How far from its place the places of others may be, about.
    """

    directions: FloatArray
    centre: FloatArray
    radii: FloatArray
    size: float


class Own:
    """Parallelotopes of one state of the machine.

    Attributes:
        count: How many there are.
        nodes: ``(count or more,)``: their numbers.
        directions: ``(…, width, width)``: W of each.
        middle: ``(…, width)``: of W·x.
        radii: ``(…, width)``: of W·x.
        place: ``(…, width)``: where they are.
        size: ``(…,)``: how far from there others may be, about.
        sense: Which tells places.
    """

    def __init__(self, sense: Sense) -> None:
        self.count, many, self.sense = 0, 16, sense
        width = len(sense.scale)
        self.nodes = np.zeros(many, np.int64)
        self.directions = np.zeros((many, width, width))
        self.middle, self.radii, self.place = np.zeros((3, many, width))
        self.size = np.zeros(many)

    def add(self, node: int, one: Parallelotope) -> int:
        """One more; its number among these."""
        at = self.count
        if at == len(self.nodes):
            for name, array in vars(self).items():
                if isinstance(array, np.ndarray):
                    setattr(self, name, np.concatenate([array, np.zeros_like(array)]))
        self.nodes[at], self.size[at] = node, one.size + 1e-30
        self.directions[at], self.radii[at] = one.directions, one.radii
        self.middle[at] = one.directions @ one.centre
        self.place[at] = self.sense.place(one.centre)
        self.count += 1
        return at

    def holders(self, centre: FloatArray, noises: FloatArray) -> IntArray:
        """A node for each image that lies in it; -1 if there is none.

        Args:
            centre: ``(images, width)``.
            noises: ``(images, noises, width)``.
        """
        holders = np.full(len(centre), -1)
        if not self.count:
            return holders
        places, size = self.place[: self.count], self.size[: self.count]
        own = self.sense.place(centre)
        directions, middle, radii = self.directions, self.middle, self.radii
        for low in range(0, len(centre), 256):
            part = slice(low, low + 256)
            here, many = centre[part], noises[part]
            apart = ((own[part][:, None] - places) ** 2).sum(axis=2) / size**2
            tries = min(TRIES, len(places))
            near = np.argpartition(apart, tries - 1, axis=1)[:, :tries]
            order = np.take_along_axis(apart, near, 1).argsort(axis=1)
            near = np.take_along_axis(near, order, 1)
            for at in near.T:
                rows = np.flatnonzero(
                    (holders[part] < 0) & (apart[np.arange(len(here)), at] < 1)
                )
                some = at[rows]
                turned = np.einsum("bij,bj->bi", directions[some], here[rows])
                off = np.abs(turned - middle[some])
                inside = (off <= radii[some]).all(axis=1)
                rows, some, off = rows[inside], some[inside], off[inside]
                if not len(rows):
                    continue
                off = off + np.abs(many[rows] @ directions[some].swapaxes(1, 2)).sum(
                    axis=1
                )
                inside = (off <= radii[some] * SLACK).all(axis=1)
                holders[low + rows[inside]] = self.nodes[some[inside]]
        return holders


@dataclass
class Closure:
    """All nodes, each with a state of the machine.

    Attributes:
        net: The network and its machine.
        sense: Where room does no harm.
        room: How much nodes get.
        deepest: After how many letters a node is put at last.
        most: How many operations there may be.
        states: Of the machine.
        made: Of each node that is no parallelotope, its parent and letter.
        edges: Of each node.
        origins: From which node, and by which letter, each was found.
        own: Parallelotopes by state.
        at: The place of each parallelotope in its state, in the order of their numbers.
        work: Operations so far.
    """

    net: Dynamics
    sense: Sense
    room: float
    deepest: int
    most: float
    states: list[int] = field(default_factory=list)
    made: list[int] = field(default_factory=list)
    edges: list[list[int]] = field(default_factory=list)
    origins: list[tuple[int, int]] = field(default_factory=list)
    own: dict[int, Own] = field(default_factory=dict)
    at: dict[int, int] = field(default_factory=dict)
    work: int = 0

    def _add(self, state: int, origin: tuple[int, int], made: bool) -> int:
        number, ways = len(self.states), self.net.cell.reads
        demand(number < MOST_NODES, f"hidden states need more than {number:,} sets")
        self.states.append(state)
        self.made.append(origin[0] * ways + origin[1] if made else -1)
        self.origins.append(origin)
        self.edges.append([-1] * ways)
        if origin[0] >= 0:
            self.edges[origin[0]][origin[1]] = number
        return number

    def _put(self, state: int, origin: tuple[int, int], one: Parallelotope) -> int:
        number = self._add(state, origin, False)
        self.at[number] = self._of(state).add(number, one)
        return number

    def _of(self, state: int) -> Own:
        return self.own.setdefault(state, Own(self.sense))

    def close(self) -> None:
        """Follow all words from all nodes until each leads into one.

        Raises:
            Refused: If there are too many nodes.
            Uncertain: If a read-out is not certain.
            WrongWord: If the word that leads there has another logit ahead.
        """
        width, first = self.net.width, self.net.cell.first[0]
        point = Parallelotope(np.eye(width), first, np.zeros(width), 0.0)
        waiting = [self._put(self.net.machine.start, (-1, -1), point)]
        while waiting:
            now, waiting = waiting[:TOGETHER], waiting[TOGETHER:]
            waiting += self._explore_from(now)

    def nodes(self, numbers: Sequence[int]) -> Nodes:
        """Some parallelotopes, as the checker reads them."""
        each = [(self.own[self.states[n]], self.at[n]) for n in numbers]
        middle, radii, directions = (
            np.array([getattr(own, name)[at] for own, at in each])
            for name in ("middle", "radii", "directions")
        )
        bounds = Interval(middle - radii, middle + radii)
        return Nodes(bounds, directions, np.full(len(each), -1))

    def _explore_from(self, now: list[int]) -> list[int]:
        """New parallelotopes on the way from some."""
        net, cell, new = self.net, self.net.cell, list[int]()
        ways, width = cell.reads, net.width
        nodes = self.nodes(now)
        form = nodes.parallelotopes(np.arange(len(now)))
        cost = replace(cell, nodes=nodes).cost[0]
        numbers = np.array(now)
        for depth in range(1, self.deepest + 1):
            self.work += len(numbers) * cost
            demand(self.work <= self.most, "hidden states need too many sets")
            images = cell.after(form).reshape(-1)
            before = np.repeat(numbers, ways)
            letter = np.tile(np.arange(ways), len(numbers))
            states = np.array(self.states)[before]
            states = net.machine.transitions[letter, states]
            ahead = cell.ahead(images, net.machine.shows[states])
            if not (ahead > 0).all():
                row = int(np.where(np.isnan(ahead), -np.inf, ahead).argmin())
                self._replay((int(before[row]), int(letter[row])))
            full = images.with_noises()
            centre, noises = full.base.low, np.moveaxis(full.slopes, 0, 1)
            left = self._link_images(centre, noises, states, before, letter)
            if not len(left):
                break
            small, put = self._around(centre[left], noises[left], states[left])
            go = []
            for i, row in enumerate(left.tolist()):
                state, origin = int(states[row]), (int(before[row]), int(letter[row]))
                if not small[i] and depth < self.deepest:
                    go.append((row, self._add(state, origin, True)))
                    continue
                own = self._of(state)
                one = slice(row, row + 1)
                to = int(own.holders(centre[one], noises[one])[0])
                if to >= 0:
                    self.edges[origin[0]][origin[1]] = to
                    continue
                new.append(self._put(state, origin, put(i)))
            if not go:
                break
            rows, numbers = np.array(go).T
            form = images.rows(rows).fewer(NOISES * width).with_noises()
            form = form.reshape(len(rows), 1)
        return new

    def _around(
        self, centre: FloatArray, noises: FloatArray, states: IntArray
    ) -> tuple[BoolArray, Callable[[int], Parallelotope]]:
        """Whether images are small, and parallelotopes around them.

        The axes are principal ones, but each cell that counts has its own, the first ones:
        along these nothing is forgotten, and sets are long where it no longer matters.
        """
        counting, scale = self.sense.counting, self.sense.scale
        counts, middle, half = counting.measure_images(centre, noises, states)
        centre = np.where(half > 0, middle, centre)
        noises = np.where((half > 0)[:, None], 0.0, noises)
        scaled = np.where(counts[:, None], 0.0, noises) / scale
        square, each = scaled.swapaxes(1, 2) @ scaled, np.arange(len(scale))
        square[:, each, each] -= np.where(counts, 1.0 + each, 0.0)
        axes = np.linalg.eigh(square)[1].swapaxes(1, 2)
        reach = np.abs(scaled @ axes.swapaxes(1, 2)).sum(axis=1)
        later, soon = self.sense.along(centre, axes, states)

        def put(i: int) -> Parallelotope:
            w = (axes[i] / scale).astype(np.float32).astype(np.float64)
            radii = np.abs(noises[i] @ w.T).sum(axis=0) + self.room / later[i]
            size = float(np.linalg.norm(radii))
            return Parallelotope(w, centre[i], radii + np.abs(w) @ half[i], size)

        return (reach * soon).max(axis=1) <= SMALL * self.room, put

    def _link_images(
        self,
        centre: FloatArray,
        noises: FloatArray,
        states: IntArray,
        before: IntArray,
        letter: IntArray,
    ) -> IntArray:
        """The rows that lie in no node; the others get an edge."""
        closed = np.full(len(states), -1)
        for state in np.unique(states).tolist():
            if state in self.own:
                rows = np.flatnonzero(states == state)
                closed[rows] = self.own[state].holders(centre[rows], noises[rows])
        for row in np.flatnonzero(closed >= 0).tolist():
            self.edges[before[row]][letter[row]] = int(closed[row])
        return np.flatnonzero(closed < 0)

    def _replay(self, origin: tuple[int, int]) -> None:
        word = list[int]()
        while origin[0] >= 0:
            word.append(origin[1])
            origin = self.origins[origin[0]]
        self.net.run(np.array([word[::-1]]))
        raise Uncertain

    def evidence(self) -> dict[str, Any]:
        """What was found, as the checker reads it."""
        own = [n for n in range(len(self.states)) if self.made[n] < 0]
        nodes = self.nodes(own)
        assert nodes.directions is not None
        return {
            "states": pack_array(np.array(self.states)),
            "edges": pack_array(np.array(self.edges)),
            "made": pack_array(np.array(self.made)),
            "nodes": pack_array(np.stack([nodes.bounds.low, nodes.bounds.high])),
            "directions": pack_array(nodes.directions.astype(np.float32)),
        }


def find_closure(cell: Cell, machine: Machine) -> dict[str, Any]:
    """Evidence that a network follows a machine on words of every length.

    Raises:
        Refused: If none is found.
        WrongWord: With a word after which another logit is ahead.
    """
    net = Dynamics(cell, machine)
    length = net.refute()
    sense, rooms = Sense.of(net), list(ROOMS)
    deepest = 8 if cell.reads < 3 else 5
    why = "hidden states of two answers come too close"
    for part in TRIALS:
        most = part * MOST_WORK
        for room in tuple(rooms):
            closure = Closure(net, sense, room, deepest, most)
            try:
                closure.close()
                return closure.evidence()
            except Uncertain:
                rooms.remove(room)
            except Refused as refused:
                why, most = str(refused), most / LESS
    raise Refused(f"{why}; all words of up to {length} letters are right")
