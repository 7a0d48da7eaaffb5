"""Paths decide, hold all that occurs, and are few; Programs may be nested deeply."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given, strategies as st

from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton, IntArray
from krohn.algebra.formats import json_format
from krohn.compiler.constructions.registry import construct
from krohn.compiler.constructions.scan import sequential
from krohn.compiler.cost import predict
from krohn.compiler.decision_paths import Opener, Path, leaves
from krohn.compiler.passes import evaluate_cone
from krohn.compiler.passes.recode import SplitDeepTables
from krohn.compiler.passes.simplify import InferDomains
from krohn.compiler.pipeline import Options, arrange, optimise
from krohn.compiler.transformer import lower
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FLOAT32, FLOAT64
from krohn.program import Map, Operation, Program, Select, Shift, Token, table
from krohn.program.interpreter import interpret

torch.set_num_threads(1)

LETTERS = 3


def letter(*values: int) -> Map:
    """A function of the letter; the last value is that of BOS."""
    return Map(table({(a,): v for a, v in enumerate(values)}), ("token",))


def of(function: Callable[..., int], domains: Mapping[str, int], *read: str) -> Map:
    """A function of channels with values 0, …, n − 1."""
    rows = product(*(range(domains[n]) for n in read))
    return Map(table({row: int(function(*row)) for row in rows}), read)


def program(**operations: Operation) -> Program:
    """A Program whose output is the last channel."""
    (*_, last) = operations
    found = Program(tuple("abc"), 1, 4, {"token": Token(), **operations}, (last,), {})
    found = InferDomains().apply(found)
    return replace(found, decode={(v,): 0 for v in found.domains[last]})


def sources(size: int) -> dict[str, Operation]:
    """Three channels of any values below ``size`` ≤ 4, from one letter each."""
    values = [v % size for v in range(LETTERS + 1)]
    found: dict[str, Operation] = {"e": letter(*values)}
    return found | {f"x{i}": Shift("e", i + 1) for i in range(3)}


def opened(found: Program, *stored: str) -> list[Path]:
    (top,) = found.outputs
    paths = Opener(found, stored).paths(top)
    assert paths is not None
    return paths


def fitting(paths: list[Path], values: Mapping[str, int]) -> list[int]:
    """What the paths decide on which some values lie."""
    fits = [p for p in paths if all(values[n] in v for n, v in p.given.items())]
    return [values[p.value] if isinstance(p.value, str) else p.value for p in fits]


def drawn(seed: int) -> Program:
    """Maps of Maps over a function of the letter at four positions."""
    rng = np.random.default_rng(seed)
    operations = sources(4)
    for i in range(rng.integers(1, 4)):
        found, names = program(**operations), list(operations)
        read = [names[j] for j in rng.integers(len(names), size=rng.integers(1, 4))]
        operations[f"m{i}"] = drawn_map(rng, found, names, read)
    found = program(**operations)
    return replace(
        found, one_hot=frozenset(n for n in found.domains if rng.random() < 0.3)
    )


def drawn_map(
    rng: np.random.Generator, found: Program, names: list[str], read: list[str]
) -> Map:
    if rng.random() < 0.3:
        count = max(found.domains[read[0]]) + 1
        options = [names[j] for j in rng.integers(len(names), size=count)]
        return Map(Select(), (read[0], *options))
    rows = product(*(found.domains[n] for n in read))
    return Map(table({row: int(rng.integers(3)) for row in rows}), tuple(read))


@given(st.integers(0, 2**32))
def test_what_occurs_lies_on_one_path_with_its_value(seed: int) -> None:
    found = drawn(seed)
    words = np.array(list(product(range(LETTERS), repeat=4)))
    values = interpret(found, words)
    (top,) = found.outputs
    paths = opened(found, *sources(4))
    for row in np.ndindex(len(words), 5):
        here = {n: int(column[row]) for n, column in values.items()}
        assert fitting(paths, here) == [here[top]]


@given(st.integers(0, 2**32))
def test_paths_ask_values_that_the_leaves_have(seed: int) -> None:
    found = drawn(seed)
    for path in opened(found, *sources(4)):
        for name, values in path.given.items():
            assert values
            assert values <= set(found.domains[name])


@given(st.integers(0, 2**32))
def test_integers_are_asked_for_runs(seed: int) -> None:
    found = drawn(seed)
    for path in opened(found, *sources(4)):
        for name, values in path.given.items():
            if name not in found.one_hot:
                inside = [
                    v for v in found.domains[name] if min(values) <= v <= max(values)
                ]
                assert sorted(values) == inside


TWO, FOUR = {f"x{i}": 2 for i in range(3)}, {f"x{i}": 4 for i in range(3)}
COUNTS: dict[str, tuple[Map, int, int]] = {
    "a constant": (of(lambda x, y: 7, FOUR, "x0", "x1"), 4, 1),
    "the first input": (of(lambda x, y: x, FOUR, "x0", "x1"), 4, 4),
    "and": (of(lambda *x: min(x), TWO, "x0", "x1", "x2"), 2, 4),
    "parity": (of(lambda *x: sum(x) % 2, TWO, "x0", "x1", "x2"), 2, 8),
    "at least 2": (of(lambda x: x >= 2, FOUR, "x0"), 4, 2),
    "even": (of(lambda x: x % 2, FOUR, "x0"), 4, 4),
    "a selection": (Map(Select(), ("x0", "x1", "x2")), 2, 2),
}


@pytest.mark.parametrize("name", list(COUNTS))
def test_known_functions_have_as_many_paths_as_their_diagrams(name: str) -> None:
    function, size, count = COUNTS[name]
    found = program(**sources(size), top=function)
    assert len(opened(found, *sources(size))) == count


def test_one_hot_leaves_are_asked_for_sets() -> None:
    """An even number is two runs of integers, but one set."""
    found = program(**sources(4), top=COUNTS["even"][0])
    found = replace(found, one_hot=frozenset(["x0"]))
    assert len(opened(found, *sources(4))) == 2


def test_letters_restrict_functions_of_the_letter() -> None:
    """Of the nine pairs of values of f and g, three letters and BOS leave three."""
    rows = {(i, j): 3 * i + j for i in range(3) for j in range(3)}
    found = program(
        f=letter(0, 1, 2, 0), g=letter(2, 1, 0, 2), top=Map(table(rows), ("f", "g"))
    )
    assert sorted(str(p.value) for p in opened(found, "f", "g")) == ["2", "4", "6"]


def test_too_many_paths_are_none() -> None:
    found = program(**sources(2), top=COUNTS["parity"][0])
    opener = Opener(found, list(sources(2)))
    assert opener.paths("top", 7) is None
    assert opener.paths("top", 8) is not None


def test_long_chains_of_tables_are_walked_once() -> None:
    operations = sources(2)
    last = "x0"
    for i in range(60):
        operations[f"m{i}"] = of(lambda x: 1 - x, {last: 2}, last)
        last = f"m{i}"
    assert len(opened(program(**operations), *sources(2))) == 2


def test_leaves_are_what_is_stored_or_attends() -> None:
    found = program(
        **sources(2),
        m=of(lambda x, y: x ^ y, TWO, "x0", "x1"),
        top=of(lambda m, z: m & z, {"m": 2, "x2": 2}, "m", "x2"),
    )
    assert leaves(found, "top", ()) == ("x0", "x1", "x2")
    assert leaves(found, "top", ("m",)) == ("m", "x2")


def shown(
    machine: Automaton, construction: str, options: Options, words: torch.Tensor
) -> IntArray:
    """What the network of a construction says after every letter."""
    found = optimise(construct(construction, machine, words.shape[1]), options)
    network = lower(*arrange(found, options), strict=False)
    header = {
        "architecture": network.architecture,
        "machine": json_format.claimed_machine(machine),
        "claim": {"dtype": "float64", "length": words.shape[1]},
    }
    tensors = {n: FLOAT64.round(t) for n, t in network.tensors.items()}
    return np.asarray(Model(ModelFile(header, tensors, FLOAT64))(words).argmax(-1))


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("name", "construction"),
    [
        ("Grid4", "cascade"),
        ("S3", "cascade"),
        ("Dyck2,2", "dyck"),
        ("Grid3", "gridworld"),
    ],
)
def test_merged_and_unmerged_networks_say_the_same(
    name: str, construction: str
) -> None:
    machine = zoo.machine(name)
    words = torch.tensor(list(product(range(len(machine.letters)), repeat=4)))
    expected = machine.semiautomaton.trace(words.numpy(), machine.start)
    for most_paths in (1024, 0):
        options = Options(FLOAT64, most_paths=most_paths)
        assert np.array_equal(shown(machine, construction, options, words), expected)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("name", "construction", "length"),
    [
        ("S4", "cascade", 12),
        ("D6", "cascade", 20),
        ("Dyck4,2", "dyck", 20),
        ("Grid4", "cascade", 20),
    ],
)
def test_every_layer_of_the_merged_form_attends(
    name: str, construction: str, length: int
) -> None:
    options = Options(FLOAT32, most_paths=1024)
    program = construct(construction, zoo.machine(name), length)
    merged = arrange(optimise(program, options), options)[0].plan
    assert merged.blocks == merged.depth


def test_more_paths_than_allowed_take_a_layer_of_their_own() -> None:
    """In S4 at T = 20 the last table has 2646 paths."""
    options = Options(FLOAT32, most_paths=1024)
    program = construct("cascade", zoo.machine("S4"), 20)
    found = optimise(program, options)
    assert [
        arrange(found, replace(options, most_paths=m))[0].plan.blocks
        for m in (2645, 2646)
    ] == [4, 3]


DEEP = 2 * sys.getrecursionlimit()


def nested(depth: int, select: bool = False) -> Program:
    """Maps that copy one another while the letter is 0, and say 1 otherwise."""
    letter = table({(0,): 0, (1,): 1, (2,): 0})
    one = table({(0,): 1, (1,): 1, (2,): 1})
    both = table({(e, x): x if e == 0 else 1 for x in (0, 1) for e in (0, 1)})
    operations: dict[str, Operation] = {
        "token": Token(),
        "e": Map(letter, ("token",)),
        "one": Map(one, ("token",)),
        "m0": Shift("e", 1),
    }
    for i in range(1, depth + 1):
        step = Map(Select(), ("e", f"m{i - 1}", "one"))
        operations[f"m{i}"] = step if select else Map(both, ("e", f"m{i - 1}"))
    decode = {(0,): 0, (1,): 1}
    return InferDomains().apply(
        Program(("a", "b"), 2, 4, operations, (f"m{depth}",), decode)
    )


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize("select", [False, True])
def test_paths_through_deep_maps(select: bool) -> None:
    found = nested(DEEP, select)
    paths = Opener(found, ("e", "one", "m0")).paths(f"m{DEEP}", 8)
    assert paths is not None
    for before, e in ((0, 0), (1, 0), (0, 1), (1, 1)):
        row = {"e": e, "m0": before, "one": 1}
        fits = [p for p in paths if all(row[n] in v for n, v in p.given.items())]
        (value,) = [row[p.value] if isinstance(p.value, str) else p.value for p in fits]
        assert value == (1 if e else before)


def test_values_of_deep_maps() -> None:
    columns = {"e": np.array([0, 0, 1, 1]), "m0": np.array([0, 1, 0, 1])}
    found = evaluate_cone(nested(DEEP), f"m{DEEP}", columns)
    assert found.tolist() == [0, 1, 1, 1]


@pytest.mark.slow
def test_deep_tables_are_recoded() -> None:
    length = sys.getrecursionlimit() // 4
    program = InferDomains().apply(sequential(zoo.machine("S3"), length))
    split = SplitDeepTables(anew=True)
    split.check(program, split.apply(program))


@pytest.mark.sample(1)
@pytest.mark.parametrize("strict", [False, True])
def test_deep_programs_are_laid_out_and_priced(strict: bool) -> None:
    options = Options(FLOAT32, strict=strict)
    length = sys.getrecursionlimit() // 6
    layout, features = arrange(
        optimise(sequential(zoo.machine("C2"), length), options), options
    )
    assert predict(layout, features, strict, False).depth == length
