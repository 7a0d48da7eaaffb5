"""How many of 300 words of each strategy a network gets wrong.

    python benchmarks/strategies.py

The Transformer and the LSTM of examples/independent.py, trained on random words of 24
letters of the flip-flop, on words of 100; and a compiled counter of 64 letters whose sum is
off by 1 in 110.
"""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import numpy as np
import torch
from report import Row, Table, parser, publish

import krohn
from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.verify.testing.counterexample import Simulator, pair
from krohn.verify.testing.examination import black_box
from krohn.verify.testing.strategies import STRATEGIES

WORDS, FAR = 300, 100
EXAMPLE = Path(__file__).parents[1] / "examples" / "independent.py"


def example() -> ModuleType:
    """The example as a module."""
    spec = spec_from_file_location("independent", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def subjects() -> list[tuple[str, Simulator, Automaton, int]]:
    """The name of each network, the network, its machine, and a length."""
    found: list[tuple[str, Simulator, Automaton, int]] = []
    trained = example()
    for kind in (trained.Transformer, trained.Lstm):
        torch.manual_seed(0)
        network = kind()
        trained.train(network, np.random.default_rng(0))
        box = black_box(network.eval(), trained.MACHINE)
        found.append((kind.__name__, box, trained.MACHINE, FAR))
    file = krohn.compile("C2", 64, "counter").file
    out = "blocks.0.attention.out"
    tensors = {**file.tensors, out: file.tensors[out] * (1 + 1 / 110)}
    counter = Model(ModelFile(file.header, tensors, file.precision))
    return [*found, ("counter", counter, zoo.machine("C2"), 64)]


def row(name: str, networks: list[tuple[str, Simulator, Automaton, int]]) -> Row:
    """How many words of a strategy each network gets wrong; none if it has no words."""
    found: Row = {"strategy": name}
    for title, model, machine, length in networks:
        rng = np.random.default_rng(0)
        words = STRATEGIES[name](rng, machine, WORDS, length)
        good = pair(model, machine, length).good(words) if len(words) else None
        found[title] = None if good is None else int((good < length).sum())
    return found


def main() -> None:
    """Count, and print a table."""
    options = parser(__doc__).parse_args()
    torch.set_num_threads(1)
    networks = subjects()
    rows = [row(name, networks) for name in STRATEGIES]
    publish([Table(f"wrong words of {WORDS}, by strategy", rows)], options)


if __name__ == "__main__":
    main()
