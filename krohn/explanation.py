"""What a machine is, and what it would cost to compile it in each way."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from krohn.algebra.automaton import Automaton
from krohn.algebra.budget import Budget, steps_of
from krohn.algebra.classification import Classification, classify
from krohn.algebra.classification.findings import find
from krohn.algebra.classification.group_names import LARGEST_COUNT, writable
from krohn.algebra.errors import KrohnError
from krohn.algebra.minimisation import minimise, reachable
from krohn.algebra.structure import as_counter, as_memory
from krohn.candidates import construction_table
from krohn.certification import MachineClaim, Way, choose, planned, proof_steps
from krohn.compilation import formats_of, length_given, options_of
from krohn.compiled_model import CompiledModel
from krohn.compiler.compiled_network import machine_of_states
from krohn.compiler.construction_choice.known_constructions import depth_grows
from krohn.compiler.construction_choice.planning import planning
from krohn.compiler.pipeline import Options
from krohn.compiler.rnn import Units
from krohn.language import language
from krohn.machines import machine_of
from krohn.network.modelfile import claimed_length
from krohn.option_rules import check_within, given_of, refuse_others, spelled
from krohn.source_kinds import in_blocks, named
from krohn.source_kinds.base import How
from krohn.state_space_forms import forms

MOST_ELEMENTS = 200_000
MOST_ENTRIES = 20_000_000


OF_FORMS = ("source", "arch", "start", "observation", "effort")
"""What the table of state space models depends on."""
USUAL = 128, "float32"
"""The length and the number format where nothing is said of a machine's."""


def explain(
    source: object,
    length: int | None = None,
    dtype: object = None,
    start: str | None = None,
    strict: bool = False,
    minimise: str | None = None,
    observation: str | None = None,
    activation: str = "relu",
    effort: str | float = "normal",
    *,
    block: int | None = None,
    within: float | None = None,
    arch: Literal["transformer", "ssm"] = "transformer",
) -> dict[str, Any]:
    """The facts about a machine and the table of its constructions.

    Args:
        source: Anything that `krohn.automaton` takes, as what `krohn.compile` returns; or
            another source, or its name.
        length: T; 128 if nothing is said, and the length of a compiled model.
        dtype: The number format of the networks; if nothing is said, that of
            `krohn.compile`.
        start: The start state by name; None for the machine's own.
        strict: Plain residuals and one hidden layer in every MLP.
        minimise: What constructions are ordered by: a key of
            `krohn.compiler.construction_choice.objectives.OBJECTIVES`; None for the
            compromise.
        observation: What the networks say instead of the state.
        activation: ``"relu"``, ``"sine"`` or ``"gelu"``.
        effort: How much each search may do: a key of `krohn.algebra.budget.EFFORTS`,
            or steps.
        block: The state is written into the text after so many letters.
        within: How far an output of a hidden Markov model's network may be off.
        arch: ``"ssm"`` for the forms of diagonal state space models and their lengths in
            each format, as `krohn.state_space_forms.forms` returns them, and no more.

    Returns:
        Of another source the facts that its kind knows; ``proved`` is null where its
        network was not tried. Of a machine: ``states``,
        ``letters`` (counts), ``constructions`` (those that apply, best first, with their
        cost), ``unavailable`` (the others, with the reason),
        ``chosen`` and ``why``; ``proved`` (whether the chosen one is; null if that was
        not tried) and ``tried`` (what was tried before it and is not proved, with the
        reason), as `krohn.compile` says; ``properties`` (name, whether it holds or null,
        why, and a witness), ``aperiodic``, ``solvable``, ``groups``, ``monoid_size`` (of
        S¹, null if unknown), ``monoid_at_least``, ``semigroup_size`` (of T(A)), all of the
        reachable part; ``language``: what its language is called (see
        `krohn.language.language`); ``depth``: what they mean for networks; ``effort``
        (steps, null if unlimited) and ``cut_short``, what was left out for that; and
        further facts.

    Raises:
        KrohnError: If the machine cannot be read, or an option has no effect on it.
    """
    values = dict(locals())
    check_within(within)
    other = named(source)
    if arch not in ("transformer", "ssm"):
        raise KrohnError(f"--arch takes transformer or ssm, not {arch!r}")
    if block is not None:
        other = in_blocks(other[1] if other else machine_of(source, start), block)
    if other is not None:
        refuse_others(given_of(explain, values), other[0].takes, other[0].called)
        how = How(within=within, formats=formats_of(dtype, other[0]))
        form = options_of(how.formats[0], strict, activation)
        facts = other[0].explain(other[1], length, form, how)
        # An error within which a network is right is one that the checker has shown.
        return facts if other[0].claim == "within" else {**facts, "proved": None}
    if within is not None:
        raise KrohnError("--within is for beliefs; the states of a machine are exact")
    machine = machine_of(source, start, observation)
    if arch == "ssm":
        for option in given_of(explain, values):
            if option not in OF_FORMS:
                what = "has no effect on a table of state space models"
                raise KrohnError(f"{spelled(option)} {what}")
        shown = machine if observation else replace(machine, output=None)
        return forms(shown, Budget(steps_of(effort)))
    longest = _claimed(source) or USUAL[0] if length is None else length
    longest = length_given(longest, "a network needs the longest length")
    options = options_of(USUAL[1] if dtype is None else dtype, strict, activation)
    return _explained(machine, longest, options, minimise, observation, effort)


def _claimed(source: object) -> int | None:
    """The length of a compiled model."""
    file = source.file if isinstance(source, CompiledModel) else None
    return None if file is None else claimed_length(file.header)


def _explained(
    machine: Automaton,
    length: int,
    options: Options,
    minimise: str | None,
    observation: str | None,
    effort: str | float,
) -> dict[str, Any]:
    """What `explain` says of a machine."""
    part = reachable(machine)
    budget = Budget(steps_of(effort))
    theory, limit = (_for_theory(part, budget.steps) for _ in range(2))
    known = find(part, theory)
    kind = classify(known, theory)
    spoken = language(machine, limit, known)
    for what in (*theory.cut, *limit.cut):
        budget.leave_out(what)
    compiled = machine if observation else replace(machine, output=None)
    ways = planning(compiled, length, options, budget=budget)
    claim = MachineClaim(machine, length, options.precision, observation is not None)
    allowed = _Allowance(budget.steps, length)
    choice = choose(planned(ways, minimise), claim.proved, allowed)
    offered = construction_table(ways, minimise, choice)
    return {
        **_facts(machine, part),
        **_theory(kind, offered),
        "language": spoken,
        "length": length,
        "dtype": options.precision.name,
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
    solvable = kind["solvable"]
    if solvable.holds is None:
        yield (
            "whether a depth that does not grow with T is possible is not decided "
            f"({solvable.evidence})"
        )
    elif solvable.holds:
        circuits = "star-free, AC⁰" if kind["aperiodic"].holds else "ACC⁰"
        yield (
            "a depth that does not grow with T is possible, because its groups are "
            f"solvable (Theorem 11; {circuits}); {_reached(offered)}"
        )
    else:
        yield (
            "a depth that does not grow with T is impossible unless TC⁰ = NC¹, "
            "because a group in T(A) is not solvable (Theorem 13)"
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
