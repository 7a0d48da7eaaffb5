"""Transformers: the Program that a file states, and its tensors, sublayer by sublayer.

Which Program a source asks for says a module of its slice, by a function ``reference``.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from krohn.program.architectures.transformer import Transformer
from krohn.program.errors import demand
from krohn.program.inputs import Inputs, Words
from krohn.program.statement import Statement, parse
from krohn.verify.checker import sublayers
from krohn.verify.checker.affine_arithmetic import exact
from krohn.verify.checker.established import Established
from krohn.verify.checker.model_file import Machine, Model
from krohn.verify.checker.registry import program_rule, rule
from krohn.verify.checker.sublayers import Readings, embedding, follow_sublayers


class Reference(NamedTuple):
    """A Program that computes what a file claims.

    Attributes:
        program: The one that the file states.
        readings: What it can show, and what that means.
        inputs: On which inputs.
    """

    program: Statement
    readings: Readings
    inputs: Inputs


def check_claim(
    model: Model,
    said: Any,
    machine: Machine | None,
    progress: Callable[[Established], None] | None = None,
) -> Established:
    """The proved statement about a Transformer that computes a Program of whole numbers.

    ``progress`` is called after each step, with all that is shown up to there.
    """
    program, readings, inputs = _reference(model, said, machine)
    statement = Established(
        model.format,
        inputs,
        {"readings": len(readings)},
        readings=readings,
        logits=exact(np.zeros((0, 0)), model.format),
    )

    def report() -> None:
        if progress is not None:
            progress(statement)

    report()
    for stream, looks in follow_sublayers(model, embedding(model, program), said):
        each, known = (*statement.streams, stream), {**statement.looks, **looks}
        statement = replace(statement, streams=each, looks=known)
        report()
    logits, margin = sublayers.separate_logits(model, statement.streams[-1], readings)
    demand(margin > 0, f"the read-out can confuse two states (margin {margin:.2g})")
    statement = replace(statement, logits=logits, margin=margin)
    report()
    return statement


def _reference(model: Model, said: Any, machine: Machine | None) -> Reference:
    if not model.claim.of_machine:
        reference: Reference = rule(program_rule(model)).reference(model, said)
        return reference
    return beside(model, said, machine or model.machine)


def beside(model: Model, said: Any, machine: Machine) -> Reference:
    """The Program of a file, followed beside a machine."""
    from krohn.verify.checker import refinement  # no other source needs it

    program = causal(read_program(model, len(machine.transitions)))
    readings = refinement.check(program, said["program"], machine)
    return Reference(program, readings, Words(program.letters, program.length))


def causal(program: Statement) -> Statement:
    """A Program, if it can be followed letter by letter: nothing in it looks ahead."""
    alike = [channel.operation.causal for channel in program.channels.values()]
    demand(alike, "the Program reads later letters")
    return program


def read_program(
    model: Model, letters: int, matrices: bool = False, vectors: bool = False
) -> Statement:
    """The Program that a Transformer claims to compute; whether of real numbers, too."""
    length = model.length or 0
    demand(length > 0, "the file claims no length")
    shape = model.network(Transformer)
    demand(length < shape.positions, "too few positions")
    other = "the file has another number of letters than the machine"
    demand(shape.vocabulary == letters + 1, other)
    return parse(model.program, letters, length, matrices, vectors)
