"""Evidence of Elman networks, LSTMs and GRUs: boxes or parallelotopes of hidden states."""

from typing import Any

from krohn.architectures.gated import check, find_parallelotopes as parallelotopes
from krohn.verify.checker.model_file import Machine, Model
from krohn.verify.checker.simulation import machine_of
from krohn.verify.search.boxes import Boxes, Unsettled


def simulation(model: Model, machine: Machine | None) -> list[dict[str, Any]]:
    """A finite simulation.

    Raises:
        Refused: If none is found.
        WrongWord: With some word, if a read-out is wrong.
    """
    cell = check.opened(model)
    machine = machine_of(model, machine, cell.reads)
    boxes = Boxes(cell, machine)
    try:
        boxes.close()
        boxes.refute(cell)
        if boxes.certain or cell.first.shape[-1] > parallelotopes.LARGEST:
            return [{"simulation": boxes.evidence()}]
    except Unsettled:
        if cell.first.shape[-1] > parallelotopes.LARGEST:
            raise  # else parallelotopes may not grow where boxes do
    return [{"simulation": parallelotopes.closed(cell, machine)}]
