"""Dynamic programs by softmax, sparse and linear heads: sizes, work, and slopes.

Each row compiles and proves a network, and counts the operations of its matrix products
for a whole text: where positions meet, and the rest (Yang et al. 2024, Table 1).
"""

import argparse
from collections.abc import Mapping, Sequence
from math import log

from report import Row, Table, each, parser, publish

import krohn
from krohn.algebra.errors import KrohnError
from krohn.compile_options import CompileOptions
from krohn.kinds.dynamic_programs.build import ATTENTION
from krohn.network.attention_cost import parts
from krohn.program.architectures.transformer import Transformer
from krohn.program.attention import Sparse
from krohn.source_kinds import find_source_to_compile

SIZES = (4, 8, 12, 16, 20)
NAMES = (
    *(f"EditDistance{n},{n}:letters=4" for n in SIZES),
    *(f"LocalEditDistance{n},{n}:letters=4" for n in (4, 8, 12)),
    *("LIS8", "LCS8,8", "Knapsack4,6", "MatrixChain4", "FloydWarshall5", "Viterbi6"),
    *("CYK4", "CoinChange3,8", "SearchTree5", "NeedlemanWunsch5,5"),
)
TITLE, SLOPES = "networks by kind of attention", "slopes of the work"
COLUMNS = ("positions meet", "the rest")
FAMILIES = {
    "general": ("EditDistance{n},{n}:letters=4", (32, 64)),
    "arithmetic": ("Arithmetic{n},11", (16, 32)),
    "local": ("LocalEditDistance{n},{n}:letters=4", (10, 20)),
}
"""A name for each column of Table 1, and two sizes."""
CLAIMED = {
    **{("general", kind): "2" for kind in ATTENTION},
    ("arithmetic", "standard"): "2",
    ("arithmetic", "sparse"): "1.5",
    ("local", "standard"): "2",
    ("local", "linear"): "1 + reach or more",
    ("local", "sparse"): "1 + reach, at most",
}
"""The exponents of Table 1, where there is a network; logarithms are left out there."""
NOTE = (
    "Networks of the named sizes are made and not proved. Reach is B, the block of sparse "
    "heads. Digits of places make heads and streams wider by logarithms, which Table 1 "
    "leaves out."
)


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
        meeting, rest = parts(Transformer.of(shape), shape["positions"] - 1)
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


def slopes() -> list[Row]:
    """How work grows with the number of tokens, of networks that are planned only."""
    return [
        _growth(family, [name.format(n=n) for n in sizes], kind)
        for family, (name, sizes) in FAMILIES.items()
        for kind in ATTENTION
        if (family, kind) in CLAIMED
    ]


def _growth(family: str, names: Sequence[str], kind: str) -> Row:
    """The exponents between two sizes, and those of the paper."""
    small, large = (_planned(name, kind) for name in names)
    ratio = log(large["tokens"] / small["tokens"])
    told = {
        f"{name}: exponent": log(large[name] / small[name]) / ratio
        for name in (*COLUMNS, "all", "width", "reach")
        if name in small
    }
    tokens = f"{small['tokens']:,} to {large['tokens']:,}"
    paper = CLAIMED[family, kind]
    return {
        "family": family,
        "attention": kind,
        "tokens": tokens,
        "paper": paper,
        **told,
    }


def _planned(name: str, kind: str) -> Row:
    """The sizes and operations of a network whose weights nobody proves."""
    found = find_source_to_compile(name)
    assert found is not None
    source_kind, source = found
    asked = CompileOptions(attention=kind, formats=("float64",))
    built, _ = source_kind.build(source, asked)
    shape = built.network.architecture
    meeting, rest = parts(Transformer.of(shape), shape["positions"] - 1)
    row = {
        "tokens": shape["positions"],
        "width": shape["d_model"],
        "all": meeting + rest,
    }
    blocks = [block.attention for block in Transformer.of(shape).blocks]
    reach = [block.window for block in blocks if isinstance(block, Sparse)]
    sees = {"reach": max(reach)} if reach else {}
    return {**row, **dict(zip(COLUMNS, (meeting, rest), strict=True)), **sees}


def again(printed: Mapping[str, str]) -> Row:
    """A row made anew."""
    return measure((printed["source"], printed["attention"]))


AGAIN = {TITLE: again}


def main() -> None:
    """Print the tables."""
    options: argparse.Namespace = parser(__doc__).parse_args()
    rows = list(each(measure, [(n, kind) for n in NAMES for kind in ATTENTION]))
    publish([Table(TITLE, rows), Table(SLOPES, slopes(), NOTE)], options)


if __name__ == "__main__":
    main()
