"""Networks that say outputs, from compiling to running, and the proof of what they say."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import krohn
from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton, Output
from krohn.algebra.observation import observe
from krohn.network import modelfile
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.running import runner_of
from krohn.verify.proof import prove


def claiming(file: ModelFile, **claim: Any) -> ModelFile:
    header = {**file.header, "claim": {**file.header["claim"], **claim}}
    return replace(file, header=header)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("name", "observation", "construction"),
    [
        ("Dyck2,2", "balance", "dyck"),
        ("Dyck2,2", "stack-top", "dyck"),
        ("abab", "accept", "sequential"),
        ("D8", "location", "cascade"),
        ("S3", "first-chair", "scan"),
        ("C4", "zero", "counter"),
    ],
)
def test_the_outputs_are_proved(
    name: str, observation: str, construction: str, tmp_path: Path
) -> None:
    model = krohn.compile(name, 6, construction, observe=observation)
    assert model.proof is not None
    assert model.proof.verdict == "verified"
    model.save(path := tmp_path / "m.safetensors")
    report = krohn.verify(path, proof=True, exhaustive=4, sample=16)
    assert report.verdict == "verified"
    machine = observe(zoo.machine(name), observation)
    word = list(machine.letters[:2]) * 3
    found = runner_of(modelfile.read(path)).run(word)
    assert not any(found.pop("unproved"))
    assert found == {"outputs": list(machine.run(word)), "word": word}


def test_outputs_on_transitions_are_said_too() -> None:
    c3 = zoo.machine("C3")
    rng = np.random.default_rng(0)
    table = rng.integers(2, size=c3.transitions.shape)
    mealy = replace(c3, output=Output("transitions", table, ("x", "y")))
    model = krohn.compile(mealy, 8, observe="outputs")
    word = ["1", "2", "1", "1", "2", "2", "1"]
    assert tuple(Model(model.file).run(word)) == mealy.run(word)
    assert krohn.verify(model.file, mealy).verdict == "verified"


def changed(machine: Automaton, state: int) -> Automaton:
    """The machine with another output in one state."""
    assert machine.output is not None
    table = machine.output.table.copy()
    table[state] = (table[state] + 1) % len(machine.output.names)
    return replace(machine, output=Output("states", table, machine.output.names))


@pytest.mark.slow
@pytest.mark.parametrize("construction", ["dyck", "sequential", "scan", "cascade"])
def test_one_changed_output_is_refuted_by_a_word(construction: str) -> None:
    model = krohn.compile("Dyck2,2", 4, construction, observe="balance")
    right = observe(zoo.machine("Dyck2,2"), "balance")
    assert krohn.verify(model.file, right).verdict == "verified"
    assert krohn.verify(model.file, "Dyck2,2", observe="balance").verdict == "verified"
    for state in range(1, len(right.states)):
        wrong = changed(right, state)
        report = krohn.verify(model.file, wrong)
        assert report.verdict == "refuted"
        assert report.counterexample is not None
        found = report.counterexample
        assert wrong.run(found.word) == found.expected != found.actual


def test_an_rnn_with_one_changed_output_is_refuted() -> None:
    model = krohn.compile("abab", arch="rnn", observe="accept")
    right = observe(zoo.machine("abab"), "accept")
    for state in range(len(right.states)):
        assert krohn.verify(model.file, changed(right, state)).verdict == "refuted"


def test_the_claim_says_what_the_logits_stand_for() -> None:
    c4 = observe(zoo.machine("C4"), "zero")
    model = krohn.compile(c4, 5, observe="outputs")
    assert prove(model.file, zoo.machine("C4")).verdict == "undecided"
    assert prove(claiming(model.file, shows="states"), c4).verdict != "verified"
    assert prove(claiming(model.file, shows="nothing"), c4).verdict == "undecided"
    of_states = krohn.compile(c4, 5)
    assert of_states.file.header["architecture"]["outputs"] == 4
    assert prove(claiming(of_states.file, shows="outputs"), c4).verdict != "verified"
