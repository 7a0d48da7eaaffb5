"""Recurrences of docs/kinds/dynamic_programs.md, against plain Python."""

from collections.abc import Callable
from functools import cache
from itertools import product
from math import gcd, inf, prod

import numpy as np
import pytest

import krohn
from krohn.kinds.dynamic_programs.commands import ChainsOfThought
from krohn.kinds.dynamic_programs.source import read_text
from krohn.kinds.dynamic_programs.statement import ChainOfThought
from krohn.program.domains import IntArray
from krohn.source_kinds.written_texts import blank_after_prompt

KIND = ChainsOfThought()
Words = list[list[str]]


def gotoh(words: Words) -> int:
    """Blocks of gaps of any length, each by its cost; no two tables."""
    s, t = words
    costs = [0, *(4 + k for k in range(max(len(s), len(t))))]

    @cache
    def best(i: int, j: int, last: str) -> float:
        if not i and not j:
            return 0
        ways = [-inf]
        if i and j:
            ways.append(best(i - 1, j - 1, "") + (1 if s[i - 1] == t[j - 1] else -1))
        if last != "s":
            ways += (best(i - k, j, "s") - costs[k] for k in range(1, i + 1))
        if last != "t":
            ways += (best(i, j - k, "t") - costs[k] for k in range(1, j + 1))
        return max(ways)

    return int(best(len(s), len(t), ""))


def needleman_wunsch(words: Words) -> int:
    @cache
    def score(s: tuple[str, ...], t: tuple[str, ...]) -> int:
        if not s or not t:
            return -len(s) - len(t)
        fits = 1 if s[0] == t[0] else -1
        skipped = max(score(s[1:], t), score(s, t[1:])) - 1
        return max(skipped, score(s[1:], t[1:]) + fits)

    return score(tuple(words[0]), tuple(words[1]))


def palindrome(words: Words) -> int:
    (s,) = words
    ways = product((0, 1), repeat=len(s))
    parts = ([x for x, taken in zip(s, way, strict=True) if taken] for way in ways)
    return max(len(part) for part in parts if part == part[::-1])


def coin_change(words: Words) -> int:
    """In how many ways coins make 7; two of one value are not the same."""
    coins = list(map(int, words[0]))
    counts = product(range(8), repeat=len(coins))
    return sum(sum(map(int.__mul__, coins, each)) == 7 for each in counts)


def rod_cutting(words: Words) -> int:
    prices = [0, *map(int, words[0])]

    def best(rest: int) -> int:
        return max((prices[k] + best(rest - k) for k in range(1, rest + 1)), default=0)

    return best(len(prices) - 1)


def transpositions(words: Words) -> int:
    @cache
    def cost(s: tuple[str, ...], t: tuple[str, ...]) -> int:
        if not s or not t:
            return len(s) + len(t)
        ways = [cost(s[1:], t) + 1, cost(s, t[1:]) + 1]
        ways.append(cost(s[1:], t[1:]) + (s[0] != t[0]))
        if len(s) > 1 and s[:2] == t[1::-1]:
            ways.append(cost(s[2:], t[2:]) + 1)
        return min(ways)

    return cost(tuple(words[0]), tuple(words[1]))


def smith_waterman(words: Words) -> int:
    """The best part of each word, by whole alignments of all parts."""
    s, t = words

    @cache
    def score(i: int, j: int) -> int:
        """Of the best parts that end at i and at j."""
        if not i or not j:
            return 0
        fits = 3 if s[i - 1] == t[j - 1] else -3
        gaps = max(score(i - 1, j), score(i, j - 1)) - 2
        return max(0, gaps, score(i - 1, j - 1) + fits)

    places = product(range(len(s) + 1), range(len(t) + 1))
    return max(score(i, j) for i, j in places)


def matrix_chain(words: Words) -> int:
    @cache
    def cost(p: tuple[int, ...]) -> int:
        inner = range(1, len(p) - 1)
        ways = (p[i - 1] * p[i] * p[i + 1] + cost(p[:i] + p[i + 1 :]) for i in inner)
        return min(ways, default=0)

    return cost(tuple(map(int, words[0])))


def knapsack(words: Words) -> int:
    weights, values = (list(map(int, each)) for each in words)
    ways = product((0, 1), repeat=len(weights))
    fitting = (w for w in ways if sum(map(int.__mul__, w, weights)) <= 6)
    return max(sum(map(int.__mul__, w, values)) for w in fitting)


def brackets(words: Words) -> int:
    """The longest part of a word that is balanced, by all its parts."""
    s = "".join(words[0])

    def balanced(part: str) -> bool:
        while "()" in part:
            part = part.replace("()", "")
        return not part

    ends = product(range(len(s) + 1), repeat=2)
    return max(j - i for i, j in ends if i <= j and balanced(s[i:j]))


def followed(words: Words) -> int:
    at = 1
    for _ in range(4):
        at = int(words[0][at - 1])
    return at


def common_divisor(words: Words) -> int:
    return gcd(*map(int, words[0]))


