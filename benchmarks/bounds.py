"""The sizes that the thesis states beside those of networks that are proved.

Every statement of the chapter on automata at some machines and lengths: its formula as
printed, the network built as the thesis builds it, and the best one that Krohn has.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import printed
from printed import Sizes
from report import Row, Table, parser, publish

import krohn
from krohn.algebra.automaton import Automaton
from krohn.machines import read

CODE = (
    "a position code of 2·log2 T dimensions, not a circle of 2: scores of log T, not T"
)
OWN = "the result has a dimension of its own"
KEPT = "a letter is kept at its position by a block, not by the embedding"
LOOKS = "a block without heads looks levels up; heads stand in two"
LEAST = "printed is what such a network needs at least"
NOTE = (
    "Layers are blocks, those that only look up included, as the thesis counts; of these "
    "*with heads* attend. MLP is the widest hidden layer. The position embedding is no "
    "weight, as in the thesis. Printed sizes of Lemmas 17–19 are those of its simulators, "
    "lemma by lemma. *best* is what `krohn compile` takes by itself: the fewest layers "
    "with heads."
)


@dataclass(frozen=True)
class Statement:
    """A statement of the thesis.

    Attributes:
        name: The theorem or lemma.
        formula: Layers; d_model; heads; MLP; largest weight, as printed.
        sizes: The same as a function of a machine and T.
        constructions: The network of its proof, and variants.
        errata: Those of docs/errata.md that concern it.
    """

    name: str
    formula: str
    sizes: Callable[[Automaton, int], Sizes]
    constructions: tuple[str, ...]
    errata: str = ""


@dataclass(frozen=True)
class Case:
    """A statement at a machine and a length.

    Attributes:
        statement: The statement.
        machine: A name of the zoo.
        length: T.
        above: Why a size of the network is larger than printed, by size.
        observe: What the networks say instead of the state.
    """

    statement: Statement
    machine: str
    length: int
    above: Mapping[str, str] = field(default_factory=dict)
    observe: str | None = None


SCAN = Statement(
    "Theorem 10",
    "⌈log2 T⌉; 2n + 2; 2; n² + n; max(4n + 2, 10T√(log n + log T))",
    printed.scan,
    ("scan",),
    "E7–E10, E12, E13",
)
COUNTER = Statement(
    "Lemma 15", "1; 3; 1; 4nT; 4nT + 2", printed.counter, ("counter",), "E14"
)
MEMORY = Statement(
    "Lemma 16", "1; 4; 1; 4n; 2T log nT", printed.memory, ("memory",), "E15"
)
PRODUCT = Statement(
    "Lemma 17", "max; Σ; Σ; Σ; max", printed.cyclic(2, 3, 5), ("product",)
)
SPLIT = Statement(
    "Lemma 18",
    "L_N + L_H + 2; d_N + d_H; max(H_N, H_H); max(w_N, w_H, 4|G|); "
    "max(norms, 6·repSize, repDim)",
    printed.by(printed.split),
    ("semidirect", "semidirect-car"),
    "E17",
)
WREATH = Statement(
    "Lemma 19",
    "L_N + L_H + 2; |H|d_N + d_H; max(|H|H_N, H_H); max(|H|w_N, w_H, 5|H|²|N|); "
    "max(norms, 6|H|)",
    printed.by(printed.woven),
    ("wreath",),
    "E18",
)
# Permutations of how many points the groups of the table can be.
DEGREES = {"C8": 8, "Q8": 8, "A4": 4, "S4": 4}
SERIES = Statement(
    "Theorem 16",
    "3 log2 |G|; 2|G|; 2|G|; 20nT|G|; 6nT",
    lambda machine, length: printed.solvable(machine, length, DEGREES[machine.name]),
    ("series",),
    "E19",
)
RESETS = Statement(
    "Lemma 20",
    "3 log2 |G| + 2; |G| + n + 4; 2|G| + 1; 20nT|G| + 4n + |G|²n; 6nT log T",
    printed.permutation_reset,
    ("permutation-reset",),
    "E16, E20",
)
LEVELS = Statement(
    "Lemma 21, Theorem 11",
    "3n² log n + 7n; 2ⁿ(|T(A)| + n + 4) + 1; 2ⁿ⁺¹(|T(A)| + 1); "
    "2ⁿ(20n|T(A)|T + 4n + |T(A)|²n + n^(2ⁿ)|Σ|); "
    "max(6nT log T, 2ⁿ(|T(A)| + 5n)) + 6 max(n, |Σ|)",
    printed.krohn_rhodes,
    ("krohn-rhodes",),
    "E21, E22, E25, E26",
)
GRIDWORLD = Statement(
    "Theorem 12",
    "2; O(1); 2n − 1; 4(2T' + 1) with T' = T + n, then O(T + n); poly(T)",
    printed.gridworld,
    ("gridworld",),
    "E27–E34",
)
FLIP_FLOP = Statement("Proposition 3", "2; –; 1; –; –", printed.flip_flop, ("window",))
SELECTED = Statement(
    "Proposition 9",
    "1; –; 1; 4(k + 1); 4k(k + 1)",
    printed.selected,
    ("parity-selected", "parity"),
    "F5",
)
COPIED = Statement(
    "Proposition 10", "1; d; 1; 2ᵏ; 2ᵏ⁺²", printed.copied, ("parity-table",), "F6"
)
STEPS = Statement(
    "a layer for every letter", "T; –; –; –; –", printed.sequential, ("sequential",)
)
CHUNKS = Statement(
    "chunks of letters", "√T; –; –; Ω(|Σ|^√T); –", printed.chunked, ("chunked",)
)
WORDS = Statement(
    "all words at once", "O(1); –; –; |Σ|^T; –", printed.memorising, ("memorising",)
)

# Six positions of a hundred.
LARGE = "Parity100@3,17,42,43,77,100"
ALL = "all letters are added up, none is selected"
MASKED = dict.fromkeys(("layers", "largest_weight"), ALL)

CASES = (
    Case(SCAN, "S5", 100),
    Case(SCAN, "Grid9", 100, {"d_model": CODE, "mlp_width": "E10"}),
    Case(COUNTER, "C5", 100, {"d_model": OWN}),
    Case(MEMORY, "Memory5", 100, {"d_model": OWN}),
    Case(PRODUCT, "C2xC3xC5", 16),
    *(Case(SPLIT, name, 32) for name in ("D8", "A4", "S4")),
    *(Case(WREATH, name, 32) for name in ("Q8", "A4", "S4")),
    *(Case(SERIES, name, 32) for name in DEGREES),
    Case(RESETS, "PermReset3", 32),
    *(Case(LEVELS, name, 32) for name in ("Grid4", "Dyck2,2", "PermReset3")),
    *(Case(GRIDWORLD, name, 100, {"layers": LOOKS}) for name in ("Grid4", "Grid9")),
    Case(FLIP_FLOP, "FFLTracker2", 100),
    Case(SELECTED, LARGE, 100, MASKED, "outputs"),
    Case(COPIED, LARGE, 100, {"layers": KEPT}, "outputs"),
    Case(STEPS, "Grid4", 9),
    Case(CHUNKS, "Grid4", 9, {"mlp_width": LEAST}),
    Case(WORDS, "Grid4", 5, {"mlp_width": LEAST}),
)


def measured(
    machine: Automaton, length: int, construction: str, observe: str | None
) -> Row:
    """The sizes of a network that was proved."""
    built = krohn.compile(machine, length, construction, observe=observe)
    assert built.proof is not None
    assert built.proof.verdict == "verified"
    found = built.summary()
    weights = [
        float(np.abs(tensor).max(initial=0.0))
        for name, tensor in built.file.tensors.items()
        if name != "embed.position"
    ]
    names = ("layers", "d_model", "heads", "mlp_width")
    sizes = {name: found[name] for name in names} | {"largest_weight": max(weights)}
    return {"network": built.construction, **sizes, "with heads": found["depth"]}


def compared(case: Case) -> list[Row]:
    """The printed sizes, those as the thesis builds it, and the best ones.

    Raises:
        ValueError: If a size is above the printed one and nobody has said why.
    """
    machine = read(case.machine)
    stated = case.statement.sizes(machine, case.length).named()
    here: Row = {"statement": case.statement.name, "machine": case.machine}
    here["T"] = case.length
    rows = [here | {"network": "printed"} | {k: _short(v) for k, v in stated.items()}]
    for construction in case.statement.constructions:
        built = measured(machine, case.length, construction, case.observe)
        rows.append(
            here | built | {"above what is printed": _above(case, built, stated)}
        )
    best = measured(machine, case.length, "auto", case.observe)
    return [*rows, here | best | {"network": f"best: {best['network']}"}]


def _above(case: Case, built: Row, stated: Mapping[str, float | None]) -> str | None:
    said = []
    for size, bound in stated.items():
        if bound is not None and built[size] > bound:
            if size not in case.above:
                name, machine = case.statement.name, case.machine
                raise ValueError(f"{name}, {machine}: {size} needs a reason")
            said.append(f"{size}: {case.above[size]}")
    return "; ".join(said) or None


def _short(value: float | None) -> int | str | None:
    """Whole numbers, very long ones by their power of ten."""
    if value is None:
        return None
    digits = len(str(int(value)))
    return round(value) if digits < 10 else f"10^{digits - 1}"


def again(printed_row: Mapping[str, str]) -> Row:
    """A row of the second table, made anew from its statement, machine and network."""
    wanted = tuple(printed_row[c] for c in ("statement", "machine", "T", "network"))
    statement, name, length, network = wanted
    (case,) = (
        c
        for c in CASES
        if (c.statement.name, c.machine, str(c.length)) == (statement, name, length)
    )
    for row in compared(case):
        if row["network"] == network:
            return row
    return {"network": "no such network any more"}


AGAIN = {"at some machines": again}


def main() -> None:
    """Print what is stated, and what is built."""
    options = parser(__doc__).parse_args()
    statements = dict.fromkeys(case.statement for case in CASES)
    formulas: list[Row] = [
        {
            "statement": s.name,
            "layers; d_model; heads; MLP; largest weight": s.formula,
            "errata": s.errata or None,
        }
        for s in statements
    ]
    sizes = [row for case in CASES for row in compared(case)]
    tables = [Table("as printed", formulas), Table("at some machines", sizes, NOTE)]
    publish(tables, options)


if __name__ == "__main__":
    main()
