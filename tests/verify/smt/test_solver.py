"""An answer that is not found in time is a third verdict."""

import z3

from verify.smt.solver import Limits, ask, solver


def test_a_question_that_takes_too_long_is_unknown() -> None:
    x, y, z = z3.Ints("x y z")
    cubes = x * x * x + y * y * y + z * z * z == 33  # the least x has 16 digits
    found = ask(solver(Limits(seconds=0.2)), [cubes])
    assert found.outcome == "unknown"
    assert found.reason


def test_the_seed_does_not_change_an_answer() -> None:
    x = z3.Real("x")
    for seed in range(5):
        asked = solver(Limits(seed=seed))
        assert ask(asked, [x > 0, x < 1]).outcome == "sat"
        assert ask(asked, [x > 1, x < 0]).outcome == "unsat"
