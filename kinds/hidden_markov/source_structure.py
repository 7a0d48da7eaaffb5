"""Facts about a hidden Markov model: structure, mixing time, assumptions of theorems."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations

import numpy as np

from krohn.kinds.hidden_markov.source import randomise_actions
from krohn.kinds.hidden_markov.source_beliefs import (
    Beliefs,
    reachable,
)
from krohn.kinds.hidden_markov.source_model import HiddenMarkovModel
from krohn.program.domains import BoolArray, FloatArray, IntArray
from krohn.program.errors import demand

# What a hidden Markov model is, and what that means for the depth of networks.


MOST_STEPS = 2**22
"""How many states of how many supports are looked at before a property stays open."""
Support = int
"""A set of states as the bits of a number."""


@dataclass(frozen=True, eq=False)
class Structure:
    """Facts that the operators of a model decide, exactly.

    Attributes:
        model: The model.
    """

    model: HiddenMarkovModel

    @cached_property
    def driven(self) -> bool:
        """Whether letters are chosen: then a word has no probability of its own."""
        return self.model.actions is not None

    @cached_property
    def linear(self) -> bool:
        """Whether letters say nothing: beliefs are products, and never normalised."""
        actions = self.model.actions
        return actions is not None and len(set(actions)) == len(actions)

    @cached_property
    def unifilar(self) -> bool:
        """Whether a state and a letter determine the next state."""
        return bool(((self.model.operators > 0).sum(axis=1) <= 1).all())

    @cached_property
    def deterministic(self) -> bool:
        """Whether it is a machine: each letter is a map of states, and the start one."""
        ones = np.isin(self.model.operators, (0, 1)).all()
        sure = (self.model.start > 0).sum() == 1
        return self.linear and self.unifilar and bool(ones and sure)

    @cached_property
    def permutation(self) -> bool:
        """Whether it is a machine whose letters permute states: nothing is forgotten."""
        onto = (self.model.operators.sum(axis=2) == 1).all()
        return self.deterministic and bool(onto)

    @cached_property
    def beliefs(self) -> Beliefs | None:
        """The machine of reachable beliefs; None if more than are looked at."""
        return reachable(self.model)

    @cached_property
    def contraction(self) -> float:
        """How much one letter shrinks the distance of two beliefs, at worst.

        Of Hilbert's projective distance: tanh(Δ/4), where Δ is the largest logarithm of
        A[i, k] A[j, l] / (A[i, l] A[j, k]) (Birkhoff 1957). 1 if a letter keeps zeros
        where others have none.
        """
        return max(_birkhoff(operator) for operator in self.model.operators)

    @cached_property
    def forgets(self) -> int | None:
        """After how many letters of any word beliefs forget where they began; or None.

        After so many letters, two starts from which the word is possible lead to beliefs
        that are 0 at the same states. So their projective distance is finite, and each
        further word of this length shrinks it by a factor below 1, the same for all words
        (Birkhoff 1957): a window of the last letters is enough for every error.
        """
        return self._forgetting[0]

    @cached_property
    def forgetting_is_open(self) -> bool:
        """Whether there were too many pairs to say if it forgets."""
        return self._forgetting[1]

    @cached_property
    def synchronises(self) -> bool | None:
        """Whether some word makes the state known, whatever it was; None if it is open."""
        letters = [_Letter(operator) for operator in self.model.operators]
        every = 2**self.model.size - 1
        seen, waiting = {every}, [every]
        while waiting and len(seen) <= self._most:
            support = waiting.pop()
            if support.bit_count() == 1:
                return True
            images = {letter.image(support) for letter in letters} - seen - {0}
            seen |= images
            waiting.extend(images)
        return None if waiting else False

    @cached_property
    def _forgetting(self) -> tuple[int | None, bool]:
        """The longest word that keeps two supports apart; and whether that is open."""
        if self.model.size > 1 and all(map(_one_support, self.model.operators)):
            return 1, False
        letters = [_Letter(operator) for operator in self.model.operators]
        singles = [1 << s for s in range(self.model.size)]
        begun = [(a, b) for a in singles for b in singles if a < b]
        edges: dict[tuple[int, int], list[tuple[int, int]]] = {}
        waiting, most = begun, self._most
        while waiting:
            pair = waiting.pop()
            if pair in edges:
                continue
            edges[pair] = list(_apart(pair, letters))
            waiting.extend(edges[pair])
            if len(edges) > most:
                return None, True
        return _longest(edges), False

    @cached_property
    def two_pasts(self) -> "TwoPasts | None":
        """Two pasts that no number of last letters tells apart; None if none is found."""
        letters = [_Letter(operator) for operator in self.model.operators]
        words = _pasts(self.model.start, letters)
        edges = {
            pair: [
                (number, (letter.image(pair[0]), letter.image(pair[1])))
                for number, letter in enumerate(letters)
            ]
            for pair in permutations(words, 2)
            if not pair[0] & pair[1]
        }
        for one, other in sorted(
            edges, key=lambda pair: len(words[pair[0]]) + len(words[pair[1]])
        ):
            again = _circle((one, other), edges)
            if again is not None:
                return TwoPasts(words[one], words[other], again)
        return None

    @property
    def _most(self) -> int:
        """How many supports, or pairs of them, are looked at."""
        return MOST_STEPS // (self.model.size * len(self.model.letters))


@dataclass(frozen=True)
class TwoPasts:
    """Two words, and a third one after which a model still knows which of them it was.

    After ``one`` and ``again``, as often as you like, and after ``other`` and the same,
    the beliefs have no state in common, and all these words are possible. So each
    function of the last letters is off by at least 1/2 in total variation from one of the
    two beliefs, however many letters it reads: the model does not forget.

    Attributes:
        one: The letters of the first past, by their numbers; it may be empty.
        other: Those of the second.
        again: Those of the word that is repeated.
    """

    one: tuple[int, ...]
    other: tuple[int, ...]
    again: tuple[int, ...]


MOST_PASTS = 200
"""Sets of states that pasts lead to, of which pairs are looked at; the nearest ones."""
Pair = tuple[Support, Support]


def _pasts(
    start: FloatArray, letters: "list[_Letter]"
) -> dict[Support, tuple[int, ...]]:
    """The sets of states after words, each with a shortest word; no more than some."""
    first = sum(1 << s for s in np.flatnonzero(start).tolist())
    words, queue = dict[Support, tuple[int, ...]]({first: ()}), [first]
    for support in queue:
        for number, letter in enumerate(letters):
            after = letter.image(support)
            if after and after not in words and len(words) < MOST_PASTS:
                words[after] = (*words[support], number)
                queue.append(after)
    return words


def _circle(
    start: Pair, edges: dict[Pair, list[tuple[int, Pair]]]
) -> tuple[int, ...] | None:
    """A shortest word that leads from a pair of sets to itself; None if there is none."""
    words, queue = dict[Pair, tuple[int, ...]]({start: ()}), [start]
    for pair in queue:
        for number, after in edges[pair]:
            if after == start:
                return (*words[pair], number)
            if after in edges and after not in words:
                words[after] = (*words[pair], number)
                queue.append(after)
    return None


class _Letter:
    """Where a letter leads from sets of states; each set is looked at once."""

    def __init__(self, operator: FloatArray) -> None:
        bits = [1 << s for s in range(len(operator))]
        self._columns = [
            sum(bit for bit, entry in zip(bits, column, strict=True) if entry)
            for column in (operator > 0).T.tolist()
        ]
        self._known: dict[Support, Support] = {}

    def image(self, support: Support) -> Support:
        """The states that it can lead to from some states."""
        if support not in self._known:
            after, left = 0, support
            while left:
                after |= self._columns[(left & -left).bit_length() - 1]
                left &= left - 1
            self._known[support] = after
        return self._known[support]


def _apart(
    pair: tuple[Support, Support], letters: list[_Letter]
) -> Iterable[tuple[Support, Support]]:
    """The pairs that a letter leads to, both possible and not the same."""
    for letter in letters:
        one, other = letter.image(pair[0]), letter.image(pair[1])
        if one and other and one != other:
            yield (one, other) if one < other else (other, one)


def _longest(edges: dict[tuple[int, int], list[tuple[int, int]]]) -> int | None:
    """How many nodes the longest path of a graph has; None if there is a cycle."""
    into = dict.fromkeys(edges, 0)
    for targets in edges.values():
        for target in targets:
            into[target] += 1
    length, ready = (
        dict.fromkeys(edges, 1),
        [n for n, count in into.items() if not count],
    )
    done = 0
    while ready:
        node = ready.pop()
        done += 1
        for target in edges[node]:
            length[target] = max(length[target], length[node] + 1)
            into[target] -= 1
            if not into[target]:
                ready.append(target)
    return max(length.values(), default=0) if done == len(edges) else None


def _one_support(operator: FloatArray) -> bool:
    """Whether all columns that are not 0 are positive at the same states."""
    columns = operator[:, operator.any(axis=0)] > 0
    return bool((columns == columns[:, :1]).all())


def _birkhoff(operator: FloatArray) -> float:
    """tanh(Δ/4) of a matrix with some rows and columns of zeros."""
    rows, columns = operator.any(axis=1), operator.any(axis=0)
    kept = operator[rows][:, columns]
    if (kept == 0).any():
        return 1.0
    logs = np.log(kept)
    spreads = (np.ptp(logs - row, axis=1).max() for row in logs)
    return float(np.tanh(max(spreads, default=0.0) / 4))


# Mixing time: after how many letters it no longer matters where a model began.


NEAR = 0.1
"""Two beliefs that differ by so much in total variation are said to be mixed."""
LONGEST = 512
"""How many letters are looked at."""
NORMAL = 1.96
"""Standard errors on each side of a mean, for 95 percent."""
MOST_AT_ONCE = 2**22
"""Numbers in memory while pairs of beliefs are compared."""
MOST_WORK = 2**31
"""How many products and comparisons of probabilities are made before it is left open."""


@dataclass(frozen=True, eq=False)
class MixingTime:
    """The mixing time of a model, estimated from random words.

    T_mix is the least t with E max TV(Pr(S_t | o_1 … o_t, μ), Pr(S_t | o_1 … o_t, ν)) at
    most `NEAR`; the expectation is over words, the maximum over priors μ and ν
    (Hu et al. 2024, A.2). The maximum is exact: a posterior is linear-fractional in the
    prior, so the largest distance is between two known states. Only words are sampled.

    Attributes:
        distances: ``(t,)``: the mean of the maximum after 1, 2, … letters.
        errors: ``(t,)``: its standard error.
        samples: How many words there were.
    """

    distances: FloatArray
    errors: FloatArray
    samples: int

    @property
    def time(self) -> int | None:
        """The estimate; None if it is not reached."""
        return _first(self.distances)

    @property
    def interval(self) -> tuple[int | None, int | None]:
        """The times at which an end of the mean's interval of 95 percent is near enough.

        None stands for a time beyond all that were looked at.
        """
        margin = NORMAL * self.errors
        return _first(self.distances - margin), _first(self.distances + margin)

    def cap_time(self, length: int) -> tuple[int, bool]:
        """The time in words of a length, and whether that is where it was cut."""
        steps = self.time
        return (length, True) if steps is None or steps > length else (steps, False)


def _first(distances: FloatArray) -> int | None:
    near = np.flatnonzero(distances <= NEAR)
    return int(near[0]) + 1 if len(near) else None


def mixing_time(
    model: HiddenMarkovModel,
    samples: int = 2000,
    seed: int = 0,
    longest: int = LONGEST,
    work: int = MOST_WORK,
) -> MixingTime:
    """Estimate it; actions, if there are any, are uniform.

    States that nothing leads to are no priors but for the start's own.

    Args:
        model: The model.
        samples: How many words.
        seed: Of the words.
        longest: Stop after so many letters.
        work: Stop after so many products of numbers.

    Raises:
        Refused: If there are no words or letters.
    """
    demand(
        samples > 1 and longest > 0,
        "a mixing time needs two words of at least one letter",
    )
    entered = model.operators.any(axis=(0, 2)) | (model.start > 0)
    priors = np.flatnonzero(entered)
    unifilar = bool(((model.operators > 0).sum(axis=1) <= 1).all())
    each = samples * len(priors) * (1 if unifilar else model.size * len(priors))
    longest = max(1, min(longest, work // each))
    words = model.sample(samples, longest, np.random.default_rng(seed))[0]
    distances = _of_states if unifilar else _of_beliefs
    means, errors = list[float](), list[float]()
    for farthest in distances(model, priors, words):
        means.append(float(farthest.mean()))
        errors.append(float(farthest.std(ddof=1)) / samples**0.5)
        if means[-1] + NORMAL * errors[-1] <= NEAR:
            break
    return MixingTime(np.array(means), np.array(errors), samples)


def _of_states(
    model: HiddenMarkovModel, priors: IntArray, words: IntArray
) -> Iterator[FloatArray]:
    """The largest distances after each letter, where known states stay known: 0 or 1."""
    moves = np.where(model.operators.any(axis=1), model.operators.argmax(axis=1), -1)
    moves = np.pad(
        moves, ((0, 0), (0, 1)), constant_values=-1
    )  # what is impossible stays
    states = np.broadcast_to(priors, (len(words), len(priors)))
    for letters in words.T:
        states = moves[letters[:, None], states]
        least = np.where(states < 0, model.size, states).min(axis=1)
        yield (states.max(axis=1) > least).astype(np.float64)


def _of_beliefs(
    model: HiddenMarkovModel, priors: IntArray, words: IntArray
) -> Iterator[FloatArray]:
    """The largest distances after each letter; impossible beliefs are columns of 0."""
    first = np.eye(model.size)[:, priors]
    columns = np.broadcast_to(first, (len(words), *first.shape))
    for letters in words.T:
        joint = model.operators[letters] @ columns
        total = joint.sum(axis=1, keepdims=True)
        columns = np.divide(joint, total, out=np.zeros_like(joint), where=total > 0)
        yield _farthest(columns)


def _farthest(columns: FloatArray) -> FloatArray:
    """``(batch,)``: the largest total variation between two columns that are beliefs."""
    batch, size, priors = columns.shape
    possible: BoolArray = np.asarray(columns.any(axis=1))
    distances = np.zeros(batch)
    step = max(1, MOST_AT_ONCE // (size * priors))
    for first in range(priors - 1):
        for at in range(0, batch, step):
            part = slice(at, at + step)
            one, others = columns[part, :, first, None], columns[part, :, first + 1 :]
            apart = np.abs(one - others).sum(axis=1) / 2
            both = possible[part, first, None] & possible[part, first + 1 :]
            here = np.where(both, apart, 0).max(axis=1)
            distances[part] = np.maximum(distances[part], here)
    return distances


# What theorems about learning hidden Markov models in context assume, as numbers.
#
# The names A1, A2 and A4 are those of Hao et al. 2025. A1: transitions have a low rank.
# A2 and A4: what is said in one step, or in M steps, tells laws of the state apart.
# (A3, of which `benchmarks/model_memory.py` has the numbers: histories vary in all
# directions.)


MOST_NUMBERS = 2**22
"""Entries of the laws of all words that are listed at once."""
SAME = 1e-12
"""Up to this a letter's law is said to be the same from all states that lead to one."""


