"""The embedding of a group into the wreath product of N and G/N.

Krasner and Kaloujnine's theorem, which the thesis cites in step iv of its proof of
Theorem 16 and does not prove. The regular wreath product N ≀ K consists of pairs (f, k)
of a function f: K → N and k in K, with

    (f, k)(f', k') = (w ↦ f(w)·f'(w·k), k·k').

This is the thesis's product with φ_k(f)(w) = f(w·k); its equation (3.1) is wrong as
printed (erratum E18). Products are read from left to right, as everything here.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from algebra.groups.extension import Extension
from algebra.groups.permutations import GroupError
from algebra.semiautomaton import IntArray


@dataclass(frozen=True, eq=False)
class WreathEmbedding:
    """x ↦ (f_x, x̄) with f_x(w) = r_w · x · r_{w·x̄}⁻¹, for the transversal r.

    Since r of the identity is the identity, x is f_x(1)·r_x̄, and the identity becomes
    the pair of the constant function 1 and 1. Along a word x₁x₂…, the state is
    (f, k) with f(w) ← f(w)·f_x(w·k) and k ← k·x̄.

    Attributes:
        extension: N in the group.
    """

    extension: Extension

    @cached_property
    def top(self) -> IntArray:
        """``(m,)``: x̄ for each element x, a coset number, 0 the identity."""
        return self.extension.coset

    @cached_property
    def functions(self) -> IntArray:
        """``(m, |K|)``: f_x(w) for each element x, numbered within N, 0 the identity."""
        over, table = self.extension, self.extension.table
        r = over.transversal
        after = over.quotient_table.product[:, self.top].T
        moved = table.product[r[None], np.arange(table.order)[:, None]]
        return over.place[table.product[moved, table.inverse[r[after]]]]

    def multiply(
        self, first: tuple[IntArray, IntArray], then: tuple[IntArray, IntArray]
    ) -> tuple[IntArray, IntArray]:
        """The product of pairs (f, k), f ``(..., |K|)`` and k ``(...,)``."""
        below = self._below
        (f, k), (g, h) = first, then
        places = self.extension.quotient_table.product[:, k]
        shifted = np.take_along_axis(g, np.moveaxis(places, 0, -1), axis=-1)
        return below[f, shifted], self.extension.quotient_table.product[k, h]

    def encode(self, elements: npt.ArrayLike) -> tuple[IntArray, IntArray]:
        """The pairs of some elements."""
        chosen = np.asarray(elements, dtype=np.int64)
        return self.functions[chosen], self.top[chosen]

    def decode(self, f: IntArray, k: IntArray) -> IntArray:
        """The element of each pair of the embedded group: f(1)·r_k."""
        over = self.extension
        return np.asarray(
            over.table.product[over.members[f[..., 0]], over.transversal[k]]
        )

    def check(self) -> None:
        """Compare all products of two elements, and more.

        Raises:
            GroupError: If this is no injective homomorphism that keeps the identity.
        """
        every = np.arange(self.extension.table.order)
        if not np.array_equal(self.decode(*self.encode(every)), every):
            raise GroupError("two elements have the same pair: the table is damaged")
        if self.functions[0].any() or self.top[0]:
            raise GroupError("the identity does not go to the identity")
        for x in every:
            first = self.encode(np.full(len(every), x))
            made = self.multiply(first, self.encode(every))
            wanted = self.encode(self.extension.table.product[x])
            if not all(map(np.array_equal, made, wanted)):
                raise GroupError(f"products with element {x} are not kept")

    @cached_property
    def _below(self) -> IntArray:
        over = self.extension
        return over.place[over.table.product[np.ix_(over.members, over.members)]]
