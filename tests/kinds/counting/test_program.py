"""Acceptance by counting programs, as formulas, letter by letter, and as networks."""

from collections.abc import Callable
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import krohn
from krohn.algebra.errors import KrohnError
from krohn.kinds.counting.source import (
    Builder,
    CountingProgram,
    find_by_name,
    function,
    parse,
    write_program,
)
from krohn.source_kinds import find_source_to_compile as named_source
from krohn.verify.proof import prove

LENGTH = 9


def words(program: CountingProgram, length: int) -> np.ndarray:
    """All of one length."""
    return np.array(list(product(range(len(program.letters)), repeat=length)))


def dyck(w: str) -> bool:
    depths = np.cumsum([1 if c == "(" else -1 for c in w])
    return bool(depths.min() >= 0 and depths[-1] == 0)


def shuffle(w: str) -> bool:
    return all(
        dyck(part)
        for part in ("".join(c for c in w if c in k) for k in ("()",))
        if part
    ) and all(
        dyck(part.replace("[", "(").replace("]", ")"))
        for part in ("".join(c for c in w if c in "[]"),)
        if part
    )


ACCEPTED: dict[str, Callable[[str], bool]] = {
    "Dyck1": dyck,
    "ShuffleDyck2": shuffle,
    "AnBnCn": lambda w: (
        len(w) % 3 == 0
        and w == "a" * (len(w) // 3) + "b" * (len(w) // 3) + "c" * (len(w) // 3)
    ),
    "Majority": lambda w: w.count("a") > w.count("b"),
    "MoreAThanB": lambda w: all(
        w[:n].count("a") > w[:n].count("b") for n in range(1, len(w) + 1)
    ),
    "AStarBStar": lambda w: "ba" not in w,
    "Alternating": lambda w: w == "ab" * (len(w) // 2) and len(w) % 2 == 0,
    "PiecewiseABA": lambda w: (
        "a" in w and "b" in w[w.index("a") :] and "a" in w[w.index("b", w.index("a")) :]
    ),
}


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ACCEPTED)
def test_the_catalogue_accepts_what_its_names_say(name: str) -> None:
    program, meaning = find_by_name(name), ACCEPTED[name]
    longest = LENGTH if len(program.letters) == 2 else 6
    every = words(program, longest)
    said = program.accepts(every)
    for row, found in zip(every.tolist(), said.tolist(), strict=True):
        text = "".join(program.letters[a] for a in row)
        assert found == [meaning(text[: n + 1]) for n in range(longest)], text


@pytest.mark.parametrize("name", ACCEPTED)
def test_letter_by_letter_it_says_the_same(name: str) -> None:
    program = find_by_name(name)
    every = words(program, 5)
    sums = np.zeros((len(every), len(program.sums)), np.int64)
    for n in range(5):
        sums, says = program.step(sums, every[:, n])
        np.testing.assert_array_equal(says, program.accepts(every)[:, n])


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ACCEPTED)
def test_its_network_is_proved_for_a_thousand_letters(name: str) -> None:
    model = krohn.compile(function(find_by_name(name)), length=1000, dtype="float64")
    assert model.proof is not None
    assert model.proof.verdict == "verified"
    assert model.summary()["depth"] == find_by_name(name).depth


def random_program(seed: int) -> CountingProgram:
    """Formulas over two letters, each of a few earlier ones."""
    draw = np.random.default_rng(seed)
    builder = Builder(("a", "b"))
    made = [0, 1]
    for _ in range(8):
        some = [int(draw.choice(made)) for _ in range(2)]
        match int(draw.integers(4)):
            case 0:
                new = builder.every(*some)
            case 1:
                new = builder.no(some[0])
            case 2:
                new = builder.some(*some)
            case _:
                factors = dict.fromkeys(some, 0)
                for i in some:
                    factors[i] += int(draw.choice([-2, -1, 1, 2]))
                ends = sorted(int(e) for e in draw.integers(-2, 4, size=2))
                low, high = (None if draw.random() < 0.4 else e for e in ends)
                new = builder.sum_between(factors, low, high)
        made.append(new)
    return builder.program(f"random{seed}", made[-1])


@pytest.mark.sample(1)
@pytest.mark.parametrize("seed", range(40))
def test_random_programs_are_computed_by_their_networks(seed: int) -> None:
    program = random_program(seed)
    assert (
        parse(write_program(program), f"random{seed}.crasp")
        .accepts(words(program, 6))
        .tolist()
        == program.accepts(words(program, 6)).tolist()
    )
    model = krohn.compile(program, length=8)
    assert model.proof is not None
    assert model.proof.verdict == "verified"
    said = function(program)
    for row in words(program, 6)[::7].tolist():
        wanted = program.accepts(np.array([row]))[0].astype(int).tolist()
        assert said.run([program.letters[a] for a in row]) == wanted


@pytest.mark.sample(1)
@pytest.mark.parametrize("seed", range(0, 120, 4))
def test_no_other_source_is_taken_for_that_of_a_network(seed: int) -> None:
    """A file that states another program is refused, unless both say the same."""
    length, own = 6, random_program(seed)
    every = words(own, length)
    kind, _ = named_source(own) or (None, None)
    assert kind is not None
    file = krohn.compile(own, length=length).file
    for other in map(random_program, range(seed + 1, seed + 4)):
        source = {"kind": kind.wire, **kind.to_wire(function(other), length)}
        forged = replace(file, header={**file.header, "source": source})
        same = (own.accepts(every) == other.accepts(every)).all()
        try:
            verdict = prove(forged, None).verdict
        except KrohnError:
            verdict = "refused"
        assert same or verdict != "verified"
