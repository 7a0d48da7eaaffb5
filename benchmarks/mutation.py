"""Mutation test of the proof: change single weights, and see the proof refuse them.

    python benchmarks/mutation.py [--quick] [--construction NAME] [--markdown]

Every weight that is not 0 is, in turn, given the other sign and multiplied by 1.1, and a
sample of the zeros is set to 1. A mutant that the proof refuses is *killed*. One that it
still accepts must be truly harmless: it is replayed on every short word and on adversarial
words of full length, and a wrong answer would be an error of the checker. Classes of
survivors are told apart by the tensor and by whether a logit changes at all.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

import numpy as np
import torch
from report import Row, Table, each, parser, publish

import krohn
from algebra import zoo
from algebra.automaton import Automaton
from network.model import Model
from network.modelfile import ModelFile
from verify.exhaustive import exhaustive
from verify.proof import prove
from verify.sampling import sample
from verify.strategies import uniform

SEED = 0
ZEROS = 300
REPLAYED = 150
WORDS = 600
SAMPLES = 64
FACTOR = 1.1


@dataclass(frozen=True)
class Job:
    """A model whose weights are to be changed.

    Attributes:
        machine: A name of the zoo.
        construction: How it is compiled; ``elman`` is an RNN.
        length: T.
        dtype: The number format.
        strict: Whether in the strict form.
        most: How many mutants to try, sampled if there are more; 0 for all.
    """

    machine: str
    construction: str
    length: int
    dtype: str = "float32"
    strict: bool = False
    most: int = 0

    @property
    def title(self) -> str:
        """The model in a few words."""
        form = " strict" if self.strict else ""
        return f"{self.machine} {self.construction}{form} T={self.length} {self.dtype}"


JOBS = (
    Job("C2", "counter", 16),
    Job("C5", "counter", 12),
    Job("C2xC2", "product", 10),
    Job("FlipFlop", "memory", 16),
    Job("Memory5", "memory", 12),
    Job("Grid4", "scan", 10),
    Job("D6", "scan", 8),
    Job("S5", "scan", 8, most=2000),
    Job("Grid4", "sequential", 5),
    Job("Grid4", "scan", 5, strict=True),
    Job("C2", "counter", 16, strict=True),
    Job("Grid4", "elman", 10),
    Job("Grid4", "scan", 5, dtype="bfloat16"),
    Job("Grid4", "scan", 5, dtype="float64"),
    Job("S4", "cascade", 12, most=1000),
    Job("Q8", "cascade", 20, most=1000),
    Job("Grid4", "cascade", 16, most=1000),
    Job("Dyck2,2", "cascade", 12, most=1000),
    Job("PermReset3", "cascade", 20, most=1000),
)


@dataclass(frozen=True)
class Mutant:
    """One weight with another value."""

    tensor: str
    index: int
    value: float
    change: str

    def of(self, file: ModelFile) -> ModelFile:
        """The file with this weight changed."""
        array = file.tensors[self.tensor].copy()
        array.reshape(-1)[self.index] = self.value
        return replace(file, tensors={**file.tensors, self.tensor: array})


def mutants(file: ModelFile, rng: np.random.Generator) -> Iterator[Mutant]:
    """Every nonzero weight changed twice, then a sample of the zeros set to 1."""
    zeros = []
    for name, array in file.tensors.items():
        for index, weight in enumerate(array.reshape(-1).tolist()):
            if weight == 0:
                zeros.append((name, index))
                continue
            scaled = float(file.precision.round(FACTOR * weight))
            yield Mutant(name, index, -weight, "sign")
            yield Mutant(name, index, scaled, "times 1.1")
    chosen = rng.permutation(len(zeros))[:ZEROS]
    for i in sorted(chosen.tolist()):
        yield Mutant(*zeros[i], 1.0, "zero to one")


def changes(file: ModelFile, mutant: Mutant) -> bool:
    """Whether the weight is another one after rounding."""
    return bool(file.tensors[mutant.tensor].reshape(-1)[mutant.index] != mutant.value)


def place(tensor: str) -> str:
    """What a tensor belongs to, and so why a change of it may be harmless."""
    if tensor.endswith(("query", "key")) or tensor == "embed.position":
        return "where a head looks: the gap of its scores is still wide enough"
    if tensor.endswith("residual"):
        return "residual mask: of a dimension that holds nothing there"
    if tensor.startswith("unembed"):
        return "read-out: the right logit is still the largest"
    if tensor.endswith(("value", "out")):
        return "what a head copies"
    if tensor == "embed.token":
        return "token embedding"
    if ".mlp." in tensor:
        return "table: still on its plateaus, or a row that does not occur"
    return "hidden state of the RNN: a unit that is never on there"


def replay(file: ModelFile, machine: Automaton, length: int) -> bool:
    """Whether short words and adversarial long ones are all answered rightly."""
    model = Model(file)
    short, letters = 1, len(machine.letters)
    while short < length and letters ** (short + 1) <= WORDS:
        short += 1
    passed = exhaustive(model, machine, short).passed
    return passed and sample(model, machine, SAMPLES, length, SEED).passed


def logits(file: ModelFile, machine: Automaton, length: int) -> torch.Tensor:
    """The logits of some random words of full length."""
    words = uniform(np.random.default_rng(SEED), machine, SAMPLES, length)
    with torch.inference_mode():
        found: torch.Tensor = Model(file)(torch.from_numpy(words))
    return found


def survivors(file: ModelFile, machine: Automaton, tried: list[Mutant]) -> list[Mutant]:
    """The mutants that the proof still accepts."""
    return [m for m in tried if prove(m.of(file), machine).verdict == "verified"]


def compiled(job: Job) -> tuple[ModelFile, Automaton]:
    """The model as it should be, proved, and its machine."""
    machine = zoo.machine(job.machine)
    options: dict[str, Any] = {"dtype": job.dtype}
    if job.construction == "elman":
        options |= {"arch": "rnn"}
    else:
        options |= {"construction": job.construction, "strict": job.strict}
    return krohn.compile(machine, job.length, **options).file, machine


def measure(job: Job) -> Row:
    """Try all mutants of a model, and replay those that survive."""
    began, rng = monotonic(), np.random.default_rng(SEED)
    file, machine = compiled(job)
    tried = list(mutants(file, rng))
    same = [m for m in tried if not changes(file, m)]
    tried = [m for m in tried if changes(file, m)]
    if job.most and len(tried) > job.most:
        chosen = rng.permutation(len(tried))[: job.most]
        tried = [tried[i] for i in sorted(chosen.tolist())]
    left = survivors(file, machine, tried)
    seen = [left[i] for i in rng.permutation(len(left))[:REPLAYED].tolist()]
    wrong = [m for m in seen if not replay(m.of(file), machine, job.length)]
    return {
        "model": job.title,
        "mutants": len(tried),
        "unchanged by rounding": len(same),
        "killed": len(tried) - len(left),
        "survived": len(left),
        "replayed": len(seen),
        "wrong": len(wrong),
        "seconds": monotonic() - began,
        "classes": classes(job, file, machine, left, seen),
        "errors": [str(m) for m in wrong],
    }


def classes(
    job: Job,
    file: ModelFile,
    machine: Automaton,
    left: list[Mutant],
    seen: list[Mutant],
) -> Counter[tuple[str, str, str]]:
    """How many survivors there are by tensor and change, and what became of logits."""
    before = logits(file, machine, job.length)
    after = {m: logits(m.of(file), machine, job.length) for m in seen}
    found: Counter[tuple[str, str, str]] = Counter()
    for mutant in left:
        effect = "not replayed"
        if mutant in after:
            equal = bool(torch.equal(before, after[mutant]))
            effect = "same logits" if equal else "other logits"
        found[place(mutant.tensor), mutant.change, effect] += 1
    return found


def by_class(rows: list[Row]) -> Table:
    """Survivors of all models together, by class."""
    total: Counter[tuple[str, str, str]] = Counter()
    for row in rows:
        total.update(row["classes"])
    kinds = sorted({(why, change) for why, change, _ in total})
    effects = ("same logits", "other logits", "not replayed")
    table = [
        {
            "class": why,
            "change": change,
            **{effect: total[why, change, effect] for effect in effects},
        }
        for why, change in kinds
    ]
    return Table("Survivors by class", table)


def main() -> None:
    """Print one row per model, then the survivors by class."""
    options = parser(__doc__)
    options.add_argument("--quick", action="store_true", help="small models only")
    options.add_argument("--construction", default="", help="models of this one only")
    chosen = options.parse_args()
    torch.set_num_threads(1)
    large = ("scan", "cascade") if chosen.quick else ()
    jobs = [j for j in JOBS if j.construction not in large]
    jobs = [j for j in jobs if chosen.construction in j.construction]
    rows = each(measure, jobs)
    shown = [
        {k: v for k, v in row.items() if k not in ("classes", "errors")} for row in rows
    ]
    errors = [{"model": r["model"], "mutant": e} for r in rows for e in r["errors"]]
    note = "Killed: refused by the proof. Wrong: accepted, and wrong on a word."
    publish(
        [
            Table("Mutation test of the proof", shown, note),
            by_class(rows),
            Table("Accepted and wrong: errors of the checker", errors),
        ],
        chosen,
    )


if __name__ == "__main__":
    main()
