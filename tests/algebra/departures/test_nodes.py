"""Nodes: what a run leaves for good, and beside what the state is told."""

from collections.abc import Iterator

import numpy as np
import pytest
from layered_machines import chained, machine, ordered

from krohn import read
from krohn.algebra.automaton import Automaton
from krohn.algebra.departures.nodes import NEVER, Nodes, nodes
from krohn.algebra.errors import MachineError
from krohn.algebra.minimisation import minimise


def regex(text: str) -> Automaton:
    return minimise(read(f"regex:{text}"))


def departures(found: Nodes, node: int) -> int:
    """The most departures of a run from a node."""
    after = [departures(found, n) for n in found.successors(node)]
    return 1 + max(after, default=-1)


def machines(seeds: range) -> Iterator[Automaton]:
    for seed in seeds:
        rng = np.random.default_rng(seed)
        yield chained(rng) if seed % 2 else ordered(rng)


@pytest.mark.sample(1)
@pytest.mark.parametrize("tail", [False, True])
def test_node_and_value_tell_the_state(tail: bool) -> None:
    """Along random words, with the machine itself as the oracle."""
    for m in machines(range(40)):
        found = nodes(m, tail)
        index = {tuple(v): i for i, v in enumerate(found.values.tolist())}
        rng = np.random.default_rng(1)
        for _ in range(10):
            state, node = m.start, found.start
            beside = [p.machine.start for p in found.parts]
            for letter in rng.integers(0, len(m.letters), 30):
                value = index[tuple(beside)]
                assert found.state[node, value] == state
                assert (found.leaves(node)[value, letter] == 1) == (
                    found.follow[node, value, letter] != node
                )
                node = int(found.follow[node, value, letter])
                state = int(m.transitions[letter, state])
                beside = [
                    int(p.machine.transitions[letter, s])
                    for p, s in zip(found.parts, beside, strict=True)
                ]


def test_no_node_is_entered_again() -> None:
    for m in machines(range(40)):
        found = nodes(m)
        assert departures(found, found.start) < len(found.state)


def test_states_of_an_ordered_machine_are_its_nodes() -> None:
    for seed in range(20):
        m = ordered(np.random.default_rng(seed))
        found = nodes(m)
        assert not found.parts
        assert sorted(found.state[:, 0].tolist()) == list(range(len(m.states)))


@pytest.mark.parametrize(
    ("text", "tail", "kinds", "most"),
    [
        ("bccb(aa)*", True, ["clock"], 1),  # a line, and its end
        ("bccb(aa)*", False, ["clock"], 5),
        ("(ab)*c(a|b)*", False, ["clock"], 2),
        ("c*d(ab)*", False, ["clock"], 2),
        ("a*b*c*d*", False, [], 4),
        ("(b|ab)*", False, ["window"], 1),
        ("(b|aa)*", False, ["counter"], 1),
        ("(b|ab*a)*", False, ["counter"], 0),
        ("(b|c|ac*b)*", False, ["memory"], 1),
    ],
)
def test_parts_and_departures(
    text: str, tail: bool, kinds: list[str], most: int
) -> None:
    found = nodes(regex(text), tail)
    assert [p.kind for p in found.parts] == kinds
    assert departures(found, found.start) <= most


def test_a_counter_with_resets_is_known() -> None:
    # a turns three states, b leads to the first, c leaves.
    m = machine(np.array([[1, 2, 0, 3], [0, 0, 0, 3], [3, 3, 3, 3]]))
    assert [p.kind for p in nodes(m).parts] == ["resets"]


def test_values_that_do_not_occur_are_never() -> None:
    found = nodes(regex("bccb(aa)*"), tail=True)
    unknown = found.state == NEVER
    assert unknown.any()
    assert (found.follow[unknown] == NEVER).all()


def test_other_components_are_refused() -> None:
    # Three states, permuted in all ways.
    m = machine(np.array([[1, 0, 2], [1, 2, 0]]))
    with pytest.raises(MachineError, match="3 states of machine is neither a counter"):
        nodes(m)


@pytest.mark.slow
def test_many_pairs_are_refused() -> None:
    """Cycles of different lengths, one after the other, need a clock of their product."""
    blocks, base = [], 0
    for size in (7, 8, 9, 11):
        step = base + (np.arange(size) + 1) % size
        exits = np.full(size, min(base + size, 34))
        blocks.append(np.stack([step, exits]))
        base += size
    with pytest.raises(MachineError, match="more than"):
        nodes(machine(np.concatenate(blocks, axis=1)))


def test_a_component_that_is_almost_a_counter_is_refused_and_no_error() -> None:
    """A letter whose number is known only after a pass over states that it leads from."""
    source = regex("(((aa|ba)((b|b)|ba))*|((a|(a|a))((a)*|(b|a))|b))")
    with pytest.raises(MachineError, match="neither a counter nor a memory"):
        nodes(source, False)
