"""Linear RNNs of real vectors."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic

from krohn.architectures.linear_recurrence.statement import (
    BANDS,
    LinearRecurrence as Declared,
    StartedRecurrence,
)
from krohn.network.architecture import Kind, declare
from krohn.network.meaning.engine import Engine
from krohn.network.meaning.net import A, every_tensor


@dataclass(frozen=True)
class LinearRecurrence(Generic[A]):
    """h_t = W h_{t−1} + U x_t, y_t = C h_t + D x_t, from h_0, which is 0 if none is said.

    W is dense, or banded: each unit reads itself and its two neighbours, where the first
    and the last unit are neighbours. So modes are diagonal, pairs of complex modes blocks
    of two units, and registers pass what they hold to the next unit.

    Attributes:
        input: ``(inputs, n)``: U.
        output: ``(n, outputs)``: C.
        skip: ``(inputs, outputs)``: D.
        matrix: W ``(n, n)``, or its bands ``(n,)``, named as `BANDS`.
        start: ``(n,)``: h_0; None for 0.
    """

    input: A
    output: A
    skip: A
    matrix: tuple[A, ...]
    start: A | None = None

    @classmethod
    def of(cls, shape: Declared, tensors: Mapping[str, A]) -> "LinearRecurrence[A]":
        """The network of an architecture and its tensors.

        Raises:
            ModelFileError: If a tensor is not there, or there is another one.
        """
        names = BANDS if shape.form == "banded" else ("hidden.weight",)

        def make_recurrence(left: dict[str, A]) -> "LinearRecurrence[A]":
            matrix = tuple(map(left.pop, names))
            output, skip = left.pop("unembed.weight"), left.pop("skip.weight")
            started = isinstance(shape, StartedRecurrence)
            start = left.pop("hidden.start") if started else None
            return cls(left.pop("input.weight"), output, skip, matrix, start)

        return every_tensor(make_recurrence, tensors)


def after(
    o: Engine, net: LinearRecurrence[Any], x: Any, hidden: Any
) -> tuple[Any, Any]:
    """What is said after inputs ``(batch, inputs)``, and h ``(batch, n)`` then."""
    hidden = apply_matrix(o, net, hidden) + x @ net.input
    return hidden @ net.output + x @ net.skip, hidden


def apply_matrix(o: Engine, net: LinearRecurrence[Any], hidden: Any) -> Any:
    """``(batch, n)``: W h."""
    if len(net.matrix) == 1:
        return hidden @ net.matrix[0]
    own, before, after = net.matrix
    near = before * o.roll(hidden, 1) + after * o.roll(hidden, -1)
    return own * hidden + near


for _declared in (Declared, StartedRecurrence):
    declare(
        Kind(
            _declared,
            title="linear RNN",
            width_of=lambda linear: linear.hidden,
            runtime="krohn.architectures.linear_recurrence.engine:LinearRecurrence",
            recurrent=True,
            answers="reals",
        )
    )
