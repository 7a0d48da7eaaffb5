"""RNNs of hidden Markov models: after each letter a belief is said, up to an error.

Theorem W8d of docs/proofs/beliefs.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from krohn.architectures.recurrent.check import (
    Network,
    open_network,
)
from krohn.kinds.hidden_markov import check_situations as situations
from krohn.kinds.hidden_markov.statement import StatedHiddenMarkov
from krohn.kinds.hidden_markov.statement_inputs import PossibleWords
from krohn.program.domains import FloatArray, IntArray
from krohn.program.errors import demand
from krohn.verify.checker.arithmetic import (
    FORMATS,
    STEPS,
    Interval,
    fits,
    store_error,
    sum_error,
)
from krohn.verify.checker.established import Established
from krohn.verify.checker.model_file import Machine, Model
from krohn.verify.checker.simulation import check_simulation
from krohn.verify.checker.sparse_matrix import Sparse


@dataclass(frozen=True)
class Beliefs:
    """The machine of situations that possible words lead to, and the belief of each.

    Attributes:
        machine: It leads to -1 where no possible word leads.
        laws: ``(states, n)``: NaN where no possible word leads.
        off: How far an entry of these can be from the true one.
        count: How many there are.
    """

    machine: Machine
    laws: FloatArray
    off: float
    count: int


@dataclass(frozen=True)
class Says(Network):
    """An RNN that says beliefs, with the law of each situation."""

    laws: FloatArray

    def follow(
        self, at: IntArray, rights: Sequence[IntArray]
    ) -> tuple[Sparse, FloatArray]:
        """The vector that each letter hands on; and how far outputs are off, negative."""
        hidden = self.after(self.nodes.some(at))
        possible = np.flatnonzero(rights[1] >= 0)
        off = self.off(hidden.some(possible), self.laws[rights[1][possible]])
        return self.hand_on(hidden), -off.high

    def off(self, hidden: Sparse, laws: FloatArray) -> Interval:
        """``(rows, n)``: how far what is said can be from laws."""
        form, size = self.form, len(self.logits)
        of, at = self.readout.entries(hidden.columns)
        terms = hidden.values[of] * self.readout.values[at]
        place = hidden.rows[of] * size + self.readout.columns[at]
        summed, absolute, count = (
            np.bincount(place, part, laws.size).reshape(laws.shape).astype(np.float64)
            for part in (terms, np.abs(terms), np.ones(len(terms)))
        )
        most = count.max(initial=0) + self.logits.any()
        total = Interval.of(absolute + np.abs(self.logits))
        own = sum_error(FORMATS["float64"], most + 2, total)  # and the checker's
        total = total + own
        fits(total, form, "an output", STEPS)
        apart = abs(Interval.of(summed + self.logits) - laws)
        if most <= 1 and (hidden.values == 1).all():  # an entry of the read-out
            return apart
        stored = 2 * store_error(form, total)
        return apart + own + sum_error(form, most, total) + stored


def follow_beliefs(model: Model) -> Beliefs:
    """The situations that the file of an RNN states, with their beliefs.

    Raises:
        Refused: If it states none, or makes another claim.
    """
    demand(model.length is None, "an RNN has no longest word")
    source = StatedHiddenMarkov.from_wire(model.source)
    machine = situations.followed_by(model)
    demand(machine is not None, "the file states no situations")
    assert machine is not None
    count, size = machine.transitions.shape[1], len(source.start)
    demand(count * size <= situations.MOST_NUMBERS, "too many beliefs to be listed")
    law = situations.beliefs(source, machine, {(q,): q for q in range(count)})
    laws = np.full((count + 1, size), np.nan)  # the last one for -1
    laws[law.value] = law.belief
    ways = machine.transitions
    possible = np.where(np.isnan(laws[ways, 0]), -1, ways)
    walked = Machine(machine.start, possible, np.arange(count))
    return Beliefs(walked, laws, law.off, len(law.value))


def says(network: Network, beliefs: Beliefs) -> Says:
    """The network beside the beliefs.

    Raises:
        Refused: If it has other letters or outputs.
    """
    letters, size = len(beliefs.machine.transitions), beliefs.laws.shape[1]
    demand(len(network.logits) == size, "another number of outputs")
    demand(network.letters.shape[1] == letters, "other letters")
    return Says(**vars(network), laws=beliefs.laws)


def check_claim(model: Model, said: Any, machine: Machine | None) -> Established:
    """The error that can be shown of an RNN.

    Raises:
        Refused: If the network says no beliefs.
    """
    beliefs = follow_beliefs(model)
    network = says(open_network(model, evidence := said["simulation"]), beliefs)
    pairs, least = check_simulation(network, evidence, beliefs.machine)
    error = Interval.of(max(off := -least, 0.0)) + beliefs.off
    demand(np.isfinite(off), "an output has no bound")
    facts = {"argument": "hidden states", "situations": beliefs.count, "pairs": pairs}
    return Established(model.format, PossibleWords(None), facts, error.most)