def rank(model: HiddenMarkovModel) -> int:
    """A1: the rank of the transitions, d in Pr(s' | s) = ⟨μ(s'), φ(s)⟩."""
    return int(np.linalg.matrix_rank(randomise_actions(model).operators.sum(axis=0)))


def emissions(model: HiddenMarkovModel) -> FloatArray | None:
    """``(letters, n)``: Pr(o | s) of the letter with which s is entered.

    None if it depends on the state before too: then letters are on edges only. From a
    state that is never entered all letters are said to be as likely.
    """
    operators = randomise_actions(model).operators
    step = operators.sum(axis=0)
    entered = step.sum(axis=1)
    shares = np.divide(
        operators.sum(axis=2),
        entered,
        out=np.full(operators.shape[:2], 1 / len(operators)),
        where=entered > 0,
    )
    off = np.abs(shares[:, :, None] * step - operators).max()
    return shares if off <= SAME else None


def observation_operator(model: HiddenMarkovModel, steps: int = 1) -> FloatArray:
    """``(letters^M, n)``: the law of M letters given the state, the M-step operator.

    The first letter is the one with which the state is entered, if that is all it depends
    on, as the paper has it: column s is the law of o_t, …, o_{t+M−1} given s_t = s. For
    other models it is the first letter after the state.

    Args:
        model: The model.
        steps: M.

    Raises:
        Refused: If there are too many words of M letters, or M is no number of letters.
    """
    demand(steps > 0, "an M-step operator needs at least one step")
    letters = len(model.letters)
    few = letters ** min(steps, 64) * model.size <= MOST_NUMBERS
    demand(few, f"{letters}^{steps} words are too many to be listed")
    operators, own = randomise_actions(model).operators, emissions(model)
    later = np.ones((1, model.size))  # of each word, the probability from each state
    for _ in range(steps if own is None else steps - 1):
        later = np.einsum("wt,ots->ows", later, operators).reshape(-1, model.size)
    if own is None:
        return later
    law: FloatArray = (own[:, None] * later).reshape(-1, model.size)
    return law
