"""Which constructions serve a machine, what each costs, and in which order to try them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from math import isqrt

from algebra.automaton import Automaton
from algebra.budget import NORMAL, Budget
from compiler.best_first_search import Key, Search
from compiler.bounds import Bound, Steps, finished
from compiler.constructions import (
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
from compiler.constructions.departures import construction as departures
from compiler.constructions.departures import piecewise
from compiler.constructions.thesis import (
    chunked,
    krohn_rhodes,
    permutation_reset,
    semidirect,
    series,
    wreath,
)
from compiler.cost import Cost
from compiler.errors import CompileError
from compiler.objectives import COMPROMISE, checked, front, no_better, sizes
from compiler.output_programs import forms, least, observed
from compiler.pipeline import Observer, Options, optimise
from compiler.planning_stages import Plan, Request, way
from compiler.rnn import elman
from compiler.transformer import Network, describe, lower
from network.precision import Precision
from program import Program

# One that takes long to build yields bounds of its sizes first.
Construction = Callable[[Automaton, int], Program | Steps[Program]]
Searching = Callable[[Automaton, int, Budget], Program | Steps[Program]]

CONSTRUCTIONS: dict[str, Construction] = {
    memory.NAME: memory.memory,
    window.NAME: window.window,
    counter.NAME: counter.counter,
    parity.SELECTED: parity.selected,
    parity.NAME: parity.parity,
    parity_tree.NAME: parity_tree.parity_tree,
    product.NAME: product.product,
    gridworld.NAME: gridworld.gridworld,
    corridor.NAME: corridor.corridor,
    dyck.NAME: dyck.dyck,
    definite.NAME: definite.definite,
    content.NAME: content.content,
    piecewise.NAME: piecewise.piecewise,
    departures.NAME: departures.departures,
    cascade.NAME: cascade.cascade,
    semidirect.CAR: semidirect.car,
    wreath.NAME: wreath.wreath,
    scan.NAME: scan.staged,
    sequential.NAME: sequential.staged,
}
# Depth bought with heads and look-ups between them: only for those who ask for it.
ON_REQUEST: dict[str, Construction] = {
    f"{scan.NAME}{radix}": partial(scan.staged, radix=radix) for radix in (3, 5, 10)
}
# What the thesis builds, to compare with.
ON_REQUEST |= {
    parity.TABLE: parity.by_table,
    semidirect.NAME: semidirect.semidirect,
    series.NAME: series.series,
    permutation_reset.NAME: permutation_reset.permutation_reset,
    krohn_rhodes.NAME: krohn_rhodes.krohn_rhodes,
    chunked.CHUNKED: chunked.chunked,
    chunked.MEMORISING: chunked.memorising,
}
# Those of them that search, and within what.
SEARCHING: dict[str, Searching] = {
    cascade.NAME: cascade.cascade,
    krohn_rhodes.NAME: krohn_rhodes.krohn_rhodes,
}
GROWING = {scan.NAME, sequential.NAME, chunked.CHUNKED, chunked.MEMORISING}
SUMMARIES: dict[str, str] = {
    m.NAME: m.SUMMARY
    for m in (
        memory,
        window,
        counter,
        parity,
        parity_tree,
        product,
        gridworld,
        corridor,
        dyck,
        definite,
        content,
        piecewise,
        departures,
        cascade,
        scan,
        sequential,
    )
} | {
    parity.SELECTED: parity.SELECTED_SUMMARY,
    semidirect.CAR: semidirect.SUMMARY,
    wreath.NAME: wreath.SUMMARY,
}


MOST_PARAMETERS = 500_000_000
# Of scans of higher radix, which buy depth with size.
MOST_SCANNED = 10_000_000
FEW_WINDOWS = 10
LONGEST_SEQUENTIAL = 1024


@dataclass(frozen=True)
class Candidate:
    """A construction tried on a machine.

    Attributes:
        name: The construction.
        cost: What the best of its networks costs that was priced, if any was.
        bound: What all its networks cost at least; None if it does not apply.
        reason: Why it does not apply; empty if it does.
    """

    name: str
    cost: Cost | None
    bound: Bound | None
    reason: str = ""


@dataclass(frozen=True)
class Compiled:
    """A network with everything that the model file states about it, but the evidence.

    Attributes:
        construction: The name of the construction.
        network: Architecture and tensors.
        program: The Program's channels and places; empty for an RNN.
        cost: Predicted sizes; None for an RNN.
    """

    construction: str
    network: Network
    program: dict[str, object]
    cost: Cost | None


@dataclass(frozen=True)
class Planning:
    """All ways to compute a machine, followed no further than what is asked needs.

    Attributes:
        names: The constructions, by their order among equals.
        search: What is known of them so far.
        wanted: The machine, length and format, in words.
    """

    names: tuple[str, ...]
    search: Search[Plan]
    wanted: str

    def best_first(self, minimise: str | None = None) -> Iterator[Plan]:
        """Plans that differ in construction or cost, best first.

        Raises:
            CompileError: If there is no such objective.
        """
        objective = self.objective(minimise)
        seen: set[tuple[str, Cost]] = set()
        key = partial(sizes, objective=objective)
        for plan in self.search.best_first(key, self.tried(objective)):
            if (plan.construction, plan.cost) not in seen:
                seen.add((plan.construction, plan.cost))
                yield plan

    def tried(self, objective: str) -> frozenset[str]:
        """The constructions that an objective chooses from.

        The compromise leaves out scans of higher radix: fewer layers for more heads and
        many more parameters are for those who ask for them.
        """
        asked = objective != COMPROMISE
        return frozenset(n for n in self.names if asked or radix_of(n) is None)

    def front(self) -> list[Plan]:
        """The plans that no other one beats in depth, width, parameters and latency."""
        search = self.search
        while True:
            known = [plan.cost for plan in search.found.values()]
            ahead = [
                (sizes(way.bound, COMPROMISE), rank)
                for rank, way in search.ways.items()
                if not no_better(way.bound, known)
            ]
            if not ahead:
                return front(search.found.values())
            search.advance(min(ahead)[1])

    def candidates(self, minimise: str | None = None) -> list[Candidate]:
        """What is known of every construction.

        Best first; then those that the objective does not choose from. Of each of these
        two, what does not apply comes last.
        """
        objective = self.objective(minimise)
        key, tried = partial(sizes, objective=objective), self.tried(objective)
        found = [self._candidate(name, key) for name in self.names]
        return sorted(found, key=lambda c: (c.name not in tried, _place(key, c)))

    def objective(self, minimise: str | None) -> str:
        """What is chosen by: if nothing is said, a compromise.

        Of a construction that was asked for, it is the depth.
        """
        return checked(minimise, COMPROMISE if len(self.names) > 1 else "depth")

    def reasons(self) -> str:
        """Why nothing applies."""
        reasons = self.search.reasons
        if len(self.names) == 1:
            return reasons[self.names[0]][0]
        return (
            f"no construction of a Transformer serves {self.wanted}, and `krohn explain` "
            "says of each why; a ReLU RNN computes every machine at every length, with a "
            "unit for each state and letter: --arch rnn"
        )

    def _candidate(self, name: str, key: Key) -> Candidate:
        costs = [p.cost for p in self.search.found.values() if p.construction == name]
        left = [way.bound for way in self.search.ways.values() if way.name == name]
        if not costs and not left:
            return Candidate(name, None, None, self.search.reasons[name][0])
        best = min(costs, key=key, default=None)
        return Candidate(name, best, min([*costs, *left], key=key))


def _place(key: Key, candidate: Candidate) -> tuple[float, ...]:
    shown = candidate.cost or candidate.bound
    return (float("inf"),) if shown is None else key(shown)


def planning(
    machine: Automaton,
    length: int,
    options: Options,
    construction: str = "auto",
    budget: Budget | None = None,
) -> Planning:
    """All ways to compute a machine, none of them followed yet.

    A machine with outputs can be replaced by its quotient, and tables of tables can be
    decided at once or one after the other.

    Args:
        machine: What is to be computed: its outputs if it has any, else its states.
        length: T.
        options: Number format and form.
        construction: A name in `CONSTRUCTIONS` or `ON_REQUEST`; or ``auto``, for all of
            `CONSTRUCTIONS`, and `scans` of higher radix.
        budget: How much work each search may do; it notes what they left out.
    """
    names = (construction,) if construction != "auto" else automatic(length)
    most = dict.fromkeys(names, MOST_PARAMETERS)
    if construction == "auto":
        most |= dict.fromkeys(scans(length), MOST_SCANNED)
    ways = [
        (name, way(_request(name, form, length, options, most[name], budget)))
        for name in names
        for form in forms(machine)
    ]
    wanted = f"{machine.name} at length {length} in {options.precision.name}"
    return Planning(names, Search.of(ways), wanted)


def automatic(length: int) -> tuple[str, ...]:
    """The constructions that are tried on every machine, by their order among equals."""
    return (*CONSTRUCTIONS, *scans(length))


def scans(length: int) -> list[str]:
    """The scans of higher radix that are worth trying: the least for each depth.

    A scan of radix T has one attention layer, which brings the whole word to each
    position, for a chain of T − 1 tables that one MLP after another goes through. Depth
    says nothing of such a network, so at least two levels are kept where the word has
    more than `FEW_WINDOWS` letters.
    """
    found: list[str] = []
    levels = scan.levels(length, 2)
    for radix in range(3, max(FEW_WINDOWS, isqrt(max(length - 1, 0)) + 1) + 1):
        if scan.levels(length, radix) < levels:
            levels = scan.levels(length, radix)
            found.append(f"{scan.NAME}{radix}")
    return found


def _request(
    name: str,
    machine: Automaton,
    length: int,
    options: Options,
    most: int,
    budget: Budget | None,
) -> Request:
    refusal = (
        f"{name} would need at least {{}} parameters for {machine.name} at length "
        f"{length}, and "
    )
    if most < MOST_PARAMETERS:
        refusal += f"of its kind only what has at most {most:.0e} is tried"
    else:
        refusal += f"{most:.0e} is the most; `krohn explain` shows what else applies"
    build = partial(built, name, machine, budget=budget)
    return Request(name, build, length, options, most, refusal)


def plans(
    name: str,
    machine: Automaton,
    length: int,
    options: Options,
    minimise: str | None = None,
    budget: Budget | None = None,
) -> list[Plan]:
    """The ways to lower a construction that differ in cost, best first.

    Raises:
        CompileError: If the construction does not serve the machine, or there is no such
            objective.
    """
    known = planning(machine, length, options, name, budget)
    found = list(known.best_first(minimise))
    if not found:
        raise CompileError(known.reasons())
    return found


def construct(
    name: str, machine: Automaton, length: int, budget: Budget | None = None
) -> Program:
    """The Program of a construction, for the outputs of the machine if it has any.

    Args:
        name: A name in `CONSTRUCTIONS` or `ON_REQUEST`.
        machine: What is to be computed.
        length: T.
        budget: How much work each search may do; it notes what they left out.

    Raises:
        CompileError: If there is no such construction or it does not serve the machine.
    """
    return finished(built(name, machine, length, budget))


def built(
    name: str, machine: Automaton, length: int, budget: Budget | None = None
) -> Steps[Program]:
    """The same, after bounds.

    Raises:
        CompileError: If there is no such construction or it does not serve the machine.
    """
    construction = named(name)
    if construction is None:
        known = ", ".join(CONSTRUCTIONS | ON_REQUEST)
        raise CompileError(
            f"there is no construction {name!r}; there are auto, {known}"
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
    return program if machine.output is None else observed(program, machine)


def named(name: str) -> Construction | None:
    """The construction of a name; scans have one for each radix."""
    radix = radix_of(name)
    if radix is not None:
        return partial(scan.staged, radix=radix)
    return (CONSTRUCTIONS | ON_REQUEST).get(name)


def radix_of(name: str) -> int | None:
    """The radix in the name of a scan of higher radix."""
    digits = name.removeprefix(scan.NAME)
    plain = name != digits and digits.isascii() and digits.isdecimal()
    return int(digits) if plain and 2 < int(digits) <= LONGEST_SEQUENTIAL else None


def grows(name: str) -> bool:
    """Whether the depth of a construction grows with the length."""
    return radix_of(name) is not None or name in GROWING


def summary(name: str) -> str:
    """What a construction is, in a few words."""
    radix = radix_of(name)
    if radix is None:
        return SUMMARIES[name]
    return f"compose the maps of {radix} windows in each layer"


def compile_transformer(
    machine: Automaton,
    length: int,
    construction: str,
    options: Options,
    observe: Observer | None = None,
) -> Compiled:
    """A Transformer for words up to ``length``.

    Args:
        machine: What it must compute, from its start state: its outputs if it has any,
            else its states.
        length: T.
        construction: A name in `CONSTRUCTIONS` or `ON_REQUEST`.
        options: Number format and form.
        observe: Called after every pass with its name and the Program.

    Raises:
        CompileError: If that cannot be done; the message says what can.
    """
    return realise(plans(construction, machine, length, options)[0], observe)


def realise(plan: Plan, observe: Observer | None = None) -> Compiled:
    """The network of a plan.

    Args:
        plan: A way to lower a construction.
        observe: Called after every pass with its name and the Program.
    """
    if observe is not None:
        optimise(plan.program, plan.options, observe)
    strict, activation = plan.options.strict, plan.options.activation
    network = lower(plan.layout, plan.features, strict, activation)
    described = describe(plan.layout, network)
    return Compiled(plan.construction, network, described, plan.cost)


def compile_rnn(machine: Automaton, precision: Precision) -> Compiled:
    """The exact ReLU RNN of a machine; it has no longest word."""
    shown = machine if machine.output is None else least(machine)
    return Compiled("elman", elman(shown, precision), {}, None)
