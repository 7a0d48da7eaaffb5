"""Rewriting systems as networks are trained on them: they continue their texts."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from krohn.kinds.rewriting.source import (
    count_operators,
    find_by_name,
    usual_length,
)
from krohn.kinds.rewriting.source_derivation import text_of
from krohn.kinds.rewriting.source_expressions import draw_expressions
from krohn.kinds.rewriting.source_text import random_lines
from krohn.kinds.rewriting.statement import END, Line, Rewriting
from krohn.program.errors import Refused, demand, told_as

_HANDLES = re.compile(r"(?P<name>.+):handles=(?P<handles>\w+)", re.DOTALL)


@dataclass(frozen=True, eq=False)
class Derivations:
    """What `krohn.instruments.compare.tasks.texts` asks of a rewriting system.

    Attributes:
        source: It.
        length: How many tokens a text has at most.
        anywhere: Whether any rule that can be applied is, each as likely; else the first
            one from the left.
    """

    source: Rewriting
    length: int
    anywhere: bool = False
    separator = END
    even = False
    prompts = None

    @property
    def tokens(self) -> tuple[str, ...]:
        """The names of the tokens."""
        return self.source.tokens

    def draw_prompts(self, rng: np.random.Generator, count: int) -> list[Line]:
        """Expressions with all operators; of other systems any lines."""
        system, operators = self.source, count_operators(self.source)
        if operators is not None:
            return list(islice(draw_expressions(system, operators, rng), count))
        return random_lines(system, rng, count)

    def write_texts(
        self, prompts: Sequence[Line], rng: np.random.Generator
    ) -> list[list[int]]:
        """The whole texts of lines."""
        order = rng if self.anywhere else None
        return [text_of(self.source, line, self.length, order) for line in prompts]


def derivations(source: object) -> Derivations | None:
    """The texts of a rewriting system of a name or a file; None of others.

    Args:
        source: ``Arithmetic6,11``, or ``Arithmetic6,11:handles=random``: at each step any
            operation that can be done is, instead of the first one.

    Raises:
        KrohnError: If a number is out of range, its text is wrong, or texts may not end.
    """
    if not isinstance(source, str):
        return None
    match = _HANDLES.fullmatch(source)
    name, handles = match.groups() if match else (source, "leftmost")
    with told_as(about=f"{source}: "):
        system = find_by_name(name)
        if system is None:
            return None
        known = handles in ("leftmost", "random")
        demand(known, f"handles are leftmost or random, not {handles}")
        length = usual_length(system)
        if length is None:
            raise Refused("its texts may go on for ever")
    return Derivations(system, length + 1, handles == "random")
