"""Kalman predictors: heads over a window are right up to a stated error (trusted).

Theorem KF4 of docs/proofs/kalman.md. Head j copies what the position j steps ago holds, or
the start where there is none; where heads look depends on positions alone.
"""

from typing import Any, NamedTuple

import numpy as np

from krohn.architectures.multihead_attention.statement import MultiheadAttention
from krohn.kinds.kalman.check_gain import enclose_gain, norm, row_norms
from krohn.kinds.kalman.statement import StatedPredictor
from krohn.program.domains import FloatArray
from krohn.program.errors import demand
from krohn.verify.checker.arithmetic import (
    STEPS,
    Format,
    Interval,
    fits,
    store_error,
    sum_error,
)
from krohn.verify.checker.established import Established, added_up
from krohn.verify.checker.model_file import Machine, Model
from krohn.verify.checker.softmax import leak, mean_error, product

MOST_SCORES = 2**27
"""Of all heads: some seconds."""


class Heads(NamedTuple):
    """The tensors, by what they are multiplied with.

    Attributes:
        codes: ``(T + 1, c)``: those of the start, then of positions.
        query: ``(heads, c, k)``.
        key: ``(heads, c, k)``.
        taken: ``(heads, m, v)``: what is taken of an observation.
        held: ``(heads, v)``: what the start holds.
        terms: ``(heads, v)``: the sum of the absolute values that this is the sum of.
        output: ``(heads, v, m)``.
    """

    codes: FloatArray
    query: FloatArray
    key: FloatArray
    taken: FloatArray
    held: Interval
    terms: Interval
    output: FloatArray


def check_claim(model: Model, said: Any, machine: Machine | None) -> Established:
    """The error of heads over a window.

    Raises:
        Refused: If the network is another one, or nothing can be shown.
    """
    source, form = StatedPredictor.from_wire(model.source), model.format
    demand(not form.narrow, f"{form.name} is too narrow for real numbers")
    shape, m = model.network(MultiheadAttention), len(source.observation)
    demand(shape.inputs == shape.outputs == m, "it reads or says something else")
    demand(shape.length == model.length, "it is for another length")
    fits_limit = shape.heads * shape.length**2 <= MOST_SCORES
    demand(fits_limit, "too long, or too many heads, to be checked")
    heads = _heads(model, m)
    parts = {
        "window": _window_error(source, heads, said, shape.length),
        "rounding": _rounding(source, heads, form),
    }
    return added_up(form, source.box(shape.length), parts)


def _heads(model: Model, m: int) -> Heads:
    """The tensors, if positions alone say where is looked, and add nothing themselves.

    Raises:
        Refused: If they are others.
    """
    t = model.tensors
    start, code = t["start"][0], t["code"]
    query, key, value = (t[f"attention.{n}"] for n in ("query", "key", "value"))
    demand(not (query[:, :m].any() or key[:, :m].any()), "it looks at observations")
    demand(not start[:m].any(), "the start has an observation")
    used = (value[:, m:] != 0).any(axis=(0, 2))
    demand(not code[:, used].any(), "a position adds something itself")
    codes = np.vstack([start[m:], code])
    held, terms = (
        f(start[m:]) @ Interval.of(f(value[:, m:])) for f in (np.asarray, np.abs)
    )
    output = t["attention.output"]
    return Heads(codes, query[:, m:], key[:, m:], value[:, :m], held, terms, output)


def _window_error(
    source: StatedPredictor, heads: Heads, said: Any, length: int
) -> Interval:
    """How far what heads should say is from the Kalman predictor, in exact arithmetic."""
    gain, m = enclose_gain(source, said), len(source.observation)
    count, b, bound = len(heads.taken), source.observation, Interval.of(source.bound)
    middle = gain.first.middle()[0]
    columns = np.column_stack([gain.near, middle])
    scale = np.append(np.full(m, source.bound), 1.0)

    def size(matrix: Interval) -> Interval:
        """The most that columns make of observations and the start, in its 2-norm."""
        return norm(abs(matrix) @ scale)

    # Columns that are near F^j L and F^j z_0, and by how much all of them are not.
    astray = gain.off * norm(scale[:m]) + norm(gain.first - middle)
    wrong, starts = Interval.of(np.zeros(m)), list[Interval]()
    says = [(heads.taken[j] @ Interval.of(heads.output[j])) for j in range(count)]
    for j in range(length + 1):
        right = b @ Interval.of(columns)
        starts.append(right[:, m])
        off = right[:, :m]
        if j < count:
            off = off - says[j].each(np.transpose)
        if j < length:
            wrong += abs(off).sum(axis=1) * bound
        after = gain.loop @ columns
        astray += gain.drift * size(Interval.of(columns))
        columns = (after.low + after.high) / 2
        astray += size(after - columns)
    left, behind = Interval.of(np.zeros(m)), Interval.of(np.zeros(m))
    for t in range(max(length, count - 1), 0, -1):
        if t < count:
            behind += heads.held[t] @ heads.output[t]
        if t <= length:
            left = left.maximum(abs(starts[t] - behind))
    return (wrong + left + row_norms(b) * gain.powers * astray).max()


def _rounding(source: StatedPredictor, heads: Heads, form: Format) -> Interval:
    """How far outputs are from what heads should say."""
    length, (count, _, width) = len(heads.codes) - 1, heads.taken.shape
    seen, features = store_error(form, source.bound), heads.query.shape[1]
    terms = heads.taken.shape[1] + features
    error, total = Interval.of(0.0), Interval.of(0.0)
    for j in range(count):
        astray, largest_score = _look(heads, j, form)
        weights = Interval.of(np.abs(heads.taken[j])).sum(axis=0)
        largest = (weights * (source.bound + seen)).maximum(heads.terms[j])
        off = sum_error(form, terms, largest) + weights * seen
        largest += off
        fits(largest, form, "a value", STEPS)
        off += mean_error(form, length + 1, largest_score, 0.0, largest, 1, astray)
        output = np.abs(heads.output[j])
        error += off @ output
        total += (largest + off) @ output
    fits(total, form, "a prediction", STEPS)
    return (error + sum_error(form, count * width, total)).max()


def _look(heads: Heads, lag: int, form: Format) -> tuple[float, FloatArray]:
    """The weight of all wrong positions of a head at any time, and its largest score."""
    length = len(heads.codes) - 1
    asked = product(heads.codes[1:], heads.query[lag], form, "a query")
    keys = product(heads.codes, heads.key[lag], form, "a key")
    scores = product(asked, keys.each(np.transpose), form, "a score")
    times, at = np.arange(1, length + 1)[:, None], np.arange(length + 1)
    right = np.maximum(times - lag, 0)
    best = scores.each(lambda x: np.take_along_axis(x, right, axis=1))
    astray = leak(scores, best, (at <= times) & (at != right), length + 1, form)
    demand(astray < 0.125, "a head may look at wrong positions")
    return astray, scores.size.max()
