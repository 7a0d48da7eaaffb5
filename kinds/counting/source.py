"""Counting programs (C-RASP, Yang and Chiang 2024): docs/kinds/counting.md."""

from krohn.kinds.counting.source_examples import CATALOGUE
from krohn.kinds.counting.source_program import (
    Builder,
    Comparison,
    CountingProgram,
    Counts,
    Formula,
    Junction,
    Letter,
    Negation,
)
from krohn.kinds.counting.source_text import (
    SUFFIX,
    parse,
    sum_text,
    write_program,
)
from krohn.kinds.sequence_functions.source import (
    Channel,
    SequenceFunction,
    program,
)
from krohn.program.errors import demand

__all__ = [
    "SUFFIX",
    "Builder",
    "Comparison",
    "CountingProgram",
    "Formula",
    "Junction",
    "Letter",
    "Negation",
    "find_by_name",
    "function",
    "parse",
    "write_program",
]


LONGEST = 30
"""The signs in the name of a sum, at most."""
MOST_TOGETHER = 8
"""Flags that one table joins: it has 2^8 rows."""


def function(source: CountingProgram) -> SequenceFunction:
    """A counting program as a sequence function that says 1 where it holds, else 0.

    Raises:
        ProgramError: If it has no letters.
    """
    made = program(source.letters, source.name)
    token = made.token()
    channels = dict[int, Channel]()
    totals = dict[Counts, Channel]()
    for number, formula in enumerate(source.formulas):
        match formula:
            case Letter(letter):
                channels[number] = token == source.letters[letter]
            case Negation(part):
                channels[number] = ~channels[part]
            case Junction(every, read):
                joined = [channels[i] for i in read]
                channels[number] = _join_flags(made, token, every, joined)
            case Comparison(counts, least, most):
                if counts not in totals:
                    total = _total(made, counts, channels)
                    totals[counts] = _name_sum(made, source, counts, total)
                channels[number] = _is_between(made, totals[counts], least, most)
    for name, number in source.names:
        made.named(name, channels[number])
    for number, formula in enumerate(source.formulas):
        if isinstance(formula, Letter):
            made.named(f"Q_{source.letters[formula.letter]}", channels[number])
    made.output(channels[source.output])
    return made


def _name_sum(
    made: SequenceFunction, source: CountingProgram, counts: Counts, total: Channel
) -> Channel:
    """A sum by its text, if all that it counts has names: ``opens-closes``."""
    counted = {number: name for name, number in reversed(source.counts)}
    known = {number: f"#{name}" for name, number in reversed(source.names)} | {
        number: f"#Q_{source.letters[formula.letter]}"
        for number, formula in enumerate(source.formulas)
        if isinstance(formula, Letter)
    }
    for number, formula in enumerate(source.formulas):
        if isinstance(formula, Negation) and formula.part in known:
            known.setdefault(number, f"#¬{known[formula.part].removeprefix('#')}")
    texts = [counted.get(i) or known.get(i, "") for i, _ in counts]
    name = sum_text(counts, texts).replace(" ", "")
    if all(texts) and len(name) <= LONGEST:
        made.named(f"{name}.each", *total.reads)
        made.named(name, total)
    return total


def _is_between(
    made: SequenceFunction, total: Channel, least: int | None, most: int | None
) -> Channel:
    """Whether a number lies between two others, of which one may be absent."""

    def inside(number: int) -> int:
        small = least is not None and number < least
        return int(not small and (most is None or number <= most))

    return made.map(inside, total)


def _join_flags(
    made: SequenceFunction, token: Channel, every: bool, read: list[Channel]
) -> Channel:
    """Whether all, or some, flags hold; many by tables of a few."""
    if not read:
        return made.map(lambda _: int(every), token)
    together = all if every else any
    while len(read) > 1:
        groups = [
            read[i : i + MOST_TOGETHER] for i in range(0, len(read), MOST_TOGETHER)
        ]
        read = [
            made.map(lambda *flags: int(together(flags)), *group) for group in groups
        ]
    return read[0]


def _total(
    made: SequenceFunction, counts: Counts, channels: dict[int, Channel]
) -> Channel:
    """A sum of counts: of positions, each with what it adds."""
    demand(len(counts) <= MOST_TOGETHER, f"a sum has more than {MOST_TOGETHER} counts")
    factors = [k for _, k in counts]

    def sum_factors(*flags: int) -> int:
        return sum(k * flag for k, flag in zip(factors, flags, strict=True))

    return made.prefix_sum(
        made.map(sum_factors, *(channels[i] for i, _ in counts), bos=0)
    )


def find_by_name(name: str) -> CountingProgram:
    """The counting program of a name in the catalogue.

    Raises:
        Refused: If there is none.
    """
    known = ", ".join(CATALOGUE)
    demand(
        name in CATALOGUE, f"there is no counting program {name!r}; there are {known}"
    )
    return parse(CATALOGUE[name].read_text(encoding="utf-8"), CATALOGUE[name].name)
