"""Hidden Markov models, and the beliefs that their filter holds."""

import re
from collections.abc import Callable, Iterable, Sequence
from math import fsum
from random import Random

import numpy as np

from krohn.kinds.hidden_markov.source_model import HiddenMarkovModel
from krohn.kinds.linear_systems import source as linear_systems
from krohn.kinds.linear_systems.source import LinearSystem
from krohn.program.domains import LARGEST_MATRIX, FloatArray, IntArray
from krohn.program.errors import demand

__all__ = ["HiddenMarkovModel", "find_by_name"]


# One process as different hidden Markov models: driven or not, said by edges or states.
#
# Operators say letters on edges, as a Mealy machine does: s goes to s' and says o. The
# literature often has letters on states: then the joint chain of states and letters is
# the model (Hu et al. 2024, Proposition A.1). Which letter stands beside which state
# decides what a belief means after the letter o_t:
#
# * `moore_form`: (state that o_t led to, o_t). Beliefs sum to A_{o_t} … A_{o_1} b_0.
# * `paper_form`: (state in which o_t is said, o_t), as the proposition has it. Beliefs sum
#   to what the state was *before* o_t acted; the labels of the paper's experiments are one
#   step further, what its filter predicts and not what it holds.


def drive_system(system: LinearSystem) -> HiddenMarkovModel:
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


def randomise_actions(model: HiddenMarkovModel) -> HiddenMarkovModel:
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
    model = randomise_actions(model)
    letters, states, _ = model.operators.shape
    moves = np.zeros((letters, states, letters, states, letters))
    start = np.zeros((states, letters))
    for o in range(letters):
        moves[o, :, o] = model.operators[o][:, :, None]
    start[:, 0] = model.start
    size = states * letters
    operators = moves.reshape(letters, size, size)
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
    model = randomise_actions(model)
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


DELIMITER = "|"
"""The letter between demonstrations."""


def prompts(
    name: str, models: Sequence[HiddenMarkovModel], window: int
) -> HiddenMarkovModel:
    """Demonstrations of L + 1 letters of one of several models, with delimiters between.

    The model is one for the whole word, each as likely; it begins anew in every
    demonstration (Hao et al. 2025, section 2).

    Args:
        name: What it is called.
        models: The models.
        window: L.

    Raises:
        Refused: If there are none, they differ in their letters or choose them, a letter is
            the delimiter, or there are too many states.
    """
    size = sum(model.size * (window + 1) + 1 for model in models)
    demand(window > 0, f"{name} has demonstrations of 2 letters or more")
    demand(size <= LARGEST_MATRIX, f"{name} has more than {LARGEST_MATRIX} states")
    return mixture(name, [_repeated(model, window) for model in models])


def _repeated(model: HiddenMarkovModel, window: int) -> HiddenMarkovModel:
    """A model that says a delimiter after each L + 1 letters, and then begins anew.

    Its states are those of the model, once for each letter said since then, and one more
    before the delimiter.
    """
    letters, n, own = model.letters, model.size, model.operators
    demand(DELIMITER not in letters, f"a letter of {model.name} is {DELIMITER}")
    demand(model.actions is None, f"the letters of {model.name} are chosen")
    last = n * (window + 1)
    operators = np.zeros((len(letters) + 1, last + 1, last + 1))
    for k in range(window):
        here, following = slice(n * k, n * (k + 1)), slice(n * (k + 1), n * (k + 2))
        operators[:-1, following, here] = own
    operators[:-1, last, n * window : last] = own.sum(axis=1)
    operators[-1, :n, last] = model.start
    start = np.concatenate([model.start, np.zeros(last + 1 - n)])
    states = [f"{s} after {k}" for k in range(window + 1) for s in model.states]
    named = (*states, "end"), (*letters, DELIMITER)
    return HiddenMarkovModel(model.name, *named, operators, start)


# Stationary processes of computational mechanics, by the names that they have there.
#
# All start in their stationary law: what is known of the state is only what was said.


