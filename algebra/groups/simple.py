"""Names of finite simple groups.

By the classification, a simple group is determined by its order, but for A8 and
PSL(3, 4), and for the two families Ω(2n+1, q) and PSp(2n, q) with n ≥ 3 and odd q, of
which the smallest has order 4,585,351,680 (Artin; Kimmerle, Lyons, Sandling, Teague).
"""

from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from itertools import count
from math import gcd, prod

from krohn.algebra.primes import factorise, is_prime

MOST_LISTED = 10**10
_SPORADIC = {
    7_920: "M11",
    95_040: "M12",
    175_560: "J1",
    443_520: "M22",
    604_800: "J2",
    10_200_960: "M23",
    17_971_200: "²F4(2)'",
    44_352_000: "HS",
    50_232_960: "J3",
    244_823_040: "M24",
    898_128_000: "McL",
    4_030_387_200: "He",
}
_AMBIGUOUS = (20_160, 4_585_351_680)


def simple_name(order: int, has_order_15: bool | None = None) -> str:
    """The name of the simple group of this order.

    Args:
        order: The order of a group that is known to be simple.
        has_order_15: Whether it has an element of order 15; that tells A8, which has
            one, from PSL(3, 4), which has none. None if unknown.

    Returns:
        A proper name, or ``"simple group of order …"`` where the order does not decide
        it or the group is in none of the families listed here.
    """
    if is_prime(order):
        return f"C{order}"
    if order == 20_160 and has_order_15 is not None:
        return "A8" if has_order_15 else "PSL(3,4)"
    unnamed = f"simple group of order {order}"
    if order in _AMBIGUOUS:
        return unnamed
    return _alternating(order) or _names_by_order().get(order, unnamed)


def _alternating(order: int) -> str | None:
    total = 1
    for n in count(2):
        total *= n
        if total >= 2 * order:
            return f"A{n}" if total == 2 * order and n >= 5 else None
    return None


@lru_cache(maxsize=1)
def _names_by_order() -> dict[int, str]:
    """Orders up to a limit of simple groups of Lie type of small rank, and sporadic."""
    names = dict(_SPORADIC)
    for order, name in _lie_type():
        names.setdefault(order, name)
    return names


def _linear(n: int, sign: int, q: int) -> int:
    """The order of PSL(n, q), or for sign −1 of PSU(n, q)."""
    factors = prod(q**i - sign**i for i in range(2, n + 1))
    order: int = q ** (n * (n - 1) // 2) * factors // gcd(n, q - sign)
    return order


def _symplectic(q: int) -> int:
    return q**4 * (q**2 - 1) * (q**4 - 1) // gcd(2, q - 1)


def _suzuki(q: int) -> int:
    return q**2 * (q**2 + 1) * (q - 1)


_FAMILIES: tuple[tuple[str, int, Callable[[int], int]], ...] = (
    ("PSL(2,{})", 4, partial(_linear, 2, 1)),
    ("PSL(3,{})", 2, partial(_linear, 3, 1)),
    ("PSU(3,{})", 3, partial(_linear, 3, -1)),
    ("PSp(4,{})", 3, _symplectic),
    ("PSL(4,{})", 2, partial(_linear, 4, 1)),
    ("PSU(4,{})", 2, partial(_linear, 4, -1)),
    ("Sz({})", 8, _suzuki),
)
"""Families of groups over a field of q elements: name, least q, and order."""


def _lie_type() -> Iterator[tuple[int, str]]:
    for title, least, order in _FAMILIES:
        for q in (q for q in count(least) if len(factorise(q)) == 1):
            # Orders grow with q, so that the first too large one ends a family.
            if order(q) > MOST_LISTED:
                break
            if order is not _suzuki or (q % 2 == 0 and q.bit_length() % 2 == 0):
                yield order(q), title.format(q)
