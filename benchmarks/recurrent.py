"""Recurrent networks: sizes, and what is proved and measured of them.

python benchmarks/recurrent.py [--sources]
"""

import argparse
from typing import Any, get_args

import numpy as np
import torch

import krohn
from krohn.algebra.errors import KrohnError
from krohn.compilation import Architecture
from krohn.network.model import Model
from krohn.sources import hidden_markov, linear_systems
from krohn.sources.hidden_markov import HiddenMarkovModel

MACHINES = ("C2", "FlipFlop", "S3", "Cyclic-DET5,5@3", "Dyck4,2", "S4")
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


def machines() -> None:
    """Print the table of docs/constructions.md."""
    print("| machine | network | units | parameters | proved in | margin | s |")
    print("|---|---|---|---|---|---|---|")
    for name in MACHINES:
        for arch in get_args(Architecture)[1:]:
            built = {}
            for dtype in FORMATS:
                try:
                    built[dtype] = krohn.compile(name, arch=arch, dtype=dtype)
                except KrohnError:
                    continue
            model = built["float32"]
            assert model.proof is not None
            size, margin = model.summary(), model.proof.evidence[-1]["margin"]
            print(
                f"| `{name}` | {arch.upper()} | {size['d_model']} | "
                f"{size['parameters']:,} | {', '.join(built)} | {margin:.3g} | "
                f"{model.proof.seconds:.2f} |"
            )


def sources() -> None:
    """Print the table of docs/architectures/recurrent.md."""
    print(
        "| source | network | construction | units | parameters | format | proved for "
        "words of | error | measured |"
    )
    print("|" + "---|" * 9)
    for name, how in SOURCES:
        model = krohn.compile(name, **how)
        size, header = model.summary(), model.file.header
        off = measured(name, Model(model.file), "source" not in header)
        longest = (
            f"up to {size['length']:,} letters" if size["length"] else "any length"
        )
        print(
            f"| `{name}` | {how['arch'].upper()} | {size['construction']} | "
            f"{size['d_model']} | {size['parameters']:,} | {size['dtype']} | {longest} | "
            f"{size['error'] or 0:.2g} | {off:.2g} |"
        )


def measured(name: str, model: Model, classes: bool) -> float:
    """The largest error; of classes 1 if one is wrong."""
    random = np.random.default_rng(0)
    source = hidden_markov.named(name) or linear_systems.named(name)
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
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sources", action="store_true", help="models and systems")
    torch.set_num_threads(1)
    (sources if parser.parse_args().sources else machines)()


if __name__ == "__main__":
    main()
