"""Longest increasing subsequences as short texts, in the commands."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, ClassVar

import numpy as np

from krohn.algebra.errors import KrohnError
from krohn.claimed_answers import Answers
from krohn.compiler.compiled_network import CompiledNetwork, compile_program
from krohn.compiler.errors import CompileError
from krohn.compiler.pipeline import Options
from krohn.network.modelfile import ModelFile
from krohn.program.errors import Refused
from krohn.program.increasing import KIND, SEPARATOR, Increasing, program_of
from krohn.progress import Progress
from krohn.source_kinds.base import USUAL, How, ReadableKind, letters_in, sizes
from krohn.source_kinds.written_texts import (
    MOST_LINES,
    Line,
    Row,
    TextKind,
    Writer,
    named_by,
    row_of,
    simulated_lines,
)
from krohn.verify.testing.simulation_result import Simulation

NAME, CONSTRUCTION = "ShortLIS", "patience"
_FORM = re.compile(rf"{NAME}(\d{{1,4}})(?:,(\d{{1,4}}))?")


class IncreasingSubsequences(TextKind[Increasing], ReadableKind[Increasing]):
    """Lists of numbers, of any length up to n, and their short texts."""

    wire = KIND
    examples: ClassVar[Mapping[str, str]] = {
        "ShortLIS20": "longest increasing subsequence, one number a number"
    }
    source = Increasing
    called = "a longest increasing subsequence"
    claim = "generates"

    def named(self, text: str) -> Increasing | None:
        """``ShortLIS20``, or ``ShortLIS20,30`` for numbers from 0 to 30."""
        told = _FORM.fullmatch(text)
        if told is None:
            return None
        longest = int(told[1])
        try:
            return Increasing(text, longest, int(told[2] or longest + 10))
        except Refused as reason:
            raise KrohnError(f"{text}: {reason}") from None

    def build(
        self,
        source: Increasing,
        length: int | None,
        options: Options,
        how: How = USUAL,
    ) -> tuple[CompiledNetwork, dict[str, Any]]:
        """The network for all lists of up to n numbers."""
        if length is not None:
            raise CompileError(
                f"-T is for words of any length; texts of {source.name} have up to "
                f"{source.length + 1} tokens"
            )
        built = compile_program(program_of(source), options)
        return replace(built, construction=CONSTRUCTION), {"length": source.length}

    def explain(
        self,
        source: Increasing,
        length: int | None,
        options: Options,
        how: How = USUAL,
    ) -> dict[str, Any]:
        """Its sizes, and those of its network."""
        built, _ = self.build(source, length, options, how)
        assert built.cost is not None
        return {
            "name": source.name,
            "kind": self.wire,
            "claim": self.claim,
            "numbers": f"up to {source.longest}, each 0 to {source.largest}",
            "tokens": source.length + 1,
            "dtype": options.precision.name,
            **sizes(built.cost),
        }

    def writer(self, file: ModelFile) -> Writer:
        """A list and its separator are asked for; the whole text is said."""
        source = self.of_file(file)

        def row(words: Sequence[str]) -> Row:
            return row_of(source, _list_in(source, words), source.length)

        def told(row: Row, text: list[int]) -> Answers:
            names = named_by(source.tokens, text)
            result = {"text": names, "answer": names[-2], "shown": " ".join(names)}
            return Answers(result, range(len(names)))

        return Writer(source.tokens, row, told, end=source.end + 1)

    def sample(
        self, file: ModelFile, count: int, seed: int, progress: Progress
    ) -> Simulation:
        """Lists of random lengths: random numbers, and ascending parts."""
        source, rng = self.of_file(file), np.random.default_rng(seed)
        lines = []
        for i in range(count):
            size = int(rng.integers(1, source.longest + 1))
            line = rng.integers(source.largest + 1, size=size)
            parts = np.array_split(line, 3)
            ordered = np.concatenate([np.sort(part) for part in parts])
            lines.append(tuple((ordered if i % 2 else line).tolist()))
        return simulated_lines(file, self.writer(file), source, lines, progress)

    def every(self, file: ModelFile, length: int, progress: Progress) -> Simulation:
        """All lists of up to so many numbers."""
        source = self.of_file(file)
        many, sizes_of = source.largest + 1, range(1, length + 1)
        count = sum(many**n for n in sizes_of)
        if length > source.longest or count > MOST_LINES:
            raise KrohnError(
                f"there are {count:,} lists of up to {length} numbers, of which up to "
                f"{MOST_LINES:,} are run, and none longer than {source.longest}; say "
                "--sample N"
            )
        lines = [x for n in sizes_of for x in product(range(many), repeat=n)]
        found = simulated_lines(file, self.writer(file), source, lines, progress)
        return replace(found, every=True)

    def covers(self, file: ModelFile) -> str:
        """What a proof is about, in words."""
        source = self.of_file(file)
        return (
            f"the whole text of every list of up to {source.longest} numbers from 0 to "
            f"{source.largest}"
        )


def _list_in(source: Increasing, words: Sequence[str]) -> Line:
    """A list as a person writes it, its separator or not.

    Raises:
        KrohnError: If it is none of the source.
    """
    names = " ".join(words).removesuffix(SEPARATOR)
    line = letters_in([names], source.name, source.tokens[: source.largest + 1])
    if len(line) > source.longest:
        raise KrohnError(
            f"a list of {source.name} has up to {source.longest} numbers, not {len(line)}"
        )
    return tuple(line.tolist())
