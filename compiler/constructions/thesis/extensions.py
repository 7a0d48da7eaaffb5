"""Groups by their normal subgroups: semidirect, wreath and series constructions."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np

from krohn.algebra.automaton import Automaton, IntArray
from krohn.algebra.budget import Budget, BudgetExceeded
from krohn.algebra.groups.extension import Direct, Extension, SemiDirect, split
from krohn.algebra.groups.permutation_group import PermutationGroup
from krohn.algebra.groups.series import maximal_normal_subgroup, normal_subgroups
from krohn.compiler import CompileError
from krohn.compiler.constructions.thesis.simulator import (
    Simulator,
    Wires,
    abelian,
    group_of,
    group_program,
    numbers,
    side_by_side,
)
from krohn.program import Map, Program, Select, table

# Semidirect products N ⋊ H: twist, multiply, turn back (Lemma 18, repaired).
#
# An element is h·n in one way. Along a word, h ← h·h' and n ← h'⁻¹·n·h'·n'. What the
# first line does to the second is undone by looking at m = h·n·h⁻¹ instead:
#
#     m ← m·(h·n'·h⁻¹),  with h after the letter.
#
# So H is simulated first, the letters of N are twisted by h, N is simulated (printed: H
# again, E17), and the result is turned back, n = h⁻¹·m·h. Of these stages the first and
# the third are simulators, the others tables, each a layer of its own in the thesis.
#
# The last stage is for those who want the code of letters back. Since m·h = h·n, the
# coordinates m and h tell the element as well: the thesis' car on a circle stands at m.


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
            stages = (self.normal.states, multiplied)
            multiplied = self._act(wires, f"{prefix}back", stages, top, self.back)
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
        simulator = semidirect_simulator(group, undone)
    except BudgetExceeded as reason:
        raise CompileError(
            f"no splitting of {machine.name} was found ({reason})"
        ) from None
    if simulator is None:
        raise CompileError(
            f"the group of {machine.name} does not split into abelian groups; "
            "use wreath or cascade"
        )
    return group_program(machine, length, simulator)


car = partial(semidirect, undone=False)


def semidirect_simulator(
    group: PermutationGroup, undone: bool = True
) -> Simulator | None:
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
    splitting = split(over, Budget(size=MOST_CHOICES))
    if not isinstance(splitting, SemiDirect):
        return None
    normal, top = (
        semidirect_simulator(over.normal, undone),
        semidirect_simulator(over.quotient, undone),
    )
    if normal is None or top is None:
        return None
    below = numbers(over.normal, over.group.elements()[over.members])
    # The quotient moves its own elements: that which takes 0 to k is the coset k.
    above = np.argsort(over.quotient.elements()[:, 0])
    n, h = splitting.coordinates(np.arange(over.group.order))
    if isinstance(splitting, Direct):
        return side_by_side((normal, below[n]), (top, above[h]))
    return _simulator_of_splitting(splitting, (normal, below), (top, above), undone)


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
    result = np.empty_like(action)
    result[np.ix_(h_number, n_number)] = n_number[action]
    return result


# Every extension of N by K inside the wreath product N ≀ K (Lemma 19, repaired).
#
# Krasner and Kaloujnine embed a group G over N with G/N = K into N ≀ K: an element
# becomes its coset k and a function f: K → N (`Extension.functions`; the thesis cites
# this). That is a semidirect product of |K| copies of N and K, which permutes the copies:
# so Lemma 18 applies, and its two look-ups only re-index copies, f ↦ (w ↦ f(w·k)). Each
# place of a copy is one selection by k, whatever the size of N (equation (3.1) as printed
# moves f in the wrong product, E18).
#
# Letters are coded as k·f with f(w) = r_{w·k⁻¹}·x·r_w⁻¹ for the element x and
# representatives r of the cosets, so x = r_{k⁻¹}⁻¹·f(1): coset and one copy tell it.


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
        outputs: list[str] = []
        for w in range(copies):
            one = moved[w * places : (w + 1) * places]
            outputs += self.normal.run(wires, f"{prefix}{w}.", one)
        divided = self.product[:, self.product.argmin(axis=1)]  # w·k⁻¹
        back = self._look_up_copies(wires, f"{prefix}back", outputs, k, divided)
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
    return group_program(machine, length, wreath_simulator(group))


def wreath_simulator(group: PermutationGroup) -> Simulator:
    """The simulator of a solvable group with the fewest stages, then places."""
    if group.table.is_abelian:
        return abelian(group.table)
    made = [
        over_normal(over, wreath_simulator(over.normal)) for over in _cyclic_over(group)
    ]
    return min(made, key=lambda s: (s.stages, s.codes.shape[1]))


def _cyclic_over(group: PermutationGroup) -> list[Extension]:
    """The group over each proper normal subgroup with a cyclic quotient."""
    extensions_ = []
    for normal in normal_subgroups(group):
        over = Extension(group, np.sort(numbers(group, normal.elements())))
        table = over.quotient_table
        if 1 < table.order < group.order and (table.orders == table.order).any():
            extensions_.append(over)
    return extensions_


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


# Solvable groups up a composition series (Theorem 16).
#
# Every factor is cyclic of prime order, and every step a wreath product (Lemma 19), of
# which only the codes of the group's own elements occur. With ℓ factors that is 3ℓ − 2
# layers, ℓ at most log2 of the order (printed: of T, E19).


def series(machine: Automaton, length: int) -> Program:
    """A wreath product for each composition factor but the lowest.

    Raises:
        CompileError: If a letter is no permutation, or the group is not solvable.
    """
    return group_program(machine, length, series_simulator(group_of(machine)))


def series_simulator(group: PermutationGroup) -> Simulator:
    """The simulator of a solvable group."""
    normal = None if group.is_trivial else maximal_normal_subgroup(group)
    if normal is None or normal.is_trivial:
        return abelian(group.table)
    over = Extension(group, np.sort(numbers(group, normal.elements())))
    return over_normal(over, series_simulator(over.normal))
