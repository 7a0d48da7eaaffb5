"""A recurrent network in float64: its steps, their Jacobians, and words that break it."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np

from krohn.architectures.gated.check import Cell
from krohn.architectures.gated.check_affine_forms import sigmoid
from krohn.program.domains import BoolArray, FloatArray, IntArray
from krohn.verify.checker.model_file import Machine
from krohn.verify.errors import WrongWord

SHORT, LONG, LOOPS, LONGEST_LOOP = 2**11, 400, 500, 7
"""Words of a length that are all run; letters of long words; how many loops are run, and
of how many letters at most."""
SEED = 3


@dataclass(frozen=True)
class Dynamics:
    """A network as it would be in real numbers, beside its machine.

    Attributes:
        cell: The network.
        machine: The machine.
    """

    cell: Cell
    machine: Machine

    @property
    def width(self) -> int:
        """How many numbers are remembered."""
        return int(self.cell.first.shape[-1])

    def begin(self, count: int) -> tuple[FloatArray, IntArray]:
        """Memories before words, and the states."""
        first = np.repeat(self.cell.first, count, axis=0)
        return first, np.full(count, self.machine.start)

    def step(
        self, x: FloatArray, states: IntArray, letters: IntArray
    ) -> tuple[FloatArray, IntArray]:
        """Memories ``(words, width)`` after a letter each, and the states."""
        return self._parts(x, letters)[0], self.machine.transitions[letters, states]

    def jacobians(
        self, x: FloatArray, letters: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """Memories after a letter, and their Jacobians ``(words, width, width)``."""
        memories, slopes = self._parts(x, letters)
        return memories, slopes()

    def ahead(self, x: FloatArray, states: IntArray) -> FloatArray:
        """How far the right logit is ahead of every other one."""
        cell, rows = self.cell, np.arange(len(x))
        logits = x[:, : len(cell.weight)] @ cell.readout + cell.logits
        right = self.machine.shows[states]
        own = logits[rows, right]
        logits[rows, right] = -np.inf
        return np.asarray(own - logits.max(axis=1))

    def _parts(
        self, x: FloatArray, letters: IntArray
    ) -> tuple[FloatArray, Callable[[], FloatArray]]:
        """Memories after a letter, and a function that gives their Jacobians."""
        cell, n = self.cell, len(self.cell.weight)
        inputs = cell.letters.value.middle()[0][letters] + cell.bias[0]
        back = x[:, :n] @ cell.weight + cell.bias[1]
        parts = [slice(at, at + n) for at in range(0, cell.weight.shape[1], n)]
        if len(parts) == 1:
            y = np.tanh(inputs + back)
            return y, lambda: np.asarray((1 - y * y)[:, :, None] * cell.weight.T)
        if len(parts) == 4:
            return self._lstm(x[:, n:], [(inputs + back)[:, part] for part in parts])
        given = [(inputs + back)[:, part] for part in parts[:2]]
        new = parts[2]
        return self._gru(x, given, inputs[:, new], back[:, new])

    def _lstm(
        self, c: FloatArray, gates: list[FloatArray]
    ) -> tuple[FloatArray, Callable[[], FloatArray]]:
        n, place = c.shape[1], np.arange(c.shape[1])
        i, f, o = (sigmoid(gates[at]) for at in (0, 1, 3))
        g = np.tanh(gates[2])
        after = f * c + i * g
        cell_output = np.tanh(after)

        def slopes() -> FloatArray:
            turned = [self.cell.weight[:, n * at : n * at + n].T for at in range(4)]
            cells = np.zeros((len(c), n, 2 * n))
            cells[:, :, :n] = (f * (1 - f) * c)[:, :, None] * turned[1]
            cells[:, :, :n] += (i * (1 - i) * g)[:, :, None] * turned[0]
            cells[:, :, :n] += (i * (1 - g * g))[:, :, None] * turned[2]
            cells[:, place, n + place] = f
            hidden = (o * (1 - cell_output * cell_output))[:, :, None] * cells
            hidden[:, :, :n] += (o * (1 - o) * cell_output)[:, :, None] * turned[3]
            return np.concatenate([hidden, cells], axis=1)

        return np.hstack([o * cell_output, after]), slopes

    def _gru(
        self,
        h: FloatArray,
        gates: list[FloatArray],
        letter: FloatArray,
        back: FloatArray,
    ) -> tuple[FloatArray, Callable[[], FloatArray]]:
        n, place = h.shape[1], np.arange(h.shape[1])
        r, z = map(sigmoid, gates)
        new = np.tanh(letter + r * back)

        def slopes() -> FloatArray:
            turned = [self.cell.weight[:, n * at : n * at + n].T for at in range(3)]
            jacobian = (r * (1 - r) * back)[:, :, None] * turned[0]
            jacobian = jacobian + r[:, :, None] * turned[2]
            jacobian = ((1 - z) * (1 - new * new))[:, :, None] * jacobian
            jacobian += (z * (1 - z) * (h - new))[:, :, None] * turned[1]
            jacobian[:, place, place] += z
            return np.asarray(jacobian)

        return (1 - z) * new + z * h, slopes

    def words(self, count: int, length: int, rng: np.random.Generator) -> IntArray:
        """``(count, length)``: words on which it may be wrong."""
        machine = self.machine
        return varied_words(machine.transitions, machine.start, count, length, rng)

    def run(self, words: IntArray) -> list[tuple[FloatArray, IntArray]]:
        """Memories after each letter, and the states.

        Raises:
            WrongWord: With a word after which another logit is ahead.
        """
        x, states = self.begin(len(words))
        steps = []
        for t in range(words.shape[1]):
            x, states = self.step(x, states, words[:, t])
            if (wrong := self.ahead(x, states) < 0).any():
                raise WrongWord(tuple(words[wrong.argmax(), : t + 1].tolist()))
            steps.append((x, states))
        return steps

    def refute(self) -> int:
        """Run all short words, random ones, and loops.

        Returns:
            The length up to which all words were run.

        Raises:
            WrongWord: If another logit is ahead after one.
        """
        rng, letters = np.random.default_rng(SEED), self.cell.reads
        length = max(1, int(np.log(SHORT) / np.log(max(letters, 2))))
        self.run(np.array(list(product(range(letters), repeat=length))))
        self.run(self.words(100, LONG, rng))
        loops = [
            np.array(loop)
            for size in range(1, LONGEST_LOOP + 1)
            for loop in product(range(letters), repeat=size)
        ][: 20 * LOOPS]
        chosen = rng.permutation(len(loops))[: max(0, LOOPS - 60)]
        loops = [*loops[:60], *(loops[at] for at in chosen)]
        heads, tails = (self.words(len(loops), 12, rng) for _ in range(2))
        again = [np.resize(loop, LONG // 2) for loop in loops]
        self.run(np.hstack([heads, np.array(again), tails, np.array(again)]))
        return length


def varied_words(
    transitions: IntArray, start: int, count: int, length: int, rng: np.random.Generator
) -> IntArray:
    """Words with runs, each with its own bias, which avoid dead ends for a while.

    That while, and the mean length of runs, is as often between n and 2n letters for each
    n up to twice the length.

    Args:
        transitions: ``(letters, states)``: of the machine that reads them.
        start: Its start state.
        count: How many.
        length: Of each.
        rng: The source of chance.

    Returns:
        Letter indices ``(count, length)``.
    """
    letters, states = transitions.shape
    dead = (transitions == np.arange(states)).all(axis=0)
    bias = rng.dirichlet(np.full(letters, 0.5), count) * 0.95 + 0.05 / letters
    again = (1 - (2 * length) ** -rng.random(count)) * (rng.random(count) < 0.5)
    free = ((2 * length) ** rng.random(count) - 1).astype(np.int64)
    words, now = np.zeros((count, length), np.int64), np.full(count, start)
    for t in range(length):
        to = transitions[:, now].T
        allowed = ~dead[to] | dead[now][:, None] | (free <= t)[:, None]
        allowed |= ~allowed.any(axis=1, keepdims=True)
        chances = np.where(allowed, bias, 0.0)
        if t:
            kept = (rng.random(count) < again) & allowed[
                np.arange(count), words[:, t - 1]
            ]
            own = np.eye(letters)[words[:, t - 1]]
            chances = np.where(kept[:, None], own, chances)
        chances = chances.cumsum(axis=1)
        drawn = rng.random(count)[:, None] * chances[:, -1:]
        words[:, t] = (chances > drawn).argmax(axis=1)
        now = to[np.arange(count), words[:, t]]
    return words


OWN, FLAT = 2.0, 5.0
"""From where a cell that counts has an axis of its own, and from where sets are long: tanh
is .964 and .9999 there. Chosen: with 10 in place of 5 there are about four times as many
sets, as it takes more letters to come there."""
GROWS, BEYOND = 4.0, 16.0
"""A cell counts if it grows to GROWS times FLAT at least. Sets end at BEYOND times the
greatest number that a cell was seen to grow to: in a whole set the gate is open wider."""


@dataclass(frozen=True)
class Counting:
    """How far cells of an LSTM grow that count letters.

    Where nothing asks a cell to forget, its forget gate f is near 1 and each letter adds
    some g to it: it grows towards g / (1 − f), for thousands of letters. A set that is
    long, from where tanh is nearly 1 to far beyond there, holds all that comes. That it
    does is only guessed here: the checker looks at what came of it.

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
        most = np.where(self.ends.any(axis=(0, 1)), FLAT, np.inf)
        return np.clip(x, -most, most)

    def measure_images(
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
        up = np.where((low >= FLAT) & (-high <= up), up, 0.0)
        down = np.where((high >= FLAT) & (-low <= down), down, 0.0)
        half = np.maximum(up + down - FLAT, 0.0) / 2
        return counts, np.sign(up - down) * (half + FLAT), half


def _ends(net: Dynamics, x: FloatArray, states: IntArray, sign: int) -> FloatArray:
    """``(states, cells)``: where sets end that are long upwards (1) or downwards (-1)."""
    n, moves = len(net.cell.weight), net.machine.transitions
    cells, long = x[:, n:], sign * x[:, n:] >= FLAT
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
    grows = (most > 0) & (least >= GROWS * FLAT)
    for _ in range(len(grows)):  # wherever letters lead it must go on
        grows &= grows[moves].all(axis=0)
    most *= grows
    for _ in range(len(grows)):  # and sets are as long there
        for to_state in moves:
            np.maximum.at(most, to_state, most.copy())
    return BEYOND * most
