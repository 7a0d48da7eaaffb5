"""What a machine is, and what it would cost to compile it in each way."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from krohn.algebra.automaton import Automaton
from krohn.algebra.budget import Budget, steps_of
from krohn.algebra.classification import Classification, classify
from krohn.algebra.classification.findings import find
from krohn.algebra.classification.group_names import LARGEST_COUNT, writable
from krohn.algebra.minimisation import minimise, reachable
from krohn.algebra.structure import as_counter, as_memory
from krohn.asked import Asked
from krohn.candidates import construction_table
from krohn.certification import MachineClaim, Way, choose, planned, proof_steps
from krohn.compiler.compiled_network import machine_of_states
from krohn.compiler.construction_choice.known_constructions import depth_grows
from krohn.compiler.construction_choice.planning import planning
from krohn.compiler.rnn import Units
from krohn.language import language

MOST_ELEMENTS = 200_000
MOST_ENTRIES = 20_000_000


def machine_facts(machine: Automaton, asked: Asked) -> dict[str, Any]:
    """What `krohn.explain` says of a machine, and the table of its constructions."""
    length = asked.longest("a network needs the longest length")
    part = reachable(machine)
    budget = Budget(steps_of(asked.effort))
    theory, limit = (_for_theory(part, budget.steps) for _ in range(2))
    known = find(part, theory)
    kind = classify(known, theory)
    spoken = language(machine, limit, known)
    for what in (*theory.cut, *limit.cut):
        budget.leave_out(what)
    compiled = machine if asked.observation else replace(machine, output=None)
    ways = planning(compiled, length, asked.options, budget=budget)
    claim = MachineClaim(
        machine, length, asked.options.precision, asked.observation is not None
    )
    allowed = _Allowance(budget.steps, length)
    choice = choose(planned(ways, asked.minimise), claim.proved, allowed)
    offered = construction_table(ways, asked.minimise, choice)
    return {
        **_facts(machine, part),
        **_theory(kind, offered),
        "language": spoken,
        "length": length,
        "dtype": asked.options.precision.name,
        **offered,
        **budget.record(),
        "rnn_width": len(Units.of(machine_of_states(compiled)).arrived),
    }


@dataclass
class _Allowance:
    """Which networks are proved while a machine is explained.

    Attributes:
        left: The steps that remain for it.
        length: T.
    """

    left: float
    length: int

    def __call__(self, way: Way[Any]) -> bool:
        assert way.cost is not None
        self.left -= proof_steps(way.cost, self.length)
        return self.left >= 0


def _facts(machine: Automaton, part: Automaton) -> dict[str, Any]:
    return {
        "name": machine.name,
        "states": len(machine.states),
        "letters": len(machine.letters),
        "start": machine.states[machine.start],
        "reachable": len(part.states),
        "minimal": len(minimise(machine).states),
        "outputs": machine.output.on if machine.output else "the states themselves",
        "points": len(machine.action[0]) if machine.action else None,
        "kind": _kind(machine),
    }


def _theory(kind: Classification, offered: dict[str, Any]) -> dict[str, Any]:
    groups = kind.subgroups
    return {
        **_sizes(kind),
        "groups": None if groups is None else [asdict(g) for g in groups],
        "composition_factors": kind.factors,
        "aperiodic": kind["aperiodic"].holds,
        "solvable": kind["solvable"].holds,
        "properties": [asdict(found) for found in kind.properties],
        "depth": list(_depth(kind, offered)),
    }


def _for_theory(machine: Automaton, steps: float) -> Budget:
    elements = MOST_ENTRIES // len(machine.states)
    return Budget(steps, min(MOST_ELEMENTS, elements))


def _sizes(kind: Classification) -> dict[str, int | None]:
    sizes = kind.size, kind.semigroup_size
    size, semigroup = (None if n is None else writable(n) for n in sizes)
    return {
        "monoid_size": size,
        "monoid_at_least": min(kind.at_least, LARGEST_COUNT),
        "semigroup_size": semigroup,
    }


def _depth(kind: Classification, offered: dict[str, Any]) -> Iterator[str]:
    """What the properties mean for the depth of networks, best news first."""
    yield from _shortest(kind)
    yield from by_groups(kind, "its groups", "T(A)", f"; {_reached(offered)}")


def by_groups(
    kind: Classification, groups: str, where: str, reached: str = ""
) -> Iterator[str]:
    """What the groups of a machine mean for the depth of networks.

    Args:
        kind: What the machine is.
        groups: How its groups are called, and where they are, in sentences.
        where: The same of one of them.
        reached: What is said of a depth that does not grow, where one is possible.
    """
    solvable = kind["solvable"]
    if solvable.holds is None:
        yield (
            "whether a depth that does not grow with T is possible is not decided "
            f"({solvable.evidence})"
        )
    elif solvable.holds:
        circuits = "star-free, AC⁰" if kind["aperiodic"].holds else "ACC⁰"
        yield (
            f"a depth that does not grow with T is possible, because {groups} are "
            f"solvable (Theorem 11; {circuits}){reached}"
        )
    else:
        yield (
            "a depth that does not grow with T is impossible unless TC⁰ = NC¹, "
            f"because a group in {where} is not solvable (Theorem 13)"
        )
    yield "a depth of about log₂ T, as for every machine (Theorem 10)"


def _reached(offered: dict[str, Any]) -> str:
    """Which of the constructions below have a depth that does not grow with T."""
    constant = [r for r in offered["constructions"] if not depth_grows(r["name"])]
    if not constant:
        return "no construction below has one yet"
    chosen = offered["chosen"]
    if chosen in [row["name"] for row in constant]:
        return f"{chosen} below has one"
    names = " and ".join(row["name"] for row in constant[:2])
    has = "has" if len(constant) == 1 else "have"
    other = f", the chosen {chosen} does not" if chosen else ""
    return f"{names} below {has} one{other}"


def _shortest(kind: Classification) -> Iterator[str]:
    if kind["definite"].holds:
        yield (
            "heads that look back by fixed distances are enough: "
            f"{kind['definite'].evidence}"
        )
    elif kind["reverse definite"].holds:
        yield (
            "heads that look at the first letters are enough: "
            f"{kind['reverse definite'].evidence}"
        )
    elif kind["memory"].holds:
        yield (
            "one memory, of depth 1, is enough: the last letter that writes decides "
            "the state (Lemma 16)"
        )
    elif kind["permutation"].holds and kind["commutative"].holds:
        yield (
            "counters, of depth 1, are enough: counts of the letters decide the state "
            "(Lemmas 15 and 17)"
        )
    elif kind["permutation"].holds and kind["solvable"].holds:
        yield (
            "counters that steer other counters are enough: its group is solvable "
            "(Theorem 16)"
        )
    elif kind["permutation-reset"].holds and kind["solvable"].holds:
        yield "its group and the last reset are enough to know the state (Lemma 20)"
    elif kind["J-trivial"].holds:
        yield (
            "the short subsequences that have occurred decide the state (piecewise "
            "testable)"
        )
    elif kind["aperiodic"].holds:
        yield (
            "memories that steer other memories are enough: nothing is counted modulo "
            "a number (Krohn and Rhodes 1965)"
        )


def _kind(machine: Automaton) -> str:
    count = as_counter(machine)
    if count is not None:
        return f"a counter modulo {count.modulus}: its letters rotate one cycle"
    if as_memory(machine) is not None:
        return "a memory: every letter writes a state or keeps the state as it is"
    images = [len(set(row)) for row in machine.transitions.tolist()]
    if min(images) == len(machine.states):
        return "a permutation machine: every letter permutes the states"
    if all(n in (1, len(machine.states)) for n in images):
        return "a permutation-reset machine: letters permute the states or reset them"
    return "a general machine: some letter merges several states, but not all of them"
