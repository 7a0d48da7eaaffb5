"""The lines of AT&T text, which machines and weighted automata are read from."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from krohn.program.parsing import Misread
from krohn.program.quoting import cut

MOST_FIELDS = 5
"""Source, target, input, output and weight."""
NEXT = ["--"]
"""The line between two transducers, as HFST and lttoolbox write it."""
_COMMENTS = ("#", "//", "%", ";")
"""How comments begin in other texts."""
_FLAG = re.compile(r"@[A-Z]\.[^@]++@")
_OTHERS = ("@_IDENTITY_SYMBOL_@", "@_UNKNOWN_SYMBOL_@")
_WRITTEN = {"@_SPACE_@": " ", "@_TAB_@": "\t", "@_NEWLINE_@": "\n"}
"""How HFST writes what would divide fields, or lines."""

_Line = tuple[int, list[str]]


class AttText(NamedTuple):
    """The lines of an AT&T text.

    Attributes:
        arcs: The number of each line that is an arc, and its three to five fields.
        finals: The number of each line of a final state, and its one or two fields.
        start: The state that the first line begins with; empty if there is no line.
        blank: A label with a blank, which is one where tabs alone divide; else empty.
    """

    arcs: list[_Line]
    finals: list[_Line]
    start: str
    blank: str = ""


def fields_of_lines(text: str) -> Iterator[_Line]:
    """The number and the fields of each line that is not blank.

    Where some line has a tab, tabs alone divide: a blank may be a letter, or in one.
    """
    mark = "\t" if "\t" in text else " "
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            fields = line.removesuffix("\r").split(mark)
            yield number, fields if mark == "\t" else [word for word in fields if word]


def read_lines(text: str) -> AttText:
    """The arcs and the final states of an AT&T text; empty last columns are left out.

    Raises:
        Misread: If a line has too many fields, an empty one or a state with a blank, there
            are several transducers, a comment, or a label is none of a letter.
    """
    arcs, finals, start = list[_Line](), list[_Line](), ""
    for number, fields in fields_of_lines(text):
        if fields == NEXT:
            reason = "several transducers, divided by --; give a file with one"
            raise Misread(number, 0, reason)
        fields[:2] = [word.strip(" ") for word in fields[:2]]
        start = start or fields[0]
        ends = len(fields) == 2 or not any(fields[1:])
        (finals if ends else arcs).append((number, fields))
    wide = max((len("\t".join(f).rstrip("\t").split("\t")) for _, f in arcs), default=0)
    arcs = [(number, fields[: max(wide, 3)]) for number, fields in arcs]
    finals = [(number, [word for word in f[:2] if word]) for number, f in finals]
    targets = {f[1] for _, f in arcs}
    for number, fields in [*arcs, *finals]:
        if fields[0].startswith(_COMMENTS) and fields[0] not in targets:
            reason = (
                f"{cut(fields[0], 60)!r} begins a comment, or is a state that no arc leads "
                "to; AT&T text has no comments: leave the line out"
            )
            raise Misread(number, 0, reason)
        _check(fields, number)
    blank = next((word for _, f in arcs for word in f[2:4] if " " in word), "")
    named = [(n, [*f[:2], *(letter_of(w, n) for w in f[2:4]), *f[4:]]) for n, f in arcs]
    return AttText(named, finals, start, blank)


def letter_of(label: str, line: int) -> str:
    """The letter that a label names.

    Raises:
        Misread: If it stands for all that is not named, or for a test of features.
    """
    if label in _OTHERS:
        reason = (
            f"{label!r} stands for all letters that are not named, and a machine names "
            "each; intersect it with the words over the letters that you mean (foma: "
            "regex X & [a|b]*;)"
        )
        raise Misread(line, 0, reason)
    if _FLAG.fullmatch(label):
        reason = (
            f"{cut(label, 60)!r} is a flag, which is no letter but tests what was read "
            "before; remove flags first (foma: eliminate flags; hfst-eliminate-flags)"
        )
        raise Misread(line, 0, reason)
    for written, meant in _WRITTEN.items():
        label = label.replace(written, meant)
    return label


def names_itself(label: str) -> bool:
    """Whether a label is read as the letter that is called so."""
    try:
        return letter_of(label, 0) == label
    except Misread:
        return False


def _check(fields: list[str], line: int) -> None:
    """Refuse fields that are too many, are empty, or would be divided otherwise."""
    if len(fields) > MOST_FIELDS:
        reason = (
            "a line has at most five parts, source, target, input, output and weight, not "
            f"{len(fields)}"
        )
        raise Misread(line, 0, reason)
    if not all(fields):
        reason = "an empty part; write <eps> where no letter is read or shown"
        raise Misread(line, 0, reason)
    states = fields[:2] if len(fields) > 2 else fields[:1]
    if odd := next((state for state in states if " " in state), ""):
        reason = (
            f"the state {cut(odd, 60)!r} has a blank: where some line has a tab, tabs "
            "alone divide the parts of lines"
        )
        raise Misread(line, 0, reason)
