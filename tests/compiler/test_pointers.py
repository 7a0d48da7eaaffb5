"""Earliest, At and pointers: what they mean, by the interpreter."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st

from krohn.compiler import CompileError
from krohn.compiler.constructions import pointers
from krohn.compiler.passes.simplify import InferDomains
from krohn.program import At, Earliest, Map, Operation, Position, Program, Token, table
from krohn.program.interpreter import interpret

LETTERS = 3


def flag(chosen: int, bos: int) -> Operation:
    """1 at one letter, and ``bos`` at BOS."""
    rows = {(a,): int(a == chosen) for a in range(LETTERS)}
    return Map(table({**rows, (LETTERS,): bos}), ("token",))


def program(length: int, found: dict[str, Operation]) -> Program:
    """Flags ``is0`` … are 0 at BOS and flags ``leaves0`` … 1; the last channel is out."""
    operations: dict[str, Operation] = {"token": Token()}
    operations["letter"] = Map(table({(a,): a for a in range(4)}), ("token",))
    for a in range(LETTERS):
        operations |= {f"is{a}": flag(a, 0), f"leaves{a}": flag(a, 1)}
    operations |= pointers.places(length) | found
    return InferDomains().apply(
        Program(
            letters=tuple("abc"),
            states=2,
            length=length,
            operations=operations,
            outputs=(list(operations)[-1],),
            decode={(0,): 0, (1,): 1},
        )
    )


def last(word: tuple[int, ...], letter: int, t: int) -> int:
    """R(t) of a letter: the last position before t at which it can still be awaited."""
    return max((j - 1 for j in range(1, t + 1) if word[j - 1] == letter), default=-1)


words = st.lists(st.integers(0, LETTERS - 1), min_size=1, max_size=40).map(tuple)


@given(words)
def test_earliest_is_the_first_flagged_position(word: tuple[int, ...]) -> None:
    source = program(len(word), {"found": Earliest("before", "is1")})
    found = interpret(source, [word])["found"][0].tolist()
    for t, value in enumerate(found):
        flagged = [j for j in range(1, t + 1) if word[j - 1] == 1]
        assert value == (flagged[0] - 1 if flagged else 0)


@given(words)
def test_at_reads_where_its_digits_say(word: tuple[int, ...]) -> None:
    """Also at positions to come, where it reads BOS."""
    length = len(word)
    size = length.bit_length()
    x = np.random.default_rng(len(word)).integers(0, 2**size, length + 1)
    digits: dict[str, Operation] = {
        f"d{b}": Position(tuple((x >> b & 1).tolist())) for b in range(size)
    }
    source = program(length, digits | {"found": At("letter", tuple(digits))})
    found = interpret(source, [word])["found"][0].tolist()
    tokens = (LETTERS, *word)
    assert found == [tokens[p if p <= t else 0] for t, p in enumerate(x.tolist())]


@given(words, st.lists(st.integers(0, LETTERS - 1), min_size=1, max_size=6))
def test_pointers_compose(word: tuple[int, ...], path: list[int]) -> None:
    """The digits are those of the number, and −1 is 0."""
    length = len(word)
    found = pointers.last("r0", f"leaves{path[0]}", length)
    for i, a in enumerate(path[1:], start=1):
        found |= pointers.last(f"s{i}", f"leaves{a}", length)
        found |= pointers.compose_pointers(f"r{i}", f"r{i - 1}", f"s{i}", length)
    values = interpret(program(length, found), [word])
    name = f"r{len(path) - 1}"
    for t in range(length + 1):
        right = t
        for a in reversed(path):
            right = last(word, a, right)
        assert values[name][0, t] == max(right, 0)
    digits = [values[n][0] << b for b, n in enumerate(pointers.digits(name, length))]
    assert np.array_equal(sum(digits), values[name][0])


@pytest.mark.sample(12)
@pytest.mark.parametrize("path", list(product(range(2), repeat=3)))
@pytest.mark.parametrize("length", [1, 2, 7, 8])
def test_departures_are_counted_from_both_sides(
    path: tuple[int, ...], length: int
) -> None:
    """On all words: the first letter of the path by Earliest, the others by pointers."""
    found = pointers.last("r", f"leaves{path[1]}", length)
    found |= pointers.last("s", f"leaves{path[2]}", length)
    found |= pointers.compose_pointers("rs", "r", "s", length)
    found |= pointers.first("p", f"is{path[0]}")
    found |= pointers.has_happened("done", "p", "rs", length)
    every = np.array(list(product(range(2), repeat=length)))
    done = interpret(program(length, found), every)["done"]
    stage = np.zeros(len(every), dtype=np.int64)
    for t in range(length):
        wanted = np.array([*path, -1])[stage]
        stage += every[:, t] == wanted
        assert np.array_equal(done[:, t + 1], stage == 3)


def test_they_are_renamed_with_what_they_read() -> None:
    names = {"x": "a", "d": "b"}
    assert At("x", ("d", "e")).rename_channels(names) == At("a", ("b", "e"))
    assert Earliest("x", "d").rename_channels(names) == Earliest("a", "b")
    assert (At("x", ("d", "e"))).reads == ("x", "d", "e")


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        (Earliest("letter", "leaves0"), "0 at BOS"),
        (Earliest("letter", "letter"), "0 at BOS"),
        (At("letter", ("is0", "is1")), "3 binary digits, not 2"),
        (At("letter", ("is0", "is1", "letter")), "a binary digit has other values"),
    ],
)
def test_flags_and_digits_are_checked(operation: Operation, message: str) -> None:
    with pytest.raises(CompileError, match=message):
        program(5, {"found": operation})
