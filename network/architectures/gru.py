"""GRUs, as torch has them."""

from collections.abc import Mapping
from typing import Any

from krohn.network.architecture import Kind, Step, declare
from krohn.network.architectures.lstm import halves
from krohn.network.meaning.engine import Engine
from krohn.program.architectures.gru import Gru


def _after(
    t: Mapping[str, Any], letter: Any, held: tuple[Any, ...], o: Engine
) -> tuple[Any, ...]:
    (h,) = held
    letters, past = (o.parts(half, 3) for half in halves(o, t, letter, h))
    r, z = (o.sigmoid(letters[n] + past[n]) for n in (0, 1))
    new = o.tanh(letters[2] + r * past[2])
    return (new + z * (h - new),)


KIND = declare(
    Kind(
        Gru,
        title="GRU",
        width_of=lambda gru: gru.hidden,
        runtime="krohn.network.recurrent:GatedRecurrent",
        step=Step(Gru.starts, _after),
        recurrent=True,
    )
)
