"""The facts of a machine: its kind, its language, and what follows for networks."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from typing import Any

from krohn.algebra.automaton import Automaton
from krohn.algebra.budget import Budget, steps_of
from krohn.algebra.classification import Classification, classify
from krohn.algebra.classification.findings import (
    LARGEST_COUNT,
    Findings,
    find,
    writable,
)
from krohn.algebra.classification.languages import LanguageClasses, classify_language
from krohn.algebra.minimisation import minimise, reachable
from krohn.algebra.structure import as_counter, as_memory
from krohn.algebra.wording import count, listed
from krohn.compile_options import CompileOptions
from krohn.compiled_model import (
    MachineClaim,
    Way,
    choose,
    plan_ways,
)
from krohn.compiler.compiled_network import machine_of_states
from krohn.compiler.constructions.registry import depth_grows
from krohn.compiler.cost import proof_steps
from krohn.compiler.planning import planning
from krohn.network_tables import construction_table
from krohn.program.slices import part

MOST_ELEMENTS = 200_000
MOST_ENTRIES = 20_000_000
PROOFS = 10
"""How many times the effort of a search the proofs may take. By trial, not derived: with it
`explain` tried what it chose for all of some forty expressions of up to 24 states at
T = 512, one of which needs more than the effort itself."""


def machine_facts(machine: Automaton, asked: CompileOptions) -> dict[str, Any]:
    """The facts that `krohn.explain` says of a machine, and its table of constructions."""
    length = asked.longest("a network needs the longest length")
    part = reachable(machine)
    budget = Budget(steps_of(asked.effort))
    theory, limit, whole = (_for_theory(machine, budget.steps) for _ in range(3))
    known = find(part, theory)
    kind = classify(known, theory)
    every = kind if part is machine else classify(machine, whole)
    spoken = language(machine, limit, known)
    for what in (*theory.cut, *limit.cut, *whole.cut):
        budget.leave_out(what)
    compiled = machine if asked.observe else replace(machine, output=None)
    ways = planning(compiled, length, asked.options, budget=budget, proved=True)
    claim = MachineClaim(
        machine, length, asked.options.precision, asked.observe is not None
    )
    choice = choose(
        plan_ways(ways, asked.minimise),
        claim.prove_network,
        _allowance(PROOFS * budget.steps, length),
    )
    offered = construction_table(ways, asked.minimise, choice, budget)
    return {
        **_facts(machine, part),
        **_theory(every),
        "depth": list(_depth(kind, offered)),
        "language": spoken,
        "length": length,
        "dtype": asked.options.precision.name,
        **offered,
        **budget.record(),
        "rnn_width": _rnn_width(compiled),
    }


def _rnn_width(machine: Automaton) -> int:
    """How many units an RNN has that follows a machine; 0 if there are no RNNs."""
    units = part("units of machines")
    return 0 if units is None else len(units.of(machine_of_states(machine)).arrived)


def _allowance(left: float, length: int) -> Callable[[Way[Any]], bool]:
    """Whether a network is proved while a machine is explained, by the steps left."""

    def is_affordable(way: Way[Any]) -> bool:
        nonlocal left
        assert way.cost is not None
        heads = way.cost.depth * way.cost.heads
        left -= proof_steps(way.cost.parameters, heads, length)
        return left >= 0

    return is_affordable


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


def _theory(kind: Classification) -> dict[str, Any]:
    groups = kind.subgroups
    return {
        **_sizes(kind),
        "groups": None if groups is None else [asdict(g) for g in groups],
        "composition_factors": kind.factors,
        "aperiodic": kind["aperiodic"].holds,
        "solvable": kind["solvable"].holds,
        "properties": [asdict(fact) for fact in kind.properties],
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
    """The consequences of the properties for the depth of networks, best news first."""
    yield from _shortest(kind)
    yield from by_groups(kind, "its groups", "T(A)", f"; {_constant_depth(offered)}")


def by_groups(
    kind: Classification, groups: str, where: str, reached: str = ""
) -> Iterator[str]:
    """The consequences of a machine's groups for the depth of networks.

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
    yield (
        "a depth of about log₂ T, as for every machine (Theorem 10; theorems and lemmas "
        "are those of Liu 2024)"
    )


