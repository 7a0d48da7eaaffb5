"""Conditions on propositions as labels of arrows: each stands for several letters.

A letter says of every proposition whether it is true: ``"10"`` if the first is and the
second is not, as in KISS2.
"""

from collections.abc import Collection, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from krohn.program.errors import Refused
from krohn.program.parsing import Language, Misread, Node

MOST_PROPOSITIONS = 8
"""Each combination of so many propositions is a letter, 256 at most."""
_CONDITIONS = Language(Path(__file__).with_name("conditions.lark"))
_BITS = {"0": np.array(False), "1": np.array(True)}
_VALUES = {"false": _BITS["0"], "true": _BITS["1"]}
_JOINED = {"any": np.logical_or, "odd": np.logical_xor, "all": np.logical_and}
_Truth = npt.NDArray[np.bool_]


class Valuations(NamedTuple):
    """The letters that conditions stand for.

    Attributes:
        propositions: Their names, in the order of the digits of a letter.
        letters: All letters.
        of: The letters of each condition.
    """

    propositions: Sequence[str]
    letters: Sequence[str]
    of: Mapping[str, Sequence[str]]


def parse_conditions(texts: Collection[str]) -> dict[str, Node] | None:
    """The tree of each condition; None if one of the texts is no condition."""
    trees: dict[str, Node] = {}
    for text in texts:
        try:
            trees[text] = _CONDITIONS.parse(text)
        except Misread:
            return None
    return trees


def letters_of_conditions(trees: Mapping[str, Node]) -> Valuations:
    """The letters of each condition, over all propositions of all of them.

    Raises:
        Refused: If there are more than ``MOST_PROPOSITIONS``.
    """
    names = sorted({name for tree in trees.values() for name in _names(tree)})
    letters, bits = all_letters(len(names))
    values = _BITS | dict(zip(names, bits.T, strict=True))
    letters_of = {}
    for text, tree in trees.items():
        truth = np.broadcast_to(truth_of(tree.parts[0], values), len(letters))
        letters_of[text] = [letters[i] for i in np.flatnonzero(truth)]
    return Valuations(names, letters, letters_of)


def letters_of_columns(labels: Mapping[str, list[str]], rows: int) -> Valuations:
    """The letters of labels that list cubes, such as ``"0X1"``: X stands for both.

    Raises:
        Refused: If there are more than ``MOST_PROPOSITIONS`` rows.
    """
    letters, bits = all_letters(rows)
    letters_of = {}
    for text, cubes in labels.items():
        wanted = np.array([[{"0": 0, "1": 1}.get(b, -1) for b in c] for c in cubes])
        fits = (
            ((wanted[:, None] < 0) | (wanted[:, None] == bits)).all(axis=2).any(axis=0)
        )
        letters_of[text] = [letters[i] for i in np.flatnonzero(fits)]
    return Valuations([f"row {i}" for i in range(1, rows + 1)], letters, letters_of)


def all_letters(count: int) -> tuple[list[str], _Truth]:
    """All letters, and ``(letters, count)`` what each says."""
    if count > MOST_PROPOSITIONS:
        raise Refused(
            f"conditions on {count} propositions, which make 2^{count} letters; up to "
            f"{MOST_PROPOSITIONS} are read"
        )
    letters = [f"{number:0{count}b}"[:count] for number in range(2**count)]
    return letters, np.array([[b == "1" for b in letter] for letter in letters])


def _names(tree: Node) -> set[str]:
    inner = [part for part in tree.parts if isinstance(part, Node)]
    words = {part for part in tree.parts if isinstance(part, str)}
    names = {word for word in words if word.lower() not in _BITS | _VALUES}
    return names.union(*map(_names, inner))


def truth_of(part: Node | str, values: Mapping[str, _Truth]) -> _Truth:
    """``(letters,)``: under which letters a condition holds, or one value for all."""
    if isinstance(part, str):
        constant = _VALUES.get(part.lower())
        return values[part] if constant is None else constant
    inner = [truth_of(each, values) for each in part.parts]
    if part.kind == "negation":
        return np.logical_not(inner[0])
    return reduce(_JOINED[part.kind], inner)
