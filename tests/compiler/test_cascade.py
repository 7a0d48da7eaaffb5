"""Cascades of random machines: compiled, proved, and run from every start state."""

from collections.abc import Iterator
from functools import cache
from itertools import islice

import numpy as np
import pytest
import torch

import krohn
from krohn.algebra.automaton import Automaton, Semiautomaton
from krohn.algebra.budget import Budget
from krohn.compiler import CompileError
from krohn.compiler.constructions import cascade as construction
from krohn.compiler.constructions.cascade import cascade
from krohn.compiler.cost import result_of
from krohn.compiler.layout import schedule
from krohn.compiler.pipeline import Options, optimise
from krohn.network.model import Model
from krohn.network.precision import PRECISIONS
from krohn.verify.testing.exhaustive import exhaustive
from krohn.verify.testing.sampling import sample

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
        channels = result_of(cascade(machine, 1)).operations
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
    assert exhaustive(model, machine, SHORT).has_passed
    assert sample(model, machine, SAMPLES, LENGTH, seed=1).has_passed


@pytest.mark.slow
@pytest.mark.parametrize("index", range(QUICK))
def test_random_machines(index: int) -> None:
    check(machines(QUICK)[index])


@pytest.mark.slow
@pytest.mark.parametrize("index", range(ALL))
def test_random_machines_from_every_start(index: int) -> None:
    machine = machines(ALL)[index]
    for state in machine.states:
        check(machine.with_start(state))


@pytest.mark.slow
@pytest.mark.parametrize("length", [1, 2, 20])
def test_bounds_before_the_program_hold(length: int) -> None:
    """What is said of the depth is never more than the depth, and mostly all of it."""
    said, scheduled = [], []
    for machine in islice(drawn(1), 9):
        steps = cascade(machine, length)
        bounds: list[int] = []
        try:
            while True:
                bounds.append(next(steps).depth)
        except StopIteration as end:
            options = Options(PRECISIONS["float64"], most_paths=1024)
            program = optimise(end.value, options)
            scheduled.append(schedule(program, 1024, False).depth)
            said.append(bounds[-1])
        except CompileError:
            continue
        assert bounds == sorted(bounds)
        assert said[-1] <= scheduled[-1]
    assert len(said) > 3
    same = sum(s == d for s, d in zip(said, scheduled, strict=True))
    assert length == 1 or same >= 0.9 * len(said)


def test_a_search_that_was_cut_short_says_so() -> None:
    machine = krohn.zoo("PermReset4")
    result_of(cascade(machine, 8, plenty := Budget(100_000)))
    assert plenty.cut == ()
    with pytest.raises(CompileError, match=r"not decomposed.*a higher effort="):
        result_of(cascade(machine, 8, few := Budget(100)))
    assert [what.partition(":")[0] for what in few.cut] == ["derived", "congruence"]


def test_a_cascade_too_large_for_the_effort_is_not_laid_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = np.random.default_rng(8).integers(0, 8, (2, 8))
    machine = Automaton(Semiautomaton(rows, ("a", "b"), tuple("pqrstuvw")))
    # Of 861 nodes; one that is too large for all that it took to find it has thousands.
    monkeypatch.setattr(construction, "PAIRS_PER_STEP", 1)
    with pytest.raises(CompileError, match=r"nodes of wiring.*a higher effort="):
        result_of(cascade(machine, 8, few := Budget(300_000)))
    assert few.cut[-1].endswith("nodes of wiring was not laid out")
