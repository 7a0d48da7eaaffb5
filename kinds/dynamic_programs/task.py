"""Dynamic programs as networks are trained on them: they continue their texts."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from krohn.kinds.dynamic_programs import source_increasing
from krohn.kinds.dynamic_programs.source import find_by_name
from krohn.kinds.dynamic_programs.statement import ChainOfThought
from krohn.kinds.dynamic_programs.statement_increasing import SEPARATOR, Increasing
from krohn.program.domains import IntArray
from krohn.program.errors import told_as


@dataclass(frozen=True, eq=False)
class Continuations:
    """What `krohn.instruments.compare.tasks.texts` asks of texts of a fixed form.

    Attributes:
        source: A dynamic program, or lists of n numbers with short texts.
    """

    source: ChainOfThought | Increasing
    separator = SEPARATOR
    even = True

    @property
    def tokens(self) -> tuple[str, ...]:
        """The names of the tokens."""
        return self.source.tokens

    @property
    def length(self) -> int:
        """How many tokens each text has."""
        return self.source.length + isinstance(self.source, Increasing)

    @cached_property
    def ends(self) -> IntArray:
        """``(2, prompt)``: the first and the last token at each place of a prompt."""
        if isinstance(self.source, ChainOfThought):
            return np.array(self.source.prompt).T
        own = self.source
        numbers = [(0, own.largest)] * own.longest
        return np.array([*numbers, (own.end, own.end)]).T

    @property
    def prompts(self) -> int:
        """How many prompts there are."""
        low, high = self.ends.tolist()
        return prod(b - a + 1 for a, b in zip(low, high, strict=True))

    def prompts_at(self, numbers: IntArray) -> IntArray:
        """Prompts by their numbers, of which the last place counts fastest."""
        low, high = self.ends
        sizes = high - low + 1
        chosen = np.flatnonzero(sizes > 1)
        rows = np.tile(low, (len(numbers), 1))
        if len(chosen):
            rows[:, chosen] += np.array(np.unravel_index(numbers, sizes[chosen])).T
        return rows

    def draw_prompts(self, rng: np.random.Generator, count: int) -> IntArray:
        """Prompts are uniform."""
        low, high = self.ends
        return rng.integers(low, high + 1, size=(count, len(low)))

    def write_texts(
        self, prompts: IntArray, rng: np.random.Generator
    ) -> Sequence[Sequence[int]]:
        """The whole texts of prompts, in which nothing is left to chance."""
        if isinstance(self.source, ChainOfThought):
            texts: list[list[int]] = self.source.continue_prompts(prompts).tolist()
            return texts
        own, lists = self.source, prompts[:, :-1].tolist()
        return [source_increasing.text_of(own, line, self.length) for line in lists]


def continuations(source: object) -> Continuations | None:
    """The texts of a dynamic program of a name or a file; None of others.

    Raises:
        KrohnError: If its sizes or its text are wrong.
    """
    if not isinstance(source, str):
        return None
    with told_as(about=f"{source}: "):
        if (program := find_by_name(source)) is not None:
            return Continuations(program.chain_of_thought)
        increasing = source_increasing.find_by_name(source)
    return None if increasing is None else Continuations(increasing)
