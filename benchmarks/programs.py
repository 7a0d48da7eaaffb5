"""Sequence functions as Programs, compiled and proved, beside other compilers.

    python benchmarks/programs.py [--words N]

Each network is proved for every word of up to T letters, and is then run on drawn words of
full length and compared with the interpreter. The others were run on samples, as `peers`
states.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from parity_peers import beside
from peers import BRACKETS, LIBRARY, SHUFFLE
from report import Row, Table, each, parser, publish

import krohn
from krohn.kinds.sequence_functions.source_catalogue import FUNCTIONS
from krohn.network.model import Model

LENGTHS = (10, 20, 64)
WORDS = 200
TITLE = "sequence functions by Krohn, float32"


@dataclass(frozen=True)
class Job:
    """A function for words up to a length."""

    name: str
    length: int
    words: int


def measure(job: Job) -> Row:
    """The row of one network."""
    function = FUNCTIONS[job.name]()
    model = krohn.compile(function, job.length)
    found = model.summary()
    return {
        "function": job.name,
        "T": job.length,
        "verdict": found["verdict"],
        "wrong": f"{wrong(job, Model(model.file))} of {job.words}",
        "depth": found["depth"],
        "layers": found["layers"],
        "parameters": found["parameters"],
        "nonzero": found["nonzero"],
        "compile and prove s": model.seconds,
    }


def wrong(job: Job, model: Model) -> int:
    """On how many drawn words of full length the network says something else."""
    source = FUNCTIONS[job.name]().realise(job.length)
    rng = np.random.default_rng(0)
    words = rng.integers(0, len(model.letters), (job.words, job.length))
    with torch.inference_mode():
        said = model(torch.from_numpy(words)).argmax(dim=-1).numpy()
    return int((said != source.answers(words)).any(axis=1).sum())


def again(printed: Mapping[str, str]) -> Row:
    """A row of the first table, made anew."""
    words = int(printed["wrong"].split()[-1])
    return measure(Job(printed["function"], int(printed["T"]), words))


AGAIN = {TITLE: again}


def main() -> None:
    """Compile, prove and run, and print both tables."""
    options = parser(__doc__)
    options.add_argument("--words", type=int, default=WORDS)
    chosen = options.parse_args()
    jobs = [Job(name, t, chosen.words) for name in FUNCTIONS for t in LENGTHS]
    note = (
        "Random words of full length are rarely balanced, sorted or a pattern: how many "
        "are wrong says little, the verdict is about all. Depth counts layers that attend."
    )
    ours = Table(TITLE, each(measure, jobs), note)
    shuffled = [m for m in BRACKETS if m.program == SHUFFLE]
    theirs = Table(
        "sequence functions by Tracr",
        [beside(m) for m in (*LIBRARY, *shuffled)],
        "A dash: not run. Words were random, of brackets balanced ones.",
    )
    publish([ours, theirs], chosen)


if __name__ == "__main__":
    main()
