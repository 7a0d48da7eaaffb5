"""The sizes that the thesis states for its networks, as functions of a machine and T.

Logarithms are natural where the thesis writes log, as its proofs use them.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from math import ceil, log, log2

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.minimisation import reachable
from krohn.algebra.monoid import TransformationMonoid
from krohn.compiler.constructions.thesis import extensions
from krohn.compiler.constructions.thesis.extensions import (
    SemidirectSimulator,
    WreathSimulator,
)
from krohn.compiler.constructions.thesis.krohn_rhodes import taken_apart
from krohn.compiler.constructions.thesis.simulator import (
    Abelian,
    SideBySide,
    Simulator,
    group_of,
)


@dataclass(frozen=True)
class Sizes:
    """The sizes of a network by a statement; None where it says nothing.

    Attributes:
        layers: Attention layers, those with identity attention included.
        d_model: Embedding dimension.
        heads: Heads of one layer.
        mlp_width: Widest hidden layer.
        largest_weight: ∞-norm of all parameters.
    """

    layers: float
    d_model: float | None = None
    heads: float | None = None
    mlp_width: float | None = None
    largest_weight: float | None = None

    def named(self) -> dict[str, float | None]:
        """The sizes by name."""
        return asdict(self)


def states(machine: Automaton) -> int:
    """|Q|: the states that can be reached."""
    return len(reachable(machine).states)


def scan(machine: Automaton, length: int) -> Sizes:
    """Theorem 10."""
    n = states(machine)
    norm = max(4 * n + 2, 10 * length * (log(n) + log(length)) ** 0.5)
    return Sizes(ceil(log2(length)), 2 * n + 2, 2, n**2 + n, norm)


def counter(machine: Automaton, length: int) -> Sizes:
    """Lemma 15."""
    n = states(machine)
    return Sizes(1, 3, 1, 4 * n * length, 4 * n * length + 2)


def memory(machine: Automaton, length: int) -> Sizes:
    """Lemma 16."""
    n = states(machine)
    return Sizes(1, 4, 1, 4 * n, 2 * length * log(n * length))


def gridworld(machine: Automaton, length: int) -> Sizes:
    """Theorem 12 with the second MLP of depth O(log S); S + 1 letters are padding."""
    most = states(machine) - 1
    return Sizes(2, None, 2 * most + 1, 4 * (2 * (length + most + 1) + 1))


def flip_flop(machine: Automaton, length: int) -> Sizes:
    """Proposition 3."""
    return Sizes(2, None, 1)


def selected(machine: Automaton, length: int) -> Sizes:
    """Proposition 9; the hidden width and the bound of the text."""
    k = _support(machine)
    return Sizes(1, None, 1, 4 * (k + 1), 4 * k * (k + 1))


def copied(machine: Automaton, length: int) -> Sizes:
    """Proposition 10; the embedding has one dimension for each position."""
    k = _support(machine)
    return Sizes(1, length, 1, 2**k, 2 ** (k + 2))


def _support(machine: Automaton) -> int:
    """How many positions of a sparse parity count."""
    return len(machine.name.partition("@")[2].split(","))


def sequential(machine: Automaton, length: int) -> Sizes:
    """Section 3.4.1: a layer for every letter."""
    return Sizes(length)


def chunked(machine: Automaton, length: int) -> Sizes:
    """Section 3.4.1: √T layers, and at least |Σ|^√T units."""
    root = ceil(length**0.5)
    return Sizes(root, mlp_width=len(machine.letters) ** root)


def memorising(machine: Automaton, length: int) -> Sizes:
    """Section 3.4.1: constant depth for all |Σ|^T words."""
    return Sizes(1, mlp_width=len(machine.letters) ** length)


def by(
    simulator: Callable[[Automaton], Simulator],
) -> Callable[[Automaton, int], Sizes]:
    """Lemmas 15, 17, 18 and 19, one after the other as a simulator is built."""

    def sizes(machine: Automaton, length: int) -> Sizes:
        found = _simulated(simulator(machine), length)
        return Sizes(
            found.depth, found.dim, found.heads, found.mlp_width, found.norm_bound
        )

    return sizes


def cyclic(*moduli: int) -> Callable[[Automaton, int], Sizes]:
    """Lemmas 15 and 17 for a product of counters."""
    codes = np.zeros((1, len(moduli)), dtype=np.int64)
    return by(lambda _: Abelian(codes, codes, (), moduli))


def split(machine: Automaton) -> Simulator:
    """The simulator of Lemma 18."""
    found = extensions.semidirect_simulator(group_of(machine))
    assert found is not None
    return found


def woven(machine: Automaton) -> Simulator:
    """The simulator of Lemma 19."""
    return extensions.wreath_simulator(group_of(machine))


def solvable(machine: Automaton, length: int, degree: int) -> Sizes:
    """Theorem 16 for a group of permutations of ``degree`` points."""
    order, points = group_of(machine).order, degree * length
    widest = 20 * points * order
    return Sizes(3 * log2(order), 2 * order, 2 * order, widest, 6 * points)


def permutation_reset(machine: Automaton, length: int) -> Sizes:
    """Lemma 20, its bounds on the right."""
    alive = reachable(machine)
    part = taken_apart(alive.transitions, alive.start, machine.name)
    n, order = states(machine), len(part.elements)
    return Sizes(
        3 * log2(order) + 2,
        order + n + 4,
        2 * order + 1,
        20 * n * length * order + 4 * n + order**2 * n,
        6 * n * length * log(length),
    )


def krohn_rhodes(machine: Automaton, length: int) -> Sizes:
    """Lemma 21, its bounds on the right (Theorem 11 without constants)."""
    alive = reachable(machine).semiautomaton
    n, size = states(machine), TransformationMonoid.enumerate(alive).semigroup_size
    letters, components = len(machine.letters), 2**n
    inside = 20 * n * size * length + 4 * n + size**2 * n + n**components * letters
    norm = max(6 * n * length * log(length), components * (size + 5 * n))
    return Sizes(
        3 * n**2 * log(n) + 7 * n,
        components * (size + n + 4) + 1,
        2 * components * (size + 1),
        components * inside,
        norm + 6 * max(n, letters),
    )


@dataclass(frozen=True)
class _Simulated:
    """The sizes of a simulator, in the words of Definition 9."""

    depth: int
    dim: int
    heads: int
    mlp_width: int
    norm_bound: int
    rep_dim: int
    rep_size: int


def _simulated(of: Simulator, length: int) -> _Simulated:
    match of:
        case Abelian(moduli=moduli):
            cyclic = [
                _Simulated(1, 3, 1, 4 * n * length, 6 * n * length, 1, n)
                for n in moduli
            ]
            return _side_by_side(cyclic)
        case SideBySide(first=first, second=second):
            return _side_by_side([_simulated(part, length) for part in (first, second)])
        case SemidirectSimulator(normal=normal, top=top):
            return _semidirect(_simulated(normal, length), _simulated(top, length), of)
        case WreathSimulator(normal=normal, top=top):
            below, above = _simulated(normal, length), _simulated(top, length)
            return _wreath(below, above, len(normal.codes), len(top.codes))
    raise TypeError(f"the thesis has no lemma for {type(of).__name__}")


def _side_by_side(parts: list[_Simulated]) -> _Simulated:
    """Lemma 17."""
    return _Simulated(
        max(p.depth for p in parts),
        sum(p.dim for p in parts),
        sum(p.heads for p in parts),
        sum(p.mlp_width for p in parts),
        max(p.norm_bound for p in parts),
        sum(p.rep_dim for p in parts),
        max(p.rep_size for p in parts),
    )


def _semidirect(
    normal: _Simulated, top: _Simulated, of: SemidirectSimulator
) -> _Simulated:
    """Lemma 18."""
    size, places = max(normal.rep_size, top.rep_size), normal.rep_dim + top.rep_dim
    return _Simulated(
        normal.depth + top.depth + 2,
        normal.dim + top.dim,
        max(normal.heads, top.heads),
        max(normal.mlp_width, top.mlp_width, 4 * len(of.codes)),
        max(normal.norm_bound, top.norm_bound, 6 * size, places),
        places,
        size,
    )


def _wreath(normal: _Simulated, top: _Simulated, below: int, above: int) -> _Simulated:
    """Lemma 19."""
    return _Simulated(
        normal.depth + top.depth + 2,
        above * normal.dim + top.dim,
        max(above * normal.heads, top.heads),
        max(above * normal.mlp_width, top.mlp_width, 5 * above**2 * below),
        max(normal.norm_bound, top.norm_bound, 6 * above),
        above * normal.rep_dim + 1,
        max(normal.rep_size, top.rep_size),
    )
