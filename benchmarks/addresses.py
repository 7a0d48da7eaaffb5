"""Sizes of networks that find places by digits or by squares, and for what lengths.

The second table is about a text, a word and then its letters backwards, and about a
sequence function, the letter at the own position: the longest that are proved in a format.
"""

import argparse
from bisect import bisect_left
from itertools import product

from report import Row, Table, each, parser, publish

import krohn
from krohn.algebra.errors import KrohnError
from krohn.compile_options import ADDRESSES, BINARY, QUADRATIC
from krohn.compiled_model import CompiledModel
from krohn.kinds.dynamic_programs.source import find_by_name, read_text
from krohn.network.precision import PRECISIONS

SIZES = (4, 8, 12, 16, 20)
BACKWARDS = """size n = 1 in 1..16384, m = 1 in 1..16384
input x[1..n] of 0..1
table B[i in 1..m]
B[i] = x[n + 1 - i] + 0
answer B[m]
"""
NOTE = "Widths by digits are those of a length of at most 1,024."
WIDTHS, LENGTHS = "width by addresses", "lengths by quadratic addresses"


def measure(case: tuple[str, int, str]) -> Row:
    """The sizes of a network."""
    kind, n, addresses = case
    name = f"LocalEditDistance{n},{n}"
    model = krohn.compile(name, attention=kind, addresses=addresses)
    source, told = find_by_name(name), model.summary()
    assert model.proof is not None
    assert source is not None
    return {
        "source": name,
        "attention": kind,
        "addresses": addresses,
        "tokens": source.chain_of_thought.length,
        **{size: told[size] for size in ("layers", "heads")},
        "width": told["d_model"],
        "MLP": told["mlp_width"],
        "parameters": told["parameters"],
        "not zero": told["nonzero"],
        "dtype": told["dtype"],
        "verdict": model.proof.verdict,
        "proof s": round(model.proof.seconds, 2),
    }


def backwards(tokens: int, dtype: str, addresses: str) -> CompiledModel:
    """The network of a text of so many tokens, half of them the prompt."""
    steps = (tokens - 4) // 2
    sizes = {"n": tokens - 4 - steps, "m": steps}
    source = read_text(BACKWARDS, "backwards", (), sizes)
    assert source.chain_of_thought.length == tokens
    return krohn.compile(source, dtype=dtype, addresses=addresses)


def own(letters: int, dtype: str, addresses: str) -> CompiledModel:
    """The network of a function of words of so many letters."""
    p = krohn.program("ab")
    p.output(p.at(p.token(), p.position()))
    return krohn.compile(p, letters, dtype=dtype, addresses=addresses)


FAMILIES = {"text": (backwards, 32_772), "function": (own, 100_000)}
"""How a network of a length is made, and the greatest length that is tried."""


def longest(case: tuple[str, str]) -> Row:
    """The greatest length that is proved, and why greater ones are refused."""
    (name, dtype), why, seen = case, "", dict[int, CompiledModel]()
    make, most = FAMILIES[name]

    def refused(length: int) -> bool:
        nonlocal why
        try:
            seen[length] = make(length, dtype, QUADRATIC)
        except KrohnError as reason:
            why = str(reason)
            return True
        return False

    if refused(most):
        enough = next(n for n in (64, 8_000) if refused(n))
        most = bisect_left(range(enough), True, lo=16, key=refused) - 1
    model = seen[most]
    assert model.proof is not None
    assert model.proof.verdict == "verified"
    digits = make(min(most, 1_024), dtype, BINARY).summary()["d_model"]
    return {
        "what": name,
        "dtype": dtype,
        "length": most,
        "width": model.summary()["d_model"],
        "width by digits": digits,
        "proof s": round(model.proof.seconds, 2),
        "why no longer": why or "none was tried",
    }


def main() -> None:
    """Print the tables."""
    options: argparse.Namespace = parser(__doc__).parse_args()
    cases = list(product(("standard", "sparse"), SIZES, ADDRESSES))
    lengths = list(product(FAMILIES, PRECISIONS))
    widths = Table(WIDTHS, each(measure, cases))
    publish([widths, Table(LENGTHS, each(longest, lengths), NOTE)], options)


if __name__ == "__main__":
    main()
