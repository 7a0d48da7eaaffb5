"""The constructions by name: the list, and the Program that each makes."""

from collections.abc import Callable
from functools import partial

from krohn.algebra.automaton import Automaton
from krohn.algebra.budget import NORMAL, Budget
from krohn.algebra.wording import near
from krohn.compiler import CompileError
from krohn.compiler.constructions.cascade import cascade
from krohn.compiler.constructions.departures import departures, piecewise
from krohn.compiler.constructions.dyck import dyck
from krohn.compiler.constructions.gridworld import corridor, gridworld
from krohn.compiler.constructions.one_layer import content, counter, memory, product
from krohn.compiler.constructions.parity import (
    by_table,
    parity,
    parity_tree,
    selected_parity,
)
from krohn.compiler.constructions.scan import (
    SCAN,
    SEQUENTIAL,
    chunked,
    memorising,
    scan_steps,
    sequential_steps,
)
from krohn.compiler.constructions.thesis.extensions import (
    car,
    semidirect,
    series,
    wreath,
)
from krohn.compiler.constructions.thesis.krohn_rhodes import (
    krohn_rhodes,
    permutation_reset,
)
from krohn.compiler.constructions.windows import definite, window
from krohn.compiler.cost import Steps, result_of
from krohn.compiler.machine_programs import decode_outputs
from krohn.program import Program

# One that takes long to build yields bounds of its sizes first.
Construction = Callable[[Automaton, int], Program | Steps[Program]]
Searching = Callable[[Automaton, int, Budget], Program | Steps[Program]]

_EACH: tuple[tuple[str, Construction, str], ...] = (
    ("memory", memory, "fetch the latest letter that wrote (Lemma 16)"),
    (
        "window",
        window,
        "fetch what the latest window of letters wrote (flip-flop language)",
    ),
    (
        "counter",
        counter,
        "sum the letters' increments in one uniform head, modulo n (Lemma 15)",
    ),
    (
        "parity-selected",
        selected_parity,
        "attend to the positions that count, modulo 2 (Proposition 9)",
    ),
    ("parity", parity, "set letters that do not count to 0, add up all, modulo 2"),
    (
        "parity-tree",
        parity_tree,
        "compute all parities side by side; a table finds the path that they choose",
    ),
    (
        "product",
        product,
        "run counters, memories and gridworlds side by side (Lemma 17)",
    ),
    (
        "gridworld",
        gridworld,
        "remember which levels a clamped walk met last (Theorem 12)",
    ),
    (
        "corridor",
        corridor,
        "for each residue, remember the level that a walk of long strides met last",
    ),
    ("dyck", dyck, "find each bracket's partner by its depth, and the first error"),
    (
        "definite",
        definite,
        "look at the last letters side by side, or keep what the first ones decided",
    ),
    (
        "content",
        content,
        "count every letter, up to a threshold and then modulo a period",
    ),
    (
        "piecewise",
        piecewise,
        "see which subsequences there are, from both sides (J-trivial)",
    ),
    (
        "departures",
        departures,
        "find where a run leaves states for good, by doubling (R-trivial, lines)",
    ),
    (
        "cascade",
        cascade,
        "counters and memories that steer each other (Theorem 11, shallower)",
    ),
    (
        "semidirect-car",
        car,
        "split groups: sums twisted by the quotient, read as they are (Lemma 18)",
    ),
    (
        "wreath",
        wreath,
        "solvable groups: a copy of the kernel for each coset (Lemma 19)",
    ),
    (SCAN, scan_steps, "compose transition maps over windows that double (Theorem 10)"),
    (
        SEQUENTIAL,
        sequential_steps,
        "one step of the machine in each layer (the depth-T baseline)",
    ),
)
CONSTRUCTIONS = {name: construction for name, construction, _ in _EACH}
SUMMARIES = {name: summary for name, _, summary in _EACH}
# Depth bought with heads and look-ups between them: only for those who ask for it.
ON_REQUEST: dict[str, Construction] = {
    f"{SCAN}{radix}": partial(scan_steps, radix=radix) for radix in (3, 5, 10)
}
# What the thesis builds, to compare with.
ON_REQUEST |= {
    "parity-table": by_table,
    "semidirect": semidirect,
    "series": series,
    "permutation-reset": permutation_reset,
    "krohn-rhodes": krohn_rhodes,
    "chunked": chunked,
    "memorising": memorising,
}
# The constructions that search; each may get a budget.
SEARCHING: dict[str, Searching] = {"cascade": cascade, "krohn-rhodes": krohn_rhodes}
GROWING = {SCAN, SEQUENTIAL, "chunked", "memorising"}

LONGEST_SEQUENTIAL = 1024


def construct(name: str, machine: Automaton, length: int) -> Program:
    """The Program of a construction, for the outputs of the machine if it has any.

    Args:
        name: A name in `CONSTRUCTIONS` or `ON_REQUEST`.
        machine: The machine to compute.
        length: T.

    Raises:
        CompileError: If there is no such construction or it does not serve the machine.
    """
    return result_of(construction_steps(name, machine, length))


def construction_steps(
    name: str, machine: Automaton, length: int, budget: Budget | None = None
) -> Steps[Program]:
    """The Program of a construction, after bounds of its sizes.

    Raises:
        CompileError: If there is no such construction or it does not serve the machine.
    """
    construction = construction_named(name)
    if construction is None:
        known = ("auto", *CONSTRUCTIONS, *ON_REQUEST)
        raise CompileError(
            f"there is no construction {name!r}{near(name, known)}; there are "
            f"{', '.join(known)}"
        )
    if length < 1:
        raise CompileError("the length must be at least 1")
    if name == SEQUENTIAL and length > LONGEST_SEQUENTIAL:
        raise CompileError(
            f"the sequential construction needs a layer per letter; "
            f"choose a length up to {LONGEST_SEQUENTIAL} or another construction"
        )
    if name in SEARCHING:
        made = SEARCHING[name](machine, length, budget or Budget(NORMAL))
    else:
        made = construction(machine, length)
    program = made if isinstance(made, Program) else (yield from made)
    return program if machine.output is None else decode_outputs(program, machine)


def construction_named(name: str) -> Construction | None:
    """The construction of a name; scans have one for each radix."""
    radix = radix_of(name)
    if radix is not None:
        return partial(scan_steps, radix=radix)
    return (CONSTRUCTIONS | ON_REQUEST).get(name)


def radix_of(name: str) -> int | None:
    """The radix in the name of a scan of higher radix."""
    digits = name.removeprefix(SCAN)
    plain = name != digits and digits.isascii() and digits.isdecimal()
    return int(digits) if plain and 2 < int(digits) <= LONGEST_SEQUENTIAL else None


def depth_grows(name: str) -> bool:
    """Whether the depth of a construction grows with the length."""
    return radix_of(name) is not None or name in GROWING


def summary_of(name: str) -> str:
    """A summary of a construction, in a few words."""
    radix = radix_of(name)
    if radix is None:
        return SUMMARIES[name]
    return f"compose the maps of {radix} windows in each layer"
