"""One process as different hidden Markov models: driven or not, said by edges or states.

Operators say letters on edges, as a Mealy machine does: s goes to s' and says o. The
literature often has letters on states: then the joint chain of states and letters is the
model (Hu et al. 2024, Proposition A.1). Which letter stands beside which state decides
what a belief means after the letter o_t:

* `moore_form`: (state that o_t led to, o_t). Beliefs sum to A_{o_t} … A_{o_1} b_0.
* `paper_form`: (state in which o_t is said, o_t), as the proposition has it. Beliefs sum
  to what the state was *before* o_t acted; the labels of the paper's experiments are one
  step further, what its filter predicts and not what it holds.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from krohn.program.domains import FloatArray, IntArray
from krohn.program.errors import demand
from krohn.sources.hidden_markov.model import HiddenMarkovModel
from krohn.sources.linear_systems import LinearSystem


def driven(system: LinearSystem) -> HiddenMarkovModel:
    """A linear system whose letters are stochastic: letters are chosen, and say nothing.

    Raises:
        Refused: If a matrix has a negative entry, or a column that does not add up to 1.
    """
    states = tuple(str(s + 1) for s in range(system.size))
    actions = tuple(range(len(system.letters)))
    matrices, start = system.matrices, system.start
    return HiddenMarkovModel(
        system.name, states, system.letters, matrices, start, actions
    )


def undriven(model: HiddenMarkovModel) -> HiddenMarkovModel:
    """The model that chooses its actions by itself, each as likely, at each step.

    Its beliefs are those of the driven model: only the likelihood of words is another.
    """
    if model.actions is None:
        return model
    operators = model.operators / len(set(model.actions))
    return HiddenMarkovModel(
        model.name, model.states, model.letters, operators, model.start
    )


def moore_form(model: HiddenMarkovModel) -> HiddenMarkovModel:
    """States (s, o), each of which says its o: o is the letter that led into s.

    P((s', o') | (s, o)) = A_{o'}[s', s], whatever o is. So the letter of the start says
    nothing; it is the first one.
    """
    model = undriven(model)
    letters, states, _ = model.operators.shape
    said = np.zeros((letters, states, letters, states, letters))
    start = np.zeros((states, letters))
    for o in range(letters):
        said[o, :, o] = model.operators[o][:, :, None]
    start[:, 0] = model.start
    size = states * letters
    operators = said.reshape(letters, size, size)
    return HiddenMarkovModel(
        f"{model.name} (Moore)", _pairs(model), model.letters, operators, start.ravel()
    )


def paper_form(model: HiddenMarkovModel) -> HiddenMarkovModel:
    """States (s, o), each of which says its o: o is the letter that leaves s.

    P((s', o') | (s, o)) = Pr(s' | s, o) · Pr(o' | s'), which is P_o[s', s] / m for m
    uniform actions. The first pair says its letter at once. Since operators say letters
    after a step, the pair before the first one is a
    state that nothing leads to, or any law from which a step leads to the first pair
    (`HiddenMarkovModel.of`).

    Raises:
        Refused: If a state cannot say a letter: its pair would lead nowhere.
    """
    model = undriven(model)
    likely = model.operators.sum(axis=1)  # Pr(o | s): (letters, states)
    demand(likely > 0, f"a state of {model.name} cannot say one of the letters")
    onward = np.einsum("pt,ots,os->ptos", likely, model.operators, 1 / likely)
    letters, states, _ = model.operators.shape
    size = states * letters
    transitions = onward.transpose(1, 0, 3, 2).reshape(size, size)
    emissions = np.tile(np.eye(letters), states)
    first = (likely * model.start).T.ravel()
    return HiddenMarkovModel.of(
        f"{model.name} (paper)",
        transitions,
        emissions,
        first=first,
        states=_pairs(model),
        letters=model.letters,
    )


def _pairs(model: HiddenMarkovModel) -> tuple[str, ...]:
    return tuple(f"{s},{o}" for s in model.states for o in model.letters)


def unifilar(
    name: str,
    likely: FloatArray,
    following: IntArray,
    start: FloatArray,
    states: Iterable[str],
    letters: Iterable[str],
) -> HiddenMarkovModel:
    """A model in which a state and the letter that it says determine the next state.

    Args:
        name: What it is called.
        likely: ``(letters, n)``: Pr(o | s).
        following: ``(letters, n)``: where s goes if it says o.
        start: ``(n,)``: the law of the state before the first letter.
        states: Their names.
        letters: Their names.

    Raises:
        Refused: If these are no probabilities.
    """
    size = len(start)
    operators = likely[:, None, :] * (following[:, None, :] == np.arange(size)[:, None])
    return HiddenMarkovModel(name, tuple(states), tuple(letters), operators, start)


def mixture(name: str, models: Sequence[HiddenMarkovModel]) -> HiddenMarkovModel:
    """One of several models, each as likely, for the whole word: a model of all states.

    The probability of its states of one model is that of the model given the word.

    Raises:
        Refused: If there are none, or they differ in their letters or choose them.
    """
    demand(len(models) > 0, f"{name} mixes no models")
    for model in models:
        demand(model.actions is None, f"the letters of {model.name} are chosen")
        demand(model.letters == models[0].letters, f"{model.name} has other letters")
    blocks = [0, *np.cumsum([model.size for model in models]).tolist()]
    operators = np.zeros((len(models[0].letters), blocks[-1], blocks[-1]))
    for model, low, high in zip(models, blocks[:-1], blocks[1:], strict=True):
        operators[:, low:high, low:high] = model.operators
    start = np.concatenate([model.start for model in models]) / len(models)
    states = tuple(f"{i + 1}:{s}" for i, m in enumerate(models) for s in m.states)
    return HiddenMarkovModel(name, states, models[0].letters, operators, start)
