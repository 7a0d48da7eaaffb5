"""Named machines, each pushed through every level of the compiler."""

import gc
import math
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import schemas
import torch
import typer.main
import typer.testing
from hypothesis import settings
from slices_here import DELETED, asks_for_deleted, is_left_out, skip_tests_of_deleted
from threadpoolctl import threadpool_limits

import krohn
from krohn import cli
from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton, IntArray, Semiautomaton
from krohn.commands import options
from krohn.compiled_model import CompiledModel
from krohn.compiler.cost import Cost, predict
from krohn.compiler.layout import Layout
from krohn.compiler.pipeline import Options, arrange, optimise
from krohn.compiler.planning import plans
from krohn.compiler.positions import Positions
from krohn.network.model import Model
from krohn.network.precision import PRECISIONS
from krohn.program import Program
from krohn.program.slices import GROUPS

# What tests of a slice share lies beside them.
for _group in GROUPS:
    sys.path += map(str, sorted(Path(__file__).parent.joinpath(_group).iterdir()))

# Threads of linear algebra wait for one another where matrices are small; so in processes
# that tests start.
torch.set_num_threads(1)
threadpool_limits(1)
os.environ.setdefault("OMP_NUM_THREADS", "1")

# The same examples everywhere, so that a commit that passed passes again; another
# draw each time with `pytest --hypothesis-profile=explore`.
settings.register_profile(
    "repeatable", deadline=None, derandomize=True, max_examples=15
)
settings.register_profile("explore", deadline=None, max_examples=500)
settings.load_profile("repeatable")

Key = tuple[str, str, int, str, bool]
GOLDEN = (math.sqrt(5) - 1) / 2


class LeftOut(pytest.Module):
    """A file that imports slices which were deleted."""

    def collect(self) -> list[pytest.Item | pytest.Collector]:
        """Nothing of it."""
        pytest.skip("its slices were deleted", allow_module_level=True)


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makemodule(
    module_path: Path, parent: pytest.Collector
) -> pytest.Module | None:
    """Leave out test files that import slices which were deleted."""
    gone = bool(DELETED) and is_left_out(module_path)
    return LeftOut.from_parent(parent, path=module_path) if gone else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Iterator[None]:
    """Skip tests that ask for what was deleted."""
    try:
        yield
    except (ModuleNotFoundError, AttributeError) as error:
        if DELETED and asks_for_deleted(error):
            pytest.skip(str(error))
        raise


def pytest_configure(config: pytest.Config) -> None:
    """Say what the marks of these tests are for."""
    line = (
        "of the copies of a test, n are quick, the others slow; at: which is the first"
    )
    config.addinivalue_line("markers", f"sample(n, at=0): {line}")


