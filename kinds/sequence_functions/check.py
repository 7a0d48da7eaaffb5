"""Programs: the one of a file is compared with the one that was written (Theorem 5i)."""

from typing import Any

from krohn.program.errors import demand
from krohn.program.inputs import Words
from krohn.program.statement import Statement, parse
from krohn.verify.checker.model_file import Model, names
from krohn.verify.checker.same_program import Classes, readings
from krohn.verify.checker.transformer import Reference, read_program


def programs(model: Model) -> tuple[Statement, Statement]:
    """The Program of a file, and the one that was written as it is."""
    source = model.source
    named = type(source.get("classes")) is list
    demand(named, "the file does not name its outputs")
    program = read_program(model, len(names(source, "letters")))
    return program, parse(source["program"], program.letters, program.length)


def reference(model: Model, said: Any) -> Reference:
    """The Program of a file, which is the written one."""
    program, written = programs(model)
    shown = readings(program, written, Classes(program, written, said["same"]))
    return Reference(program, shown, Words(program.letters, program.length))
