"""Finitely many beliefs: the machine of the beliefs, by any of its networks."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from krohn.algebra.automaton import Automaton, Semiautomaton
from krohn.compiler.compiled_network import CompiledNetwork, realise
from krohn.compiler.construction_choice.planning import planning
from krohn.compiler.constructions import context_scan
from krohn.compiler.cost import Bound, Steps
from krohn.compiler.errors import CompileError, Unsuited
from krohn.compiler.output_programs import say_vectors, vectors_of
from krohn.compiler.pipeline import Options
from krohn.compiler.rnn import speaking
from krohn.program import Program, Vectors
from krohn.sources.hidden_markov import HiddenMarkovModel
from krohn.sources.hidden_markov.beliefs import Beliefs, reachable

NAME = "beliefs"
MOST_BELIEFS = 1000
MOST_PARAMETERS = 50_000_000
SUMMARY = "follow the finitely many beliefs as a machine, and say each as a vector"


def networks(
    model: HiddenMarkovModel, length: int, options: Options
) -> Iterator[CompiledNetwork]:
    """Networks of a model whose words lead to finitely many beliefs, best first.

    The Program computes the machine whose states are the beliefs; `say_vectors` puts its
    outputs together, and lays the result out as the belief.

    Raises:
        CompileError: If there are too many beliefs, or no construction serves them.
    """
    found = _few(model)
    vectors = vectors_of(found.laws, options.precision)
    points = partial(_points, model.letters, found, vectors)
    others = {context_scan.NAME: points} if (found.following < 0).any() else {}
    known = planning(
        machine_of(model, found), length, options, vectors=vectors, others=others
    )
    tried = False
    for plan in known.best_first():
        if plan.cost.parameters > MOST_PARAMETERS:
            raise CompileError(
                f"the {len(found.weights)} beliefs of {model.name} need a network of "
                f"{plan.cost.parameters:,} parameters ({plan.construction})"
            )
        tried, built = True, realise(plan)
        said = {"start": 0, "transitions": found.following.tolist()}
        yield CompiledNetwork(
            f"{NAME}-{built.construction}",
            built.network,
            {**built.program, "machine": said},
            built.cost,
        )
    if not tried:
        raise CompileError(known.reasons())


def recurrent(model: HiddenMarkovModel, options: Options) -> CompiledNetwork:
    """The RNN of the beliefs, for words of every length; impossible words turn it off.

    Raises:
        CompileError: If there are too many beliefs.
    """
    found = _few(model)
    following, count = found.following, len(found.weights)
    states = (*(f"belief{i}" for i in range(count)), "impossible")
    complete = np.where(following < 0, count, following)
    complete = np.hstack([complete, np.full((len(complete), 1), count)])
    machine = Automaton(Semiautomaton(complete, model.letters, states), name=model.name)
    network = speaking(machine, found.laws, options.precision)
    said: dict[str, object] = {
        "machine": {"start": 0, "transitions": following.tolist()}
    }
    return CompiledNetwork(f"{NAME}-elman", network, said, None)


def _few(model: HiddenMarkovModel) -> Beliefs:
    found = reachable(model, MOST_BELIEFS)
    if found is None:
        raise Unsuited(
            f"the words of {model.name} lead to more than {MOST_BELIEFS} beliefs, or to "
            "some of too many digits"
        )
    return found


def _points(
    letters: tuple[str, ...], found: Beliefs, vectors: Vectors, length: int
) -> Steps[Program]:
    """A scan of few points, as impossible words allow it."""
    yield Bound()
    program = context_scan.context_scan(letters, found.following, length)
    return say_vectors(program, vectors)


def machine_of(model: HiddenMarkovModel, found: Beliefs) -> Automaton:
    """The beliefs as the states of a machine, in which impossible letters do nothing."""
    count = len(found.weights)
    states = tuple(f"belief{i}" for i in range(count))
    complete = np.where(found.following < 0, np.arange(count), found.following)
    return Automaton(Semiautomaton(complete, model.letters, states), name=model.name)
