"""How well a generator balances: the numbers S, P and β of Theorem 2, and the pumping test.

Definitions as repaired in docs/proofs/generator.md (erratum D11). Numbers
are computed from the tensors in float64; they describe a network and prove nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import KrohnError
from krohn.architectures.generator.check import tokens
from krohn.architectures.generator.check_brackets import (
    Brackets,
    read_claim,
)
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FloatArray
from krohn.program.errors import told_as
from krohn.verify.search.find import machine_of, model_of

MOST_STACKS = 100_000


@dataclass(frozen=True)
class Balance:
    """The balance of the last layer of a generator.

    Attributes:
        violations: S, ``(queries, pairs)``: the length of a matched pair's remainder.
        margins: P, ``(queries,)``: the least length of a prefix's remainder, where
            another top bracket than the shortest one's is on the stack.
    """

    violations: FloatArray
    margins: FloatArray

    @property
    def beta(self) -> float:
        """The balance violation β: the mean of S/P."""
        return float((self.violations / self.margins[:, None]).mean())

    @property
    def worst(self) -> float:
        """The greatest S/P; Theorem 2 bounds it by a constant over the length."""
        return float((self.violations / self.margins[:, None]).max())


@dataclass(frozen=True)
class _Terms:
    """The terms that tokens add to a row, before its weights are normalised.

    Attributes:
        stack: The brackets, which number the tokens.
        scores: ``(keys, queries)``.
        values: ``(tokens, d)``, without their mean.
    """

    stack: Brackets
    scores: FloatArray
    values: FloatArray

    def of(self, token: int, query: int) -> FloatArray:
        """u(token; query) = e^score times the value, up to a factor of the query."""
        score = self.scores[token, query] - self.scores[:, query].max()
        return np.asarray(np.exp(score) * self.values[token])

    def pair(self, kind: int, level: int) -> tuple[int, int]:
        """The tokens that open and close a bracket of a kind at a level."""
        opening = kind * self.stack.depth + level - 1
        return opening, self.stack.pairs + opening

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """All of them."""
        return [(p, self.stack.pairs + p) for p in range(self.stack.pairs)]


def _terms(file: ModelFile, machine: Automaton) -> _Terms:
    model = model_of(file)
    with told_as(about="balance is not defined: "):
        claim = read_claim(model, machine_of(machine))
        rows, _ = tokens(model, claim, model.format)
    at = f"layers.{len(file.architecture.layers) - 1}"
    query, key, value = (
        rows @ file.tensors[f"{at}.attention.{name}"]
        for name in ("query", "key", "value")
    )
    centred = value - value.mean(axis=1, keepdims=True)
    return _Terms(claim.brackets, key @ query.T, centred)


def balance(file: ModelFile, machine: Automaton) -> Balance:
    """S for every closing query and every pair, P for every closing query.

    Queries close a bracket and leave depth 1..D−1.

    Raises:
        KrohnError: If there is one kind or one level only, or too many stacks.
    """
    terms = _terms(file, machine)
    kinds, depth = terms.stack.kinds, terms.stack.depth
    if kinds < 2 or depth < 2:
        raise KrohnError("balance needs two kinds of brackets and depth 2 at least")
    if kinds ** (depth - 1) > MOST_STACKS:
        raise KrohnError(f"balance goes through all stacks; take at most {MOST_STACKS}")
    queries = [(kind, level) for kind in range(kinds) for level in range(2, depth + 1)]
    violations = [
        [_violation(terms, *pair, query) for pair in terms.pairs]
        for query in (terms.pair(*q)[1] for q in queries)
    ]
    margins = [_margin(terms, kind, level) for kind, level in queries]
    return Balance(np.array(violations), np.array(margins))


def _violation(terms: _Terms, opening: int, closing: int, query: int) -> float:
    left = terms.of(opening, query) + terms.of(closing, query)
    return float(np.linalg.norm(left))


def _margin(terms: _Terms, kind: int, level: int) -> float:
    """P: the shortest vector of a stack whose top differs from the top of the shortest one.

    The prefix is a stack of level − 1 brackets and one matched pair of the last letter.
    """
    kinds = range(terms.stack.kinds)
    opening, query = terms.pair(kind, level)
    always = terms.of(2 * terms.stack.pairs, query)
    always = always + terms.of(opening, query) + terms.of(query, query)
    each = [
        [terms.of(terms.pair(kind, below)[0], query) for kind in kinds]
        for below in range(1, level)
    ]
    lengths = {
        stack: float(
            np.linalg.norm(always + sum(each[i][t] for i, t in enumerate(stack)))
        )
        for stack in product(kinds, repeat=level - 1)
    }
    shortest = min(lengths, key=lambda stack: lengths[stack])
    return min(n for stack, n in lengths.items() if stack[-1] != shortest[-1])


def pumping_distances(
    file: ModelFile, machine: Automaton, counts: Sequence[int]
) -> list[float]:
    """How far apart LayerNorm keeps two stacks after many matched pairs (the pumping test).

    The prefixes are one open bracket of the first or of the second kind, then so many
    matched pairs of the first kind at level 2, where the query closes a pair.

    Returns:
        The distance of the two vectors for each count. Balanced: it does not change.
        Otherwise it falls as one over the count, which is why balance is necessary.

    Raises:
        KrohnError: If there is one kind or one level only.
    """
    terms = _terms(file, machine)
    if terms.stack.kinds < 2 or terms.stack.depth < 2:
        raise KrohnError("pumping needs two kinds of brackets and two levels")
    opening, query = terms.pair(1, 2)
    last = terms.of(opening, query) + terms.of(query, query)
    start = terms.of(2 * terms.stack.pairs, query)
    pair = sum(terms.of(token, query) for token in terms.pair(0, 2))
    first, second = (terms.of(terms.pair(kind, 1)[0], query) for kind in (0, 1))
    return [
        float(
            np.linalg.norm(
                _unit(start + first + last + count * pair)
                - _unit(start + second + last + count * pair)
            )
        )
        for count in counts
    ]


def _unit(vector: FloatArray) -> FloatArray:
    return np.asarray(vector / np.linalg.norm(vector))
