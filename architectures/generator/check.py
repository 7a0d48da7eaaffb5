"""A generator: for every prefix of up to T letters it says the law of the next bracket.

Theorem D-E of docs/proofs/generator.md. No prefix and no stack is enumerated:
matched brackets cancel, and what is left is bounded for each query and top bracket (section
3). For a query that closes a bracket and leaves another one open, the two tokens of a pair
cancel. For others nothing is claimed but that LayerNorm returns a vector of length at most
1.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from krohn.architectures.generator.check_brackets import (
    Claim,
    read_claim,
)
from krohn.architectures.generator.check_layer_norm import (
    Head,
    certain,
    head,
    project_rows,
)
from krohn.architectures.generator.statement import Generator
from krohn.program.domains import IntArray
from krohn.program.errors import demand
from krohn.program.inputs import LegalPrefixes
from krohn.verify.checker.affine_arithmetic import Noisy, exact
from krohn.verify.checker.arithmetic import Format, Interval
from krohn.verify.checker.established import Established
from krohn.verify.checker.model_file import FloatArray, Machine, Model

ANY = Interval.from_ends(np.array(-1.125), np.array(1.125))
"""Entries of a vector of length 1, with room for what LayerNorm rounds."""


class Case(NamedTuple):
    """A query with all the stacks that it can leave with one depth and top bracket.

    Attributes:
        token: The query.
        depth: How many brackets are open.
        top: The kind of the innermost one.
        normed: ``(d,)``: where LN_C is.
    """

    token: int
    depth: int
    top: int
    normed: Interval


def all_cases(head: Head, claim: Claim) -> tuple[list[Case], dict[str, Any]]:
    """Cases that hold every prefix, and what they rest on.

    Raises:
        Refused: If brackets are not told apart, or do not cancel well enough.
    """
    opening = head.values[: claim.brackets.pairs] != 0
    apart = opening.any(axis=1).all() and (opening.sum(axis=0) <= 1).all()
    demand(apart, "the values of two opening brackets overlap, or one has none")
    demand(head.values[-1] == 0, "the start is not silent")
    left = [_Left.of(head, claim, query) for query in _queries(claim)]
    closing = (case for one in left for case in one.cases(head, claim))
    residual = max((x.residual.most for x in left), default=0.0)
    return [*_free(head, claim), *closing], {
        "identities": len(left) * claim.brackets.pairs,
        "residual": residual,
        "exactly balanced": residual == 0,
        "share": min((float(x.least.low.min()) for x in left), default=1.0),
        "load": max((x.load.most for x in left), default=0.0),
        "signal": min((float((1 / x.inverse).low.min()) for x in left), default=1.0),
        "constant": head.constant,
    }


def _queries(claim: Claim) -> IntArray:
    """The tokens that close a bracket and leave another one open."""
    closing = np.arange(claim.brackets.pairs, 2 * claim.brackets.pairs)
    return closing[claim.brackets.depths[closing] > 0]


def _free(head: Head, claim: Claim) -> Iterator[Case]:
    """The other queries: the letter alone says the law, whatever LayerNorm says."""
    stack, silent = claim.brackets, np.asarray(~head.values.any(axis=0))
    for token in np.setdiff1d(np.arange(2 * stack.pairs + 1), _queries(claim)):
        ripple = head.ripple(head.relative(token, claim.length + 1))
        top = token // stack.depth % stack.kinds
        normed = Interval.of(0.0).wider(ripple).where(silent, ANY)
        yield Case(token, stack.depths[token], top, normed)


class _Left(NamedTuple):
    """The shares of matched pairs and of a stack for a query, by the top bracket's kind.

    Attributes:
        token: The query.
        least: ``(kinds,)``: the least share of the top bracket, after normalising.
        most: ``(kinds,)``: the greatest one.
        inverse: ``(kinds,)``: the most of (sum of all weights)/(length of the vector).
        load: ``(kinds,)``: the most of (sum of the terms' lengths)/(length of the vector).
        residual: ``(kinds,)``: what all matched pairs can leave, relative to that length.
    """

    token: int
    least: Interval
    most: Interval
    inverse: Interval
    load: Interval
    residual: Interval

    @classmethod
    def of(cls, head: Head, claim: Claim, token: int) -> "_Left":
        """The bounds over all stacks and all matched pairs.

        A stack chooses one kind at each level below, and its length grows with each
        choice: the least and the greatest choice at every level bound all stacks.
        """
        stack, depth = claim.brackets, int(claim.brackets.depths[token])
        column = Interval.of(head.scores[:, token])
        weights, norms = (column - column.max()).through(np.exp), head.norms
        first, second = slice(stack.pairs), slice(stack.pairs, -1)
        sizes, shape = weights * norms, (stack.kinds, stack.depth)
        opening = sizes[first].each(lambda x: x.reshape(shape))
        top, below = opening[:, depth - 1], opening[:, : depth - 1]
        low, high = ((x * x).sum() for x in (below.min(axis=0), below.max(axis=0)))
        shorter = (top * top + low).root()
        matched = Interval.of(Fraction(max(claim.length - depth, 0), 2))
        others = weights[-1] + matched * (weights[first] + weights[second]).max()
        terms = matched * (sizes[first] + sizes[second]).max()
        together = Interval.of(depth).root()
        left = _residual(head, token, weights, stack.pairs)
        return cls(
            token=token,
            least=top / (top * top + high).root(),
            most=top / shorter,
            inverse=others / shorter + together / norms[first].min(),
            load=terms / shorter + together,
            residual=matched * left / shorter,
        )

    def cases(self, head: Head, claim: Claim) -> Iterator[Case]:
        """The top bracket's entries lie between two bounds; deeper ones are anything."""
        stack, token = claim.brackets, self.token
        depth = stack.depths[token]
        relative = head.relative(token, claim.length + 1)
        error = relative * self.load + self.residual
        noise = head.deviation(error, 1 / self.inverse, relative)
        shape = stack.kinds, stack.depth, -1
        level = head.values[: stack.pairs].reshape(shape)[:, depth - 1]
        lengths = head.norms[: stack.pairs].each(lambda x: x.reshape(shape[:2]))
        share = self.least.join_with(self.most) / lengths[:, depth - 1]
        elsewhere = head.values.any(axis=0) & ~level.any(axis=0)
        for top, value in enumerate(level):
            normed = (share[top] * value).wider(noise[top]).where(~elsewhere, ANY)
            yield Case(token, depth, top, normed)


def _residual(head: Head, token: int, weights: Interval, pairs: int) -> Interval:
    """The length of the vector that a matched pair can leave, at most.

    It is 0 where scores are equal and values opposite.

    Args:
        head: The head.
        token: The query.
        weights: ``(tokens,)``: the weight of each token for it.
        pairs: How many pairs there are.
    """
    each = weights[:, None] * head.values
    left = each[:pairs] + each[pairs:-1]
    length = (left * left).sum(axis=1).root()
    scores, values = head.scores[:, token], head.values
    balanced = scores[:pairs] == scores[pairs:-1]
    balanced &= (values[:pairs] == -values[pairs:-1]).all(axis=1)
    return length.where(~balanced, 0.0).max()


def check_claim(model: Model, said: Any, machine: Machine | None) -> Established:
    """The statement that a generator's file and its evidence prove.

    Raises:
        Refused: If an output can be further from the law than the file or the evidence
            claims.
    """
    return prove_law(model, read_claim(model, machine or model.machine), model.format)


def prove_law(model: Model, claim: Claim, form: Format) -> Established:
    """The proved statement, with heads and LayerNorms computed in some format.

    Raises:
        Refused: If a step cannot be established.
    """
    layers = model.network(Generator).layers
    normed = all(layer.norm == "layer" for layer in layers)
    demand(normed, "a layer without LayerNorm")
    rows, first = tokens(model, claim, form)
    law = _law(model, claim, rows, form)
    facts = {"argument": "brackets that cancel", "first": first, "law": law}
    return Established(form, LegalPrefixes(claim.length), facts, law["error"])


def tokens(
    model: Model, claim: Claim, form: Format
) -> tuple[FloatArray, dict[str, Any]]:
    """``(tokens, d)``: what the last layer reads, and how the layer before finds it.

    A first layer that reads codes of letters and depths has a silent head (Lemma D-F).

    Raises:
        Refused: If it is not a function of letter and depth, computed exactly.
    """
    layers = len(model.network(Generator).layers)
    table, start = model.tensors["embed.letter"], model.tensors["embed.start"]
    stack = claim.brackets
    if (layers, table.shape[1]) == (2, 1):
        return _found_depth(model, claim, form)
    demand(
        layers <= 2 and table.shape[1] == stack.depth + 1,
        "a generator has one or two layers after a table of depths, or two after a "
        "plain one",
    )
    rows = np.vstack([table[stack.letters, stack.depths[:-1]], start])
    if layers == 1:
        return rows, {"depth": "from a table of letters and depths"}
    silent = head(model, 0, rows, form).values
    demand(silent == 0, "the head of a layer that reads codes of depths is not silent")
    said = certain(_follow_mlp(model, 0, exact(rows, model.format)), "a token")
    return said, {"depth": "from codes of letters and depths"}


def _found_depth(
    model: Model, claim: Claim, form: Format
) -> tuple[FloatArray, dict[str, Any]]:
    """Corollary 1: letters that open add v, those that close add −v, and the start s."""
    stack, positions = claim.brackets, claim.length + 1
    letters, start = model.tensors["embed.letter"][:, 0], model.tensors["embed.start"]
    first_head = head(model, 0, np.vstack([letters, start]), form)
    demand(first_head.scores == 0, "the first layer does not attend uniformly")
    step, start = first_head.values[stack.opens[0]], first_head.values[-1]
    signs = np.where(np.isin(np.arange(len(letters)), stack.opens), 1.0, -1.0)
    demand(first_head.values[:-1] == np.outer(signs, step), "depth is not added up")
    apart = step.any() and start.any() and not (step * start).any()
    demand(apart, "the first layer mixes depth and start")
    relative = first_head.relative(0, positions)
    load, z = (
        positions * first_head.norms[0] + first_head.norms[-1],
        np.float64(stack.depths),
    )
    squares = [(Interval.of(x) * x).sum() for x in (step, start)]
    lengths = (Interval.of(z) * z * squares[0] + squares[1]).root()
    noise = first_head.deviation(
        relative * load / lengths, lengths / positions, relative
    )
    seen = (Interval.of(z)[:, None] * step + start) / lengths[:, None]
    symbols = np.append(stack.letters, len(letters))
    boxes = first_head.add_normed(symbols, seen.wider(noise[:, None]), model.format)
    facts = {"depth": "by uniform attention", "noise": noise.most}
    return certain(_follow_mlp(model, 0, boxes), "the first layer's output"), facts


def _follow_mlp(model: Model, layer: int, numbers: Noisy) -> Noisy:
    """Numbers through the MLP of a layer; a sum of one product by 1 is exact."""
    for j in range(len(model.network(Generator).layers[layer].mlp) + 1):
        before = numbers.relu() if j else numbers
        at = f"layers.{layer}.mlp.{j}"
        weight, bias = (model.tensors[f"{at}.{part}"] for part in ("weight", "bias"))
        numbers = before.affine(weight, bias)
    if not before.total.any() and not bias.any():
        outputs = project_rows(before.value, weight, model.format, "an output")
        numbers = exact(outputs, model.format)
    return numbers


def _law(model: Model, claim: Claim, rows: FloatArray, form: Format) -> dict[str, Any]:
    """The last layer: brackets cancel, LayerNorm, g."""
    layer = len(model.network(Generator).layers) - 1
    last_head = head(model, layer, rows, form)
    cases, facts = all_cases(last_head, claim)
    token = np.array([case.token for case in cases])
    normed = Interval.stack_intervals(case.normed for case in cases)
    outputs = _follow_mlp(
        model, layer, last_head.add_normed(token, normed, model.format)
    )
    laws = chain(*(claim.law(case.depth, case.top) for case in cases))
    each = zip(outputs.value.flat, outputs.total.flat, laws, strict=True)
    error = max(abs(Fraction(s) - p) + Fraction(e) for s, e, p in each)
    demand(
        error <= claim.tolerance,
        f"an output can be {float(error):.3g} from the law, more than the "
        f"{float(claim.tolerance):.3g} that the file claims",
    )
    return {"cases": len(cases), "error": float(error), **facts}
