"""Asking z3, and gadgets: whether they are right for all real inputs."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any, Literal

import numpy as np
import z3

from krohn.instruments.gadgets.pieces import RATIONALS
from krohn.instruments.gadgets.record import Case, Gadget
from krohn.instruments.smt.encoding import (
    IdealTerms,
    Term,
    constant,
    product,
    terms,
    total,
    variable,
)
from krohn.network.meaning.forward import feed
from krohn.network.meaning.rationals import Rationals
from krohn.verify.errors import Rejected

# Asking z3: a question has a model, has none, or the answer is unknown.


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
    outcome = asked.check(*conditions)
    if outcome == z3.unsat:
        return Answer("unsat")
    if outcome == z3.sat:
        return Answer("sat", model=asked.model())
    reason, took = asked.reason_unknown(), time.monotonic() - began
    stopped = any(word in reason for word in ("cancel", "timeout", "interrupt"))
    if not stopped:
        return Answer("unknown", reason)
    if took < 0.9 * limits.seconds:
        raise KeyboardInterrupt
    return Answer("unknown", f"{limits.seconds:g} s were not enough")


# Gadgets (`krohn.instruments.gadgets`): is each case right, for all its real inputs?
#
# It is, with a noise, if every input within that of the case gives an output within an
# error of what is wanted, over the rationals. Has any input an output that is too far
# off? That is piecewise linear, so the solver always answers if it is given the time, and
# a wrong input is replayed in fractions.


TERMS = IdealTerms()
Verdict = Literal["verified", "refuted", "undecided"]
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Finding:
    """The decision about a gadget.

    Attributes:
        name: The gadget.
        verdict: ``verified``, ``refuted`` or ``undecided``.
        cases: How many cases were decided.
        reason: Why it is undecided.
        case: The case that fails.
        inputs: An input of it; replayed in fractions.
        output: The gadget's output there.
        wanted: What is right there.
    """

    name: str
    verdict: Verdict
    cases: int
    reason: str = ""
    case: Case | None = None
    inputs: Rationals | None = None
    output: Rationals | None = None
    wanted: Rationals | None = None


def decide(
    asked: Gadget,
    noise: Fraction,
    error: Fraction,
    limits: Limits | None = None,
    progress: Progress | None = None,
) -> Finding:
    """Decide whether a gadget is right for every input that is off by up to ``noise``.

    Args:
        asked: The gadget.
        noise: How far beyond the ranges of a case each coordinate of an input may be.
        error: How far each coordinate of the output may be from what is wanted.
        limits: Of the solver, for each case.
        progress: Called with the number of cases done and in all.

    Raises:
        Rejected: If the solver's model is no counterexample in fractions.
    """
    asked = asked.exact.with_noise(noise)
    for done, case in enumerate(asked.cases):
        answer, box = _wrong_in(asked, case, error, limits or Limits())
        if answer.outcome == "unknown":
            return Finding(asked.name, "undecided", done, answer.reason)
        if answer.outcome == "sat":
            point = np.array([answer.number(x.expression) for x in box], dtype=object)
            output, wanted = (
                asked(point, RATIONALS),
                feed(RATIONALS, case.wanted, point),
            )
            if not case.holds(point) or max(abs(output - wanted)) <= error:
                raise Rejected(
                    f"the solver's input for {asked.name!r} is not wrong in fractions"
                )
            where = case, point, output, wanted
            return Finding(asked.name, "refuted", done, "", *where)
        if progress is not None:
            progress(done + 1, len(asked.cases))
    return Finding(asked.name, "verified", len(asked.cases))


def _wrong_in(
    asked: Gadget, case: Case, error: Fraction, limits: Limits
) -> tuple[Answer, list[Term]]:
    both = [
        variable(f"x{i}", *ends)
        for i, ends in enumerate(zip(case.low, case.high, strict=True))
    ]
    box = [x for x, _ in both]
    far, bounds = [], [within for _, within in both]
    for row, least in case.above:
        (height,) = terms(box) @ row[:, None]
        bounds.append(height.expression >= z3.RealVal(least))
    right = feed(TERMS, case.wanted, terms(box))
    for said, wanted in zip(asked(terms(box), TERMS), right, strict=True):
        off = total([said, product(constant(-1), wanted)])
        if max(-off.low, off.high) > error:
            far += [
                off.expression > z3.RealVal(error),
                off.expression < z3.RealVal(-error),
            ]
    if not far:
        return Answer("unsat"), box
    return ask(solver(limits), [*bounds, z3.Or(far)], limits), box
