"""Names of finite simple groups.

By the classification, a simple group is determined by its order, but for A8 and
PSL(3, 4), and for the two families Ω(2n+1, q) and PSp(2n, q) with n ≥ 3 and odd q, of
which the smallest has order 4,585,351,680 (Artin; Kimmerle, Lyons, Sandling, Teague).
"""

from collections.abc import Iterator
from functools import lru_cache
from itertools import count
from math import gcd, prod

from algebra.primes import factorise, is_prime

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
    return _alternating(order) or _listed().get(order, unnamed)


def _alternating(order: int) -> str | None:
    total = 1
    for n in count(2):
        total *= n
        if total >= 2 * order:
            return f"A{n}" if total == 2 * order and n >= 5 else None
    return None


@lru_cache(maxsize=1)
def _listed() -> dict[int, str]:
    """Orders up to a limit of simple groups of Lie type of small rank, and sporadic."""
    names = dict(_SPORADIC)
    for order, name in _lie_type():
        names.setdefault(order, name)
    return names


def _lie_type() -> Iterator[tuple[int, str]]:
    for family in (_psl2, _psl3, _psu3, _psp4, _psl4, _psu4, _suzuki):
        # Orders grow with q, so that the first too large one ends a family.
        for q in filter(_is_prime_power, count(2)):
            order, name = family(q)
            if order > MOST_LISTED:
                break
            if name:
                yield order, name


def _is_prime_power(q: int) -> bool:
    return len(factorise(q)) == 1


def _psl2(q: int) -> tuple[int, str | None]:
    return q * (q * q - 1) // gcd(2, q - 1), f"PSL(2,{q})" if q > 3 else None


def _psl3(q: int) -> tuple[int, str | None]:
    return q**3 * (q**2 - 1) * (q**3 - 1) // gcd(3, q - 1), f"PSL(3,{q})"


def _psu3(q: int) -> tuple[int, str | None]:
    order = q**3 * (q**2 - 1) * (q**3 + 1) // gcd(3, q + 1)
    return order, f"PSU(3,{q})" if q > 2 else None


def _psp4(q: int) -> tuple[int, str | None]:
    order = q**4 * (q**2 - 1) * (q**4 - 1) // gcd(2, q - 1)
    return order, f"PSp(4,{q})" if q > 2 else None


def _psl4(q: int) -> tuple[int, str | None]:
    factors = prod(q**i - 1 for i in (2, 3, 4))
    return q**6 * factors // gcd(4, q - 1), f"PSL(4,{q})"


def _psu4(q: int) -> tuple[int, str | None]:
    factors = (q**2 - 1) * (q**3 + 1) * (q**4 - 1)
    return q**6 * factors // gcd(4, q + 1), f"PSU(4,{q})"


def _suzuki(q: int) -> tuple[int, str | None]:
    odd_power = q > 2 and q & (q - 1) == 0 and q.bit_length() % 2 == 0
    order = q**2 * (q**2 + 1) * (q - 1)
    return order, f"Sz({q})" if odd_power else None
