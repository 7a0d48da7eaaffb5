"""The texts of rewriting systems: how near look-backs fetch in them (Lemma 5l)."""

from dataclasses import replace

from krohn.kinds.rewriting.statement import Rewriting
from krohn.program.operations.latest import Latest
from krohn.program.statement import Statement
from krohn.verify.checker.same_program import Classes


def nearby(
    program: Statement, source: Rewriting, said: Statement, classes: Classes
) -> Statement:
    """A Program with how near its look-backs fetch in the texts of a rewriting system.

    Args:
        program: The Program of the file.
        source: The rewriting system.
        said: The Program of Theorem 5k.
        classes: Which channels of the two are equal.
    """
    of_file, of_source = classes.of
    found = said.operations.values()
    flags = {of_source[op.where] for op in found if isinstance(op, Latest)}
    near = {
        name: source.longest
        for name, op in program.operations.items()
        if isinstance(op, Latest) and of_file[op.where] in flags
    }
    return replace(program, near=near)
