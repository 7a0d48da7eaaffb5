"""Pictures of egg-boxes and of cascades: cells, squares, wires; nothing overlaps."""

from itertools import combinations, islice, product
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, strategies as st
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch, Rectangle

from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton, Semiautomaton
from krohn.algebra.cascade import trivial
from krohn.algebra.decomposition.diagrams import (
    context,
    dependencies,
    meaning,
)
from krohn.algebra.decomposition.methods import Decomposition, decompose
from krohn.algebra.errors import KrohnError
from krohn.algebra.green import green
from krohn.algebra.monoid import TransformationMonoid
from krohn.drawing import draw_cascade, save
from krohn.drawing.canvas import INK, Box, measure
from krohn.drawing.cascade import WIRE, lanes
from krohn.drawing.eggbox import GROUP, draw_eggboxes, layer_nodes
from krohn.drawing.readings import GONE, LEFT
from krohn.pictures import draw_monoid


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.axes[0].texts]


def filled(figure: Figure) -> int:
    return sum(to_hex(p.get_facecolor()) == GROUP for p in figure.axes[0].patches)


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "name", ["Grid4", "abab", "S4", "FlipFlop", "Adder", "Dyck2,2"]
)
def test_there_is_a_filled_cell_for_every_idempotent(name: str) -> None:
    machine = zoo.machine(name)
    found = green(TransformationMonoid.enumerate(machine.semiautomaton))
    figure = draw_monoid(machine)
    boxes = found.egg_boxes()
    assert filled(figure) == sum(int((box.idempotents >= 0).sum()) for box in boxes)
    shown = texts(figure)
    for box in boxes:
        groups = int((box.idempotents >= 0).sum())
        assert shown.count(box.group_name) >= groups
        assert any(text.startswith(f"rank {box.rank}") for text in shown)
    assert any(f"monoid of {found.monoid.size:,} element" in text for text in shown)


def test_maximal_subgroups_are_named() -> None:
    letters = np.array([[1, 2, 3, 0], [1, 0, 2, 3], [0, 0, 2, 3]])
    machine = Semiautomaton(letters, ("c", "t", "m"), tuple("0123"))
    shown = texts(draw_monoid(Automaton(machine, name="T4")))
    assert shown.count("S4") == 1
    # T_n has C(n, k)·k^(n−k) idempotents of rank k.
    assert shown.count("S3") == 4 * 3
    assert shown.count("C2") == 6 * 4
    assert "6 × 4 cells of 6" in shown


def test_an_adjoined_identity_is_told() -> None:
    assert any("adjoined" in text for text in texts(draw_monoid(zoo.machine("Adder"))))
    assert not any("adjoined" in text for text in texts(draw_monoid(zoo.machine("C3"))))


@pytest.mark.slow
def test_large_classes_are_drawn_without_names() -> None:
    machine = zoo.machine("Dyck4,2")
    shown = texts(draw_monoid(machine))
    assert "31 × 31 elements" in shown
    assert shown.count("1") == 1 + 3 + 7 + 15 + 1


def test_too_many_classes_are_refused_with_advice() -> None:
    chain = np.maximum(np.arange(90) - 1, 0)[None]
    machine = Semiautomaton(chain, ("a",), tuple(map(str, range(90))))
    with pytest.raises(KrohnError, match=r"90 D-classes.*up to 80"):
        draw_monoid(Automaton(machine))


def test_a_monoid_too_large_is_refused_with_advice() -> None:
    with pytest.raises(KrohnError, match=r"too large.*raise effort="):
        draw_monoid(zoo.machine("S5"), effort=0)


def test_classes_need_no_links() -> None:
    found = green(TransformationMonoid.enumerate(zoo.machine("C3").semiautomaton))
    figure = draw_eggboxes(found.egg_boxes(), found.covers(), "C3", "facts")
    assert {"C3", "facts", "rank 3, C3"} <= set(texts(figure))


@given(st.data())
def test_nodes_keep_apart_and_links_go_down_one_layer(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 8))
    pairs = list(combinations(range(count), 2))
    links = data.draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    widths = data.draw(st.lists(st.floats(0.2, 3), min_size=count, max_size=count))
    plan = layer_nodes(links, widths)
    layer_of = {node: i for i, layer in enumerate(plan.layers) for node in layer}
    assert set(range(count)) <= set(layer_of)
    assert all(layer_of[below] == layer_of[above] + 1 for above, below in plan.links)
    assert all(layer_of[above] < layer_of[below] for above, below in links)
    for layer in plan.layers:
        for first, second in combinations([v for v in layer if v < count], 2):
            room = (widths[first] + widths[second]) / 2
            assert abs(plan.x[first] - plan.x[second]) >= room - 1e-9


