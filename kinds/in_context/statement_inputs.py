"""The inputs of claims about learners in context."""

from dataclasses import dataclass

from krohn.program.inputs import Inputs, Stated, whole_numbers


@dataclass(frozen=True)
class WholePrompts(Inputs):
    """All prompts of one form; the answer is what is said at their last position.

    Attributes:
        demonstrations: At most so many, each of `segment` letters.
        segment: See there.
        window: The history has at least so many letters.
        history: And at most so many.
    """

    demonstrations: int
    segment: int
    window: int
    history: int

    def __str__(self) -> str:
        return (
            f"the end of all whole prompts of 1 to {self.demonstrations} demonstrations of "
            f"{self.segment} letters and a history of {self.window} to {self.history}"
        )


def whole_prompts(source: Stated, claim: Stated, length: int | None) -> Inputs:
    """All whole prompts."""
    names = "demonstrations", "window", "ahead", "history"
    count, window, ahead, history = whole_numbers(*(source[name] for name in names))
    return WholePrompts(count, window + ahead, window, history)
