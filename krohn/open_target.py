"""Opening a model beside the machine that it is held against."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import KrohnError
from krohn.algebra.formats import json_format
from krohn.alignment import aligned
from krohn.foreign import names_machine, own_machine, with_names
from krohn.generator_target import GeneratorTarget
from krohn.machines import OWN, machine_of
from krohn.network import modelfile
from krohn.network.architecture import kind_of
from krohn.network.modelfile import ModelFile
from krohn.program import claim
from krohn.progress import Progress, silent
from krohn.verification_target import Target


def open_target(
    model: str | Path | ModelFile,
    machine: object,
    observation: str | None,
    progress: Progress = silent,
    tokenizer: Mapping[str, Any] | None = None,
) -> Target:
    """A model and the machine that `verify` is given, ready to be compared.

    Args:
        model: A model file.
        machine: What it is held against; None for the machine that it states.
        observation: What is seen of it.
        progress: Called with what is done.
        tokenizer: By what a GPT-2 reads texts.

    Raises:
        KrohnError: If the file is damaged or the alphabets do not fit.
    """
    file = model if isinstance(model, ModelFile) else modelfile.read(model)
    modelfile.claimed_length(file.header)
    outputs = file.header["claim"].get("shows") == "outputs"
    if observation is not None and not outputs:
        raise KrohnError(
            "--observe is for models of outputs, and this is one of states; leave "
            "--observe out"
        )
    laws = kind_of(file.header["architecture"]).answers == "laws"
    kind = GeneratorTarget if laws else Target
    if machine is None:
        return kind(file, _stated(file), progress, claim.of(file.header, tokenizer))
    seen = (observation or OWN) if outputs else None
    wanted = machine_of(machine, observation=seen)
    file, notes = with_names(file, wanted)
    own = own_machine(file)
    held = aligned(wanted, own)
    if not outputs:
        _check_shown(wanted, own)
    header = _claiming(file, wanted, held)
    return kind(file, held, progress, claim.of(header, tokenizer), notes=notes)


def _claiming(file: ModelFile, wanted: Automaton, held: Automaton) -> dict[str, Any]:
    """The header of a file that claims what it is held against.

    It is that of the file itself, if both have the same states, moves and answers.
    """
    header, precision = file.header, file.precision.name
    said = {"start": wanted.states[wanted.start], "dtype": precision}
    of_file = names_machine(file) and said.items() <= header["claim"].items()
    if of_file:
        own = own_machine(file)
        outputs = header["claim"].get("shows") == "outputs"
        if _moves(aligned(own, own), outputs) == _moves(held, outputs):
            return header
    told = json_format.to_object(wanted)
    return {**header, "machine": told, "claim": {**header["claim"], **said}}


def _moves(machine: Automaton, outputs: bool) -> tuple[object, ...]:
    """All that a proof is about: states, start, moves, and outputs if they are said."""
    output = machine.output if outputs else None
    shown = output and (output.names, output.table.tolist())
    return machine.states, machine.start, machine.transitions.tolist(), shown


def _check_shown(machine: Automaton, own: Automaton) -> None:
    """Refuse a file that says states, and says that they show what they do not.

    Raises:
        KrohnError: Which names a state.
    """
    right = _shown(machine)
    for place, said in _shown(own).items():
        if right.get(place, said) != said:
            raise KrohnError(
                f"{machine.name} shows {right[place]!r} {place}, where the model is to "
                f"show {said!r}"
            )


def _shown(machine: Automaton) -> dict[str, str]:
    """The name of the output in each state, or on each transition, by what that is."""
    output = machine.output
    if output is None:
        return {}
    if output.on == "states":
        pairs = zip(machine.states, output.table, strict=True)
        return {f"in state {q!r}": output.names[i] for q, i in pairs}
    return {
        f"at letter {a!r} in state {q!r}": output.names[i]
        for a, row in zip(machine.letters, output.table, strict=True)
        for q, i in zip(machine.states, row, strict=True)
    }


def _stated(file: ModelFile) -> Automaton:
    """The machine that the file itself states."""
    if not names_machine(file):
        raise KrohnError(
            "the file does not say which machine it computes; say --machine MACHINE"
        )
    own = own_machine(file)
    claim = file.header["claim"]
    if claim.get("start") != own.states[own.start]:
        raise KrohnError(
            f"the file is damaged: it claims the start state {claim.get('start')!r}, its "
            f"machine starts in {own.states[own.start]!r}"
        )
    return aligned(own, own)
