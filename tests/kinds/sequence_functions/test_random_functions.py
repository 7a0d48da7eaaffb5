"""Random sequence functions say what plain Python on their values says, for every T."""

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest

import krohn
from krohn.kinds.sequence_functions.commands import SequenceFunctions
from krohn.kinds.sequence_functions.source import (
    Channel,
    ProgramError,
    Realised,
    SequenceFunction,
    program,
)
from krohn.report import silent

LETTERS, LONGEST = "abc", 4
Word = str
Meaning = Callable[[Word], list[Any]]
"""The values of a channel at 0, 1, …, n: before the first letter, and at each."""


def last(places: list[int]) -> int:
    return max(places, default=0)


def mean_of(numbers: list[int]) -> Fraction:
    return Fraction(sum(numbers), len(numbers))


def before(key: object, query: object) -> bool:
    return f"{key!r}" <= f"{query!r}"


def unlike(key: object, query: object) -> bool:
    return f"{key!r}" != f"{query!r}"


class Twice:
    """A sequence function in the making, and beside each channel what it means."""

    def __init__(self, random: Random) -> None:
        self.random, self.made = random, program(LETTERS)
        self.means: dict[Channel, Meaning] = {
            self.made.token(): lambda word: ["", *word],
            self.made.position(): lambda word: list(range(len(word) + 1)),
        }

    def pick(self) -> Channel:
        return self.random.choice(list(self.means))

    def add(self, channel: Channel, reads: tuple[Channel, ...], at: Any) -> Channel:
        """``at(n, t, *columns)`` is the value at t of a word of n letters."""
        below = [self.means[c] for c in reads]

        def meaning(word: Word) -> list[Any]:
            columns = [mean(word) for mean in below]
            return [at(len(word), t, *columns) for t in range(len(word) + 1)]

        self.means[channel] = meaning
        return channel

    def table(self, results: list[Any]) -> Channel:
        x, seed = self.pick(), self.random.random()

        def function(value: Any) -> Any:
            return Random(f"{value!r} {seed}").choice(results)

        return self.add(
            self.made.map(function, x), (x,), lambda n, t, v: function(v[t])
        )

    def fetched(self, name: str) -> Channel:
        """One of the calls that fetch; they are said by what they say in the docs."""
        x, make = self.pick(), getattr(self.made, name)
        if name == "shift":
            return self.add(make(x, 2), (x,), lambda n, t, v: v[max(t - 2, 0)])
        if name == "final":
            return self.add(make(x), (x,), lambda n, t, v: v[n if t else 0])
        if name in ("latest", "earliest"):
            pick = last if name == "latest" else lambda places: min(places, default=0)
            flag = self.table([0, 1])
            return self.add(
                make(x, flag),
                (x, flag),
                lambda n, t, v, f: v[pick([j for j in range(1, t + 1) if f[j] == 1])],
            )
        whole = name.endswith("anywhere")
        if name in ("at", "at_anywhere"):
            place = self.table([-1, 0, 1, 2, 3, LONGEST + 5])
            return self.add(
                make(x, place),
                (x, place),
                lambda n, t, v, p: v[
                    p[t] if 0 < p[t] <= (n if whole else t) and t else 0
                ],
            )
        key, query = self.mixed(), self.mixed()
        if name == "best":
            rating = self.number()
            return self.add(
                make(x, key, query, rating, before),
                (x, key, query, rating),
                lambda n, t, v, k, q, r: v[
                    max(
                        ((r[j], j) for j in range(1, t + 1) if before(k[j], q[t])),
                        default=(0, 0),
                    )[1]
                ],
            )
        return self.add(
            make(x, key, query),
            (x, key, query),
            lambda n, t, v, k, q: v[
                last([j for j in range(1, (n if whole else t) + 1) if k[j] == q[t]])
                if t
                else 0
            ],
        )

    def mixed(self) -> Channel:
        some: list[list[Any]]
        some = [[0, 1, 2], [-2, 0, 1], ["p", "q"], ["q", "r", "p"], ["p", 1.0], [2, 3]]
        return self.table(self.random.choice(some))

    def number(self) -> Channel:
        return self.table(self.random.choice([[0, 1, 2], [-2, 0, 1], [-1], [3, 4]]))

    def calculated(self, name: str) -> Channel:
        x, y, made = self.number(), self.number(), self.made
        if name == "sum":
            return self.add(
                made.sum(x, y, -1), (x, y), lambda n, t, v, w: v[t] + w[t] - 1
            )
        if name == "difference":
            return self.add(x - y, (x, y), lambda n, t, v, w: v[t] - w[t])
        if name == "comparison":
            return self.add(x < y, (x, y), lambda n, t, v, w: int(v[t] < w[t]))
        if name == "prefix_sum":
            return self.add(made.prefix_sum(x), (x,), lambda n, t, v: sum(v[1 : t + 1]))
        if name == "mean":
            key, query = self.mixed(), self.mixed()
            return self.add(
                made.mean(x, key, query, unlike),
                (x, key, query),
                lambda n, t, v, k, q: mean_of(
                    [v[j] for j in range(1, t + 1) if unlike(k[j], q[t])] or v[:1]
                ),
            )
        index, (x, y) = self.table([0, 1]), (self.pick(), self.pick())
        return self.add(
            made.select(index, x, y),
            (index, x, y),
            lambda n, t, i, v, w: (v, w)[i[t]][t],
        )

    def grown(self, steps: int) -> Channel:
        fetches = "shift final latest earliest at at_anywhere best latest_match"
        fetches += " match_anywhere"
        for _ in range(steps):
            if self.random.random() < 0.6:
                found = self.fetched(self.random.choice(fetches.split()))
            else:
                calls = [
                    "sum",
                    "difference",
                    "comparison",
                    "prefix_sum",
                    "select",
                    "mean",
                ]
                found = self.calculated(self.random.choice(calls))
        return found