def banded_warping(words: Words) -> int:
    x, y = (list(map(int, each)) for each in words)

    @cache
    def cost(i: int, j: int) -> float:
        if abs(i - j) > 1 or min(i, j) < 0:
            return inf
        before = min(cost(i - 1, j), cost(i, j - 1), cost(i - 1, j - 1))
        return abs(x[i] - y[j]) + (before if i or j else 0)

    return int(cost(len(x) - 1, len(y) - 1))


def last_in_the_circle(words: Words) -> int:
    people, at = list(range(1, 10)), 0
    while len(people) > 1:
        at = (at + int(words[0][0]) - 1) % len(people)
        del people[at]
    return people[0]


def sums_to(words: Words) -> int:
    x, total = (list(map(int, each)) for each in words)
    ways = product((0, 1), repeat=len(x))
    return sum(
        sum(a * b for a, b in zip(x, way, strict=True)) == total[0] for way in ways
    )


def largest_product(words: Words) -> int:
    x = list(map(int, words[0]))
    ends = product(range(len(x) + 1), repeat=2)
    return max(prod(x[i:j]) for i, j in ends if i < j)


RECURRENCES: dict[str, tuple[Callable[[Words], int], str]] = {
    "Gotoh": (
        gotoh,
        """
        size n = 4, m = 4
        let open = 4, extend = 1, never = -50
        input s[1..n] of 'A', 'C', 'G', 'T'
        input t[1..m] of 'A', 'C', 'G', 'T'
        table M, X, Y[i in 0..n, j in 0..m]
        M[0, 0] = 0
        M[i, j] = never when i == 0 or j == 0
        M[i, j] = max(M[i-1, j-1], X[i-1, j-1], Y[i-1, j-1]) + 2 * (s[i] == t[j]) - 1
        X[0, j] = never
        X[i, j] = max(M[i-1, j] - open, Y[i-1, j] - open, X[i-1, j] - extend)
        Y[i, 0] = never
        Y[i, j] = max(M[i, j-1] - open, X[i, j-1] - open, Y[i, j-1] - extend)
        answer max(M[n, m], X[n, m], Y[n, m])
        """,
    ),
    "NeedlemanWunsch": (
        needleman_wunsch,
        """
        size n = 5, m = 4
        alphabet base = 'A', 'C', 'G', 'T'
        input s[1..n] of base
        input t[1..m] of base
        table F[i in 0..n, j in 0..m]
        F[i, 0] = -i
        F[0, j] = -j
        F[i, j] = max(F[i-1, j-1] + (if s[i] == t[j] then 1 else -1), F[i-1, j] - 1,
                      F[i, j-1] - 1)
        answer F[n, m]
        """,
    ),
    "Palindrome": (
        palindrome,
        """
        size n = 7
        input s[1..n] of 'a'..'c'
        table L[i in 1..n+1, j in 0..n] by j - i
        L[i, j] = 0 when i > j
        L[i, i] = 1
        L[i, j] = if s[i] == s[j] then L[i+1, j-1] + 2 else max(L[i+1, j], L[i, j-1])
        answer L[1, n]
        """,
    ),
    "CoinWays": (
        coin_change,
        """
        size k = 3, amount = 7
        digits 10
        input coin[1..k] of 1..4
        table W[i in 0..k, a in 0..amount]
        W[i, 0] = 1
        W[0, a] = 0
        W[i, a] = W[i-1, a] + sum(W[i, a-c] for c in 1..4 if coin[i] == c and c <= a)
        answer W[k, amount]
        """,
    ),
    "RodCutting": (
        rod_cutting,
        """
        size n = 6
        input price[1..n] of 0..9
        table R[j in 0..n]
        R[0] = 0
        R[j] = max(price[i] + R[j-i] for i in 1..j)
        answer R[n]
        """,
    ),
    "Transpositions": (
        transpositions,
        """
        size n = 5, m = 5
        input s[1..n] of 'a'..'c'
        input t[1..m] of 'a'..'c'
        table D[i in 0..n, j in 0..m]
        D[i, 0] = i
        D[0, j] = j
        D[i, j] = min(D[i-1, j] + 1, D[i, j-1] + 1, D[i-1, j-1] + (s[i] != t[j]),
            if i > 1 and j > 1 and s[i] == t[j-1] and s[i-1] == t[j]
            then D[i-2, j-2] + 1 else n + m)
        answer D[n, m]
        """,
    ),
    "SmithWaterman": (
        smith_waterman,
        """
        size n = 5, m = 5
        input s[1..n] of 'A', 'C', 'G', 'T'
        input t[1..m] of 'A', 'C', 'G', 'T'
        table H[i in 0..n, j in 0..m]
        H[i, 0] = 0
        H[0, j] = 0
        H[i, j] = max(0, H[i-1, j-1] + (if s[i] == t[j] then 3 else -3),
                      H[i-1, j] - 2, H[i, j-1] - 2)
        answer max(H[i, j] for i in 1..n for j in 1..m)
        """,
    ),
    "MatrixChain": (
        matrix_chain,
        """
        size n = 4
        digits 10
        input p[0..n] of 1..4
        table M[i in 1..n, j in i..n] by j - i
        M[i, i] = 0
        M[i, j] = min(M[i, k] + M[k+1, j] + p[i-1] * p[k] * p[j] for k in i..j-1)
        answer M[1, n]
        """,
    ),
    "Knapsack": (
        knapsack,
        """
        size n = 3, most = 6
        input w[1..n] of 1..4
        input v[1..n] of 0..9
        table B[i in 0..n, c in 0..most]
        B[0, c] = 0
        B[i, c] = if w[i] <= c then max(B[i-1, c], B[i-1, c - w[i]] + v[i]) else B[i-1, c]
        answer B[n, most]
        """,
    ),
    "Brackets": (
        brackets,
        """
        size n = 7
        input s[1..n] of '(', ')'
        table L[i in 0..n]
        L[0] = 0
        L[i] = (if s[i] == ')' and L[i-1] < i - 1 and s[i - L[i-1] - 1] == '('
               then min(i, L[i-1] + 2 + L[i - L[i-1] - 2]) else 0)
        answer max(L[i] for i in 1..n)
        """,
    ),
    "Followed": (
        followed,
        """
        size n = 5, steps = 4
        input next[1..n] of 1..n
        table at[k in 0..steps]
        at[0] = 1
        at[k] = next[at[k-1]]
        answer at[steps]
        """,
    ),
    "CommonDivisor": (
        common_divisor,
        """
        size steps = 5
        input x[1..2] of 0..9
        table A, B[k in 0..steps]
        A[0] = x[1]
        B[0] = x[2]
        A[k] = if B[k-1] == 0 then A[k-1] else B[k-1]
        B[k] = if B[k-1] == 0 then 0 else A[k-1] % B[k-1]
        answer A[steps]
        """,
    ),
    "BandedWarping": (
        banded_warping,
        """
        size n = 5, band = 1
        input x[1..n] of 0..9
        input y[1..n] of 0..9
        table D[i in 1..n, j in max(1, i - band)..min(n, i + band)]
        D[1, 1] = abs(x[1] - y[1])
        D[i, j] = abs(x[i] - y[j]) + min(D[a, b] for a in max(1, i-1)..i
          for b in max(1, j-1)..j if (a < i or b < j) and abs(a - b) <= band)
        answer D[n, n]
        """,
    ),
    "Josephus": (
        last_in_the_circle,
        """
        size n = 9
        input k of 2..6
        table J[i in 1..n]
        J[1] = 0
        J[i] = (J[i-1] + k) % i
        answer J[n] + 1
        """,
    ),
    "SubsetSums": (
        sums_to,
        """
        size n = 5, most = 10
        input x[1..n] of 1..4
        input total of 0..most
        table W[i in 0..n, s in 0..most]
        W[0, s] = s == 0
        W[i, s] = W[i-1, s] + (if x[i] <= s then W[i-1, s - x[i]] else 0)
        answer W[n, total]
        """,
    ),
    "LargestProduct": (
        largest_product,
        """
        size n = 5
        input x[1..n] of -2..2
        table u, v, hi, lo[i in 1..n]
        u[1] = 0
        v[1] = 0
        u[i] = hi[i-1] * x[i]
        v[i] = lo[i-1] * x[i]
        hi[1] = x[1]
        lo[1] = x[1]
        hi[i] = max(x[i], u[i], v[i])
        lo[i] = min(x[i], u[i], v[i])
        answer max(hi[i] for i in 1..n)
        """,
    ),
}


