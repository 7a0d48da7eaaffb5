"""How much faster all words are checked when they share their prefixes.

Both ways run in turn in one process, several times; the medians and their ratios are
printed. `python benchmarks/prefix_sharing.py` from the root of the repository; the
options are listed by `--help`.
"""

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton, IntArray
from krohn.compiler.compiled_network import compile_rnn, compile_transformer
from krohn.compiler.pipeline import Options
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FLOAT32
from krohn.verify.testing.counterexample import pair
from krohn.verify.testing.exhaustive import exhaustive

MODELS = [("C2", "counter"), ("C2", "scan"), ("Grid4", "scan"), ("C2", "rnn")]
PLAIN_BATCH = 1024
"""About where the plain forward pass is fastest on a CPU."""


def build(machine: Automaton, construction: str, length: int) -> Model:
    """A float32 network for words up to ``length``; an RNN has no longest word."""
    rnn = construction == "rnn"
    if rnn:
        network = compile_rnn(machine, FLOAT32).network
    else:
        options = Options(FLOAT32)
        network = compile_transformer(machine, length, construction, options).network
    header = {
        "architecture": network.architecture,
        "machine": {"letters": machine.letters, "states": machine.states},
        "claim": {"length": None if rnn else length},
    }
    tensors = {name: FLOAT32.round(array) for name, array in network.tensors.items()}
    return Model(ModelFile(header, tensors, FLOAT32))


def all_words(letters: int, length: int) -> IntArray:
    """``(lettersᵗ, t)``: every word of length t, in lexicographic order."""
    place = letters ** np.arange(length)[::-1]
    return np.arange(letters**length)[:, None] // place % letters


def forward_alone(model: Model, words: IntArray) -> None:
    """Logits for every word; nobody looks at them."""
    with torch.inference_mode():
        for first in range(0, len(words), PLAIN_BATCH):
            model(torch.from_numpy(words[first : first + PLAIN_BATCH]))


def forward_and_check(model: Model, machine: Automaton, words: IntArray) -> None:
    """Check the answers as the exhaustive simulation does, without sharing prefixes."""
    judge = pair(model, machine, words.shape[1])
    for first in range(0, len(words), PLAIN_BATCH):
        batch = words[first : first + PLAIN_BATCH]
        if (judge.good(batch) < words.shape[1]).any():
            raise SystemExit("a compiled network is wrong")


def shared(model: Model, machine: Automaton, length: int) -> None:
    """The exhaustive simulation."""
    if not exhaustive(model, machine, length).passed:
        raise SystemExit("a compiled network is wrong")


def seconds(work: Callable[[], None]) -> float:
    """How long it takes by the clock on the wall."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def measure(name: str, construction: str, length: int, repeats: int) -> list[float]:
    """Median seconds: forward passes alone, forward passes checked, prefixes shared."""
    machine = zoo.machine(name)
    model = build(machine, construction, length)
    words = all_words(len(machine.letters), length)
    ways: list[Callable[[], None]] = [
        lambda: forward_alone(model, words),
        lambda: forward_and_check(model, machine, words),
        lambda: shared(model, machine, length),
    ]
    taken = [[seconds(way) for way in ways] for _ in range(repeats + 1)]
    return [median(column) for column in zip(*taken[1:], strict=True)]


def main() -> None:
    """Measure every model and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--length", type=int, default=16)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    print(f"all words of length {given.length}; median of {given.repeats} runs")
    print("machine construction  forward   checked    shared  forward/  checked/shared")
    for name, construction in MODELS:
        alone, checked, tree = measure(name, construction, given.length, given.repeats)
        print(
            f"{name:7} {construction:12} {alone:7.3f} s {checked:7.3f} s {tree:7.3f} s"
            f" {alone / tree:8.1f}x {checked / tree:8.1f}x"
        )


if __name__ == "__main__":
    main()
