"""Longest increasing subsequences as short texts, in the commands."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any, Literal, TypedDict

import numpy as np

from krohn.algebra.errors import KrohnError
from krohn.compile_options import CompileOptions
from krohn.compiler import CompileError
from krohn.compiler.compiled_network import compile_program
from krohn.kinds.dynamic_programs.source_increasing import find_by_name, text_of
from krohn.kinds.dynamic_programs.statement_increasing import (
    KIND,
    SEPARATOR,
    Increasing,
    program_of,
)
from krohn.network.modelfile import ModelFile
from krohn.program.errors import told_as
from krohn.schemas.parts import Dtype, Sizes
from krohn.source_kinds.base import Built, letters_in, sizes
from krohn.source_kinds.kind import Answers
from krohn.source_kinds.written_texts import (
    MOST_LINES,
    Line,
    LineKind,
    Row,
    Writer,
    named_by,
    row_of,
)

CONSTRUCTION = "threshold"


class IncreasingFacts(Sizes):
    """Longest increasing subsequences.

    Attributes:
        numbers: How many numbers a list has, and their range.
        tokens: The tokens of the longest text.
    """

    name: str
    kind: Literal["increasing"]
    claim: Literal["generates"]
    numbers: str
    tokens: int
    dtype: Dtype
    proved: None


class StatedIncreasing(TypedDict):
    """Longest increasing subsequences."""

    kind: Literal["increasing"]
    name: str
    letters: list[str]
    shortest: int
    longest: int
    largest: int


class IncreasingSubsequences(LineKind[Increasing]):
    """Lists of numbers, of any length up to n or of n, and their short texts."""

    wire = KIND
    facts_types = (IncreasingFacts,)
    stated_type = StatedIncreasing
    source = Increasing
    called = "a longest increasing subsequence"
    claim = "generates"
    measured = True

    def text_of(self, source: Increasing, line: Sequence[int], most: int) -> list[int]:
        """The first tokens of the text of a line, by the reference."""
        return text_of(source, line, most)

    def find_by_name(self, text: str) -> Increasing | None:
        """``ShortLIS20``, or ``ShortLIS20,30:exact`` for 20 numbers from 0 to 30."""
        with told_as(about=f"{text}: "):
            return find_by_name(text)

    def build(self, source: Increasing, asked: CompileOptions) -> Built:
        """The network for all lists of up to n numbers."""
        if asked.length is not None:
            raise CompileError(
                f"-T is for words of any length; texts of {source.name} have up to "
                f"{source.length + 1} tokens"
            )
        built = compile_program(program_of(source), asked.options)
        return replace(built, construction=CONSTRUCTION), {"length": source.length}

    def facts(self, source: Increasing, asked: CompileOptions) -> dict[str, Any]:
        """Its sizes, and those of its network."""
        built, _ = self.build(source, asked)
        assert built.cost is not None
        many = "" if source.shortest == source.longest else "up to "
        return {
            "numbers": f"{many}{source.longest}, each 0 to {source.largest}",
            "tokens": source.length + 1,
            "dtype": asked.options.precision.name,
            **sizes(built.cost),
        }

    def writer(self, file: ModelFile) -> Writer:
        """A list and its separator are asked for; the whole text is said."""
        source = self.of_file(file)

        def row(words: Sequence[str]) -> Row:
            return row_of(source.end, _list_in(source, words), source.length)

        def describe_text(row: Row, text: list[int]) -> Answers:
            names = named_by(source.tokens, text)
            result = {"text": names, "answer": names[-2], "shown": " ".join(names)}
            return Answers(result, range(len(names)))

        return Writer(source.tokens, row, describe_text, end=source.end + 1)

    def sample_inputs(
        self, file: ModelFile, count: int, rng: np.random.Generator
    ) -> list[Line]:
        """Lists of random lengths: random numbers, and ascending parts."""
        source = self.of_file(file)
        lines = list[Line]()
        for i in range(count):
            size = int(rng.integers(source.shortest, source.longest + 1))
            line = rng.integers(source.largest + 1, size=size)
            parts = np.array_split(line, 3)
            ordered = np.concatenate([np.sort(part) for part in parts])
            lines.append(tuple((ordered if i % 2 else line).tolist()))
        return lines

    def list_inputs(self, file: ModelFile, length: int) -> list[Line]:
        """All lists of up to so many numbers."""
        source = self.of_file(file)
        many, sizes_of = source.largest + 1, range(source.shortest, length + 1)
        count = sum(many**n for n in sizes_of)
        if length > source.longest or count > MOST_LINES:
            raise KrohnError(
                f"there are {count:,} lists of up to {length} numbers, of which up to "
                f"{MOST_LINES:,} are run, and none longer than {source.longest}; say "
                "--sample N"
            )
        return [x for n in sizes_of for x in product(range(many), repeat=n)]


def _list_in(source: Increasing, words: Sequence[str]) -> Line:
    """A list as a person writes it, its separator or not.

    Raises:
        KrohnError: If it is none of the source.
    """
    names = " ".join(words).removesuffix(SEPARATOR)
    line = letters_in([names], source.tokens[: source.largest + 1])
    if not source.shortest <= len(line) <= source.longest:
        raise KrohnError(
            f"a list of {source.name} has {source.shortest} to {source.longest} numbers, "
            f"not {len(line)}"
        )
    return tuple(line.tolist())
