"""Pruned random networks: units, errors of masks and proofs (docs/architectures/pruned.md).

python benchmarks/pruning.py
python benchmarks/pruning.py --table transformers
"""

from collections.abc import Mapping
from os import getpid
from pathlib import Path
from tempfile import gettempdir

import numpy as np
from report import Row, Table, each, parser, publish

import krohn
from krohn.architectures.pruned.build import prune
from krohn.architectures.pruned.build_masks import Choice, nearest_subset
from krohn.architectures.pruned.build_transformer import REACHED, ScaledNetwork
from krohn.compile_options import CompileOptions
from krohn.machine_compilation import best_network
from krohn.machines import machine_of
from krohn.network.precision import PRECISIONS

SUMS = "sums of random products, nearest to a target in [-1, 1]"
NETWORKS = "machines in random networks, float32, seed 0"
TRANSFORMERS = "machines in masked random Transformers, seed 0"
ASKED = (
    *((name, 16, "float32") for name in ("FlipFlop", "C2", "Memory3", "Memory5")),
    *((name, 16, "float32") for name in ("C3", "C5", "S3", "D4", "A4")),
    *((name, 64, "float32") for name in ("FlipFlop", "C2", "Memory3")),
    *((name, 16, "float64") for name in ("FlipFlop", "Grid4", "Dyck2,2")),
)
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


def transformer(asked: tuple[str, int, str]) -> Row:
    """The row of a machine, a length and a format."""
    name, length, dtype = asked
    model = krohn.compile(name, length, construction="pruned", dtype=dtype)
    summary = model.summary()
    told, precision = summary["random"], PRECISIONS[dtype]
    plain_options = CompileOptions(length=length, strict=True).of((dtype,))
    plain = best_network(machine_of(name), plain_options)
    scaled = ScaledNetwork(plain, precision, told["units"] / REACHED)
    masks = scaled.find_masks(Choice(told["seed"], told["units"]))
    assert model.proof is not None
    bounds = model.proof.bounds
    assert bounds is not None
    path = Path(gettempdir()) / f"pruning-{getpid()}"
    model.save(path)
    size = path.stat().st_size
    path.unlink()
    return {
        "machine": name,
        "T": length,
        "format": dtype,
        "plain": plain.construction,
        "weights": summary["parameters"],
        "not 0": summary["nonzero"],
        "units an input": told["units"],
        "error of a weight": f"{max(m.off for m in masks.values()):.1e}",
        "random numbers": told["weights"],
        "MB": f"{told['bytes'] / 10**6:.2f}",
        "kept": told["kept"],
        "file MB": f"{size / 10**6:.2f}",
        "margin": f"{bounds.margin:.4f}",
        "verdict": summary["verdict"],
    }


def again(printed: Mapping[str, str]) -> Row:
    """A row of the first table, made anew."""
    return sums(int(printed["products"]))


def transformer_again(printed: Mapping[str, str]) -> Row:
    """A row of the table of Transformers, made anew."""
    return transformer((printed["machine"], int(printed["T"]), printed["format"]))


AGAIN = {SUMS: again, TRANSFORMERS: transformer_again}


def main() -> None:
    """Find the masks, prove, and print the tables."""
    options = parser(__doc__)
    options.add_argument("--table", choices=("rnns", "transformers"), default="rnns")
    chosen = options.parse_args()
    if chosen.table == "transformers":
        rows = each(transformer, list(ASKED))
        publish([Table(TRANSFORMERS, rows)], chosen)
        return
    tables = [
        Table(SUMS, [sums(count) for count in COUNTS], f"{DRAWS:,} draws each."),
        Table(NETWORKS, each(network, list(MACHINES))),
    ]
    publish(tables, chosen)


if __name__ == "__main__":
    main()
