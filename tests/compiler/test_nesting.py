"""Programs may be nested deeper than Python calls: no arrow walks them by recursion."""

import sys

import numpy as np
import pytest

from krohn.algebra import zoo
from krohn.compiler.constructions.scan import sequential
from krohn.compiler.cost import predict
from krohn.compiler.decision_paths import Opener
from krohn.compiler.passes import evaluate_cone
from krohn.compiler.passes.recode import SplitDeepTables
from krohn.compiler.passes.simplify import InferDomains
from krohn.compiler.pipeline import Options, arrange, optimise
from krohn.network.precision import FLOAT32
from krohn.program import Map, Operation, Program, Select, Shift, Token, table

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
