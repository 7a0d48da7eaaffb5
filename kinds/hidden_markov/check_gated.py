"""LSTMs and GRUs of hidden Markov models: after each letter a belief is said, nearly.

Theorems W8d and W8e of docs/proofs/beliefs.md, with the sets of docs/proofs/gated.md.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from krohn.architectures.gated.check import Cell, open_network
from krohn.architectures.gated.check_affine_forms import AffineForm
from krohn.kinds.hidden_markov.check_recurrent import Beliefs, prove_beliefs
from krohn.program.domains import FloatArray, IntArray
from krohn.verify.checker.arithmetic import Interval
from krohn.verify.checker.established import Established
from krohn.verify.checker.model_file import Machine, Model


@dataclass(frozen=True)
class Says(Cell):
    """A network that says beliefs, with the laws of each situation."""

    laws: Interval

    def ahead(self, held: AffineForm, right: IntArray) -> FloatArray:
        """``(rows,)``: how far outputs are off, negative; inf where nothing is claimed."""
        possible, ahead = np.flatnonzero(right >= 0), np.full(len(right), np.inf)
        said = self.compute_logits(held.rows(possible)).bounds
        ahead[possible] = -abs(said - self.laws[right[possible]]).high.max(axis=1)
        return ahead


def says(model: Model, beliefs: Beliefs, said: Any = None) -> Says:
    """The network of a file beside the beliefs, with the nodes of evidence, if any."""
    return Says(**vars(open_network(model, said)), laws=beliefs.laws)


def check_claim(model: Model, said: Any, machine: Machine | None) -> Established:
    """The error that can be shown of an LSTM or a GRU.

    Raises:
        Refused: If the network says no beliefs.
    """
    return prove_beliefs(model, said, says)
