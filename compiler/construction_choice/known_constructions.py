"""The constructions by name: the list, and the Program that each makes."""

from collections.abc import Callable
from functools import partial

from krohn.algebra.automaton import Automaton
from krohn.algebra.budget import NORMAL, Budget
from krohn.algebra.wording import near
from krohn.compiler.constructions import (
    cascade,
    content,
    corridor,
    counter,
    definite,
    dyck,
    gridworld,
    memory,
    parity,
    parity_tree,
    product,
    scan,
    sequential,
    window,
)
from krohn.compiler.constructions.departures import (
    construction as departures,
    piecewise,
)
from krohn.compiler.constructions.thesis import chunked, extensions, krohn_rhodes
from krohn.compiler.cost import Steps, result_of
from krohn.compiler.errors import CompileError
from krohn.compiler.output_programs import decode_outputs
from krohn.program import Program

# One that takes long to build yields bounds of its sizes first.
Construction = Callable[[Automaton, int], Program | Steps[Program]]
Searching = Callable[[Automaton, int, Budget], Program | Steps[Program]]

_EACH: tuple[tuple[str, Construction, str], ...] = (
    (memory.NAME, memory.memory, memory.SUMMARY),
    (window.NAME, window.window, window.SUMMARY),
    (counter.NAME, counter.counter, counter.SUMMARY),
    (parity.SELECTED, parity.selected_parity, parity.SELECTED_SUMMARY),
    (parity.NAME, parity.parity, parity.SUMMARY),
    (parity_tree.NAME, parity_tree.parity_tree, parity_tree.SUMMARY),
    (product.NAME, product.product, product.SUMMARY),
    (gridworld.NAME, gridworld.gridworld, gridworld.SUMMARY),
    (corridor.NAME, corridor.corridor, corridor.SUMMARY),
    (dyck.NAME, dyck.dyck, dyck.SUMMARY),
    (definite.NAME, definite.definite, definite.SUMMARY),
    (content.NAME, content.content, content.SUMMARY),
    (piecewise.NAME, piecewise.piecewise, piecewise.SUMMARY),
    (departures.NAME, departures.departures, departures.SUMMARY),
    (cascade.NAME, cascade.cascade, cascade.SUMMARY),
    (extensions.CAR, extensions.car, extensions.CAR_SUMMARY),
    (extensions.WREATH, extensions.wreath, extensions.WREATH_SUMMARY),
    (scan.NAME, scan.scan_steps, scan.SUMMARY),
    (sequential.NAME, sequential.sequential_steps, sequential.SUMMARY),
)
CONSTRUCTIONS = {name: construction for name, construction, _ in _EACH}
SUMMARIES = {name: summary for name, _, summary in _EACH}
# Depth bought with heads and look-ups between them: only for those who ask for it.
ON_REQUEST: dict[str, Construction] = {
    f"{scan.NAME}{radix}": partial(scan.scan_steps, radix=radix) for radix in (3, 5, 10)
}
# What the thesis builds, to compare with.
ON_REQUEST |= {
    parity.TABLE: parity.by_table,
    extensions.SEMIDIRECT: extensions.semidirect,
    extensions.SERIES: extensions.series,
    krohn_rhodes.PERMUTATION_RESET: krohn_rhodes.permutation_reset,
    krohn_rhodes.NAME: krohn_rhodes.krohn_rhodes,
    chunked.CHUNKED: chunked.chunked,
    chunked.MEMORISING: chunked.memorising,
}
# The constructions that search; each may get a budget.
SEARCHING: dict[str, Searching] = {
    cascade.NAME: cascade.cascade,
    krohn_rhodes.NAME: krohn_rhodes.krohn_rhodes,
}
GROWING = {scan.NAME, sequential.NAME, chunked.CHUNKED, chunked.MEMORISING}

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
    if name == sequential.NAME and length > LONGEST_SEQUENTIAL:
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
        return partial(scan.scan_steps, radix=radix)
    return (CONSTRUCTIONS | ON_REQUEST).get(name)


def radix_of(name: str) -> int | None:
    """The radix in the name of a scan of higher radix."""
    digits = name.removeprefix(scan.NAME)
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
