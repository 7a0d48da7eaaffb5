"""What the variables of a Program mean: a sentence for each, and a name for each value.

All is derived from the Program and from the names of letters and answers, so that every
file has it, whatever made it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import NamedTuple

from krohn.program.functions import Select, Table
from krohn.program.operations.shift import Shift
from krohn.program.quoting import listed
from krohn.program.statement import Channel, Statement
from krohn.program.value_names import ValueNames, residue

SENTENCES = {
    "token": "the letter",
    "position": "a function of the position",
    "table": "a table of {reads}",
    "select": "one of {options}, chosen by {index} (0 is the first)",
    "sum": "{total}",
    "piecewise": "a piecewise linear function of {reads}",
    "prefix-sum": "the sum of {source} over all letters so far",
    "marked-sum": "the sum of {source} over the letters so far where {where} is 1",
    "block-sum": "the sum of {source} over block {block} of {size} letters, so far",
    "mean": "the mean of {source} over the letters so far whose {key} suits {query}",
    "latest": "{source} at the latest letter where {where} is 1",
    "earliest": "{source} at the first letter where {where} is 1",
    "sibling-latest": "{source} at the latest letter where {where} is 1, in the block "
    "of {block} before this letter's own, if the two are a pair",
    "latest-match": "{source} at the latest letter whose {key} is {query} here",
    "match-anywhere": "{source} at the last letter of the word whose {key} is {query} "
    "here",
    "best": "{source} at the letter so far of the largest {rating} whose {key} suits "
    "{query}",
    "final": "{source} at the end of the word",
    "shift": "{source} {back} before",
    "shift-by": "{source} as many letters before as {by} says",
    "at": "{source} at the letter whose number has the binary digits {digits}",
    "at-anywhere": "{source} at the letter of the word whose number has the binary "
    "digits {digits}",
    "letter-matrix": "the matrix of the letter",
    "matrix-product": "{left} times {right}",
    "normalised": "{source}, divided by its mass",
}
"""What an operation computes, by its name on file and the names of its fields."""


@dataclass(frozen=True)
class Meaning:
    """What a variable means.

    Attributes:
        says: How it is computed, in words.
        values: The name of each value that it can have; none if the values are numbers,
            such as sums, or matrices.
        named_by: What names are: ``"answer"``; ``"possible answers"``; ``"point"`` of
            maps that are composed; ``"letter"``; ``"position"``; ``"use"``; ``"input"``;
            empty if there are none.
    """

    says: str = ""
    values: Mapping[int, str] = field(default_factory=dict)
    named_by: str = ""


def meanings(
    program: Statement, letters: Sequence[str], answers: Sequence[str]
) -> dict[str, Meaning]:
    """What each channel of a Program means.

    Args:
        program: The Program that a file states.
        letters: The names of its letters.
        answers: The names of what it decodes to; none if it decodes to no names.
    """
    names, found = ValueNames(program, letters, answers), dict[str, Meaning]()
    windows = _windows(program, names)
    for name, channel in program.channels.items():
        if name in windows:
            says = windows[name].says(names.of(name)[0])
        elif name in names.of_letter and channel.op == Table.wire:
            says = "a number for each letter"
        else:
            says = describe(channel)
        found[name] = Meaning(says, *names.of(name))
    return found


class _Window(NamedTuple):
    """Which letters a channel of a composed map is about.

    Attributes:
        point: Where they begin to move.
        letters: How many they are; fewer at the start of a word.
        back: How many letters come after them, up to the position.
    """

    point: int
    letters: int
    back: int

    def says(self, names: Mapping[int, str]) -> str:
        """Where the letters take the point."""
        point, many = names.get(self.point, f"point {self.point}"), self.letters
        letters = "the letter" if many == 1 else f"the {many} letters"
        if self.back == 0:
            letters = "this letter" if many == 1 else f"the last {many} letters"
        elif self.back == 1:
            letters += " before this one"
        else:
            letters += f" before the last {self.back}"
        return f"where {letters} {'takes' if many == 1 else 'take'} {point}"


def _windows(program: Statement, names: ValueNames) -> dict[str, _Window]:
    """The letters whose maps a channel composes, of the channels that hold points."""
    found = dict[str, _Window]()
    for name, channel in program.channels.items():
        if name not in names.points:
            continue
        if name in names.of_letter:
            found[name] = _Window(channel.bos, 1, 0)
        elif isinstance(channel.operation, Shift):
            if (source := found.get(channel.operation.source)) is not None:
                found[name] = source._replace(back=source.back + channel.operation.by)
        elif channel.op == Select.wire:
            index, *options = (found.get(n) for n in channel.inputs)
            letters = {w and (w.letters, w.back) for w in options}
            points = [w and w.point for w in options]
            if (
                index is not None
                and points == [*range(len(points))]
                and letters == {(index.back, 0)}
            ):
                found[name] = _Window(index.point, index.letters + index.back, 0)
    return found


def describe(channel: Channel) -> str:
    """How a channel is computed, in words."""
    if channel.op == Table.wire and channel.table.is_identity:
        return f"the same as {channel.inputs[0]}"
    if channel.op == Table.wire and residue(channel.table)[1]:
        return _residue(channel)
    operation, reads = channel.operation, channel.inputs
    told = {each.name: getattr(operation, each.name) for each in fields(operation)}
    told |= {"reads": listed(reads, last="and"), "total": " + ".join(reads)}
    if channel.op == Select.wire:
        told |= {"index": reads[0], "options": listed(reads[1:], last="and")}
    if "digits" in told:
        told["digits"] = listed(reads[1:])
    if "by" in told:
        told["back"] = "one letter" if told["by"] == 1 else f"{told['by']} letters"
    if "level" in told:
        level = told["level"]
        told["block"] = f"{2**level} letters" if level else "one letter"
    plain = f"{channel.op} of {told['reads']}" if reads else channel.op
    return SENTENCES.get(channel.op, plain).format_map(told)


def _residue(channel: Channel) -> str:
    """That a table is a sum of its inputs modulo a number; nothing if it is none."""
    (more, *weights), modulus = residue(channel.table)
    terms = [
        (f"{abs(w)}·" if abs(w) > 1 else "") + name
        for w, name in zip(weights, channel.inputs, strict=True)
    ]
    signs = ["−" if w < 0 else "+" for w in weights]
    total = " ".join(f"{sign} {term}" for sign, term in zip(signs, terms, strict=True))
    total = f"{more} {total}" if more else total.removeprefix("+ ")
    return (
        f"({total}) modulo {modulus}" if " " in total else f"{total} modulo {modulus}"
    )
