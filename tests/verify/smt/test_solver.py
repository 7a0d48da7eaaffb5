"""An answer that is not found in time is a third verdict."""

import os
import signal
from threading import Timer

import pytest
import z3

from krohn.verify.smt.gadgets import Limits, ask, solver


def cubes() -> list[z3.BoolRef]:
    """A question that takes for ever: the least of the three has 16 digits."""
    x, y, z = z3.Ints("x y z")
    return [x * x * x + y * y * y + z * z * z == 33]


def test_a_question_that_takes_too_long_is_unknown() -> None:
    limits = Limits(seconds=0.2)
    found = ask(solver(limits), cubes(), limits)
    assert found.outcome == "unknown"
    assert found.reason == "0.2 s were not enough"


def test_the_user_can_stop_a_question() -> None:
    limits = Limits(seconds=30)
    stop = Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    stop.start()
    with pytest.raises(KeyboardInterrupt):
        ask(solver(limits), cubes(), limits)


def test_the_seed_does_not_change_an_answer() -> None:
    x = z3.Real("x")
    for seed in range(5):
        asked = solver(Limits(seed=seed))
        assert ask(asked, [x > 0, x < 1], Limits()).outcome == "sat"
        assert ask(asked, [x > 1, x < 0], Limits()).outcome == "unsat"
