"""What a network answers, asked in batches and remembered as a tree of prefixes."""

from collections.abc import Iterable, Sequence

import numpy as np
import torch
from aalpy.base import SUL

from krohn.algebra.errors import KrohnError
from krohn.network.model import NOT_FINITE, TIED, said
from krohn.verify.testing.counterexample import at_once
from krohn.verify.testing.simulator import Simulator

Word = tuple[int, ...]


class Spent(Exception):
    """A word was to be asked that may not be, or cannot be read; it says which."""


class Answers(SUL):  # type: ignore[misc]
    """A causal network as the teacher of membership queries of AALpy.

    A run of a word answers all its prefixes. Many words are asked side by side, shorter
    ones filled up: no answer sees what comes later.

    Attributes:
        before: What is said before the first letter.
        asked: How many words were run.
        longest: The longest of them.
    """

    def __init__(self, model: Simulator, before: str, most: int) -> None:
        """Ask nothing yet.

        Args:
            model: The network.
            before: What is taken for its answer to the empty word.
            most: How many words may be run.
        """
        super().__init__()
        self.model, self.before, self.most = model, before, most
        self.asked = self.longest = 0
        self._after: list[dict[int, int]] = [{}]
        self._said = [before]

    def ask(self, words: Iterable[Word]) -> None:
        """Run those words of which an answer is missing.

        Raises:
            Spent: If they are more than may be run, or longer than what can be read.
            KrohnError: If the network gives no answer.
        """
        new = sorted({word for word in words if self._known(word) < len(word)})
        # In this order a word stands right before those that go on from it.
        ends = [
            w for w, v in zip(new, [*new[1:], ()], strict=False) if v[: len(w)] != w
        ]
        if self.asked + len(ends) > self.most:
            raise Spent(f"the learner needed more than {self.most:,} words (--queries)")
        ends.sort(key=len)
        while ends:
            length = len(ends[-1])
            self._check(length)
            batch, ends = ends[-at_once(length) :], ends[: -at_once(length)]
            self._run(batch, length)
            self.asked += len(batch)
            self.longest = max(self.longest, length)

    def query(self, word: Word) -> list[str]:
        """What is said after each letter; of the empty word, what is said before."""
        self.ask([word])
        if not word:
            return [self.before]
        node, found = 0, []
        for letter in word:
            node = self._after[node][letter]
            found.append(self._said[node])
        return found

    def _known(self, word: Word) -> int:
        """Of how many letters the longest prefix is that was answered."""
        node = 0
        for at, letter in enumerate(word):
            if (below := self._after[node].get(letter)) is None:
                return at
            node = below
        return len(word)

    def _check(self, length: int) -> None:
        longest = self.model.longest
        if longest is not None and length > longest:
            raise Spent(
                f"a word of {length} letters was needed, and the network reads "
                f"{longest}; compile it for longer words, or learn from shorter ones "
                "(-T)"
            )

    def _run(self, words: Sequence[Word], length: int) -> None:
        tokens = np.zeros((len(words), length), dtype=np.int64)
        for row, word in zip(tokens, words, strict=True):
            row[: len(word)] = word
        with torch.inference_mode():
            logits = self.model(torch.from_numpy(tokens).to(self.model.device))
        answers = said(logits.flatten(0, 1), self.model.classes)
        for i, word in enumerate(words):
            self._note(word, answers[i * length : i * length + len(word)])

    def _note(self, word: Word, answers: Sequence[str]) -> None:
        node = 0
        for at, (letter, answer) in enumerate(zip(word, answers, strict=True), 1):
            if answer in (TIED, NOT_FINITE):
                shown = " ".join(self.model.letters[a] for a in word[:at])
                raise KrohnError(f"the network gives no answer to {shown!r}: {answer}")
            if letter not in self._after[node]:
                self._after[node][letter] = len(self._said)
                self._after.append({})
                self._said.append(answer)
            node = self._after[node][letter]

    # What AALpy asks of a system that it steps through itself.

    def pre(self) -> None:
        """Begin a word."""
        self._read: Word = ()

    def post(self) -> None:
        """End it."""

    def step(self, letter: int | None) -> str:
        """What is said after one more letter."""
        if letter is not None:
            self._read += (letter,)
        return self.query(self._read)[-1]
