"""Answers of proved and of trained networks in other orders, batches, kernels, engines.

    nice python benchmarks/fuzz.py [--answers 1e8]

The shares of the networks are such that it takes a few minutes. Trained networks have a
plain shape, and are trained here, in float32; those of bfloat16 are the same, rounded.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from report import Row, Table, each, parser, publish
from torch.nn.functional import cross_entropy

import krohn
from krohn.algebra.automaton import Automaton
from krohn.algebra.formats import json_format
from krohn.instruments.fuzz.campaign import Fuzz, fuzz
from krohn.machines import read
from krohn.network.model import current_file
from krohn.network.modelfile import ModelFile
from krohn.network.precision import PRECISIONS
from krohn.program.architectures.transformer import Transformer
from krohn.program.word_texts import join_letters

ANSWERS = 1e8
ENGINES = "torch", "numpy", "onnx", "transformer-lens", "huggingface"
TRAINED = 0.02
"""The answers of a trained network, as a share of all."""
STEPS, BATCH, RATE = 500, 64, 3e-3


@dataclass(frozen=True)
class Job:
    """A network, and how many answers it gives.

    Attributes:
        machine: What it computes.
        length: T.
        dtype: Its number format.
        share: Its share of all answers.
        trained: Whether it is trained, and not compiled.
    """

    machine: str
    length: int
    dtype: str
    share: float
    trained: bool = False

    def build(self) -> ModelFile:
        """The network."""
        if self.trained:
            return train(read(self.machine), self.length, self.dtype)
        made = krohn.compile(self.machine, self.length, strict=True, dtype=self.dtype)
        assert made.proof is not None
        assert made.proof.verdict == "verified"
        return made.file


JOBS = (
    Job("FlipFlop", 32, "float32", 0.3),
    Job("C3", 32, "float32", 0.15),
    Job("S3", 32, "float32", 0.15),
    Job("Dyck2,2", 16, "float32", 0.08),
    Job("S5", 16, "float32", 0.01),
    Job("FlipFlop", 32, "bfloat16", 0.22),
    Job("C2", 16, "bfloat16", 0.07),
    Job("Grid4", 16, "bfloat16", 0.02),
    *(
        Job(machine, 32, dtype, TRAINED, trained=True)
        for machine in ("FlipFlop", "Grid4")
        for dtype in ("float32", "bfloat16")
    ),
)


def train(machine: Automaton, length: int, dtype: str) -> ModelFile:
    """A Transformer, trained on random words in float32 and rounded to a format."""
    rng = np.random.default_rng(0)
    model = krohn.Model(untrained(machine, length, rng))
    network = model.network.requires_grad_(True)
    steps = torch.optim.Adam(network.parameters(), RATE)
    for _ in range(STEPS):
        words = rng.integers(len(machine.letters), size=(BATCH, length))
        states = machine.semiautomaton.trace(words, machine.start)
        logits = network(torch.from_numpy(words))
        loss = cross_entropy(logits.flatten(0, 1), torch.from_numpy(states).flatten())
        steps.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        steps.step()
    network.requires_grad_(False)
    file = current_file(model)
    kind = getattr(torch, dtype)
    rounded = {
        name: torch.from_numpy(array).to(kind).double().numpy()
        for name, array in file.tensors.items()
    }
    shape = {**file.header["architecture"], "dtype": dtype}
    header = {
        **file.header,
        "architecture": shape,
        "claim": {**file.header["claim"], "dtype": dtype},
    }
    return ModelFile(header, rounded, PRECISIONS[dtype])


def untrained(machine: Automaton, length: int, rng: np.random.Generator) -> ModelFile:
    """A Transformer of a plain shape and of random numbers."""
    block = {"heads": 2, "d_qk": 16, "d_v": 16, "mlp": [128]}
    shape = {
        "kind": "transformer",
        "dtype": "float32",
        "strict": True,
        "d_model": 32,
        "vocabulary": len(machine.letters) + 1,
        "positions": length + 1,
        "outputs": len(machine.states),
        "blocks": [block] * 2,
    }
    tensors = {
        name: np.float64(np.float32(rng.normal(size=size) / 6))
        for name, size in Transformer.of(shape).shapes.items()
    }
    claim = {
        "start": machine.states[machine.start],
        "dtype": "float32",
        "length": length,
    }
    header = {
        "architecture": shape,
        "machine": json_format.to_object(machine),
        "claim": claim,
    }
    return ModelFile(header, tensors, PRECISIONS["float32"])


@dataclass(frozen=True)
class Done:
    """A network that was run.

    Attributes:
        job: Which one.
        found: What was found.
        parameters: How many numbers it has.
    """

    job: Job
    found: Fuzz
    parameters: int

    @property
    def row(self) -> Row:
        """Its row."""
        made = "trained" if self.job.trained else "proved"
        row: Row = {"machine": self.job.machine, "network": made}
        row |= {"T": self.found.length, "format": self.job.dtype}
        return row | {"parameters": self.parameters} | counts([self.found])


def counts(found: Sequence[Fuzz]) -> Row:
    """How many answers each engine gave, and what became of them."""
    given = Counter[str]()
    for each_found in found:
        for (engine, _), count in each_found.answers.items():
            given[engine] += count
    return {
        **{name: given[name] or None for name in ENGINES},
        "answers": given.total(),
        "different": sum(sum(each.different.values()) for each in found),
        "not the machine's": sum(each.wrong for each in found),
    }


def by_way(done: Sequence[Done]) -> list[Row]:
    """Answers of each way, of proved and of trained networks."""
    parts = {
        "proved": [d.found for d in done if not d.job.trained],
        "trained": [d.found for d in done if d.job.trained],
    }
    ways = dict.fromkeys(way for d in done for way in d.found.answers)
    return [
        {"engine": way[0], "way": way[1]}
        | {
            f"{name}{what}": sum(getattr(each, of)[way] for each in found)
            for name, found in parts.items()
            for what, of in (("", "answers"), (": different", "different"))
        }
        for way in sorted(ways, key=lambda way: ENGINES.index(way[0]))
    ]


def examples(done: Sequence[Done]) -> list[Row]:
    """The shortest word of each network on which ways differ."""
    rows = []
    for each_done in done:
        for found in sorted(each_done.found.differences, key=lambda d: len(d.word))[:1]:
            word = join_letters(found.word)
            where = {"machine": each_done.job.machine, "format": each_done.job.dtype}
            both = {"torch, whole words": found.reference, "there": found.answer}
            way = f"{found.engine}, {found.way}"
            rows.append({**where, "after": word, "way": way, **both})
    return rows


def main() -> None:
    """Run all networks, and print the tables."""
    options = parser(__doc__)
    options.add_argument("--answers", type=float, default=ANSWERS)
    chosen = options.parse_args()
    done = list[Done]()

    def measure(job: Job) -> Row:
        file = job.build()
        found = fuzz(file, round(chosen.answers * job.share), engine=ENGINES)
        numbers = sum(array.size for array in file.tensors.values())
        done.append(Done(job, found, numbers))
        return done[-1].row

    torch.set_num_threads(1)
    rows = each(measure, JOBS)
    proved = [d.found for d in done if not d.job.trained]
    rows.append({"machine": "all", "network": "proved", **counts(proved)})
    publish(
        [
            Table("answers by network", rows, NOTE),
            Table("answers by way", by_way(done)),
            Table("answers that depend on the way", examples(done)),
        ],
        chosen,
    )


NOTE = (
    "An answer is the class after one letter of one word. Different: not as torch says "
    "that reads whole words in large batches. Not the machine's: of that one's answers."
)


if __name__ == "__main__":
    main()
