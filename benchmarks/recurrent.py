"""Recurrent networks: sizes, and what is proved and measured of them.

python benchmarks/recurrent.py [--sources]
"""

from contextlib import suppress
from typing import Any

import numpy as np
import torch
from report import Row, Table, parser, publish

import krohn
from krohn.algebra.errors import KrohnError
from krohn.kinds.hidden_markov import source as hidden_markov
from krohn.kinds.hidden_markov.source import HiddenMarkovModel
from krohn.kinds.linear_systems import source as linear_systems
from krohn.network.model import Model

MACHINES = ("C2", "FlipFlop", "S3", "Cyclic-DET5,5@3", "Dyck4,2", "S4")
ARCHITECTURES: tuple[str, ...] = ("rnn", "lstm", "gru")
FORMATS = ("float64", "float32", "float16", "bfloat16")
LENGTH, WORDS = 2000, 64
SOURCES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("Cyclic-DET5,5@3", {"arch": "rnn", "dtype": "float16"}),
    ("Cyclic-DET5,5@3", {"arch": "rnn", "dtype": "float16", "construction": "gated"}),
    ("Cyclic-DET5,5@3", {"arch": "lstm", "dtype": "float32"}),
    ("Cyclic-DET5,5@3", {"arch": "gru", "dtype": "float32"}),
    ("Cyclic-HARD5,5@3", {"arch": "rnn", "dtype": "float16"}),
    ("RRXOR", {"arch": "rnn", "dtype": "float16"}),
    ("RRXOR", {"arch": "rnn", "dtype": "float32"}),
    ("GoldenMean", {"arch": "rnn", "dtype": "float16"}),
    *(
        (name, {"arch": "rnn", "dtype": dtype, "length": LENGTH})
        for name in ("Cyclic-RND5,5@3", "MatMul5,5@3")
        for dtype in ("float64", "float32")
    ),
)


def machines() -> Table:
    """Networks of machines (docs/constructions.md)."""
    rows = [_machine(n, a) for n in MACHINES for a in ARCHITECTURES]
    return Table("Recurrent networks of machines", rows)


def _machine(name: str, arch: str) -> Row:
    built = {}
    for dtype in FORMATS:
        with suppress(KrohnError):
            built[dtype] = krohn.compile(name, arch=arch, dtype=dtype)
    model = built["float32"]
    assert model.proof is not None
    size = model.summary()
    return {
        "machine": name,
        "network": arch.upper(),
        "units": size["d_model"],
        "parameters": size["parameters"],
        "proved in": ", ".join(built),
        "margin": model.proof.evidence[-1]["margin"],
    }


def sources() -> Table:
    """Networks of models and linear systems (docs/architectures/recurrent.md)."""
    return Table("Recurrent networks of models", [_source(n, h) for n, h in SOURCES])


def _source(name: str, how: dict[str, Any]) -> Row:
    model = krohn.compile(name, **how)
    size, header = model.summary(), model.file.header
    length = size["length"]
    return {
        "source": name,
        "network": how["arch"].upper(),
        "construction": size["construction"],
        "units": size["d_model"],
        "parameters": size["parameters"],
        "format": size["dtype"],
        "proved for words of": f"up to {length:,} letters" if length else "any length",
        "error": size["error"] or 0,
        "measured": measured(name, Model(model.file), "source" not in header),
    }


def measured(name: str, model: Model, classes: bool) -> float:
    """The largest error; of classes 1 if one is wrong."""
    random = np.random.default_rng(0)
    source = hidden_markov.find_by_name(name) or linear_systems.find_by_name(name)
    assert source is not None
    if isinstance(source, HiddenMarkovModel):
        words = source.sample(WORDS, LENGTH, random)[0]
        right = source.filter(words)[0]
    else:
        words = random.integers(len(source.letters), size=(WORDS, LENGTH))
        right = source.run(words)
    with torch.no_grad():
        said = model(torch.from_numpy(words))
    if classes:
        names = krohn.read(name).states
        order = [names.index(str(i + 1)) for i in range(len(names))]
        chosen = said.argmax(dim=-1).numpy()
        return float((chosen != np.array(order)[right.argmax(axis=2)]).any())
    return float(np.abs(said.double().numpy() - right).max())


def main() -> None:
    """Print one of the tables."""
    options = parser(__doc__)
    options.add_argument("--sources", action="store_true", help="models and systems")
    chosen = options.parse_args()
    torch.set_num_threads(1)
    publish([sources() if chosen.sources else machines()], chosen)


if __name__ == "__main__":
    main()
