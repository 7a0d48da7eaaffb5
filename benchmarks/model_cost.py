"""The cost of compiled networks beside an LSTM and networks like GPT-2.

Weights and operations come from formulas; all networks of a machine are timed in turn, and
medians and ratios are printed. `python benchmarks/model_cost.py` from the root of the
repository; it needs the extra `compare`. The options are listed by `--help`.
"""

import argparse
import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import krohn
from krohn.algebra import zoo
from krohn.instruments.compare.models import (
    Gpt,
    Lstm,
    Network,
    build,
    compiled,
    cost,
    latencies,
)

MACHINES = ["C2", "Grid9", "Dyck4,2", "D8", "A4", "S5"]
TRAINED = {
    "LSTM, 128 units": Lstm(),
    "GPT-2, 2 blocks of 64": Gpt(2, 64, 4, 256),
    "GPT-2, 4 blocks of 512": Gpt(4, 512, 8, 512),
}


def networks(name: str, length: int) -> dict[str, Network]:
    """The compiled network of a machine, and those that would be trained on it."""
    machine = zoo.machine(name)
    made = krohn.compile(machine, length, proved=False)
    found: dict[str, Network] = {f"compiled: {made.construction}": compiled(made.file)}
    sizes = len(machine.letters), len(machine.states)
    for said, architecture in TRAINED.items():
        found[said] = build(architecture, *sizes, length, 0)
    return found


def main() -> None:
    """Print a row for every network of every machine."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("machines", nargs="*", default=MACHINES)
    parser.add_argument("--length", type=int, default=100)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    print(f"{given.batch} words of {given.length} letters; {given.rounds} rounds")
    print(
        "machine  network                     weights not 0  depth steps   MFLOP    ms"
    )
    for name in given.machines:
        found = networks(name, given.length)
        taken = latencies(found, given.length, given.batch, given.rounds)
        for said, network in found.items():
            c, time = cost(network, given.length), taken[said]
            operations = (c.flops or 0) / 1e6
            print(
                f"{name:8} {said:25} {c.parameters:9,} {c.nonzero:9,} {c.depth:3}"
                f" {c.steps:5} {operations:9.2f} {1e3 * time.seconds:7.1f}"
                f" ({time.ratio:.2f}x)",
                flush=True,
            )


if __name__ == "__main__":
    main()
