"""What `krohn run` takes and says, as objects of Python."""

from collections.abc import Iterable, Mapping
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from krohn.algebra.errors import KrohnError
from krohn.network.reading import is_one
from krohn.program.quoting import kind_of_value
from krohn.program.user_input import name_of
from krohn.program.word_texts import WordText


class RunResult(list[Any]):
    """The answers of a network to one input: what `krohn run` says, as a list.

    There is one after each letter: a name, or of networks of numbers a list of them (a
    belief, a vector); laws begin before the first letter. A network that learns in context
    gives one law, a dict by letter, and one that writes texts its tokens.

    Attributes:
        result: All that `krohn run --json` prints.
    """

    def __init__(self, result: Mapping[str, Any], answers: Iterable[Any]) -> None:
        super().__init__(answers)
        self.result = dict(result)

    @property
    def unproved(self) -> list[bool]:
        """Of each answer whether the claim of the file is not about it."""
        return list(self.result["unproved"])

    @property
    def error(self) -> float | None:
        """How far numbers may be off; None if that is not proved of all of them."""
        error: float | None = self.result.get("error")
        return error

    @property
    def note(self) -> str:
        """A line that says which answers nothing is claimed of; empty if there is none."""
        marks = [str(i) for i, mark in enumerate(self.unproved, start=1) if mark]
        marked = f"unproved: answer{'s' * (len(marks) > 1)} {', '.join(marks)}"
        return str(self.result.get("note", marked * bool(marks)))

    def __repr__(self) -> str:
        note = self.note
        return super().__repr__() + f" ({note})" * bool(note)


_ANSWERS = ("outputs", "laws", "text")
"""Where the result of a run has its answers, a list."""


def answers_of(result: dict[str, Any], states: bool) -> list[Any]:
    """The answers of a result of `krohn run --json`.

    Raises:
        KrohnError: If states are asked for, and the network says none.
    """
    if states:
        if "states" not in result:
            raise KrohnError("this network says no states; leave states= out")
        return cast("list[Any]", result["states"])
    answers = (result[key] for key in _ANSWERS if key in result)
    return list(next(answers, [result.get("law")]))


def inputs_of(word: Any, numbers: bool) -> tuple[bool, list[str | list[str]]]:
    """Whether these are several inputs; and each as text, or in parts.

    Args:
        word: A string, letters by name (one that is called by a whole number may be
            that), or for a network of numbers an array ``(time, d)``; or several of them.
        numbers: Whether the network reads numbers.

    Raises:
        KrohnError: If it is nothing like that.
    """
    vectors = _vectors(word) if numbers else None
    if vectors is not None:
        many = vectors.ndim > 2
        inputs = (vectors if many else vectors[None]).tolist()
        return many, [[",".join(map(repr, x)) for x in one] for one in inputs]
    many = not is_one(word)
    each = word if many else [word]
    return many, [x if isinstance(x, str) else list(map(name_of, x)) for x in each]


def _vectors(word: Any) -> npt.NDArray[np.float64] | None:
    """Numbers as vectors ``([inputs,] time, d)``; None if it is something else."""
    try:
        array = np.asarray(word)
    except ValueError:  # lists of unlike lengths
        return None
    if array.dtype.kind not in "iuf" or not array.ndim:
        return None
    wide = array.astype(np.float64)
    return wide[:, None] if wide.ndim == 1 else wide


def parts_of(word: Any) -> list[str]:
    """An input in the parts of a command."""
    if not isinstance(word, Iterable):
        raise KrohnError(
            "an input is a string, or letters or tokens by name, not "
            f"{kind_of_value(word)}"
        )
    parts = [WordText(word)] if isinstance(word, str) else list(word)
    for part in parts:
        if not isinstance(part, str):
            raise KrohnError(
                f"an input is a string, or letters or tokens by name; {part!r} is neither"
            )
    return parts
