"""Pictures of egg-boxes: a cell for each H-class, a name in each group, lines that lead."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton, Semiautomaton
from krohn.algebra.errors import KrohnError
from krohn.algebra.green import green
from krohn.algebra.monoid import TransformationMonoid
from krohn.drawing.eggbox import GROUP, draw_eggboxes, layered
from krohn.pictures import draw_monoid


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.axes[0].texts]


def filled(figure: Figure) -> int:
    return sum(to_hex(p.get_facecolor()) == GROUP for p in figure.axes[0].patches)


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
    plan = layered(links, widths)
    layer_of = {node: i for i, layer in enumerate(plan.layers) for node in layer}
    assert set(range(count)) <= set(layer_of)
    assert all(layer_of[below] == layer_of[above] + 1 for above, below in plan.links)
    assert all(layer_of[above] < layer_of[below] for above, below in links)
    for layer in plan.layers:
        for first, second in combinations([v for v in layer if v < count], 2):
            room = (widths[first] + widths[second]) / 2
            assert abs(plan.x[first] - plan.x[second]) >= room - 1e-9
