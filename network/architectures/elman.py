"""Elman networks with hyperbolic tangents, as torch has them."""

from collections.abc import Mapping
from typing import Any

from krohn.network.architecture import Kind, Step, declare
from krohn.network.architectures.lstm import halves
from krohn.network.meaning.engine import Engine
from krohn.program.architectures.elman import Elman


def _after(
    t: Mapping[str, Any], letter: Any, held: tuple[Any, ...], o: Engine
) -> tuple[Any, ...]:
    letters, past = halves(o, t, letter, held[0])
    return (o.tanh(letters + past),)


KIND = declare(
    Kind(
        Elman,
        title="Elman network",
        width_of=lambda elman: elman.hidden,
        runtime="krohn.network.recurrent:GatedRecurrent",
        step=Step(Elman.starts, _after),
        recurrent=True,
    )
)
