"""The constructions by name: the list, and the Program that each makes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from krohn.algebra.automaton import Automaton
from krohn.algebra.budget import NORMAL, Budget
from krohn.algebra.wording import near
from krohn.compiler import CompileError
from krohn.compiler.constructions.first_looks import (
    check_departs,
    check_one_error,
    check_permutes,
    check_two_kept,
    layered_parity,
    tree_of_parities,
)
from krohn.compiler.cost import (
    Bound,
    Steps,
    holding_a_memory,
    one_by_one,
    result_of,
    scanning,
)
from krohn.compiler.machine_programs import decode_outputs
from krohn.program import Program
from krohn.program.slices import find, slice_constructions

SCAN, SEQUENTIAL = "scan", "sequential"


def _no_check(machine: Automaton, length: int) -> None:
    """Refuse no machine before the construction is tried."""


def _nothing_known(machine: Automaton, length: int) -> Bound:
    """The bound of all networks."""
    return Bound()


@dataclass(frozen=True)
class Construction:
    """A construction, whose module is imported when it is tried on a machine.

    Attributes:
        place: The function that makes the Program of a machine and a length, as
            ``module:name``. One that takes long is a generator and yields bounds first.
        summary: What it does, in a few words.
        check: Refuses machines of which it is soon seen that it does not serve them.
        least: What all its networks of a machine and a length have at least, as far as
            that is soon seen.
        searches: Whether it gets a budget.
        grows: Whether its depth grows with the length.
        options: What else it gets, by name.
    """

    place: str
    summary: str = ""
    check: Callable[[Automaton, int], object] = _no_check
    least: Callable[[Automaton, int], Bound] = _nothing_known
    searches: bool = False
    grows: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)

    def build(
        self, machine: Automaton, length: int, budget: Budget
    ) -> Program | Steps[Program]:
        """The Program of a machine, or the steps to it.

        Raises:
            CompileError: If it does not serve the machine.
        """
        self.check(machine, length)
        searched = (budget,) if self.searches else ()
        made: Program | Steps[Program] = find(self.place)(
            machine, length, *searched, **self.options
        )
        return made


_AT = "krohn.compiler.constructions"

CONSTRUCTIONS = {
    "memory": Construction(
        f"{_AT}.one_layer:memory", "fetch the latest letter that wrote (Lemma 16)"
    ),
    "window": Construction(
        f"{_AT}.windows:window",
        "fetch what the latest window of letters wrote (flip-flop language)",
        least=holding_a_memory,
    ),
    "counter": Construction(
        f"{_AT}.one_layer:counter",
        "sum the letters' increments in one uniform head, modulo n (Lemma 15)",
    ),
    "parity-selected": Construction(
        f"{_AT}.parity:selected_parity",
        "attend to the positions that count, modulo 2 (Proposition 9)",
        check=layered_parity,
    ),
    "parity": Construction(
        f"{_AT}.parity:parity",
        "set letters that do not count to 0, add up all, modulo 2",
        check=layered_parity,
    ),
    "parity-tree": Construction(
        f"{_AT}.parity:parity_tree",
        "compute all parities side by side; a table finds the path that they choose",
        check=tree_of_parities,
    ),
    "product": Construction(
        f"{_AT}.one_layer:product",
        "run counters, memories and gridworlds side by side (Lemma 17)",
    ),
    "gridworld": Construction(
        f"{_AT}.gridworld:gridworld",
        "remember which levels a clamped walk met last (Theorem 12)",
        least=holding_a_memory,
    ),
    "corridor": Construction(
        f"{_AT}.gridworld:corridor",
        "for each residue, remember the level that a walk of long strides met last",
        least=holding_a_memory,
    ),
    "dyck": Construction(
        f"{_AT}.dyck:dyck",
        "find each bracket's partner by its depth, and the first error",
        check=check_one_error,
    ),
    "definite": Construction(
        f"{_AT}.windows:definite",
        "look at the last letters side by side, or keep what the first ones decided",
        check=check_two_kept,
    ),
    "content": Construction(
        f"{_AT}.one_layer:content",
        "count every letter, up to a threshold and then modulo a period",
    ),
    "piecewise": Construction(
        f"{_AT}.departures:piecewise",
        "see which subsequences there are, from both sides (J-trivial)",
        check=check_departs,
    ),
    "departures": Construction(
        f"{_AT}.departures:departures",
        "find where a run leaves states for good, by doubling (R-trivial, lines)",
        check=check_departs,
    ),
    "cascade": Construction(
        f"{_AT}.cascade:cascade",
        "counters and memories that steer each other (Theorem 11, shallower)",
        least=holding_a_memory,
        searches=True,
    ),
    "semidirect-car": Construction(
        f"{_AT}.thesis.extensions:car",
        "split groups: sums twisted by the quotient, read as they are (Lemma 18)",
        check=check_permutes,
    ),
    "wreath": Construction(
        f"{_AT}.thesis.extensions:wreath",
        "solvable groups: a copy of the kernel for each coset (Lemma 19)",
        check=check_permutes,
    ),
    SCAN: Construction(
        f"{_AT}.scan:scan_steps",
        "compose transition maps over windows that double (Theorem 10)",
        least=scanning,
        grows=True,
    ),
    SEQUENTIAL: Construction(
        f"{_AT}.scan:sequential_steps",
        "one step of the machine in each layer (the depth-T baseline)",
        least=one_by_one,
        grows=True,
    ),
}
CONSTRUCTIONS |= {
    name: Construction(each.build, each.summary)
    for name, each in slice_constructions().items()
    if name not in CONSTRUCTIONS
}
"""The constructions that are tried on every machine, by their order among equals."""


def _scan_of_radix(radix: int) -> Construction:
    return Construction(
        f"{_AT}.scan:scan_steps",
        f"compose the maps of {radix} windows in each layer",
        least=partial(scanning, radix=radix),
        grows=True,
        options={"radix": radix},
    )


ON_REQUEST = {
    # Depth bought with heads and look-ups between them: only for those who ask for it.
    **{f"{SCAN}{radix}": _scan_of_radix(radix) for radix in (3, 5, 10)},
    # What the thesis builds, to compare with.
    "parity-table": Construction(f"{_AT}.parity:by_table"),
    "parity-sawtooth": Construction(f"{_AT}.parity:sawtooth"),
    "semidirect": Construction(
        f"{_AT}.thesis.extensions:semidirect", check=check_permutes
    ),
    "series": Construction(f"{_AT}.thesis.extensions:series", check=check_permutes),
    "permutation-reset": Construction(f"{_AT}.thesis.krohn_rhodes:permutation_reset"),
    "krohn-rhodes": Construction(
        f"{_AT}.thesis.krohn_rhodes:krohn_rhodes", searches=True
    ),
    "chunked": Construction(f"{_AT}.scan:compose_in_chunks", grows=True),
    "memorising": Construction(f"{_AT}.scan:memorising", grows=True),
}
SEARCHING = {n for n, each in (CONSTRUCTIONS | ON_REQUEST).items() if each.searches}

LONGEST_SEQUENTIAL = 1024


def construction_names() -> tuple[str, ...]:
    """The names that ``--construction`` takes, those of slices apart."""
    return ("auto", *CONSTRUCTIONS, *ON_REQUEST)


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
        known = construction_names()
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
    made = construction.build(machine, length, budget or Budget(NORMAL))
    program = made if isinstance(made, Program) else (yield from made)
    return program if machine.output is None else decode_outputs(program, machine)


def least_sizes(name: str, machine: Automaton, length: int) -> Bound:
    """What all networks of a construction have at least, as far as that is soon seen."""
    construction = construction_named(name)
    return Bound() if construction is None else construction.least(machine, length)


def construction_named(name: str) -> Construction | None:
    """The construction of a name; scans have one for each radix."""
    radix = radix_of(name)
    return _scan_of_radix(radix) if radix else (CONSTRUCTIONS | ON_REQUEST).get(name)


def radix_of(name: str) -> int | None:
    """The radix in the name of a scan of higher radix."""
    digits = name.removeprefix(SCAN)
    plain = name != digits and digits.isascii() and digits.isdecimal()
    return int(digits) if plain and 2 < int(digits) <= LONGEST_SEQUENTIAL else None


def depth_grows(name: str) -> bool:
    """Whether the depth of a construction grows with the length."""
    construction = construction_named(name)
    return construction is not None and construction.grows


def summary_of(name: str) -> str:
    """A summary of a construction, in a few words."""
    construction = construction_named(name)
    return "" if construction is None else construction.summary