CASES = [
    ("Grid4", "holonomy"),
    ("Grid20", "holonomy"),
    ("Dyck4,2", "auto"),
    ("S4", "auto"),
    ("S4", "holonomy"),
    ("C2xC3xC5", "auto"),
    ("abab", "prime"),
    ("PermReset4", "derived"),
    ("S5", "holonomy"),
    ("Adder", "auto"),
    ("Q8", "prime"),
    ("Dyck5,2", "auto"),
]


def full(points: int) -> Semiautomaton:
    """All transformations of some points."""
    letters = np.tile(np.arange(points), (3, 1))
    letters[0] = np.roll(letters[0], -1)
    letters[1, :2] = 1, 0
    letters[2, :2] = 0, 0
    return Semiautomaton(letters, ("c", "t", "m"), tuple(map(str, range(points))))


def found(name: str, method: str) -> Decomposition:
    machine = full(4) if name == "T4" else zoo.machine(name).semiautomaton
    return decompose(machine, method)


def draw(decomposition: Decomposition, name: str = "m") -> Figure:
    return draw_cascade(
        decomposition.cascade, name, decomposition.method, decomposition.covering
    )


def text_boxes(figure: Figure) -> list[Box]:
    boxes = []
    for text in figure.axes[0].texts:
        x, y = text.get_position()
        bold = text.get_fontweight() == "bold"
        # Narrower than it stands, since neighbours in a row may touch.
        width = measure(text.get_text(), float(text.get_fontsize()), bold)[0] * 0.98
        height = float(text.get_fontsize()) / 72 * 0.8
        if text.get_rotation() == 90:
            boxes.append(Box(x - height / 2, y, x + height / 2, y + width))
            continue
        left = {"left": x, "center": x - width / 2, "right": x - width}
        low = float(left[text.get_ha()])
        boxes.append(Box(low, y - height / 2, low + width, y + height / 2))
    return boxes


def wires(figure: Figure) -> list[np.ndarray[Any, Any]]:
    """The straight pieces of all wires, ``(2, 2)`` each."""
    pieces = []
    for patch in figure.axes[0].patches:
        if isinstance(patch, PathPatch) and to_hex(patch.get_edgecolor()) == WIRE:
            corners = patch.get_path().vertices
            pieces += [np.array(corners[i : i + 2]) for i in range(len(corners) - 1)]
    return pieces


def rectangles(figure: Figure, color: str) -> int:
    return sum(
        isinstance(patch, Rectangle) and to_hex(patch.get_facecolor()) == color
        for patch in figure.axes[0].patches
    )


@pytest.mark.sample(1)
@pytest.mark.parametrize(("name", "method"), [*CASES, ("T4", "derived")])
def test_no_text_meets_another_or_a_wire(name: str, method: str) -> None:
    figure = draw(found(name, method), name)
    boxes = text_boxes(figure)
    shown = texts(figure)
    overlaps = [
        (shown[i], shown[j])
        for (i, a), (j, b) in combinations(enumerate(boxes), 2)
        if a.meets(b)
    ]
    assert overlaps == []
    for piece in wires(figure):
        (left, low), (right, high) = piece.min(axis=0), piece.max(axis=0)
        wire = Box(left - 1e-3, low - 1e-3, right + 1e-3, high + 1e-3)
        assert not [t for t, box in zip(shown, boxes, strict=True) if box.meets(wire)]


@pytest.mark.sample(1)
@pytest.mark.parametrize(("name", "method"), CASES)
def test_there_is_a_dot_for_every_dependency(name: str, method: str) -> None:
    decomposition = found(name, method)
    figure = draw(decomposition)
    circles = [
        patch
        for patch in figure.axes[0].patches
        if type(patch).__name__ == "Circle" and patch.get_linewidth() == 0
    ]
    assert all(to_hex(dot.get_facecolor()) == INK for dot in circles)
    assert len(circles) == dependencies(decomposition.cascade).sum()


def test_squares_are_what_the_values_leave() -> None:
    decomposition = found("Grid4", "holonomy")
    readings = [r for of_one in meaning(decomposition.cascade) for r in of_one]
    figure = draw(decomposition)
    left = sum(int(reading.refined.sum()) for reading in readings)
    possible = sum(int(reading.possible.sum()) * 2 for reading in readings)
    # One square of each colour is in the legend.
    assert rectangles(figure, LEFT) == left + 1
    assert rectangles(figure, GONE) == possible - left + 1


