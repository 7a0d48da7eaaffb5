"""Orders of rewriting systems: weights that each step makes smaller."""

from itertools import pairwise, product

import numpy as np
import pytest

from krohn.program.errors import Refused
from krohn.program.rewriting import Line, Rewriting
from krohn.program.written_text import after
from krohn.sources.rewriting import named
from krohn.sources.rewriting.termination import most_steps, order
from krohn.sources.rewriting.text import read_text

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


@pytest.mark.sample(2)
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
    counter = named("Counter8")
    assert counter is not None
    assert order(counter) == ()
