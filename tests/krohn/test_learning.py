"""Learning an automaton from a compiled network gives the minimal machine back."""

from typing import Any

import pytest
import torch
from aalpy.base import SUL
from aalpy.learning_algs import run_Lstar
from aalpy.oracles import WMethodEqOracle

import krohn
from algebra.automaton import Automaton
from algebra.minimisation import minimise
from algebra.shown import moore
from krohn.open_model import Model
from network.model import said


class Network(SUL):  # type: ignore[misc]
    """A network that is asked letter by letter."""

    def __init__(self, net: Model, before: str) -> None:
        super().__init__()
        self.net, self.before = net, before

    def pre(self) -> None:
        self.cache = self.net.network.start()  # type: ignore[operator]

    def post(self) -> None:
        del self.cache

    def step(self, letter: str | None) -> str:
        if letter is None:
            return self.before  # a network says nothing before the first letter
        token = torch.tensor([self.net.letters.index(letter)])
        logits, self.cache = self.net.network.step(token, self.cache)  # type: ignore[operator]
        return said(logits, self.net.classes)[0]


def isomorphic(one: Automaton, other: Automaton) -> bool:
    """Whether a renaming of states takes one to the other, with start and outputs."""
    renamed = {one.start: other.start}
    todo = [one.start]
    for q in todo:
        if _shown(one, q) != _shown(other, renamed[q]):
            return False
        for a, letter in enumerate(one.letters):
            to = int(one.transitions[a, q])
            same = int(other.transitions[other.letters.index(letter), renamed[q]])
            if renamed.setdefault(to, same) != same:
                return False
            if to not in todo:
                todo.append(to)
    return len(set(renamed.values())) == len(one.states) == len(other.states)


def _shown(machine: Automaton, q: int) -> str:
    assert machine.output is not None
    return machine.output.names[machine.output.table[q]]


def observed(source: str) -> Automaton:
    """The machine of a source, which shows on its states what its network says."""
    machine = krohn.automaton(source)
    if machine.output is not None:
        return moore(machine)
    names = dict(zip(machine.states, machine.states, strict=True))
    moves = {
        q: {
            letter: machine.states[machine.transitions[a, i]]
            for a, letter in enumerate(machine.letters)
        }
        for i, q in enumerate(machine.states)
    }
    return krohn.automaton(moves, machine.states[machine.start], outputs=names)


@pytest.mark.parametrize("source", ["FlipFlop", "S3", "Grid4", "regex:(ab|ba)*a"])
def test_l_star_finds_the_source(source: str) -> None:
    wanted = observed(source)
    how: dict[str, Any] = {"observation": "outputs"} if "regex" in source else {}
    net = krohn.compile(source, 40, **how).model
    asked = Network(net, _shown(wanted, wanted.start))
    oracle = WMethodEqOracle(list(net.letters), asked, len(wanted.states))
    learned = run_Lstar(list(net.letters), asked, oracle, "moore", print_level=0)
    found = krohn.automaton(learned)
    assert len(found.states) == len(minimise(wanted).states)
    assert isomorphic(found, minimise(wanted))
