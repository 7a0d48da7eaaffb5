"""Where machines come from: the zoo, files, regular expressions, Python objects."""

from collections.abc import Hashable
from dataclasses import replace
from pathlib import Path
from typing import Unpack, cast, overload

from krohn.algebra import formats
from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import MachineError
from krohn.algebra.formats import Complete, Kind, no_choice
from krohn.algebra.formats.files import STANDARD_INPUT
from krohn.machine_reading import AS_IT_IS, OF_OBJECTS, MachineReading, ReadingKeywords
from krohn.network import modelfile
from krohn.program.slices import source_examples
from krohn.program.wording import message_for_user
from krohn.source_kinds import KINDS, find_source

REGEX, FORMAL = "regex:", "formal:"
MODEL = (".safetensors", ".st")
"""How the names of model files end."""
OWN = "outputs"
"""The observation that is the machine's own output."""


@overload
def zoo() -> tuple[str, ...]: ...
@overload
def zoo(name: str) -> Automaton: ...
def zoo(name: str | None = None) -> tuple[str, ...] | Automaton:
    """The machine of a name in the zoo; without a name, the names.

    Args:
        name: The name, as ``"S5"``; None for the list of names.

    Raises:
        MachineError: If there is no such machine; close names are suggested.

    Examples:
        >>> krohn.zoo()[:3]
        ('C2', 'C3', 'C4')
        >>> krohn.zoo("C2").letters
        ('0', '1')
    """
    from krohn.algebra import zoo as named_machines

    return named_machines.names() if name is None else named_machines.machine(name)


def read(
    source: str | Path, complete: Complete = "reject", read_as: Kind | None = None
) -> Automaton:
    """A machine from a zoo name, a file, ``regex:…`` or ``formal:…``.

    Args:
        source: What names the machine. A name that could be both is a file only if it
            is written with a directory or a suffix. A model file stands for the machine
            that it states; ``-`` is a machine file on standard input, whose format
            follows from how it begins.
        complete: What to do with missing transitions of a file: refuse, lead them to a
            new sink state, or stay.
        read_as: What an AT&T file is read as: ``"acceptor"``, ``"mealy"``, or None for what
            its labels say.

    Raises:
        MachineError: If nothing of that name can be read, or it is no AT&T file and
            ``read_as`` is given.

    Examples:
        >>> krohn.read("regex:(ab)*").letters
        ('a', 'b')
    """
    if str(source) == STANDARD_INPUT:
        machine = formats.read(source, complete, read_as)
        return _reword_remark(replace(machine, name="standard input"))
    if not str(source).strip():
        raise MachineError(
            "name a machine: a name of `krohn zoo`, a file, or regex:PATTERN"
        )
    named = _by_name(str(source))
    if named is None:
        return _reword_remark(formats.read(source, complete, read_as))
    if read_as is not None:
        raise no_choice(str(source))
    return named


def _reword_remark(machine: Automaton) -> Automaton:
    """The machine with a remark that names options as who reads it writes them."""
    remark = message_for_user(machine.remark)
    return machine if remark == machine.remark else replace(machine, remark=remark)


def _by_name(text: str) -> Automaton | None:
    """The machine of a pattern, a name or a model; None for the file of a machine."""
    if text.startswith((REGEX, FORMAL)):
        form, _, pattern = text.partition(":")
        from krohn.algebra.formats.regex import from_regex

        return replace(from_regex(pattern, f"{form}:" == FORMAL), name=text)
    if (other := find_source(text)) is not None:
        return other[0].machine(other[1])
    path = Path(text)
    looks_like_file = path.suffix != "" or len(path.parts) > 1
    if not looks_like_file or not path.exists():
        from krohn.algebra import zoo as named_machines

        try:
            return named_machines.machine(text)
        except MachineError as unknown:
            if not looks_like_file and not path.exists():
                raise _unknown_name_error(text, unknown) from None
    return _machine_of_file(modelfile.read(path)) if path.suffix in MODEL else None


def _machine_of_file(file: object) -> Automaton:
    """The machine that a model file states."""
    from krohn.foreign import Headed, own_machine

    return own_machine(cast(Headed, file))


def _unknown_name_error(text: str, error: MachineError) -> MachineError:
    """The error of a text that names nothing, with names that are near."""
    from krohn.algebra.zoo import UnknownNameError, unknown_name_message

    if set(text) & set("*|()+"):
        return MachineError(f"{error}; a pattern is written regex:{text}")
    if not isinstance(error, UnknownNameError):
        return error
    others = (name for kind in KINDS for name in source_examples(kind))
    return MachineError(unknown_name_message(text, others))


def automaton(
    source: object,
    start: Hashable | None = None,
    *,
    name: str | None = None,
    **reading: Unpack[ReadingKeywords],
) -> Automaton:
    """The machine that something is, or names (docs/python.md).

    Args:
        source: A machine, a compiled model (the machine that it computes), what `read`
            reads; or a dict from states to a dict from letters to states, a function
            from state and letter to a state, a list of permutations of 0, 1, …, one for
            each letter (of sympy too), a DFA or NFA of automata-lib, a Dfa, MooreMachine
            or MealyMachine of AALpy, an automaton or Regex of pyformlang, a Machine of
            transitions, a StateMachine of python-statemachine, a directed graph of
            networkx, an Fst of OpenFst. States and letters are called by their
            ``str``; an acceptor with choices becomes the smallest one without.
        start: The start state, where it is not the one that the source says.
        name: What to call the machine.
        **reading: How it is read, by the names in `krohn.machine_reading.MachineReading`.

    Raises:
        MachineError: If there is no machine in it, or something said means nothing here.

    Examples:
        >>> krohn.automaton({"off": {"push": "on"}, "on": {"push": "off"}}).states
        ('off', 'on')
    """
    how = MachineReading(start=start, **reading)
    machine = with_outputs(machine_of(source, how), how.observe)
    return machine if name is None else replace(machine, name=name)


def machine_of(source: object, reading: MachineReading = AS_IT_IS) -> Automaton:
    """The machine of anything that `automaton` takes, before it is observed.

    Raises:
        MachineError: If it cannot be read, or has no such state.
    """
    machine = _existing(source, reading)
    if machine is None:
        from krohn.machine_readers import from_object  # all libraries' objects

        return _reword_remark(from_object(source, reading))
    return machine if reading.start is None else machine.with_start(str(reading.start))


def _existing(source: object, reading: MachineReading) -> Automaton | None:
    """The machine of a name, or one that is there already; None for other objects."""
    refused = OF_OBJECTS if isinstance(source, str | Path) else (*OF_OBJECTS, "read_as")
    if isinstance(source, str | Path):
        known = read(source, reading.complete, reading.read_as)
    elif isinstance(source, Automaton):
        known = source
    elif hasattr(file := getattr(source, "file", source), "header"):
        known = _machine_of_file(file)
    elif (other := find_source(source)) is not None:
        known = other[0].machine(other[1])
    else:
        return None
    for option in reading.reading_options:
        if option in refused:
            raise MachineError(
                f"{option}= has no effect on {known.name}, a machine already"
            )
    return known


def with_outputs(machine: Automaton, observe: str | None) -> Automaton:
    """The machine with the outputs that are asked for, on its states.

    Raises:
        MachineError: If it has none, or the observation is not for this machine.
    """
    if observe is None:
        return machine
    if observe == OWN:
        from krohn.algebra.minimisation import moore

        return moore(machine)
    from krohn.algebra import observation

    return observation.observe(machine, observe)
