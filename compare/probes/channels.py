"""The channels of every Program that serves a machine, as variables."""

from collections.abc import Iterator, Mapping

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.semiautomaton import IntArray
from krohn.compare.probes.variable import Variable, VariableLocation, variable
from krohn.compiler.construction_choice.known_constructions import (
    CONSTRUCTIONS,
    construct,
)
from krohn.compiler.constructions import scan, sequential
from krohn.compiler.constructions.thesis import (
    krohn_rhodes,
    permutation_reset,
    semidirect,
    series,
)
from krohn.compiler.errors import CompileError
from krohn.compiler.output_programs import forms
from krohn.program import MarkedSum, PrefixSum, Program
from krohn.program.interpreter import interpret

# The baseline's channels are the state of one position for each layer: no algorithm.
TRIED = (
    *(name for name in CONSTRUCTIONS if name != sequential.NAME),
    semidirect.NAME,
    series.NAME,
    permutation_reset.NAME,
    krohn_rhodes.NAME,
)
"""The constructions whose Programs are asked for variables."""

MOST_OPERATIONS = 600
"""A Program with more channels is left out, and said to be."""

QUOTIENT = " (quotient)"


def programs(machine: Automaton, length: int) -> tuple[dict[str, Program], list[str]]:
    """The Programs that serve a machine, small ones first, and the names of too large ones.

    Args:
        machine: With outputs, Programs say these, and its least quotient is tried too.
        length: T.
    """
    found: dict[str, Program] = {}
    large: list[str] = []
    for form in forms(machine):
        for name in TRIED:
            called = name + QUOTIENT * (form is not machine)
            try:
                program = construct(name, form, length)
            except CompileError:
                continue
            if len(program.operations) > MOST_OPERATIONS:
                large.append(called)
            else:
                found[called] = program
    small = sorted(found, key=lambda name: len(_families(found[name])))
    return {name: found[name] for name in small}, large


def channels(programs: Mapping[str, Program], words: IntArray) -> Iterator[Variable]:
    """The channels of Programs on words ``(count, length)``, Program by Program.

    Channels that differ in an index in brackets, the images of all points under one map,
    are one variable. A block's answer in a search for the value before (``@``) is none.
    """
    for construction, program in programs.items():
        values = interpret(program, words)
        for name, parts in _families(program).items():
            home = VariableLocation(construction, program, parts)
            yield variable(
                _variable_name(construction, name),
                "channel",
                together(values, parts),
                _counts(program, parts),
                (home,),
            )


def together(values: Mapping[str, IntArray], parts: tuple[str, ...]) -> IntArray:
    """The values of channels after each letter, ``(count, length, parts)``."""
    columns = np.stack([values[name][:, 1:] for name in parts], axis=-1)
    return columns[..., 0] if len(parts) == 1 else columns


def _variable_name(construction: str, name: str) -> str:
    level = name.removeprefix("map")
    if construction.partition(" ")[0] == scan.NAME and level.isdigit():
        return f"{construction}: product of the last {2 ** int(level)} letters"
    return f"{construction}: {name}"


def _families(program: Program) -> dict[str, tuple[str, ...]]:
    """The channels by family name, and the outputs together."""
    found: dict[str, tuple[str, ...]] = {"outputs": program.outputs}
    for name in program.operations:
        if "@" not in name:
            family = name.partition("[")[0]
            found[family] = (*found.get(family, ()), name)
    return found


def _counts(program: Program, parts: tuple[str, ...]) -> bool:
    operation = program.operations[parts[0]]
    return len(parts) == 1 and isinstance(operation, PrefixSum | MarkedSum)
