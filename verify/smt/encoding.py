"""A whole Transformer as terms of the solver: letters unknown, attention hard."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from operator import add
from typing import Any

import z3

from krohn.network.modelfile import ModelFile
from krohn.verify.smt.exact import Layers, Rationals, fractions, layers_of, mask_of

# Numbers that depend on unknowns: expressions of the solver, with bounds.
#
# The bounds come from interval arithmetic in fractions. A ReLU that they decide needs
# no case distinction, and a number that they fix is no expression at all.


ZERO = Fraction(0)


@dataclass(frozen=True)
class Term:
    """A rational number that the solver may choose, within bounds that always hold.

    Attributes:
        expression: What the solver is given.
        low: It is never less.
        high: It is never more; a constant is a term with equal bounds.
    """

    expression: Any
    low: Fraction
    high: Fraction

    @property
    def fixed(self) -> bool:
        """Whether it is a constant."""
        return self.low == self.high


def constant(value: Fraction | int) -> Term:
    """A number that is known."""
    exact = Fraction(value)
    return Term(z3.RealVal(exact), exact, exact)


def variable(name: str, low: Fraction, high: Fraction) -> tuple[Term, Any]:
    """An unknown number, and the condition that it lies within its bounds."""
    unknown = z3.Real(name)
    bounds = z3.And(unknown >= z3.RealVal(low), unknown <= z3.RealVal(high))
    return Term(unknown, low, high), bounds


def total(terms: Iterable[Term]) -> Term:
    """The sum of terms."""
    known, unknown = ZERO, []
    for term in terms:
        if term.fixed:
            known += term.low
        else:
            unknown.append(term)
    if not unknown:
        return constant(known)
    shift = [z3.RealVal(known)] if known else []
    # Not z3.Sum: a sum of one term is no SMT-LIB for other solvers.
    expression = reduce(add, [t.expression for t in unknown] + shift)
    low, high = (sum((getattr(t, n) for t in unknown), known) for n in ("low", "high"))
    return Term(expression, low, high)


def product(left: Term, right: Term) -> Term:
    """The product of two terms; linear if one of them is a constant."""
    if left.fixed and right.fixed:
        return constant(left.low * right.low)
    if left.fixed or right.fixed:
        factor, term = (left.low, right) if left.fixed else (right.low, left)
        if factor in (0, 1):
            return term if factor else constant(0)
        low, high = sorted((factor * term.low, factor * term.high))
        return Term(z3.RealVal(factor) * term.expression, low, high)
    ends = [a * b for a in (left.low, left.high) for b in (right.low, right.high)]
    return Term(left.expression * right.expression, min(ends), max(ends))


def relu(term: Term) -> Term:
    """The greater of a term and 0."""
    if term.low >= 0:
        return term
    if term.high <= 0:
        return constant(0)
    expression = z3.If(term.expression > 0, term.expression, z3.RealVal(0))
    return Term(expression, ZERO, term.high)


def select(options: Sequence[tuple[Any, Term]]) -> Term:
    """The term whose condition holds; of the conditions, exactly one does."""
    terms = [term for _, term in options]
    low, high = min(t.low for t in terms), max(t.high for t in terms)
    if low == high:
        return constant(low)
    expression = terms[-1].expression
    for condition, term in reversed(options[:-1]):
        expression = z3.If(condition, term.expression, expression)
    return Term(expression, low, high)


def project(x: Sequence[Term], weight: Rationals) -> list[Term]:
    """``x @ weight``, for ``(inputs,)`` and ``(inputs, outputs)``."""
    return [
        total(product(constant(w), x[i]) for i, w in enumerate(column) if w)
        for column in weight.T
    ]


def inner(x: Sequence[Term], y: Sequence[Term]) -> Term:
    """The inner product of two vectors."""
    return total(product(a, b) for a, b in zip(x, y, strict=True))


def linear(x: Sequence[Term], y: Sequence[Term]) -> bool:
    """Whether their inner product has no product of two unknowns."""
    return all(a.fixed or b.fixed for a, b in zip(x, y, strict=True))


def feed(layers: Layers, x: Sequence[Term]) -> list[Term]:
    """Affine layers with ReLUs between them."""
    for i, (weight, bias) in enumerate(layers):
        sums = project(x, weight)
        x = [total((s, constant(b))) for s, b in zip(sums, bias, strict=True)]
        if i + 1 < len(layers):
            x = [relu(term) for term in x]
    return list(x)


def after_mlp(layers: Layers, mask: Rationals, x: Sequence[Term]) -> list[Term]:
    """The stream after an MLP, which may have no layers, and its mask."""
    kept = [product(constant(m), v) for m, v in zip(mask, x, strict=True)]
    added = feed(layers, x) if layers else [constant(0)] * len(x)
    return [total(pair) for pair in zip(kept, added, strict=True)]


# A whole Transformer as terms of the solver: letters unknown, attention hard.
#
# Of every head the question knows a choice: for each position that looks, exactly one of
# the positions up to it, whose score is not exceeded by another one. Where two scores are
# equal the solver may choose, so what is verified holds for every way to break ties.


Vector = list[Term]


@dataclass(frozen=True)
class Encoding:
    """The network on all words of a length.

    Attributes:
        letters: For each position from 1 on, a condition for every letter.
        logits: For each position from 1 on, the logits.
        assumed: For each position from BOS on, conditions on its letter and choices.
        choices: From block, head and position to the condition of every position that
            may be taken; where only one can be, there is no choice.
        products: Block, head and position of scores with products of two unknowns.
    """

    letters: list[list[Any]]
    logits: list[Vector]
    assumed: list[list[Any]]
    choices: dict[tuple[int, int, int], dict[int, Any]] = field(default_factory=dict)
    products: list[tuple[int, int, int]] = field(default_factory=list)

    @property
    def linear(self) -> bool:
        """Whether no score is a product of two unknowns."""
        return not self.products


def encode(file: ModelFile, length: int) -> Encoding:
    """Encode a Transformer on all words of ``length`` letters.

    Raises:
        Rejected: If it has units that are no ReLUs.
    """
    token = fractions(file.tensors["embed.token"])
    position = fractions(file.tensors["embed.position"])
    letters = [
        [z3.Bool(f"letter_{t}_{a}") for a in range(len(token) - 1)]
        for t in range(1, length + 1)
    ]
    assumed = [[], *([_exactly_one(options)] for options in letters)]
    found = Encoding(letters, [], assumed)
    stream = [[constant(v) for v in token[-1] + position[0]]]
    for t, options in enumerate(letters, start=1):
        rows = token[:-1] + position[t]
        stream.append([_one_of(options, column) for column in rows.T])
    for block in range(len(file.architecture.blocks)):
        stream = _block(file, block, stream, found)
    weight, bias = (fractions(file.tensors[f"unembed.{n}"]) for n in ("weight", "bias"))
    for x in stream[1:]:
        found.logits.append(feed(((weight, bias),), x))
    return found


def _exactly_one(conditions: list[Any]) -> Any:
    pairs = [
        z3.Not(z3.And(a, b)) for i, a in enumerate(conditions) for b in conditions[:i]
    ]
    return z3.And(z3.Or(conditions), *pairs)


def _one_of(conditions: list[Any], values: Rationals) -> Term:
    return select([(c, constant(v)) for c, v in zip(conditions, values, strict=True)])


def _block(
    file: ModelFile, block: int, stream: list[Vector], found: Encoding
) -> list[Vector]:
    if file.architecture.blocks[block].heads:
        stream = _attend(file, block, stream, found)
    layers, mask = layers_of(file, block), mask_of(file, block)
    return [after_mlp(layers, mask, x) for x in stream]


def _attend(
    file: ModelFile, block: int, stream: list[Vector], found: Encoding
) -> list[Vector]:
    names = ("query", "key", "value", "out")
    parts = [fractions(file.tensors[f"blocks.{block}.attention.{n}"]) for n in names]
    added = [
        list(_head((block, head), matrices, stream, found))
        for head, matrices in enumerate(zip(*parts, strict=True))
    ]
    return [
        [total(terms) for terms in zip(x, *written, strict=True)]
        for x, *written in zip(stream, *added, strict=True)
    ]


def _head(
    name: tuple[int, int],
    matrices: tuple[Rationals, ...],
    stream: list[Vector],
    found: Encoding,
) -> Iterator[Vector]:
    """The terms that a head adds to the stream at every position."""
    query, key, value, out = matrices
    queries, keys = ([project(x, m) for x in stream] for m in (query, key))
    values = [project(x, value @ out) for x in stream]
    for t, q in enumerate(queries):
        scores = [inner(q, k) for k in keys[: t + 1]]
        if not all(linear(q, k) for k in keys[: t + 1]):
            found.products.append((*name, t))
        options = _choice((*name, t), scores, found)
        yield [
            select([(c, values[j][i]) for j, c in options.items()])
            for i in range(len(stream[0]))
        ]


def _choice(
    name: tuple[int, int, int], scores: list[Term], found: Encoding
) -> dict[int, Any]:
    """The positions that a head may take, with the condition that it takes each."""
    least = max(score.low for score in scores)
    possible = [j for j, score in enumerate(scores) if score.high >= least]
    options = {j: z3.Bool("taken_{}_{}_{}_{}".format(*name, j)) for j in possible}
    t = name[2]
    if len(options) > 1:
        found.choices[name] = options
        found.assumed[t].append(_exactly_one(list(options.values())))
        for j, taken in options.items():
            rest = [
                scores[j].expression >= scores[i].expression for i in possible if i != j
            ]
            found.assumed[t].append(z3.Implies(taken, z3.And(rest)))
    return options
