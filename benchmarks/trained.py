"""Trained recurrent networks: proved, refuted or undecided (docs/proved-when-trained.md).

python benchmarks/trained.py --tasks C2,FlipFlop,Tomita1 --units 8,16
"""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import torch
from report import Row, Table, each, parser, publish

from krohn.algebra.automaton import Automaton, IntArray, Output, Semiautomaton
from krohn.algebra.errors import KrohnError
from krohn.compare.models import Network, RecurrentLayer, build
from krohn.compare.tasks.letters import Default
from krohn.compare.tasks.task import Task
from krohn.compare.training import presets
from krohn.compare.training.objective import Objective
from krohn.compare.training.trainer import Trainer
from krohn.machines import machine_of
from krohn.network import modelfile
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.program.errors import Refused
from krohn.trained_recurrent import Layer
from krohn.verify.checker.network import recheck
from krohn.verify.proof import Proof, prove
from krohn.verify.search.find import for_file

TITLE = "trained networks, for words of every length, float32"
FAR, WORDS = 400, 200
"""The length at which networks are tried, and how many words."""
RIGHT = f"right at {FAR}"


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
        training: ``usual``, or ``provable`` as `krohn compare --provable` trains.
        seed: Of all that is random.
        steps: Of training; None for those of the preset.
        mutants: How many are checked with the evidence of a network that is proved.
    """

    task: str
    cell: Any
    units: int
    training: str
    seed: int
    steps: int | None
    mutants: int


def trained(wanted: Wanted) -> tuple[Network, Task]:
    """A network that is trained, and its task."""
    asked = task(wanted.task)
    layer = RecurrentLayer(wanted.cell, wanted.units)
    layer, recipe = presets.provable(asked, None, layer)
    steps = wanted.steps or recipe.steps
    recipe = replace(recipe, steps=steps, every=steps)
    if wanted.training == "usual":
        recipe = replace(recipe, steadiness=None)
    counts = len(asked.letters), len(asked.classes)
    net = build(layer, *counts, recipe.reads, wanted.seed)
    trainer = Trainer(Objective(asked, recipe, wanted.seed), net, "cpu")
    while trainer.outcome is None:
        trainer.advance()
    return trainer.average.network.eval(), asked


def network(wanted: Wanted) -> Row:
    """The row of a network that is trained."""
    torch.set_num_threads(1)
    began = time.process_time()
    net, asked = trained(wanted)
    spent = time.process_time() - began
    batch = asked.batch(np.random.default_rng(wanted.seed), WORDS, FAR)
    file = Layer.of(net.state_dict()).file(asked.machine, asked.shows)
    began = time.process_time()
    proof = prove(file, asked.machine)
    seconds = time.process_time() - began
    verdict = _verdict(net, asked, proof)
    row = {
        "task": wanted.task,
        "kind": wanted.cell,
        "units": wanted.units,
        "training": wanted.training,
        "seed": wanted.seed,
        RIGHT: float((_said(net, batch.letters) == batch.labels).all(axis=1).mean()),
        "verdict": verdict,
        "sets": proof.evidence[0]["pairs"] if verdict == "verified" else None,
        "wrong word": len(proof.word) if proof.word else None,
        "proof s": seconds,
        "training s": spent,
    }
    if wanted.mutants and verdict == "verified":
        row |= mutated(file, asked, proof.told, wanted)
    if verdict == "undecided":
        row["why"] = proof.reason
    return row


def _said(net: Network | Model, letters: IntArray) -> IntArray:
    """The answers of a network."""
    with torch.no_grad():
        return np.asarray(net(torch.from_numpy(letters)).argmax(dim=-1).numpy())


def _verdict(net: Network, asked: Task, proof: Proof) -> str:
    """That of a proof, whose wrong word must be wrong in the network itself."""
    if proof.word is None:
        return proof.verdict
    word = asked.label(np.array([proof.word]))
    wrong = _said(net, word.letters) != word.labels
    return "refuted" if wrong.any() else "undecided"


def mutated(file: ModelFile, asked: Task, told: dict[str, Any], wanted: Wanted) -> Row:
    """Networks with one weight changed, and the old evidence as if it were about them."""
    told = {key: value for key, value in told.items() if key != "margin"}
    rng, found = np.random.default_rng(wanted.seed), [0, 0, 0]
    tensors = [name for name in file.tensors if not name.startswith("start")]
    words = _words(asked, rng)
    for _ in range(wanted.mutants):
        name = str(rng.choice(tensors))
        values = file.tensors[name].copy()
        place = tuple(rng.integers(size) for size in values.shape)
        values[place] += rng.normal() * 10.0 ** rng.uniform(-5, 1.5)
        values = file.precision.round(values)
        mutant = replace(file, tensors={**file.tensors, name: values})
        data = modelfile.pack(mutant.header, mutant.tensors)
        try:
            recheck(data, json.dumps(for_file(data, told)).encode())
            verified = True
        except Refused:
            verified = False
        wrong = bool((_said(Model(mutant), words) != asked.label(words).labels).any())
        for at, true in enumerate((verified, wrong, verified and wrong)):
            found[at] += true
    verified, wrong, both = found
    return {
        "mutants": wanted.mutants,
        "verified": verified,
        "wrong": wrong,
        "wrong and verified": both,
    }


def _words(asked: Task, rng: np.random.Generator) -> IntArray:
    """Words on which mutants are tried: some of the task, and some with long runs."""
    usual = asked.batch(rng, 100, 60).letters
    runs = rng.integers(len(asked.letters), size=(100, 12)).repeat(5, axis=1)
    return np.vstack([usual, runs])


def shares(rows: Sequence[Row]) -> Iterator[Row]:
    """Of networks that are alike but for the task and the seed, how many are decided."""
    columns = ("kind", "units", "training")
    for group in dict.fromkeys(tuple(row[c] for c in columns) for row in rows):
        alike = [row for row in rows if tuple(row[c] for c in columns) == group]
        right = [row for row in alike if row[RIGHT] == 1]
        counts = {
            verdict: sum(row["verdict"] == verdict for row in right)
            for verdict in ("verified", "refuted", "undecided")
        }
        yield {
            **dict(zip(columns, group, strict=True)),
            "networks": len(alike),
            "all right": len(right),
            **counts,
            "share verified": counts["verified"] / len(right) if right else None,
            "most s": max(row["proof s"] for row in alike),
        }


def main() -> None:
    """Train and prove what is asked for, and print the tables."""
    asked = parser(__doc__)
    asked.add_argument("--jobs", type=int, default=1, help="Processes.")
    lists = {
        "tasks": "C2,C3,FlipFlop,Tomita1,Tomita2,Tomita3,Tomita4,Tomita5,Tomita6,Tomita7,"
        "Dyck3",
        "cells": "rnn,gru,lstm",
        "units": "8,16,32",
        "training": "usual,provable",
        "seeds": "0,1,2",
    }
    for name, default in lists.items():
        asked.add_argument(f"--{name}", default=default, metavar="A,B,…")
    asked.add_argument("--steps", type=int, help="Instead of those of --provable.")
    asked.add_argument("--mutants", type=int, default=0, help="Of each that is proved.")
    given = asked.parse_args()
    tasks, cells, units, trainings, seeds = (
        getattr(given, name).split(",") for name in lists
    )
    wanted = [
        Wanted(name, cell, int(size), how, int(seed), given.steps, given.mutants)
        for name in tasks
        for size in units
        for cell in cells
        for how in trainings
        for seed in seeds
    ]
    try:
        rows = list(each(network, wanted, given.jobs))
    except KrohnError as error:
        raise SystemExit(str(error)) from None
    right = f"{WORDS} words of {FAR} letters of its task: the share that is right"
    tables = [
        Table(TITLE, rows, f"{RIGHT}: of {right}"),
        Table("of those that are right on all these words", list(shares(rows))),
    ]
    publish(tables, given)


if __name__ == "__main__":
    main()
