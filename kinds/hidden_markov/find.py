"""Evidence of RNNs that follow beliefs: their hidden states, each exact."""

from typing import Any

import numpy as np

from krohn.architectures.recurrent import check as recurrent
from krohn.architectures.recurrent.find import limits
from krohn.kinds.hidden_markov import check_recurrent
from krohn.verify.checker.model_file import Machine, Model
from krohn.verify.search.exact_walk import walk
from krohn.verify.search.simulations import simulation_evidence


def simulation(model: Model, machine: Machine | None) -> dict[str, Any]:
    """A finite simulation of the machine of beliefs that a file states.

    Raises:
        Refused: If none is found.
        WrongWord: With a shortest word, if a read-out is wrong.
    """
    del machine
    beliefs = check_recurrent.followed(model)
    network = check_recurrent.says(recurrent.opened(model), beliefs)
    found = walk(network, beliefs.machine, limits(network), wrong=np.isposinf)
    return simulation_evidence(found)
