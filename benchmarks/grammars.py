"""Grammars: what a cut at each depth holds, and its networks (docs/kinds/grammars.md).

python benchmarks/grammars.py
"""

from collections.abc import Mapping
from itertools import product

from report import Row, Table, each, parser, publish

import krohn
from krohn.algebra.errors import KrohnError
from krohn.kinds.grammars.commands_facts import (
    against,
    facts,
)
from krohn.kinds.grammars.source import CATALOGUE

CUTS = "grammars, cut at a depth"
LAWS = "the law of the next letter, Dyck2 cut at depth 3 beside the whole"
NOTE = (
    "Variation and what is never said are means over prefixes of 6 letters of the whole "
    "grammar. No sentence is as shallow as a row without states. An RNN is refused where "
    "the beliefs are not found to be finitely many."
)
DEPTHS, PREFIXES = (1, 2, 3), 6


def cut(case: tuple[str, int]) -> Row:
    """The row of a grammar of the catalogue at a depth."""
    name, depth = case
    grammar = krohn.grammar(f"pcfg:{name}")
    mass = facts(grammar, depth)["depths"][depth]["probability"]
    row: Row = {"grammar": name, "depth": depth, "sentences within": f"{mass:.6f}"}
    if not mass:
        return row
    laws = against(grammar, depth, PREFIXES)
    last = laws["lengths"][-1]
    row |= {
        "states": laws["states"],
        "variation at 6": f"{last['variation']:.6f}",
        "never said at 6": f"{last['beyond']:.6f}",
    }
    try:
        model = krohn.compile(f"pcfg:{name}:depth={depth}", arch="rnn")
    except KrohnError:
        return {**row, "RNN": "refused"}
    header = model.file.header
    return {
        **row,
        "RNN": model.summary()["verdict"],
        "units": header["architecture"]["hidden"],
        "error": f"{header['claim']['error']:.1e}",
    }


def laws() -> list[Row]:
    """The rows of the second table."""
    found = against(krohn.grammar("pcfg:Dyck2"), 3, PREFIXES)["lengths"]
    return [
        {k: v if isinstance(v, int) else f"{abs(v):.6f}" for k, v in row.items()}
        for row in found
    ]


def again(printed: Mapping[str, str]) -> Row:
    """A row of the first table, made anew."""
    return cut((printed["grammar"], int(printed["depth"])))


AGAIN = {CUTS: again}


def main() -> None:
    """Cut, compile and compare, and print the tables."""
    chosen = parser(__doc__).parse_args()
    cases = list(product(CATALOGUE, DEPTHS))
    publish([Table(CUTS, each(cut, cases), NOTE), Table(LAWS, laws())], chosen)


if __name__ == "__main__":
    main()
