"""Words of every length: an invariant that z3 finds, and that is checked again.

Two systems side by side are a transition system over whole numbers. Spacer, the engine of
z3 for constrained Horn clauses, looks for a condition that holds at the start, is kept by
every letter, and excludes a wrong answer after any letter. The three are then asked one by
one of an ordinary solver, so that nothing rests on how the condition was found.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import z3

from krohn.kinds.counting.source_systems import (
    Relation,
    System,
)

WORK = 20_000_000
"""How much z3 may do, in its own unit (rlimit), which counts steps and not seconds."""


@dataclass(frozen=True)
class Always:
    """The result about words of every length.

    Attributes:
        verdict: ``"proved"``, ``"wrong"`` (some word is) or ``"undecided"``.
        invariant: The condition, as SMT-LIB text; empty if there is none.
    """

    verdict: Literal["proved", "wrong", "undecided"]
    invariant: str = ""


def always(left: System, right: System, relation: Relation) -> Always:
    """Whether two systems with the same letters are never wrong."""
    before = [z3.Int(f"x{i}") for i in range(len(left.start) + len(right.start))]
    holds = z3.Function("holds", *([z3.IntSort()] * len(before)), z3.BoolSort())
    reached = z3.Function("wrong", z3.BoolSort())
    engine = z3.Fixedpoint()
    engine.set(engine="spacer", rlimit=WORK)
    engine.register_relation(holds, reached)
    engine.declare_var(*before)
    engine.rule(holds(*map(int, (*left.start, *right.start))))
    steps = _steps(left, right, relation, before)
    rising = _rising(left, right, before)
    for after, bad in steps:
        engine.rule(holds(*after), [holds(*before), rising])
        engine.rule(reached(), [holds(*before), rising, bad])
    try:
        answer = engine.query(reached())
    except z3.Z3Exception as error:
        if "resource limit" not in str(error):
            raise
        return Always("undecided")
    if answer == z3.sat:
        return Always("wrong")
    if answer != z3.unsat:
        return Always("undecided")
    condition = _condition(engine.get_answer(), holds, before)
    if condition is None:
        return Always("undecided")
    condition = z3.And(condition, rising)
    if not _invariant(left, right, before, steps, condition):
        return Always("undecided")
    return Always("proved", condition.sexpr())


def _rising(left: System, right: System, before: list[z3.ArithRef]) -> z3.BoolRef:
    """That numbers which start at 0 and never fall are never negative."""
    low = np.concatenate([left.bounds(1)[0], right.bounds(1)[0]])
    return z3.And([x >= 0 for x, least in zip(before, low, strict=True) if least >= 0])


Steps = list[tuple[list[z3.ArithRef], z3.BoolRef]]


def _steps(
    left: System, right: System, relation: Relation, before: list[z3.ArithRef]
) -> Steps:
    """For each letter what is remembered then, and whether the systems are wrong."""
    found, width = [], len(left.start)
    for letter in range(len(left.letters)):
        first, says = left.formal(before[:width], letter)
        second, says_too = right.formal(before[width:], letter)
        bad = (
            says != says_too if relation == "equal" else z3.And(says, z3.Not(says_too))
        )
        found.append(([*first, *second], bad))
    return found


def _condition(
    answer: z3.BoolRef, holds: z3.FuncDeclRef, before: list[z3.ArithRef]
) -> z3.BoolRef | None:
    """The condition that the engine found for the relation, over our own variables."""
    for part in answer.children() if z3.is_and(answer) else [answer]:
        if not z3.is_quantifier(part) or not z3.is_eq(part.body()):
            continue
        said, meaning = part.body().children()
        if z3.is_app(said) and said.decl() == holds:
            return z3.substitute_vars(meaning, *reversed(_order(said, before)))
    return None


def _order(said: z3.ExprRef, before: list[z3.ArithRef]) -> list[z3.ArithRef]:
    """Our variables in the order in which the engine binds its own."""
    count = said.num_args()
    bound = [count - 1 - z3.get_var_index(said.arg(i)) for i in range(count)]
    return [before[bound.index(i)] for i in range(count)]


def _invariant(
    left: System,
    right: System,
    before: list[z3.ArithRef],
    steps: Steps,
    condition: z3.BoolRef,
) -> bool:
    """Whether it holds at the start, is kept by all letters, and excludes wrong answers."""
    start = [z3.IntVal(int(v)) for v in (*left.start, *right.start)]
    questions = [z3.Not(_at(condition, before, start))]
    for after, bad in steps:
        questions.append(z3.And(condition, z3.Not(_at(condition, before, after))))
        questions.append(z3.And(condition, bad))
    return all(_impossible(question) for question in questions)


def _at(
    condition: z3.BoolRef, before: list[z3.ArithRef], terms: Sequence[z3.ArithRef]
) -> z3.BoolRef:
    """The condition about other terms."""
    found: z3.BoolRef = z3.substitute(condition, *zip(before, terms, strict=True))
    return found


def _impossible(question: z3.BoolRef) -> bool:
    solver = z3.Solver()
    solver.set("rlimit", WORK)
    solver.add(question)
    return bool(solver.check() == z3.unsat)
