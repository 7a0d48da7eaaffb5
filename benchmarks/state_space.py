"""Diagonal state space models: which machine is held, by which form, how long."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import torch
from report import Row, Table, each, parser, publish

import krohn
from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import KrohnError
from krohn.algebra.wording import in_runs
from krohn.architectures.state_space.build import (
    ROUNDING,
    SELECTIVE,
    SIGNS,
    Parts,
)
from krohn.architectures.state_space.engine import StateSpace
from krohn.compiler.compiled_network import machine_of_states
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.network.precision import PRECISIONS
from krohn.verify.proof import Proof, prove

MACHINES = (
    *(
        "FlipFlop",
        "Memory5",
        "Grid4",
        "Grid9",
        "Dyck4,2",
        "Adder",
        "FFL2",
        "FFLTracker2",
    ),
    *("Parity8@2,3,7", "ParityTree2,2", "C2", "C3", "C4", "C6", "C2xC2xC2", "D6", "D8"),
    *("Q8", "A4", "S4", "abab", "PermReset3", "A5", "Rubik"),
)
EDGES = (
    ("FlipFlop", SIGNS, tuple(PRECISIONS)),
    *((name, ROUNDING, ("float16", "bfloat16")) for name in ("C2", "C3", "C5")),
)
FORMS = (ROUNDING, SELECTIVE)
LENGTH, WORDS, SEARCHED = 120, 50, 64


def held(case: tuple[str, str]) -> Row:
    """How many letters a form holds a machine; ∞ is every length."""
    name, form = case
    machine = replace(krohn.read(name), output=None)
    start: Row = {"machine": f"`{name}`", "form": form}
    try:
        parts = Parts.of(machine_of_states(machine), form)
    except KrohnError:
        missing = {"layers": None, "parameters": None}
        return start | missing | dict.fromkeys(PRECISIONS, "not held")
    most = {n: parts.longest(form, p) for n, p in PRECISIONS.items()}
    length = None if most["float32"] is None else LENGTH
    cells: Row = {}
    seconds, size = 0.0, dict[str, Any]()
    for dtype, longest in most.items():
        if length is not None and longest is not None and longest < length:
            length = longest
        built = krohn.compile(machine, length, form, arch="ssm", dtype=dtype)
        assert built.proof is not None
        cells[dtype] = "∞" if longest is None else longest
        seconds, size = max(seconds, built.proof.seconds), built.summary()
    share = _parallel(built.file, machine, length or LENGTH)
    sizes = {key: size[key] for key in ("layers", "parameters")}
    return start | sizes | cells | {"proof s": seconds, "parallel": f"{share:.0%}"}


def _parallel(file: ModelFile, machine: Automaton, length: int) -> float:
    """How many answers of a scan by doubling are right, on random words."""
    words = np.random.default_rng(0).integers(
        len(machine.letters), size=(WORDS, length)
    )
    network = Model(file).network
    assert isinstance(network, StateSpace)
    said = network.parallel(torch.from_numpy(words)).argmax(dim=-1).numpy()
    right = machine.semiautomaton.trace(words, machine.start)
    return float((said == right).mean())


def edge(case: tuple[str, str, str]) -> Row:
    """Where a network ends: the longest proof, and the shortest wrong word."""
    name, form, dtype = case
    machine = replace(krohn.read(name), output=None)
    most = Parts.of(machine_of_states(machine), form).longest(form, PRECISIONS[dtype])
    assert most is not None
    how: dict[str, Any] = {"arch": "ssm", "dtype": dtype, "proof": False}
    file = krohn.compile(machine, most, form, **how).file
    for length, proof in _claimed(file, machine, most):
        if proof.verdict == "verified":
            most = length
        if proof.word is not None:
            break
    assert proof.word is not None
    said = Model(file).run([machine.letters[a] for a in proof.word])[-1]
    trace = machine.semiautomaton.trace(np.array([proof.word]), machine.start)[0]
    return {
        "machine": f"`{name}`",
        "form": form,
        "format": dtype,
        "proved up to": most,
        "wrong word": in_runs(machine.letters[a] for a in proof.word),
        "expected, said": f"{machine.states[trace[-1]]}, {said}",
    }


def _claimed(
    file: ModelFile, machine: Automaton, first: int
) -> Iterator[tuple[int, Proof]]:
    """Proofs of the same network for longer and longer words."""
    for length in range(first, 2 * first + SEARCHED):
        claim = {**file.header["claim"], "length": length}
        other = replace(file, header={**file.header, "claim": claim})
        yield length, prove(other, machine)


def main() -> None:
    """Print the tables."""
    options = parser(__doc__).parse_args()
    torch.set_num_threads(1)
    edges = [(name, form, dtype) for name, form, dtypes in EDGES for dtype in dtypes]
    tables = [
        Table("letters that are held", each(held, [*product(MACHINES, FORMS)])),
        Table("where networks end", each(edge, edges)),
    ]
    publish(tables, options)


if __name__ == "__main__":
    main()
