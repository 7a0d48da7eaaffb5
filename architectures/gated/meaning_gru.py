"""GRUs, as torch has them."""

from typing import Any

from krohn.architectures.gated.meaning_lstm import halves
from krohn.architectures.gated.statement_gru import Gru
from krohn.network.architecture import Kind, declare
from krohn.network.meaning.engine import Engine
from krohn.network.meaning.step import ByName, Step


def _after(
    o: Engine, t: ByName, letter: Any, held: tuple[Any, ...]
) -> tuple[Any, tuple[Any, ...]]:
    (h,) = held
    letters, past = (o.parts(half, 3) for half in halves(o, t, letter, h))
    r, z = (o.sigmoid(letters[n] + past[n]) for n in (0, 1))
    new = o.tanh(letters[2] + r * past[2])
    h = new + z * (h - new)
    return h, (h,)


KIND = declare(
    Kind(
        Gru,
        title="GRU",
        width_of=lambda gru: gru.hidden,
        runtime="krohn.network.recurrent:GatedRecurrent",
        step_of=lambda gru: Step(gru.starts, _after),
        recurrent=True,
    )
)
