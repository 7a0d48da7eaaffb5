"""An operation that the language does not have, added by its two declarations alone.

What it means, with the order of positions that its head must respect (as in
`program/operations/`), and how it becomes a head (as in `compiler/attention/`): nothing
else is told of it, and a Program with it is compiled, proved and run.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, ClassVar

import numpy as np
import pytest
from model_files import lowered

from krohn.algebra.automaton import Automaton, Semiautomaton
from krohn.compiler.attention import Lowering, Matrices, blank
from krohn.compiler.layout import Layout
from krohn.compiler.positions import Positions, recency_slope
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.program import LookBack, Map, Operation, Program, Token, table
from krohn.program.domains import BoolArray, ChannelDomain, IntArray, PossibleValues
from krohn.program.interpreter import states
from krohn.program.operations.base import Memory
from krohn.verify.proof import prove
from krohn.verify.testing.exhaustive import exhaustive

LENGTH, LETTERS = 8, 3
MACHINE = Automaton(
    Semiautomaton(
        np.array([[0, 1, 2, a] for a in range(LETTERS)]),
        tuple("abc"),
        ("a first", "b first", "c first", "nothing"),
    ),
    start=LETTERS,
    name="first letter",
)


@pytest.fixture(scope="module")
def initial() -> Iterator[type[Operation]]:
    """Declares the operation, and forgets it afterwards."""
    registries: list[dict[Any, Any]] = [Operation.named, Lowering.of]
    before = [dict(registry) for registry in registries]

    @dataclass(frozen=True, slots=True)
    class Initial(LookBack):
        """``source`` at position 1."""

        wire: ClassVar[str] = "initial"

        @property
        def reads(self) -> tuple[str, ...]:
            return (self.source,)

        def candidates(
            self, t: IntArray, asked: Sequence[IntArray]
        ) -> tuple[IntArray, IntArray, bool]:
            return np.minimum(t, 1), np.minimum(t, 1), False

        def position(self, read: Sequence[IntArray], t: IntArray) -> IntArray:
            return np.minimum(t, 1)

        def memory(self, own: ChannelDomain, read: Sequence[ChannelDomain]) -> Memory:
            return Memory(np.append(-1, own.domain), -1, 1)

        def step(
            self, own: ChannelDomain, read: Sequence[PossibleValues], cells: BoolArray
        ) -> tuple[BoolArray, BoolArray]:
            old, now = cells[:, 0], read[0].in_domain(own.domain)
            held = old[:, 1:] | old[:, :1] & now
            return held, np.hstack([np.zeros_like(old[:, :1]), held])[:, None]

    class InitialLowering(Lowering):
        """Score −slope·j, and BOS as low as position 2."""

        operation = Initial
        features = frozenset({"one", "bos", "index"})

        def matrices(
            self, layout: Layout, positions: Positions, looked: Any
        ) -> Matrices:
            query, key = blank(layout, 1)
            query[layout.features["one"][0], 0] = self.largest(positions)[0]
            key[layout.features["index"][0], 0] = -1.0
            key[layout.features["bos"][0], 0] = -2.0
            return query, key

        def largest(self, positions: Positions) -> list[float]:
            most = positions.fetched[Initial]
            return [recency_slope(positions.precision, most)]

    yield Initial
    for registry, old in zip(registries, before, strict=True):
        registry.clear()
        registry.update(old)


@pytest.fixture(scope="module")
def program(initial: type[Operation]) -> Program:
    """The state is the first letter."""
    letter = table({(a,): a for a in range(LETTERS + 1)})
    operations: dict[str, Operation] = {
        "token": Token(),
        "letter": Map(letter, ("token",)),
        "first": initial("letter"),  # type: ignore[call-arg]
    }
    decode = {(a,): a for a in range(LETTERS)}
    return Program(tuple("abc"), 4, LENGTH, operations, ("first",), decode)


@pytest.fixture(scope="module")
def file(program: Program) -> ModelFile:
    return lowered(program, MACHINE)


def test_it_means_the_first_letter(program: Program) -> None:
    words = np.array(list(product(range(LETTERS), repeat=4)))
    assert np.array_equal(states(program, words), np.repeat(words[:, :1], 4, axis=1))


def test_a_network_is_derived_and_proved_and_runs(file: ModelFile) -> None:
    proof = prove(file, MACHINE)
    assert (proof.verdict, proof.reason) == ("verified", "")
    assert exhaustive(Model(file), MACHINE, 4).passed


def test_a_network_that_looks_elsewhere_is_not_proved(file: ModelFile) -> None:
    tensors = {name: values.copy() for name, values in file.tensors.items()}
    tensors["blocks.0.attention.key"] *= -1
    wrong = replace(file, tensors=tensors)
    assert prove(wrong, MACHINE).verdict != "verified"
    assert not exhaustive(Model(wrong), MACHINE, 4).passed
