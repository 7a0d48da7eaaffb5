"""Opening a model beside the machine that it is held against."""

from pathlib import Path

from algebra.automaton import Automaton
from algebra.errors import KrohnError
from krohn.alignment import aligned
from krohn.foreign import names_machine, own_machine, with_names
from krohn.generator_target import GeneratorTarget
from krohn.progress import Progress, silent
from krohn.sources import OWN, machine_of
from krohn.verification_target import Target
from network import modelfile
from network.architecture import kind_of
from network.modelfile import ModelFile


def open_target(
    model: str | Path | ModelFile,
    machine: object,
    observation: str | None,
    progress: Progress = silent,
) -> Target:
    """A model and the machine that `verify` is given, ready to be compared.

    Raises:
        KrohnError: If the file is damaged or the alphabets do not fit.
    """
    file = model if isinstance(model, ModelFile) else modelfile.read(model)
    modelfile.claimed_length(file.header)
    outputs = file.header["claim"].get("shows") == "outputs"
    if observation is not None and not outputs:
        raise KrohnError(
            "--observe is for models that say outputs; this one says states, and is held "
            "against these"
        )
    laws = kind_of(file.header["architecture"]).answers == "laws"
    kind = GeneratorTarget if laws else Target
    if machine is None:
        return kind(file, _stated(file), progress)
    seen = (observation or OWN) if outputs else None
    wanted = machine_of(machine, observation=seen)
    file, notes = with_names(file, wanted)
    held = aligned(wanted, own_machine(file))
    if not outputs:
        _check_shown(wanted, held, own_machine(file))
    return kind(file, held, progress, notes=notes)


def _check_shown(machine: Automaton, held: Automaton, own: Automaton) -> None:
    """Refuse a file that says states, and says that they show what they do not.

    Raises:
        KrohnError: Which names a state.
    """
    if held.output is None or own.output is None or own.output.on != "states":
        return
    for i, q in enumerate(own.states):
        right, said = (o.names[o.table[i]] for o in (held.output, own.output))
        if q in machine.states and right != said:
            raise KrohnError(
                f"{machine.name} shows {right!r} in state {q!r}, where the model is to "
                f"show {said!r}"
            )


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
