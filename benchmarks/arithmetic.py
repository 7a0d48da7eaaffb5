"""Arithmetic modulo 11 by softmax and sparse heads: sizes and work beside the tokens.

The work is that of the matrix products of a whole text: where positions meet, apart from
the rest. Sizes are those of Yang et al. (2024): 6, 10, 13 and 16 operators.
"""

import argparse
from itertools import pairwise
from math import log

from efficient_attention import COLUMNS, again, measure
from report import Row, Table, each, parser, publish

from krohn.kinds.rewriting.commands import ATTENTION

OPERATORS = (6, 10, 13, 16)
TITLE, SLOPES = "arithmetic by kind of attention", "exponents of the work in the tokens"
AGAIN = {TITLE: again}


def slopes(rows: list[Row]) -> list[Row]:
    """How work grows from each size to the next one, by the tokens."""
    found = []
    for kind in ATTENTION:
        own = [row for row in rows if row["attention"] == kind]
        for small, large in pairwise(own):
            longer = log(large["tokens"] / small["tokens"])
            told = {c: log(large[c] / small[c]) / longer for c in COLUMNS}
            sizes = f"{small['tokens']} to {large['tokens']}"
            found.append({"attention": kind, "tokens": sizes, **told})
    return found


def main() -> None:
    """Print the tables."""
    options: argparse.Namespace = parser(__doc__).parse_args()
    cases = [(f"Arithmetic{n},11", kind) for kind in ATTENTION for n in OPERATORS]
    rows = list(each(measure, cases))
    publish([Table(TITLE, rows), Table(SLOPES, slopes(rows))], options)


if __name__ == "__main__":
    main()
