"""A generator: for every prefix of up to T letters it says the law of the next bracket.

Theorem D-E of docs/dyck-generator.md. No prefix and no stack is enumerated: matched
brackets cancel, and what is left is bounded for each query and top bracket.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np

from verify.recheck.bounds import INFLATION, Noisy, exact
from verify.recheck.brackets import Claim, claimed
from verify.recheck.layer_norm import Head, certain, head, projected
from verify.recheck.model import FloatArray, Format, IntArray, Machine, Model, demand

# Entries of a vector of length 1, with room for what LayerNorm rounds.
ANY = 1.125
# Two exponentials of this checker, two products and a sum, relative to their terms.
OWN = 2.0**-46


@dataclass(frozen=True)
class Established:
    """What was shown of a generator, for all legal prefixes of up to T letters.

    Attributes:
        length: T.
        form: The format that is computed in.
        first: How the first layer finds the depth.
        law: The largest ``error`` of an output, how many ``cases`` hold all prefixes, and
            what they rest on (docs/dyck-generator.md, section 4).
    """

    length: int
    form: Format
    first: dict[str, Any]
    law: dict[str, Any]

    def facts(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "covers": f"all legal prefixes of up to {self.length} letters",
            "length": self.length,
            "dtype": self.form.name,
            "first": self.first,
            "law": self.law,
        }


def established(model: Model, said: Any, machine: Machine | None) -> Established:
    """What a generator's file and its evidence show.

    Raises:
        Refused: If an output can be further from the law than the file or the evidence
            claims.
    """
    found = shown(model, claimed(model, machine or model.machine), model.format)
    demand(found.law["error"] <= said.get("error", 1), "the error is not shown")
    return found


def shown(model: Model, claim: Claim, form: Format) -> Established:
    """What is shown of a claim, with heads and LayerNorms computed in some format.

    Raises:
        Refused: If a step cannot be established.
    """
    shapes = {name: tensor.shape for name, tensor in model.tensors.items()}
    demand(shapes == _shapes(model.header["architecture"]), "other tensors than stated")
    rows, first = tokens(model, claim, form)
    return Established(claim.length, form, first, _law(model, claim, rows, form))


def _shapes(said: Any) -> dict[str, tuple[int, ...]]:
    """The tensors of an architecture, as docs/model-format.md lists them."""
    widths = [layer["d"] for layer in said["layers"]]
    found: dict[str, tuple[int, ...]] = {"embed.start": (widths[0],)}
    found |= {"embed.letter": (said["vocabulary"], said["depths"], widths[0])}
    ends = [*widths[1:], said["outputs"]]
    for i, (layer, end) in enumerate(zip(said["layers"], ends, strict=True)):
        demand(layer.get("norm", "layer") == "layer", "a layer without LayerNorm")
        d, k = layer["d"], layer["d_qk"]
        for name, width in (("query", k), ("key", k), ("value", d)):
            found[f"layers.{i}.attention.{name}"] = (d, width)
        found[f"layers.{i}.constant"] = (1,)
        for j, pair in enumerate(pairwise([d, *layer["mlp"], end])):
            found[f"layers.{i}.mlp.{j}.weight"] = pair
            found[f"layers.{i}.mlp.{j}.bias"] = pair[1:]
    return found


def tokens(
    model: Model, claim: Claim, form: Format
) -> tuple[FloatArray, dict[str, Any]]:
    """``(tokens, d)``: what the last layer reads, and how the layer before finds it.

    Raises:
        Refused: If it is not a function of letter and depth, computed exactly.
    """
    layers = len(model.header["architecture"]["layers"])
    table, start = model.tensors["embed.letter"], model.tensors["embed.start"]
    stack = claim.brackets
    if layers == 1 and table.shape[1] == stack.depth + 1:
        rows = np.vstack([table[stack.letters, stack.depths[:-1]], start])
        return rows, {"depth": "from a table of letters and depths"}
    demand(
        (layers, table.shape[1]) == (2, 1),
        "a generator has one layer after a table of depths, or two after a plain one",
    )
    return _found_depth(model, claim, form)


def _found_depth(
    model: Model, claim: Claim, form: Format
) -> tuple[FloatArray, dict[str, Any]]:
    """Corollary 1: letters that open add v, those that close add −v, and the start s."""
    stack, positions = claim.brackets, claim.length + 1
    letters, start = model.tensors["embed.letter"][:, 0], model.tensors["embed.start"]
    found = head(model, 0, np.vstack([letters, start]), form)
    demand(found.scores == 0, "the first layer does not attend uniformly")
    step, start = found.values[stack.opens[0]], found.values[-1]
    signs = np.where(np.isin(np.arange(len(letters)), stack.opens), 1.0, -1.0)
    demand(found.values[:-1] == np.outer(signs, step), "depth is not added up")
    apart = step.any() and start.any() and not (step * start).any()
    demand(apart, "the first layer mixes depth and start")
    relative = found.relative(0, positions)
    load = positions * found.norms[0] + found.norms[-1]
    lengths = np.sqrt(stack.depths**2 * (step**2).sum() + (start**2).sum())
    noise = found.deviation(relative * load / lengths, lengths / positions, relative)
    seen = (stack.depths[:, None] * step + start) / lengths[:, None]
    symbols, radius = np.append(stack.letters, len(letters)), np.ones_like(seen)
    boxes = found.added(symbols, seen, radius * noise[:, None], model.format)
    facts = {"depth": "by uniform attention", "noise": float(noise.max())}
    return certain(_followed(model, 0, boxes), "the first layer's output"), facts


def _followed(model: Model, layer: int, numbers: Noisy) -> Noisy:
    """Numbers through the MLP of a layer; a sum of one product by 1 is exact."""
    for j in range(len(model.header["architecture"]["layers"][layer]["mlp"]) + 1):
        before = numbers.relu() if j else numbers
        at = f"layers.{layer}.mlp.{j}"
        weight, bias = (model.tensors[f"{at}.{part}"] for part in ("weight", "bias"))
        numbers = before.affine(weight, bias)
    if not before.total.any() and not bias.any():
        said = projected(before.value, weight, model.format, "an output")
        numbers = exact(said, model.format)
    return numbers


class _Case(NamedTuple):
    """A query with all the stacks that it can leave with one depth and top bracket.

    Attributes:
        token: The query.
        depth: How many brackets are open.
        top: The kind of the innermost one.
        centre: ``(d,)``: where LN_C is.
        radius: ``(d,)``: how far it can be from there.
    """

    token: int
    depth: int
    top: int
    centre: FloatArray
    radius: FloatArray


def _law(model: Model, claim: Claim, rows: FloatArray, form: Format) -> dict[str, Any]:
    """The last layer: brackets cancel, LayerNorm, g."""
    layer = len(model.header["architecture"]["layers"]) - 1
    found = head(model, layer, rows, form)
    cases, facts = all_cases(found, claim)
    token, _, _, centre, radius = map(np.array, zip(*cases, strict=True))
    said = _followed(model, layer, found.added(token, centre, radius, model.format))
    laws = chain(*(claim.law(case.depth, case.top) for case in cases))
    each = zip(said.value.flat, said.total.flat, laws, strict=True)
    error = max(abs(Fraction(s) - p) + Fraction(e) for s, e, p in each)
    demand(
        error <= claim.tolerance,
        f"an output can be {float(error):.3g} from the law, more than the "
        f"{float(claim.tolerance):.3g} that the file claims",
    )
    return {"cases": len(cases), "error": float(error), **facts}


def all_cases(head: Head, claim: Claim) -> tuple[list["_Case"], dict[str, Any]]:
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
    residual = max((x.residual.max() for x in left), default=0.0)
    return [*_free(head, claim), *closing], {
        "identities": len(left) * claim.brackets.pairs,
        "residual": float(residual),
        "exactly balanced": bool(residual == 0),
        "share": float(min((x.least.min() for x in left), default=1.0)),
        "load": float(max((x.load.max() for x in left), default=0.0)),
        "signal": float(min((1 / x.inverse.max() for x in left), default=1.0)),
        "constant": head.constant,
    }


def _queries(claim: Claim) -> IntArray:
    """The tokens that close a bracket and leave another one open."""
    closing = np.arange(claim.brackets.pairs, 2 * claim.brackets.pairs)
    return closing[claim.brackets.depths[closing] > 0]


def _free(head: Head, claim: Claim) -> Iterator[_Case]:
    """The other queries: the letter alone says the law, whatever LayerNorm says."""
    stack, silent = claim.brackets, ~head.values.any(axis=0)
    for token in np.setdiff1d(np.arange(2 * stack.pairs + 1), _queries(claim)):
        ripple = head.ripple(head.relative(token, claim.length + 1))
        radius = np.where(silent, ripple, ANY)
        top = token // stack.depth % stack.kinds
        yield _Case(token, stack.depths[token], top, 0 * radius, radius)


class _Left(NamedTuple):
    """What matched pairs and a stack leave for a query, by the top bracket's kind.

    Attributes:
        token: The query.
        least: ``(kinds,)``: the least share of the top bracket, after normalising.
        most: ``(kinds,)``: the greatest one.
        inverse: ``(kinds,)``: the most of (sum of all weights)/(length of the vector).
        load: ``(kinds,)``: the most of (sum of the terms' lengths)/(length of the vector).
        residual: ``(kinds,)``: what all matched pairs can leave, relative to that length.
    """

    token: int
    least: FloatArray
    most: FloatArray
    inverse: FloatArray
    load: FloatArray
    residual: FloatArray

    @classmethod
    def of(cls, head: Head, claim: Claim, token: int) -> "_Left":
        """The bounds over all stacks and all matched pairs.

        A stack chooses one kind at each level below, and its length grows with each
        choice: the least and the greatest choice at every level bound all stacks.
        """
        stack, column = claim.brackets, head.scores[:, token]
        weights, depth = np.exp(column - column.max()), stack.depths[token]
        first, second = weights[: stack.pairs], weights[stack.pairs : -1]
        sizes = weights * head.norms
        opening = sizes[: stack.pairs].reshape(stack.kinds, stack.depth)
        top, below = opening[:, depth - 1], opening[:, : depth - 1]
        low, high = ((f(below, axis=0) ** 2).sum() for f in (np.min, np.max))
        shorter = np.sqrt(top**2 + low) / INFLATION**4
        matched = max(claim.length - depth, 0) / 2 * INFLATION**4
        others = weights[-1] + matched * (first + second).max()
        terms = matched * (sizes[: stack.pairs] + sizes[stack.pairs : -1]).max()
        return cls(
            token=token,
            least=top / np.sqrt(top**2 + high) / INFLATION**4,
            most=top / shorter,
            inverse=others / shorter + np.sqrt(depth) / head.norms[: stack.pairs].min(),
            load=terms / shorter + np.sqrt(depth),
            residual=matched * _residual(head.values, first, second) / shorter,
        )

    def cases(self, head: Head, claim: Claim) -> Iterator[_Case]:
        """The top bracket's entries lie between two bounds; deeper ones are anything."""
        stack, token = claim.brackets, self.token
        depth = stack.depths[token]
        relative = head.relative(token, claim.length + 1)
        error = relative * self.load + self.residual
        noise = head.deviation(error, 1 / self.inverse, relative)
        level = head.values[: stack.pairs].reshape(stack.kinds, stack.depth, -1)
        level = level[:, depth - 1]
        elsewhere = head.values.any(axis=0) & ~level.any(axis=0)
        for top, value in enumerate(level):
            unit = value / np.sqrt((value**2).sum())
            spread = (self.most[top] - self.least[top]) / 2 * np.abs(unit)
            centre = (self.least[top] + self.most[top]) / 2 * unit
            radius = np.where(elsewhere, ANY, noise[top] + spread)
            yield _Case(token, depth, top, centre, radius)


def _residual(values: FloatArray, first: FloatArray, second: FloatArray) -> float:
    """The length of the vector that a matched pair can leave, at most.

    Args:
        values: ``(tokens, d)``.
        first: ``(pairs,)``: the weight of each opening bracket.
        second: ``(pairs,)``: the weight of its partner.
    """
    opening, closing = values[: len(first)], values[len(first) : -1]
    opens, closes = first[:, None] * opening, second[:, None] * closing
    left = np.sqrt(((opens + closes) ** 2).sum(axis=1))
    size = np.sqrt((opens**2 + closes**2).sum(axis=1))
    balanced = (first == second) & (opening == -closing).all(axis=1)
    return float(np.where(balanced, 0.0, left + OWN * size).max())
