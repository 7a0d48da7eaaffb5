"""LSTMs, as torch has them."""

from typing import Any

from krohn.architectures.gated.statement_lstm import Lstm
from krohn.network.architecture import Kind, declare
from krohn.network.meaning.engine import Engine
from krohn.network.meaning.step import ByName, Step


def halves(o: Engine, t: ByName, letter: Any, h: Any) -> tuple[Any, Any]:
    """The contributions of the letter and of the past to all gates."""
    inputs, weight = (t[f"recurrent.weight_{part}_l0"].T for part in ("ih", "hh"))
    embedded = "embed.token" in t
    letter_part = o.gather(t["embed.token"] if embedded else inputs, letter)
    letter_part = letter_part @ inputs if embedded else letter_part
    return letter_part + t["recurrent.bias_ih_l0"], h @ weight + t[
        "recurrent.bias_hh_l0"
    ]


def _after(
    o: Engine, t: ByName, letter: Any, held: tuple[Any, ...]
) -> tuple[Any, tuple[Any, ...]]:
    letters, past = halves(o, t, letter, held[0])
    write, keep, new, show = o.parts(letters + past, 4)
    cell = o.sigmoid(keep) * held[1] + o.sigmoid(write) * o.tanh(new)
    h = o.sigmoid(show) * o.tanh(cell)
    return h, (h, cell)


KIND = declare(
    Kind(
        Lstm,
        title="LSTM",
        width_of=lambda lstm: lstm.hidden,
        runtime="krohn.network.recurrent:GatedRecurrent",
        step_of=lambda lstm: Step(lstm.starts, _after),
        recurrent=True,
    )
)
