"""RNNs of hidden Markov models: what they say is held against the belief of each pair.

Theorem W8d of docs/within.md.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from krohn.program.domains import FloatArray, IntArray
from krohn.program.errors import demand
from krohn.verify.checker import situations
from krohn.verify.checker.arithmetic import INFLATION, STEPS, UNDERFLOW, Format, fits
from krohn.verify.checker.model_file import Machine, Model
from krohn.verify.checker.recurrent import Walk, explore, opened
from krohn.verify.checker.sparse_matrix import Sparse

OWN = 2.0**-53


@dataclass(frozen=True)
class Established:
    """What was shown of the RNN of a hidden Markov model, for words of every length.

    Attributes:
        form: Its format.
        pairs: How many pairs of what a hidden state hands on and a situation.
        situations: How many beliefs there are.
        error: How far any output can be off, at any position of any possible word.
    """

    form: Format
    pairs: int
    situations: int
    error: float

    def facts(self) -> dict[str, Any]:
        """In numbers; there is no longest word."""
        return {
            "covers": "all possible words of any length",
            "length": None,
            "dtype": self.form.name,
            "error": self.error,
            "situations": self.situations,
            "pairs": self.pairs,
        }


@dataclass
class Said(Walk):
    """All pairs that possible words lead to.

    Attributes:
        laws: ``(states, n)``: the belief of each; NaN where no possible word leads.
        off: How far an output was off, at most.
    """

    laws: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))
    off: float = 0.0

    def ahead(self, hidden: Sparse, reached: IntArray) -> FloatArray:
        """``(rows,)``: 1; what is said is held against the belief."""
        net, rows = self.network, len(reached)
        of, at = net.readout.entries(hidden.columns)
        terms, size = hidden.values[of] * net.readout.values[at], len(net.logits)
        place = hidden.rows[of] * size + net.readout.columns[at]
        summed, absolute, count = (
            np.bincount(place, part, rows * size).reshape(rows, size)
            for part in (terms, np.abs(terms), np.ones(len(terms)))
        )
        value, total = summed + net.logits, absolute + np.abs(net.logits)
        most = count.max(initial=0) + net.logits.any()
        copied = most <= 1 and (hidden.values == 1).all()
        unit = sum(most * u / (1 - most * u) for u in (net.form.sum_unit, OWN))
        stored = 2 * net.form.unit * (total + net.form.smallest)
        rounded = unit * total + stored + most * UNDERFLOW
        off = np.abs(value - self.laws[reached]) + (0.0 if copied else rounded)
        fits(total, net.form, "an output", STEPS)
        possible = ~np.isnan(self.laws[reached, 0])
        demand(np.isfinite(off[possible]), "an output has no bound")
        self.off = float(off[possible].max(initial=self.off))
        return np.ones(rows)

    def new(self, handed: Sparse, states: IntArray) -> IntArray:
        """The pairs that were not seen before; none that only impossible words lead to."""
        found = super().new(handed, states)
        possible = ~np.isnan(self.laws[states[found], 0])
        return np.asarray(found[possible])


def established(model: Model, said: Any) -> Established:
    """The error that can be shown; `claimed_error.claimed` says if it is enough.

    Raises:
        Refused: If the network says no beliefs.
    """
    demand(model.header["claim"].get("length") is None, "an RNN has no longest word")
    source = situations.source_of(model.header["source"])
    machine = situations.followed_by(model)
    demand(machine is not None, "the file states no situations")
    assert machine is not None
    count, size = machine.transitions.shape[1], len(source.start)
    demand(count * size <= situations.MOST_NUMBERS, "too many beliefs to be listed")
    law = situations.beliefs(source, machine, {(q,): q for q in range(count)})
    laws = np.full((count + 1, size), np.nan)
    laws[law.value] = law.belief
    network, start = opened(model)
    demand(len(network.logits) == size, "another number of outputs")
    beyond = np.full((len(machine.transitions), 1), count)
    ways = np.hstack(
        [np.where(machine.transitions < 0, count, machine.transitions), beyond]
    )
    walk = Said(network, Machine(machine.start, ways, np.arange(count + 1)), laws=laws)
    explore(walk, start)
    error = float((walk.off + law.off) * INFLATION)
    return Established(model.format, len(walk.seen), len(law.value), error)
