"""Asking z3, and gadgets: MLPs that hold a table, and how much noise they take."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any, Literal

import numpy as np
import z3

from krohn.instruments.smt.encoding import (
    IdealTerms,
    Term,
    terms,
    variable,
)
from krohn.network.meaning.engine import Engine
from krohn.network.meaning.forward import feed
from krohn.network.meaning.net import Affine
from krohn.network.meaning.rationals import IdealRationals, Rationals
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


# Gadgets: MLPs that hold a table, and how much noise they take.
#
# A gadget is right if every input within ``noise`` of a row gives an output within
# ``error`` of what the row says, over the rationals. The question is put row by row: has
# any input near it an output that is too far off? It is piecewise linear, so the solver
# always answers if it is given the time, and a wrong input is replayed in fractions.


RATIONALS, TERMS = IdealRationals(), IdealTerms()
Verdict = Literal["verified", "refuted", "undecided"]
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Row:
    """A row of a table: codes of the inputs, and the code of the value."""

    inputs: Rationals
    output: Rationals


@dataclass(frozen=True)
class Gadget:
    """ReLU layers that hold a table.

    Attributes:
        name: The channel that it computes.
        layers: Affine, with ReLUs between them.
        kept: ``(inputs, outputs)``: the part of the input that the residual stream adds.
        rows: The table.
    """

    name: str
    layers: tuple[Affine[Rationals], ...]
    kept: Rationals
    rows: tuple[Row, ...]

    def __call__(self, x: Any, o: Engine = RATIONALS) -> Any:
        """The output for an input, of fractions or of terms."""
        return o.add(x @ self.kept, feed(o, self.layers, x))


@dataclass(frozen=True)
class Finding:
    """The decision about a gadget.

    Attributes:
        name: The gadget.
        verdict: ``verified``, ``refuted`` or ``undecided``.
        rows: How many rows were decided.
        reason: Why it is undecided.
        row: The row that fails.
        inputs: An input near that row; replayed in fractions.
        output: The gadget's output there.
    """

    name: str
    verdict: Verdict
    rows: int
    reason: str = ""
    row: Row | None = None
    inputs: Rationals | None = None
    output: Rationals | None = None


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
        noise: How far each coordinate of an input may be from its code.
        error: How far each coordinate of the output may be from the code of the value.
        limits: Of the solver, for each row.
        progress: Called with the number of rows done and in all.

    Raises:
        Rejected: If the solver's model is no counterexample in fractions.
    """
    for done, row in enumerate(asked.rows):
        answer, box = _wrong_near(asked, row, noise, error, limits or Limits())
        if answer.outcome == "unknown":
            return Finding(asked.name, "undecided", done, answer.reason)
        if answer.outcome == "sat":
            point = np.array([answer.number(x.expression) for x in box], dtype=object)
            output = asked(point)
            near = max(abs(point - row.inputs), default=Fraction(0)) <= noise
            if not near or max(abs(output - row.output)) <= error:
                raise Rejected(
                    f"the solver's input for {asked.name!r} is not wrong in fractions"
                )
            return Finding(asked.name, "refuted", done, "", row, point, output)
        if progress is not None:
            progress(done + 1, len(asked.rows))
    return Finding(asked.name, "verified", len(asked.rows))


def _wrong_near(
    asked: Gadget, row: Row, noise: Fraction, error: Fraction, limits: Limits
) -> tuple[Answer, list[Term]]:
    both = [
        variable(f"x{i}", code - noise, code + noise)
        for i, code in enumerate(row.inputs)
    ]
    box = [x for x, _ in both]
    far = []
    for y, code in zip(asked(terms(box), TERMS), row.output, strict=True):
        if y.low < code - error or y.high > code + error:
            far.append(y.expression > z3.RealVal(code + error))
            far.append(y.expression < z3.RealVal(code - error))
    if not far:
        return Answer("unsat"), box
    bounds = [within for _, within in both]
    return ask(solver(limits), [*bounds, z3.Or(far)], limits), box
