"""Kalman predictors: a linear RNN is right up to a stated error (trusted).

Theorem KF3 of docs/proofs/kalman.md, for observations of every length.
"""

from typing import Any

import numpy as np

from krohn.architectures.linear_recurrence.statement import StartedRecurrence
from krohn.kinds.kalman.check_gain import Gain, enclose_gain, norm, row_norms
from krohn.kinds.kalman.statement import StatedPredictor
from krohn.program.domains import FloatArray
from krohn.program.errors import demand
from krohn.verify.checker.arithmetic import (
    STEPS,
    Interval,
    Operand,
    bound_all_steps,
    fits,
    store_error,
    sum_error,
)
from krohn.verify.checker.established import Established, added_up
from krohn.verify.checker.model_file import Machine, Model


def check_claim(model: Model, said: Any, machine: Machine | None) -> Established:
    """The error of a recurrence.

    Raises:
        Refused: If nothing can be shown.
    """
    source, form = StatedPredictor.from_wire(model.source), model.format
    demand(not form.narrow, f"{form.name} is too narrow for real numbers")
    demand(model.length is None, "an RNN has no longest input")
    m, n = source.observation.shape
    shape = model.network(StartedRecurrence)
    right = (n, m, m, "dense")
    sizes = (shape.hidden, shape.inputs, shape.outputs, shape.form)
    demand(sizes == right, "it has other sizes")
    demand(model.tensors["skip.weight"] == 0, "an observation goes around the state")
    return added_up(form, source.box(None), _errors(model, source, said))


def _errors(model: Model, source: StatedPredictor, said: Any) -> dict[str, Interval]:
    """The parts of the error."""
    t, gain, form = model.tensors, enclose_gain(source, said), model.format
    moves, reads, says = (
        t[f"{name}.weight"].T for name in ("hidden", "input", "unembed")
    )
    seen = store_error(form, source.bound)
    heard, terms = source.bound + seen, sum(reads.shape)
    most = _largest_state(source, gain)
    moved = norm(moves - gain.loop) + gain.drift
    read = (
        _largest(reads - Interval.of(gain.near), heard)
        + gain.off * _length(reads) * heard
    )
    read += _largest(reads, seen)
    start = norm(t["hidden.start"] - gain.first)

    def step(off: Interval) -> Interval:
        """The error that one step adds, if the state before it is so far off."""
        size = row_norms(moves) * (most + off)
        size += abs(Interval.of(reads)).sum(axis=1) * heard
        fits(size, form, "a state", STEPS)
        return moved * (most + off) + read + norm(sum_error(form, terms, size))

    def later(off: Interval) -> Interval:
        return gain.powers * (start + step(off))

    off = bound_all_steps(later, most + source.bound)
    size = row_norms(says) * (most + off)
    fits(size, form, "a prediction", STEPS)
    other = row_norms(says - Interval.of(source.observation)) * (most + off)
    return {
        "state": (row_norms(source.observation) * off).max(),
        "output": (other + sum_error(form, terms, size)).max(),
    }


def _largest(matrix: Operand, bound: Operand) -> Interval:
    """The largest product with observations up to a bound, in its 2-norm."""
    return norm(abs(Interval.of(matrix)).sum(axis=1)) * bound


def _length(matrix: FloatArray) -> Interval:
    """The length of a vector of ones with as many numbers as there are columns."""
    return norm(np.ones(matrix.shape[1]))


def _largest_state(source: StatedPredictor, gain: Gain) -> Interval:
    """The largest z_t = F^t z_0 + Σ_s F^s L y_{t−s} at all times, in its 2-norm."""
    taken = _largest(gain.near, source.bound)
    taken += gain.off * _length(gain.near) * source.bound
    largest = gain.powers * (taken + norm(gain.first))
    demand(np.isfinite(largest.high), "states are too large")
    return largest
