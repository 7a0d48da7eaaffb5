"""The inputs of claims about rewriting systems."""

from dataclasses import dataclass

from krohn.program.inputs import Inputs, Stated, whole_numbers


@dataclass(frozen=True)
class Lines(Inputs):
    """All lines of a rewriting system, and the text after each as far as tokens go."""

    letters: int
    longest: int
    tokens: int

    def __str__(self) -> str:
        return (
            f"the text of every line of up to {self.longest} letters ({self.letters}^"
            f"{self.longest} of this length), as far as {self.tokens} tokens go"
        )


def lines(source: Stated, claim: Stated, length: int | None) -> Inputs:
    """All lines of a rewriting system."""
    return Lines(len(source["letters"]) - 2, *whole_numbers(source["longest"], length))
