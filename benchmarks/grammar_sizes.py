"""How large ambiguous grammars are, cut at a depth, and how small they can be.

python benchmarks/grammar_sizes.py

Beside the stacks stand two exact minimisations: the least quotient whose states say the
same from there on with the same probabilities, and the least weighted automaton with
weights of any sign, which gives every word its probability (Schützenberger 1961).
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path

from report import Row, Table, each, parser, publish

import krohn
from krohn.algebra.errors import KrohnError
from krohn.kinds.grammars.source_bounded import (
    Shares,
    cut,
    transitions,
)
from krohn.kinds.hidden_markov.build_attention_products import Layout

EXAMPLE = Path(__file__).parents[1] / "examples" / "prepositions.pcfg"
CASES = tuple((str(EXAMPLE), depth) for depth in (2, 3, 4, 5))
CASES += (("pcfg:Brackets", 3),)
LENGTH = 64
Vector = dict[int, Fraction]


def quotient(rows: list[Shares]) -> int:
    """How many states are left where those that say the same are one."""
    classes, found = [0] * len(rows), 1
    while True:
        signs = dict[object, int]()
        new = []
        for own, row in zip(classes, rows, strict=True):
            sums = dict[tuple[str, int], Fraction]()
            for (letter, target), share in row.items():
                key = letter, classes[target]
                sums[key] = sums.get(key, Fraction()) + share
            sign = own, frozenset(sums.items())
            new.append(signs.setdefault(sign, len(signs)))
        if len(signs) == found:
            return found
        classes, found = new, len(signs)


def least(rows: list[Shares]) -> int:
    """How many states the least weighted automaton has, with weights of any sign.

    Vectors that are reached from the start are told apart by those that are reached from
    the end; the rank of their products is the number of states.
    """
    forward = _spanned({0: Fraction(1)}, _steps(rows))
    every = {state: Fraction(1) for state in range(len(rows))}
    backward = _spanned(every, _steps_back(rows))
    products = [
        {at: _dot(one, other) for at, other in enumerate(backward)} for one in forward
    ]
    basis = dict[int, Vector]()
    for vector in products:
        _added(basis, {at: x for at, x in vector.items() if x})
    return len(basis)


def _dot(one: Vector, other: Vector) -> Fraction:
    return sum((x * other.get(at, Fraction()) for at, x in one.items()), Fraction())


def _steps(rows: list[Shares]) -> Callable[[Vector], list[Vector]]:
    def steps(vector: Vector) -> list[Vector]:
        found = dict[str, Vector]()
        for state, weight in vector.items():
            for (letter, target), share in rows[state].items():
                to = found.setdefault(letter, {})
                to[target] = to.get(target, Fraction()) + weight * share
        return list(found.values())

    return steps


def _steps_back(rows: list[Shares]) -> Callable[[Vector], list[Vector]]:
    def steps(vector: Vector) -> list[Vector]:
        found = dict[str, Vector]()
        for state, row in enumerate(rows):
            for (letter, target), share in row.items():
                if target in vector:
                    to = found.setdefault(letter, {})
                    to[state] = to.get(state, Fraction()) + share * vector[target]
        return list(found.values())

    return steps


def _spanned(first: Vector, steps: Callable[[Vector], list[Vector]]) -> list[Vector]:
    """A basis of what is reached from a vector."""
    basis, waiting = dict[int, Vector](), [first]
    while waiting:
        new = _added(basis, waiting.pop())
        if new:
            waiting += steps(new)
    return list(basis.values())


def _added(basis: dict[int, Vector], vector: Vector) -> Vector:
    """What a vector adds to a basis, by its first entry; nothing if it depends on it."""
    left = {at: x for at, x in vector.items() if x}
    while left and (first := min(left)) in basis:
        factor = left[first]
        for at, x in basis[first].items():
            left[at] = left.get(at, Fraction()) - factor * x
        left = {at: x for at, x in left.items() if x}
    if left:
        lead = left[first]
        basis[first] = left = {at: x / lead for at, x in left.items()}
    return left


def sizes(case: tuple[str, int]) -> Row:
    """The row of a grammar at a depth."""
    name, depth = case
    grammar = krohn.grammar(name)
    _, rows = transitions(grammar, depth)
    held = Layout.of(cut(grammar, depth), LENGTH, 0, 0).row_count
    row: Row = {
        "grammar": f"`{Path(name).name}`",
        "depth": depth,
        "stacks": len(rows),
        "least quotient": quotient(rows),
        "least weighted": least(rows),
        "rows held": held,
    }
    try:
        model = krohn.compile(f"{name}:depth={depth}", LENGTH)
    except KrohnError:
        return {**row, "network": "refused"}
    return {
        **row,
        "network": model.construction,
        "parameters": model.summary()["parameters"],
        "error": f"{model.file.header['claim']['error']:.1e}",
    }


TITLE = f"ambiguous grammars, T = {LENGTH}"


def again(printed: Mapping[str, str]) -> Row:
    """A row, made anew."""
    cases = {(Path(name).name, str(depth)): (name, depth) for name, depth in CASES}
    return sizes(cases[printed["grammar"].strip("`"), printed["depth"]])


AGAIN = {TITLE: again}


def main() -> None:
    """Print the table of docs/kinds/grammars.md."""
    chosen = parser(__doc__).parse_args()
    publish([Table(TITLE, each(sizes, CASES))], chosen)


if __name__ == "__main__":
    main()
