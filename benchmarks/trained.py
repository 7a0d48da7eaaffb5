"""Trained recurrent networks: proved, refuted or undecided (docs/architectures/gated.md).

    python benchmarks/trained.py --tasks C2,FlipFlop --units 8 --seeds 0

Networks that are missing in results/trained are trained and proved; `--seconds 0` prints
what is there.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from experiment import options, trained
from report import Row, Table, publish

from krohn.algebra.automaton import Automaton, IntArray, Output, Semiautomaton
from krohn.architectures.gated.commands import Layer
from krohn.architectures.gated.find_dynamics import varied_words
from krohn.instruments.compare.models import (
    Network,
    RecurrentLayer,
)
from krohn.instruments.compare.tasks.letters import Default
from krohn.instruments.compare.tasks.task import Task
from krohn.instruments.compare.training import presets
from krohn.instruments.compare.training.run import (
    Cell,
    Run,
)
from krohn.instruments.compare.training.sweep import Result
from krohn.machines import machine_of
from krohn.network import modelfile
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.program.errors import Refused
from krohn.verify.checker.network import recheck
from krohn.verify.proof import Proof, prove
from krohn.verify.search.find import for_file

FAR, WORDS = 400, 200
"""The length at which networks are tried, and how many words of each sort."""
MUTANTS, LARGEST = 4, 500
"""How many mutants there are of each network that is proved with at most so many sets."""
VERDICTS = ("verified", "refuted", "undecided")
CHOICES = {
    "tasks": (
        "C2,C3,FlipFlop,Tomita1,Tomita2,Tomita3,Tomita4,Tomita5,Tomita6,Tomita7,Dyck3"
    ),
    "cells": "rnn,gru,lstm",
    "units": "8,16,32",
    "training": "provable,usual",
    "seeds": "0,1,2",
}
"""What can be chosen among, and is by default."""


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


def cells(chosen: argparse.Namespace) -> list[Cell]:
    """The networks that are asked for: those of a training together, small ones first."""
    tasks, kinds, units, trainings, seeds = (
        getattr(chosen, name).split(",") for name in CHOICES
    )
    return [
        cell(task(name), RecurrentLayer(kind, int(size)), how == "provable", int(seed))
        for how in trainings
        for size in sorted(units, key=int)
        for kind in kinds
        for seed in seeds
        for name in tasks
    ]


def cell(asked: Task, layer: RecurrentLayer, provable: bool, seed: int) -> Cell:
    """A network, trained to be proved, or alike without what helps a proof."""
    layer, recipe = presets.provable(asked, None, layer)
    recipe = replace(recipe, every=recipe.steps)
    if not provable:
        recipe = replace(recipe, steadiness=None)
    return Cell(asked, layer, recipe, seed)


def measure(run: Run) -> dict[str, Any]:
    """Whether a network is right on long words, and whether it is proved."""
    asked, net = run.task, run.network
    assert isinstance(asked, Task)
    rng, machine = np.random.default_rng(run.seed), asked.machine
    usual = asked.batch(rng, WORDS, FAR).letters
    varied = varied_words(machine.transitions, machine.start, WORDS, FAR, rng)
    file = Layer.of(net.state_dict()).file(machine, asked.shows)
    began = time.process_time()
    proof = prove(file, machine)
    spent = time.process_time() - began
    verdict = _verdict(net, asked, proof)
    sets = proof.evidence[0]["pairs"] if verdict == "verified" else None
    found: dict[str, Any] = {
        "right": _right(net, asked, usual),
        "right_on_runs": _right(net, asked, varied),
        "verdict": verdict,
        "why": proof.reason if verdict == "undecided" else None,
        "sets": sets,
        "wrong_word": len(proof.word) if proof.word else None,
        "proof_seconds": spent,
    }
    if sets is not None and sets <= LARGEST:
        found |= mutated(file, asked, proof.told, rng)
    return found


def _right(net: Network | Model, asked: Task, words: IntArray) -> float:
    """The share of words all of whose answers are right."""
    right = _said(net, words) == asked.label(words).labels
    return float(right.all(axis=1).mean())


def _said(net: Network | Model, letters: IntArray) -> IntArray:
    """The answers of a network."""
    with torch.no_grad():
        return np.asarray(net(torch.from_numpy(letters)).argmax(dim=-1).numpy())


def _verdict(net: Network, asked: Task, proof: Proof) -> str:
    """That of a proof, whose wrong word must be wrong in the network itself."""
    if proof.word is None:
        return proof.verdict
    right = _right(net, asked, np.array([proof.word]))
    return "undecided" if right else "refuted"


def mutated(
    file: ModelFile, asked: Task, told: dict[str, Any], rng: np.random.Generator
) -> dict[str, int]:
    """Networks with one weight changed, and the old evidence as if it were about them."""
    told = {key: value for key, value in told.items() if key != "margin"}
    found = dict.fromkeys(("mutants", "proved", "wrong", "wrong_and_proved"), 0)
    tensors = [name for name in file.tensors if not name.startswith("start")]
    words = _words(asked, rng)
    for _ in range(MUTANTS):
        name = str(rng.choice(tensors))
        values = file.tensors[name].copy()
        place = tuple(rng.integers(size) for size in values.shape)
        values[place] += rng.normal() * 10.0 ** rng.uniform(-5, 1.5)
        values = file.precision.round(values)
        mutant = replace(file, tensors={**file.tensors, name: values})
        data = modelfile.pack(mutant.header, mutant.tensors)
        try:
            recheck(data, json.dumps(for_file(data, told)).encode())
            proved = True
        except Refused:
            proved = False
        wrong = _right(Model(mutant), asked, words) < 1
        seen = {"proved": proved, "wrong": wrong, "wrong_and_proved": wrong and proved}
        found["mutants"] += 1
        for key, true in seen.items():
            found[key] += true
    return found


def _words(asked: Task, rng: np.random.Generator) -> IntArray:
    """Words on which mutants are tried: some of the task, and some with long runs."""
    usual = asked.batch(rng, 100, 60).letters
    runs = rng.integers(len(asked.letters), size=(100, 12)).repeat(5, axis=1)
    return np.vstack([usual, runs])


def row(of: dict[str, Any], results: Sequence[Result]) -> Row:
    """How many of some networks are right on long words, and what is proved of these."""
    seen = [result.measured_values for result in results]
    right = [one for one in seen if one["right"] == one["right_on_runs"] == 1]
    counts = {what: sum(x["verdict"] == what for x in right) for what in VERDICTS}
    sets = sorted(x["sets"] for x in right if x["sets"] is not None)
    return {
        **of,
        "networks": len(seen),
        "refuted": sum(x["verdict"] == "refuted" for x in seen),
        "right on words": sum(x["right"] == 1 for x in seen),
        "on runs, too": len(right),
        **{f"{what} of these": count for what, count in counts.items()},
        "share verified": counts["verified"] / len(right) if right else None,
        "median sets": sets[len(sets) // 2] if sets else None,
        "most proof s": max(x["proof_seconds"] for x in seen),
    }


def grouped(results: Sequence[Result], *keys: str) -> Iterator[Row]:
    """A row for all networks that are alike in some ways."""
    facts = [_facts(result) for result in results]
    for group in dict.fromkeys(tuple(fact[key] for key in keys) for fact in facts):
        alike = [
            result
            for result, fact in zip(results, facts, strict=True)
            if tuple(fact[key] for key in keys) == group
        ]
        yield row(dict(zip(keys, group, strict=True)), alike)


def _facts(result: Result) -> dict[str, Any]:
    cell = result.cell
    assert isinstance(cell.architecture, RecurrentLayer)
    steady = cell.recipe.steadiness is not None
    return {
        "task": cell.task.name,
        "kind": cell.architecture.cell,
        "units": cell.architecture.hidden,
        "training": "provable" if steady else "usual",
        "seed": cell.seed,
    }


def single(result: Result) -> Row:
    """The row of a network."""
    names = ("right", "right_on_runs", "verdict", "sets", "wrong_word")
    found = {name.replace("_", " "): result.measured_values[name] for name in names}
    seconds = {"proof s": result.measured_values["proof_seconds"]}
    return _facts(result) | found | seconds | {"why": result.measured_values["why"]}


def damaged(results: Sequence[Result]) -> Row:
    """Mutants of all networks together."""
    names = ("mutants", "proved", "wrong", "wrong_and_proved")
    return {
        name.replace("_", " "): sum(r.measured_values.get(name, 0) for r in results)
        for name in names
    }


def main() -> None:
    """Train and prove what is missing, and print the tables."""
    asked = options(__doc__)
    for name, default in CHOICES.items():
        asked.add_argument(f"--{name}", default=default, metavar="A,B,…")
    asked.add_argument("--each", action="store_true", help="a row for each network")
    chosen = asked.parse_args()
    results = trained("trained", cells(chosen), measure, chosen)
    note = (
        f"right on words: on all of {WORDS} words of {FAR} letters of the task; on runs, "
        f"too: and on all of {WORDS} words of {FAR} letters with runs and biases."
    )
    tables = [
        Table("networks by kind", list(grouped(results, "training", "kind", "units"))),
        Table("networks by task", list(grouped(results, "training", "task")), note),
        Table("networks by training", list(grouped(results, "training"))),
        Table("mutants of those that are verified", [damaged(results)]),
    ]
    if chosen.each:
        tables = [Table("networks", list(map(single, results)))]
    publish(tables, chosen)


if __name__ == "__main__":
    main()
