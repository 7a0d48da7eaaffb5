"""Two million steps of compiled networks, run in several ways that must agree.

Each way reads the same letters: 64 streams of N/64, side by side or one after another, or
one stream of N. The states after every letter are compared with the machine's, and their
SHA-256 is printed: it is the same for all ways with the same streams, or a step differs.
Whole segments are plain forward passes, eager or compiled by torch; steps go on from
keys and values, letter by letter. Generators sample words from their own law, with the
same seeded numbers in every way; every letter is held against the machine's law.
`python benchmarks/streams.py` from the root of the repository; `--letters` for fewer.
"""

import argparse
import hashlib
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import krohn
from krohn.algebra.automaton import IntArray
from krohn.algebra.brackets import Stack, distribution
from krohn.algebra.formats import json_format
from krohn.architectures.generator.build import Freedom
from krohn.architectures.generator.engine import Generator
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FloatArray

STREAMS = 64
PIECE = 4096
STEPS_ALONE = 19_968
"""One letter at a time and one stream: not as many, it takes too long."""
GENERATOR = "Dyck4,2"
MODELS = [
    ("S5", "rnn", None, "float32"),
    ("S5", "rnn", None, "bfloat16"),
    ("S5", "scan", 100, "float32"),
    ("S5", "scan", 100, "bfloat16"),
    ("C5", "counter", 100, "float32"),
    ("FlipFlop", "memory", 100, "bfloat16"),
]


@dataclass(frozen=True)
class Way:
    """How letters are read: how many streams, of which how many side by side, and how."""

    batch: int
    threads: int = 1
    compiled: bool = False
    steps: bool = False
    streams: int = STREAMS

    def __str__(self) -> str:
        """As the table has it."""
        run = "compiled" if self.compiled else "eager"
        how = "letter by letter" if self.steps else "whole segments"
        return f"{run} | {how} | {self.streams} | {self.batch} | {self.threads}"


WAYS = [
    Way(1),
    Way(1, threads=2),
    Way(1, compiled=True),
    Way(1, steps=True),
    Way(1, streams=1),
    Way(STREAMS),
    Way(STREAMS, threads=2),
    Way(STREAMS, compiled=True),
    Way(STREAMS, steps=True),
]


Measured = tuple[int, int, str, float]
Measure = Callable[[ModelFile, Way, int], Measured]


def compiled(name: str, construction: str, length: int | None, dtype: str) -> ModelFile:
    """A proved network."""
    if construction == "rnn":
        return krohn.compile(name, arch="rnn", dtype=dtype).file
    return krohn.compile(name, length, construction, dtype=dtype).file


def states(model: Model, letters: IntArray, steps: bool) -> IntArray:
    """The answers of the network after every letter."""
    running = krohn.stream(model, len(letters))
    if steps:
        told = [running.step(letters[:, t])[:, None] for t in range(letters.shape[1])]
    else:
        pieces = range(0, letters.shape[1], PIECE)
        told = [running.feed(letters[:, t : t + PIECE]) for t in pieces]
    return np.concatenate(told, axis=1)


