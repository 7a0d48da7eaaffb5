"""Prime factors, by trial division.

The order of a permutation group has no prime factor above its degree, and the numbers
that are factorised here are such orders and their divisors: however large they are,
division ends early.
"""


def factorise(number: int) -> dict[int, int]:
    """The prime factors of a number in ascending order, with their exponents.

    The work is as much as the second largest prime factor, or the square root of the
    largest, whichever is more.

    Raises:
        ValueError: If the number is not positive.
    """
    if number < 1:
        raise ValueError(f"{number} has no prime factors: it is not positive")
    found: dict[int, int] = {}
    rest, divisor = number, 2
    while divisor * divisor <= rest:
        while rest % divisor == 0:
            found[divisor] = found.get(divisor, 0) + 1
            rest //= divisor
        divisor += 1 if divisor == 2 else 2
    if rest > 1:
        found[rest] = found.get(rest, 0) + 1
    return found


def is_prime(number: int) -> bool:
    """Whether a number is prime; as quick as its smallest prime factor is small."""
    if number < 4:
        return number > 1
    divisor = 2
    while divisor * divisor <= number:
        if number % divisor == 0:
            return False
        divisor += 1 if divisor == 2 else 2
    return True