def golden_mean() -> HiddenMarkovModel:
    """No two 0s in a row; after a 1, each letter is as likely."""
    likely, following = np.array([[0.5, 0], [0.5, 1]]), np.array([[1, 0], [0, 0]])
    start = np.array([2 / 3, 1 / 3])
    return unifilar("GoldenMean", likely, following, start, "AB", "01")


def even_process() -> HiddenMarkovModel:
    """An even number of 1s between 0s, so that no length of memory is enough."""
    likely, following = np.array([[0.5, 0], [0.5, 1]]), np.array([[0, 0], [1, 0]])
    start = np.array([2 / 3, 1 / 3])
    return unifilar("EvenProcess", likely, following, start, "AB", "01")


def random_random_xor() -> HiddenMarkovModel:
    """Two fair bits, then their exclusive or, for ever; where it begins is unknown."""
    half, sure = [0.5, 0.5], [[1.0, 0.0], [0.0, 1.0]]
    likely = np.array([half, half, half, *sure]).T
    following = np.array([[1, 2], [3, 4], [4, 3], [0, 0], [0, 0]]).T
    start = np.array([2.0, 1, 1, 1, 1]) * (1 / 6)
    names = ("first", "after 0", "after 1", "says 0", "says 1")
    return unifilar("RRXOR", likely, following, start, names, "01")


def mess3() -> HiddenMarkovModel:
    """Three states that are seldom left and seldom seen wrongly (x = 0.05, a = 0.85).

    Its beliefs are a fractal in the triangle (Marzen and Crutchfield 2017; Shai et al.
    2024, who found it in the residual stream of a trained Transformer).
    """
    leave, right = 0.05, 0.85
    stay = np.full((3, 3), leave) + np.eye(3) * (1 - 3 * leave)
    wrong = (1 - right) / 2
    say = np.full((3, 3), wrong) + np.eye(3) * (right - wrong)
    return HiddenMarkovModel.of(
        "Mess3", stay, say, before=np.full(3, 1 / 3), states="ABC", letters="ABC"
    )


PROCESSES: dict[str, Callable[[], HiddenMarkovModel]] = {
    "GoldenMean": golden_mean,
    "EvenProcess": even_process,
    "RRXOR": random_random_xor,
    "Mess3": mess3,
}


# Families of hidden Markov models: names such as ``RanHMM5,5@3`` (states, letters, seed).
#
# The families are those of Hu et al. 2024, section 3; those of `PROCESSES` have no
# numbers. A name means the same bytes on every machine, for the same reasons as in
# `krohn.kinds.linear_systems.source`.


ENTERED = 1 / 120
"""How likely Cyclic-HARD leaves its first stage: 1/T at the length of the paper."""
FAMILIES = ("RanHMM", "Cyclic-HARD")
_NAME = re.compile(
    r"(?P<family>[A-Za-z-]+?)(?P<n>\d{1,9}),(?P<m>\d{1,9})@(?P<seed>\d{1,18})"
    r"(?::alpha=(?P<alpha>\d*\.?\d+(e-?\d+)?))?"
)
_MIXTURE = re.compile(
    r"mixture:(?P<family>[^:@]+)@(?P<first>\d{1,9})\.\.(?P<last>\d{1,9})"
)
_PROMPTS = re.compile(r"prompts(?P<window>\d{1,9}):(?P<of>(?!prompts).+)")


def find_by_name(name: str) -> HiddenMarkovModel | None:
    """The model of a name; None if it is not of a family's form.

    Raises:
        Refused: If a number of the name is too small or too large.
    """
    if name in PROCESSES:
        return PROCESSES[name]()
    if (asked := _PROMPTS.fullmatch(name)) is not None:
        models = _mixed_models(asked["of"])
        window = int(asked["window"])
        return None if models is None else prompts(name, models, window)
    if _MIXTURE.fullmatch(name) is not None:
        models = _mixed_models(name)
        return None if models is None else mixture(name, models)
    match = _NAME.fullmatch(name)
    if match is None or match["family"] not in FAMILIES:
        return None
    states, letters = int(match["n"]), int(match["m"])
    if match["family"] == "Cyclic-HARD":
        alpha = ENTERED if match["alpha"] is None else float(match["alpha"])
        return cyclic_hard(name, states, letters, int(match["seed"]), alpha)
    if match["alpha"] is not None:
        return None
    return random_model(name, states, letters, int(match["seed"]))


