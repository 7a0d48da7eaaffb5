"""Networks that are trained: GPT-2 with several kinds of positions, LSTM, compiled ones."""

from compare.models.architecture import (
    Architecture,
    Derived,
    Gpt,
    Lstm,
    Specification,
)
from compare.models.building import assemble, build
from compare.models.compiled import Compiled, compiled
from compare.models.network import Inside, Network

__all__ = [
    "Architecture",
    "Compiled",
    "Derived",
    "Gpt",
    "Inside",
    "Lstm",
    "Network",
    "Specification",
    "assemble",
    "build",
    "compiled",
]
