"""The facts of a machine: its kind, its language, and the cost of each of its networks."""

from collections.abc import Container, Iterator
from dataclasses import asdict, dataclass, replace
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
from krohn.algebra.wording import count
from krohn.asked import Asked
from krohn.compiled_model import (
    Choice,
    MachineClaim,
    Way,
    choose,
    nonzero,
    planned,
    proof_steps,
    rows_of,
)
from krohn.compiler.compiled_network import machine_of_states, realise
from krohn.compiler.constructions.registry import (
    depth_grows,
    summary_of,
)
from krohn.compiler.cost import Cost
from krohn.compiler.planning import Candidate, Planning, planning
from krohn.compiler.rnn import Units
from krohn.compiler.search import (
    COMPROMISE,
    OBJECTIVES,
    Plan,
    objective_named,
)

# Which networks there are for a machine, and which one is chosen, as plain values.


Network = tuple[str, Cost | None]
"""A construction, and what one of its networks costs."""


def construction_table(
    planning: Planning, minimise: str | None, choice: Choice[Any, Any]
) -> dict[str, Any]:
    """The table of constructions and the Pareto front.

    Args:
        planning: All ways to compute the machine.
        minimise: What the choice goes by; None for the compromise.
        choice: The choice by this.

    Returns:
        ``front``: the networks that no other one beats, with the chosen one and those
        that were tried, by depth; each is ``chosen`` or not, ``proved`` is null where
        it was not tried, and ``nonzero`` where the entries that are not 0 were not
        counted; ``constructions``: all that apply, best first, with the sizes of
        one network, or, where ``exact`` is false, sizes that each of its networks has at
        least; ``unavailable``: the others, with the reason; ``chosen``, ``minimise``,
        ``why``; ``proved``: whether the chosen one is, null if it was not tried; and
        ``tried``: what is not proved though it would be chosen before.
    """
    objective = objective_named(minimise)
    chosen: Network | None = choice.way and (choice.way.construction, choice.way.cost)
    plans = {(p.construction, p.cost): p for p in planning.front()}
    proved = dict.fromkeys(((t.construction, t.cost) for t in choice.tried), False)
    if chosen is not None and choice.found is not None:
        proved[chosen] = True
    beside = {chosen} if chosen else set[Network]()
    ordered: list[Any] = sorted({*plans, *beside, *proved}, key=_by_depth)
    found = planning.candidates(objective)
    counted: dict[Network, int | None] = {n: _nonzero(p) for n, p in plans.items()}
    if chosen is not None and choice.found is not None:
        counted[chosen] = nonzero(choice.found.file.tensors)
    return {
        "front": [
            _network(*n)
            | {"nonzero": counted.get(n)}
            | {"chosen": n == chosen, "proved": proved.get(n)}
            for n in ordered
        ],
        "constructions": [_row(c) for c in found if c.bound is not None],
        "unavailable": [
            {"name": c.name, "reason": c.reason} for c in found if c.bound is None
        ],
        "chosen": chosen and chosen[0],
        "proved": chosen and proved.get(chosen),
        "tried": rows_of(choice.tried),
        "minimise": objective,
        "why": _why(choice, found, objective, planning.eligible(objective)),
    }


MOST_COUNTED, MOST_BLOCKS = 200_000, 64
"""Parameters and blocks of the largest network that is made only to count."""


def _nonzero(plan: Plan) -> int | None:
    """How many parameters of a network are not 0 in its format; None if it is large."""
    if plan.cost.parameters > MOST_COUNTED or plan.cost.layers > MOST_BLOCKS:
        return None
    tensors, precision = realise(plan).network.tensors, plan.options.precision
    return nonzero({name: precision.round(t) for name, t in tensors.items()})


def _by_depth(network: Network) -> tuple[int, int]:
    cost = network[1]
    assert cost is not None
    return cost.depth, cost.parameters


def _network(name: str, cost: Cost) -> dict[str, Any]:
    return {
        "name": name,
        **asdict(cost),
        "width": cost.width,
        "summary": summary_of(name),
    }


def _row(candidate: Candidate) -> dict[str, Any]:
    cost = candidate.cost or candidate.bound
    assert cost is not None
    return {
        "name": candidate.name,
        **asdict(cost),
        "width": cost.width,
        "exact": candidate.cost is not None,
        "summary": summary_of(candidate.name),
    }


_LABELS = {
    "layers": "blocks",
    "area_time": "parameters × blocks²",
    "latency": "predicted latency (µs)",
}


