"""Evidence of Elman networks, LSTMs and GRUs: boxes or parallelotopes of hidden states."""

from dataclasses import replace
from typing import Any

import numpy as np

from krohn.architectures.gated import check, find_parallelotopes as parallelotopes
from krohn.architectures.gated.check import Cell, Images, Nodes
from krohn.architectures.gated.check_affine_forms import AffineForm
from krohn.program.errors import demand
from krohn.verify.checker.arithmetic import Interval
from krohn.verify.checker.model_file import Machine, Model
from krohn.verify.checker.simulation import machine_of
from krohn.verify.errors import WrongWord
from krohn.verify.search.boxes import Boxes, Unsettled


class CellBoxes(Boxes):
    """Boxes of what a cell remembers, which it takes as parallelotopes."""

    def at(self, boxes: Interval) -> Cell:
        """The cell with boxes as its nodes."""
        none = np.full(boxes.shape[0], -1)
        cell: Cell = replace(self.net, nodes=Nodes(boxes, None, none))
        return cell

    def around(self, images: Images) -> Interval:
        """Boxes around images."""
        return images.form.base

    def refute(self) -> None:
        """Look for a box in which another logit is surely ahead.

        Raises:
            WrongWord: If there is one but the first, with a word that leads there.
        """
        for at in range(1, len(self.low)):
            logits = self.net.compute_logits(AffineForm.of(self.some([at]))).base[0]
            right = int(self.machine.shows[self.states[at]])
            demand(right < len(logits.low), "the network has no logit for a state")
            others = np.delete(logits.low, right)
            if (logits.high[right] < others).any():
                raise WrongWord(self.word(at))


def simulation(model: Model, machine: Machine | None) -> list[dict[str, Any]]:
    """A finite simulation.

    Raises:
        Refused: If none is found.
        WrongWord: With some word, if a read-out is wrong.
    """
    cell = check.open_network(model)
    machine = machine_of(model, machine, cell.reads)
    boxes = CellBoxes(cell, machine)
    try:
        boxes.close()
        boxes.refute()
        if boxes.certain or cell.first.shape[-1] > parallelotopes.LARGEST:
            return [{"simulation": boxes.evidence()}]
    except Unsettled:
        if cell.first.shape[-1] > parallelotopes.LARGEST:
            raise  # else parallelotopes may not grow where boxes do
    return [{"simulation": parallelotopes.find_closure(cell, machine)}]
