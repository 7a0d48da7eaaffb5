"""Every extension of N by K inside the wreath product N ≀ K (Lemma 19, repaired).

Krasner and Kaloujnine embed a group G over N with G/N = K into N ≀ K: an element becomes
its coset k and a function f: K → N (`Extension.functions`; the thesis cites this). That
is a semidirect product of |K| copies of N and K, which permutes the copies: so Lemma 18
applies, and its two look-ups only re-index copies, f ↦ (w ↦ f(w·k)). Each place of a copy
is one selection by k, whatever the size of N (equation (3.1) as printed moves f in the
wrong product, E18).

Letters are coded as k·f with f(w) = r_{w·k⁻¹}·x·r_w⁻¹ for the element x and
representatives r of the cosets, so x = r_{k⁻¹}⁻¹·f(1): coset and one copy tell it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.groups.extension import Extension
from krohn.algebra.groups.permutation_group import PermutationGroup
from krohn.algebra.groups.series import normal_subgroups
from krohn.algebra.semiautomaton import IntArray
from krohn.compiler.constructions.thesis.simulator import (
    Simulator,
    Wires,
    abelian,
    group_of,
    group_program,
    numbers,
)
from krohn.program import Map, Program, Select

NAME = "wreath"
SUMMARY = "solvable groups: a copy of the kernel for each coset (Lemma 19)"


@dataclass(frozen=True, eq=False)
class WreathSimulator(Simulator):
    """A simulator of a subgroup of N ≀ K from simulators of both.

    Attributes:
        normal: The simulator of N.
        top: The simulator of K; its code is one number, which names the copies.
        product: ``(|K|, |K|)``: the products of K in these numbers.
    """

    normal: Simulator
    top: Simulator
    product: IntArray

    @property
    def stages(self) -> int:
        """Both simulators and two selections (thesis: L_N + L_H + 2)."""
        return self.normal.stages + self.top.stages + 2

    def run(self, wires: Wires, prefix: str, letters: Sequence[str]) -> tuple[str, ...]:
        """K, the letters of the copies re-indexed, all copies of N, and back."""
        places, copies = self.normal.codes.shape[1], len(self.product)
        (k,) = self.top.run(wires, f"{prefix}k.", letters[-1:])
        moved = self._look_up_copies(
            wires, f"{prefix}moved", letters[:-1], k, self.product
        )
        found: list[str] = []
        for w in range(copies):
            one = moved[w * places : (w + 1) * places]
            found += self.normal.run(wires, f"{prefix}{w}.", one)
        divided = self.product[:, self.product.argmin(axis=1)]  # w·k⁻¹
        back = self._look_up_copies(wires, f"{prefix}back", found, k, divided)
        return (*back, k)

    def _look_up_copies(
        self, wires: Wires, name: str, copies: Sequence[str], k: str, at: IntArray
    ) -> tuple[str, ...]:
        """Channels in which copy w is the copy ``at[w, k]`` (Lemma 19's look-up)."""
        places = self.normal.codes.shape[1]
        made = []
        for w, order in enumerate(at.tolist()):
            for i in range(places):
                chosen = (copies[v * places + i] for v in order)
                made.append(wires.add(f"{name}{w}.{i}", Map(Select(), (k, *chosen))))
        return tuple(made)


def wreath(machine: Automaton, length: int) -> Program:
    """Abelian groups at once, others over a normal subgroup with cyclic quotient.

    Raises:
        CompileError: If a letter is no permutation, or the group is not solvable.
    """
    group = group_of(machine)
    return group_program(machine, length, simulator(group))


def simulator(group: PermutationGroup) -> Simulator:
    """The simulator of a solvable group with the fewest stages, then places."""
    if group.table.is_abelian:
        return abelian(group.table)
    made = [over_normal(over, simulator(over.normal)) for over in _cyclic_over(group)]
    return min(made, key=lambda s: (s.stages, s.codes.shape[1]))


def _cyclic_over(group: PermutationGroup) -> list[Extension]:
    """The group over each proper normal subgroup with a cyclic quotient."""
    found = []
    for normal in normal_subgroups(group):
        over = Extension(group, np.sort(numbers(group, normal.elements())))
        table = over.quotient_table
        if 1 < table.order < group.order and (table.orders == table.order).any():
            found.append(over)
    return found


def over_normal(over: Extension, normal: Simulator) -> WreathSimulator:
    """The simulator of a group over a normal subgroup with cyclic quotient.

    Args:
        over: The extension.
        normal: The simulator of ``over.normal``.
    """
    quotient = over.quotient_table
    top = abelian(quotient)
    code = top.codes[:, 0]
    coset = np.argsort(code)
    # f(w·k⁻¹) of the embedding, all in the numbers that the simulators use.
    k = over.coset
    shifted = quotient.product[:, quotient.inverse[k]][coset]
    f = np.take_along_axis(over.functions, shifted.T, axis=1)
    below = numbers(over.normal, over.group.elements()[over.members])
    copies = normal.codes[below[f]].reshape(len(f), -1)
    codes = np.hstack([copies, code[k][:, None]])
    telling = (*normal.telling, codes.shape[1] - 1)
    product = code[quotient.product[np.ix_(coset, coset)]]
    return WreathSimulator(codes, codes, telling, normal, top, product)
