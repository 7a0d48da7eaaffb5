"""Elman networks with ReLUs."""

from typing import Any

from krohn.architectures.recurrent.statement import Rnn
from krohn.network.architecture import Kind, declare
from krohn.network.meaning.engine import Engine
from krohn.network.meaning.step import ByName, Step


def _after(
    o: Engine, t: ByName, letter: Any, held: tuple[Any, ...]
) -> tuple[Any, tuple[Any, ...]]:
    before = held[0] @ t["hidden.weight"] + t["hidden.bias"]
    h = o.relu(before + o.gather(t["input.weight"], letter))
    return h, (h,)


KIND = declare(
    Kind(
        Rnn,
        title="RNN",
        width_of=lambda rnn: rnn.hidden,
        runtime="krohn.network.recurrent:Rnn",
        step_of=lambda _: Step(("hidden.start",), _after),
        sparse_of=lambda rnn: rnn.sparse,
        recurrent=True,
    )
)


def hidden_axis(name: str) -> int | None:
    """Which axis of a sparse matrix counts hidden units; None if neither does."""
    if name in ("hidden.left", "unembed.weight", "unembed.left"):
        return 0
    return 1 if name in ("hidden.right", "input.weight", "input.right") else None
