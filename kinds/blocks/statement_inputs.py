"""The inputs of claims about texts in blocks."""

from dataclasses import dataclass

from krohn.program.inputs import Inputs, Stated, whole_numbers


@dataclass(frozen=True)
class WordsInBlocks(Inputs):
    """All words, laid out in texts in which what is written after each block is read back.

    Attributes:
        letters: How many there are.
        length: The most letters of a word.
        tokens: The most tokens of its text.
        block: So many letters lie between two that are written, at most.
    """

    letters: int
    length: int
    tokens: int
    block: int

    def __str__(self) -> str:
        n = self.length
        return (
            f"what is written and read back every {self.block} letters in all "
            f"{self.letters}^{n} words of length {n}, and all shorter"
        )


def in_blocks(source: Stated, claim: Stated, length: int | None) -> Inputs:
    """The words whose texts are long enough."""
    states = len(source["classes"]) if source["kind"] == "text-in-blocks" else 1
    words, tokens, block = whole_numbers(claim["letters"], length, source["block"])
    return WordsInBlocks(len(source["letters"]) - states, words, tokens, block)
