"""Heads look where they should at every length; printed and weaker ones do not."""

import os
import signal
from fractions import Fraction
from threading import Timer

import pytest
import z3
from score_lemmas import (
    Lemma,
    earliest,
    latest_marked,
    lemmas,
    match,
    memory,
    pointing,
    shift,
    uniform_memory,
    write_or_next,
)
from second_opinion import cvc5_says

from krohn.instruments.smt.gadgets import (
    Limits,
    ask,
    solver,
)

WRONG = {
    "E15: a bonus of T": memory(beyond=Fraction(0)),
    "E31: no sink": match(sink=Fraction(0)),
    "E8: keys turned the wrong way": shift(direction=-1),
    "F1: writes at any positions": write_or_next(writes_are_odd=False),
    "1.6: a mark further away than C": latest_marked(within=False),
    "the first flag by a bonus of T": earliest(beyond=Fraction(0)),
    "BOS level with the position pointed at": pointing(sink=Fraction(0)),
}


@pytest.mark.parametrize("lemma", lemmas(), ids=lambda lemma: lemma.name)
def test_a_lemma_holds_for_all_lengths_and_flags(lemma: Lemma) -> None:
    assert lemma.decide().outcome == "unsat"


@pytest.mark.parametrize("lemma", lemmas(), ids=lambda lemma: lemma.name)
def test_a_lemma_is_about_something(lemma: Lemma) -> None:
    far = lemma.unknowns["looks"] > 1000
    assert ask(solver(Limits()), [*lemma.assumed, far], Limits()).outcome == "sat"


@pytest.mark.parametrize("lemma", lemmas(), ids=lambda lemma: lemma.name)
def test_the_gap_of_a_lemma_is_attained(lemma: Lemma) -> None:
    tight = [*lemma.assumed, lemma.gap == float(lemma.least)]
    assert ask(solver(Limits()), tight, Limits()).outcome == "sat"


@pytest.mark.parametrize("which", WRONG)
def test_what_is_wrong_has_a_counterexample(which: str) -> None:
    lemma = WRONG[which]
    found = lemma.decide()
    assert found.outcome == "sat"
    at = {name: found.number(x) for name, x in lemma.unknowns.items()}
    assert 0 <= at["rival"] <= at["looks"]
    assert at["rival"] != at["right"]
    assert found.number(lemma.gap) < lemma.least


def test_the_tie_of_a_bonus_of_T_is_at_T() -> None:
    lemma = memory(beyond=Fraction(0))
    found = lemma.decide()
    at = {name: found.number(x) for name, x in lemma.unknowns.items()}
    assert at["rival"] == at["longest"] == at["looks"]
    assert found.number(lemma.gap) == 0


@pytest.mark.sample(3)
@pytest.mark.parametrize("lemma", lemmas(), ids=lambda lemma: lemma.name)
def test_cvc5_proves_the_lemma_too(lemma: Lemma) -> None:
    assert cvc5_says(lemma.smt_lib()) == "unsat"


@pytest.mark.sample(3)
@pytest.mark.parametrize("which", WRONG)
def test_cvc5_refutes_it_too(which: str) -> None:
    assert cvc5_says(WRONG[which].smt_lib()) == "sat"


def test_the_uniform_head_has_no_length() -> None:
    assert "longest" not in uniform_memory().unknowns


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
