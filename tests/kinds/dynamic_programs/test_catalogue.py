"""The shipped dynamic programs, held against plain recursion; and their networks."""

from collections.abc import Callable, Iterator
from functools import cache
from itertools import combinations, pairwise, permutations, product

import numpy as np
import pytest

import krohn
from krohn.kinds.dynamic_programs.commands import ChainsOfThought
from krohn.kinds.dynamic_programs.source import (
    find_by_name,
)
from krohn.kinds.dynamic_programs.source_examples import CATALOGUE, EXAMPLES
from krohn.kinds.dynamic_programs.statement import ChainOfThought
from krohn.program.domains import IntArray
from krohn.source_kinds.written_texts import blank_after_prompt

KIND = ChainsOfThought()
Words = list[list[str]]


def edit_distance(words: Words) -> int:
    @cache
    def cost(s: tuple[str, ...], t: tuple[str, ...]) -> int:
        if not s or not t:
            return 2 * (len(s) + len(t))
        if s[0] == t[0]:
            return cost(s[1:], t[1:])
        return min(cost(s[1:], t) + 2, cost(s, t[1:]) + 2, cost(s[1:], t[1:]) + 3)

    return cost(tuple(words[0]), tuple(words[1]))


def increasing(words: Words) -> int:
    x = list(map(int, words[0]))
    best = [1] * len(x)
    for j, k in product(range(len(x)), repeat=2):
        if k < j and x[k] < x[j]:
            best[j] = max(best[j], best[k] + 1)
    return max(best)


def common(words: Words) -> int:
    s, t = words
    ways = [
        sub for n in range(len(s) + 1) for sub in combinations(s, n) if inside(sub, t)
    ]
    return max(map(len, ways))


def inside(sub: tuple[str, ...], word: list[str]) -> bool:
    rest = iter(word)
    return all(letter in rest for letter in sub)


def knapsack(words: Words, capacity: int) -> int:
    weights, worths = (list(map(int, w)) for w in words)
    things = range(len(weights))
    chosen = (c for n in range(len(weights) + 1) for c in combinations(things, n))
    fit = [c for c in chosen if sum(weights[i] for i in c) <= capacity]
    return max(sum(worths[i] for i in c) for c in fit)


def matrix_chain(words: Words) -> int:
    def cost(p: tuple[int, ...]) -> int:
        """Any two neighbours first, in all orders."""
        if len(p) == 2:
            return 0
        inner = range(1, len(p) - 1)
        return min(p[i - 1] * p[i] * p[i + 1] + cost(p[:i] + p[i + 1 :]) for i in inner)

    return cost(tuple(map(int, words[0])))


def shortest(words: Words) -> int:
    d = np.array(words[0], np.int64)
    d = d.reshape(int(len(d) ** 0.5), -1)
    inner = range(1, len(d) - 1)
    ways = [w for n in range(len(d)) for w in permutations(inner, n)]
    paths = [(0, *way, len(d) - 1) for way in ways]
    return min(sum(int(d[a, b]) for a, b in pairwise(p)) for p in paths)


def viterbi(words: Words) -> int:
    seen = [("walk", "shop", "clean").index(w) for w in words[0]]
    first, moves = (-1, -2, -4), ((-1, -2, -4), (-2, -1, -3), (-5, -2, -1))
    says = ((-1, -2, -5), (-4, -2, -1), (-6, -2, -1))

    def law(path: tuple[int, ...]) -> int:
        steps = sum(moves[a][b] for a, b in pairwise(path))
        return first[path[0]] + steps + sum(map(lambda s, o: says[s][o], path, seen))

    return max(map(law, product(range(3), repeat=len(seen))))


def balanced(words: Words) -> int:
    depth = np.cumsum([1 if w == "(" else -1 for w in words[0]])
    return int(depth.min() >= 0 and depth[-1] == 0)


def coins(words: Words, amount: int) -> int:
    values = set(map(int, words[0]))

    @cache
    def least(rest: int) -> int:
        below = [least(rest - v) + 1 for v in values if v <= rest]
        return min([0] if rest == 0 else below, default=99)

    return min(least(amount), amount + 1)


def search_tree(words: Words) -> int:
    @cache
    def cost(f: tuple[int, ...]) -> int:
        roots = range(len(f))
        return min((sum(f) + cost(f[:r]) + cost(f[r + 1 :]) for r in roots), default=0)

    return cost(tuple(map(int, words[0])))


def alignment(words: Words) -> int:
    rows = (2, -2, -1, -2), (-2, 2, -2, -1), (-1, -2, 2, -2), (-2, -1, -2, 2)

    def score(s: str, t: str) -> int:
        if not s or not t:
            return -3 * (len(s) + len(t))
        fits = rows["ACGT".index(s[0])]["ACGT".index(t[0])]
        return max(score(s[1:], t) - 3, score(s, t[1:]) - 3, score(s[1:], t[1:]) + fits)

    return score(*("".join(w) for w in words))


