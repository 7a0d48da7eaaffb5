"""Families of hidden Markov models: names such as ``RanHMM5,5@3`` (states, letters, seed).

The families are those of Hu et al. 2024, section 3; those of `PROCESSES` have no
numbers. A name means the same bytes on every machine, for the same reasons as in
`krohn.sources.linear_systems.families`.
"""

import re
from math import fsum
from random import Random

import numpy as np

from krohn.program.domains import LARGEST_MATRIX
from krohn.program.errors import demand
from krohn.sources import linear_systems
from krohn.sources.hidden_markov.model import HiddenMarkovModel
from krohn.sources.hidden_markov.processes import PROCESSES

ENTERED = 1 / 120
"""How likely Cyclic-HARD leaves its first stage: 1/T at the length of the paper."""
FAMILIES = ("RanHMM", "Cyclic-HARD")
EXAMPLES = {
    "RanHMM5,5@3": "5 states and 5 letters, laws of uniform numbers; seed 3",
    "Cyclic-HARD5,5@3": "Cyclic-DET5,5@3 whose state is sometimes asked for by * and "
    "then emitted; 75 states; also Cyclic-HARD5,5@3:alpha=0.05 (the probability of *; "
    "default 1/120)",
    "Mess3": "three states that seldom change and are seldom mistaken for each other; "
    "its beliefs form a fractal",
    "RRXOR": "two fair bits, then their exclusive or, again and again; the phase at the "
    "start is unknown",
    "EvenProcess": "an even number of 1s between two 0s",
    "GoldenMean": "no two 0s in a row",
}
"""An example of each family, with what it is."""
_NAME = re.compile(
    r"(?P<family>[A-Za-z-]+?)(?P<n>\d{1,9}),(?P<m>\d{1,9})@(?P<seed>\d{1,18})"
    r"(?::alpha=(?P<alpha>\d*\.?\d+(e-?\d+)?))?"
)


def named(name: str) -> HiddenMarkovModel | None:
    """The model of a name; None if it is not of a family's form.

    Raises:
        Refused: If a number of the name is too small or too large.
    """
    if name in PROCESSES:
        return PROCESSES[name]()
    found = _NAME.fullmatch(name)
    if found is None or found["family"] not in FAMILIES:
        return None
    states, letters = int(found["n"]), int(found["m"])
    if found["family"] == "Cyclic-HARD":
        alpha = ENTERED if found["alpha"] is None else float(found["alpha"])
        return cyclic_hard(name, states, letters, int(found["seed"]), alpha)
    if found["alpha"] is not None:
        return None
    return random_model(name, states, letters, int(found["seed"]))


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
    base = linear_systems.named(f"Cyclic-DET{numbers}")
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
