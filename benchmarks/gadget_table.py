"""Gadgets for networks built by hand: units, error, and what is wrong as printed.

Each gadget is certified, and each printed form refused with a counterexample, over the
rationals (docs/instruments/gadgets.md).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from report import Row, Table, parser, publish

from krohn.instruments.gadgets import catalogue as gadgets, printed
from krohn.instruments.gadgets.record import Gadget

THIRD, EIGHTH = Fraction(1, 3), Fraction(1, 8)
MATRIX = ((0.5, -2.0), (3.0, 1.0))
BITS = ((0, 0), (0, 1), (1, 0), (1, 1))
NETWORKS = tuple(gadgets.bends(v) for v in ([2, 0, 1], [-1, 3, -2], [0, 1, 5]))


@dataclass(frozen=True)
class Entry:
    """A gadget at one size.

    Attributes:
        call: How it is called.
        lemma: Its source: A of Yang et al. (2024), L of Liu (2024), G where it is derived.
        made: The gadget.
        printed: As the paper has it, if that is wrong.
    """

    call: str
    lemma: str
    made: Gadget
    printed: Gadget | None = None


ENTRIES = (
    Entry("multiplication(8, 1/100)", "A.1", gadgets.multiplication(8, 0.01)),
    Entry(
        "with_gelus(thermometer(5, 1/3), 1/100)",
        "A.2",
        gadgets.with_gelus(gadgets.thermometer(5, THIRD), 0.01),
    ),
    Entry("linear(W, 5)", "A.3, L43", gadgets.linear(MATRIX, 5)),
    Entry(
        "linear(W, 5, gelu=True)",
        "A.3",
        gadgets.linear(MATRIX, 5, gelu=True),
    ),
    Entry(
        "selection(2, 5, 1, 9)",
        "A.4",
        gadgets.selection(2, 5, 1, 9),
        printed.selection(2, 5, 1, 9),
    ),
    Entry("gate(8, 1/8)", "G5", gadgets.gate(8, EIGHTH)),
    Entry(
        "thermometer(5, 1/3)",
        "A.5",
        gadgets.thermometer(5, THIRD),
        printed.thermometer(5),
    ),
    Entry(
        "thermometer(5, 1/3, falling=True)",
        "A.6",
        gadgets.thermometer(5, THIRD, falling=True),
        printed.thermometer(5, falling=True),
    ),
    Entry("one_hot(5, 1/3)", "G7", gadgets.one_hot(5, THIRD)),
    Entry("block_number(3)", "A.7", gadgets.block_number(3), printed.block_number(3)),
    Entry(
        "block_number(4)",
        "A.7, place",
        gadgets.block_number(4),
        printed.place_in_block(4),
    ),
    Entry("division(4, 19)", "A.7", gadgets.division(4, 19)),
    Entry("lookup((3, 1, 4, 1, 5))", "G9", gadgets.lookup((3, 1, 4, 1, 5))),
    Entry("bends((0, 1, 4, 9, 16))", "G10", gadgets.bends((0, 1, 4, 9, 16))),
    Entry("minimum(9)", "G11", gadgets.minimum(9)),
    Entry("maximum(9)", "G11", gadgets.maximum(9)),
    Entry("distance(9)", "G11", gadgets.distance(9)),
    Entry("comparison(9)", "G11", gadgets.comparison(9)),
    Entry("equality(9)", "G11", gadgets.equality(9)),
    Entry("rounding(5)", "G12", gadgets.rounding(5)),
    Entry("slots(3, 8, 1/8)", "A.12", gadgets.slots(3, 8, EIGHTH), printed.slots(3, 8)),
    Entry(
        "slots(3, 8)",
        "A.12, sign",
        gadgets.slots(3, 8),
        printed.slots(3, 8, next_slot=False),
    ),
    Entry("table((0, 2, 3, 7), …)", "L10", gadgets.table((0, 2, 3, 7), (4, -1, 5, 2))),
    Entry(
        "table_of_several(BITS, …)",
        "L11",
        gadgets.table_of_several(BITS, (1, 3, 4, 6)),
        printed.table_of_several(BITS, (1, 3, 4, 6)),
    ),
    Entry("threshold(1, 9)", "L12", gadgets.threshold(1, 9), printed.threshold(1, 9)),
    Entry("composition(3)", "L14", gadgets.composition(3), printed.composition(3)),
    Entry(
        "interpolation(…)",
        "L38",
        gadgets.interpolation(((0, 1), (2, 0), (1, 1)), (3, -1, 2), (3, 1)),
    ),
    Entry("component(3, 5)", "L40", gadgets.component(3, 5), printed.component(3, 5)),
    Entry("place(4, 2, 9)", "L41", gadgets.place(4, 2, 9), printed.place(4, 2, 9)),
    Entry(
        "chosen_network(…)",
        "L42",
        gadgets.chosen_network(NETWORKS, [(0, 2)]),
        printed.chosen_network(NETWORKS, [(0, 2)]),
    ),
)


def counterexample(made: Gadget) -> str:
    """Where a printed form is wrong.

    Raises:
        AssertionError: If it is not.
    """
    try:
        gadgets.certify(made)
    except gadgets.TooFarOff as wrong:
        found = wrong.found
        parts = (found.output, found.inputs, found.wanted)
        said, at, right = (", ".join(map(str, part)) for part in parts)
        return f"({said}) at ({at}), not ({right})"
    raise AssertionError(f"{made.name} is right as printed")


def measure(entry: Entry) -> Row:
    """The row of a gadget."""
    return {
        "gadget": entry.call,
        "lemma": entry.lemma,
        "units": " + ".join(map(str, entry.made.widths)),
        "error": float(gadgets.certify(entry.made).error),
        "as printed": counterexample(entry.printed) if entry.printed else None,
    }


def again(shown: Mapping[str, str]) -> Row:
    """The row of a gadget, made anew."""
    (entry,) = [e for e in ENTRIES if e.call == shown["gadget"]]
    return measure(entry)


TITLE = "gadgets and their printed forms"
AGAIN = {TITLE: again}


def main() -> None:
    """Certify, refuse, and print the table."""
    options = parser(__doc__).parse_args()
    note = (
        "Errors are the largest over all real inputs of the ranges. What the printed "
        "form says at an input, and what is right there."
    )
    publish([Table(TITLE, [measure(entry) for entry in ENTRIES], note)], options)


if __name__ == "__main__":
    main()
