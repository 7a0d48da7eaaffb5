"""Evidence of pruned RNNs: boxes of hidden states."""

from typing import Any

from krohn.architectures.pruned import check
from krohn.verify.checker.model_file import Machine, Model
from krohn.verify.checker.simulation import machine_of
from krohn.verify.search.boxes import Boxes


def simulation(model: Model, machine: Machine | None) -> list[dict[str, Any]]:
    """A finite simulation.

    Raises:
        Refused: If none is found.
        WrongWord: With some word, if a read-out is wrong.
    """
    steps = check.open_network(model)
    boxes = Boxes(steps, machine_of(model, machine, len(steps.letters.whole)), 2)
    boxes.close()
    return [{"simulation": boxes.evidence()}]