def _mixed_models(name: str) -> list[HiddenMarkovModel] | None:
    """The models of a mixture, or a model alone; None if there are none of the name."""
    mixed = _MIXTURE.fullmatch(name)
    names = [name]
    if mixed is not None:
        seeds = range(int(mixed["first"]), int(mixed["last"]) + 1)
        most = len(seeds) <= LARGEST_MATRIX
        demand(most, f"{name} has more than {LARGEST_MATRIX} states")
        names = [f"{mixed['family']}@{seed}" for seed in seeds]
    models = [find_by_name(each) for each in names]
    known = [model for model in models if model is not None]
    return known if len(known) == len(models) else None


def random_model(name: str, states: int, letters: int, seed: int) -> HiddenMarkovModel:
    """RanHMM: each column of P and O is uniform numbers, divided by their sum.

    The paper does not say the law. Under this one the mean entropy of a belief of 5
    states is about 1.44 nats, which fits the cross entropy of 1.401 that it reports.

    Raises:
        Refused: If a number is too small or too large.
    """
    most = linear_systems.LARGEST
    few = 2 <= states <= most and 1 <= letters <= most
    demand(few, f"{name} needs 2 to {most} states and 1 to {most} letters")
    random = Random(f"RanHMM {states} {letters} {seed}")
    transitions = np.array([_law(states, random) for _ in range(states)]).T
    emissions = np.array([_law(letters, random) for _ in range(states)]).T
    start = np.eye(states)[0]
    return HiddenMarkovModel.of(name, transitions, emissions, before=start)


def _law(size: int, random: Random) -> list[float]:
    numbers = [random.random() for _ in range(size)]
    total = fsum(numbers)
    return [x / total for x in numbers]


def cyclic_hard(
    name: str, states: int, letters: int, seed: int, alpha: float
) -> HiddenMarkovModel:
    """Cyclic-HARD over the Cyclic-DET of these numbers: (s, a, stage), 3nm states.

    In stage 0 the model says the action a that it takes in s, and goes to where a leads,
    with the next action uniform; or, with probability alpha, it stays and says ``*``
    (stage 1), then the name of s (stage 2), then a once more. So an action before ``*``
    has not been taken yet, though it has been said.

    The paper starts in stage 0 with a uniform action that is said at once. Here the first
    letter comes after a step; so it starts in stage 2, as if the first state had been told.

    Raises:
        Refused: If a number is too small or too large.
    """
    numbers = f"{states},{letters}@{seed}"
    few = letters >= 1 and 3 * states * letters <= LARGEST_MATRIX
    demand(few, f"{name} has more than {LARGEST_MATRIX} states, or no letters")
    demand(0 < alpha < 1, f"the alpha of {name} is a probability between 0 and 1")
    base = linear_systems.find_by_name(f"Cyclic-DET{numbers}")
    assert base is not None
    pairs = states * letters
    shape = (letters + 1 + states, 3, states, letters, 3, states, letters)
    moves = np.zeros(shape)  # [said, stage', s', a', stage, s, a]
    for s in range(states):
        for a in range(letters):
            after = base.matrices[a, :, s]
            for chosen in range(letters):
                moves[chosen, 0, :, chosen, 0, s, a] = (1 - alpha) / letters * after
            moves[letters, 1, s, a, 0, s, a] = alpha
            moves[letters + 1 + s, 2, s, a, 1, s, a] = 1
            moves[a, 0, s, a, 2, s, a] = 1
    start = np.zeros((3, states, letters))
    start[2, 0] = 1 / letters
    each = [(s + 1, a + 1) for s in range(states) for a in range(letters)]
    return HiddenMarkovModel(
        name,
        tuple(f"s{s},{a},stage{stage}" for stage in range(3) for s, a in each),
        (*base.letters, "*", *(f"s{s + 1}" for s in range(states))),
        moves.reshape(len(moves), 3 * pairs, 3 * pairs),
        start.ravel(),
    )
