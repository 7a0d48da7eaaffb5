"""Graphs of machines: components, ways, and words that lead to each state."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, strategies as st
from random_machines import machines

from krohn.algebra import graphs, zoo
from krohn.algebra.automaton import Automaton, IntArray
from krohn.algebra.graphs import approaches
from krohn.algebra.minimisation import reachable

Drawn = tuple[int, list[tuple[int, int]]]

EDGES = st.integers(1, 12).flatmap(
    lambda n: st.tuples(
        st.just(n),
        st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=30),
    )
)


def arrays(edges: list[tuple[int, int]]) -> tuple[IntArray, IntArray]:
    source, target = np.array(sorted(edges), dtype=np.int64).reshape(-1, 2).T
    return source, target


def classes(label: IntArray) -> list[set[int]]:
    """The numbers are those of first members, in order."""
    found: dict[int, set[int]] = {}
    for node, number in enumerate(label.tolist()):
        found.setdefault(number, set()).add(node)
    assert list(found) == list(range(len(found)))
    return list(found.values())


@pytest.mark.parametrize("most", [0, graphs.MOST_PLAIN_EDGES])
@given(drawn=EDGES)
def test_components_are_those_of_networkx(most: int, drawn: Drawn) -> None:
    nodes, edges = drawn
    graph = nx.DiGraph()
    graph.add_nodes_from(range(nodes))
    graph.add_edges_from(edges)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(graphs, "MOST_PLAIN_EDGES", most)
        strong = graphs.strong_components(nodes, *arrays(edges))
        joined = graphs.weak_components(nodes, *arrays(edges))
    wanted = sorted(map(set, nx.strongly_connected_components(graph)), key=min)
    assert classes(strong) == wanted
    wanted = sorted(map(set, nx.weakly_connected_components(graph)), key=min)
    assert classes(joined) == wanted


@pytest.mark.parametrize("most", [0, graphs.MOST_PLAIN_EDGES])
@given(drawn=EDGES)
def test_ways_to_a_node_are_shortest(most: int, drawn: Drawn) -> None:
    nodes, edges = drawn
    graph = nx.DiGraph()
    graph.add_nodes_from(range(nodes))
    graph.add_edges_from(edges)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(graphs, "MOST_PLAIN_EDGES", most)
        following = graphs.towards(nodes, *arrays(edges), 0).tolist()
    away = dict(nx.single_target_shortest_path_length(graph, 0))
    for node in range(nodes):
        if away.get(node, 0) == 0:
            assert following[node] == node
        else:
            assert (node, following[node]) in set(edges)
            assert away[following[node]] == away[node] - 1


def test_steps_of_letters() -> None:
    step = np.array([[1, 0, 3, 3], [2, 1, 2, 3]])
    assert graphs.components_of_steps(step).tolist() == [0, 0, 1, 2]


def test_a_long_way_is_no_recursion() -> None:
    nodes = 30_000
    source = np.arange(nodes)
    circle = graphs.strong_components(nodes, source, (source + 1) % nodes)
    assert not circle.any()
    assert not graphs.weak_components(nodes, source, (source + 1) % nodes).any()


@given(machines(most=6), st.integers(0, 8))
def test_words_lead_to_their_states(machine: Automaton, longest: int) -> None:
    words = approaches(machine, longest)
    for state, word in enumerate(words):
        if word is not None:
            now = machine.start
            for letter in word:
                now = int(machine.transitions[letter, now])
            assert now == state
    found = {s for s, w in zip(machine.states, words, strict=True) if w is not None}
    assert found == set(reachable(machine).states)


@pytest.mark.parametrize(("name", "length"), [("S5", 4), ("FlipFlop", 1), ("Grid4", 3)])
def test_all_states_can_be_reached_by_words_of_one_length(
    name: str, length: int
) -> None:
    words = approaches(zoo.machine(name), 30)
    assert {len(word) for word in words if word is not None} == {length}
