"""The inputs of claims about hidden Markov models."""

from dataclasses import dataclass

from krohn.program.inputs import Inputs, Stated, up_to


@dataclass(frozen=True)
class PossibleWords(Inputs):
    """All words that a hidden Markov model can say; of others nothing is claimed."""

    length: int | None

    def __str__(self) -> str:
        return f"all possible words of {up_to(self.length, 'letters')}"


def possible_words(source: Stated, claim: Stated, length: int | None) -> Inputs:
    """All words that are possible."""
    return PossibleWords(length)
