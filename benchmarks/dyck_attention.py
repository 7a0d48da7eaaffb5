"""Attention does not say the function: networks of one law of nested brackets.

Three tables. *Variation*: families of networks with random scores, all with the same exact
law; how much their attention differs, beside random patterns and beside what the thesis
measured on trained networks. *Length*: the longest prefix that is certified, in powers of
two, by number format. *Balance*: scores of opening brackets are moved at random, so that
matched pairs do not cancel any more; the balance violation β, the distance that
LayerNorm keeps between two stacks, and how often the top bracket is still known.
"""

import argparse
from dataclasses import dataclass, replace

import numpy as np
from report import Row, Table, each, parser, publish

from krohn.algebra.errors import KrohnError
from krohn.architectures.generator.build import Freedom
from krohn.architectures.generator.commands import compile_generator
from krohn.instruments.compare.measures.attention_variation import (
    Reader,
    baseline,
    function_error,
    mean_variation,
    on_top,
    probe,
    reader,
)
from krohn.instruments.limits.balance import (
    balance,
    pumping_distances,
)
from krohn.network.modelfile import ModelFile

DTYPES = ("float64", "float32", "float16", "bfloat16")
SHOWN = (400, 501)
"""The lengths of the thesis's test of generalisation."""
LONGEST = 2**24


@dataclass(frozen=True)
class Family:
    """Networks that differ in nothing but the seed.

    Attributes:
        machine: Whose words are continued.
        free: What they have in common.
        count: How many.
    """

    machine: str
    free: Freedom
    count: int


def file_of(machine: str, free: Freedom, length: int) -> ModelFile:
    """A generator in float64, proved."""
    return compile_generator(machine, length, free, dtype="float64").file


def vary(family: Family) -> Row:
    """How much the attention of a family varies, and its function."""
    frees = [replace(family.free, seed=seed) for seed in range(family.count)]
    readers = [reader(file_of(family.machine, f, SHOWN[1])) for f in frees]
    law = readers[0].law
    word = probe(law)
    patterns = [r.attention(word) for r in readers]
    rng = np.random.default_rng(0)
    words = law.sample(rng, 10, int(rng.integers(*SHOWN)))
    return {
        "machine": family.machine,
        "attention": family.free.pattern,
        "scale": family.free.scale,
        "networks": family.count,
        "variation": mean_variation(patterns),
        "random patterns": float(baseline(len(word) + 1)),
        "weight on the top bracket": float(
            np.mean([on_top(p, law, word) for p in patterns])
        ),
        "largest β": max(balance(r.file, r.machine).beta for r in readers),
        "difference of laws": function_error(readers, words),
    }


def longest(family: Family) -> Row:
    """The longest certified prefix for every number format, a power of two."""
    row: Row = {
        "machine": family.machine,
        "attention": family.free.pattern,
        "depth": family.free.depth,
        "scale": family.free.scale,
    }
    for dtype in DTYPES:
        length = 0
        while length < LONGEST and _certified(family, dtype, max(1, 2 * length)):
            length = max(1, 2 * length)
        row[dtype] = length
    return row


def _certified(family: Family, dtype: str, length: int) -> bool:
    try:
        compile_generator(family.machine, length, family.free, dtype=dtype)
    except KrohnError:
        return False
    return True


def unbalanced(delta: float) -> Row:
    """The effect of moving the scores of opening brackets by ``delta``."""
    built = file_of("Dyck4,2", Freedom("random", seed=3, scale=1.0), 1_000)
    name = "layers.0.attention.query"
    query = built.tensors[name].copy()
    noise = np.random.default_rng(0).standard_normal((8, 8))
    query[8:16, :8] += delta * noise
    file = replace(built, tensors={**built.tensors, name: query})
    found = reader(file)
    measured = balance(file, found.machine)
    gaps = pumping_distances(file, found.machine, [0, 100, 10_000])
    row: Row = {"δ": delta, "β": measured.beta, "largest S/P": measured.worst}
    row |= {f"gap, {n} pairs": g for n, g in zip((0, 100, 10_000), gaps, strict=True)}
    for length in (28, 100, 450, 1_000):
        row[f"top known at {length}"] = top_known(found, length, 60)
    return row


def top_known(found: Reader, length: int, count: int) -> float:
    """How often the top bracket is known at the last letter that closes and leaves one."""
    law = found.law
    words = law.sample(np.random.default_rng(1), count, length)
    closing = [a for a, kind in enumerate(law.brackets.closes) if kind is not None]
    right = []
    for word in words:
        stacks, laws = law.stacks(word.tolist()), found.laws(word[None])[0]
        ends = [t for t, a in enumerate(word) if a in closing and stacks[t + 1]]
        if ends:
            said = closing[int(laws[ends[-1], closing].argmax())]
            right.append(law.brackets.closes[said] == stacks[ends[-1] + 1][-1])
    return float(np.mean(right))


def main() -> None:
    """Measure, and print the tables."""
    found = parser(__doc__)
    found.add_argument("--networks", type=int, default=40, help="in each family")
    options: argparse.Namespace = found.parse_args()
    scales = [("random", s) for s in (0.3, 1.0, 2.0)] + [("symmetric", 1.0)]
    families = [
        Family("Dyck4,2", Freedom(pattern, scale=scale), options.networks)
        for pattern, scale in scales
    ]
    lengths = [
        Family("Dyck4,2", Freedom(pattern, depth, seed=3, scale=scale), 1)
        for pattern, depth, scale in (
            *(("uniform", "given", 0.0), ("uniform", "attended", 0.0)),
            *(("symmetric", "given", s) for s in (0.25, 1.0)),
            *(("random", "given", s) for s in (0.25, 1.0, 2.0)),
        )
    ]
    tables = [
        Table("attention variation", each(vary, families)),
        Table("longest prefix certified", each(longest, lengths)),
        Table("without balance", each(unbalanced, [0.0, 1e-3, 1e-2, 5e-2, 0.2])),
    ]
    publish(tables, options)


if __name__ == "__main__":
    main()
