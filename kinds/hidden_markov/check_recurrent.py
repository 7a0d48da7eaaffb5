"""RNNs of hidden Markov models: after each letter a belief is said, up to an error.

Theorems W8d and W8e of docs/proofs/beliefs.md.
"""

from collections.abc import Callable, Sequence
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
from krohn.verify.checker.simulation import Reader, check_simulation
from krohn.verify.checker.sparse_matrix import Sparse


@dataclass(frozen=True)
class Beliefs:
    """The machine of situations that possible words lead to, and the beliefs of each.

    Attributes:
        machine: It leads to -1 where no possible word leads.
        laws: ``(states, n)``: between which entries beliefs are.
        off: How far an entry of these can be from the true one.
        count: How many there are.
    """

    machine: Machine
    laws: Interval
    off: float
    count: int


@dataclass(frozen=True)
class Says(Network):
    """An RNN that says beliefs, with the laws of each situation."""

    laws: Interval

    def follow(
        self, at: IntArray, rights: Sequence[IntArray]
    ) -> tuple[Sparse, FloatArray]:
        """The vector that each letter hands on; and how far outputs are off, negative."""
        hidden = self.after(self.nodes.some(at))
        possible = np.flatnonzero(rights[1] >= 0)
        off = self.off(hidden.some(possible), self.laws[rights[1][possible]])
        return self.hand_on(hidden), -off.high

    def off(self, hidden: Sparse, laws: Interval) -> Interval:
        """``(rows, n)``: how far what is said can be from laws."""
        form, size = self.form, len(self.logits)
        shape = hidden.shape[0], size
        of, at = self.readout.entries(hidden.columns)
        terms = hidden.values[of] * self.readout.values[at]
        place = hidden.rows[of] * size + self.readout.columns[at]
        summed, absolute, count = (
            np.bincount(place, part, shape[0] * size).reshape(shape).astype(np.float64)
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
    demand(model.length is None, "a recurrent network has no longest word")
    source = StatedHiddenMarkov.from_wire(model.source)
    machine = situations.followed_by(model)
    contexts = situations.followed_by(model, "contexts")
    demand((machine is None) != (contexts is None), "one machine has to be stated")
    if contexts is not None:
        from krohn.kinds.hidden_markov.check_contexts import (
            context_beliefs,  # no other proof rests on it
        )

        machine, law = contexts, context_beliefs(source, contexts)
    else:
        assert machine is not None
        count = machine.transitions.shape[1]
        few = count * len(source.start) <= situations.MOST_NUMBERS
        demand(few, "too many beliefs to be listed")
        law = situations.beliefs(source, machine, {(q,): q for q in range(count)})
    return _box(machine, law)


def _box(machine: Machine, law: situations.Law) -> Beliefs:
    """The least and the largest entries of the beliefs of each state, if it has any."""
    count = machine.transitions.shape[1] + 1  # the last one is for -1
    low = np.full((count, law.belief.shape[1]), np.inf)
    high, known = -low, np.zeros(count, np.bool_)
    np.minimum.at(low, law.value, law.belief)
    np.maximum.at(high, law.value, law.belief)
    known[law.value] = True
    ways = np.where(known[machine.transitions], machine.transitions, -1)
    walked = Machine(machine.start, ways, np.arange(count - 1))
    return Beliefs(walked, Interval(low, high), law.off, int(known.sum()))


def says(model: Model, beliefs: Beliefs, said: Any = None) -> Says:
    """The network of a file beside the beliefs, with the nodes of evidence, if any."""
    return Says(**vars(open_network(model, said)), laws=beliefs.laws)


def prove_beliefs(
    model: Model, said: Any, says: Callable[[Model, Beliefs, Any], Reader[Any]]
) -> Established:
    """The error that can be shown of a recurrent network.

    Args:
        model: The network.
        said: The evidence.
        says: The network of a file beside beliefs; ``follow`` says how far outputs are off.

    Raises:
        Refused: If the network says no beliefs.
    """
    beliefs = follow_beliefs(model)
    network = says(model, beliefs, evidence := said["simulation"])
    demand(network.reads == len(beliefs.machine.transitions), "other letters")
    outputs = model.tensors["unembed.bias"].shape
    demand(outputs == beliefs.laws.shape[1:], "another number of outputs")
    pairs, least = check_simulation(network, evidence, beliefs.machine)
    error = Interval.of(max(off := -least, 0.0)) + beliefs.off
    demand(np.isfinite(off), "an output has no bound")
    facts = {"argument": "hidden states", "situations": beliefs.count, "pairs": pairs}
    return Established(model.format, PossibleWords(None), facts, error.most)


def check_claim(model: Model, said: Any, machine: Machine | None) -> Established:
    """The error that can be shown of an RNN.

    Raises:
        Refused: If the network says no beliefs.
    """
    return prove_beliefs(model, said, says)
