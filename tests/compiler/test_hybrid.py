"""Cascades in which only what is not solvable is scanned."""

import numpy as np
import numpy.typing as npt
import pytest

import krohn
from krohn.algebra.automaton import Automaton, Semiautomaton

FIVE_CYCLE, SWAP = [1, 2, 3, 4, 0], [1, 0, 2, 3, 4]
PAIRS = [(f, q) for f in (0, 1) for q in range(5)]
LENGTH = 20


def machine(name: str, *rows: npt.ArrayLike) -> Automaton:
    table = np.array(rows)
    letters = tuple(f"a{i}" for i in range(table.shape[0]))
    states = tuple(f"q{i}" for i in range(table.shape[1]))
    return Automaton(Semiautomaton(table, letters, states), name=name)


def steered() -> Automaton:
    """A flip-flop chooses which permutation of five points the third letter is."""
    off = [q for _, q in PAIRS]
    on = [5 + q for _, q in PAIRS]
    go = [5 * f + (SWAP if f else FIVE_CYCLE)[q] for f, q in PAIRS]
    return machine("steered", off, on, go)


def steering() -> Automaton:
    """Five points that are permuted decide whether a flip-flop is set."""
    cycle = [5 * f + FIVE_CYCLE[q] for f, q in PAIRS]
    swap = [5 * f + SWAP[q] for f, q in PAIRS]
    test = [5 * (1 if q == 0 else f) + q for f, q in PAIRS]
    clear = [q for _, q in PAIRS]
    return machine("steering", cycle, swap, test, clear)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(
    ("built", "depth"), [(steered(), 1 + 5), (steering(), 5 + 1 + 1)]
)
def test_only_the_group_that_is_not_solvable_is_scanned(
    built: Automaton, depth: int, dtype: str
) -> None:
    """⌈log₂ 20⌉ = 5 layers for S5, one for the flip-flop, one to look at S5 before."""
    model = krohn.compile(built, LENGTH, "cascade", dtype=dtype)
    assert model.summary()["depth"] == depth
    assert model.proof is not None
    assert model.proof.verdict == "verified"


@pytest.mark.sample(1)
@pytest.mark.parametrize("length", [1, 2, 3, 7, 8])
@pytest.mark.parametrize("built", [steered(), steering()], ids=["steered", "steering"])
def test_hybrids_are_right_on_every_word(built: Automaton, length: int) -> None:
    model = krohn.compile(built, length, "cascade")
    few = min(length, 5)
    report = krohn.verify(model.file, exhaustive=few, sample=100, length=few)
    assert report.verdict == "verified"


@pytest.mark.slow
@pytest.mark.parametrize("start", range(10))
def test_hybrids_start_anywhere(start: int) -> None:
    built = steering().with_start(f"q{start}")
    report = krohn.verify(krohn.compile(built, 6, "cascade"), exhaustive=4, length=4)
    assert report.verdict == "verified"
