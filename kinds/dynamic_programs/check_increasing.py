"""Longest increasing subsequences: a Program is compared with that of Theorem 5m."""

from typing import Any

from krohn.kinds.dynamic_programs.statement_increasing import Increasing, program_of
from krohn.kinds.dynamic_programs.statement_inputs import Lists
from krohn.program.errors import demand
from krohn.program.program import statement_of
from krohn.program.statement import Statement
from krohn.verify.checker.model_file import Model
from krohn.verify.checker.same_program import Classes, readings
from krohn.verify.checker.transformer import Reference, causal, read_program


def programs(model: Model) -> tuple[Statement, Statement]:
    """The Program of a file, and that of Theorem 5m."""
    lists = Increasing.from_wire(model.source)
    program = causal(read_program(model, len(lists.tokens)))
    demand(program.length == lists.length, "the claim is about other texts")
    return program, statement_of(program_of(lists))


def reference(model: Model, said: Any) -> Reference:
    """The Program of a file, which writes the texts of its lists."""
    program, right = programs(model)
    lists = Increasing.from_wire(model.source)
    shown = readings(program, right, Classes(program, right, said["same"]))
    return Reference(program, shown, Lists(*lists.sizes))
