"""Transformations and permutations as GAP writes them.

``Transformation([2, 3, 1])`` sends 1 to 2, 2 to 3 and 3 to 1; ``(1,2,3)(4,5)`` is a
permutation in cycles, and ``()`` the identity. Every element is one letter.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from krohn.algebra.automaton import Automaton, Semiautomaton
from krohn.algebra.errors import MachineError
from krohn.algebra.formats.assembly import title
from krohn.algebra.formats.files import check_size, misread, problem, quote
from krohn.program.parsing import Language, Misread, Node

MAX_POINT = 1_000_000
"""The largest point a file may name; every point is a state."""

_GAP = Language(
    Path(__file__).with_name("gap.lark"),
    phrases={
        "Transformation([...]), a permutation in cycles, a name": (
            *("TRANSFORMATION", "LPAR", "WORD"),
        ),
        "a point 1, 2, 3, …": ("POINTS",),
        "Group(...)": ("_COLLECTION",),
    },
)


class _Letter(NamedTuple):
    name: str | None
    images: list[int]


def read(text: str, name: str) -> Automaton:
    """The machine whose letters are the elements of a GAP file.

    A list, or ``Semigroup(...)``, ``Monoid(...)`` or ``Group(...)``, gives its
    elements; a file with neither gives the elements that it assigns to names. Named
    elements give their names to the letters, others are called ``g1``, ``g2``, … by
    their place. The states are the points ``"1"`` to the largest, where smaller
    elements fix the points that they do not mention; the start state is ``"1"``.

    Args:
        text: The file.
        name: What to call the file in messages.

    Raises:
        MachineError: If the file is malformed or names no element, or a list sends
            points outside itself.
    """
    try:
        statements = _GAP.parse(text).parts
    except Misread as wrong:
        raise misread(name, wrong, "GAP") from None
    reader = _Reader(name)
    listed = [letter for said in statements for letter in reader.letters(said)]
    letters = listed or list(reader.named.values())
    if not letters:
        raise problem(name, 0, "no Transformation(...) and no cycles; is this GAP?")
    return _machine(letters, name)


def write(machine: Automaton) -> str:
    """The letters as a list of transformations of the points 1 to the number of states.

    Names, the start state and the outputs are lost: GAP's lists have no place for them.
    """
    rows = [", ".join(map(str, row)) for row in (machine.transitions + 1).tolist()]
    return "[ " + ",\n  ".join(f"Transformation( [ {row} ] )" for row in rows) + " ]\n"


@dataclass
class _Reader:
    """The reader of elements, and the named elements of a file."""

    name: str
    named: dict[str, _Letter] = field(default_factory=dict)

    def letters(self, said: Node) -> list[_Letter]:
        """The elements that a statement lists; named ones are only remembered."""
        if said.kind == "collection":
            return [self._letter(each) for each in said.parts]
        if said.kind != "named":
            return [self._letter(said)]
        name, meant = said.parts
        if meant.kind == "collection":
            return self.letters(meant)
        self.named[name] = self._letter(meant)._replace(name=name)
        return []

    def _letter(self, said: Node) -> _Letter:
        if said.kind == "transformation":
            return _Letter(None, self._images(said))
        if said.kind == "permutation":
            return _Letter(None, self._moves(said))
        (word,) = said.parts
        if word not in self.named:
            raise problem(
                self.name, said.line, f"no element is named {quote(word)} yet"
            )
        return self.named[word]

    def _points(self, said: Node) -> list[int]:
        words = [word.strip() for part in said.parts for word in part.split(",")]
        short = all(len(word) <= 9 for word in words)
        if not short or not all(1 <= int(word) <= MAX_POINT for word in words):
            reason = f"a point must be one of 1..{MAX_POINT}"
            raise problem(self.name, said.line, reason)
        return [int(word) for word in words]

    def _images(self, said: Node) -> list[int]:
        """Where a transformation sends each point, all counted from 0."""
        images = self._points(said)
        if max(images) > len(images):
            raise problem(
                self.name,
                said.line,
                f"a list of {len(images)} points cannot send one to {max(images)}",
            )
        return [image - 1 for image in images]

    def _moves(self, said: Node) -> list[int]:
        """The image of each point under a permutation in cycles, counted from 0."""
        cycles = [self._points(cycle) for cycle in said.parts]
        points = [*chain(*cycles)]
        if len(set(points)) < len(points):
            raise problem(self.name, said.line, "a point occurs twice in the cycles")
        moved = {p: q for c in cycles for p, q in zip(c, [*c[1:], *c[:1]], strict=True)}
        return [moved.get(q, q) - 1 for q in range(1, max(points, default=1) + 1)]


def _machine(letters: Sequence[_Letter], name: str) -> Automaton:
    degree = max(len(letter.images) for letter in letters)
    check_size(len(letters), degree, name)
    table = np.tile(np.arange(degree), (len(letters), 1))
    for row, letter in zip(table, letters, strict=True):
        row[: len(letter.images)] = letter.images
    names = tuple(letter.name or f"g{i}" for i, letter in enumerate(letters, 1))
    states = tuple(str(q) for q in range(1, degree + 1))
    try:
        return Automaton(Semiautomaton(table, names, states), name=title(name))
    except MachineError as error:
        raise problem(name, 0, str(error)) from error
