"""A generator: for every prefix of up to T letters it says the law of the next bracket.

Theorem D-E of docs/dyck-generator.md. No prefix and no stack is enumerated: matched
brackets cancel, and what is left is bounded for each query and top bracket.
"""

from fractions import Fraction
from itertools import chain
from typing import Any

import numpy as np

from krohn.program.architecture import held
from krohn.program.architectures.generator import Generator
from krohn.program.errors import demand
from krohn.verify.checker.affine_arithmetic import Noisy, exact
from krohn.verify.checker.arithmetic import Format, Interval
from krohn.verify.checker.balanced_head import all_cases
from krohn.verify.checker.brackets import Claim, claimed
from krohn.verify.checker.established import Established
from krohn.verify.checker.layer_norm import certain, head, projected
from krohn.verify.checker.model_file import FloatArray, Machine, Model


def established(model: Model, said: Any, machine: Machine | None) -> Established:
    """The statement that a generator's file and its evidence prove.

    Raises:
        Refused: If an output can be further from the law than the file or the evidence
            claims.
    """
    return shown(model, claimed(model, machine or model.machine), model.format)


def shown(model: Model, claim: Claim, form: Format) -> Established:
    """The proved statement, with heads and LayerNorms computed in some format.

    Raises:
        Refused: If a step cannot be established.
    """
    layers = held(Generator, model.header, model.tensors).layers
    normed = all(layer.norm == "layer" for layer in layers)
    demand(normed, "a layer without LayerNorm")
    rows, first = tokens(model, claim, form)
    law = _law(model, claim, rows, form)
    told = {"argument": "brackets that cancel", "first": first, "law": law}
    covers = f"all legal prefixes of up to {claim.length} letters"
    return Established(form, claim.length, covers, told, law["error"])


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
    load, z = positions * found.norms[0] + found.norms[-1], np.float64(stack.depths)
    squares = [(Interval.of(x) * x).sum() for x in (step, start)]
    lengths = (Interval.of(z) * z * squares[0] + squares[1]).root()
    noise = found.deviation(relative * load / lengths, lengths / positions, relative)
    seen = (Interval.of(z)[:, None] * step + start) / lengths[:, None]
    symbols = np.append(stack.letters, len(letters))
    boxes = found.added(symbols, seen.wider(noise[:, None]), model.format)
    facts = {"depth": "by uniform attention", "noise": noise.most}
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


def _law(model: Model, claim: Claim, rows: FloatArray, form: Format) -> dict[str, Any]:
    """The last layer: brackets cancel, LayerNorm, g."""
    layer = len(model.header["architecture"]["layers"]) - 1
    found = head(model, layer, rows, form)
    cases, facts = all_cases(found, claim)
    token = np.array([case.token for case in cases])
    normed = Interval.stacked(case.normed for case in cases)
    said = _followed(model, layer, found.added(token, normed, model.format))
    laws = chain(*(claim.law(case.depth, case.top) for case in cases))
    each = zip(said.value.flat, said.total.flat, laws, strict=True)
    error = max(abs(Fraction(s) - p) + Fraction(e) for s, e, p in each)
    demand(
        error <= claim.tolerance,
        f"an output can be {float(error):.3g} from the law, more than the "
        f"{float(claim.tolerance):.3g} that the file claims",
    )
    return {"cases": len(cases), "error": float(error), **facts}
