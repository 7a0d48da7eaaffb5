"""Pruned random networks: units, errors of masks and proofs (docs/architectures/pruned.md).

python benchmarks/pruning.py
"""

from collections.abc import Mapping

import numpy as np
from report import Row, Table, each, parser, publish

import krohn
from krohn.architectures.pruned.build import (
    nearest_subset,
    prune,
)
from krohn.machines import machine_of
from krohn.network.precision import PRECISIONS

SUMS = "sums of random products, nearest to a target in [-1, 1]"
NETWORKS = "machines in random networks, float32, seed 0"
COUNTS = (6, 10, 12, 16, 20, 24, 28)
MACHINES = ("C2", "FlipFlop", "Memory3", "Memory5", "C3", "C5", "S3")
DRAWS = 1000


def sums(count: int) -> Row:
    """The row of so many products."""
    generator = np.random.default_rng(count)
    errors = []
    for _ in range(DRAWS):
        numbers = generator.uniform(-1, 1, count) * generator.uniform(-1, 1, count)
        target = float(generator.uniform(-1, 1))
        errors.append(abs(numbers[nearest_subset(numbers, target)].sum() - target))
    return {
        "products": count,
        "within 1e-2": f"{np.mean(np.array(errors) <= 1e-2):.3f}",
        "median error": f"{np.median(errors):.1e}",
        "99 % are within": f"{np.quantile(errors, 0.99):.1e}",
    }


def network(name: str) -> Row:
    """The row of a machine."""
    model = krohn.compile(name, arch="rnn", construction="pruned")
    told = model.summary()["random"]
    made = prune(machine_of(name), PRECISIONS["float32"], told["seed"], told["units"])
    assert model.proof is not None
    (shown,) = model.proof.evidence
    return {
        "machine": name,
        "hidden": model.summary()["d_model"],
        "units an input": told["units"],
        "error W": f"{made.hidden.off:.1e}",
        "error U": f"{made.input.off:.1e}",
        "error read-out": f"{made.unembed.off:.1e}",
        "random weights": told["weights"],
        "kept": told["kept"],
        "boxes": shown["pairs"],
        "margin of 0.25": f"{shown['margin']:.4f}",
        "verdict": model.summary()["verdict"],
    }


def again(printed: Mapping[str, str]) -> Row:
    """A row of the first table, made anew."""
    return sums(int(printed["products"]))


AGAIN = {SUMS: again}


def main() -> None:
    """Find the masks, prove, and print the tables."""
    chosen = parser(__doc__).parse_args()
    tables = [
        Table(SUMS, [sums(count) for count in COUNTS], f"{DRAWS:,} draws each."),
        Table(NETWORKS, each(network, list(MACHINES))),
    ]
    publish(tables, chosen)


if __name__ == "__main__":
    main()