@pytest.mark.slow
def test_the_caption_says_what_was_proved(tmp_path: Path) -> None:
    decomposition = found("Grid4", "holonomy")
    save(draw(decomposition, "Grid4"), tmp_path / "c.svg")
    root = ElementTree.parse(tmp_path / "c.svg").getroot()
    shown = [
        "".join(e.itertext()) for e in root.iter("{http://www.w3.org/2000/svg}text")
    ]
    assert "Grid4" in shown
    assert any("from 8 combinations of values" in text for text in shown)
    unproved = texts(draw_cascade(decomposition.cascade))
    assert any("not proved to follow" in text for text in unproved)


@pytest.mark.slow
def test_states_beyond_forty_are_counted() -> None:
    assert "32 of 64" in texts(draw(found("Dyck5,2", "auto")))


def test_long_names_become_numbers_with_a_key() -> None:
    names = tuple(f"state_with_a_long_name_{i}" for i in range(3))
    machine = Semiautomaton(np.array([[1, 2, 0]]), ("a",), names)
    shown = " ".join(texts(draw(decompose(machine))))
    assert all(name in shown for name in names)
    assert "State 1 is state_with_a_long_name_" in shown


@pytest.mark.slow
def test_names_that_are_too_wide_are_read_upwards() -> None:
    figure = draw(found("S4", "prime"))
    upwards = [t.get_text() for t in figure.axes[0].texts if t.get_rotation() == 90]
    assert upwards[:24] == upwards[24:48]
    assert {*upwards} == {*zoo.machine("S4").states}


@pytest.mark.sample(2)
@pytest.mark.parametrize(("name", "method"), CASES)
def test_a_reading_holds_where_its_caption_says(name: str, method: str) -> None:
    cascade = found(name, method).cascade
    rows = np.array(list(islice(product(*map(range, cascade.sizes)), 20_000)))
    nodes = [np.zeros(len(rows), dtype=int)]
    for i, follow in enumerate(cascade.projection.follow):
        at = nodes[-1]
        nodes.append(np.where(at < 0, at, follow[at, rows[:, i]]))
    for i, readings in enumerate(meaning(cascade)):
        for reading in readings[:9]:
            said = context(cascade, i, reading)
            inside = nodes[i] >= 0
            for j, values in said.values.items():
                inside &= np.isin(rows[:, j], values)
            holds = np.isin(nodes[i], reading.nodes)
            assert holds[inside].all()
            assert not said.is_all or not holds[~inside].any()


@pytest.mark.slow
def test_every_grid_of_several_says_where_it_holds() -> None:
    shown = texts(draw(found("Grid4", "derived")))
    assert {"if component 1 is 0", "if component 1 is 1"} <= {*shown}
    assert {
        "if component 1 is 0, 2 is 0",
        "for example if component 1 is 0, 2 is 1",
    } <= {*shown}
    assert shown.count("state →") == shown.count("value ↓") > 0


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "names", [("$x$", "_{2}"), ("<&>", '"'), ("\x00\n", "字" * 50)]
)
def test_any_name_can_be_drawn(names: tuple[str, str], tmp_path: Path) -> None:
    machine = Semiautomaton(np.array([[0, 0], [1, 1]]), names, names)
    save(draw(decompose(machine), names[0]), tmp_path / "c.svg")
    assert (tmp_path / "c.svg").stat().st_size > 1000


def test_one_state_is_an_empty_picture_that_says_so() -> None:
    machine = Semiautomaton(np.array([[0]]), ("a",), ("only",))
    assert any("one state" in text for text in texts(draw(decompose(machine))))


def test_components_that_neither_permute_nor_reset_are_drawn() -> None:
    machine = zoo.machine("Grid4").semiautomaton
    assert "machine of 4 states" in texts(draw_cascade(trivial(machine)))


@pytest.mark.slow
def test_too_many_components_are_refused_with_advice() -> None:
    with pytest.raises(KrohnError, match=r"79 components.*up to 64.*\.json"):
        draw(found("Grid80", "holonomy"))


@given(st.data())
def test_lanes_that_are_in_use_together_differ(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 7))
    bits = data.draw(st.lists(st.booleans(), min_size=count**2, max_size=count**2))
    order = list(range(count))
    reads = np.tril(np.array(bits).reshape(count, count), -1)
    lane = lanes(reads, order)
    assert set(lane) == set(np.flatnonzero(reads.any(axis=0)).tolist())
    ends = {s: int(np.flatnonzero(reads[:, s]).max()) for s in lane}
    for first, second in combinations(sorted(lane), 2):
        if ends[first] >= second:
            assert lane[first] != lane[second]
