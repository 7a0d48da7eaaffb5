"""The number formats in which texts of dynamic programs can be proved, and how long ones.

Each row compiles and proves all sizes of a family in one format.
"""

import argparse
import re
from itertools import product

from report import Row, Table, each, parser, publish

import krohn
from krohn.algebra.errors import KrohnError
from krohn.kinds.dynamic_programs.build import ATTENTION
from krohn.kinds.dynamic_programs.source import find_by_name
from krohn.network.precision import PRECISIONS

SIZES = {
    "EditDistance{n},{n}:letters=4": (2, 4, 6, 8, 10, 12, 16, 20),
    "LIS{n}": (2, 4, 8, 12, 16, 20),
    "Knapsack{n},6": (1, 2, 4, 8, 16),
}
TITLE = "formats of texts"
FAMILY, KIND, FORMAT = "family", "attention", "dtype"


def measure(case: tuple[str, str, str]) -> Row:
    """The longest text of a family that is proved, and why others are refused."""
    family, kind, dtype = case
    row: Row = {FAMILY: family, KIND: kind, FORMAT: dtype, "longest proved": None}
    row |= {"tokens of it": None, "refused": None, "why the last one": None}
    refused = list[str]()
    for n in SIZES[family]:
        name = family.format(n=n)
        try:
            model = krohn.compile(name, attention=kind, dtype=dtype)
        except KrohnError as reason:
            refused.append(str(n))
            row |= {
                "refused": ", ".join(refused),
                "why the last one": _why(str(reason)),
            }
            continue
        assert model.proof is not None
        assert model.proof.verdict == "verified"
        row |= {"longest proved": f"n = {n}", "tokens of it": _tokens(name)}
    return row


def _tokens(name: str) -> int:
    found = find_by_name(name)
    assert found is not None
    return found.chain_of_thought.length


def _why(message: str) -> str:
    """The reason alone."""
    found = re.search(r"nothing was written \((.*)\); try", message)
    return (found[1] if found else message)[:90]


def main() -> None:
    """Print the table."""
    options: argparse.Namespace = parser(__doc__).parse_args()
    cases = list(product(SIZES, ATTENTION, PRECISIONS))
    publish([Table(TITLE, each(measure, cases))], options)


if __name__ == "__main__":
    main()
