"""Which answers of a run the file's claim is about: the others are marked as unproved."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from krohn.algebra.wording import count
from krohn.network.architectures.transformer import causal
from krohn.network.modelfile import ModelFile, claimed_length
from krohn.source_kinds import of_file


class Answers(NamedTuple):
    """The answers of a network to one input.

    Attributes:
        result: For JSON; ``shown`` is the same as text.
        read: For each answer how many tokens were read before it.
        possible: For each answer whether the claim is about such an input; None for all.
    """

    result: dict[str, Any]
    read: Sequence[int]
    possible: Sequence[bool] | None = None


def marked(file: ModelFile, answers: Answers) -> dict[str, Any]:
    """The answers, with which of them the file claims nothing of.

    Returns:
        What `krohn run` prints: ``unproved``, true or false of each answer; the claimed
        ``error``, if the claim has one, null as soon as an answer is unproved; ``note``,
        a line that says which answers are beyond the claim, if any is.
    """
    beyond = _beyond(file, answers.read)
    possible = answers.possible or [True] * len(beyond)
    unproved = [b or not p for b, p in zip(beyond, possible, strict=True)]
    result, claim = {**answers.result, "unproved": unproved}, file.header["claim"]
    if "error" in claim:
        result["error"] = None if any(unproved) else claim["error"]
    return result | ({"note": _note(file, beyond)} if any(beyond) else {})


def _beyond(file: ModelFile, read: Sequence[int]) -> list[bool]:
    """Of each answer whether more was read for it than the claim is about."""
    longest = claimed_length(file.header)
    if longest is None:
        return [False] * len(read)
    # Where later letters count, an answer is that of the whole input.
    seen = read if _is_causal(file) else [max(read, default=0)] * len(read)
    return [n > longest for n in seen]


def _note(file: ModelFile, beyond: Sequence[bool]) -> str:
    """Which answers the claim is not about."""
    first, last = beyond.index(True) + 1, len(beyond)
    which = f"answer {last} is" if first == last else f"answers {first} to {last} are"
    longest = claimed_length(file.header)
    assert longest is not None
    return f"unproved: {which} beyond the {count(longest, of_file(file).unit)} of the claim"


def _is_causal(file: ModelFile) -> bool:
    """Whether what the network says depends on nothing that it reads later."""
    shape = file.header["architecture"]
    blocks = shape.get("blocks", [])
    return bool(shape.get("causal", True)) and all(all(causal(b)) for b in blocks)
