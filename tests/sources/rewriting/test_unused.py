"""Rules that never apply: found by sets of windows, held against all lines."""

from itertools import product

import numpy as np
import pytest

from krohn.program.rewriting import Rewriting, Rule
from krohn.program.written_text import applicable_rules
from krohn.sources.rewriting import named
from krohn.sources.rewriting.text import read_text, unused


def never(system: Rewriting, longest: int) -> list[int]:
    """The rules that change no line of up to so many letters."""
    fired = set[int]()
    for size in range(1, longest + 1):
        for line in product(range(system.end), repeat=size):
            rule, _ = next(applicable_rules(system, line), (None, 0))
            fired |= {i for i, r in enumerate(system.rules, 1) if r is rule}
    return [i for i in range(1, len(system.rules) + 1) if i not in fired]


def random_system(seed: int) -> Rewriting:
    """Rules with windows of 1 to 3 places, over 3 letters; ends of lines among them."""
    rng = np.random.default_rng(seed)
    rules = []
    for _ in range(5):
        size = int(rng.integers(1, 4))
        window = []
        for place in range(size):
            some = [a for a in range(3) if rng.random() < 0.6] or [0]
            end = size > 1 and place in (0, size - 1) and rng.random() < 0.3
            window.append((*some, *[3] * end))
        start = int(window[0][-1] == 3)
        stop = size - (window[-1][-1] == 3)
        if start < stop:
            rules.append(Rule(tuple(window), start, stop, ()))
    return Rewriting("x", tuple("abc"), tuple(rules), (), 6)


def test_what_is_said_never_to_apply_applies_to_no_line() -> None:
    """By windows alone it is also all, but for what lines of 6 letters do not hold."""
    said, right = 0, 0
    for seed in range(60):
        system = random_system(seed)
        found, all_of_them = unused(system), never(system, 6)
        assert set(found) <= set(all_of_them), seed
        said, right = said + len(found), right + len(all_of_them)
    assert 50 < said <= right <= 1.2 * said


@pytest.mark.parametrize(
    ("rules", "numbers"),
    [
        ("rule a -> b\nrule a b -> b", [2]),
        ("rule b a -> a b\nrule [ b ] a -> c", [2]),
        ("rule a a -> a\nrule b a -> a\nrule c a -> a\nrule any a -> b", [4]),
        ("rule a a -> a\nrule b a -> a\nrule any a -> b", []),
        ("rule a b -> a\nrule b -> a", []),
        ("longest 1\nrule [ a ] = -> b\nrule a b c a -> a", [2]),
    ],
)
def test_rules_behind_others(rules: str, numbers: list[int]) -> None:
    """A window that ends sooner, or there and earlier, takes the line."""
    system = read_text(f"letters a b c\n{rules}", "x")
    assert unused(system) == numbers


@pytest.mark.parametrize("name", ["Sorting5", "Brackets5", "Counter5", "Arithmetic3,5"])
def test_all_rules_of_the_catalogue_are_used(name: str) -> None:
    system = named(name)
    assert system is not None
    assert unused(system) == []
