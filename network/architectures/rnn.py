"""Elman networks with ReLUs."""

from collections.abc import Mapping
from typing import Any

from krohn.network.architecture import Kind, Step, declare
from krohn.network.meaning.engine import Engine
from krohn.program.architectures.rnn import Rnn


def _after(
    t: Mapping[str, Any], letter: Any, held: tuple[Any, ...], o: Engine
) -> tuple[Any, ...]:
    before = held[0] @ t["hidden.weight"] + t["hidden.bias"]
    return (o.relu(before + o.gather(t["input.weight"], letter)),)


KIND = declare(
    Kind(
        Rnn,
        title="RNN",
        width_of=lambda rnn: rnn.hidden,
        runtime="krohn.network.recurrent:Rnn",
        step=Step(("hidden.start",), _after),
        sparse_of=lambda rnn: rnn.sparse,
        recurrent=True,
    )
)


def hidden_axis(name: str) -> int | None:
    """Which axis of a sparse matrix counts hidden units; None if neither does."""
    if name in ("hidden.left", "unembed.weight", "unembed.left"):
        return 0
    return 1 if name in ("hidden.right", "input.weight", "input.right") else None
