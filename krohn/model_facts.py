"""What `krohn explain` says of a hidden Markov model beside its network."""

from collections.abc import Iterator
from typing import Any

from krohn.algebra.automaton import Automaton
from krohn.algebra.budget import Budget
from krohn.algebra.classification import Classification, classify
from krohn.algebra.classification.findings import find
from krohn.algebra.wording import count
from krohn.belief_machine import machine_of
from krohn.compiler.constructions import belief_window, normalised_products
from krohn.machine_facts import by_groups
from krohn.observability import gamma
from krohn.sources.hidden_markov import HiddenMarkovModel
from krohn.sources.hidden_markov.assumptions import observed, rank
from krohn.sources.hidden_markov.beliefs import Beliefs
from krohn.sources.hidden_markov.mixing import mixing_time
from krohn.sources.hidden_markov.structure import Structure

SAMPLES, WORK = 500, 2**28
"""Words of which a mixing time is estimated, and how much is multiplied for it."""
MOST_NUMBERS = 2**21
"""Entries of the beliefs that are held at once; 32 words of 256 states are enough."""
MOST_STATES, MOST_WORDS, MOST_STEPS = 8, 512, 4
"""Of how many states, words and steps observability is computed."""
OBSERVABLE = 1e-9
"""Rounding of a linear program: a smaller γ is said to be 0."""
MOST_ELEMENTS, STEPS = 20_000, 1e7
"""Elements of a monoid of beliefs that are listed, and steps of each search."""


def facts(
    model: HiddenMarkovModel, made: str | None = None, within: float | None = None
) -> dict[str, Any]:
    """What a model is, and what that means for the depth of networks.

    Args:
        model: The model.
        made: The construction that compiles it; None if none does.
        within: The error that was asked for; None if nothing was said of it.

    Returns:
        ``properties`` (those that hold); ``beliefs`` (how many are reachable, null if not
        found to be finitely many); ``forgets_after`` (letters, null if a word forgets
        nothing, or it is open) and ``contraction``; ``mixing_time`` with its ``interval``
        and the number of ``samples``, null where it is longer than was looked at;
        ``rank``; ``observability`` (γ, and in how many ``steps``), null if not computed;
        ``depth_growth`` (sentences: what it means for networks).
    """
    structure = Structure(model)
    samples = min(SAMPLES, MOST_NUMBERS // model.size**2)
    mixing = mixing_time(model, samples, work=WORK)
    beliefs = structure.beliefs
    return {
        "properties": list(_properties(structure)),
        "beliefs": None if beliefs is None else len(beliefs.weights),
        "forgets_after": structure.forgets,
        "contraction": structure.contraction,
        "mixing_time": {
            "letters": mixing.time,
            "interval": list(mixing.interval),
            "looked_at": len(mixing.distances),
            "samples": mixing.samples,
        },
        "rank": rank(model),
        "observability": _observability(structure),
        "depth_growth": list(_depth(structure, made, within)),
    }


def _properties(structure: Structure) -> Iterator[str]:
    names = ("driven", "linear", "deterministic", "permutation", "unifilar")
    yield from (name for name in names if getattr(structure, name))
    if structure.synchronises:
        yield "synchronising"
    if structure.forgets is not None:
        yield "forgetting"


def _observability(structure: Structure) -> dict[str, Any] | None:
    """γ of the least number of letters that tell the laws of the state apart."""
    model, steps = structure.model, 0
    if model.size > MOST_STATES or structure.linear:
        return None
    found, letters = 0.0, len(model.letters)
    while found <= OBSERVABLE and steps < MOST_STEPS:
        if letters ** (steps + 1) > MOST_WORDS:
            break
        steps += 1
        found = gamma(observed(model, steps))
    return {"gamma": found, "steps": steps} if steps else None


def _depth(
    structure: Structure, made: str | None, within: float | None
) -> Iterator[str]:
    """What the structure means for the depth of networks, best news first."""
    beliefs = structure.beliefs
    if beliefs is not None:
        yield from _of_machine(structure.model, beliefs)
        return
    near = "" if within is None else f", within {within:g}"
    if structure.forgets is not None:
        what = (
            "a depth that does not grow with T is enough, for any error above 0: "
            f"every word of {count(structure.forgets, 'letter')} brings beliefs "
            "closer by a factor, so the last letters decide the belief nearly"
        )
        if made == belief_window.NAME:
            yield f"{what}; {made} below looks at these letters{near}"
        elif near:
            yield f"in theory {what}; no window of last letters{near} can be compiled"
        else:
            yield f"in theory {what}; say how nearly, as in --within 0.01, to try it"
    elif structure.forgetting_is_open:
        yield (
            "whether a depth that does not grow with T is possible is not decided, "
            "because the searches were cut short"
        )
    else:
        yield (
            "no depth that does not grow with T is known to be enough: for every "
            "length some word keeps different beliefs apart"
        )
    yield _of_products(structure, made)


def _of_products(structure: Structure, made: str | None) -> str:
    """What products of operators mean for depth, and whether they are compiled."""
    normalised = "" if structure.linear else " and made to sum to 1"
    what = (
        "a depth of about log₂ T, within an error: the operators of letters are "
        f"multiplied{normalised}"
    )
    if made == normalised_products.NAME:
        return f"{what}; {made} below does this"
    unmade = "such a network cannot be compiled for this model"
    said = f"it was not tried, because {made} serves" if made else unmade
    return f"in theory {what}; {said}"


def _of_machine(model: HiddenMarkovModel, beliefs: Beliefs) -> Iterator[str]:
    kind = _classified(machine_of(model, beliefs))
    yield f"an exact machine: its beliefs are {len(beliefs.weights)} states"
    yield from by_groups(kind, "the groups of this machine", "this machine")


def _classified(machine: Automaton) -> Classification:
    budget = Budget(STEPS, MOST_ELEMENTS)
    return classify(find(machine, budget), budget)