def words() -> list[Word]:
    each = (product(LETTERS, repeat=n) for n in range(1, LONGEST + 1))
    return ["".join(word) for same in each for word in same]


@pytest.mark.sample(1)
@pytest.mark.parametrize("seed", range(20))
def test_a_function_says_what_its_values_say(seed: int) -> None:
    """By the Program for each length of a word, and by the one for words of any length."""
    twice = Twice(Random(seed))
    said = twice.grown(4)
    twice.made.output(said, show=repr)
    found = _realised(twice.made, LONGEST)
    shorter = [_realised(twice.made, n) for n in range(1, LONGEST + 1)]
    for word in words() if found else []:
        meant = [_plain(v) for v in twice.means[said](word)[1:]]
        letters = np.array([[LETTERS.index(a) for a in word]])
        for one in (found, shorter[len(word) - 1]):
            classes = one.answers(letters)[0].tolist() if one else []
            assert not one or [eval(one.classes[c]) for c in classes] == meant, word


def _realised(function: SequenceFunction, length: int) -> Realised | None:
    """None if it is none, which the values that can occur decide."""
    try:
        return function.realise(length)
    except ProgramError as error:
        if "cannot be mixed" not in str(error):
            raise
        return None


def _plain(value: Any) -> Any:
    return int(value) if isinstance(value, bool) else value


def test_a_key_that_no_position_has_is_not_found() -> None:
    """Neither a name nor a number that only the query can be is taken for a key."""
    p = program("abz")
    key = p.map(lambda a: "b" if a == "z" else a, p.token())
    query = p.map(lambda a: "z" if a == "z" else "a", p.token())
    p.output(p.latest_match(p.position(), key, query))
    assert p.run("abz") == [1, 1, 0]


@pytest.mark.parametrize("values", [(-1, 0), ("no", "yes"), (0.0, 0.5)])
def test_a_flag_is_0_or_1_and_no_code(values: tuple[Any, Any]) -> None:
    def made(call: str) -> SequenceFunction:
        p = program("ab")
        flag = p.map(lambda a: values[a == "b"], p.token())
        reads = (flag, p.token(), flag) if call == "where" else (p.token(), flag)
        p.output(getattr(p, call)(*reads))
        return p

    for call in ("latest", "earliest", "where"):
        with pytest.raises(ProgramError, match="a flag is 0 or 1"):
            made(call).run("ab")


def test_what_an_mlp_computes_can_be_a_constant() -> None:
    """It needs no unit; this drawn function compares a fetched 3 or 4 with another."""
    drawn = Random(99)
    both = Twice(drawn)
    both.made.output(both.grown(drawn.randint(1, 4)))
    model = krohn.compile(both.made, length=3, proof=False)
    assert SequenceFunctions().every(model.file, 3, silent).has_passed
