"""A dynamic program as networks are trained on it: they continue its texts."""

from krohn.kinds.dynamic_programs.source import find_by_name
from krohn.kinds.dynamic_programs.statement import ChainOfThought
from krohn.program.retelling import told_as


def chain_of_thought(source: object) -> ChainOfThought | None:
    """The texts of a dynamic program of a name or a file; None of others.

    Raises:
        KrohnError: If its sizes or its text are wrong.
    """
    if not isinstance(source, str):
        return None
    with told_as(about=f"{source}: "):
        program = find_by_name(source)
    return None if program is None else program.chain_of_thought
