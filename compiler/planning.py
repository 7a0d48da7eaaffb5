"""The choice of a construction: all ways to compute a machine, priced stage by stage."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from math import isqrt
from typing import TypeAlias

from krohn.algebra.automaton import Automaton
from krohn.algebra.budget import Budget
from krohn.compiler import CompileError
from krohn.compiler.constructions.registry import (
    CONSTRUCTIONS,
    SCAN,
    construction_steps,
    least_sizes,
    radix_of,
)
from krohn.compiler.cost import (
    Bound,
    Cost,
    Steps,
    levels,
)
from krohn.compiler.machine_programs import forms, say_vectors
from krohn.compiler.pipeline import (
    Options,
)
from krohn.compiler.search import (
    COMPROMISE,
    MOST_PARAMETERS,
    Key,
    Plan,
    Request,
    Search,
    branch,
    find_size_to_minimise,
    front,
    no_better,
    sizes,
)
from krohn.network.modelfile import LONGEST
from krohn.program import Program, Vectors

# The choice of a construction: all ways to compute a machine, the best of them first.


Build: TypeAlias = Callable[[int], Steps[Program]]
"""The Program of a construction for a length."""
EMPTY: Mapping[str, Build] = {}
MOST_CHOSEN = 40_000_000
"""Of a network that is chosen, its position table apart: it is compiled and proved in a
GiB. Scans of 24 to 50 million parameters took 22 to 26 bytes for each."""
FEW_WINDOWS = 10


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
class Planning:
    """All ways to compute a machine, followed only as far as the answer needs.

    Attributes:
        names: The constructions, by their order among equals.
        search: The search among them so far.
        wanted: The machine, length and format, in words.
    """

    names: tuple[str, ...]
    search: Search
    wanted: str

    def best_first(self, minimise: str | None = None) -> Iterator[Plan]:
        """Plans that differ in construction or cost, best first.

        Raises:
            CompileError: If networks have no such size.
        """
        minimise = self.find_size_to_minimise(minimise)
        seen: set[tuple[str, Cost]] = set()
        key = partial(sizes, minimise=minimise)
        for plan in self.search.best_first(key, self.eligible(minimise)):
            if (plan.construction, plan.cost) not in seen:
                seen.add((plan.construction, plan.cost))
                yield plan

    def eligible(self, minimise: str) -> frozenset[str]:
        """The constructions that are chosen from, by what is minimised.

        The compromise leaves out scans of higher radix: fewer layers for more heads and
        many more parameters are for those who ask for them.
        """
        asked = minimise != COMPROMISE
        return frozenset(n for n in self.names if asked or radix_of(n) is None)

    def front(self, budget: Budget) -> list[Plan]:
        """The plans that no other one beats in depth, width, parameters and latency.

        Of every construction it is known afterwards whether it serves the machine.

        Args:
            budget: How much work pricing may take; it notes what that leaves out.
        """
        search, left = self.search, budget.steps
        while True:
            known = [plan.cost for plan in search.found.values()]
            open_branches = [
                branch
                for branch in search.branches.values()
                if not (branch.is_begun and no_better(branch.bound, known))
            ]
            ahead = [branch for branch in open_branches if branch.ahead <= left]
            if not ahead:
                for branch in open_branches:
                    budget.leave_out(f"networks of {branch.name} were not compared")
                return front(search.found.values())
            nearest = min(ahead, key=lambda b: (sizes(b.bound, COMPROMISE), b.rank))
            left -= nearest.ahead
            search.advance(nearest.rank)

    def candidates(self, minimise: str | None = None) -> list[Candidate]:
        """The state of every construction, best first.

        Constructions that are not chosen from follow. Of each of these two groups,
        constructions that do not apply come last.
        """
        minimise = self.find_size_to_minimise(minimise)
        key, tried = partial(sizes, minimise=minimise), self.eligible(minimise)
        candidates = [self._candidate(name, key) for name in self.names]
        return sorted(candidates, key=lambda c: (c.name not in tried, _place(key, c)))

    def find_size_to_minimise(self, minimise: str | None) -> str:
        """What is minimised; if nothing is named, a compromise.

        For a single construction that was asked for, it is the depth.
        """
        return find_size_to_minimise(
            minimise, COMPROMISE if len(self.names) > 1 else "depth"
        )

    def reasons(self) -> str:
        """Why nothing applies."""
        reasons = self.search.reasons
        if len(self.names) == 1:
            return reasons[self.names[0]][0]
        named = "; one that is too large is built if --construction names it"
        larger = named if self.search.is_some_too_large else ""
        return (
            f"no construction of a Transformer can compute {self.wanted} with at most "
            f"{MOST_CHOSEN:,} parameters and a proof of minutes (`krohn explain` gives the "
            f"reason for each{larger}); a ReLU RNN can, at every length, with a unit for "
            "each state and letter at most: use --arch rnn"
        )

    def _candidate(self, name: str, key: Key) -> Candidate:
        costs = [p.cost for p in self.search.found.values() if p.construction == name]
        left = [
            branch.bound
            for branch in self.search.branches.values()
            if branch.name == name
        ]
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
    vectors: Vectors | None = None,
    others: Mapping[str, Build] = EMPTY,
    proved: bool = False,
) -> Planning:
    """All ways to compute a machine, none of them followed yet.

    A machine with outputs can be replaced by its quotient, and tables of tables can be
    decided at once or one after the other.

    Args:
        machine: The machine to compute: its outputs if it has any, else its states.
        length: T.
        options: Number format and form.
        construction: A name in `CONSTRUCTIONS` or `ON_REQUEST`; or ``auto``, for all of
            `CONSTRUCTIONS`, and `scans` of higher radix.
        budget: How much work each search may do; it notes what they left out.
        vectors: A real vector to say in each state instead of its name, if wanted.
        others: More constructions, which are for this machine alone.
        proved: Whether only networks count that can be proved in minutes.

    Raises:
        CompileError: If T is longer than any model file can state.
    """
    if length >= LONGEST:
        raise CompileError(
            f"T = {length} is too long: at most {LONGEST - 1} can be stated"
        )
    names = (construction,) if construction != "auto" else automatic(length)
    named = construction != "auto"
    most = dict.fromkeys(names, MOST_PARAMETERS if named else MOST_CHOSEN)
    branches = [
        (
            name,
            branch(_request(name, form, length, options, most[name], build, proved)),
            # Vectors of states may be alike, so that nothing need be remembered.
            Bound() if vectors else least_sizes(name, form, length),
        )
        for name in names
        for form in forms(machine)
        for build in (partial(_build, name, form, budget, vectors),)
    ]
    for name, build in others.items():
        names, most[name] = (*names, name), MOST_PARAMETERS
        arguments = name, machine, length, options, most[name], build, proved
        request = _request(*arguments)
        branches.append((name, branch(request), Bound()))
    wanted = f"{machine.name} at length {length} in {options.precision.name}"
    return Planning(names, Search.of(branches), wanted)


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
    names: list[str] = []
    fewest = levels(length, 2)
    for radix in range(3, max(FEW_WINDOWS, isqrt(max(length - 1, 0)) + 1) + 1):
        if levels(length, radix) < fewest:
            fewest = levels(length, radix)
            names.append(f"{SCAN}{radix}")
    return names


def _build(
    name: str,
    machine: Automaton,
    budget: Budget | None,
    vectors: Vectors | None,
    length: int,
) -> Steps[Program]:
    program = yield from construction_steps(name, machine, length, budget)
    return program if vectors is None else say_vectors(program, vectors)


def _request(
    name: str,
    machine: Automaton,
    length: int,
    options: Options,
    most: int,
    build: Build,
    proved: bool,
) -> Request:
    purpose = f" for {machine.name} at length {length}"
    return Request(name, build, length, options, most, name, purpose, proved)


def _is_any(known: Planning) -> bool:
    """Whether there is a network: a scan, which is soon found out, or another one."""
    key = partial(sizes, minimise=known.find_size_to_minimise(None))
    ways = (known.search.best_first(key, names) for names in ((SCAN,), known.names))
    return any(next(way, None) is not None for way in ways)


LENGTHS = tuple(2**k for k in range(16, 5, -2))
"""Lengths that are tried where a longer one is refused."""


def shorter(length: int, again: Callable[[int], Planning]) -> int | None:
    """The longest of some lengths for which there is a network; None if there is none.

    Args:
        length: T, for which there is none.
        again: The planning for a length.
    """
    serves = (t for t in LENGTHS if t < length and _is_any(again(t)))
    return next(serves, None)


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
        CompileError: If the construction does not serve the machine, or what is to be
            minimised is no size of networks.
    """
    known = planning(machine, length, options, name, budget)
    lowered = list(known.best_first(minimise))
    if not lowered:
        raise CompileError(known.reasons())
    return lowered
