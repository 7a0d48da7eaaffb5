"""Compiled Transformers that are trained further: proved, right, and by what.

    python benchmarks/fine_tuned.py

Adam, on the network's own task, at smaller and smaller learning rates: the first at which
answers to words are right, and the first at which they are proved
(docs/architectures/disguise.md).
"""

from functools import cache
from pathlib import Path

import numpy as np
import torch
from disguise import found, plain, sampled
from report import Row, Table, each, parser, publish
from torch.nn.functional import cross_entropy

import krohn
from krohn.intervention import read_program
from krohn.network.modelfile import ModelFile
from krohn.open_model import Model

TITLE = "compiled Transformers after training on their own task, T = 32, float64"
NAMES = (
    "FlipFlop",
    "C2",
    str(Path(__file__).parents[1] / "examples/turnstile.dot"),
    "S4",
)
LENGTH, STEPS, WORDS, PATCHES = 32, 20, 32, 20
RATES = [2.0**-power for power in range(5, 30)]
"""Learning rates that are tried, the largest first: halves, so that each result is within
a factor of 2."""


@cache
def trained(name: str, rate: float) -> krohn.CompiledModel:
    """The network after some steps of Adam, and what is proved of it."""
    file = plain(name, LENGTH, "float64").file
    model, (words, right) = Model(file), sampled(file, LENGTH)
    for weight in model.parameters():
        weight.data = weight.data.clone()
        weight.requires_grad_(True)
    optimiser = torch.optim.Adam(model.parameters(), lr=rate)
    rng, labels = np.random.default_rng(0), torch.from_numpy(right)
    for _ in range(STEPS):
        rows = rng.integers(len(words), size=WORDS)
        logits = model(words[rows])
        loss = cross_entropy(logits.flatten(0, 1), labels[rows].flatten())
        optimiser.zero_grad()
        torch.autograd.backward(loss)
        optimiser.step()
    return krohn.fine_tuned(file, model)


def moved(name: str, file: ModelFile) -> float:
    """The largest change of a weight."""
    before = plain(name, LENGTH, "float64").file.tensors
    return max(
        float(abs(file.tensors[n] - x).max(initial=0)) for n, x in before.items()
    )


def used(file: ModelFile) -> str:
    """The variables of which patches give the answers that the Program predicts."""
    model, rng = Model(file), np.random.default_rng(0)
    program = read_program(model)
    letters, count, good = model.letters, 0, 0
    for name in model.places():
        values = sorted(program.channels[name].later)
        right = tried = 0
        for _ in range(20 * PATCHES):
            word = [letters[a] for a in rng.integers(len(letters), size=LENGTH)]
            t, value = int(rng.integers(1, LENGTH + 1)), int(rng.choice(values))
            told = model.patch(word, name, t, value)
            pairs = zip(told.before, told.predicted, strict=True)
            if None in told.predicted or all(a == b for a, b in pairs):
                continue
            right, tried = right + bool(told.agrees), tried + 1
            if tried == PATCHES:
                break
        count, good = count + bool(tried), good + (tried > 0 and right == tried)
    return f"{good} of {count}"


def row(name: str) -> Row:
    """How far a network may move."""
    told: Row = {"machine": Path(name).stem}
    for rate in RATES:
        made = trained(name, rate)
        file, proof = made.file, made.proof
        assert proof is not None
        if "right to" not in told and found(file, LENGTH) > 0:
            told["right to"] = moved(name, file)
            told["variables used there"] = used(file)
        if proof.verdict == "verified":
            told["proved to"] = moved(name, file)
            told["margin proved"] = proof.told["margin"]
            told["margin found"] = found(file, LENGTH)
            told["variables used"] = used(file)
            told["proof s"] = proof.seconds
            break
    return told


def main() -> None:
    """Train, prove, and print the table."""
    asked = parser(__doc__)
    asked.add_argument("names", nargs="*", default=NAMES, help="machines")
    asked.add_argument("--jobs", type=int, default=1)
    chosen = asked.parse_args()
    note = (
        f"{STEPS} steps of Adam, {WORDS} words each. Right: no answer to 500 words is "
        "wrong. Moved: the largest change of a weight. Variables used: those of which all "
        f"of up to {PATCHES} patches that change answers give the predicted ones."
    )
    publish([Table(TITLE, each(row, chosen.names, chosen.jobs), note)], chosen)


if __name__ == "__main__":
    main()
