"""The cost of compiled networks beside an LSTM and networks like GPT-2.

Weights and operations come from formulas; all networks of a machine are timed in turn, and
medians and ratios are printed. It needs the extra `compare`.
"""

import torch
from report import Table, parser, publish

import krohn
from krohn.algebra import zoo
from krohn.instruments.compare.models import (
    Gpt,
    Lstm,
    Network,
    build,
    cost,
    latencies,
    wrap_compiled,
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
    made = krohn.compile(machine, length, proof=False)
    found: dict[str, Network] = {
        f"compiled: {made.construction}": wrap_compiled(made.file)
    }
    sizes = len(machine.letters), len(machine.states)
    for said, architecture in TRAINED.items():
        found[said] = build(architecture, *sizes, length, 0)
    return found


def main() -> None:
    """Print a row for every network of every machine."""
    options = parser(__doc__)
    options.add_argument("machines", nargs="*", default=MACHINES)
    options.add_argument("--length", type=int, default=100)
    options.add_argument("--batch", type=int, default=16)
    options.add_argument("--rounds", type=int, default=9)
    options.add_argument("--threads", type=int, default=1)
    given = options.parse_args()
    torch.set_num_threads(given.threads)
    rows = []
    for machine in given.machines:
        found = networks(machine, given.length)
        taken = latencies(found, given.length, given.batch, given.rounds)
        for name, network in found.items():
            formula = cost(network, given.length)
            rows.append(
                {
                    "machine": machine,
                    "network": name,
                    "weights": formula.parameters,
                    "not 0": formula.nonzero,
                    "depth": formula.depth,
                    "steps": formula.steps,
                    "MFLOP a word": (formula.flops or 0) / 1e6,
                    "ms": 1e3 * taken[name].seconds,
                    "ratio": taken[name].ratio,
                }
            )
    note = f"{given.batch} words of {given.length} letters; {given.rounds} rounds"
    publish([Table("cost of networks", rows, note)], given)


if __name__ == "__main__":
    main()
