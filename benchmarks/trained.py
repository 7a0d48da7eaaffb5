"""Trained recurrent networks: proved, refuted or undecided (docs/proved-when-trained.md).

python benchmarks/trained.py --tasks C2,FlipFlop,Tomita1 --units 8,16
"""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import torch
from report import Row, Table, each, parser, publish

from krohn.algebra.automaton import Automaton, Output, Semiautomaton
from krohn.algebra.errors import KrohnError
from krohn.compare.models import Network, RecurrentLayer, build
from krohn.compare.tasks.letters import Default
from krohn.compare.tasks.task import Task
from krohn.compare.training import presets
from krohn.compare.training.objective import Objective
from krohn.compare.training.trainer import Trainer
from krohn.machines import machine_of
from krohn.trained_recurrent import Layer
from krohn.verify.proof import Proof, prove

TITLE = "trained networks, for words of every length, float32"
FAR, WORDS = 400, 200
"""The length at which networks are tried, and how many words."""


def _runs(state: int, letter: int) -> int:
    """Tomita 3: no odd run of ones is followed by an odd run of zeros; 4 is an error."""
    return ((0, 1), (2, 0), (3, 1), (2, 4), (4, 4))[state][letter]


def _seventh(state: int, letter: int) -> int:
    """Tomita 7: 0*1*0*1*."""
    return state if state == 4 or state % 2 == letter else state + 1


LANGUAGES: dict[str, tuple[int, Callable[[int, int], int], tuple[int, ...]]] = {
    "Tomita1": (2, lambda q, a: 0 if (q, a) == (0, 1) else 1, (0,)),
    "Tomita2": (3, lambda q, a: ((2, 1), (0, 2), (2, 2))[q][a], (0,)),
    "Tomita3": (5, _runs, (0, 1, 3)),
    "Tomita4": (4, lambda q, a: 3 if q == 3 else (0 if a else q + 1), (0, 1, 2)),
    "Tomita5": (4, lambda q, a: q ^ (1 << a), (0,)),
    "Tomita6": (3, lambda q, a: (q + (-1 if a else 1)) % 3, (0,)),
    "Tomita7": (5, _seventh, (0, 1, 2, 3)),
}
"""The languages of Tomita (1982): states, moves, and which accept."""


def task(name: str) -> Task:
    """A machine to learn: of the zoo, a language of Tomita, or brackets of depth 3."""
    if name == "Dyck3":
        moves = np.array([[1, 2, 3, 4, 4], [4, 0, 1, 2, 4]])
        names = ("0", "1", "2", "3", "error")
        return _states(Automaton(Semiautomaton(moves, ("(", ")"), names), name=name))
    if name not in LANGUAGES:
        return _states(machine_of(name))
    count, move, accept = LANGUAGES[name]
    moves = np.array([[move(q, a) for q in range(count)] for a in (0, 1)])
    machine = Semiautomaton(moves, ("0", "1"), tuple(map(str, range(count))))
    table = np.isin(np.arange(count), accept).astype(np.int64)
    shows = Output("states", table, ("reject", "accept"))
    found = Automaton(machine, name=name, output=shows)
    return Task(name, found, Default(), "outputs")


def _states(machine: Automaton) -> Task:
    return Task(machine.name, machine, Default(), "states")


class Wanted(NamedTuple):
    """A network to train.

    Attributes:
        task: Its machine.
        cell: The kind of layer.
        units: How many.
        noise: On hidden states.
        seed: Of all that is random.
        steps: Of training.
    """

    task: str
    cell: Any
    units: int
    noise: float
    seed: int
    steps: int


def network(wanted: Wanted) -> Row:
    """The row of a network that is trained."""
    torch.set_num_threads(1)
    asked = task(wanted.task)
    layer = RecurrentLayer(wanted.cell, wanted.units, wanted.noise)
    layer, recipe = presets.provable(asked, None, layer)
    recipe = replace(recipe, steps=wanted.steps, every=wanted.steps)
    began = time.process_time()
    counts = len(asked.letters), len(asked.classes)
    net = build(layer, *counts, recipe.reads, wanted.seed)
    trainer = Trainer(Objective(asked, recipe, wanted.seed), net, "cpu")
    while trainer.outcome is None:
        trainer.advance()
    net = trainer.average.network.eval()
    trained = time.process_time() - began
    batch = asked.batch(np.random.default_rng(wanted.seed), WORDS, FAR)
    with torch.no_grad():
        said = net(torch.from_numpy(batch.letters)).argmax(dim=-1).numpy()
    right = float((said == batch.labels).all(axis=1).mean())
    file = Layer.of(net.state_dict()).file(asked.machine, asked.shows)
    began = time.process_time()
    proof = prove(file, asked.machine)
    seconds = time.process_time() - began
    return {
        "task": wanted.task,
        "kind": wanted.cell,
        "units": wanted.units,
        "noise": wanted.noise,
        "verdict": _verdict(net, asked, proof),
        "sets": proof.evidence[0]["pairs"] if proof.verdict == "verified" else None,
        "wrong word": len(proof.word) if proof.word else None,
        f"right at {FAR}": right,
        "seed": wanted.seed,
        "proof s": seconds,
        "training s": trained,
    }


def _verdict(net: Network, asked: Task, proof: Proof) -> str:
    """That of a proof, whose wrong word must be wrong in the network itself."""
    if proof.word is None:
        return proof.verdict
    word = asked.label(np.array([proof.word]))
    with torch.no_grad():
        said = net(torch.from_numpy(word.letters)).argmax(dim=-1).numpy()
    return "refuted" if (said != word.labels).any() else "undecided"


def main() -> None:
    """Train and prove what is asked for, and print the table."""
    asked = parser(__doc__)
    asked.add_argument("--jobs", type=int, default=1, help="Processes.")
    lists = {
        "tasks": "C2,C3,FlipFlop,Tomita1,Tomita2,Tomita3,Tomita4",
        "cells": "rnn,gru,lstm",
        "units": "8,16",
        "noises": "0,0.1",
        "seeds": "0",
    }
    for name, default in lists.items():
        asked.add_argument(f"--{name}", default=default, metavar="A,B,…")
    asked.add_argument("--steps", type=int, default=2000)
    given = asked.parse_args()
    tasks, cells, units, noises, seeds = (
        getattr(given, name).split(",") for name in lists
    )
    wanted = [
        Wanted(name, cell, int(size), float(noise), int(seed), given.steps)
        for name in tasks
        for size in units
        for cell in cells
        for noise in noises
        for seed in seeds
    ]
    try:
        rows = list(each(network, wanted, given.jobs))
    except KrohnError as error:
        raise SystemExit(str(error)) from None
    publish([Table(TITLE, rows, f"{given.steps:,} steps of training")], given)


if __name__ == "__main__":
    main()
