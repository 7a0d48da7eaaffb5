"""The texts of rewriting systems: a Program is compared with that of Theorem 5k."""

from dataclasses import replace
from typing import Any

from krohn.kinds.rewriting.statement import Rewriting
from krohn.kinds.rewriting.statement_inputs import Lines
from krohn.kinds.rewriting.statement_program import program_of
from krohn.program.operations.latest import Latest
from krohn.program.program import statement_of
from krohn.program.statement import Statement
from krohn.verify.checker.model_file import Model
from krohn.verify.checker.same_program import Classes, readings
from krohn.verify.checker.transformer import Reference, causal, read_program


def programs(model: Model) -> tuple[Statement, Statement]:
    """The Program of a file, and that of Theorem 5k."""
    system = Rewriting.from_wire(model.source)
    program = causal(read_program(model, len(system.tokens)))
    return program, statement_of(program_of(system, program.length))


def reference(model: Model, said: Any) -> Reference:
    """The Program of a file, which writes the texts of its lines."""
    (program, right), system = programs(model), Rewriting.from_wire(model.source)
    classes = Classes(program, right, said["same"])
    shown = readings(program, right, classes)
    inputs = Lines(system.end, system.longest, program.length)
    return Reference(nearby(program, system, right, classes), shown, inputs)


def nearby(
    program: Statement, source: Rewriting, said: Statement, classes: Classes
) -> Statement:
    """A Program with how near its look-backs fetch in such texts (Lemma 5l).

    Args:
        program: The Program of the file.
        source: The rewriting system.
        said: The Program of Theorem 5k.
        classes: Which channels of the two are equal.
    """
    of_file, of_source = classes.of
    operations = said.operations.values()
    flags = {of_source[op.where] for op in operations if isinstance(op, Latest)}
    near = {
        name: source.longest
        for name, op in program.operations.items()
        if isinstance(op, Latest) and of_file[op.where] in flags
    }
    return replace(program, near=near)
