"""Cascades of counters, memories and scans: of constant depth but for unsolvable groups.

The thesis puts the levels of a decomposition one after another, with a wiring layer that
copies the states of the position before (Lemma 21, erratum E21). Here every component
says its state after the letter *and* before it, so that the next one can begin at once: a
counter's state before is a function of its state after and the letter, because it can be
turned back; a memory fetches the last value written strictly before. A component whose
group is not solvable is scanned (Theorem 10), alone, so that only it takes log T layers.
Solvable machines have none (Theorem 11).
"""

from krohn.algebra.automaton import Automaton
from krohn.algebra.budget import NORMAL, Budget
from krohn.algebra.cascade import Cascade
from krohn.algebra.dependency import dependency
from krohn.algebra.layered_parity import clock
from krohn.algebra.minimisation import reachable
from krohn.algebra.structure import as_counter, as_memory
from krohn.compiler.bounds import Bound, Steps
from krohn.compiler.constructions.cascade_channels import CascadeChannels
from krohn.compiler.constructions.cascade_search import search_cascade
from krohn.compiler.constructions.scan import levels
from krohn.compiler.errors import CompileError
from krohn.program import Program

NAME = "cascade"
SUMMARY = "counters and memories that steer each other (Theorem 11, shallower)"
MOST_STATES = 300
# To lay out tables of n nodes takes about n² steps of five microseconds by so many.
PAIRS_PER_STEP = 25
# A decomposition counts letters one by one: a level for each, where a scan takes log T.
LONGEST_CLOCK = 16


def cascade(
    machine: Automaton, length: int, budget: Budget | None = None
) -> Steps[Program]:
    """The cascade of a machine all of whose groups are solvable.

    Args:
        machine: Any machine.
        length: T.
        budget: How much work each search may do; it notes what they left out.

    Raises:
        CompileError: If a group is not solvable, states count many letters, no
            decomposition was found within the budget, or only one that is too large.
    """
    budget = budget or Budget(NORMAL)
    alive = reachable(machine)
    counted = clock(alive)
    if counted > LONGEST_CLOCK:
        raise CompileError(
            f"{machine.name} counts its letters up to {counted}, and a cascade needs "
            "a layer for each of them; use a scan, or a construction that reads the "
            "position"
        )
    if len(alive.states) > MOST_STATES:
        raise CompileError(
            f"no machine of more than {MOST_STATES} states is decomposed for a network"
        )
    moving = int(len(alive.states) > 1)
    yield Bound(depth=moving, layers=moving)
    search = search_cascade(alive, "auto", budget)
    found = search.cascade
    _check_size(found, alive.name, budget)
    if search.exact and length > 1:
        least = least_depth(found, length)
        yield Bound(depth=least, layers=least)
    builder = CascadeChannels(found, found.lift[alive.start], length)
    for i, component in enumerate(found.components):
        builder.add(i, component, alive.name)
    names = {name: q for q, name in enumerate(machine.states)}
    return Program(
        letters=machine.letters,
        states=len(machine.states),
        length=length,
        operations=builder.operations,
        outputs=(builder.project(),),
        decode={(q,): names[name] for q, name in enumerate(alive.states)},
    )


def _check_size(found: Cascade, name: str, budget: Budget) -> None:
    nodes = sum(map(len, found.wiring.emit))
    if nodes**2 > PAIRS_PER_STEP * budget.steps:
        budget.leave_out(f"a cascade with {nodes:,} nodes of wiring was not laid out")
        raise CompileError(
            f"the cascade of {name} that was found has {nodes:,} nodes of wiring, "
            "which would make a large network; say a higher --effort to build it"
        )


def least_depth(found: Cascade, length: int) -> int:
    """Layers that the components take that must wait for each other, or fewer.

    A counter sums, a memory looks back and a scan composes, after the components whose
    states the letter depends on, and before those that read the state.

    Args:
        found: A cascade in which all valid coordinates are reached.
        length: T, at least 2: one letter has nothing before it.
    """
    after: list[int] = []
    for i, component in enumerate(found.components):
        alone = Automaton(component.machine)
        scanned = as_counter(alone) is None and as_memory(alone) is None
        waits = [after[step.component] for step in dependency(found, i).steps]
        after.append(max(waits, default=0) + (levels(length, 2) if scanned else 1))
    return max(after, default=0)
