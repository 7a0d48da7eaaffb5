"""What a hidden Markov model is, and what that means for the depth of networks."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from krohn.program.domains import FloatArray
from krohn.sources.hidden_markov.beliefs import Beliefs, reachable
from krohn.sources.hidden_markov.model import HiddenMarkovModel

MOST_STEPS = 2**22
"""How many states of how many supports are looked at before a property stays open."""
Support = int
"""A set of states as the bits of a number."""


@dataclass(frozen=True, eq=False)
class Structure:
    """What can be read off the operators of a model, exactly.

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
            found = {letter.image(support) for letter in letters} - seen - {0}
            seen |= found
            waiting.extend(found)
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

    @property
    def _most(self) -> int:
        """How many supports, or pairs of them, are looked at."""
        return MOST_STEPS // (self.model.size * len(self.model.letters))


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
