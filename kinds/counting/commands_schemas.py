"""The type of a counting program as JSON."""

from dataclasses import dataclass

from krohn.kinds.counting.commands_words import Answer


@dataclass(frozen=True, kw_only=True)
class CountingProgram(Answer):
    """A counting program that was derived, and whether it accepts the same words.

    Attributes:
        depth: Counts of counts of ….
        sums: How many sums it has.
        program: Its text.
        at_least: Every program of the language is at least so deep: 0, 1 or 2.
        words: Why: a word that is accepted and one that is not, which no program of less
            depth tells apart.
    """

    depth: int
    sums: int
    program: str
    at_least: int
    words: list[list[str]] | None
    file: str | None
