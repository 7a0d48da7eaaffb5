"""Groups of known names, as permutations."""

from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from itertools import product as tuples
from math import factorial

import numpy as np

from krohn.algebra.groups.permutation_group import PermutationGroup
from krohn.algebra.semiautomaton import IntArray

Matrix = tuple[tuple[int, ...], ...]


def cyclic(n: int) -> PermutationGroup:
    """The rotations of n points."""
    return PermutationGroup(np.roll(np.arange(n), -1)[None])


def dihedral(order: int) -> PermutationGroup:
    """The symmetries of a polygon with ``order / 2`` corners, from 3 corners on."""
    corner = np.arange(order // 2)
    return PermutationGroup(np.stack([np.roll(corner, -1), -corner % len(corner)]))


def quaternion() -> PermutationGroup:
    """Q8 acting on itself."""
    return matrix_group(3, (((0, 1), (2, 0)), ((1, 1), (1, 2))))


def direct_product(*factors: PermutationGroup) -> PermutationGroup:
    """The factors side by side on disjoint points."""
    degree = sum(factor.degree for factor in factors)
    rows, offset = [np.empty((0, degree), dtype=np.int64)], 0
    for factor in factors:
        rows.append(embed(factor.generators, offset, degree))
        offset += factor.degree
    return PermutationGroup(np.concatenate(rows))


def embed(rows: IntArray, offset: int, degree: int) -> IntArray:
    """Rows that act on the points from ``offset`` on and fix all others."""
    wide = np.tile(np.arange(degree), (len(rows), 1))
    wide[:, offset : offset + rows.shape[1]] = rows + offset
    return wide


def wreath_product(
    lower: PermutationGroup, upper: PermutationGroup
) -> PermutationGroup:
    """``lower ≀ upper``: a copy of the lower group for each point of the upper.

    The upper group permutes the copies as it permutes its own points (the permutational
    wreath product, erratum E39); the point (copy i, x) has number ``i · degree + x``.
    """
    n, m = lower.degree, upper.degree
    copies = [embed(lower.generators, i * n, n * m) for i in range(m)]
    moved = upper.generators[:, :, None] * n + np.arange(n)
    rows = [*copies, moved.reshape(-1, n * m)]
    return PermutationGroup(np.concatenate(rows))


def matrix_group(p: int, matrices: tuple[Matrix, ...]) -> PermutationGroup:
    """Matrices modulo a prime, acting on the non-zero row vectors from the right."""
    vectors = _vectors(p, len(matrices[0]))[1:]
    return PermutationGroup(_images(vectors, p, matrices))


def affine_group(p: int, matrices: tuple[Matrix, ...]) -> PermutationGroup:
    """All translations of a space modulo a prime, and some matrices, on its vectors."""
    vectors = _vectors(p, len(matrices[0]))
    shifts = [
        _index((vectors + unit) % p, p) for unit in np.eye(len(vectors[0]), dtype=int)
    ]
    return PermutationGroup(np.concatenate([shifts, _images(vectors, p, matrices)]))


def projective_group(q: int, special: bool) -> PermutationGroup:
    """PGL(2, q), or PSL(2, q), for a prime q, on the q + 1 points of the line."""
    x = np.arange(q)
    infinity = np.array([q])
    root = next(r for r in range(1, q) if _generates(r, q))
    scale = root * root % q if special else root
    inverse = np.array([pow(int(y), -1, q) if y else q for y in x])
    turned = np.where(inverse < q, -inverse % q, q)
    return PermutationGroup(
        np.stack(
            [
                np.append((x + 1) % q, infinity),
                np.append(x * scale % q, infinity),
                np.append(turned, [0]),
            ]
        )
    )


def _generates(root: int, q: int) -> bool:
    return len({pow(root, e, q) for e in range(q - 1)}) == q - 1


def _vectors(p: int, dimension: int) -> IntArray:
    return np.array(list(tuples(range(p), repeat=dimension)), dtype=np.int64)


def _index(vectors: IntArray, p: int) -> IntArray:
    weights = p ** np.arange(vectors.shape[1])[::-1]
    return np.asarray(vectors @ weights)


def _images(vectors: IntArray, p: int, matrices: tuple[Matrix, ...]) -> IntArray:
    first = _index(vectors, p)[0]
    rows = [_index(vectors @ np.array(m) % p, p) - first for m in matrices]
    return np.array(rows, dtype=np.int64)


_Build = Callable[[], PermutationGroup]
_TRANSVECTIONS: tuple[Matrix, ...] = (((1, 1), (0, 1)), ((1, 0), (1, 1)))
_ODD: Matrix = ((2, 0), (0, 1))


@lru_cache(maxsize=1)
def _single_groups() -> dict[str, tuple[int, _Build]]:
    def pauli() -> PermutationGroup:
        # i, and the quaternions modulo 5, where 2 is a square root of -1.
        return matrix_group(5, (((2, 0), (0, 2)), ((0, 1), (4, 0)), ((2, 0), (0, 3))))

    def swapped() -> PermutationGroup:
        # A 4-cycle that exchanges two commuting transpositions on other points.
        rows = [[1, 2, 3, 0, 6, 7, 4, 5], [0, 1, 2, 3, 5, 4, 6, 7]]
        return PermutationGroup(np.array(rows))

    def heisenberg() -> PermutationGroup:
        upper = (((1, 1, 0), (0, 1, 0), (0, 0, 1)), ((1, 0, 0), (0, 1, 1), (0, 0, 1)))
        return matrix_group(3, upper)

    return {
        "C4 ∘ D8": (16, pauli),
        "C2^2 ⋊ C4": (16, swapped),
        "SL(2,3)": (24, lambda: matrix_group(3, _TRANSVECTIONS)),
        "He3": (27, heisenberg),
        "GL(2,3)": (48, lambda: matrix_group(3, (*_TRANSVECTIONS, _ODD))),
        "SL(2,5)": (120, lambda: matrix_group(5, _TRANSVECTIONS)),
        "ASL(2,3)": (216, lambda: affine_group(3, _TRANSVECTIONS)),
        "SL(2,7)": (336, lambda: matrix_group(7, _TRANSVECTIONS)),
        "PGL(2,7)": (336, lambda: projective_group(7, special=False)),
        "AGL(2,3)": (432, lambda: affine_group(3, (*_TRANSVECTIONS, _ODD))),
        "GL(2,5)": (480, lambda: matrix_group(5, (*_TRANSVECTIONS, _ODD))),
        "PGL(2,11)": (1320, lambda: projective_group(11, special=False)),
    }


@lru_cache(maxsize=1)
def _wreath_parts() -> dict[str, tuple[int, int, _Build]]:
    """Order, degree and group of the factors of wreath products."""

    def klein() -> PermutationGroup:
        return PermutationGroup(np.array([[1, 0, 3, 2], [2, 3, 0, 1]]))

    symmetric, alternating = PermutationGroup.symmetric, PermutationGroup.alternating
    parts: dict[str, tuple[int, int, _Build]] = {
        f"C{n}": (n, n, partial(cyclic, n)) for n in range(2, 8)
    }
    parts["C2^2"] = (4, 4, klein)
    for n in range(3, 6):
        parts[f"S{n}"] = factorial(n), n, partial(symmetric, n)
    for n in range(4, 6):
        parts[f"A{n}"] = factorial(n) // 2, n, partial(alternating, n)
    # The corners of a square are two pairs; wreath products are associative.
    parts["C2 ≀ C2"] = 8, 4, partial(dihedral, 8)
    return parts


@lru_cache(maxsize=64)
def known_groups(order: int) -> tuple[tuple[str, PermutationGroup], ...]:
    """Named groups of an order, the more usual names first.

    The symmetric groups; some matrix groups; and wreath products of small groups in
    their natural actions (C2^2 on 4 points), regular for cyclic groups.
    """
    return tuple(_known_groups(order))


def _known_groups(order: int) -> Iterator[tuple[str, PermutationGroup]]:
    for n in range(3, 13):
        if factorial(n) == order:
            yield f"S{n}", PermutationGroup.symmetric(n)
    for name, (size, build) in _single_groups().items():
        if size == order:
            yield name, build()
    for lower, (size, _, build_lower) in _wreath_parts().items():
        for upper, (top, degree, build_upper) in _wreath_parts().items():
            if size**degree * top == order:
                yield f"{lower} ≀ {upper}", wreath_product(build_lower(), build_upper())
