"""Trees of parities: the leaf that is reached, by parities side by side in one layer."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given, strategies as st

import krohn
from krohn.algebra import zoo
from krohn.algebra.automaton import IntArray
from krohn.algebra.errors import MachineError
from krohn.algebra.structure import as_parity_tree
from krohn.compiler import CompileError
from krohn.compiler.constructions.registry import construct
from krohn.network.model import Model
from krohn.program.interpreter import states
from krohn.verify.proof import prove

SMALL = [(2, 2), (2, 3), (3, 1)]


def size(depth: int, variables: int) -> int:
    return (2**depth - 1) * variables


def leaf(word: IntArray, depth: int, variables: int) -> int:
    """The class of a word by its definition, 0 to 2^D − 1 from the left."""
    node = 1
    for _ in range(depth):
        read = word[(node - 1) * variables : node * variables]
        node = 2 * node + (1 if np.prod(1 - 2 * read) > 0 else 0)
    return node - 2**depth


def padded(word: IntArray, depth: int, variables: int) -> list[int]:
    """The class of each prefix, with zeros in place of what follows."""
    prefixes = (np.where(np.arange(len(word)) <= t, word, 0) for t in range(len(word)))
    return [leaf(prefix, depth, variables) for prefix in prefixes]


def every(length: int) -> IntArray:
    return np.array(list(product((0, 1), repeat=length)))


@given(st.sampled_from([*SMALL, (3, 5), (4, 2)]), st.data())
def test_the_machine_says_the_leaf_of_every_prefix(
    shape: tuple[int, int], data: st.DataObject
) -> None:
    machine, length = zoo.machine(f"ParityTree{shape[0]},{shape[1]}"), size(*shape)
    bits = data.draw(st.lists(st.integers(0, 1), min_size=length, max_size=length + 3))
    reached = machine.semiautomaton.trace(np.array([bits]), machine.start)[0]
    assert machine.output is not None
    shown = machine.output.table[reached].tolist()
    assert shown == padded(np.array(bits), *shape)


def test_the_machine_forgets_what_is_not_on_the_path() -> None:
    assert len(zoo.machine("ParityTree3,5").states) == 176
    output = zoo.machine("ParityTree3,5").output
    assert output is not None
    assert output.names == tuple("12345678")


@pytest.mark.parametrize("name", ["ParityTree0,3", "ParityTree3,0", "ParityTree11,1"])
def test_a_tree_has_a_depth_and_bits(name: str) -> None:
    with pytest.raises(MachineError, match="name a depth"):
        zoo.machine(name)


@pytest.mark.sample(1)
@pytest.mark.parametrize("shape", SMALL)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_every_word_is_right_on_the_network(shape: tuple[int, int], dtype: str) -> None:
    name = f"ParityTree{shape[0]},{shape[1]}"
    words = every(size(*shape))
    compiled = krohn.compile(
        name, size(*shape), "parity-tree", observe="outputs", dtype=dtype
    )
    shown = Model(compiled.file)(torch.from_numpy(words)).argmax(-1)
    assert shown.tolist() == [padded(word, *shape) for word in words]


@pytest.mark.slow
def test_eight_classes_by_seven_parities_of_five() -> None:
    """Section 4.2.7.3, with irrelevant bits behind the 35 relevant ones."""
    compiled = krohn.compile("ParityTree3,5", 100, observe="outputs")
    found = compiled.summary()
    assert compiled.construction == "parity-tree"
    assert compiled.proof is not None
    assert compiled.proof.verdict == "verified"
    assert (found["depth"], found["layers"], found["heads"]) == (1, 1, 7)
    words = np.random.default_rng(0).integers(2, size=(200, 100))
    shown = Model(compiled.file)(torch.from_numpy(words)).argmax(-1)[:, -1]
    assert shown.tolist() == [leaf(word, 3, 5) for word in words]


@given(
    st.sampled_from(["ParityTree2,1", "ParityTree2,2"]), st.integers(1, 8), st.data()
)
def test_states_can_be_said_from_any_start(
    name: str, length: int, data: st.DataObject
) -> None:
    machine = zoo.machine(name)
    started = replace(
        machine.with_start(data.draw(st.sampled_from(machine.states))), output=None
    )
    try:
        program = construct("parity-tree", started, length)
    except CompileError:
        found = as_parity_tree(started, length, 32)
        assert found is not None
        program = construct("parity", started, length)
    expected = started.semiautomaton.trace(every(length), started.start)
    assert np.array_equal(states(program, every(length)), expected)


def test_another_tree_is_refuted() -> None:
    compiled = krohn.compile("ParityTree2,2", 6, "parity-tree", observe="outputs")
    proof = prove(compiled.file, zoo.machine("ParityTree2,3"))
    assert proof.verdict == "refuted"
