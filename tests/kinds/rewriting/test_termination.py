"""Orders of rewriting systems, and rules that never apply."""

from itertools import pairwise, product

import numpy as np
import pytest

from krohn.kinds.rewriting.source import find_by_name
from krohn.kinds.rewriting.source_derivation import after, applicable_rules
from krohn.kinds.rewriting.source_termination import (
    most_steps,
    order,
)
from krohn.kinds.rewriting.source_text import (
    find_unused_rules,
    read_text,
)
from krohn.kinds.rewriting.statement import (
    Line,
    Rewriting,
    Rule,
)
from krohn.program.errors import Refused

SYSTEMS = {
    "flag": "letters r w b\nlongest 5\nrule w r -> r w\nrule b r -> r b\nrule b w -> w b",
    "roman": "letters I V X\nlongest 6\nrule I V -> V I\nrule I I I I I -> V\n"
    "rule V V -> X\nrule V X -> X V\nrule I X -> X I",
    "rotated": "letters a b >\nlongest 5\nset x = a b\nrule > u:x v:x -> v > u\n"
    "rule [ > u:x ] = -> u",
    "two weights": "letters a b c\nlongest 4\nrule a b -> c b\nrule b c -> c b\n"
    "rule [ b ] = -> c",
}


def texts_of(system: Rewriting, line: Line) -> list[Line]:
    """The lines of a text, up to the first one that no rule changes."""
    lines = [line]
    while (new := after(system, lines[-1])) != lines[-1]:
        lines.append(new)
    return lines


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", SYSTEMS)
def test_every_text_ends_within_the_bound_and_weights_fall_in_order(name: str) -> None:
    system = read_text(SYSTEMS[name], name)
    weights = order(system)
    assert weights
    least = most_steps(weights, system.longest)
    for size in range(1, system.longest + 1):
        for line in product(range(system.end), repeat=size):
            lines = texts_of(system, line)
            assert len(lines) - 1 <= least
            seen = [tuple(w.of(x) for w in weights) for x in lines]
            assert all(a > b for a, b in pairwise(seen))
            assert all(w.of(line) < w.most(size) + 1 for w in weights)


@pytest.mark.parametrize(
    "rules",
    [
        "rule a -> b\nrule b -> a",
        "rule a b -> b a\nrule b a -> a b",
        "rule a -> a",
        "rule [ a ] = -> b\nrule = [ b ] -> a",
        "rule a [ b ] a -> a\nrule b [ a ] b -> b",  # ends: pairs of neighbours count
    ],
)
def test_no_order_is_found_where_texts_go_on_or_that_is_not_seen(rules: str) -> None:
    assert order(read_text(f"letters a b\nlongest 4\n{rules}", "endless")) == ()


@pytest.mark.slow
def test_random_systems_end_where_an_order_is_found() -> None:
    random, ordered = np.random.default_rng(0), 0
    for _ in range(60):
        lines = ["letters a b c", "longest 5"]
        for _ in range(3):
            size = int(random.integers(1, 4))
            left, right = (
                " ".join(random.choice(["a", "b", "c"], n))
                for n in (size, int(random.integers(max(size - 1, 1), size + 1)))
            )
            lines.append(f"rule {left} -> {right}")
        try:
            system = read_text("\n".join(lines), "random")
        except Refused:
            continue
        weights = order(system)
        if not weights:
            continue
        ordered += 1
        most = most_steps(weights, 5)
        for line in product(range(3), repeat=5):
            assert len(texts_of(system, line)) - 1 <= most
    assert ordered > 15


def test_a_counter_has_exponentially_many_steps_and_no_order() -> None:
    counter = find_by_name("Counter8")
    assert counter is not None
    assert order(counter) == ()


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


@pytest.mark.slow
def test_what_is_said_never_to_apply_applies_to_no_line() -> None:
    """By windows alone it is also all, but for what lines of 6 letters do not hold."""
    said, right = 0, 0
    for seed in range(60):
        system = random_system(seed)
        found, all_of_them = find_unused_rules(system), never(system, 6)
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
    assert find_unused_rules(system) == numbers


@pytest.mark.parametrize("name", ["Sorting5", "Brackets5", "Counter5", "Arithmetic3,5"])
def test_all_rules_of_the_catalogue_are_used(name: str) -> None:
    system = find_by_name(name)
    assert system is not None
    assert find_unused_rules(system) == []
