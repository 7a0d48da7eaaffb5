"""How long compiled networks take, and the model of it that `--minimise latency` goes by.

Networks of different depth and size are timed in turn, one word at a time, on one thread,
in float32, in seconds of CPU time, so that other work on the machine counts little. The
model is linear in the number of blocks, of those with attention, of operations for the
word and of parameters; its coefficients are at least 0, and it minimises the sum of
squared relative errors. The coefficients that it prints stand in `compiler/cost.py`;
what matters of them are the ratios.
"""

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

import numpy as np
import torch
from report import Row, Table, parser, publish
from scipy.optimize import nnls

import krohn
from krohn.compiled_model import model_file
from krohn.compiler.compiled_network import realise
from krohn.compiler.cost import latency
from krohn.compiler.pipeline import Options
from krohn.compiler.planning import plans
from krohn.compiler.search import Plan
from krohn.network.model import Model
from krohn.network.precision import FLOAT32, FloatArray

CASES = (
    ("C2", ("counter", "scan", "sequential")),
    ("C5", ("counter", "content", "scan")),
    ("S5", ("scan", "scan3", "scan5", "scan10", "cascade", "sequential")),
    ("S4", ("semidirect-car", "scan4")),
    ("Grid9", ("gridworld", "corridor", "cascade", "scan")),
    ("Dyck4,2", ("dyck",)),
    ("Rubik", ("scan", "sequential")),
    ("FlipFlop", ("memory",)),
)
LENGTHS = (32, 100, 300)


@dataclass(frozen=True)
class Case:
    """A network to time.

    Attributes:
        plan: How it was made.
        length: T, which is also how long the word is.
        model: The network itself.
    """

    plan: Plan
    length: int
    model: Model

    @property
    def features(self) -> tuple[float, ...]:
        """Blocks, those with attention, operations for the word, parameters."""
        cost = self.plan.cost
        operations = cost.flops_per_token * self.length
        return cost.layers, cost.depth, operations, cost.parameters


def cases(most: int) -> Iterator[Case]:
    """The networks, in every way of lowering them, of at most so many parameters."""
    for name, constructions in CASES:
        machine = krohn.zoo(name)
        for construction in constructions:
            for length in LENGTHS:
                for plan in plans(construction, machine, length, Options(FLOAT32)):
                    if plan.cost.parameters <= most:
                        built = realise(plan)
                        file = model_file(machine, built, length, FLOAT32, False)
                        yield Case(plan, length, Model(file))


def measured(found: list[Case], rounds: int) -> FloatArray:
    """Microseconds of each network, the median of rounds in which all take turns."""
    taken: list[list[float]] = [[] for _ in found]
    with torch.inference_mode():
        for _ in range(rounds + 1):
            for case, times in zip(found, taken, strict=True):
                tokens = torch.zeros((1, case.length), dtype=torch.int64)
                began = time.process_time()
                case.model(tokens)
                times.append(time.process_time() - began)
    return np.array([1e6 * median(times[1:]) for times in taken])


def fitted(features: FloatArray, times: FloatArray) -> FloatArray:
    """The coefficients, none of them negative, of least relative error.

    Args:
        features: ``(networks, 4)``.
        times: ``(networks,)``.
    """
    scale = features.max(axis=0)
    solution, _ = nnls(features / scale / times[:, None], np.ones(len(times)))
    return np.asarray(solution / scale)


def unseen(features: FloatArray, times: FloatArray) -> FloatArray:
    """The relative error of each network by a model that was fitted to the others."""
    errors = []
    for i in range(len(times)):
        others = np.arange(len(times)) != i
        guess = features[i] @ fitted(features[others], times[others])
        errors.append(guess / times[i] - 1)
    return np.array(errors)


def tables(options: argparse.Namespace) -> Iterator[Table]:
    """The measurements with what the model says, and the coefficients."""
    torch.set_num_threads(1)
    found = list(cases(options.parameters))
    times = measured(found, options.rounds)
    features = np.array([case.features for case in found])
    rows: list[Row] = []
    for case, taken in zip(found, times, strict=True):
        cost = case.plan.cost
        sizes = cost.depth, cost.layers, cost.parameters, cost.flops_per_token
        rows.append(
            {
                "machine": case.model.header["machine"]["name"],
                "by": case.plan.construction,
                "T": case.length,
                "layers": cost.layers,
                "parameters": cost.parameters,
                "MFLOP": cost.flops_per_token * case.length / 1e6,
                "seconds, µ": float(taken),
                "model": latency(*sizes, case.length),
            }
        )
    said = np.array([row["model"] for row in rows]) / times
    yield Table("one word by one thread in float32", rows)
    block, attention, flop, parameter = fitted(features, times).tolist()
    errors = np.abs(unseen(features, times))
    ordered = _ordered(times, np.array([row["model"] for row in rows]))
    yield Table(
        "the model",
        [
            {
                "µs for a block": block,
                "µs for its attention": attention,
                "µs for 1000 operations": 1e3 * flop,
                "µs for 1000 parameters": 1e3 * parameter,
                "median error": float(np.median(errors)),
                "largest error": float(errors.max()),
                "networks": len(rows),
                "pairs in the right order": ordered,
                "the code's, over measured": float(np.median(said)),
            }
        ],
        "Errors are relative, of networks that the model was not fitted to. The order is "
        "that of the coefficients in the code, of pairs that differ by a fifth or more.",
    )


def _ordered(times: FloatArray, said: FloatArray) -> float:
    """How often the one that is said to be faster is, where it matters."""
    apart = times[:, None] > 1.2 * times
    return float((said[:, None] > said)[apart].mean())


def main() -> None:
    """Measure, fit and print."""
    found = parser(__doc__)
    found.add_argument("--rounds", type=int, default=9)
    found.add_argument("--parameters", type=int, default=10_000_000)
    options = found.parse_args()
    publish(tables(options), options)


if __name__ == "__main__":
    main()
