"""Gadgets: MLPs that hold a table, and how much noise they take.

A gadget is right if every input within ``noise`` of a row gives an output within
``error`` of what the row says, over the rationals. The question is put row by row: has
any input near it an output that is too far off? It is piecewise linear, so the solver
always answers if it is given the time, and a wrong input is replayed in fractions.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
import z3

from krohn.verify.errors import Rejected
from krohn.verify.smt.exact import Layers, Rationals, feed
from krohn.verify.smt.solver import Answer, Limits, ask, solver
from krohn.verify.smt.terms import Term, constant, product, total, variable
from krohn.verify.smt.terms import feed as feed_terms

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
        layers: Weight ``(inputs, outputs)`` and bias of every affine layer.
        kept: ``(inputs, outputs)``: the part of the input that the residual stream adds.
        rows: The table.
    """

    name: str
    layers: Layers
    kept: Rationals
    rows: tuple[Row, ...]

    def __call__(self, x: Rationals) -> Rationals:
        """The exact output for an input."""
        return np.asarray(x @ self.kept + feed(self.layers, x))


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
        found, box = _wrong_near(asked, row, noise, error, limits or Limits())
        if found.outcome == "unknown":
            return Finding(asked.name, "undecided", done, found.reason)
        if found.outcome == "sat":
            point = np.array([found.number(x.expression) for x in box], dtype=object)
            return _refutation(asked, row, point, (noise, error), done)
        if progress is not None:
            progress(done + 1, len(asked.rows))
    return Finding(asked.name, "verified", len(asked.rows))


def _wrong_near(
    asked: Gadget, row: Row, noise: Fraction, error: Fraction, limits: Limits
) -> tuple[Answer, list[Term]]:
    box, bounds = [], []
    for i, code in enumerate(row.inputs):
        x, within = variable(f"x{i}", code - noise, code + noise)
        box.append(constant(code) if x.fixed else x)
        bounds.append(within)
    far = []
    for y, code in zip(_outputs(asked, box), row.output, strict=True):
        if y.low < code - error or y.high > code + error:
            far.append(y.expression > z3.RealVal(code + error))
            far.append(y.expression < z3.RealVal(code - error))
    if not far:
        return Answer("unsat"), box
    return ask(solver(limits), [*bounds, z3.Or(far)], limits), box


def _outputs(asked: Gadget, x: Sequence[Term]) -> Iterator[Term]:
    for kept, added in zip(asked.kept.T, feed_terms(asked.layers, x), strict=True):
        stays = (product(constant(w), x[i]) for i, w in enumerate(kept) if w)
        yield total((*stays, added))


def _refutation(
    asked: Gadget,
    row: Row,
    point: Rationals,
    bounds: tuple[Fraction, Fraction],
    done: int,
) -> Finding:
    output = asked(point)
    near = max(abs(point - row.inputs), default=Fraction(0)) <= bounds[0]
    if not near or max(abs(output - row.output)) <= bounds[1]:
        raise Rejected(
            f"the solver's input for {asked.name!r} is not wrong in fractions"
        )
    return Finding(asked.name, "refuted", done, "", row, point, output)
