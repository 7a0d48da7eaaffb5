"""Homomorphisms from a permutation group onto another, with kernels and preimages."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from krohn.algebra.groups.permutation_group import PermutationGroup
from krohn.algebra.groups.permutations import inverse, product
from krohn.algebra.groups.stabiliser_chain import StabiliserChain
from krohn.algebra.semiautomaton import IntArray


@dataclass(frozen=True, eq=False)
class Homomorphism:
    """An action of a group on further points.

    Attributes:
        group: The group, with k generators on n points.
        images: ``(k, d)``: the image of each further point under each generator. That
            this extends to a homomorphism is not checked.
    """

    group: PermutationGroup
    images: IntArray

    @cached_property
    def image(self) -> PermutationGroup:
        """The group on the further points."""
        return PermutationGroup(self.images)

    @cached_property
    def kernel(self) -> PermutationGroup:
        """The subgroup that moves none of the further points."""
        rows = self._chain.stabiliser(self._depth)
        return self.group.subgroup(rows[:, self._points :] - self._points)

    def preimage(self, subgroup: PermutationGroup) -> PermutationGroup:
        """All elements that act as elements of a subgroup of the image."""
        lifted = self.lift(subgroup.generators)
        return self.kernel.generated_with(lifted) if len(lifted) else self.kernel

    def lift(self, rows: npt.ArrayLike) -> IntArray:
        """For elements ``(m, d)`` of the image, elements ``(m, n)`` that act so."""
        table = np.asarray(rows, dtype=np.int64).reshape(-1, self._points)
        rest = np.arange(self._points, self._chain.degree)
        wide = np.concatenate([table, np.tile(rest, (len(table), 1))], axis=1)
        left, _ = self._chain.sift(wide, bottom=self._depth)
        lifted = product(inverse(left), wide)
        return lifted[:, self._points :] - self._points

    @property
    def _points(self) -> int:
        return int(self.images.shape[1])

    @property
    def _depth(self) -> int:
        return len(self.image.base)

    @cached_property
    def _chain(self) -> StabiliserChain:
        """Of the action on all points at once, the further ones first in the base."""
        rows = np.concatenate(
            [self.images, self.group.generators + self._points], axis=1
        )
        chain = StabiliserChain(rows.shape[1], self.image.base)
        chain.extend(rows)
        return chain


def action_on_orbit(group: PermutationGroup, orbit: npt.ArrayLike) -> Homomorphism:
    """The action of a group on one of its orbits (or a union of orbits)."""
    points = np.asarray(orbit, dtype=np.int64)
    place = np.zeros(group.degree, dtype=np.int64)
    place[points] = np.arange(len(points))
    return Homomorphism(group, place[group.generators[:, points]])


def action_on_blocks(group: PermutationGroup, label: IntArray) -> Homomorphism:
    """How a group permutes the blocks of a system, given by the label of each point."""
    _, first = np.unique(label, return_index=True)
    return Homomorphism(group, label[group.generators[:, first]])


def action_on_elements(group: PermutationGroup, rows: IntArray) -> Homomorphism:
    """How a group permutes some of its elements ``(m, n)`` by conjugation."""
    place = {row.tobytes(): i for i, row in enumerate(rows)}
    back = inverse(group.generators)
    moved = [g[rows[:, b]] for g, b in zip(group.generators, back, strict=True)]
    images = [[place[row.tobytes()] for row in every] for every in moved]
    return Homomorphism(group, np.array(images, dtype=np.int64).reshape(-1, len(rows)))


def action_on_cosets(
    group: PermutationGroup, subgroup: PermutationGroup
) -> Homomorphism:
    """How a group permutes the right cosets of a subgroup, which is coset 0.

    A coset Hx goes to Hxg. The index decides the cost: each new element is compared
    with all representatives so far.
    """
    chosen = [np.arange(group.degree)]
    images: list[list[int]] = []
    for representative in chosen:
        row = []
        for generator in group.generators:
            after = generator[representative]
            # Hx = Hy means that x·y⁻¹ lies in H.
            same = subgroup.contains(inverse(np.array(chosen))[:, after])
            if not same.any():
                chosen.append(after)
            row.append(int(same.argmax()) if same.any() else len(chosen) - 1)
        images.append(row)
    return Homomorphism(group, np.array(images, dtype=np.int64).T.copy())
