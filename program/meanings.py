"""What the variables of a Program mean: a sentence for each, and a name for each value.

All is derived from the Program and from the names of letters and answers, so that every
file has it, whatever made it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import NamedTuple

from krohn.program.functions import Select, Table
from krohn.program.operations.position import Position
from krohn.program.operations.shift import Shift
from krohn.program.quoting import listed
from krohn.program.statement import Channel, Statement
from krohn.program.value_names import ValueNames, residue

SENTENCES = {
    "token": "the letter",
    "position": "a function of the position",
    "table": "a function of {reads}",
    "select": "{options}",
    "sum": "{total}",
    "piecewise": "a piecewise linear function of {reads}",
    "prefix-sum": "the sum of {source} over all letters so far",
    "marked-sum": "the sum of {source} over the letters so far where {where} is 1",
    "block-sum": "the sum of {source} over the letters so far of stretch {block}, "
    "each of {size} letters",
    "mean": "the mean of {source} over the letters so far whose {key} suits {query}",
    "latest": "{source} at the latest letter where {where} is 1",
    "earliest": "{source} at the first letter where {where} is 1",
    "sibling-latest": "in the second half of each stretch of {stretch} positions, {source} "
    "at the latest letter of the first half where {where} is 1",
    "latest-match": "{source} at the latest letter whose {key} is this letter's {query}",
    "match-anywhere": "{source} at the last letter of the word whose {key} is this "
    "letter's {query}",
    "best": "{source} at the letter so far of the largest {rating} whose {key} suits "
    "{query}",
    "final": "{source} at the end of the word",
    "shift": "{source} {back} before",
    "shift-by": "{source} as many letters before as {by} says",
    "at": "{source} at the position so far whose binary digits, the lowest first, are "
    "{digits}",
    "at-anywhere": "{source} at the position of the word whose binary digits, the lowest "
    "first, are {digits}",
    "letter-matrix": "the matrix of the letter",
    "matrix-product": "{left} times {right}",
    "normalised": "{source}, divided by its mass",
}
"""What an operation computes, by its name on file and the names of its fields."""
BRINGS = {
    "prefix-sum": "the sum over all letters so far",
    "marked-sum": "the sum over the marked letters so far",
    "block-sum": "the sum over the letters so far of a stretch of positions",
    "mean": "the mean over the letters so far that suit",
    "latest": "the value at the latest marked letter",
    "earliest": "the value at the first marked letter",
    "sibling-latest": "the value at the latest marked letter in a stretch of positions "
    "before this one",
    "latest-match": "the value at the latest letter that suits",
    "match-anywhere": "the value at the last letter of the word that suits",
    "best": "the value at the best letter so far that suits",
    "final": "the value at the end of the word",
    "shift": "the value from some letters before",
    "shift-by": "the value from as many letters before as a variable says",
    "at": "the value at the position so far that variables say",
    "at-anywhere": "the value at the position of the word that variables say",
}
"""What a head brings that computes an operation, by its name on file.

A flag marks letters. A letter suits whose key is the query.
"""
NAMED = {
    "answer": "the answer that each value stands for",
    "possible answers": "the answers that are possible with each value",
    "point": "the point that each value stands for",
    "letter": "the letters that give each value",
    "position": "the positions that give each value",
    "use": "what each value does",
    "input": "what gives each value",
    "": "its values are numbers",
}
"""What names of values are, by `Meaning.named_by`."""
MOST_OPTIONS = 4
"""Channels of which one is chosen, and of each of which it is said when."""


@dataclass(frozen=True)
class Meaning:
    """What a variable means.

    Attributes:
        says: How it is computed, in words.
        values: The name of each value that it can have; none if the values are numbers,
            such as sums, or matrices.
        short: The same names; of what gives a value, the first few, and how many others
            there are.
        named_by: What names are: ``"answer"``; ``"possible answers"``; ``"point"`` of
            maps that are composed; ``"letter"``; ``"position"``; ``"use"``; ``"input"``;
            empty if there are none.
    """

    says: str = ""
    values: Mapping[int, str] = field(default_factory=dict)
    short: Mapping[int, str] = field(default_factory=dict)
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
        fixed = isinstance(channel.operation, Position)
        if name in windows:
            says = windows[name].says(names.of(name).short)
        elif len(channel.later) == 1 and (fixed or name in names.of_letter):
            says = _constant(channel)
        elif name in names.of_letter and channel.op == Table.wire:
            says = "a number for each letter"
        else:
            says = "; ".join([describe(channel), *_unstored(program, channel)])
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


def stored_inputs(program: Statement, name: str) -> tuple[str, ...]:
    """The stored channels that a channel reads, through channels that are not stored.

    Where these read nothing, as the token, they are among them.
    """
    found: dict[str, None] = {}
    for read in program.reads(name):
        ends = bool(read.stored) or not read.inputs
        found |= dict.fromkeys(
            (read.name,) if ends else stored_inputs(program, read.name)
        )
    return tuple(found)


def _unstored(program: Statement, channel: Channel) -> Iterator[str]:
    """What those are that a channel reads and that are stored nowhere.

    Who looks at what is stored does not meet them elsewhere.
    """
    told = describe(channel)
    for read in map(program.channels.__getitem__, dict.fromkeys(channel.inputs)):
        if read.stored is None and read.name in told:
            plain = read.op in ("token", "sum")
            short = plain or (read.op == Table.wire and residue(read.table)[1])
            sources = listed(stored_inputs(program, read.name), last="and")
            says = describe(read) if short else f"computed from {sources}"
            yield f"{read.name} is {says}"


def _constant(channel: Channel) -> str:
    """The value that a channel has after every letter."""
    value, bos = int(channel.later[0]), int(channel.bos)
    if value == bos:
        return f"always {value}"
    return f"{value} after every letter, {bos} before the first"


def describe(channel: Channel) -> str:
    """How a channel is computed, in words."""
    operation, reads = channel.operation, channel.inputs
    if channel.op == Table.wire and channel.table.is_identity:
        return f"the same as {reads[0]}"
    if channel.op == Table.wire and residue(channel.table)[1]:
        return _residue(channel)
    told = {each.name: getattr(operation, each.name) for each in fields(operation)}
    told |= {"reads": listed(reads, last="and"), "total": " + ".join(reads)}
    if channel.op == Select.wire:
        told["options"] = _options(reads)
    if "digits" in told:
        told["digits"] = listed(reads[1:])
    if "by" in told:
        told["back"] = "one letter" if told["by"] == 1 else f"{told['by']} letters"
    if "level" in told:
        told["stretch"] = 2 ** (told["level"] + 1)
    plain = f"{channel.op} of {told['reads']}" if reads else channel.op
    return SENTENCES.get(channel.op, plain).format_map(told)


def _options(reads: Sequence[str]) -> str:
    """Which of several channels another one chooses."""
    index, *options = reads
    if len(set(options)) == 1:
        return f"the same as {options[0]}"
    if len(options) > MOST_OPTIONS:
        return f"of {listed(options, last='and')} the one that {index} says, from 0 on"
    names = [index, *["it"] * len(options)]
    return ", ".join(
        f"{o} if {n} is {i}"
        for i, (o, n) in enumerate(zip(options, names, strict=False))
    )


def _residue(channel: Channel) -> str:
    """That a table is a sum of its inputs modulo a number."""
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
