"""Proof of a generator: it says the law of the next bracket, for all prefixes up to T.

No prefix and no stack is enumerated: matched brackets cancel by finitely many identities,
and what is left is bounded for each query and top bracket (docs/dyck-generator.md).
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from algebra.automaton import Automaton
from network.modelfile import ModelFile
from network.precision import FloatArray
from verify import cancelling
from verify.bracket_claim import Claim, claimed
from verify.errors import Rejected
from verify.normalised import (
    REAL,
    Arithmetic,
    Head,
    around,
    exact,
    followed,
    head,
    projected,
)

FARTHEST = 2**40


def prove(file: ModelFile, machine: Automaton) -> Iterator[dict[str, Any]]:
    """Check every step for words up to the claimed length; yields what is established.

    Raises:
        Rejected: If some step cannot be established.
    """
    claim = claimed(file, machine)
    units = Arithmetic.of(file.precision)
    yield from _steps(file, claim, units)
    yield {
        "longest": {
            file.precision.name: _longest(file, claim, units),
            "real arithmetic": _longest(file, claim, REAL),
        }
    }


def _steps(
    file: ModelFile, claim: Claim, units: Arithmetic
) -> Iterator[dict[str, Any]]:
    rows, steps = tokens(file, claim, units)
    yield from steps
    yield _law(file, claim, rows, units)


def _longest(file: ModelFile, claim: Claim, units: Arithmetic) -> int:
    """The greatest length for which these tensors pass, found by bisection."""

    def passes(length: int) -> bool:
        try:
            list(_steps(file, Claim(claim.law, length, claim.tolerance), units))
        except Rejected:
            return False
        return True

    low, high = claim.length, FARTHEST
    while low + 1 < high:
        middle = min(2 * low, (low + high) // 2)
        low, high = (middle, high) if passes(middle) else (low, middle)
    return low


def tokens(
    file: ModelFile, claim: Claim, units: Arithmetic
) -> tuple[FloatArray, list[dict[str, Any]]]:
    """What the last layer reads: a vector for each letter and depth, and for the start.

    Returns:
        ``(letters with depths + 1, d)``, and what was established on the way.

    Raises:
        Rejected: If it is not a function of letter and depth, computed exactly.
    """
    shape, table = file.header["architecture"], file.tensors["embed.letter"]
    start = file.tensors["embed.start"]
    which = np.array(claim.letters)
    if len(shape["layers"]) == 1 and table.shape[1] == claim.depth + 1:
        rows = np.concatenate([table[which[:, 0], which[:, 1]], start[None]])
        return rows, [{"first layer": "a table of letter and depth"}]
    if len(shape["layers"]) == 2 and table.shape[1] == 1:
        rows, step = _depth(file, claim, units)
        return rows, [{"first layer": "uniform attention finds the depth", **step}]
    raise Rejected(
        "a generator has one layer after a table of depths, or two after a plain one"
    )


def _depth(
    file: ModelFile, claim: Claim, units: Arithmetic
) -> tuple[FloatArray, dict[str, Any]]:
    """Corollary 1: letters that open add v, those that close add −v, and the start s."""
    letters = file.tensors["embed.letter"][:, 0]
    symbols = np.concatenate([letters, file.tensors["embed.start"][None]])
    found = head(symbols, "layers.0", file.tensors, file.precision)
    step, start = _depth_values(found, claim)
    which = np.array(claim.letters)
    depths = np.append(which[:, 1], 0)
    length = np.sqrt(depths**2 * (step**2).sum() + (start**2).sum())
    positions = claim.length + 1
    relative = found.relative(0, positions, units)
    load = positions * found.norms[0] + found.norms[-1]
    noise = [
        found.deviation(relative * load / norm, norm / positions, relative, units)
        for norm in length.tolist()
    ]
    symbol = symbols[np.append(which[:, 0], len(letters))]
    seen = symbol + (depths[:, None] * step + start) / length[:, None]
    radius = np.repeat(np.array(noise)[:, None], seen.shape[1], axis=1)
    maps = len(file.header["architecture"]["layers"][0]["mlp"]) + 1
    numbers = around(seen, radius, file.precision)
    _, after = followed(numbers, "layers.0", maps, file.tensors)
    return exact(after, "what the first layer says of letter and depth"), {
        "noise": max(noise),
        "constant": found.constant,
    }


def _depth_values(found: Head, claim: Claim) -> tuple[FloatArray, FloatArray]:
    """The values v and s, if the head is uniform and adds openings, less closings."""
    if found.scores.any():
        raise Rejected("the first layer does not attend uniformly")
    signs = [-1.0 if kind is None else 1.0 for kind in claim.law.brackets.opens]
    step, start = found.values[0] * signs[0], found.values[-1]
    if (found.values[:-1] != np.outer(signs, step)).any():
        raise Rejected("the first layer does not add openings and subtract closings")
    if (step * start).any() or not start.any() or not step.any():
        raise Rejected("the first layer mixes depth and start")
    return step, start


def _law(
    file: ModelFile, claim: Claim, rows: FloatArray, units: Arithmetic
) -> dict[str, Any]:
    """The last layer: cancelling, LayerNorm, g."""
    at = f"layers.{len(file.header['architecture']['layers']) - 1}"
    found = head(rows, at, file.tensors, file.precision)
    cases, evidence = cancelling.cases(found, claim, units)
    values = np.array([rows[case.token] + case.centre for case in cases])
    radius = np.array([case.radius for case in cases])
    maps = len(file.header["architecture"]["layers"][-1]["mlp"]) + 1
    before, after = followed(
        around(values, radius, file.precision), at, maps, file.tensors
    )
    weight = file.tensors[f"{at}.mlp.{maps - 1}.weight"]
    bias = file.tensors[f"{at}.mlp.{maps - 1}.bias"]
    units_on = before.relu() if maps > 1 else before
    off = after.total
    said = after.value
    if not units_on.total.any() and not bias.any():
        said, off = (
            projected(units_on.value, weight, file.precision, "an output"),
            0 * off,
        )
    error = max(
        _distance(said[i], off[i], claim.law.law(case.stack))
        for i, case in enumerate(cases)
    )
    if not error <= claim.tolerance:
        raise Rejected(
            f"an output can be {float(error):.3g} from the law, more than the "
            f"{float(claim.tolerance):.3g} that the file claims"
        )
    return {"law": {"cases": len(cases), "error": float(error), **evidence}}


def _distance(said: FloatArray, off: FloatArray, law: tuple[Fraction, ...]) -> Fraction:
    """The largest distance of outputs from a law, in rational numbers."""
    return max(
        abs(Fraction(s) - p) + Fraction(e)
        for s, e, p in zip(said.tolist(), off.tolist(), law, strict=True)
    )
