"""The arrows of a machine: which there are, how they run, where their labels stand."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.drawing.canvas import PAPER, Box, Canvas, Points, legible, measure
from krohn.drawing.layout import Layout

BENDS_ALONE = (0.0, 0.16, -0.16, 0.3, -0.3, 0.45, -0.45)
BENDS_IN_PAIRS = (0.13, 0.24, 0.36, 0.5)
LABEL_SIZE = 9.0
FLATTEST = 0.2
"""How far from straight the arrows of a pair run at least, in inches."""
CLEAR = 0.07
SAMPLES = np.linspace(0, 1, 80)
"""Where on a curve points are taken that a label may hide."""
TIMES = tuple(0.5 + 0.04 * k for k in range(-9, 10))
FOREIGN = 3
"""A label that hides another arrow misleads, one on its own does not."""


@dataclass(frozen=True)
class Arc:
    """All transitions from one state to another.

    Attributes:
        source: The state before.
        target: The state after.
        letters: Indices of the letters.
        labels: What is written for each letter.
        both: Whether the arrow points both ways, for equal transitions back.
        paired: Whether another arrow runs the other way.
    """

    source: int
    target: int
    letters: tuple[int, ...]
    labels: tuple[str, ...]
    both: bool = False
    paired: bool = False

    @property
    def text(self) -> str:
        """The labels, cut where they are many."""
        return join(self.labels)


def join(labels: Sequence[str]) -> str:
    """Labels on one line if they fit there, else one to a line, cut where many."""
    line = ", ".join(labels)
    if len(line) <= 14 and len(labels) <= 5:
        return line
    if all(len(label) <= 4 for label in labels):
        return f"{', '.join(labels[:2])}, … ({len(labels)})"
    shown = [legible(label, 22) for label in labels]
    if len(shown) <= 3:
        return "\n".join(shown)
    return "\n".join([*shown[:2], f"… ({len(shown)})"])


def arcs(machine: Automaton, letters: Sequence[int]) -> list[Arc]:
    """One arc for every ordered pair of states that a letter links."""
    letters_by_pair: dict[tuple[int, int], list[int]] = {}
    for p in range(len(machine.states)):
        for a in letters:
            letters_by_pair.setdefault((p, int(machine.transitions[a, p])), []).append(
                a
            )
    single = {
        (p, q): Arc(p, q, tuple(by), tuple(_label(machine, a, p) for a in by))
        for (p, q), by in letters_by_pair.items()
    }
    # Of two arrows that are one with two heads, that from the greater state goes.
    return [
        _mark_paired_arc(arc, single)
        for arc in single.values()
        if arc.source <= arc.target or not _same_back(arc, single)
    ]


def _label(machine: Automaton, letter: int, state: int) -> str:
    output = machine.output
    name = legible(machine.letters[letter], 16)
    if output is None or output.on == "states":
        return name
    return f"{name}/{legible(output.names[output.table[letter, state]], 16)}"


def _same_back(arc: Arc, single: dict[tuple[int, int], Arc]) -> bool:
    back = single.get((arc.target, arc.source))
    return back is not None and arc.source != arc.target and back.labels == arc.labels


def _mark_paired_arc(arc: Arc, single: dict[tuple[int, int], Arc]) -> Arc:
    both = _same_back(arc, single)
    paired = not both and arc.source != arc.target
    paired = paired and (arc.target, arc.source) in single
    return Arc(arc.source, arc.target, arc.letters, arc.labels, both, paired)


def at(curve: Points, times: Points) -> Points:
    """Points ``(n, 2)`` of a cubic Bézier curve at ``times``, from 0 to 1."""
    t = times[:, None]
    weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3)
    return np.asarray(sum(w * c for w, c in zip(weights, curve, strict=True)))


def part(curve: Points, first: float, last: float) -> Points:
    """The control points of the part of a Bézier curve between two times."""
    corners = [(first,) * (3 - k) + (last,) * k for k in range(4)]
    return np.array([_blossom(curve, times) for times in corners])


def _blossom(curve: Points, times: Sequence[float]) -> Points:
    for t in times:
        curve = (1 - t) * curve[:-1] + t * curve[1:]
    return np.asarray(curve[0])


def route(arc: Arc, places: Points, radius: float) -> Points:
    """A curve from circle to circle that passes other states at a distance."""
    others = np.delete(places, [arc.source, arc.target], axis=0)
    ends = places[arc.source], places[arc.target]
    bends: tuple[float, ...] = BENDS_ALONE
    if arc.paired:
        least = min(
            BENDS_IN_PAIRS[0], FLATTEST / float(np.linalg.norm(ends[1] - ends[0]))
        )
        bends = (least, *BENDS_IN_PAIRS[1:])

    def cost(bend: float) -> float:
        points = at(bow(*ends, bend), np.linspace(0, 1, 25))
        apart = np.linalg.norm(points[:, None] - others[None], axis=2)
        return 10 * float((apart < radius + CLEAR).any(axis=0).sum()) + abs(bend)

    return outside(bow(*ends, min(bends, key=cost)), *ends, radius)


def bow(first: Points, last: Points, bend: float) -> Points:
    """A curve between two points that runs ``bend`` of their distance to the left."""
    along = last - first
    middle = (first + last) / 2 + 2 * bend * np.array([-along[1], along[0]])
    return np.array(
        [first, first + (middle - first) * 2 / 3, last + (middle - last) * 2 / 3, last]
    )


def outside(curve: Points, first: Points, last: Points, radius: float) -> Points:
    """The part of a curve outside the circles around its ends."""
    times = np.linspace(0, 1, 401)
    points = at(curve, times)
    free = (np.linalg.norm(points - first, axis=1) > radius + 0.01) & (
        np.linalg.norm(points - last, axis=1) > radius + 0.02
    )
    kept = times[free]
    return part(curve, float(kept[0]), float(kept[-1])) if len(kept) > 1 else curve


def loop(place: Points, radius: float, angle: float) -> Points:
    """A curve from a circle back to it, on the side of ``angle``."""
    reach = radius + 0.48
    sides = [
        place + size * np.array([np.cos(angle + turn), np.sin(angle + turn)])
        for size, turn in (
            (radius + 0.01, 0.42),
            (reach, 0.5),
            (reach, -0.5),
            (radius + 0.02, -0.42),
        )
    ]
    return np.array(sides)


def curves_of(
    arcs: Sequence[Arc], layout: Layout, radius: float, near: list[list[float]]
) -> tuple[dict[Arc, Points], list[list[float]]]:
    """How arrows run between circles and back to them, loops last.

    Args:
        arcs: The arrows.
        layout: The centres of the circles.
        radius: Of the circles.
        near: For each state the directions that loops keep away from.

    Returns:
        The curves, and for each state the directions in use, of arrows first.
    """
    places = layout.places
    curves = {a: route(a, places, radius) for a in arcs if a.source != a.target}
    used: list[list[float]] = [[] for _ in places]
    for arc, curve in curves.items():
        for state, end in ((arc.source, curve[0]), (arc.target, curve[-1])):
            used[state].append(angle_of(end - places[state]))
    used = [own + others for own, others in zip(used, near, strict=True)]
    for arc in arcs:
        if arc.source == arc.target:
            here = used[arc.source]
            angle = free_angle(here, float(layout.outward[arc.source]))
            here += [angle - 0.35, angle, angle + 0.35]
            curves[arc] = loop(places[arc.source], radius, angle)
    return curves, used


def angle_of(vector: Points) -> float:
    """The direction of a vector, in radians."""
    return float(np.arctan2(vector[1], vector[0]))


def entry_of(place: Points, radius: float, angle: float) -> Points:
    """The arrow from nowhere to the circle of a start state."""
    unit, reach = np.array([np.cos(angle), np.sin(angle)]), radius + 0.02
    return np.array([place + (reach + 0.42) * unit, place + reach * unit])


def line_of(curve: Points, head: float, both: bool = False) -> Points:
    """The line of an arrow with a head of this size, or with two.

    It stops inside the head, or its square end would show beside the tip.
    """
    length = float(np.linalg.norm(np.diff(at(curve, np.linspace(0, 1, 9)), axis=0)))
    inset = min(0.3, 0.7 * head / max(length, 1e-9) / 2.4)
    return part(curve, inset if both else 0.0, 1 - inset)


def free_angle(used: Sequence[float], wish: float) -> float:
    """The direction farthest from those in use, near ``wish`` where that is as free."""
    candidates = wish + np.arange(24) * np.pi / 12
    turn = np.abs(candidates[:, None] - np.array(used)[None]) % (2 * np.pi)
    away = np.minimum(turn, 2 * np.pi - turn).min(axis=1, initial=np.pi)
    bonus = 0.25 * np.cos(candidates - wish)
    # Beyond a right angle more room is of no use.
    return float(candidates[np.argmax(np.minimum(away, 1.2) + bonus)])


@dataclass
class Labels:
    """Where labels may still go.

    Attributes:
        places: Centres of the states.
        radius: Of the states.
        lines: Points ``(n, 2)`` on all curves.
        taken: Boxes of the labels placed so far.
        apart: Whether no label stands on its arrow, as beside wide ones.
    """

    places: Points
    radius: float
    lines: Points
    taken: list[Box] = field(default_factory=list)
    apart: bool = False

    def write(
        self, canvas: Canvas, curves: dict[Arc, Points], color: Callable[[Arc], str]
    ) -> int:
        """Write the label of each arrow; how many did not fit."""
        missing = 0
        for arc, curve in curves.items():
            if arc.source == arc.target:
                box = self.beyond(curve, self.places[arc.source], arc.text)
            else:
                box = self.beside(curve, arc.text)
            if box is None:
                missing += 1
                continue
            middle = box.middle
            written = canvas.text(*middle, arc.text, size=LABEL_SIZE, color=color(arc))
            canvas.rectangle(written, fill=PAPER, order=4, alpha=0.85)
        return missing

    def beside(self, curve: Points, text: str) -> Box | None:
        """The best free box on or beside a curve; None if there is none."""
        width, height = _padded_size(text)
        candidates = []
        for t in TIMES:
            middle, across = _frame(curve, t)
            reach = abs(across[0]) * width / 2 + abs(across[1]) * height / 2 + 0.03
            shifts = (0.0,) if self._covers(width) else (reach, -reach)
            for shift in shifts:
                box = _box(middle + shift * across, width, height)
                candidates.append((box, abs(t - 0.5)))
        return self._best(candidates, curve, 80 if self._covers(width) else 24)

    def beyond(self, curve: Points, place: Points, text: str) -> Box | None:
        """The best free box outside the tip of a loop; None if there is none."""
        width, height = _padded_size(text)
        tip = at(curve, np.array([0.5]))[0]
        out = (tip - place) / np.linalg.norm(tip - place)
        reach = abs(out[0]) * width / 2 + abs(out[1]) * height / 2
        shifts = [0.0] if self._covers(width) else []
        shifts += [reach - 0.02, reach + 0.06, reach + 0.16]
        boxes = [_box(tip + s * out, width, height) for s in shifts]
        return self._best([(box, 0.1 * i) for i, box in enumerate(boxes)], curve, 80)

    def _covers(self, width: float) -> bool:
        """Whether a label of a width stands on its arrow."""
        return not self.apart and width < 0.32

    def _best(
        self, candidates: list[tuple[Box, float]], curve: Points, most: int
    ) -> Box | None:
        free = [(box, shift) for box, shift in candidates if self.fits(box)]
        if not free:
            return None
        own = at(curve, SAMPLES)

        def cost(candidate: tuple[Box, float]) -> float:
            box, shift = candidate
            on_own = box.holds(own)
            return on_own + FOREIGN * (box.holds(self.lines) - on_own) + 16 * shift

        box, _ = min(free, key=cost)
        if box.holds(self.lines) > most:
            return None
        self.taken.append(box)
        return box

    def fits(self, box: Box) -> bool:
        """Whether a box meets no state and no label."""
        if any(box.meets(other) for other in self.taken):
            return False
        nearest = np.clip(self.places, (box.left, box.low), (box.right, box.high))
        apart = np.linalg.norm(self.places - nearest, axis=1)
        return bool((apart > self.radius).all())


def _box(centre: Points, width: float, height: float) -> Box:
    return Box.around(float(centre[0]), float(centre[1]), width, height)


def _padded_size(text: str) -> tuple[float, float]:
    width, height = measure(text, LABEL_SIZE)
    return width + 0.06, height + 0.02


def _frame(curve: Points, t: float) -> tuple[Points, Points]:
    """A point of a curve and the unit vector to its left."""
    before, middle, after = at(curve, np.array([t - 0.01, t, t + 0.01]))
    along = (after - before) / max(float(np.linalg.norm(after - before)), 1e-9)
    return middle, np.array([-along[1], along[0]])
