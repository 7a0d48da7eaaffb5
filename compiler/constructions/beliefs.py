"""Finitely many beliefs: the machine of the beliefs, by any of its networks."""

from collections.abc import Iterator

from algebra.automaton import Automaton
from algebra.semiautomaton import Semiautomaton
from compiler.compiled_network import CompiledNetwork, realise
from compiler.construction_choice.planning import planning
from compiler.errors import CompileError
from compiler.pipeline import Options
from program.errors import Refused
from sources.hidden_markov import HiddenMarkovModel
from sources.hidden_markov.situations import Reached, reached

NAME = "beliefs"
MOST_PARAMETERS = 50_000_000
SUMMARY = "follow the finitely many beliefs as a machine, and say each as a vector"


def networks(
    model: HiddenMarkovModel, length: int, options: Options
) -> Iterator[CompiledNetwork]:
    """Networks of a model whose words lead to finitely many beliefs, best first.

    The Program is that of the machine whose states are the beliefs; `spoken` puts its
    outputs together, and lays the result out as the belief.

    Raises:
        CompileError: If there are too many beliefs, or no construction serves them.
    """
    try:
        found = reached(model)
    except Refused as reason:
        raise CompileError(f"{model.name} has no finite machine: {reason}") from None
    vectors = tuple(map(tuple, found.beliefs.tolist()))
    known = planning(machine_of(model, found), length, options, vectors=vectors)
    tried = False
    for plan in known.best_first():
        if plan.cost.parameters > MOST_PARAMETERS:
            raise CompileError(
                f"the {len(found.beliefs)} beliefs of {model.name} need a network of "
                f"{plan.cost.parameters:,} parameters ({plan.construction})"
            )
        tried, built = True, realise(plan)
        said = {"start": 0, "transitions": found.transitions.tolist()}
        yield CompiledNetwork(
            f"{NAME}-{built.construction}",
            built.network,
            {**built.program, "machine": said},
            built.cost,
        )
    if not tried:
        raise CompileError(known.reasons())


def machine_of(model: HiddenMarkovModel, found: Reached) -> Automaton:
    """The beliefs as the states of a machine."""
    states = tuple(f"belief{i}" for i in range(len(found.beliefs)))
    transitions = Semiautomaton(found.transitions, model.letters, states)
    return Automaton(transitions, name=model.name)
