"""Semidirect products N ⋊ H: twist, multiply, turn back (Lemma 18, repaired).

An element is h·n in one way. Along a word, h ← h·h' and n ← h'⁻¹·n·h'·n'. What the first
line does to the second is undone by looking at m = h·n·h⁻¹ instead:

    m ← m·(h·n'·h⁻¹),  with h after the letter.

So H is simulated first, the letters of N are twisted by h, N is simulated (printed: H
again, E17), and the result is turned back, n = h⁻¹·m·h. Of these stages the first and the
third are simulators, the others tables, each a layer of its own in the thesis.

The last stage is for those who want the code of letters back. Since m·h = h·n, the
coordinates m and h tell the element as well: the thesis' car on a circle stands at m.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.budget import Budget, BudgetExceeded
from krohn.algebra.groups.extension import Direct, Extension, SemiDirect, split
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
    side_by_side,
)
from krohn.compiler.errors import CompileError
from krohn.program import Map, Program, table

NAME = "semidirect"
CAR = "semidirect-car"
SUMMARY = "split groups: sums twisted by the quotient, read as they are (Lemma 18)"
MOST_CHOICES = 20_000


@dataclass(frozen=True, eq=False)
class SemidirectSimulator(Simulator):
    """A simulator of N ⋊ H from simulators of both.

    Attributes:
        normal: The simulator of N.
        top: The simulator of H.
        twist: ``(|H|, |N|)``: h·n·h⁻¹.
        back: ``(|H|, |N|)``: h⁻¹·n·h; None if the product is left as it is.
    """

    normal: Simulator
    top: Simulator
    twist: IntArray
    back: IntArray | None

    @property
    def stages(self) -> int:
        """Both simulators and one or two look-ups (thesis: L_N + L_H + 2)."""
        looked_up = 1 if self.back is None else 2
        return self.normal.stages + self.top.stages + looked_up

    def run(self, wires: Wires, prefix: str, letters: Sequence[str]) -> tuple[str, ...]:
        """The four stages, or three."""
        places = self.normal.codes.shape[1]
        top = self.top.run(wires, f"{prefix}h.", letters[places:])
        twisted = self._act(
            wires,
            f"{prefix}twisted",
            (self.normal.codes, letters[:places]),
            top,
            self.twist,
        )
        multiplied = self.normal.run(wires, f"{prefix}n.", twisted)
        if self.back is not None:
            found = (self.normal.states, multiplied)
            multiplied = self._act(wires, f"{prefix}back", found, top, self.back)
        return multiplied + top

    def _act(
        self,
        wires: Wires,
        name: str,
        element: tuple[IntArray, Sequence[str]],
        top: Sequence[str],
        by: IntArray,
    ) -> tuple[str, ...]:
        """Channels with the code of an element of N after H has acted on it."""
        codes, channels = element
        after = self.normal.codes[by]
        pairs = list(product(range(by.shape[1]), range(by.shape[0])))
        rows = [(*codes[n].tolist(), *self.top.states[h].tolist()) for n, h in pairs]
        made = []
        for i in range(after.shape[2]):
            values = {
                r: int(after[h, n, i]) for r, (n, h) in zip(rows, pairs, strict=True)
            }
            made.append(wires.add(f"{name}{i}", Map(table(values), (*channels, *top))))
        return tuple(made)


def semidirect(machine: Automaton, length: int, undone: bool = True) -> Program:
    """The four stages for a group that splits, nested where its parts split.

    Args:
        machine: Its letters permute its states.
        length: T.
        undone: Whether to turn the product back into the code of letters.

    Raises:
        CompileError: If the group is not solvable or does not split down to abelian
            groups; then `wreath` serves.
    """
    group = group_of(machine)
    try:
        found = simulator(group, undone)
    except BudgetExceeded as reason:
        raise CompileError(
            f"no splitting of {machine.name} was found ({reason})"
        ) from None
    if found is None:
        raise CompileError(
            f"the group of {machine.name} does not split into abelian groups; "
            "use wreath or cascade"
        )
    return group_program(machine, length, found)


car = partial(semidirect, undone=False)


def simulator(group: PermutationGroup, undone: bool = True) -> Simulator | None:
    """The simulator with the fewest stages; None if the group does not split so far."""
    if group.table.is_abelian:
        return abelian(group.table)
    best: tuple[int, Simulator] | None = None
    for normal in normal_subgroups(group):
        if 1 < normal.order < group.order:
            made = _over(_extension(group, normal), undone)
            if made is not None and (best is None or made.stages < best[0]):
                best = made.stages, made
    return None if best is None else best[1]


def _extension(group: PermutationGroup, normal: PermutationGroup) -> Extension:
    return Extension(group, np.sort(numbers(group, normal.elements())))


def _over(over: Extension, undone: bool) -> Simulator | None:
    found = split(over, Budget(size=MOST_CHOICES))
    if not isinstance(found, SemiDirect):
        return None
    normal, top = simulator(over.normal, undone), simulator(over.quotient, undone)
    if normal is None or top is None:
        return None
    below = numbers(over.normal, over.group.elements()[over.members])
    # The quotient moves its own elements: that which takes 0 to k is the coset k.
    above = np.argsort(over.quotient.elements()[:, 0])
    n, h = found.coordinates(np.arange(over.group.order))
    if isinstance(found, Direct):
        return side_by_side((normal, below[n]), (top, above[h]))
    return _simulator_of_splitting(found, (normal, below), (top, above), undone)


def _simulator_of_splitting(
    found: SemiDirect,
    normal: tuple[Simulator, IntArray],
    top: tuple[Simulator, IntArray],
    undone: bool,
) -> SemidirectSimulator:
    """The simulator of a splitting, its parts given with the numbers of their elements."""
    (below, n_number), (above, h_number) = normal, top
    # An element is n·h with the coordinates of the splitting, and h·(h⁻¹·n·h).
    n, h = found.coordinates(np.arange(found.extension.group.order))
    inverse = found.extension.quotient_table.inverse
    twist, back = found.action, found.action[inverse]
    turned = back[h, n]
    codes = np.hstack([below.codes[n_number[turned]], above.codes[h_number[h]]])
    left = np.hstack([below.states[n_number[n]], above.states[h_number[h]]])
    places = below.codes.shape[1]
    telling = (*below.telling, *(places + i for i in above.telling))
    return SemidirectSimulator(
        codes,
        codes if undone else left,
        telling,
        below,
        above,
        _renumber(twist, n_number, h_number),
        _renumber(back, n_number, h_number) if undone else None,
    )


def _renumber(action: IntArray, n_number: IntArray, h_number: IntArray) -> IntArray:
    """An action with both groups numbered as their simulators number them."""
    result = np.empty_like(action)
    result[np.ix_(h_number, n_number)] = n_number[action]
    return result
