"""Networks that are trained: like GPT-2, LSTM, RNN, compiled ones."""

from compare.models.architecture import (
    Architecture,
    Derived,
    EfficientGpt,
    Gpt,
    Lstm,
    Rnn,
    Specification,
)
from compare.models.building import assemble, build
from compare.models.compiled import Compiled, compiled
from compare.models.cost import Cost, cost
from compare.models.files import load, save
from compare.models.latency import Latency, latencies
from compare.models.network import Inside, Network

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
