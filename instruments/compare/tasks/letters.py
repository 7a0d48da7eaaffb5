"""Words drawn letter by letter, words that are given, and which are drawn by default."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton, IntArray
from krohn.algebra.errors import KrohnError, MachineError
from krohn.algebra.zoo.machines import ERROR
from krohn.algebra.zoo.samplers import Sampler, half_periodic, legal, uniform
from krohn.instruments.compare.tasks.task import Inputs

# Words whose letters are drawn one by one: uniformly, with a bias, by a count.


MARKED = "1"
"""The letter that the thesis counts (σ = 1); the last one where there is none."""


def forbids(machine: Automaton) -> bool:
    """Whether some letters are illegal somewhere: they lead to an error for good."""
    if ERROR not in machine.states:
        return False
    error = machine.states.index(ERROR)
    return bool((machine.transitions[:, error] == error).all())


def draw_letters(
    machine: Automaton,
    weights: NDArray[np.float64],
    rng: np.random.Generator,
    shape: tuple[int, int],
) -> IntArray:
    """Letters ``(count, length)`` in proportion to their weights, among legal ones.

    Where no letter of a positive weight is legal, all that are legal are alike; where
    none is legal at all, all letters are.

    Args:
        machine: The machine, which decides which letters are legal.
        weights: ``(states, letters)`` or ``(1, letters)``, not negative.
        rng: The source of chance.
        shape: Count and length.
    """
    if not forbids(machine) and len(weights) == 1:
        p = weights[0] / weights[0].sum()
        return rng.choice(len(p), size=shape, p=p).astype(np.int64)
    bounds = _bounds(machine, weights)
    words = np.empty(shape, dtype=np.int64)
    state = np.full(shape[0], machine.start)
    for t in range(shape[1]):
        words[:, t] = (rng.random((shape[0], 1)) >= bounds[state]).sum(axis=1)
        state = machine.transitions[words[:, t], state]
    return words


def _bounds(machine: Automaton, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """``(states, letters − 1)``: up to where in [0, 1) each letter but the last goes."""
    legal = np.ones((len(machine.states), len(machine.letters)))
    if forbids(machine):
        legal *= machine.transitions.T != machine.states.index(ERROR)
    legal[~legal.any(axis=1)] = 1
    wanted = legal * weights
    wanted = np.where(wanted.any(axis=1, keepdims=True), wanted, legal)
    total = wanted.cumsum(axis=1)
    return np.asarray(total[:, :-1] / total[:, -1:])


@dataclass(frozen=True)
class Uniform:
    """Every letter by itself, all equally likely, legal or not."""

    def draw(
        self, machine: Automaton, rng: np.random.Generator, count: int, length: int
    ) -> IntArray:
        """Letter indices ``(count, length)``."""
        return rng.integers(len(machine.letters), size=(count, length))

    @property
    def description(self) -> str:
        """A description in a few words."""
        return "uniform"


@dataclass(frozen=True)
class Biased:
    """One letter has a given probability; the others share the rest.

    Thesis, section 3.4.5.2.3. Where a machine forbids letters, this holds among the
    legal ones, in proportion to their probabilities.

    Attributes:
        probability: The probability of the letter.
        letter: Its name; None for ``1``, or the last letter if none has that name.

    Raises:
        KrohnError: If the probability is none.
    """

    probability: float
    letter: str | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.probability <= 1:
            raise KrohnError(
                f"a letter has a probability in [0, 1], not {self.probability}"
            )

    def draw(
        self, machine: Automaton, rng: np.random.Generator, count: int, length: int
    ) -> IntArray:
        """Letter indices ``(count, length)``.

        Raises:
            KrohnError: If the machine does not have the letter, or no other one.
        """
        at = marked_letter(machine, self.letter)
        rest = (1 - self.probability) / (len(machine.letters) - 1)
        weights = np.full((1, len(machine.letters)), rest)
        weights[0, at] = self.probability
        return draw_letters(machine, weights, rng, (count, length))

    @property
    def description(self) -> str:
        """A description in a few words."""
        return f"Pr[{self.letter or MARKED}] = {self.probability:g}"


@dataclass(frozen=True)
class Counted:
    """One letter occurs an exact number of times, at uniformly drawn places.

    The other letters are uniform (thesis, section 3.4.5.2.3, Figure 3.8 right).

    Attributes:
        times: How often it occurs.
        letter: Its name; None for ``1``, or the last letter if none has that name.

    Raises:
        KrohnError: If the number is negative.
    """

    times: int
    letter: str | None = None

    def __post_init__(self) -> None:
        if self.times < 0:
            raise KrohnError(f"a letter occurs at least 0 times, not {self.times}")

    def draw(
        self, machine: Automaton, rng: np.random.Generator, count: int, length: int
    ) -> IntArray:
        """Letter indices ``(count, length)``.

        Raises:
            KrohnError: If the words are too short, the machine does not have the letter
                or no other one, or it forbids letters, so that places are not free.
        """
        at = marked_letter(machine, self.letter)
        if self.times > length:
            raise KrohnError(
                f"{length} letters cannot hold a letter {self.times} times"
            )
        if forbids(machine):
            raise KrohnError(
                f"{machine.name} forbids letters, so that their places are not free; "
                "measure it by bias instead"
            )
        others = rng.integers(len(machine.letters) - 1, size=(count, length))
        others += others >= at
        order = rng.permuted(np.tile(np.arange(length), (count, 1)), axis=1)
        return np.where(order < self.times, at, others)

    @property
    def description(self) -> str:
        """A description in a few words."""
        return f"{self.letter or MARKED} exactly {self.times} times"


def marked_letter(machine: Automaton, letter: str | None) -> int:
    """The index of the letter that is counted or preferred.

    Raises:
        KrohnError: If the machine does not have it, or no other one.
    """
    if len(machine.letters) < 2:
        raise KrohnError(f"{machine.name} has one letter only: no bias or count of it")
    if letter is None:
        letter = MARKED if MARKED in machine.letters else machine.letters[-1]
    if letter not in machine.letters:
        raise KrohnError(f"{machine.name} has no letter {letter!r} to prefer or count")
    return machine.letters.index(letter)


# Words that are given, or nearly so.


@dataclass(frozen=True)
class Abab:
    """The word ababab…, always or half of the time (thesis, section 3.4.5.2.1).

    Attributes:
        always: Distribution (1) of the thesis, which positions alone can solve; else
            (2), where the other half of the words is uniform.
    """

    always: bool = False

    def draw(
        self, machine: Automaton, rng: np.random.Generator, count: int, length: int
    ) -> IntArray:
        """Letter indices ``(count, length)``.

        Raises:
            KrohnError: If the machine does not have two letters.
        """
        if len(machine.letters) != 2:
            raise KrohnError(f"{machine.name} has no two letters to take turns")
        if self.always:
            return np.tile(np.arange(length) % 2, (count, 1))
        return half_periodic(machine)(rng, count, length)

    @property
    def description(self) -> str:
        """A description in a few words."""
        return "ababab…" if self.always else "ababab… or uniform"


@dataclass(frozen=True)
class Given:
    """Words of a list, drawn with replacement; words that are too long are cut.

    Attributes:
        words: The names of their letters.

    Raises:
        KrohnError: If there are none.
    """

    words: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        if not self.words:
            raise KrohnError("a list of given words must have a word")

    def draw(
        self, machine: Automaton, rng: np.random.Generator, count: int, length: int
    ) -> IntArray:
        """Letter indices ``(count, length)``.

        Raises:
            KrohnError: If a word is shorter than that, or has an unknown letter.
        """
        shortest = min(map(len, self.words))
        if shortest < length:
            raise KrohnError(
                f"a given word has {shortest} letters; draw words of no more than that"
            )
        encode = machine.semiautomaton.encode
        words = np.stack([encode(word[:length]) for word in self.words])
        return words[rng.integers(len(words), size=count)]

    @property
    def description(self) -> str:
        """A description in a few words."""
        return f"{len(self.words)} given words"


# The words that a machine is trained on unless other ones are named.


@dataclass(frozen=True)
class Default:
    """A machine's own words, as the thesis draws them (section 3.4.5.1.1).

    Machines of the zoo, with or without an observation, have a sampler. Others get
    uniform letters: the legal ones where illegal ones lead to an error, else all.
    """

    def draw(
        self, machine: Automaton, rng: np.random.Generator, count: int, length: int
    ) -> IntArray:
        """Letter indices ``(count, length)``."""
        return _sampler(machine)(rng, count, length)

    @property
    def description(self) -> str:
        """A description in a few words."""
        return "own words"


@dataclass(frozen=True)
class Varied:
    """Half of the words as others are; half with runs, a bias each, and illegal letters.

    A network that is to be proved must be right on these as well.

    Attributes:
        usual: How the first half is drawn.
    """

    usual: Inputs

    def draw(
        self, machine: Automaton, rng: np.random.Generator, count: int, length: int
    ) -> IntArray:
        """Letter indices ``(count, length)``."""
        from krohn.architectures.gated.find_dynamics import varied_words

        more = varied_words(machine.transitions, machine.start, count // 2, length, rng)
        usual = self.usual.draw(machine, rng, count - count // 2, length)
        return np.concatenate([usual, more])

    @property
    def description(self) -> str:
        """A description in a few words."""
        return f"{self.usual.description}; half with runs and biases of their own"


@lru_cache(maxsize=64)
def _sampler(machine: Automaton) -> Sampler:
    # An observed machine is named after its map: D8 (location).
    name = machine.name.partition(" (")[0]
    try:
        known = zoo.machine(name)
    except MachineError:
        return _usual_sampler(machine)
    same = (known.semiautomaton, known.start) == (machine.semiautomaton, machine.start)
    return zoo.sampler(name) if same else _usual_sampler(machine)


def _usual_sampler(machine: Automaton) -> Sampler:
    return legal(machine) if forbids(machine) else uniform(machine)
