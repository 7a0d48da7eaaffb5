"""The elements of an XML file, by the parser of Python's library (expat)."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, cast
from xml.parsers import expat

from krohn.algebra.formats.files import problem, quote

HEAD = 2**16
"""So many characters tell what a file is."""
MAX_ELEMENTS = 2_000_000
"""Of a file: about 1 GB of memory."""
MAX_DEPTH = 100
"""Elements inside one another, so that what reads them may recurse."""


@dataclass(slots=True)
class Element:
    """An element.

    Attributes:
        tag: Its name without its namespace.
        space: The address of its namespace; empty without one.
        attributes: Those that are in no namespace.
        line: Where it begins.
        text: The text in an element that holds no other ones.
        children: The elements in it.
    """

    tag: str
    space: str
    attributes: dict[str, str]
    line: int
    text: str = ""
    children: list["Element"] = field(default_factory=list)

    def find_children(self, tag: str) -> Iterator["Element"]:
        """The elements of this name that lie directly in it."""
        return (child for child in self.children if child.tag == tag)

    def check(self, name: str, attributes: Iterable[str]) -> None:
        """Refuse attributes that nobody reads: they could mean another machine.

        Raises:
            MachineError: If the element has another attribute than these.
        """
        for attribute in self.attributes.keys() - {*attributes}:
            raise problem(
                name,
                self.line,
                f"the attribute {quote(attribute)} of <{self.tag}> is not read; leave it "
                "out, or write what it means as states and transitions",
            )


def parse(text: str, name: str) -> Element:
    """The outermost element of an XML file.

    A file cannot name others, nor texts that stand for longer ones: all of these need a
    DOCTYPE.

    Args:
        text: The file.
        name: What to call it in messages.

    Raises:
        MachineError: If it is not XML, has a DOCTYPE, or more elements than
            ``MAX_ELEMENTS``, or is deeper than ``MAX_DEPTH``.
    """
    builder = _Builder(name)
    try:
        builder.parser.Parse(text, True)
    except expat.ExpatError as error:
        reason = expat.errors.messages[error.code]
        raise problem(name, error.lineno, f"not XML: {reason}") from None
    return cast(Element, builder.root)


def root_tag(text: str) -> str:
    """The name of the outermost element, without its namespace; "" if it is not seen.

    The first `HEAD` characters are looked at, and nothing behind a DOCTYPE.
    """
    seen = list[str]()
    parser: Any = expat.ParserCreate(namespace_separator=" ")

    def stop(tag: str, *_: object) -> None:
        seen.append(tag)
        raise StopIteration

    parser.StartElementHandler = parser.StartDoctypeDeclHandler = stop
    if text[:HEAD].lstrip().startswith("<"):
        with suppress(StopIteration, expat.ExpatError):
            parser.Parse(text[:HEAD].lstrip())
    return seen[0].rpartition(" ")[2] if seen else ""


class _Builder:
    """The tree of a file, as expat tells of its elements one by one."""

    def __init__(self, name: str) -> None:
        self.name, self.root, self.count = name, cast(Element | None, None), 0
        self.open, self.texts = list[Element](), list[str]()
        # Texts come whole; `space name` keeps the two apart.
        self.parser: Any = expat.ParserCreate(namespace_separator=" ")
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self.begin
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.texts.append
        self.parser.StartDoctypeDeclHandler = self.refuse_doctype

    def begin(self, tag: str, attributes: dict[str, str]) -> None:
        line = self.parser.CurrentLineNumber
        self.count += 1
        if self.count > MAX_ELEMENTS:
            reason = f"more than {MAX_ELEMENTS} elements; give a smaller machine"
            raise problem(self.name, line, reason)
        if len(self.open) == MAX_DEPTH:
            reason = f"elements nest more than {MAX_DEPTH} deep; no machine does"
            raise problem(self.name, line, reason)
        space, _, local = tag.rpartition(" ")
        plain = {key: value for key, value in attributes.items() if " " not in key}
        element = Element(local, space, plain, line)
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)
        self.texts.clear()

    def end(self, _: str) -> None:
        element = self.open.pop()
        if not element.children:
            element.text = "".join(self.texts)
        self.texts.clear()

    def refuse_doctype(self, *_: object) -> None:
        line = self.parser.CurrentLineNumber
        reason = "a DOCTYPE is not read, for it may bring in other texts; remove it"
        raise problem(self.name, line, reason)
