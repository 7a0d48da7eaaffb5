"""LSTMs, as torch has them."""

from collections.abc import Mapping
from typing import Any

from krohn.network.architecture import Functions, Kind, Step, declare
from krohn.program.architectures.lstm import Lstm


def halves(t: Mapping[str, Any], letter: Any, h: Any) -> tuple[Any, Any]:
    """The contributions of the letter and of the past to all gates."""
    inputs, weight = (t[f"recurrent.weight_{part}_l0"].T for part in ("ih", "hh"))
    told = t["embed.token"][letter] @ inputs if "embed.token" in t else inputs[letter]
    return told + t["recurrent.bias_ih_l0"], h @ weight + t["recurrent.bias_hh_l0"]


def _after(
    t: Mapping[str, Any], letter: Any, held: tuple[Any, ...], f: Functions
) -> tuple[Any, ...]:
    letters, past = halves(t, letter, held[0])
    i, keep, new, o = f.split(letters + past, 4)
    cell = f.sigmoid(keep) * held[1] + f.sigmoid(i) * f.tanh(new)
    return f.sigmoid(o) * f.tanh(cell), cell


KIND = declare(
    Kind(
        Lstm,
        title="LSTM",
        width_of=lambda lstm: lstm.hidden,
        runtime="krohn.network.recurrent:GatedRecurrent",
        step=Step(Lstm.starts, _after),
        recurrent=True,
    )
)
