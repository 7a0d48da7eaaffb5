"""Elman networks with hyperbolic tangents, as torch has them."""

from typing import Any

from krohn.architectures.gated.meaning_lstm import halves
from krohn.architectures.gated.statement_elman import Elman
from krohn.network.architecture import Kind, declare
from krohn.network.meaning.engine import Engine
from krohn.network.meaning.step import ByName, Step


def _after(
    o: Engine, t: ByName, letter: Any, held: tuple[Any, ...]
) -> tuple[Any, tuple[Any, ...]]:
    letters, past = halves(o, t, letter, held[0])
    h = o.tanh(letters + past)
    return h, (h,)


KIND = declare(
    Kind(
        Elman,
        title="Elman network",
        width_of=lambda elman: elman.hidden,
        runtime="krohn.network.recurrent:GatedRecurrent",
        step_of=lambda elman: Step(elman.starts, _after),
        recurrent=True,
    )
)
