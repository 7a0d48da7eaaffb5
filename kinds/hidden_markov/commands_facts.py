"""The facts of a hidden Markov model that `krohn explain` says beside its network."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from krohn.algebra.automaton import Automaton, Semiautomaton
from krohn.algebra.budget import Budget
from krohn.algebra.classification import classify
from krohn.algebra.classification.findings import find
from krohn.algebra.errors import KrohnError, MachineError
from krohn.algebra.wording import count
from krohn.kinds.hidden_markov import (
    build_attention_products as attention_products,
    build_normalised as normalised,
)
from krohn.kinds.hidden_markov.build_beliefs import (
    CONTEXTS,
    MOST_BELIEFS,
    NAME,
    WINDOW,
)
from krohn.kinds.hidden_markov.commands_types import RecurrentFacts
from krohn.kinds.hidden_markov.source import HiddenMarkovModel
from krohn.kinds.hidden_markov.source_beliefs import (
    Beliefs,
    reachable,
)
from krohn.kinds.hidden_markov.source_contexts import (
    ROOM,
    Contexts,
    Suffixes,
    context_machine,
    grow_contexts,
)
from krohn.kinds.hidden_markov.source_structure import (
    Structure,
    mixing_time,
    observation_operator,
    rank,
)
from krohn.kinds.hidden_markov.source_truncation import Truncated
from krohn.machine_facts import by_groups
from krohn.network.precision import FloatArray
from krohn.program.word_texts import join_letters
from krohn.program.wording import at_most

# The machine of the beliefs that a hidden Markov model can hold, if they are finite.


IMPOSSIBLE = "impossible"
"""The state to which words lead that the model never says."""


def belief_machine(model: HiddenMarkovModel) -> Automaton:
    """The machine of reachable beliefs.

    Raises:
        MachineError: If they are not found to be finitely many.
    """
    beliefs = reachable(model)
    if beliefs is None:
        raise MachineError(
            f"{model.name} is a hidden Markov model and is not known to have finitely "
            "many beliefs, so it cannot serve as a machine; see krohn explain"
        )
    return machine_of(model, beliefs)


def machine_of(model: HiddenMarkovModel, beliefs: Beliefs) -> Automaton:
    """The machine of beliefs that were found; one more state if words are impossible.

    A belief that is certain has the name of its state; the others are numbered.
    """
    size = len(beliefs.weights)
    table, names = beliefs.following, _names(model, beliefs)
    if (table < 0).any():
        table = np.where(table < 0, size, table)
        table = np.pad(table, ((0, 0), (0, 1)), constant_values=size)
        names = (*names, IMPOSSIBLE)
    if len(set(names)) < len(names):
        names = tuple(map(str, range(len(names))))
    remark = (
        f"{model.name} is a hidden Markov model; this is the machine of its beliefs"
    )
    moves = Semiautomaton(table, model.letters, names)
    return Automaton(moves, start=0, name=model.name, remark=remark)


def _names(model: HiddenMarkovModel, beliefs: Beliefs) -> tuple[str, ...]:
    names = []
    for number, weights in enumerate(beliefs.weights):
        likely = [name for name, w in zip(model.states, weights, strict=True) if w]
        names.append(likely[0] if len(likely) == 1 else f"belief{number}")
    return tuple(names)


# How observable a hidden Markov model is: γ, by linear programs.
#
# It needs scipy's simplex, which `sources` may not import (docs/dependencies.md).


MOST_OBSERVED_STATES = 12
"""There are 2^(n−1) − 1 linear programs of n states: 2,047 of 12."""


def gamma(laws: FloatArray) -> float:
    """The least ‖O b − O b'‖₁ / ‖b − b'‖₁ of two laws b, b' of the state, exactly.

    The difference of two laws is (p − q)/2 times its norm, with p a law of some states
    and q one of the others. So for each way to part the states in two it is a linear
    program: the least ‖O(p − q)‖₁ / 2, the distance of two polytopes (assumption 2 of
    Hao et al. 2025, after Golowich et al. 2022).

    Args:
        laws: ``(words, n)``: O; each column is the law of what is said in a state.

    Raises:
        KrohnError: If there are too many states.
    """
    states = laws.shape[1]
    if states > MOST_OBSERVED_STATES:
        raise KrohnError(
            f"observability needs 2^{states - 1} linear programs; they are solved for up "
            f"to {MOST_OBSERVED_STATES} states"
        )
    sides = product((1.0, -1.0), repeat=states - 1)
    parted = [np.array([1.0, *signs]) for signs in sides if -1.0 in signs]
    return min((_nearest(laws, signs) for signs in parted), default=1.0)


def _nearest(laws: FloatArray, signs: FloatArray) -> float:
    """Half the L1 distance of the laws of the states of each sign."""
    from scipy.optimize import linprog

    words, states = laws.shape
    signed, slack = laws * signs, -np.eye(words)
    above = np.block([[signed, slack], [-signed, slack]])
    sums = np.zeros((2, states + words))
    sums[0, :states], sums[1, :states] = signs > 0, signs < 0
    costs = np.repeat([0.0, 0.5], [states, words])
    solution = linprog(costs, above, np.zeros(2 * words), sums, [1, 1], method="highs")
    assert solution.fun is not None, "two polytopes have a distance"
    return max(0.0, float(solution.fun))


# The facts that `krohn explain` says of a hidden Markov model beside its network.


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
    """The facts of a model, and their consequences for the depth of networks.

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
        ``depth_growth`` (sentences: what it means for networks). A weighted automaton has
        no mixing time, rank of transitions or observability.
    """
    structure = Structure(model)
    beliefs = structure.beliefs
    return {
        "properties": list(_properties(structure)),
        "beliefs": None if beliefs is None else len(beliefs.weights),
        "forgets_after": structure.forgets,
        "contraction": structure.contraction,
        **(_of_laws(structure) if model.final is None else {}),
        "depth_growth": list(_depth(structure, made, within)),
    }


def _of_laws(structure: Structure) -> dict[str, Any]:
    """The facts that need probabilities."""
    model = structure.model
    samples = min(SAMPLES, MOST_NUMBERS // model.size**2)
    mixing = mixing_time(model, samples, work=WORK)
    return {
        "mixing_time": {
            "letters": mixing.time,
            "interval": list(mixing.interval),
            "looked_at": len(mixing.distances),
            "samples": mixing.samples,
        },
        "rank": rank(model),
        "observability": _observability(structure),
    }


def _properties(structure: Structure) -> Iterator[str]:
    names = ("driven", "linear", "deterministic", "permutation", "unifilar")
    yield from ["weighted"] if structure.model.final is not None else []
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
    observability, letters = 0.0, len(model.letters)
    while observability <= OBSERVABLE and steps < MOST_STEPS:
        if letters ** (steps + 1) > MOST_WORDS:
            break
        steps += 1
        observability = gamma(observation_operator(model, steps))
    return {"gamma": observability, "steps": steps} if steps else None


def _depth(
    structure: Structure, made: str | None, within: float | None
) -> Iterator[str]:
    """The consequences of the structure for the depth of networks, best news first."""
    beliefs = structure.beliefs
    if beliefs is not None:
        yield from _of_machine(structure.model, beliefs)
        return
    near = "" if within is None else f", within {within:g}"
    if structure.forgets is not None:
        what = (
            "a depth that does not grow with T is enough, for any error above 0: "
            f"every word of {count(structure.forgets, 'letter')} brings beliefs "
            "closer by a factor, so that the last letters determine it up to an error"
        )
        if made == WINDOW:
            yield f"{what}; {made} below looks at these letters{near}"
        elif near:
            none = f"is smaller than {made} below" if made else "can be compiled"
            yield f"in theory {what}; no window of last letters{near} {none}"
        else:
            yield f"in theory {what}; to try it, allow an error, as in --within 0.01"
    elif structure.forgetting_is_open:
        yield (
            "whether a depth that does not grow with T is possible is not decided, "
            "because the searches were cut short"
        )
    else:
        yield (
            "it is not known whether a depth that does not grow with T is enough: "
            + (
                does_not_forget(structure)
                or "for every length some word keeps different beliefs apart"
            )
        )
    yield _of_products(structure, made)


def does_not_forget(structure: Structure) -> str | None:
    """The sentence that shows two pasts; None if none are found."""
    pasts = structure.two_pasts
    if pasts is None:
        return None
    one, other, again = (
        join_letters([structure.model.letters[a] for a in word]) or "nothing"
        for word in (pasts.one, pasts.other, pasts.again)
    )
    return (
        f"it does not forget. After {one}, and after {other}, beliefs have no state in "
        f"common, and so it stays if {again} follows, however often: what looks at the "
        "last letters only is off by 1/2 or more in total variation"
    )


def too_slow(model: HiddenMarkovModel, contexts: Contexts | Suffixes) -> str:
    """The sentence that last letters leave too large an error."""
    pasts = does_not_forget(Structure(model))
    return (
        f"{model.name} does not forget fast enough: {contexts.description} still leave an "
        f"error of {at_most(contexts.error, 2)}" + (f"; {pasts}" if pasts else "")
    )


def _of_products(structure: Structure, made: str | None) -> str:
    """The depth that products of operators have, and whether they are compiled."""
    sums = "" if structure.linear else " and made to sum to 1"
    what = (
        "a depth of about log₂ T, within an error: the operators of letters are "
        f"multiplied{sums}"
    )
    if made in (normalised.NAME, attention_products.NAME):
        return f"{what}; {made} below does this"
    unmade = "such a network cannot be compiled for this model"
    reason = f"it was not tried, because {made} serves" if made else unmade
    return f"in theory {what}; {reason}"


def _of_machine(model: HiddenMarkovModel, beliefs: Beliefs) -> Iterator[str]:
    machine = machine_of(model, beliefs)
    budget = Budget(STEPS, MOST_ELEMENTS)
    kind = classify(find(machine, budget), budget)
    yield f"an exact machine: its beliefs are {len(beliefs.weights)} states"
    yield from by_groups(kind, "the groups of this machine", "this machine")


# The RNNs that are for words of every length.


ERRORS = (0.1, 0.05, 0.01, 0.001)
"""The errors for which contexts are counted."""


def recurrent_facts(
    model: HiddenMarkovModel, within: float | None
) -> list[RecurrentFacts]:
    """The RNN of finitely many beliefs; or those of contexts, by error.

    Args:
        model: The model.
        within: An error to be looked at beside the usual ones.
    """
    beliefs = reachable(model, MOST_BELIEFS)
    if beliefs is not None:
        states = len(beliefs.weights)
        return [
            RecurrentFacts(rnn_of=NAME, rnn_error=0.0, contexts=None, states=states)
        ]
    rows, wanted = list[RecurrentFacts](), {*ERRORS, *([within] if within else [])}
    for error in sorted(wanted, reverse=True):
        suffixes = grow_contexts(model, error * ROOM)
        if suffixes.error > error * ROOM:
            break
        states = len(context_machine(suffixes, error * ROOM).laws)
        size = len(suffixes.leaves)
        row = RecurrentFacts(
            rnn_of=CONTEXTS, rnn_error=error, contexts=size, states=states
        )
        rows.append(row)
    return rows


# What a network of a truncation says of the model.


def truncation_remark(source: HiddenMarkovModel, less: Truncated) -> str:
    """What is shown of the model where its smallest probabilities were left out."""
    share = at_most(less.share, 1)
    return (
        f"{source.name} has probabilities that are too small to be multiplied, and the "
        f"proof is about {less.model.name}: of the words that {source.name} says, all but "
        f"a share of {share} have every belief within {share} of its own; words that need "
        "what was left out are impossible"
    )
