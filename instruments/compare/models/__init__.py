"""Networks that are trained: like GPT-2, LSTM, RNN, compiled ones."""

from krohn.instruments.compare.models.architecture import (
    Architecture,
    Derived,
    EfficientGpt,
    Gpt,
    Lstm,
    RecurrentLayer,
    Rnn,
    Specification,
)
from krohn.instruments.compare.models.compiled import (
    Compiled,
    wrap_compiled,
)
from krohn.instruments.compare.models.cost import (
    Cost,
    Latency,
    cost,
    latencies,
)
from krohn.instruments.compare.models.files import (
    assemble,
    build,
    load,
    save,
)
from krohn.instruments.compare.models.network import (
    Inside,
    Network,
)

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
    "cost",
    "latencies",
    "load",
    "save",
    "wrap_compiled",
]
