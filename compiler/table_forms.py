"""The form in which an MLP realises a Map: a circle, steps, one channel, or paths."""

from collections.abc import Iterable

import numpy as np

from krohn.compiler.circle import Circle, circle_of
from krohn.compiler.layout import code_matrix
from krohn.compiler.passes.base import evaluate_cone
from krohn.compiler.schedule import Schedule
from krohn.compiler.sum_of_steps import Linear, linear, too_steep
from krohn.program import Normalised, Table, is_sum


def circles_of(plan: Schedule, maps: Iterable[str]) -> dict[str, Circle]:
    """The Maps that can be read from a circle."""
    found: dict[str, Circle] = {}
    for name in maps:
        operation = plan.program.operations[name]
        if set(plan.leaves(name)) == set(operation.reads):
            circle = circle_of(plan.program, operation)
            if circle is not None:
                found[name] = circle
    return found


def single(plan: Schedule, name: str) -> tuple[str, Table] | None:
    """The one leaf of a channel with its table, opened Maps included, if it has one."""
    found = plan.leaves(name)
    if len(found) != 1 or found[0] == name:
        return None
    (leaf,) = found
    domain = np.array(plan.program.domains[leaf], dtype=np.int64)
    values = evaluate_cone(plan.program, name, {leaf: domain})
    return leaf, Table(domain[:, None], values)


def along(plan: Schedule, name: str, deep: bool) -> Linear | None:
    """The sum along which a Map, with the Maps it opens, is made of steps, if any."""
    return linear(plan.program, name, plan.leaves(name), deep)


def needs_depth(plan: Schedule, name: str) -> bool:
    """Whether a Map, with the Maps it opens, needs two hidden layers."""
    program = plan.program
    if is_sum(program.operations[name]) or name in program.sizes:
        return isinstance(program.operations[name], Normalised)
    alone = single(plan, name)
    if alone is not None:
        leaf, function = alone
        codes = code_matrix(program, name, function.values)
        return leaf not in program.one_hot and too_steep(program.domains[leaf], codes)
    form = along(plan, name, deep=True)
    if form is not None:
        return form.rough
    asked = (leaf for path in plan.opener(name).each(name) for leaf in path.given)
    return any(leaf not in program.one_hot for leaf in asked)
