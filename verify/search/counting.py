"""Cells of LSTMs that count letters: they grow to where tanh of them hardly changes.

Where nothing asks a cell to forget, its forget gate f is near 1 and each letter adds some
g to it: it grows towards g / (1 − f), for thousands of letters. A set that is long, from
where tanh is nearly 1 to far beyond there, holds all that comes. That it does is only
guessed here: the checker looks at what came of it.
"""

from dataclasses import dataclass

import numpy as np

from krohn.program.domains import BoolArray, FloatArray, IntArray
from krohn.verify.search.dynamics import SEED, Dynamics

OWN, LONG = 2.0, 5.0
"""From where a cell that counts has an axis of its own, and from where sets are long: tanh
is .964 and .9999 there. Chosen: with 10 in place of 5 there are about four times as many
sets, as it takes more letters to come there."""
GROWS, BEYOND = 4.0, 16.0
"""A cell counts if it grows to GROWS times LONG at least. Sets end at BEYOND times the
greatest number that a cell was seen to grow to: in a whole set the gate is open wider."""


@dataclass(frozen=True)
class Counting:
    """How far cells grow.

    Attributes:
        ends: ``(2, states, width)``: where sets end that are long upwards or downwards, in
            each state of the machine; 0 for what does not count there.
    """

    ends: FloatArray

    @classmethod
    def of(cls, net: Dynamics, words: int = 100, letters: int = 200) -> "Counting":
        """By what letters add to cells on some words, and make them forget.

        Raises:
            WrongWord: With a word after which another logit is ahead.
        """
        n = len(net.cell.weight)
        ends = np.zeros((2, net.machine.transitions.shape[1], net.width))
        if net.cell.weight.shape[1] == 4 * n:
            seen = net.run(net.words(words, letters, np.random.default_rng(SEED)))
            x, states = map(np.concatenate, zip(*seen, strict=True))
            ends[:, :, n:] = [_ends(net, x, states, sign) for sign in (1, -1)]
        return cls(ends)

    def near(self, x: FloatArray) -> FloatArray:
        """What is remembered, up to where it hardly matters how large it is."""
        most = np.where(self.ends.any(axis=(0, 1)), LONG, np.inf)
        return np.clip(x, -most, most)

    def grown(
        self, centre: FloatArray, noises: FloatArray, states: IntArray
    ) -> tuple[BoolArray, FloatArray, FloatArray]:
        """Which numbers of images count, and the middles and halves of long sets; or 0.

        Args:
            centre: ``(images, width)``.
            noises: ``(images, noises, width)``.
            states: Of the images.
        """
        reach = np.abs(noises).sum(axis=1)
        low, high = centre - reach, -(centre + reach)
        up, down = self.ends[:, states]
        counts = ((low >= OWN) & (up > 0)) | ((high >= OWN) & (down > 0))
        up = np.where((low >= LONG) & (-high <= up), up, 0.0)
        down = np.where((high >= LONG) & (-low <= down), down, 0.0)
        half = np.maximum(up + down - LONG, 0.0) / 2
        return counts, np.sign(up - down) * (half + LONG), half


def _ends(net: Dynamics, x: FloatArray, states: IntArray, sign: int) -> FloatArray:
    """``(states, cells)``: where sets end that are long upwards (1) or downwards (-1)."""
    n, moves = len(net.cell.weight), net.machine.transitions
    cells, long = x[:, n:], sign * x[:, n:] >= LONG
    empty = np.hstack([x[:, :n], np.zeros_like(cells)])
    most, least = np.zeros((moves.shape[1], n)), np.full((moves.shape[1], n), np.inf)
    for letter in range(len(moves)):
        read = np.full(len(x), letter)
        added = net.step(empty, states, read)[0][:, n:]
        kept = net.step(x, states, read)[0][:, n:] - added
        forgets = np.maximum(1 - kept / np.where(long, cells, 1.0), 2.0**-40)
        to = sign * added / forgets
        np.maximum.at(most, states, np.where(long, to, 0.0))
        np.minimum.at(least, states, np.where(long, to, np.inf))
    grows = (most > 0) & (least >= GROWS * LONG)
    for _ in range(len(grows)):  # wherever letters lead it must go on
        grows &= grows[moves].all(axis=0)
    most *= grows
    for _ in range(len(grows)):  # and sets are as long there
        for to_state in moves:
            np.maximum.at(most, to_state, most.copy())
    return BEYOND * most