REFERENCES: dict[str, Callable[[Words], int]] = {
    "EditDistance": edit_distance,
    "LocalEditDistance": edit_distance,
    "LIS": increasing,
    "LCS": common,
    "MatrixChain": matrix_chain,
    "FloydWarshall": shortest,
    "Viterbi": viterbi,
    "CYK": balanced,
    "SearchTree": search_tree,
    "NeedlemanWunsch": alignment,
}
SMALL = {
    "EditDistance": ["1,3", "2,2:letters=3", "3,3:letters=2", "3,1:letters=4"],
    "LocalEditDistance": ["1,1", "3,2:letters=3", "3,3:letters=2"],
    "LIS": ["1:most=4", "2:most=5", "4:most=4"],
    "LCS": ["1,1", "3,3:letters=2", "2,3:letters=3"],
    "Knapsack": ["1,1", "2,3:heaviest=3,dearest=3"],
    "MatrixChain": ["1", "2", "3", "3:most=4"],
    "FloydWarshall": ["2:most=3", "3:most=1"],
    "Viterbi": ["1", "2", "5"],
    "CYK": ["1", "2", "6"],
    "CoinChange": ["1,1", "2,4", "3,5:largest=3"],
    "SearchTree": ["1", "2", "4:most=2"],
    "NeedlemanWunsch": ["1,1", "2,2", "1,3"],
}
LARGER = {
    "EditDistance": "6,7",
    "LocalEditDistance": "4,4",
    "LIS": "20",
    "LCS": "7,7",
    "Knapsack": "4,6",
    "MatrixChain": "5",
    "FloydWarshall": "5",
    "Viterbi": "6",
    "CYK": "10",
    "CoinChange": "3,8",
    "SearchTree": "6",
    "NeedlemanWunsch": "5,5",
}


def chain_of(name: str) -> ChainOfThought:
    found = find_by_name(name)
    assert found is not None
    return found.chain_of_thought


def wanted(name: str, sizes: str, words: Words) -> int:
    if name in REFERENCES:
        return REFERENCES[name](words)
    size = int(sizes.split(":")[0].split(",")[1])
    return knapsack(words, size) if name == "Knapsack" else coins(words, size)


def words_of(chain: ChainOfThought, row: list[int]) -> Words:
    """The inputs of a prompt: what stands between its signs."""
    words: Words = [[]]
    for token, (low, high) in zip(row, chain.prompt, strict=True):
        if low == high and chain.tokens[low] in ("|", "<sep>"):
            words.append([])
        else:
            words[-1].append(chain.tokens[token])
    return words[:-1]


def prompts_of(chain: ChainOfThought, count: int) -> IntArray:
    """Random prompts."""
    low, high = np.array(chain.prompt).T
    rng = np.random.default_rng(1)
    return rng.integers(low, high + 1, size=(count, len(low)))


def check(name: str, sizes: str, texts: IntArray) -> None:
    """The answers of whole texts, and all numbers within their boxes."""
    chain = chain_of(name + sizes)
    low, high = np.array(chain.boxes()[1:]).T
    content = np.array(chain.contents)[texts]
    assert ((low <= content) & (content <= high)).all()
    for text in texts.tolist():
        answer = int(chain.tokens[text[chain.answer - 1]])
        words = words_of(chain, text[: len(chain.prompt)])
        assert answer == wanted(name, sizes, words)


def cases() -> Iterator[tuple[str, str]]:
    for name, each in SMALL.items():
        yield from ((name, sizes) for sizes in each)


@pytest.mark.sample(1)
@pytest.mark.parametrize(("name", "sizes"), list(cases()))
def test_inputs_of_small_sizes_have_the_answer_of_plain_recursion(
    name: str, sizes: str
) -> None:
    chain = chain_of(name + sizes)
    low, high = np.array(chain.prompt).T
    every = np.indices(high - low + 1).reshape(len(low), -1).T + low
    check(name, sizes, chain.continue_prompts(every[:: max(1, len(every) // 500)]))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "sizes"), LARGER.items())
def test_1000_random_inputs_of_larger_sizes_have_it(name: str, sizes: str) -> None:
    chain = chain_of(name + sizes)
    check(name, sizes, chain.continue_prompts(prompts_of(chain, 1000)))


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", SMALL)
def test_networks_of_small_sizes_are_proved_and_write_right(name: str) -> None:
    model = krohn.compile(name + SMALL[name][1])
    assert model.proof is not None
    assert model.proof.verdict == "verified"
    assert KIND.sample(model.file, 5, 0, lambda *_: None).has_passed


@pytest.mark.slow
@pytest.mark.parametrize(("name", "sizes"), LARGER.items())
def test_networks_write_for_1000_random_inputs_what_another_solver_says(
    name: str, sizes: str
) -> None:
    model = krohn.compile(name + sizes)
    assert model.proof is not None
    assert model.proof.verdict == "verified"
    chain = KIND.of_file(model.file)
    prompts = prompts_of(chain, 1000)
    right = chain.continue_prompts(prompts)
    rows = [blank_after_prompt(text, prompts.shape[1]) for text in right.tolist()]
    texts = np.array(KIND.texts(model.file, rows))
    assert np.array_equal(texts, right)
    check(name, sizes, texts)


@pytest.mark.slow
def test_examples_are_called_as_the_first_lines_say() -> None:
    assert len(EXAMPLES) == len(CATALOGUE) == len(SMALL) == len(LARGER)
    for name in EXAMPLES:
        assert chain_of(name).name == name
