"""Asking z3: a question has a model, has none, or the answer is unknown."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any, Literal

import z3

Outcome = Literal["sat", "unsat", "unknown"]


@dataclass(frozen=True)
class Limits:
    """How long a question may take, and the seed of the solver.

    Attributes:
        seconds: The longest time for one question.
        seed: Of the solver's choices; they change its time, never an answer.
    """

    seconds: float = 60.0
    seed: int = 0


@dataclass(frozen=True)
class Answer:
    """The answer of the solver to a question.

    Attributes:
        outcome: ``unsat``: there is no model, so the negated claim holds. ``sat``: there
            is one. ``unknown``: neither was found.
        reason: Why it is unknown.
        model: The model of z3, if there is one.
    """

    outcome: Outcome
    reason: str = ""
    model: Any = None

    def number(self, unknown: Any) -> Fraction:
        """The value of an expression in the model."""
        return number(self.model.eval(unknown, model_completion=True))

    def holds(self, condition: Any) -> bool:
        """Whether a condition holds in the model."""
        return bool(z3.is_true(self.model.eval(condition, model_completion=True)))


def number(value: Any) -> Fraction:
    """A numeral of z3 as a fraction."""
    if z3.is_int_value(value):
        return Fraction(value.as_long())
    return Fraction(value.numerator_as_long(), value.denominator_as_long())


def solver(limits: Limits) -> Any:
    """A new solver with the given limits."""
    fresh = z3.Solver()
    fresh.set("timeout", max(1, ceil(limits.seconds * 1000)))
    fresh.set("random_seed", limits.seed)
    return fresh


def ask(asked: Any, conditions: Sequence[Any], limits: Limits) -> Answer:
    """Whether all conditions can hold together with the solver's assertions so far.

    Raises:
        KeyboardInterrupt: If the user stops it; z3 itself answers that it is unknown.
    """
    began = time.monotonic()
    found = asked.check(*conditions)
    if found == z3.unsat:
        return Answer("unsat")
    if found == z3.sat:
        return Answer("sat", model=asked.model())
    reason, took = asked.reason_unknown(), time.monotonic() - began
    stopped = any(word in reason for word in ("cancel", "timeout", "interrupt"))
    if not stopped:
        return Answer("unknown", reason)
    if took < 0.9 * limits.seconds:
        raise KeyboardInterrupt
    return Answer("unknown", f"{limits.seconds:g} s were not enough")