def measure(file: ModelFile, way: Way, letters: int) -> Measured:
    """Letters, wrong states, the digest of all states, and letters per second."""
    torch.set_num_threads(way.threads)
    model = Model(file)
    if way.compiled:
        model.network.forward = torch.compile(model.network.forward)  # type: ignore[method-assign]
    machine = json_format.from_object(file.header["machine"])
    shape = (way.streams, letters // way.streams)
    word = np.random.default_rng(0).integers(len(machine.letters), size=shape)
    if way.steps and way.batch == 1:
        word = word[:, : STEPS_ALONE // way.streams]
    start = time.perf_counter()
    parts = range(0, way.streams, way.batch)
    told = np.concatenate(
        [states(model, word[i : i + way.batch], way.steps) for i in parts]
    )
    seconds = time.perf_counter() - start
    wrong = int((told != machine.semiautomaton.trace(word, machine.start)).sum())
    digest = hashlib.sha256(told.astype(np.int32).tobytes()).hexdigest()
    return told.size, wrong, digest[:16], told.size / seconds


def measure_generator(file: ModelFile, way: Way, letters: int) -> Measured:
    """Measure a generator: wrong are letters whose laws are not the machine's."""
    torch.set_num_threads(way.threads)
    network = Generator(file)
    words = letters // network.length // STREAMS * STREAMS
    start = time.perf_counter()
    drawn, laws = [], []
    with torch.inference_mode():
        for first in range(0, words, way.batch):
            word, law = generated(network, range(first, first + way.batch))
            drawn.append(word)
            laws.append(law)
    seconds = time.perf_counter() - start
    told = np.concatenate(drawn)
    digest = hashlib.sha256(told.astype(np.int32).tobytes()).hexdigest()
    wrong = unlawful(file, told, np.concatenate(laws))
    return told.size, wrong, digest[:16], told.size / seconds


def generated(network: Generator, words: range) -> tuple[IntArray, FloatArray]:
    """Words ``(words, T)`` drawn from a network's own laws ``(words, T, letters)``.

    A number is the middle of one of 2^16 equal parts, so that no rounding of laws with
    small denominators moves it from one letter to another.
    """
    seeds = [np.random.default_rng((0, word)) for word in words]
    parts = np.stack([seed.integers(2**16, size=network.length) for seed in seeds])
    chance = torch.from_numpy((parts + 0.5) / 2**16)
    tokens = torch.zeros((len(words), 0), dtype=torch.int64)
    laws = []
    for t in range(network.length):
        law = network(tokens)[:, -1].double()
        letter = (law.cumsum(dim=1) < chance[:, t, None]).sum(dim=1)
        tokens = torch.cat([tokens, letter[:, None]], dim=1)
        laws.append(law)
    return tokens.numpy(), torch.stack(laws, dim=1).numpy()


def unlawful(file: ModelFile, words: IntArray, laws: FloatArray) -> int:
    """How many letters were drawn from another law than the machine's."""
    claim = file.header["claim"]
    machine = json_format.from_object(file.header["machine"])
    right = distribution(machine, Fraction(claim["opening"]))
    known: dict[Stack, FloatArray] = {}
    wrong = 0
    for word, said in zip(words.tolist(), laws, strict=True):
        # Stacks before each letter; a word that is not nested raises here.
        for stack, law in zip(right.stacks(word), said, strict=False):
            if stack not in known:
                known[stack] = np.array([float(p) for p in right.law(stack)])
            wrong += bool(np.abs(law - known[stack]).max() > claim["tolerance"])
    return wrong


def report(
    title: str, file: ModelFile, ways: list[Way], letters: int, how: Measure
) -> None:
    """A row for each way."""
    for way in ways:
        count, wrong, digest, rate = how(file, way, letters)
        print(
            f"| {title} | {way} | {count:,} | {wrong} | {digest} | {rate:,.0f} |",
            flush=True,
        )


def main() -> None:
    """Measure every network and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--letters", type=int, default=2_000_000)
    parser.add_argument("--only", default="", help="networks whose title has this")
    parser.add_argument("--eager", action="store_true", help="without torch.compile")
    given = parser.parse_args()
    print(
        "| network | run | how | streams | batch | threads | letters | wrong | sha256 "
        "| letters/s |"
    )
    print("| --- " * 10 + "|")
    ways = [way for way in WAYS if not (given.eager and way.compiled)]
    for name, construction, length, dtype in MODELS:
        title = f"{name} {construction} {length or 'any length'} {dtype}"
        if given.only in title:
            file = compiled(name, construction, length, dtype)
            report(title, file, ways, given.letters, measure)
    title = f"{GENERATOR} balanced 16 float32"
    if given.only in title:
        free = Freedom(pattern="uniform")
        file = krohn.compile_generator(GENERATOR, 16, free).file
        some = [w for w in ways if not (w.steps or w.compiled) and w.streams > 1]
        report(title, file, some, given.letters, measure_generator)


if __name__ == "__main__":
    main()
