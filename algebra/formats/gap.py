"""Transformations and permutations as GAP writes them.

``Transformation([2, 3, 1])`` sends 1 to 2, 2 to 3 and 3 to 1; ``(1,2,3)(4,5)`` is a
permutation in cycles, and ``()`` the identity. Every element is one letter.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import MachineError
from krohn.algebra.formats.completion import title
from krohn.algebra.formats.file_errors import check_size, problem, quote
from krohn.algebra.semiautomaton import Semiautomaton

MAX_POINT = 1_000_000
"""The largest point a file may name; every point is a state."""

_TOKEN = re.compile(
    r"(?P<skip>\s+|#[^\n]*)|(?P<number>\d+)|(?P<word>[A-Za-z_@][\w@]*)"
    r"|(?P<sign>:=|[()\[\],;])|(?P<wrong>.)"
)
_COLLECTIONS = ("Semigroup", "Monoid", "Group")


class _Token(NamedTuple):
    kind: str
    text: str
    line: int


class _Letter(NamedTuple):
    name: str | None
    images: list[int]


@dataclass
class _Reader:
    """A place in the tokens of a file, and the elements that it has named."""

    name: str
    tokens: list[_Token]
    place: int = 0
    named: dict[str, _Letter] = field(default_factory=dict)

    def peek(self) -> _Token:
        """The next token."""
        return self.tokens[self.place]

    def next(self) -> _Token:
        """The next token, which is then behind."""
        token = self.tokens[self.place]
        self.place += token.kind != "end"
        return token

    def take(self, text: str) -> bool:
        """Whether the next token reads so; if it does, it is then behind."""
        found = self.peek().text == text
        self.place += found
        return found

    def expect(self, text: str) -> None:
        """Takes the next token, which must read so."""
        if not self.take(text):
            raise self.unexpected(repr(text))

    def number(self) -> int:
        """Takes a point."""
        if self.peek().kind != "number":
            raise self.unexpected("a point 1, 2, 3, …")
        token = self.next()
        if len(token.text) > 9 or not 1 <= int(token.text) <= MAX_POINT:
            raise problem(
                self.name, token.line, f"a point must be one of 1..{MAX_POINT}"
            )
        return int(token.text)

    def unexpected(self, wanted: str) -> MachineError:
        """The error for another token than the one that should come."""
        token = self.peek()
        found = "the end" if token.kind == "end" else quote(token.text)
        return problem(self.name, token.line, f"expected {wanted}, found {found}")


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
    reader = _Reader(name, _tokens(text, name))
    listed: list[_Letter] = []
    while reader.peek().kind != "end":
        if not reader.take(";"):
            listed += _statement(reader)
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


def _tokens(text: str, name: str) -> list[_Token]:
    tokens: list[_Token] = []
    line = 1
    for match in _TOKEN.finditer(text):
        kind, found = str(match.lastgroup), match.group()
        if kind == "wrong":
            raise problem(name, line, f"unexpected {quote(found)}")
        if kind != "skip":
            tokens.append(_Token(kind, found, line))
        line += found.count("\n")
    return [*tokens, _Token("end", "", line)]


def _statement(reader: _Reader) -> list[_Letter]:
    """The elements that one statement lists; assigned elements are only remembered."""
    following = reader.tokens[reader.place + 1 : reader.place + 2]
    assigned = bool(following) and following[0].text == ":="
    name = reader.next().text if assigned else None
    if assigned:
        reader.expect(":=")
    if reader.take("["):
        return _elements(reader, "]")
    if reader.peek().text in _COLLECTIONS:
        return _collection(reader)
    letter = _element(reader)
    if name is None:
        # One step for every loose element, so that a file may list them in lines.
        reader.take(",")
        return [letter]
    reader.named[name] = _Letter(name, letter.images)
    return []


def _collection(reader: _Reader) -> list[_Letter]:
    reader.next()
    reader.expect("(")
    if not reader.take("["):
        return _elements(reader, ")")
    letters = _elements(reader, "]")
    reader.expect(")")
    return letters


def _elements(reader: _Reader, end: str) -> list[_Letter]:
    letters = [_element(reader)]
    while reader.take(","):
        letters.append(_element(reader))
    if not reader.take(end):
        raise reader.unexpected(f"',' or {end!r}")
    return letters


def _element(reader: _Reader) -> _Letter:
    token = reader.peek()
    if token.text == "(":
        return _Letter(None, _cycles(reader))
    if token.text == "Transformation":
        return _Letter(None, _transformation(reader))
    if token.text in reader.named:
        return reader.named[reader.next().text]
    raise reader.unexpected("Transformation([...]), a permutation in cycles, or a name")


def _transformation(reader: _Reader) -> list[int]:
    line = reader.next().line
    reader.expect("(")
    reader.expect("[")
    images = [reader.number()]
    while reader.take(","):
        images.append(reader.number())
    reader.expect("]")
    reader.expect(")")
    if max(images) > len(images):
        raise problem(
            reader.name,
            line,
            f"a list of {len(images)} points cannot send one to {max(images)}",
        )
    return [image - 1 for image in images]


def _cycles(reader: _Reader) -> list[int]:
    moved: dict[int, int] = {}
    while reader.peek().text == "(":
        line = reader.peek().line
        cycle = _cycle(reader)
        if len(set(cycle)) < len(cycle) or moved.keys() & set(cycle):
            raise problem(reader.name, line, "a point occurs twice in the cycles")
        moved.update(zip(cycle, cycle[1:] + cycle[:1], strict=True))
    return [moved.get(q, q) - 1 for q in range(1, max(moved, default=1) + 1)]


def _cycle(reader: _Reader) -> list[int]:
    reader.expect("(")
    if reader.take(")"):
        return []
    cycle = [reader.number()]
    while reader.take(","):
        cycle.append(reader.number())
    reader.expect(")")
    return cycle


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
