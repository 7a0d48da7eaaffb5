"""Cascades of random machines: compiled, proved, and run from every start state."""

from collections.abc import Iterator
from functools import cache
from itertools import islice

import numpy as np
import pytest
import torch

import krohn
from algebra.automaton import Automaton
from algebra.semiautomaton import Semiautomaton
from compiler.constructions.cascade import cascade
from compiler.errors import CompileError
from network.model import Model
from verify.exhaustive import exhaustive
from verify.sampling import sample

torch.set_num_threads(1)

LENGTH = 33
SHORT = 6
SAMPLES = 40
QUICK, ALL = 12, 60
MOST = 8


def drawn(seed: int) -> Iterator[Automaton]:
    """Machines of 2–5 states and 1–3 letters, every second with a permutation."""
    rng = np.random.default_rng(seed)
    while True:
        letters, size = int(rng.integers(1, 4)), int(rng.integers(2, 6))
        rows = rng.integers(0, size, (letters, size))
        if rng.random() < 0.5:
            rows[0] = rng.permutation(size)
        names = tuple("abc"[:letters]), tuple("pqrst"[:size])
        yield Automaton(Semiautomaton(rows, *names), start=int(rng.integers(size)))


def served(machine: Automaton) -> bool:
    """Whether all groups are solvable, and there are some components, but few.

    With ten and more, tables grow so large that a proof takes a minute.
    """
    try:
        channels = cascade(machine, 1).operations
    except CompileError as reason:
        if "not solvable" not in str(reason):
            raise
        return False
    if any(name.startswith("scan") for name in channels):
        return False
    return 2 <= sum(name.startswith("now") for name in channels) <= MOST


@cache
def machines(count: int) -> tuple[Automaton, ...]:
    return tuple(islice(filter(served, drawn(0)), count))


def check(machine: Automaton) -> None:
    """The network of a machine is proved, and right on short and on long words."""
    built = krohn.compile(machine, LENGTH, "cascade", dtype="float32")
    assert built.proof is not None
    assert built.proof.verdict == "verified"
    model = Model(built.file)
    assert exhaustive(model, machine, SHORT).passed
    assert sample(model, machine, SAMPLES, LENGTH, seed=1).passed


@pytest.mark.parametrize("index", range(QUICK))
def test_random_machines(index: int) -> None:
    check(machines(QUICK)[index])


@pytest.mark.slow
@pytest.mark.parametrize("index", range(ALL))
def test_random_machines_from_every_start(index: int) -> None:
    machine = machines(ALL)[index]
    for state in machine.states:
        check(machine.with_start(state))