def _constant_depth(offered: dict[str, Any]) -> str:
    """Which of the constructions below have a depth that does not grow with T."""
    constant = [r for r in offered["constructions"] if not depth_grows(r["name"])]
    if not constant:
        return (
            "no construction of such a depth applies here, for the reasons listed below"
        )
    chosen, names = offered["chosen"], [row["name"] for row in constant]
    has = "has" if len(constant) == 1 else "have"
    other = f", the chosen {chosen} does not" if chosen not in (None, *names) else ""
    return f"{listed(names, last='and')} below {has} such a depth{other}"


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
            "counters that steer other counters are enough: the group is solvable "
            "(Theorem 16)"
        )
    elif kind["permutation-reset"].holds and kind["solvable"].holds:
        yield "the group and the last reset decide the state (Lemma 20)"
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


# The classes that the language of a machine is in.


def language(machine: Automaton, budget: Budget, known: Findings) -> dict[str, Any]:
    """The classes that the language of a machine is in.

    Returns:
        ``of`` (which words it has), ``states`` (of the minimal machine), ``tier``,
        ``alike`` (letters that act alike), ``classes`` (name, whether it holds or null,
        why, and a witness with ``k`` where there is one), and ``network``: what follows
        for networks.
    """
    classification = classify_language(machine, budget, known)
    whole = "the words it accepts"
    parts = "for each state of the minimal machine, the words that lead to it"
    return {
        "of": whole if classification.acceptor else parts,
        "states": classification.states,
        "tier": classification.tier,
        "alike": classification.alike,
        "classes": [asdict(p) for p in classification.classes],
        "network": list(_network_of_language(classification)),
    }


def _network_of_language(found: LanguageClasses) -> Iterator[str]:
    """The consequences of a language's classes for networks (docs/classes.md, 4)."""
    yield from _depth_of_language(found)
    rasp, single = found["C-RASP"], found["R∘G"]
    if rasp.holds and rasp.witness is not None:
        rounds = rasp.witness["rounds"]
        counts = f"{rounds} round{'s' * (rounds != 1)} of counts" if rounds else "order"
        yield (
            f"in C-RASP ({counts}): trained softmax Transformers are expected to "
            "generalise in length"
        )
    elif rasp.holds is False:
        reason = (
            "counts cannot find what was written last"
            if single.holds is False
            else "counts of letters cannot tell its states apart"
        )
        yield (
            f"not in C-RASP (programs that count, without positions): {reason}. "
            "Trained softmax Transformers are not expected to generalise in length"
        )


def _depth_of_language(found: LanguageClasses) -> Iterator[str]:
    """The fewest attention layers that its classes promise, whatever the length."""
    threshold, piecewise = (
        found[n] for n in ("locally threshold testable", "piecewise testable")
    )
    tier = found["tier-based locally threshold testable"]
    if threshold.holds and threshold.witness is not None:
        k = threshold.witness["k"]
        yield (
            f"windows of {count(k, 'letter')}, and counts of these windows, decide: "
            f"{count(1 + (k > 1), 'attention layer')} for every T"
        )
    elif piecewise.holds and piecewise.witness is not None:
        k = piecewise.witness["k"]
        yield (
            f"subsequences of up to {count(k, 'letter')} decide, and each layer adds a "
            f"letter: {count(k, 'attention layer')} for every T"
        )
    elif tier.holds and tier.witness is not None:
        k = tier.witness["k"]
        yield (
            f"the last {k} letters that change a state (the tier), and counts of such "
            f"windows, decide the state: {count(k, 'attention layer')} for every T"
        )
