"""The search for a cascade that a network can be made of, once for each machine."""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.budget import NORMAL, Budget, BudgetExceeded
from krohn.algebra.cascade import Cascade, trivial
from krohn.algebra.decomposition.methods import decompose
from krohn.algebra.decomposition.reach import restrict_to_reachable
from krohn.algebra.decomposition.simplify import simplify
from krohn.algebra.semiautomaton import Semiautomaton
from krohn.compiler.errors import CompileError

MOST_IMAGES = 200_000
MOST_COORDINATES = 50_000


def find_cascade(
    machine: Automaton, method: str = "auto", budget: Budget | None = None
) -> Cascade:
    """A cascade, cut down to the coordinates that the start reaches.

    Args:
        machine: Any machine.
        method: One of `krohn.algebra.decomposition.methods`; ``auto`` takes the cheapest.
        budget: How much work each search may do; it notes what they left out.

    Raises:
        CompileError: If none was found within the budget.
    """
    return search_cascade(machine, method, budget or Budget(NORMAL)).cascade


@dataclass(frozen=True, eq=False)
class FoundCascade:
    """A decomposition for a network.

    Attributes:
        cascade: The cascade; the machine itself if there is a failure.
        exact: Whether all its valid coordinates are reached from the start.
        cut: What was left out because the budget was spent.
        failure: Why there is no cascade; empty if there is one.
    """

    cascade: Cascade
    exact: bool
    cut: tuple[str, ...]
    failure: str = ""


def search_cascade(machine: Automaton, method: str, budget: Budget) -> FoundCascade:
    """A cascade for a machine, with its names.

    Raises:
        CompileError: If none was found within the budget.
    """
    shape, table = machine.transitions.shape, machine.transitions.tobytes()
    found = _cheapest(shape, table, machine.start, method, budget.steps)
    for what in found.cut:
        budget.leave_out(what)
    if found.failure:
        raise CompileError(
            f"{machine.name} was not decomposed ({found.failure}); a higher "
            "--effort searches longer"
        )
    named = replace(found.cascade, letters=machine.letters, states=machine.states)
    return replace(found, cascade=named)


@lru_cache(maxsize=32)
def _cheapest(
    shape: tuple[int, int], table: bytes, start: int, method: str, steps: float
) -> FoundCascade:
    """The cascade found for transitions; a search is not done twice."""
    transitions = np.frombuffer(table, dtype=np.int64).reshape(shape)
    letters, states = (tuple(map(str, range(n))) for n in shape)
    machine = Semiautomaton(transitions, letters, states)
    budget = Budget(steps, MOST_IMAGES)
    try:
        found = decompose(machine, method, budget).cascade
    except BudgetExceeded as reason:
        return FoundCascade(trivial(machine), False, budget.cut, str(reason))
    limit = Budget(steps, MOST_COORDINATES)
    try:
        found = simplify(restrict_to_reachable(found, limit, start), limit)
    except BudgetExceeded as reason:
        what = f"coordinates that are never reached from the start were kept ({reason})"
        return FoundCascade(found, False, (*budget.cut, what))
    return FoundCascade(found, True, (*budget.cut, *limit.cut))
