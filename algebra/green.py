"""Green's relations of a transformation monoid, and its D-classes as egg-boxes.

Two elements are R-related if each is the other times something on the right, L-related
on the left; H is both, D joins them, and D is J because the monoid is finite. In the
right Cayley graph R-classes are strongly connected components, in the left one L-classes.
An identity that was adjoined to T(A) is a class of its own and changes no other class.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from krohn.algebra.automaton import IntArray
from krohn.algebra.errors import MachineError
from krohn.algebra.graphs import components_of_steps, renumber_classes, weak_components
from krohn.algebra.groups.naming import name
from krohn.algebra.groups.permutation_group import PermutationGroup
from krohn.algebra.monoid import TransformationMonoid

NO_IDEMPOTENT = -1


@dataclass(frozen=True, eq=False)
class EggBox:
    """A D-class laid out: a row for each R-class, a column for each L-class.

    Attributes:
        number: The number of the D-class.
        rank: The number of states in the image of each element.
        r_classes: ``(rows,)`` numbers of the R-classes; each row is one kernel if the
            class is regular.
        l_classes: ``(columns,)`` numbers of the L-classes; each column is one image if
            the class is regular.
        h_size: The number of elements of each H-class, in each cell.
        first: ``(rows, columns)``: the element with the smallest word in each cell.
        idempotents: ``(rows, columns)``: the idempotent of each cell that is a group,
            −1 in the other cells.
        group: The maximal subgroup, on the image of the first idempotent; None if the
            class is not regular.
        group_name: Its name, ``"1"`` if trivial; empty if the class is not regular.
    """

    number: int
    rank: int
    r_classes: IntArray
    l_classes: IntArray
    h_size: int
    first: IntArray
    idempotents: IntArray
    group: PermutationGroup | None
    group_name: str

    @property
    def size(self) -> int:
        """The number of elements of the D-class."""
        return self.first.size * self.h_size

    @property
    def regular(self) -> bool:
        """Whether the class has an idempotent (then every row and column has one)."""
        return self.group is not None


@dataclass(frozen=True, eq=False)
class Green:
    """The classes of the elements; all are numbered by their smallest elements.

    Attributes:
        monoid: The monoid.
        r_class: ``(size,)``: the R-class of each element.
        l_class: ``(size,)``: the L-class of each element.
        h_class: ``(size,)``: the H-class of each element.
        d_class: ``(size,)``: the D-class (or J-class) of each element.
    """

    monoid: TransformationMonoid
    r_class: IntArray
    l_class: IntArray
    h_class: IntArray
    d_class: IntArray

    @cached_property
    def d_sizes(self) -> IntArray:
        """``(D-classes,)``: their numbers of elements."""
        return np.bincount(self.d_class)

    @cached_property
    def idempotent_counts(self) -> IntArray:
        """``(D-classes,)``: their numbers of idempotents; regular classes have some."""
        return np.bincount(
            self.d_class[self.monoid.idempotents], minlength=len(self.d_sizes)
        )

    @cached_property
    def h_sizes(self) -> IntArray:
        """``(D-classes,)``: the sizes of their H-classes."""
        first = np.unique(self.d_class, return_index=True)[1]
        return np.bincount(self.h_class)[self.h_class[first]]

    @cached_property
    def first_idempotents(self) -> IntArray:
        """``(D-classes,)``: the smallest idempotent of each, −1 where there is none."""
        idempotents = np.full(len(self.d_sizes), NO_IDEMPOTENT, dtype=np.int64)
        own = self.monoid.idempotents
        classes, first = np.unique(self.d_class[own], return_index=True)
        idempotents[classes] = own[first]
        return idempotents

    @cached_property
    def order(self) -> IntArray:
        """``(m, 2)``: pairs of D-classes whose closure is the order of J-classes.

        The second is below the first: J ≤ K if S¹·J·S¹ ⊆ S¹·K·S¹.
        """
        step = np.concatenate([self.monoid.right, self.monoid.left], axis=1)
        source = np.repeat(self.d_class, step.shape[1])
        pairs = np.unique(source * len(self.d_sizes) + self.d_class[step.ravel()])
        above, below = np.divmod(pairs, len(self.d_sizes))
        strict = above != below
        return np.stack([above[strict], below[strict]], axis=1)

    def covers(self) -> IntArray:
        """``(m, 2)``: the pairs of the order with nothing between: its Hasse diagram."""
        import networkx as nx  # only where the order is drawn

        graph: nx.DiGraph[int] = nx.DiGraph(self.order.tolist())
        edges = sorted(nx.transitive_reduction(graph).edges)
        return np.array(edges, dtype=np.int64).reshape(-1, 2)

    @cached_property
    def _by_d_class(self) -> list[IntArray]:
        return np.split(
            np.argsort(self.d_class, kind="stable"), np.cumsum(self.d_sizes)[:-1]
        )

    def members(self, number: int) -> IntArray:
        """The elements of a D-class, in order.

        Raises:
            MachineError: If there is no such class.
        """
        if not 0 <= number < len(self.d_sizes):
            raise MachineError(f"the D-classes are 0..{len(self.d_sizes) - 1}")
        return self._by_d_class[number]

    def maximal_subgroup(self, idempotent: int) -> PermutationGroup:
        """The H-class of an idempotent as permutations of its image.

        Elements of the class have the idempotent's image and kernel, so that they are
        determined by their action on the image. Its states are numbered in order.
        """
        members = self.members(int(self.d_class[idempotent]))
        inside = members[self.h_class[members] == self.h_class[idempotent]]
        image = np.unique(self.monoid.elements[idempotent])
        rows = self.monoid.elements[inside[:, None], image]
        return _group_of_elements(np.searchsorted(image, rows))

    def egg_box(self, number: int) -> EggBox:
        """A D-class laid out in rows and columns.

        Raises:
            MachineError: If there is no such class.
        """
        members = self.members(number)
        r_classes, row = np.unique(self.r_class[members], return_inverse=True)
        l_classes, column = np.unique(self.l_class[members], return_inverse=True)
        cell = np.unique(row * len(l_classes) + column, return_index=True)[1]
        first = members[cell].reshape(len(r_classes), len(l_classes))
        idempotents = np.full_like(first, NO_IDEMPOTENT)
        own = np.isin(members, self.monoid.idempotents, assume_unique=True)
        idempotents[row[own], column[own]] = members[own]
        chosen = int(self.first_idempotents[number])
        group = None if chosen == NO_IDEMPOTENT else self.maximal_subgroup(chosen)
        return EggBox(
            number,
            len(np.unique(self.monoid.elements[members[0]])),
            r_classes,
            l_classes,
            int(self.h_sizes[number]),
            first,
            idempotents,
            group,
            "" if group is None else name(group),
        )

    def egg_boxes(self) -> tuple[EggBox, ...]:
        """All D-classes laid out, in the order of their numbers."""
        return tuple(self.egg_box(i) for i in range(len(self.d_sizes)))


def green(monoid: TransformationMonoid) -> Green:
    """Green's relations, from the strongly connected components of the Cayley graphs."""
    r, left = (components_of_steps(g.T) for g in (monoid.right, monoid.left))
    h, first = renumber_classes(r * (int(left.max()) + 1) + left)
    joined = _d_classes(r[first], left[first])
    return Green(monoid, r, left, h, renumber_classes(joined[h])[0])


def _d_classes(r: IntArray, left: IntArray) -> IntArray:
    """The D-class of each H-class, from its R-class and its L-class."""
    rows, columns = int(r.max()) + 1, int(left.max()) + 1
    return weak_components(rows + columns, r, rows + left)[r]


def _group_of_elements(elements: IntArray) -> PermutationGroup:
    """The group with these elements ``(order, points)``, from few generators."""
    group = PermutationGroup.trivial(elements.shape[1])
    while group.order < len(elements):
        outside = elements[~group.contains(elements)]
        group = PermutationGroup(np.concatenate([group.generators, outside[:1]]))
    return group
