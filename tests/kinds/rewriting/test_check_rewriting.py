"""Theorems 5k and R2: texts of rewriting systems, by standard and by sparse heads."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

import krohn
from krohn.kinds.rewriting.check import nearby
from krohn.kinds.rewriting.commands import (
    Rewritings,
    window,
)
from krohn.kinds.rewriting.source import (
    arithmetic,
    find_by_name,
)
from krohn.kinds.rewriting.source_derivation import text_of
from krohn.kinds.rewriting.statement import (
    Rewriting,
    Rule,
)
from krohn.kinds.rewriting.statement_program import program_of
from krohn.network.modelfile import ModelFile
from krohn.program import Map, Program, table
from krohn.program.errors import Refused
from krohn.program.operations.latest import Latest
from krohn.program.program import statement_of
from krohn.verify.checker.affine_arithmetic import Noisy, exact
from krohn.verify.checker.arithmetic import FORMATS
from krohn.verify.checker.fetches import against
from krohn.verify.checker.same_program import Classes
from krohn.verify.proof import prove
from krohn.verify.search.same_program import find

KIND = Rewritings()
SMALL = Rewriting(
    "small",
    tuple("ab"),
    (Rule(((1,), (0,)), 0, 2, (0,)), Rule(((0, 2), (1,)), 1, 2, ())),
    (),
    4,
)
LENGTH = 24
PARTS = 20


def compiled(source: Any, **how: Any) -> ModelFile:
    model = krohn.compile(source, **how)
    assert model.proof is not None
    return model.file


def every_line_is_right(file: ModelFile) -> bool:
    said = KIND.every(file, file.header["source"]["longest"], lambda *_: None)
    return said.counterexample is None


def stating(file: ModelFile, **changes: Any) -> ModelFile:
    return replace(file, header={**file.header, **changes})


def with_source(file: ModelFile, **changes: Any) -> ModelFile:
    return stating(file, source={**file.header["source"], **changes})


@pytest.fixture(scope="module", params=["standard", "sparse"])
def file(request: pytest.FixtureRequest) -> ModelFile:
    return compiled(SMALL, length=LENGTH, attention=request.param)


@pytest.mark.sample(1)
def test_what_is_proved_is_right_for_every_line(file: ModelFile) -> None:
    assert prove(file, None).verdict == "verified"
    assert every_line_is_right(file)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["Sorting3", "Brackets4", "Counter4"])
def test_systems_by_name(name: str, dtype: str) -> None:
    file = compiled(name, length=30, attention="sparse", dtype=dtype)
    assert every_line_is_right(file)


def sparser(file: ModelFile, block: int) -> ModelFile:
    """Its heads see so many positions."""
    sizes: Mapping[str, Any] = {
        "kind": "sparse",
        "block": block,
        "windows": 1,
        "last": 1,
    }
    shape = file.header["architecture"]
    blocks = [
        {**b, "attention": sizes} if "attention" in b else b for b in shape["blocks"]
    ]
    return stating(file, architecture={**shape, "blocks": blocks})


@pytest.mark.slow
def test_a_line_and_one_position_must_be_seen() -> None:
    """The window n + 1 is tight: with n some line is not copied right."""
    file = compiled(SMALL, length=LENGTH, attention="sparse")
    blocks = file.header["architecture"]["blocks"]
    assert {b["attention"]["block"] for b in blocks if "attention" in b} == {5}
    assert window(SMALL) == SMALL.longest + 1 == 5
    narrow = sparser(file, 4)
    proof = prove(narrow, None)
    assert proof.verdict != "verified"
    assert "may not see" in proof.reason
    assert not every_line_is_right(narrow)


@pytest.mark.slow
def test_longer_lines_than_the_network_sees_are_not_proved() -> None:
    file = compiled(SMALL, length=LENGTH, attention="sparse")
    assert prove(with_source(file, longest=5), None).verdict != "verified"


OTHERS = [
    {"rules": []},
    {"letters": ["a", "b", "=", "<end>"]},
    {"longest": 3},
    {"kind": "program"},
    {"kind": "chain-of-thought"},
]


@pytest.mark.sample(1)
@pytest.mark.parametrize("change", OTHERS)
def test_another_source_is_not_proved(file: ModelFile, change: dict[str, Any]) -> None:
    assert prove(with_source(file, **change), None).verdict != "verified"


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_no_other_rules_are_proved(file: ModelFile, part: int) -> None:
    """Each change of a rule that changes some text is refused."""
    lines = [x for n in range(1, 5) for x in product(range(2), repeat=n)]
    own = [text_of(SMALL, line, LENGTH) for line in lines]
    windows = [((1,), (0,)), ((0,), (1,)), ((0, 1), (1,)), ((0, 2), (1,)), ((2,), (1,))]
    every = list(product(windows, windows, ((), (0,), (1,), (0, 0)), (0, 1)))
    tried = 0
    for first, second, writes, start in every[part::PARTS]:
        try:
            rules = (Rule(first, start, 2, writes), Rule(second, 1, 2, ()))
            other = replace(SMALL, rules=rules)
        except Refused:
            continue
        changed = with_source(file, rules=other.to_wire()["rules"])
        tried += 1
        if prove(changed, None).verdict == "verified":
            assert [text_of(other, line, LENGTH) for line in lines] == own
    assert tried > 60 // PARTS


def test_flags_of_other_heads_are_not_near() -> None:
    """A look-back is near if its flag is that of one of the theorem, and not else."""
    program = program_of(SMALL, LENGTH)
    own = near(program)
    latest = {n for n, op in program.operations.items() if isinstance(op, Latest)}
    assert own == latest
    bit = {(0, 0): 1, (0, 1): 1, (1, 0): 0, (1, 1): 1}
    order = {**program.operations, "seen.flag": Map(table(bit), ("ends", "ends.1"))}
    far = {**order, "far": Latest("letter", "seen.flag")}
    assert "far" not in near(replace(program, operations=far))


def near(program: Program) -> set[str]:
    """The look-backs of a Program that are known to fetch from nearby."""
    own, said = statement_of(program), statement_of(program_of(SMALL, LENGTH))
    classes = Classes(own, said, find(own, said))
    return set(nearby(own, SMALL, said, classes).near)


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize(("operators", "prime"), [(1, 5), (2, 3)])
def test_all_expressions_of_few_operators(operators: int, prime: int) -> None:
    system = arithmetic(operators, prime)
    file = compiled(f"Arithmetic{operators},{prime}", attention="sparse")
    numbers = [str(x) for x in range(prime)]
    lines = []
    for parts in product(*[numbers, "+-*/"] * operators, numbers):
        lines.append(parts)
        if operators == 2:
            lines.append(("(", *parts[:3], ")", *parts[3:]))
            lines.append((*parts[:2], "(", *parts[2:], ")"))
    told = [tuple(map(system.letters.index, line)) for line in lines]
    assert KIND.simulate_inputs(file, told, lambda *_: None).counterexample is None


@pytest.mark.slow
def test_long_texts_of_arithmetic() -> None:
    file = compiled("Arithmetic16,11", attention="sparse")
    assert KIND.sample(file, 60, 1, lambda *_: None).counterexample is None


@pytest.mark.slow
def test_the_system_that_a_name_means_is_in_the_file() -> None:
    file = compiled("Brackets4")
    assert KIND.of_file(file) == find_by_name("Brackets4")


def test_noise_of_a_distance_moves_all_scores_alike() -> None:
    """A quarter of a step is fine, half a step is not: then a neighbour scores as much."""
    form, j = FORMATS["float64"], np.arange(200.0)
    keys = exact(np.stack([j, j**2], axis=1), form)
    right = np.eye(200, dtype=bool)
    for noise, fine in ((0.25, True), (0.49, True), (0.51, False)):
        value = np.stack([2 * 64 * j, np.full(200, -64.0)], axis=1)
        rest = np.zeros_like(value)
        rest[:, 0] = 2 * 64 * noise
        query = Noisy(value, np.zeros((0, *value.shape)), rest, form)
        leak, error, *_ = against(query, keys, right.argmax(axis=1), j > j[:, None])
        assert (leak < 0) == fine
        assert error < 1e-6
