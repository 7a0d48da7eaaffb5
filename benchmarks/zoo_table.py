"""Every machine of the zoo by every construction: sizes, proof, and simulation.

A model is proved for all words up to T; beside that, all words up to a length are run,
so many that they are a million in all, and 1000 adversarial words of length T. A model so
large that a million words take longer than the budget is run on all words up to the
greatest length that fits; the table shows how many that were.
"""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from time import monotonic

import torch
from report import Row, Table, each, parser, publish

import krohn
from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import KrohnError
from krohn.compiled_model import CompiledModel
from krohn.compiler.constructions.registry import CONSTRUCTIONS
from krohn.network.model import Model
from krohn.verify.proof import Proof
from krohn.verify.testing.exhaustive import exhaustive
from krohn.verify.testing.sampling import sample
from krohn.verify.testing.simulation_result import Simulation

QUICK = ("C2", "C5", "C2xC2", "FlipFlop", "Grid4")
RATE_WORDS = 500
SERVED, UNSERVED = "proved and simulated", "not served"


@dataclass(frozen=True)
class Job:
    """A model to measure, and how far to simulate it.

    Attributes:
        machine: A name of the zoo.
        construction: A construction, or ``rnn``.
        length: T.
        dtype: The number format.
        words: How many words the exhaustive simulation should reach.
        budget: How many seconds it may take.
        samples: How many adversarial words.
    """

    machine: str
    construction: str
    length: int
    dtype: str
    words: int
    budget: float
    samples: int


def measure(job: Job) -> Row:
    """The row of one model, or why there is none."""
    torch.set_num_threads(1)
    row: Row = {
        "machine": job.machine,
        "construction": job.construction,
        "T": job.length,
    }
    try:
        model = compiled(job)
    except KrohnError as error:
        return row | {"reason": str(error)}
    assert model.proof is not None
    return row | sizes(model) | proved(model.proof) | simulated(model, job)


def again(printed: Mapping[str, str]) -> Row:
    """The sizes of a row, made anew; its words are not run again."""
    wanted = (printed["machine"], printed["construction"], int(printed["T"]))
    return sizes(compiled(Job(*wanted, "float32", words=0, budget=0.0, samples=0)))


def compiled(job: Job) -> CompiledModel:
    """The model with its proof."""
    if job.construction == "rnn":
        return krohn.compile(job.machine, arch="rnn", dtype=job.dtype)
    return krohn.compile(job.machine, job.length, job.construction, dtype=job.dtype)


def sizes(model: CompiledModel) -> Row:
    """The columns about the network."""
    found = model.summary()
    return {
        "depth": found["depth"],
        "layers": found["layers"],
        "d_model": found["d_model"],
        "MLP width": found["mlp_width"],
        "parameters": found["parameters"],
        "nonzero": found["nonzero"],
    }


def proved(proof: Proof) -> Row:
    """The columns about the proof; an RNN works in integers, without noise."""
    channels = [c for step in proof.evidence for c in step.get("channels", [])]
    return {
        "largest noise": max((c["noise"] for c in channels), default=0.0),
        "proof s": proof.seconds,
    }


def simulated(model: CompiledModel, job: Job) -> Row:
    """The columns about running words, and the verdict over all."""
    machine, network = krohn.zoo(job.machine), Model(model.file)
    assert model.proof is not None
    every = everything(network, machine, job)
    some = sample(network, machine, job.samples, job.length, seed=0)
    right = every.has_passed and some.has_passed
    return {
        "all words to": every.length,
        "words": every.words,
        "samples": some.words,
        "verdict": model.proof.verdict if right else "REFUTED",
    }


def everything(network: Model, machine: Automaton, job: Job) -> Simulation:
    """All words up to the least length with enough of them, or as far as time allows.

    Larger batches are faster, so how fast it goes is measured again at every length.
    """
    letters = len(machine.letters)
    wanted = reach(letters, job.words, job.length)
    length = reach(letters, RATE_WORDS, wanted)
    while True:
        began = monotonic()
        done = exhaustive(network, machine, length)
        rate = done.words / (monotonic() - began)
        further = reach(letters, int(rate * job.budget), wanted + 1) - 1
        if min(wanted, further) <= length or not done.has_passed:
            return done
        length = min(wanted, further)


def reach(letters: int, words: int, longest: int) -> int:
    """The least length up to which there are that many words."""
    length = 1
    while total(letters, length) < words and length < longest:
        length += 1
    return length


def total(letters: int, length: int) -> int:
    """How many words of 1 to ``length`` letters there are."""
    return sum(letters**i for i in range(1, length + 1))


def jobs(options: argparse.Namespace) -> list[Job]:
    """Every machine with every construction that was asked for."""
    job = partial(
        Job,
        dtype=options.dtype,
        words=options.words,
        budget=options.budget,
        samples=options.samples,
    )
    found: list[Job] = []
    for name in QUICK if options.quick else krohn.zoo():
        wanted = options.constructions or (*CONSTRUCTIONS, "rnn")
        found += [job(name, c, options.length) for c in wanted]
    return found


def tables(rows: list[Row], options: argparse.Namespace) -> list[Table]:
    """The table of proved networks, and the table of those that could not be proved."""
    note = (
        f"{options.dtype}; an RNN is proved for all lengths and sampled at T. 'all words "
        f"to': least length with {options.words:,} words in all, or the greatest of which "
        f"all words take at most about {options.budget:g} s."
    )
    served = [row for row in rows if "reason" not in row]
    names = {row["machine"] for row in rows} - {row["machine"] for row in served}
    refused = [row for row in rows if "reason" in row]
    unexpected = [r for r in refused if r["machine"] in names or _tried(r)]
    return [Table(SERVED, served, note), Table(UNSERVED, unexpected)]


def _tried(row: Row) -> bool:
    """Whether a construction serves the machine, but its network is not certified."""
    return "certified" in row["reason"]


AGAIN = {SERVED: again}


def main() -> None:
    """Measure, and print the table."""
    found = parser(__doc__)
    found.add_argument("-T", "--length", type=int, default=100)
    found.add_argument("--dtype", default="float32")
    found.add_argument("--words", type=int, default=1_000_000)
    found.add_argument("--budget", type=float, default=60.0, help="seconds per model")
    found.add_argument("--samples", type=int, default=1000)
    found.add_argument("--constructions", nargs="*", help="only these")
    found.add_argument("--jobs", type=int, default=1, help="processes")
    found.add_argument("--quick", action="store_true", help="few machines, few words")
    options = found.parse_args()
    if options.quick:
        options.words, options.samples = 10_000, 100
    rows = each(measure, jobs(options), options.jobs)
    publish(tables(rows, options), options)
    if any(row.get("verdict") == "REFUTED" for row in rows):
        raise SystemExit("a network that was proved is wrong on a word")


if __name__ == "__main__":
    main()
