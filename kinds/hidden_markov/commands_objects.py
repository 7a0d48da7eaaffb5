"""Hidden Markov models: by name, from files, of machines."""

from typing import Unpack

from krohn.algebra.errors import KrohnError
from krohn.kinds.hidden_markov.commands_machines import as_model
from krohn.kinds.hidden_markov.source import (
    HiddenMarkovModel,
    drive_system,
)
from krohn.kinds.linear_systems.source import LinearSystem
from krohn.machine_reading import MachineKeywords, MachineReading
from krohn.machines import machine_of, with_outputs
from krohn.option_rules import refuse_others
from krohn.program.errors import told_as
from krohn.source_kinds import find_source_to_compile


def hidden_markov(
    source: object, **reading: Unpack[MachineKeywords]
) -> HiddenMarkovModel:
    """The hidden Markov model of a name, a file, arrays, or a fitted object of hmmlearn.

    A linear system whose letters are stochastic, and every machine, is one whose letters
    are chosen.

    Args:
        source: A name; a file (docs/kinds/hidden_markov.md says which); a dict of the
            arrays ``startprob``, ``transmat`` and ``emissionprob``, whose rows are laws; an
            object that holds them as ``startprob_`` and so on; or a machine. In arrays the
            first letter is said by a state of the law startprob; in Krohn's JSON and in
            ``.pomdp`` files the start is the law before the first step.
        **reading: How a machine is read, by the names in
            `krohn.machine_reading.MachineReading`.

    Raises:
        KrohnError: If there is none of this name, or the source states none.

    Examples:
        >>> krohn.hidden_markov("GoldenMean").states
        ('A', 'B')
    """
    other, how = find_source_to_compile(source), MachineReading(**reading)
    if isinstance(source, list | tuple):
        raise KrohnError(
            "a hidden Markov model is three arrays, as a dict: {'startprob': …, "
            "'transmat': …, 'emissionprob': …}, each row of which adds up to 1"
        )
    if other is None:
        return as_model(with_outputs(machine_of(source, how), how.observe))
    model = other[1]
    refuse_others(how.reading_options, (), other[0].called)
    with told_as(about=f"{source} is no hidden Markov model: "):
        if isinstance(model, LinearSystem):
            return drive_system(model)
    if not isinstance(model, HiddenMarkovModel):
        raise KrohnError(f"{source} is no hidden Markov model")
    if model.final is not None:
        raise KrohnError(
            f"{model.name} is a weighted automaton, and its weights are no probabilities; "
            "krohn.compile takes it"
        )
    return model
