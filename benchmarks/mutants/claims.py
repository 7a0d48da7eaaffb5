"""Mutations of what the file claims, and of the machine that it is held against."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from krohn.algebra.automaton import Automaton, IntArray, Semiautomaton
from krohn.network.precision import PRECISIONS
from mutants.subject import Json, Mutant, Mutation, Subject


def _claiming(key: str, change: Callable[[Subject, Any], Any]) -> Mutation:
    """The claim has another value under a key that it has."""

    def claim(subject: Subject, _: np.random.Generator) -> Mutant | None:
        if key not in subject.file.header["claim"]:
            return None
        new = change(subject, subject.file.header["claim"][key])
        changed = subject.with_header(lambda h: h["claim"].update({key: new}))
        return Mutant(f"claim.{key} = {new!r}", changed)

    return claim


def _another_state(subject: Subject, old: str) -> str:
    return next((q for q in subject.machine.states if q != old), old)


def _another_format(_: Subject, old: str) -> str:
    return next(n for n in PRECISIONS if n != old)


def lengthened(subject: Subject, rng: np.random.Generator) -> Mutant | None:
    """One position more, with the code of another one, and a claim of one letter more."""
    if not subject.kind.program:
        return None
    table = subject.file.tensors["embed.position"]
    row = int(rng.integers(len(table)))
    longer = np.concatenate([table, table[row : row + 1]])

    def edit(header: Json) -> None:
        header["architecture"]["positions"] += 1
        header["claim"]["length"] += 1

    changed = subject.with_header(edit).with_tensors({"embed.position": longer})
    return Mutant(f"embed.position: row {row} again", changed)


def shows(subject: Subject, _: np.random.Generator) -> Mutant | None:
    """Logits are said to stand for outputs instead of states, or the reverse."""
    old = subject.file.header["claim"].get("shows", "states")
    new = {"states": "outputs", "outputs": "states"}[old]
    changed = subject.with_header(lambda h: h["claim"].update(shows=new))
    return Mutant(f"claim.shows = {new!r}", changed)


def _held_against(
    subject: Subject, where: str, transitions: IntArray, start: int
) -> Mutant:
    old = subject.machine
    structure = Semiautomaton(transitions, old.letters, old.states)
    machine = Automaton(structure, start, name=old.name)
    machine = replace(machine, output=old.output)
    return Mutant(where, replace(subject, machine=machine))


def start(subject: Subject, rng: np.random.Generator) -> Mutant | None:
    """A machine that starts in another state."""
    machine = subject.machine
    others = [q for q in range(len(machine.states)) if q != machine.start]
    if not others:
        return None
    state = int(rng.choice(others))
    where = f"machine: start in {machine.states[state]}"
    return _held_against(subject, where, machine.transitions, state)


def letters(subject: Subject, rng: np.random.Generator) -> Mutant | None:
    """A machine in which two letters have traded their meanings."""
    machine = subject.machine
    if len(machine.letters) < 2:
        return None
    left, right = map(int, rng.choice(len(machine.letters), size=2, replace=False))
    table = machine.transitions.copy()
    table[[left, right]] = table[[right, left]]
    where = f"machine: letters {machine.letters[left]} and {machine.letters[right]}"
    return _held_against(subject, where, table, machine.start)


def transition(subject: Subject, rng: np.random.Generator) -> Mutant | None:
    """A machine in which one transition leads elsewhere."""
    machine = subject.machine
    states = len(machine.states)
    if states < 2:
        return None
    letter, state = int(rng.integers(len(machine.letters))), int(rng.integers(states))
    table = machine.transitions.copy()
    table[letter, state] = (table[letter, state] + rng.integers(1, states)) % states
    where = f"machine: {machine.letters[letter]} in {machine.states[state]}"
    return _held_against(subject, where, table, machine.start)


KINDS: dict[str, Mutation] = {
    "claimed length + 1": _claiming("length", lambda _, old: old + 1),
    "claimed length × 10": _claiming("length", lambda _, old: 10 * old),
    "claimed length − 1": _claiming("length", lambda _, old: max(1, old - 1)),
    "a position appended and claimed": lengthened,
    "claimed start state": _claiming("start", _another_state),
    "claimed number format": _claiming("dtype", _another_format),
    "claimed to say outputs": shows,
    "claimed tolerance / 4": _claiming("tolerance", lambda _, old: old / 4),
    "claimed opening 1/3": _claiming("opening", lambda *_: "1/3"),
    "machine: start state": start,
    "machine: two letters": letters,
    "machine: one transition": transition,
}
