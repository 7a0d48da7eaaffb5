"""A search among decompositions by congruences and by holonomy, one inside the other."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from krohn.algebra.budget import Budget, BudgetExceeded
from krohn.algebra.cascade import Cascade, trivial
from krohn.algebra.congruences import (
    blocks,
    factor_congruences,
    independent,
    principal_congruences,
)
from krohn.algebra.decomposition.congruence import by_congruence, side_by_side
from krohn.algebra.decomposition.cost import cost
from krohn.algebra.decomposition.holonomy import holonomy
from krohn.algebra.decomposition.refine import refine
from krohn.algebra.decomposition.simplify import simplify
from krohn.algebra.semiautomaton import IntArray, Semiautomaton

MOST_STATES = 200
MOST_MOVES = 4_000_000
TRIED = 6
SHARE = 0.5
LEFT_OUT = "not all quotients of the machine were tried"


@dataclass
class Search:
    """The cheapest cascade found for a machine and for each machine inside it.

    A machine that permutes and resets is a candidate as it is, and the only one if its
    group is solvable. Others come from holonomy, from factors side by side, and from some
    congruences, with the parts decomposed in turn. Where there is a candidate already, no
    congruences are tried any more after half of the work.

    Attributes:
        budget: How much work to do and how many images to keep.
    """

    budget: Budget
    _known: dict[tuple[int, bytes], Cascade] = field(default_factory=dict, init=False)

    def best(self, machine: Semiautomaton) -> Cascade:
        """The cheapest decomposition found; components permute and reset.

        Raises:
            BudgetExceeded: If not even one was found.
        """
        key = (len(machine.states), machine.transitions.tobytes())
        if key not in self._known:
            self._known[key] = self._decompose(machine)
        return replace(self._known[key], letters=machine.letters, states=machine.states)

    def _decompose(self, machine: Semiautomaton) -> Cascade:
        whole = trivial(machine)
        permutes_or_resets = whole.components[0].is_permutation_reset
        if permutes_or_resets and whole.components[0].group.is_solvable:
            return whole
        candidates, failure = [whole] if permutes_or_resets else [], None
        try:
            if not candidates:
                candidates.append(self._by_holonomy(machine))
        except BudgetExceeded as reason:
            failure = reason
        share = SHARE if candidates else 1.0
        candidates.extend(self._by_congruences(machine, share * self.budget.steps))
        if not candidates:
            raise failure or BudgetExceeded("no decomposition was found", 0)
        return min(candidates, key=partial(cost, budget=self.budget))

    def _by_holonomy(self, machine: Semiautomaton) -> Cascade:
        limit = self.budget.part(self.budget.left / 2)
        return simplify(holonomy(machine, limit), limit)

    def _by_congruences(
        self, machine: Semiautomaton, until: float
    ) -> Iterator[Cascade]:
        letters, n = machine.transitions.shape
        moves = letters * n * (n - 1) // 2
        if n > MOST_STATES or moves > MOST_MOVES:
            return
        if self.budget.spent > until:
            self.budget.leave_out(LEFT_OUT)
            return
        try:
            principal = principal_congruences(machine.transitions, self.budget)
            for factors in self._factors(principal, until):
                yield self._decompose_components(side_by_side(machine, factors))
            for partition in _promising(principal):
                if self.budget.spent > until:
                    self.budget.leave_out(LEFT_OUT)
                    return
                yield self._decompose_components(by_congruence(machine, partition))
        except BudgetExceeded:
            self.budget.leave_out(LEFT_OUT)
            return

    def _factors(
        self, principal: Sequence[IntArray], until: float
    ) -> list[list[IntArray]]:
        """Ways to split the machine into some that run side by side."""
        limit = self.budget.part((until - self.budget.spent) / 2)
        try:
            found = factor_congruences(principal, limit)
        except BudgetExceeded:
            self.budget.leave_out("not all parallel parts were looked for")
            return []
        if found is None:
            return []
        whole = independent(found)
        return [found] if len(whole) in (1, len(found)) else [whole, found]

    def _decompose_components(self, cascade: Cascade) -> Cascade:
        """All components decomposed further."""
        for at in range(len(cascade.components) - 1, -1, -1):
            component = cascade.components[at]
            if not component.is_permutation_reset:
                cascade = refine(cascade, at, self.best(component.machine), self.budget)
        return simplify(cascade, self.budget)


def _promising(principal: Sequence[IntArray]) -> list[IntArray]:
    """Some proper congruences: the most even ones, with the coarsest and the finest."""
    proper = [c for c in principal if blocks(c) > 1]
    if len(proper) <= TRIED:
        return proper
    uneven = [max(blocks(c), int(np.bincount(c).max())) for c in proper]
    even = sorted(range(len(proper)), key=lambda i: uneven[i])[: TRIED - 2]
    chosen = sorted({0, len(proper) - 1, *even})
    return [proper[i] for i in chosen]
