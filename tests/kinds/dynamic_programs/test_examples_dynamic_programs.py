"""Dynamic programs of users, as files: held against other solvers, compiled and proved."""

from collections.abc import Callable
from fnmatch import fnmatchcase
from functools import cache
from itertools import combinations, pairwise, permutations
from pathlib import Path

import numpy as np
import pytest

import krohn
from krohn.kinds.dynamic_programs.commands import ChainsOfThought

EXAMPLES = Path(__file__).parents[3] / "examples"
KIND = ChainsOfThought()
Words = list[list[str]]


def warping(words: Words) -> int:
    x, y = (tuple(map(int, w)) for w in words)

    @cache
    def cost(i: int, j: int) -> int:
        """The rest of the way from the pair of i and j."""
        here = abs(x[i] - y[j])
        steps = [(i + 1, j), (i, j + 1), (i + 1, j + 1)]
        inside = [s for s in steps if s[0] < len(x) and s[1] < len(y)]
        return here + min((cost(*s) for s in inside), default=0)

    return cost(0, 0)


def wildcards(words: Words) -> int:
    return int(fnmatchcase("".join(words[0]), "".join(words[1])))


def folding(words: Words) -> int:
    bases = words[0]
    fit = ({"A", "U"}, {"C", "G"})
    pairs = [
        (i, j)
        for i, j in combinations(range(len(bases)), 2)
        if j - i > 1 and {bases[i], bases[j]} in fit
    ]

    def apart(a: tuple[int, int], b: tuple[int, int]) -> bool:
        """Two pairs have no base in common, and do not cross."""
        inside = sum(a[0] < base < a[1] for base in b)
        return not {*a} & {*b} and inside != 1

    def most(chosen: list[tuple[int, int]], rest: list[tuple[int, int]]) -> int:
        found = len(chosen)
        for n, pair in enumerate(rest):
            if all(apart(pair, each) for each in chosen):
                found = max(found, most([*chosen, pair], rest[n + 1 :]))
        return found

    return most([], pairs)


def salesman(words: Words) -> int:
    d = np.array(words[0], np.int64).reshape(4, 4)
    trips = ((3, *order, 3) for order in permutations(range(3)))
    return min(sum(int(d[a, b]) for a, b in pairwise(trip)) for trip in trips)


def trading(words: Words) -> int:
    price = list(map(int, words[0]))
    days = range(len(price))
    single = [price[b] - price[a] for a, b in combinations(days, 2)]
    double = [
        price[b] - price[a] + price[d] - price[c]
        for a, b, c, d in combinations(days, 4)
    ]
    same = [price[c] - price[a] for a, c in combinations(days, 2)]
    return max(0, *single, *double, *same)


def shorter(words: Words) -> int:
    s, t = ("".join(w).replace("_", "") for w in words)

    @cache
    def cost(i: int, j: int) -> int:
        """The distance of the first i and the first j letters."""
        if not i or not j:
            return 2 * (i + j)
        apart = 3 * (s[i - 1] != t[j - 1])
        return min(cost(i - 1, j) + 2, cost(i, j - 1) + 2, cost(i - 1, j - 1) + apart)

    return cost(len(s), len(t))


def gotoh(words: Words) -> int:
    """Blocks of gaps of any length, each by its cost, in one table."""
    s, t = words

    @cache
    def best(i: int, j: int) -> float:
        """Of the first i and the first j bases; a gap never follows one of its word."""
        ways = [0.0] if i == j == 0 else []
        if i and j:
            ways.append(best(i - 1, j - 1) + (2 if s[i - 1] == t[j - 1] else -1))
        ways += (best(i - k, j) - 2 - k for k in range(1, i + 1))
        ways += (best(i, j - k) - 2 - k for k in range(1, j + 1))
        return max(ways)

    return int(best(len(s), len(t)))


def matrices(words: Words) -> int:
    digits = "".join(words[0])
    p = [int(digits[i : i + 3]) for i in range(0, len(digits), 3)]

    @cache
    def cost(i: int, j: int) -> int:
        """Of the matrices i + 1 to j."""
        inner = range(i + 1, j)
        ways = (cost(i, k) + cost(k, j) + p[i] * p[k] * p[j] for k in inner)
        return min(ways, default=0)

    return cost(0, len(p) - 1)


SOLVERS: dict[str, Callable[[Words], int]] = {
    "warping": warping,
    "wildcards": wildcards,
    "folding": folding,
    "salesman": salesman,
    "trading": trading,
    "shorter": shorter,
    "gotoh": gotoh,
    "matrices": matrices,
}


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", SOLVERS)
def test_each_says_what_another_solver_says_and_its_network_is_proved(
    name: str,
) -> None:
    source = KIND.find_by_name(str(EXAMPLES / f"{name}.dp"))
    assert source is not None
    chain = source.chain_of_thought
    low, high = np.array(chain.prompt).T
    rng = np.random.default_rng(2)
    for text in chain.continue_prompts(
        rng.integers(low, high + 1, size=(40, len(low)))
    ):
        words: Words = [[]]
        for token, (least, most) in zip(text, chain.prompt, strict=False):
            if least < most:
                words[-1].append(chain.tokens[token])
            else:
                words.append([])
        said = int(
            "".join(chain.tokens[token] for token in text[chain.answer - 1 : -1])
        )
        assert said == SOLVERS[name](words[:-1])
    model = krohn.compile(source)
    assert model.proof is not None
    assert model.proof.verdict == "verified"
    assert KIND.sample(model.file, 10, 0, lambda *_: None).has_passed


def test_the_text_of_shorter_words_is_a_part_of_the_longest() -> None:
    """Blanks cost nothing, and the cells of k letters come before all others."""
    source = KIND.find_by_name(str(EXAMPLES / "shorter.dp"))
    assert source is not None
    for s, t, k, cost in (("kit", "sit", 3, 3), ("a", "b", 1, 3), ("abc", "", 3, 6)):
        padded = "|".join(word.ljust(6, "_") for word in (s, t))
        told = KIND.interpret_prompt(source, [padded])
        cells = {step["is"]: step["token"] for step in told["steps"]}
        assert cells[f"D[{k}, {k}]"] == told["answer"] == str(cost)
        order = [
            tuple(map(int, is_[2:-1].split(",")))
            for is_ in cells
            if is_.startswith("D")
        ]
        sizes = list(map(max, order))
        assert sizes == sorted(sizes)