def words_of(chain: ChainOfThought, row: list[int]) -> Words:
    """The inputs of a prompt."""
    names = [chain.tokens[token] for token in row]
    return [part.split() for part in " ".join(names[:-1]).split("|")]


def prompts_of(chain: ChainOfThought, count: int) -> IntArray:
    """Random prompts."""
    low, high = np.array(chain.prompt).T
    return np.random.default_rng(2).integers(low, high + 1, size=(count, len(low)))


def check(texts: IntArray, chain: ChainOfThought, name: str) -> None:
    for text in texts.tolist():
        words = words_of(chain, text[: len(chain.prompt)])
        said = "".join(chain.tokens[token] for token in text[chain.answer - 1 : -1])
        assert int(said) == RECURRENCES[name][0](words)


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", RECURRENCES)
def test_200_prompts_have_the_answer_of_plain_python(name: str) -> None:
    chain = read_text(RECURRENCES[name][1], name).chain_of_thought
    check(chain.continue_prompts(prompts_of(chain, 200)), chain, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", RECURRENCES)
def test_their_networks_are_proved_and_write_200_texts(name: str) -> None:
    program = read_text(RECURRENCES[name][1], name)
    model = krohn.compile(program)
    assert model.proof is not None
    assert model.proof.verdict == "verified"
    chain = program.chain_of_thought
    prompts = prompts_of(chain, 200)
    right = chain.continue_prompts(prompts)
    rows = [blank_after_prompt(text, prompts.shape[1]) for text in right.tolist()]
    texts = np.array(KIND.texts(model.file, rows))
    assert np.array_equal(texts, right)
    check(texts, chain, name)
