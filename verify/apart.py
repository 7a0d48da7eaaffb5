"""Units below the last hidden layer of an MLP, each decided by one channel.

What such units hold for each value of their channel is found once, for all channels that
the MLP writes (docs/soundness.md, section 5).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from algebra.semiautomaton import IntArray
from network.precision import BoolArray
from verify.errors import Rejected
from verify.noisy import Noisy

if TYPE_CHECKING:
    from verify.mlp import Mlp

Owner = str | None
"""A channel; None for units that depend on none."""


@dataclass(frozen=True)
class Apart:
    """The units below the last hidden layer, by the channel that each reads.

    Attributes:
        mlp: The MLP.
    """

    mlp: "Mlp"
    _found: dict[str, tuple[IntArray, Noisy]] = field(default_factory=dict)

    def of(self, units: IntArray) -> dict[Owner, IntArray]:
        """Some of the units, in their order, by their channels.

        Raises:
            Rejected: If one of them reads several channels.
        """
        reads = self.mlp.reads[-2][units]
        if (reads.sum(axis=1) > 1).any():
            raise Rejected("a hidden unit mixes channels below another hidden layer")
        found: dict[Owner, IntArray] = {
            self.mlp.stream.names[i]: units[reads[:, i]]
            for i in np.flatnonzero(reads.any(axis=0)).tolist()
        }
        return {**found, None: units[~reads.any(axis=1)]}

    def held(self, owner: Owner, units: IntArray) -> Iterator[Noisy]:
        """What units of one channel hold for each value of its domain, in order.

        Yields:
            ``(values, units)``, for as many values at once as there is room for; one row
            if the units depend on no channel.
        """
        if owner is None:
            yield self._run({}, units)
            return
        domain = np.array(self.mlp.statement.channels[owner].domain, dtype=np.int64)
        size = self.mlp.chunk()
        if len(domain) > size:
            for low in range(0, len(domain), size):
                yield self._run({owner: domain[low : low + size]}, units)
            return
        if owner not in self._found:
            own = np.flatnonzero(self._alone[:, self.mlp.stream.names.index(owner)])
            self._found[owner] = own, self._run({owner: domain}, own)
        own, noisy = self._found[owner]
        yield noisy.columns(np.searchsorted(own, units))

    @cached_property
    def _alone(self) -> BoolArray:
        """``(units, channels)``: what depends on a channel alone, and is depended on."""
        reads = self.mlp.reads[-2]
        written = (self.mlp.layers[-1][0] != 0).any(axis=1)
        used = (self.mlp.layers[-2][0][:, written] != 0).any(axis=1)
        alone: BoolArray = reads & (used & (reads.sum(axis=1) == 1))[:, None]
        return alone

    def _run(self, values: dict[str, IntArray], units: IntArray) -> Noisy:
        height = len(self.mlp.layers) - 2
        return self.mlp.run(self.mlp.inputs(values), self.mlp.needed(units, height))
