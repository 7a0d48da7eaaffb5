"""The texts of rewriting systems: the Program of a file is that of Theorem 5k."""

from dataclasses import replace

from krohn.program.operations.latest import Latest
from krohn.program.rewriting import Rewriting
from krohn.program.rewriting_program import program_of
from krohn.program.statement import Statement, statement_of
from krohn.verify.checker.same_program import Classes, readings

Readings = dict[tuple[int, ...], int]


def check(program: Statement, source: Rewriting) -> tuple[Statement, Readings]:
    """Refuse a Program that is not shown to write the texts of a rewriting system.

    Returns:
        The Program, with how near its look-backs fetch in these texts (Lemma 5l), and
        for each tuple that its outputs can be the token that it means.

    Raises:
        Refused: If it is not shown to say what the Program of the theorem says.
    """
    said = statement_of(program_of(source, program.length))
    found = readings(program, said)
    classes = Classes(program, said)
    flags = {
        classes.of_source[op.where]
        for op in said.operations.values()
        if isinstance(op, Latest)
    }
    near = {
        name: source.longest
        for name, op in program.operations.items()
        if isinstance(op, Latest) and classes.of_file[op.where] in flags
    }
    return replace(program, near=near), found