def _why(
    choice: Choice[Any, Any],
    found: list[Candidate],
    objective: str,
    eligible: Container[str],
) -> str:
    """The reason for a choice: the sizes of the best two that it was made from.

    Of the other networks in the table it is said how the choice is deeper than one, and
    which ones the objective leaves out.
    """
    if choice.way is None:
        what = (
            "that applies gives a network that is proved"
            if choice.tried
            else "serves this machine"
        )
        return f"no construction of a Transformer {what}; use --arch rnn"
    failed = {(t.construction, t.cost) for t in choice.tried}
    name, cost = choice.way.construction, choice.way.cost
    assert cost is not None
    first = OBJECTIVES[objective][0]
    beside = " of the networks that were not tried before" if failed else ""
    amount = _amount(getattr(cost, first))
    others = [
        c
        for c in found
        if c.name != name and c.bound and (c.name, c.cost) not in failed
    ]
    reason = f"it has the least {_label(first)}{beside}, {amount}"
    beside_it = [c for c in others if c.name in eligible]
    reason += _rival(cost, beside_it[0], objective) if beside_it else ""
    if objective == COMPROMISE:
        return reason + _left_out(cost, [c for c in others if c.name not in eligible])
    return reason + (_fewer_blocks(cost, others) if objective == "depth" else "")


def _left_out(cost: Cost, others: list[Candidate]) -> str:
    """Which construction would be chosen if the compromise did not leave it out."""
    known = [(c.cost.area_time, c.name) for c in others if c.cost is not None]
    least, name = min(known, default=(cost.area_time, ""))
    if least >= cost.area_time:
        return ""
    return (
        f"; {name} has {_amount(least)}, but a scan of higher radix, which has more heads, "
        "is for those who ask for it (--minimise depth, layers or latency)"
    )


def _rival(cost: Cost, rival: Candidate, objective: str) -> str:
    """The sizes of the next best construction, as a reason."""
    first, *others = OBJECTIVES[objective]
    sizes = rival.cost or rival.bound
    least = "" if rival.cost else "at least "
    reason = f"; {rival.name} has {least}{_amount(getattr(sizes, first))}"
    if rival.cost and getattr(sizes, first) == getattr(cost, first):
        unlike = (_label(n) for n in others if getattr(sizes, n) != getattr(cost, n))
        reason += " and " + next((f"more {n}" for n in unlike), "the same sizes")
    return reason


def _fewer_blocks(cost: Cost, others: list[Candidate]) -> str:
    """Which construction has fewer blocks, though more of them attend."""
    known = [(c.cost.layers, c.name) for c in others if c.cost is not None]
    layers, name = min(known, default=(cost.layers, ""))
    if layers >= cost.layers:
        return ""
    return (
        f"; counting the blocks that do not attend, too, it has {cost.layers} layers "
        f"and {name} has {layers} (--minimise layers)"
    )


def _label(size: str) -> str:
    return _LABELS.get(size, size)


def _amount(size: float) -> str:
    return f"{size:,.0f}"


# The facts of a machine, and the cost of each way to compile it.


MOST_ELEMENTS = 200_000
MOST_ENTRIES = 20_000_000


def machine_facts(machine: Automaton, asked: Asked) -> dict[str, Any]:
    """The facts that `krohn.explain` says of a machine, and its table of constructions."""
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
    yield "a depth of about log₂ T, as for every machine (Theorem 10)"


def _constant_depth(offered: dict[str, Any]) -> str:
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


# The classes that the language of a machine is in.


def language(machine: Automaton, budget: Budget, known: Findings) -> dict[str, Any]:
    """The classes that the language of a machine is in.

    Returns:
        ``of`` (which words it has), ``states`` (of the minimal machine), ``tier``,
        ``alike`` (letters that act alike), ``classes`` (name, whether it holds or null,
        why, and a witness with ``k`` where there is one), and ``network``: what follows
        for networks.
    """
    found = classify_language(machine, budget, known)
    whole = "the words it accepts"
    parts = "for each state of the minimal machine, the words that lead to it"
    return {
        "of": whole if found.acceptor else parts,
        "states": found.states,
        "tier": found.tier,
        "alike": found.alike,
        "classes": [asdict(p) for p in found.classes],
        "network": list(_network_of_language(found)),
    }


def _network_of_language(found: LanguageClasses) -> Iterator[str]:
    """The consequences of a language's classes for networks (docs/classes.md, 4)."""
    yield from _depth_of_language(found)
    rasp, single = found["C-RASP"], found["R∘G"]
    if rasp.holds and rasp.witness is not None:
        rounds = rasp.witness["rounds"]
        counts = f"{rounds} round{'s' * (rounds != 1)} of counts" if rounds else "order"
        yield (
            f"it is in C-RASP ({counts}): trained softmax Transformers are expected to "
            "generalise in length"
        )
    elif rasp.holds is False:
        reason = (
            "a network must find what was written last"
            if single.holds is False
            else "counts of letters cannot tell its states apart"
        )
        yield (
            f"it is not in C-RASP, because {reason}: trained softmax Transformers are "
            "not expected to generalise in length"
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
            f"windows of {k} letters, and counts of these windows, decide: "
            f"{count(1 + (k > 1), 'attention layer')} for every T"
        )
    elif piecewise.holds and piecewise.witness is not None:
        k = piecewise.witness["k"]
        yield (
            f"subsequences of up to {k} letters decide, and each layer adds a letter: "
            f"{count(k, 'attention layer')} for every T"
        )
    elif tier.holds and tier.witness is not None:
        k = tier.witness["k"]
        yield (
            f"the last {k} letters that change a state (the tier), and counts of such "
            f"windows, decide the state: {count(k, 'attention layer')} for every T"
        )
