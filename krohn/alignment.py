"""A model file and a machine that it is held against: what is shown, in one order.

Machines with outputs are compared by what they show, whatever their states are called.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from krohn.algebra.automaton import Automaton, Output
from krohn.algebra.bisimulation import beside
from krohn.algebra.errors import KrohnError
from krohn.algebra.formats import json_format
from krohn.algebra.minimisation import moore, naming
from krohn.foreign import names_machine, own_machine, saying_outputs, with_names
from krohn.machines import OWN, machine_of, with_outputs
from krohn.network.modelfile import ModelFile
from krohn.program.claim import Sense, Shows
from krohn.program.word_texts import join_letters


@dataclass(frozen=True)
class Shown:
    """A machine whose outputs are to be shown by the states of a file's own machine.

    Attributes:
        wanted: The machine.
        own: The file's own, with what its states show.
        word: A shortest word after which the two show different things; None if they
            never do.
    """

    wanted: Automaton
    own: Automaton
    word: tuple[str, ...] | None

    @classmethod
    def of(cls, wanted: Automaton, own: Automaton) -> "Shown":
        """Follow the two side by side."""
        word = beside(wanted, own).word
        named = None if word is None else tuple(wanted.letters[a] for a in word)
        return cls(wanted, own, named)

    def word_within(self, length: int | None) -> tuple[str, ...] | None:
        """The word on which they differ, if it has at most so many letters."""
        apart = self.word is not None and (length is None or len(self.word) <= length)
        return self.word if apart else None

    def problem(self, length: int | None) -> str:
        """Why no proof about words of up to so many letters is one; empty if it is."""
        if (word := self.word_within(length)) is None:
            return ""
        right, actual = (m.run(word)[-1] for m in (self.wanted, self.own))
        return (
            f"after {join_letters(word)} {self.wanted.name} shows {right}, and the machine "
            f"of the file {actual}"
        )

    def along(self, word: Sequence[str], states: Sequence[str]) -> tuple[str, ...]:
        """The outputs that the states show that a network says after each letter."""
        from krohn.running import shown_along  # torch

        return tuple(shown_along(self.own, self.own.encode(word), states))


@dataclass(frozen=True)
class Alignment:
    """A model file, and the machine that it is held against.

    Attributes:
        file: The file, with the names that it lacked.
        machine: What the checker follows: the machine, with letters, states and outputs
            in the order of the file; or the file's own, if ``shown`` is given.
        header: The header of a file that claims the machine.
        shown: What the states of the file's own machine are to show.
        notes: What is to be known of the file.
    """

    file: ModelFile
    machine: Automaton
    header: Mapping[str, Any]
    shown: Shown | None = None
    notes: tuple[str, ...] = ()


def align(file: ModelFile, machine: object, observe: str | None) -> Alignment:
    """A model file and a machine, ready to be compared.

    A network that says the states of its own machine shows what another machine shows, if
    no word leads the two to different outputs: then whatever proves its own states proves
    the outputs of the other.

    Args:
        file: The model file.
        machine: The machine, as anything that `krohn.machines.machine_of` takes.
        observe: What is seen of it; by default its own outputs, if the file says some.

    Raises:
        KrohnError: If the alphabets do not fit, or the machine shows nothing of what the
            file says.
    """
    outputs = file.claim.shows is Shows.OUTPUTS
    wanted = machine_of(machine)
    wanted = with_outputs(wanted, observe or OWN) if outputs else wanted
    file, notes = with_names(file, wanted)
    own = own_machine(file)
    laws = file.claim.sense is Sense.LAWS
    named = names_machine(file)
    shows = own if named else replace(own, output=None)
    if (
        not outputs
        and not laws
        and (seen := _observable_machine(wanted, shows)) is not None
    ):
        _check_alphabets(wanted, own)
        if named:
            header = _claiming(file, moore(wanted), "outputs")
            shown = Shown.of(wanted, seen)
            return Alignment(file, align_machine(own, own), header, shown, notes)
        file, wanted = saying_outputs(file, own.letters, own.states), moore(wanted)
        own = own_machine(file)
    reference = in_order(wanted, own) if laws else align_machine(wanted, own)
    header = file.header
    if not _is_same(file, reference, own):
        header = _claiming(file, wanted, header["claim"].get("shows"))
    return Alignment(file, reference, header, notes=notes)


def _observable_machine(wanted: Automaton, own: Automaton) -> Automaton | None:
    """The file's machine with the outputs that another one is held against.

    These are what its states show, or the states by name, as of a machine that was
    learned from them. None if nothing is compared but states by their names.
    """
    if wanted.output is None:
        return None
    if own.output is None:
        return naming(own) if shows_names(wanted, own.states) else None
    if _shows_as(wanted, own):
        return None
    shown = set(wanted.output.names) <= set(own.output.names)
    return own if shown or not shows_names(wanted, own.states) else naming(own)


def shows_names(machine: Automaton, names: Collection[str]) -> bool:
    """Whether a machine shows names as outputs that are not those of its own states.

    So does one that was learned from a network that says these names.
    """
    shown = set() if machine.output is None else set(machine.output.names)
    return bool(shown) and shown <= set(names) and not set(machine.states) <= set(names)


def _shows_as(one: Automaton, other: Automaton) -> bool:
    """Whether two machines are one, by the names of states and of what these show."""
    if set(one.letters) != set(other.letters):
        return False
    moves = [_moves(align_machine(m, other), outputs=False) for m in (one, other)]
    return moves[0] == moves[1] and _output_names(one) == _output_names(other)


def _claiming(file: ModelFile, machine: Automaton, shows: str | None) -> dict[str, Any]:
    """The header of a file that claims a machine: its states, or outputs."""
    claim_fields = {
        "start": machine.states[machine.start],
        "dtype": file.precision.name,
    }
    claim_fields |= {} if shows is None else {"shows": shows}
    claim = {**file.header["claim"], **claim_fields}
    return {
        **file.header,
        "machine": json_format.claimed_machine(machine),
        "claim": claim,
    }


def _is_same(file: ModelFile, held: Automaton, own: Automaton) -> bool:
    """Whether a file itself claims the machine: the same states, moves and answers."""
    claim = file.header["claim"]
    claim_fields = {"start": held.states[held.start], "dtype": file.precision.name}
    if not names_machine(file) or not claim_fields.items() <= claim.items():
        return False
    outputs = claim.get("shows") == "outputs"
    return _moves(align_machine(own, own), outputs) == _moves(held, outputs)


def _moves(machine: Automaton, outputs: bool) -> tuple[object, ...]:
    """All that a proof is about: states, start, moves, and outputs if they are said."""
    output = machine.output if outputs else None
    shown = output and (output.names, output.table.tolist())
    return machine.states, machine.start, machine.transitions.tolist(), shown


def _output_names(machine: Automaton) -> dict[tuple[str, ...], str]:
    """The name of the output in each state, or of each letter in each state."""
    output = machine.output
    assert output is not None
    if output.on == "states":
        pairs = zip(machine.states, output.table, strict=True)
        return {(q,): output.names[i] for q, i in pairs}
    return {
        (a, q): output.names[i]
        for a, row in zip(machine.letters, output.table, strict=True)
        for q, i in zip(machine.states, row, strict=True)
    }


# A machine with letters, states and outputs in the order of a model file.


def align_machine(machine: Automaton, own: Automaton) -> Automaton:
    """The machine with letters, states and outputs in the order of the file.

    States and outputs that the file does not know come last; a state that it does not
    know is a difference if the file says states, such an output if it says outputs.

    Raises:
        KrohnError: If the alphabets differ.
    """
    _check_alphabets(machine, own)
    known = set(own.states)
    states = (*own.states, *(s for s in machine.states if s not in known))
    automaton = _reorder_states(machine, own, states)
    return replace(automaton, output=_aligned_output(machine, own, states))


def in_order(machine: Automaton, own: Automaton) -> Automaton:
    """The machine with its letters in the order of the file, and its own states.

    Raises:
        KrohnError: If the alphabets differ.
    """
    _check_alphabets(machine, own)
    return _reorder_states(machine, own, machine.states)


def _check_alphabets(machine: Automaton, own: Automaton) -> None:
    """Refuse other letters, and other vectors of input bits for the same letters."""
    if set(machine.letters) != set(own.letters):
        odd = sorted(set(machine.letters) ^ set(own.letters))
        raise KrohnError(
            f"{machine.name} and the model have different letters: {odd[0]!r} occurs in "
            "only one of them"
        )
    if machine.inputs is not None and own.inputs is not None:
        ours, theirs = (
            m.inputs.named_nodes(m.letters) for m in (machine, own) if m.inputs
        )
        if (machine.inputs.bits, ours) != (own.inputs.bits, theirs):
            raise KrohnError(
                f"{machine.name} and the model take some vectors of input bits for "
                "different letters"
            )


def _aligned_output(
    machine: Automaton, own: Automaton, states: tuple[str, ...]
) -> Output | None:
    """The outputs on states in the order of the file, those that it lacks last."""
    ours, theirs = machine.output, own.output
    if ours is None or theirs is None or ours.on != "states":
        return None
    names = (*theirs.names, *(n for n in ours.names if n not in theirs.names))
    place = np.array([names.index(n) for n in ours.names])
    table = np.zeros(len(states), dtype=np.int64)
    at = {q: i for i, q in enumerate(states)}
    table[[at[q] for q in machine.states]] = place[ours.table]
    return Output("states", table, names)


def _reorder_states(
    machine: Automaton, own: Automaton, states: tuple[str, ...]
) -> Automaton:
    """States that the machine lacks become loops that nothing reaches."""
    place = {s: i for i, s in enumerate(states)}
    table = np.tile(np.arange(len(states)), (len(own.letters), 1))
    to = np.array([place[s] for s in machine.states])
    row = {a: i for i, a in enumerate(machine.letters)}
    table[:, to] = to[machine.transitions[[row[a] for a in own.letters]]]
    structure = type(machine.semiautomaton)(table, own.letters, states)
    start = int(to[machine.start])
    return Automaton(structure, start, name=machine.name, inputs=own.inputs)
