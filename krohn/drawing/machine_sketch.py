"""What is drawn of a machine, and where: letters, arrows, places of states."""

from collections.abc import Sequence
from dataclasses import dataclass

import networkx as nx
import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.formats.outputs import acceptance
from krohn.algebra.semiautomaton import IntArray
from krohn.drawing.arrows import LABEL_SIZE, Arc, arcs
from krohn.drawing.canvas import PALETTE, Points, legible, measure
from krohn.drawing.layout import MOST_INCHES, Layout, arrange
from krohn.drawing.stress import UP, crossings

MOST_NAMED = 40
SMALLEST_SINK = 8
OUTPUT_SIZE = 7.5


@dataclass(frozen=True)
class Sketch:
    """What is drawn, and where.

    Attributes:
        machine: The machine.
        letters: The letters whose arrows are drawn.
        colors: Colour of each of these letters; empty where all arrows look alike.
        sink: The state whose incoming arrows are left out, if any.
        arcs: The arrows.
        layout: The places of the states.
        radius: Of the circles, in inches.
    """

    machine: Automaton
    letters: tuple[int, ...]
    colors: dict[int, str]
    sink: int | None
    arcs: list[Arc]
    layout: Layout
    radius: float

    def ends(self, arc: Arc) -> tuple[Points, Points]:
        """Where an arrow starts and ends."""
        return self.layout.places[arc.source], self.layout.places[arc.target]

    @property
    def tangled(self) -> bool:
        """Whether lines cross so often, once each or more, that none can be followed."""
        ends = {(a.source, a.target) for a in self.arcs if a.source != a.target}
        lines = {(min(pair), max(pair)) for pair in ends}
        return crossings(self.layout.places, lines) >= len(lines) > 0

    def strokes(self, arc: Arc, plain: str) -> list[str]:
        """The colours of an arrow, one for each letter; ``plain`` where all look alike."""
        return (
            [self.colors.get(a, plain) for a in arc.letters] if self.colors else [plain]
        )


def sketch_of(machine: Automaton) -> Sketch:
    """The letters, arrows and places of a machine's picture."""
    letters = _drawn_letters(machine)
    every = arcs(machine, letters)
    sink = _sink(machine, every)
    kept = [a for a in every if a.target != sink or a.source == sink]
    radius = _radius(machine)
    layout = _layout(machine, letters, kept, sink, radius)
    coloured = 1 < len(letters) <= len(PALETTE)
    colors = dict(zip(letters, PALETTE, strict=False)) if coloured else {}
    return Sketch(machine, letters, colors, sink, kept, layout, radius)


def _drawn_letters(machine: Automaton) -> tuple[int, ...]:
    """All letters, or where their arrows are too many a few that reach as much."""
    every = tuple(range(len(machine.letters)))
    states = len(machine.states)
    lines = [a for a in arcs(machine, every) if a.source != a.target]
    if len(lines) <= max(30, 4 * states) and (states <= MOST_NAMED or len(every) <= 8):
        return every
    chosen: list[int] = []
    for letter in every:
        if _reach(machine, [*chosen, letter]) > _reach(machine, chosen):
            chosen.append(letter)
    return tuple(chosen)


def _reach(machine: Automaton, letters: Sequence[int]) -> int:
    """How many states words in some letters lead to."""
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_node(machine.start)
    for row in machine.transitions[list(letters)].tolist():
        graph.add_edges_from(enumerate(row))
    return 1 + len(nx.descendants(graph, machine.start))


def _sink(machine: Automaton, every: Sequence[Arc]) -> int | None:
    """A state that is never left and that very many arrows lead to."""
    loops = {a.source for a in every if a.source == a.target and len(a.letters) > 1}
    loops -= {a.source for a in every if a.source != a.target} | {machine.start}
    for state in sorted(loops):
        if sum(a.target == state for a in every) > max(
            SMALLEST_SINK, len(machine.states) // 2
        ):
            return state
    return None


def _radius(machine: Automaton) -> float:
    if len(machine.states) > MOST_NAMED:
        return 0.06
    lines = [
        line for q in range(len(machine.states)) for line in inscription(machine, q)
    ]
    widest = max(measure(text, size)[0] for text, size in lines)
    return max(0.22, widest / 2 + 0.07)


def inscription(machine: Automaton, state: int) -> list[tuple[str, float]]:
    """The lines in the circle of a state, each with its size: name and output."""
    name = legible(machine.states[state], 20)
    lines = [(part, 10.0 if len(name) <= 4 else 8.0) for part in _halves(name)]
    output = machine.output
    if output and output.on == "states" and acceptance(machine) is None:
        lines.append((legible(output.names[output.table[state]], 10), OUTPUT_SIZE))
    return lines


def _halves(name: str) -> list[str]:
    """A long name on two lines, broken at an underscore near its middle or there."""
    if len(name) <= 10:
        return [name]
    breaks = [i + 1 for i, c in enumerate(name) if c in "_-., "] or [len(name) // 2]
    at = min(breaks, key=lambda i: abs(i - len(name) / 2))
    return [name[:at], name[at:]] if len(name) > at else [name]


def _layout(
    machine: Automaton,
    letters: Sequence[int],
    kept: Sequence[Arc],
    sink: int | None,
    radius: float,
) -> Layout:
    widest = max((measure(a.text, LABEL_SIZE)[0] for a in kept), default=0.0)
    named = len(machine.states) <= MOST_NAMED
    gap = 2 * radius + max(0.8, min(widest, 1.6) + 0.45) if named else 0.9
    room = 2 * radius + (0.22 if named else 0.05)
    table = machine.transitions[list(letters)]
    if sink is None:
        layout = arrange(table, machine.start, gap, room)
    else:
        layout = _with_sink(table, machine.start, sink, (gap, room))
    return layout if named else _scaled(layout)


def _scaled(layout: Layout) -> Layout:
    """Dots have no size of their own: the page is filled by how many there are."""
    wide = min(MOST_INCHES, 0.85 * len(layout.places) ** 0.5)
    scale = wide / max(float(np.ptp(layout.places, axis=0).max()), 1e-9)
    return Layout(layout.places * scale, layout.outward)


def _with_sink(
    table: IntArray, start: int, sink: int, spacing: tuple[float, float]
) -> Layout:
    """The layout without the sink, and the sink below it on the left."""
    others = np.delete(np.arange(table.shape[1]), sink)
    number = np.full(table.shape[1], -1)
    number[others] = np.arange(len(others))
    inner = number[table[:, others]]
    # A missing transition counts as a loop, which no layout looks at.
    inner = np.where(inner < 0, np.arange(len(others)), inner)
    layout = arrange(inner, int(number[start]), *spacing)
    places = np.zeros((table.shape[1], 2))
    places[others] = layout.places
    places[sink] = layout.places.min(axis=0)
    outward = np.full(table.shape[1], UP)
    outward[others] = layout.outward
    return Layout(places, outward)
