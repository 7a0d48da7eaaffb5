"""Where machines come from: the zoo, files, regular expressions."""

from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import overload

import algebra.zoo
from algebra import formats
from algebra.automaton import Automaton
from algebra.errors import MachineError
from algebra.formats import Complete, Kind, from_regex, no_choice
from algebra.observation import observe
from algebra.semiautomaton import Semiautomaton
from algebra.shown import moore
from krohn.belief_machine import belief_machine
from krohn.foreign import own_machine
from network import modelfile
from program.errors import Refused
from sources import FAMILIES, dynamic_programs, hidden_markov, linear_systems
from sources.hidden_markov import HiddenMarkovModel, files
from sources.linear_systems import LinearSystem

REGEX = "regex:"
MODEL = ".safetensors"
TEXTS = (dynamic_programs.SUFFIX, ".program")
"""Files of sources that are never machines."""
OWN = "outputs"
"""The observation that is the machine's own output."""


@overload
def zoo() -> tuple[str, ...]: ...
@overload
def zoo(name: str) -> Automaton: ...
def zoo(name: str | None = None) -> tuple[str, ...] | Automaton:
    """The machine of a name in the zoo; without a name, the names.

    Raises:
        MachineError: If there is no such machine; close names are suggested.
    """
    return algebra.zoo.names() if name is None else algebra.zoo.machine(name)


def read(
    source: str | Path, complete: Complete = "reject", kind: Kind | None = None
) -> Automaton:
    """A machine from a zoo name, a file, or ``regex:…``.

    Args:
        source: What names the machine. A name that could be both is a file only if it
            is written with a directory or a suffix. A model file stands for the machine
            that it states.
        complete: What to do with missing transitions of a file: refuse, lead them to a
            new sink state, or stay.
        kind: What an AT&T file is read as: ``"acceptor"``, ``"mealy"``, or None for what
            its labels say.

    Raises:
        MachineError: If nothing of that name can be read, or it is no AT&T file and
            ``kind`` is given.
    """
    named = _named(str(source))
    if named is None:
        return formats.read(source, complete, kind)
    if kind is not None:
        raise no_choice(str(source))
    return named


def _named(text: str) -> Automaton | None:
    """The machine of a pattern, a name or a model; None for the file of a machine."""
    if text.startswith(REGEX):
        return replace(from_regex(text[len(REGEX) :]), name=text)
    if (system := _system(text)) is not None:
        return automaton(system)
    if (model := _model(text)) is not None:
        return belief_machine(model)
    path = Path(text)
    if path.suffix.partition(":")[0] in TEXTS:
        raise _no_machine(text)
    looks_like_file = path.suffix != "" or len(path.parts) > 1
    if not looks_like_file or not path.exists():
        try:
            return algebra.zoo.machine(text)
        except MachineError as unknown:
            if not looks_like_file and not path.exists():
                raise _no_machine(text, str(unknown)) from None
    return own_machine(modelfile.read(path)) if path.suffix == MODEL else None


def _no_machine(text: str, unknown: str = "") -> MachineError:
    """Why a name, or a text, is no machine: another source, or unknown.

    Raises:
        KrohnError: If it is another source, and there is something wrong with it.
    """
    from krohn.source_kinds import named

    if (other := named(text)) is not None:
        return MachineError(
            f"{text} is {other[0].called}, and no machine; krohn explain and krohn compile "
            "take it"
        )
    known = {name.casefold(): name for kind in FAMILIES.values() for name in kind}
    close = get_close_matches(text.casefold(), list(known), n=1)
    return MachineError("; there is ".join([unknown, *(known[name] for name in close)]))


def _model(text: str) -> HiddenMarkovModel | None:
    try:
        return hidden_markov.named(text) or files.read(Path(text))
    except Refused as reason:
        raise MachineError(str(reason)) from None


def _system(text: str) -> LinearSystem | None:
    try:
        return linear_systems.named(text)
    except Refused as reason:
        raise MachineError(str(reason)) from None


def automaton(system: LinearSystem) -> Automaton:
    """The machine that a linear system is whose letters are maps.

    Raises:
        MachineError: If it is none.
    """
    functions = system.functions()
    if functions is None:
        raise MachineError(f"{system.name} is a linear system, and no machine")
    states = tuple(str(i + 1) for i in range(system.size))
    moves = Semiautomaton(functions, system.letters, states)
    return Automaton(moves, start=int(system.start.argmax()), name=system.name)


def machine_of(
    source: str | Path | Automaton,
    start: str | None = None,
    observation: str | None = None,
) -> Automaton:
    """A machine, or that which a source names, from a start state and as it is seen.

    Raises:
        MachineError: If it cannot be read, or has no such state or outputs.
    """
    machine = source if isinstance(source, Automaton) else read(source)
    machine = machine if start is None else machine.with_start(start)
    return seen(machine, observation)


def seen(machine: Automaton, observation: str | None) -> Automaton:
    """The machine with the outputs that are asked for, on its states.

    Raises:
        MachineError: If it has none, or the observation is not for this machine.
    """
    if observation is None:
        return machine
    return moore(machine) if observation == OWN else observe(machine, observation)
