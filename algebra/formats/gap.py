"""Transformations, partial permutations and permutations as GAP writes them.

``Transformation([2, 3, 1])`` sends 1 to 2, 2 to 3 and 3 to 1; ``(1,2,3)(4,5)`` is a
permutation in cycles, and ``()`` the identity. ``PartialPerm([2, 0, 3])`` sends 1 to 2
and 3 to 3, and has no image of 2; GAP prints it as ``[1,2](3)``. Every element is one
letter.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
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

NOWHERE = "0"
"""The state of points without an image: GAP says that they are sent to 0."""

_GAP = Language(
    Path(__file__).with_name("gap.lark"),
    phrases={
        "Transformation([...]), PartialPerm([...]), a permutation in cycles, a name": (
            *("_TRANSFORMATION", "_PARTIAL", "LPAR", "WORD", "IDENTITY"),
        ),
        "points 1, 2, 3, …": ("POINTS",),
        "Group(...), a list": ("_COLLECTION", "_INVERSES", "LSQB"),
    },
)


_SIGN = re.compile(
    r"(?:\s++|#[^\n]*+)*+(?:[A-Za-z_@][\w@]*+\s*+:=\s*+)?+\[?+\s*+"
    r"(?:(?:Inverse)?(?:Semigroup|Monoid|Group)(?:ByGenerators)?\s*+\("
    r"|(?:Transformation|PartialPerm|IdentityTransformation)(?:NC)?\b"
    r"|\(\s*+\d++\s*+,[\d\s,]*+\)|\[\s*+\d++\s*+,[\d\s,]*+\]\s*+[(\[])"
)
_TOTAL, _PARTIAL, _PRINTED, _CYCLES = "total", "partial", "printed", "cycles"
_TOGETHER = ({_TOTAL, _CYCLES}, {_PARTIAL, _PRINTED}, {_PRINTED, _CYCLES})
"""The forms that may stand in one list; cycles beside chains are printed so, too."""


class _Letter(NamedTuple):
    """An element.

    Attributes:
        images: Where it sends points, both as they are written.
        degree: The last of the points that it is about.
        form: How it is written; `_PRINTED` is a partial permutation as GAP prints it.
        name: What the file calls it, if it does.
    """

    images: dict[int, int]
    degree: int
    form: str
    name: str | None = None


def has_sign(text: str) -> bool:
    """Whether a text begins with an element, or with a list of some."""
    return _SIGN.match(text) is not None


def read(text: str, name: str) -> Automaton:
    """The machine whose letters are the elements of a GAP file.

    A list, or ``Semigroup(...)``, ``Monoid(...)`` or ``Group(...)``, gives its
    elements; a file with neither gives the elements that it assigns to names. Named
    elements give their names to the letters, others are called ``g1``, ``g2``, … by
    their place. The states are the points ``"1"`` to the largest, where smaller
    elements fix the points that they do not mention; the start state is ``"1"``. A
    partial permutation leads points without an image to another state, ``"0"``, which
    is never left, and the machine's remark says so.

    Args:
        text: The file.
        name: What to call the file in messages.

    Raises:
        MachineError: If the file is malformed, names no element or has two lists of
            them, mixes partial permutations with others, or a list sends points outside
            itself.
    """
    try:
        statements = _GAP.parse(text).parts
    except Misread as wrong:
        raise misread(name, wrong, "GAP") from None
    reader = _Reader(name)
    for statement in statements:
        reader.take(statement)
    letters = reader.letters_of_file()
    if not letters:
        raise problem(name, 0, "no element: no Transformation(...) and no cycles")
    return _machine(letters, name)


def write(machine: Automaton) -> str:
    """The letters as a list of transformations of the points 1 to the number of states.

    Names, the start state and the outputs are lost: GAP's lists have no place for them.
    """
    rows = [", ".join(map(str, row)) for row in (machine.transitions + 1).tolist()]
    return "[ " + ",\n  ".join(f"Transformation( [ {row} ] )" for row in rows) + " ]\n"


@dataclass
class _Reader:
    """The reader of elements.

    Attributes:
        name: What to call the file in messages.
        named: The elements that have a name.
        lists: The lists of the file, by their names, or by numbers if they have none.
        bare: The elements outside of lists.
    """

    name: str
    named: dict[str, _Letter] = field(default_factory=dict)
    lists: dict[str | int, list[_Letter]] = field(default_factory=dict)
    bare: list[_Letter] = field(default_factory=list)

    def take(self, said: Node) -> None:
        """Take a statement."""
        name, meant = said.parts if said.kind == "named" else (None, said)
        if meant.kind == "inverses":
            raise problem(
                self.name,
                said.line,
                "an inverse semigroup has the inverses of its generators, too; list them "
                "as well, in Semigroup(...)",
            )
        if meant.kind == "collection":
            self._take_list(len(self.lists) if name is None else name, meant)
        elif name is None:
            if len({part.line for part in meant.parts if isinstance(part, Node)}) > 1:
                reason = (
                    "cycles on several lines may be one element or several; write one "
                    "element on a line, with a ; behind each"
                )
                raise problem(self.name, said.line, reason)
            self.bare.append(self._letter(meant))
        else:
            self.named[name] = self._letter(meant)._replace(name=name)

    def letters_of_file(self) -> list[_Letter]:
        """The elements of the file.

        Raises:
            MachineError: If it has two lists of them.
        """
        lists = [*self.lists.values(), *([self.bare] if self.bare else [])]
        if len(lists) > 1:
            reason = f"{len(lists)} lists of elements; leave one, the generators"
            raise problem(self.name, 0, reason)
        return lists[0] if lists else list(self.named.values())

    def _take_list(self, name: str | int, said: Node) -> None:
        """Take a list, which stands for those that it names."""
        letters = list[_Letter]()
        for part in said.parts:
            word = part.parts[0]
            if part.kind == "reference" and word in self.lists:
                letters += self.lists.pop(word)
            else:
                letters.append(self._letter(part))
        self.lists[name] = letters

    def _letter(self, said: Node) -> _Letter:
        if said.kind == "identity":
            return _Letter({}, 1, _TOTAL)
        if said.kind == "moves":
            return self._moves(said)
        if said.kind == "reference":
            (word,) = said.parts
            if word in self.named:
                return self.named[word]
            raise problem(
                self.name,
                said.line,
                f"no element is named {quote(word)} yet; write generators as cycles or "
                "as Transformation([...])",
            )
        first, second = said.parts
        if said.kind == "partial":
            return self._partial(first, second)
        return self._transformation(first, second)

    def _points(self, said: Node, least: int = 1) -> list[int]:
        words = [word.strip() for part in said.parts for word in part.split(",")]
        short = all(len(word) <= 9 for word in words)
        if not short or not all(least <= int(word) <= MAX_POINT for word in words):
            reason = f"a point must be one of {least}..{MAX_POINT}"
            raise problem(self.name, said.line, reason)
        return [int(word) for word in words]

    def _transformation(self, first: Node, second: Node | None) -> _Letter:
        """The images of 1, 2, …; or some points, and the images of these."""
        if second is not None:
            images = self._sent(first, second)
            return _Letter(images, max([*images, *images.values()], default=1), _TOTAL)
        points = self._points(first)
        if max(points, default=0) > len(points):
            raise problem(
                self.name,
                first.line,
                f"a list of {len(points)} points cannot send one to {max(points)}",
            )
        return _Letter(dict(enumerate(points, 1)), max(len(points), 1), _TOTAL)

    def _partial(self, first: Node, second: Node | None) -> _Letter:
        """The images of 1, 2, …, 0 where there is none; or some points, and theirs."""
        if second is None:
            points = enumerate(self._points(first, 0), 1)
            return self._injective({p: q for p, q in points if q}, first.line)
        return self._injective(self._sent(first, second), first.line)

    def _sent(self, first: Node, second: Node) -> dict[int, int]:
        points, images = self._points(first), self._points(second)
        if len(points) != len(images):
            reason = f"{len(points)} points and {len(images)} images"
            raise problem(self.name, first.line, reason)
        return self._once(list(zip(points, images, strict=True)), first.line)

    def _once(self, moves: list[tuple[int, int]], line: int) -> dict[int, int]:
        images = dict(moves)
        if len(images) < len(moves):
            raise problem(self.name, line, "a point occurs twice")
        return images

    def _injective(self, images: dict[int, int], line: int) -> _Letter:
        if len({*images.values()}) < len(images):
            reason = "two points have one image, so it is no partial permutation"
            raise problem(self.name, line, reason)
        return _Letter(images, max([*images, *images.values()], default=1), _PARTIAL)

    def _moves(self, said: Node) -> _Letter:
        """A permutation in cycles, or a partial one as GAP prints it, with chains."""
        chains = any(part.kind == "chain" for part in said.parts)
        if chains and len(said.parts) == 1:
            raise problem(
                self.name,
                said.line,
                "points in brackets are images, or a partial permutation as GAP prints "
                "it; write Transformation([...]) or PartialPerm([...], [...])",
            )
        lists = [self._points(part) for part in said.parts]
        points = [*chain(*lists)]
        if len(set(points)) < len(points):
            raise problem(self.name, said.line, "a point occurs twice in the cycles")
        images = dict[int, int]()
        for part, each in zip(said.parts, lists, strict=True):
            closed = each[:1] if part.kind == "cycle" else []
            images |= dict(pairwise([*each, *closed]))
        return _Letter(images, max(points, default=1), _PRINTED if chains else _CYCLES)


def _machine(letters: Sequence[_Letter], name: str) -> Automaton:
    forms = {letter.form for letter in letters}
    if not any(forms <= together for together in _TOGETHER):
        raise problem(
            name,
            0,
            "partial permutations beside other elements; write all of them as PartialPerm",
        )
    degree = max(letter.degree for letter in letters)
    check_size(len(letters), degree + 1, name)
    rows = (
        np.full(degree, degree) if forms & {_PARTIAL, _PRINTED} else np.arange(degree)
    )
    table = np.tile(rows, (len(letters), 1))
    for row, letter in zip(table, letters, strict=True):
        row[[p - 1 for p in letter.images]] = [q - 1 for q in letter.images.values()]
    states, remark = [str(q) for q in range(1, degree + 1)], ""
    if (table == degree).any():
        table = np.hstack([table, np.full((len(letters), 1), degree)])
        states.append(NOWHERE)
        remark = (
            f"{name}: partial permutations: points without an image lead to the state "
            f"{NOWHERE}, which is never left"
        )
    names = tuple(letter.name or f"g{i}" for i, letter in enumerate(letters, 1))
    try:
        moves = Semiautomaton(table, names, tuple(states))
        return Automaton(moves, name=title(name), remark=remark)
    except MachineError as error:
        raise problem(name, 0, str(error)) from error
