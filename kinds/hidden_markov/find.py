"""Evidence of beliefs: situations beside a Program, or beside what RNNs remember."""

from typing import Any

import numpy as np

from krohn.architectures.gated.find import CellBoxes
from krohn.architectures.recurrent.find import limits
from krohn.kinds.hidden_markov import check_gated, check_recurrent
from krohn.kinds.hidden_markov.check_situations import followed_by
from krohn.verify.checker.model_file import Machine, Model
from krohn.verify.search.exact_walk import walk
from krohn.verify.search.refinement import of_model
from krohn.verify.search.simulations import simulation_evidence


def refinement(model: Model, machine: Machine | None) -> list[dict[str, Any]]:
    """A refinement of the machine of situations; nothing if the file states none.

    Raises:
        Refused: If none is found.
        WrongWord: With a shortest word, if the Program is another one.
    """
    del machine
    situations = followed_by(model)
    return [{}] if situations is None else of_model(model, situations, vectors=True)


def simulation(model: Model, machine: Machine | None) -> list[dict[str, Any]]:
    """A finite simulation of the machine of situations that a file states.

    Raises:
        Refused: If none is found.
        WrongWord: With a shortest word, if a read-out is wrong.
    """
    del machine
    beliefs = check_recurrent.follow_beliefs(model)
    network = check_recurrent.says(model, beliefs)
    relation = walk(network, beliefs.machine, limits(network), wrong=np.isposinf)
    return [{"simulation": simulation_evidence(relation)}]


def boxes(model: Model, machine: Machine | None) -> list[dict[str, Any]]:
    """Boxes of what an LSTM or a GRU remembers, each with a situation.

    Raises:
        Refused: If none are found.
    """
    del machine
    beliefs = check_recurrent.follow_beliefs(model)
    cells = CellBoxes(check_gated.says(model, beliefs), beliefs.machine)
    cells.close()
    return [{"simulation": cells.evidence()}]