def pytest_collection_finish() -> None:
    """Modules and tests stay: let the garbage collector not look at them again."""
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is beyond a sample as slow.

    The first copy is quick, and as many others as are asked for: each lies in the largest
    gap that is left, so that the sample has something of every part of the list. Copies
    that are slow anyway do not count. Tests of one list that begin ``at`` different copies
    have different samples.
    """
    copies = defaultdict[tuple[str, int, int], list[pytest.Item]](list)
    for item in items:
        mark = item.get_closest_marker("sample")
        if mark and not item.get_closest_marker("slow"):
            test, first = item.nodeid.partition("[")[0], mark.kwargs.get("at", 0)
            copies[test, mark.args[0], first].append(item)
    for (_, count, first), every in copies.items():
        size = len(every)
        steps = (int(i * GOLDEN % 1 * size) for i in range(50 * size))
        places = ((first + step) % size for step in steps)
        quick = set(islice(dict.fromkeys(places), count))
        for place, item in enumerate(every):
            if place not in quick:
                item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session", autouse=True)
def held_against_schemas() -> Iterator[None]:
    """Hold all JSON that any command prints in any test against its schema."""
    line = options.json_line

    def held(name: str, told: Mapping[str, Any]) -> str:
        return schemas.hold(line(name, told))

    with pytest.MonkeyPatch.context() as patch:
        for module in (options, cli):
            patch.setattr(module, "json_line", held)
        yield


@pytest.fixture(scope="session", autouse=True)
def tests_of_deleted_slices_are_skipped() -> Iterator[None]:
    """Where nothing was deleted, nothing is changed."""
    with pytest.MonkeyPatch.context() as patch:
        if DELETED:
            skip_tests_of_deleted(patch)
        yield


@pytest.fixture(scope="session", autouse=True)
def one_parser() -> Iterator[None]:
    """Make the parser of a command once, and not for each of a thousand runs."""
    made = cache(typer.main.get_command)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.main, "get_command", made)
        patch.setattr(typer.testing, "_get_command", made)
        yield


def machine_of(transitions: list[list[int]], start: int = 0) -> Automaton:
    """A machine with letters a0, a1, … and states q0, q1, … from its table."""
    table = np.array(transitions)
    letters = tuple(f"a{i}" for i in range(table.shape[0]))
    states = tuple(f"q{i}" for i in range(table.shape[1]))
    return Automaton(Semiautomaton(table, letters, states), start=start, name="own")


def rooms(width: int, height: int, start: int) -> Automaton:
    """A gridworld of two dimensions; its letters move in one of them, or stay."""
    x, y = np.divmod(np.arange(width * height), height)
    steps = [(-1, 0), (1, 0), (0, -1), (0, 1), (0, 0)]
    rows = [
        np.clip(x + a, 0, width - 1) * height + np.clip(y + b, 0, height - 1)
        for a, b in steps
    ]
    return machine_of(np.stack(rows).tolist(), start)


OWN = {
    "one state": machine_of([[0], [0]]),
    "one letter": machine_of([[1, 2, 2]]),
    "one of each": machine_of([[0]]),
    "unreachable": machine_of([[1, 0, 3, 2], [0, 0, 0, 0]]),
    "subdirect": zoo.machine("C2xC3").with_start(zoo.machine("C2xC3").states[4]),
    "C5 from 3": zoo.machine("C5").with_start("3"),
    "rooms": rooms(3, 4, 0),
    "rooms from 7": rooms(3, 4, 7),
    # State c + 3m: letters turn the counter c and write 1, turn it, or write 0 to m.
    "counter and memory": machine_of(
        [[4, 5, 3, 4, 5, 3], [1, 2, 0, 4, 5, 3], [0, 1, 2, 0, 1, 2]]
    ),
}


@lru_cache(maxsize=64)
def find(name: str) -> Automaton:
    """A machine of this table or of the zoo; ``name from state`` sets the start."""
    if name in OWN:
        return OWN[name]
    known, _, start = name.partition(" from ")
    machine = zoo.machine(known)
    return machine.with_start(start) if start else machine


@dataclass(frozen=True)
class Levels:
    """One machine at every level of the compiler.

    Attributes:
        machine: What is computed.
        options: How it was lowered.
        program: The Program as constructed.
        optimised: The Program after all passes.
        layout: Where its channels lie.
        features: Its position features.
        cost: What was predicted.
        compiled: What would be written, with its proof.
        model: The torch module.
    """

    machine: Automaton
    options: Options
    program: Program
    optimised: Program
    layout: Layout
    features: Positions
    cost: Cost
    compiled: CompiledModel
    model: Model

    @property
    def length(self) -> int:
        """T."""
        return self.program.length

    def words(self, count: int = 24, seed: int = 0) -> IntArray:
        """Random words of full length."""
        return random_words(self.machine, count, self.length, seed)

    def expected(self, words: IntArray) -> IntArray:
        """The machine's states after every letter."""
        return self.machine.semiautomaton.trace(words, self.machine.start)


def random_words(
    machine: Automaton, count: int, length: int, seed: int = 0
) -> IntArray:
    generator = np.random.default_rng(seed)
    return generator.integers(len(machine.letters), size=(count, length))


@cache  # tests go through all keys again and again
def _levels(key: Key) -> Levels:
    name, construction, length, dtype, strict = key
    machine = replace(find(name), output=None)  # its states are compared
    compiled = krohn.compile(machine, length, construction, dtype=dtype, strict=strict)
    options = Options(PRECISIONS[dtype], strict)
    blocks = compiled.file.header["architecture"]["blocks"]
    ways = plans(construction, machine, length, options)
    way = next(w for w in ways if w.cost.layers == len(blocks))
    program, options = way.program, way.options
    optimised = optimise(program, options)
    layout, features = arrange(optimised, options)
    return Levels(
        machine,
        options,
        program,
        optimised,
        layout,
        features,
        predict(layout, features, strict),
        compiled,
        Model(compiled.file),
    )


@pytest.fixture(scope="session")
def levels() -> Callable[..., Levels]:
    """Push a named machine through every level; results are kept for all tests."""

    def build(
        name: str,
        construction: str,
        length: int = 12,
        dtype: str = "float32",
        strict: bool = False,
    ) -> Levels:
        return _levels((name, construction, length, dtype, strict))

    return build


@pytest.fixture(scope="session")
def machine() -> Callable[[str], Automaton]:
    """A named machine."""
    return find


@pytest.fixture(scope="session")
def own() -> Callable[..., Automaton]:
    """A machine from its transition table."""
    return machine_of


@pytest.fixture(scope="session")
def words_of() -> Callable[..., IntArray]:
    """Random words of a machine."""
    return random_words
