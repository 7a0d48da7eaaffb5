"""Rewriting systems: what their texts are, and that their Program writes them."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from krohn.kinds.rewriting.source_derivation import after, text_of
from krohn.kinds.rewriting.statement import (
    Computed,
    Rewriting,
    Rule,
)
from krohn.kinds.rewriting.statement_program import program_of
from krohn.program.errors import Refused
from krohn.program.functions import Table
from krohn.program.interpreter import interpret, states
from krohn.program.operations.base import LookBack
from krohn.program.operations.latest import Latest

LENGTH = 40
COPY = Table(np.arange(3)[:, None], np.arange(3))
SWAP = Table(
    np.array(list(product(range(3), repeat=2))), np.array([2, 0, 1, 1, 2, 0, 0, 1, 2])
)
SORTING = Rewriting(
    "sorting",
    tuple("abc"),
    tuple(Rule(((b,), (a,)), 0, 2, (a, b)) for a, b in ((0, 1), (0, 2), (1, 2))),
    (),
    4,
)


def random_system(rng: np.random.Generator) -> Rewriting:
    """Up to four rules of random windows over three letters, with functions."""

    def place(ends: bool) -> tuple[int, ...]:
        letters = [a for a in range(3 + ends) if rng.random() < 0.5]
        return tuple(letters) or (int(rng.integers(3)),)

    rules = []
    for _ in range(rng.integers(1, 5)):
        before, inside, behind = rng.integers((0, 1, 0), (3, 4, 3)).tolist()
        size = before + inside + behind
        window = tuple(
            place(i in (0, size - 1) and not before <= i < before + inside)
            for i in range(size)
        )
        writes: list[int | Computed] = []
        for _ in range(rng.integers(inside + 1)):
            places = [i for i, x in enumerate(window) if 3 not in x]
            some = tuple(rng.choice(places, 2).tolist())
            choices = (int(rng.integers(3)), Computed(0, some[:1]), Computed(1, some))
            writes.append(choices[rng.integers(3)])
        rules.append(Rule(window, before, before + inside, tuple(writes)))
    return Rewriting("random", tuple("abc"), tuple(rules), (COPY, SWAP), 4)


def plain_text(system: Rewriting, line: tuple[int, ...], most: int) -> list[int]:
    """The text once more, by trying all windows of a line from left to right."""
    end, found = system.end, [*line, system.end]

    def applied(now: tuple[int, ...]) -> tuple[int, ...] | None:
        marked = [end, *now, end]
        for stop in range(len(marked) + 1):
            for rule in system.rules:
                first = stop - len(rule.window)
                part = marked[max(first, 0) : stop]
                if first < 0 or not all(map(lambda a, x: a in x, part, rule.window)):
                    continue
                letters = []
                for w in rule.writes:
                    if isinstance(w, Computed):
                        table = dict(system.functions[w.function].items())
                        letters.append(table[tuple(part[i] for i in w.places)])
                    else:
                        letters.append(w)
                tail = part[rule.stop :] + marked[stop:]
                return tuple([*marked[: first + rule.start], *letters, *tail][1:-1])
        return None

    while len(found) < most:
        line = line if (after := applied(line)) is None else after
        last = applied(line) is None
        found += [*line, end + last]
        if last:
            break
    return found[:most]


def lines(system: Rewriting) -> list[tuple[int, ...]]:
    sizes = range(1, system.longest + 1)
    return [x for n in sizes for x in product(range(system.end), repeat=n)]


@pytest.mark.sample(1)
@pytest.mark.parametrize("seed", range(40))
def test_the_program_writes_the_text_of_every_line(seed: int) -> None:
    system = random_system(np.random.default_rng(seed))
    texts = {line: text_of(system, line, LENGTH) for line in lines(system)}
    for line, text in texts.items():
        assert text == plain_text(system, line, LENGTH)
    program = program_of(system, LENGTH)
    for size in {len(text) for text in texts.values()}:
        alike = {x: t for x, t in texts.items() if len(t) == size}
        said = states(program, np.array(list(alike.values()))[:, :-1])
        for (line, text), row in zip(alike.items(), said, strict=True):
            assert row[len(line) :].tolist() == text[len(line) + 1 :]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40, 60))
def test_nothing_is_fetched_from_further_back_than_a_line(seed: int) -> None:
    """Lemma 5l: in all texts look-backs by flags or distances reach n positions."""
    system = random_system(np.random.default_rng(seed))
    program = program_of(system, LENGTH)
    for line in lines(system):
        text = np.array([text_of(system, line, LENGTH)[:-1]])
        values, t = interpret(program, text), np.arange(text.shape[1] + 1)
        fetched = program.operations["fetched"]
        assert isinstance(fetched, LookBack)
        for operation in program.operations.values():
            if isinstance(operation, Latest) or operation == fetched:
                read = [values[n] for n in operation.reads[1:]]
                assert (t - operation.position(read, t)).max() <= system.longest


def test_a_line_without_a_place_is_repeated_once() -> None:
    assert text_of(SORTING, (0, 1), 10) == [0, 1, 3, 0, 1, 4]


def test_the_first_window_that_ends_is_taken_then_the_first_rule() -> None:
    short = Rule(((1,),), 0, 1, (2,))
    long = Rule(((0,), (1,)), 0, 2, (0,))
    system = Rewriting("x", tuple("abc"), (long, short), (), 4)
    assert after(system, (1, 0, 1)) == (2, 0, 1)
    assert after(system, (0, 1)) == (0,)


def test_it_survives_a_file() -> None:
    for seed in range(20):
        system = random_system(np.random.default_rng(seed))
        assert Rewriting.from_wire(system.to_wire()) == system


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"rules": []}, "no rules"),
        ({"longest": 0}, "lines have no letters"),
        ({"letters": ["a", "a", "b", "=", "<eos>"]}, "the same name"),
        ({"letters": ["a", "b", "c", "<eos>", "="]}, "other names"),
        ({"kind": "program"}, "no rewriting"),
        ({"longest": 2.0}, "whole"),
        ({"letters": ["a", "", "c", "=", "<eos>"]}, "no name"),
        ({"letters": ["a", "b a", "c", "=", "<eos>"]}, "blanks"),
    ],
)
def test_what_is_malformed_is_refused(change: dict[str, Any], reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        Rewriting.from_wire({**SORTING.to_wire(), **change})


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        (Rule(((0,), (1,)), 0, 2, (0, 1, 2)), "longer"),
        (Rule(((0,), (3,)), 0, 2, ()), "no letter"),
        (Rule(((0,), (3,), (0,)), 0, 1, ()), "no letter"),
        (Rule(((0,), ()), 0, 1, ()), "has no letter for place"),
        (Rule(((1, 0),), 0, 1, ()), "order"),
        (Rule(((0,),), 1, 1, ()), "replaces nothing"),
        (Rule(((0,),), 0, 1, (3,)), "writes"),
        (Rule(((0,),), 0, 1, (Computed(7, (0,)),)), "not there"),
        (Rule(((0,),), 0, 1, (Computed(1, (0,)),)), "other places"),
        (Rule(((0, 3), (0,)), 1, 2, (Computed(0, (0,)),)), "does not know"),
    ],
)
def test_a_rule_that_cannot_be_is_refused(rule: Rule, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        Rewriting("x", tuple("abc"), (rule,), (COPY, SWAP), 4)


@pytest.mark.slow
def test_few_rules_whose_tables_do_not_fit_memory_are_refused() -> None:
    """Rules that look at places of their own fit in 3^16 ways; copies in pairs square."""
    rng, every = np.random.default_rng(0), (0, 1, 2)
    fixed = rng.random((150, 16)) < 0.2
    letters = rng.integers(3, size=fixed.shape).tolist()
    wide = tuple(
        Rule(tuple((a,) if x else every for a, x in zip(*row, strict=True)), 0, 16, ())
        for row in zip(letters, fixed.tolist(), strict=True)
    )
    names, same = tuple(f"a{i}" for i in range(1900)), np.arange(1900)
    pairs = Table(np.column_stack([same, same]), same)
    squared = Rule(((0,), (0,)), 0, 2, (Computed(0, (0, 1)), Computed(0, (1, 0))))
    for system in (
        Rewriting("wide", tuple("abc"), wide, (), 20),
        Rewriting("squared", names, (squared,), (pairs,), 20),
    ):
        with pytest.raises(Refused, match="tables of more than 4,000,000 rows"):
            program_of(system, LENGTH)
