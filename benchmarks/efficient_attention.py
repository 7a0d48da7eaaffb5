"""Dynamic programs by softmax, sparse and linear heads: sizes, work, and slopes.

Each row compiles and proves a network, and counts the operations of its matrix products
for a whole text: where positions meet, and the rest (Yang et al. 2024, Table 1).
"""

import argparse
from collections.abc import Iterable, Mapping, Sequence
from math import log

from report import Row, Table, each, parser, publish

import krohn
from algebra.errors import KrohnError
from compare.models.cost import parts
from compiler.constructions.chain_of_thought import ATTENTION

SIZES = (4, 8, 12, 16, 20)
NAMES = (
    *(f"EditDistance{n},{n}:letters=4" for n in SIZES),
    *(f"LocalEditDistance{n},{n}:letters=4" for n in (4, 8, 12)),
    *("LIS8", "LCS8,8", "Knapsack4,6", "MatrixChain4", "FloydWarshall5", "Viterbi6"),
    *("CYK4", "CoinChange3,8", "SearchTree5", "NeedlemanWunsch5,5"),
)
TITLE, SLOPES = "networks by kind of attention", "slopes of the work"
COLUMNS = ("positions meet", "the rest")


def measure(case: tuple[str, str]) -> Row:
    """The row of a source and a kind, in the narrower of two formats that is proved."""
    name, kind = case
    row: Row = {"source": name, "attention": kind}
    for dtype in ("float32", "float64"):
        try:
            model = krohn.compile(name, attention=kind, dtype=dtype)
        except KrohnError as refused:
            row["verdict"] = str(refused)[:100]
            continue
        assert model.proof is not None
        found, shape = model.summary(), model.file.header["architecture"]
        meeting, rest = parts(shape, shape["positions"] - 1)
        return {
            **{"source": name, "attention": kind, "dtype": dtype},
            "tokens": shape["positions"],
            "depth": found["depth"],
            "layers": found["layers"],
            "heads": found["heads"],
            "width": found["d_model"],
            "MLP": found["mlp_width"],
            "parameters": found["parameters"],
            "not zero": found["nonzero"],
            **dict(zip(COLUMNS, (meeting, rest), strict=True)),
            "verdict": model.proof.verdict,
            "proof s": round(model.proof.seconds, 2),
        }
    return row


def slopes(rows: Iterable[Row]) -> list[Row]:
    """How work grows with the number of tokens: between the first and last size."""
    every = list(rows)
    found = list[Row]()
    for family in ("EditDistance", "LocalEditDistance"):
        for kind in ATTENTION:
            own = [
                r
                for r in every
                if r["source"].startswith(family) and r["attention"] == kind
            ]
            own = [r for r in own if "tokens" in r]
            both = (own[1], own[-1])
            told = {name: _slope(both, name) for name in (*COLUMNS, "width")}
            found.append({"family": family, "attention": kind, **told})
    return found


def _slope(rows: Sequence[Row], name: str) -> float:
    small, large = rows
    return log(large[name] / small[name]) / log(large["tokens"] / small["tokens"])


def again(printed: Mapping[str, str]) -> Row:
    """A row made anew."""
    return measure((printed["source"], printed["attention"]))


AGAIN = {TITLE: again}


def main() -> None:
    """Print the tables."""
    options: argparse.Namespace = parser(__doc__).parse_args()
    rows = list(each(measure, [(n, kind) for n in NAMES for kind in ATTENTION]))
    publish([Table(TITLE, rows), Table(SLOPES, slopes(rows))], options)


if __name__ == "__main__":
    main()
