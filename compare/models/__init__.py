"""Networks that are trained: like GPT-2, LSTM, RNN, compiled ones."""

from krohn.compare.models.architecture import (
    Architecture,
    Derived,
    EfficientGpt,
    Gpt,
    Lstm,
    RecurrentLayer,
    Rnn,
    Specification,
)
from krohn.compare.models.compiled import Compiled, compiled
from krohn.compare.models.cost import Cost, Latency, cost, latencies
from krohn.compare.models.files import assemble, build, load, save
from krohn.compare.models.network import Inside, Network

__all__ = [
    "Architecture",
    "Compiled",
    "Cost",
    "Derived",
    "EfficientGpt",
    "Gpt",
    "Inside",
    "Latency",
    "Lstm",
    "Network",
    "RecurrentLayer",
    "Rnn",
    "Specification",
    "assemble",
    "build",
    "compiled",
    "cost",
    "latencies",
    "load",
    "save",
]
