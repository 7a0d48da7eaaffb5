"""Models as pomegranate before version 1 saved them: `to_json` of discrete emissions."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from krohn.program.domains import LARGEST_MATRIX
from krohn.program.errors import Refused, demand
from krohn.sources.hidden_markov.files import arrays
from krohn.sources.hidden_markov.model import HiddenMarkovModel

CLASS = "HiddenMarkovModel"


def model(said: Mapping[str, Any], name: str) -> HiddenMarkovModel:
    """The model of such an object: its states that say letters, and a start before them.

    Its silent start leads to the state that says the first letter: the law of that state is
    startprob of `arrays.model`.

    Raises:
        Refused: If it is damaged, may end, has other silent states than its start and its
            end, or says anything else than letters.
    """
    try:
        return arrays.model(_parameters(said), name)
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError):
        raise Refused("it is no model that pomegranate has saved") from None


def _parameters(said: Mapping[str, Any]) -> dict[str, Any]:
    """The arrays of its edges and distributions."""
    count, states = int(said["silent_index"]), said["states"]
    first, last = int(said["start_index"]), int(said["end_index"])
    demand(0 < count < LARGEST_MATRIX, "there are not 1 to 255 states that say letters")
    silent = set(range(count, len(states))) - {first, last}
    demand(not silent, "it has silent states, and such models are not read")
    start, step = np.zeros(count), np.zeros((count, count))
    for source, target, chance, *_ in said["edges"]:
        demand(min(source, target) >= 0, "an edge names a state that is not listed")
        if target == last:
            demand(chance == 0, "it can end, and such models are not read")
        elif source == first:
            start[target] = chance
        else:
            step[source, target] = chance
    laws = [_law(state["distribution"]) for state in states[:count]]
    letters = list(dict.fromkeys(letter for law in laws for letter in law))
    return {
        arrays.START: start,
        arrays.STEP: step,
        arrays.SAY: [[law.get(letter, 0.0) for letter in letters] for law in laws],
        "states": [state["name"] for state in states[:count]],
        "letters": letters,
    }


def _law(distribution: Mapping[str, Any]) -> dict[str, float]:
    """The probability of each letter."""
    kind = distribution["name"]
    demand(
        kind == "DiscreteDistribution", f"a state has a {kind}, which says no letters"
    )
    return {str(k): float(v) for k, v in distribution["parameters"][0].items()}
