"""How large networks of chains of thought are, over a sweep of sizes (Yang et al. 2024)."""

from functools import cache
from math import isqrt
from typing import Any, NamedTuple

import pytest

import krohn
from krohn.kinds.dynamic_programs.commands import ChainsOfThought
from krohn.kinds.dynamic_programs.statement import ChainOfThought

KIND = ChainsOfThought()
SWEEP = (4, 7, 10, 14)


class Family(NamedTuple):
    """Programs whose steps read a constant number of tokens.

    Attributes:
        reads: How many places: K + J; what is the same place twice is one.
        layers: Of the standard network: as deep as the recurrence is nested.
        sizes: n.
    """

    reads: int
    layers: int = 3
    sizes: tuple[int, ...] = SWEEP


FAMILIES = {
    "EditDistance{n},{n}:letters=4": Family(5),
    "LIS{n}": Family(4),
    "LocalEditDistance{n},{n}:letters=4": Family(5),
    "LCS{n},{n}": Family(5),
    "Knapsack{n},6": Family(4),
    "NeedlemanWunsch{n},{n}": Family(5),
    "CoinChange3,{n}": Family(3),
    "Viterbi{n}": Family(4),
    "CYK{n}": Family(3, sizes=(4, 7, 10)),
    "FloydWarshall{n}": Family(3, 2, (3, 4, 5)),
    "SearchTree{n}": Family(3, 2, (3, 4, 5)),
}


@cache
def made(name: str, kind: str) -> tuple[ChainOfThought, dict[str, Any]]:
    """A chain of thought, and the architecture of a network for it."""
    dtype = "float64" if kind == "linear" else "float32"
    file = krohn.compile(name, attention=kind, dtype=dtype, proof=False).file
    return KIND.of_file(file), file.header["architecture"]


def sizes(name: str, kind: str) -> tuple[int, int, list[int], int, int]:
    """Length, layers, heads of each layer that has some, width, and hidden units."""
    source, shape = made(name, kind)
    heads = [b["heads"] for b in shape["blocks"] if b["heads"]]
    units = max(sum(b["mlp"]) for b in shape["blocks"])
    return source.length, len(shape["blocks"]), heads, shape["d_model"], units


def side(length: int) -> int:
    """⌈√L⌉."""
    return isqrt(length - 1) + 1


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_standard_networks_are_constant_but_for_binary_digits(family: str) -> None:
    """Theorem 4.1: depth 1, K + J heads, and each has digits of its place."""
    reads, depth, swept = FAMILIES[family]
    found = [sizes(family.format(n=n), "standard") for n in swept]
    for length, layers, heads, width, _ in found:
        digits = (length - 1).bit_length()
        assert layers == depth
        assert heads == [reads]
        assert width <= (reads + 1) * digits + 5 * reads
    assert len({units for *_, units in found}) == 1


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize("family", FAMILIES)
def test_linear_networks_grow_as_the_square_root(family: str) -> None:
    """Lemma A.9: 2 more layers, one of all of heads, at most 24·⌈√L⌉ + 46 wide.

    A read needs at most 7 hidden units for each of W slots, W a power of two at √L.
    """
    reads, depth, swept = FAMILIES[family]
    for n in swept:
        length, layers, heads, width, units = sizes(family.format(n=n), "linear")
        assert layers == depth + 2
        assert len(heads) == 1
        assert heads[0] <= reads
        assert width <= 24 * side(length) + 46
        assert units <= 7 * reads * 2 ** (side(length) - 1).bit_length()


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize("family", [f for f in FAMILIES if "Local" not in f])
def test_sparse_networks_grow_as_the_square_root(family: str) -> None:
    """Lemma A.12: two layers of heads, B of √L or a window of the locality."""
    reads, depth, swept = FAMILIES[family]
    for n in swept:
        source, shape = made(family.format(n=n), "sparse")
        length, layers, heads, width, units = sizes(family.format(n=n), "sparse")
        (block,) = {b["attention"]["block"] for b in shape["blocks"] if b["heads"]}
        assert layers <= depth + 2
        assert len(heads) <= 2
        assert sum(heads) <= side(length) - 1 + 3 * reads
        assert block in (side(length), source.locality)
        assert width <= 24 * side(length) + 46
        assert units <= 15 * side(length) + 12


@pytest.mark.slow
def test_local_programs_have_a_constant_sparse_network() -> None:
    """Proposition 5.4: kB is the locality m, and nothing grows but digits."""
    for n in SWEEP:
        name = f"LocalEditDistance{n},{n}:letters=4"
        source, shape = made(name, "sparse")
        length, layers, heads, width, units = sizes(name, "sparse")
        (block,) = (b["attention"] for b in shape["blocks"] if b["heads"])
        assert block["block"] * block["windows"] == source.locality
        assert (layers, heads, units) == (3, [5], 13)
        assert width <= 6 * (length - 1).bit_length() + 25


@pytest.mark.slow
def test_lengths_are_those_of_the_formulas() -> None:
    """With the last token n² + 5n + 7 at n × (n + 2); LIS has a number for each pair."""
    for n in SWEEP:
        length = made(f"EditDistance{n},{n + 2}:letters=4", "standard")[0].length
        assert length == n * n + 5 * n + 7
        source, _ = made(f"LIS{n}", "standard")
        numbers = sum(step.token is None for step in source.steps)
        assert numbers == n * (n - 1) // 2 + (n - 1) + 1
