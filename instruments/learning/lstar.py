"""Learning machines from a network's answers: L* with AALpy's table, and RPNI."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from aalpy.base import SUL
from aalpy.learning_algs import run_RPNI
from aalpy.learning_algs.deterministic.CounterExampleProcessing import rs_cex_processing
from aalpy.learning_algs.deterministic.ObservationTable import ObservationTable
from aalpy.utils.HelperFunctions import extend_set

from krohn.algebra.automaton import Automaton, Output, Semiautomaton
from krohn.algebra.bisimulation import Word
from krohn.algebra.errors import KrohnError
from krohn.instruments.learning.teacher import Kind
from krohn.network.model import NOT_FINITE, TIED, name_answers
from krohn.program.word_texts import join_letters
from krohn.report import Progress
from krohn.verify.testing.counterexample import Simulator, at_once

# The answers of a network, asked in batches and remembered as a tree of prefixes.


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
        new = sorted(
            {word for word in words if self._answered_length(word) < len(word)}
        )
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
        """The answers after each letter; for the empty word, the answer before letters."""
        self.ask([word])
        if not word:
            return [self.before]
        node, answers = 0, []
        for letter in word:
            node = self._after[node][letter]
            answers.append(self._said[node])
        return answers

    def _answered_length(self, word: Word) -> int:
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
        answers = name_answers(logits.flatten(0, 1), self.model.classes)
        for i, word in enumerate(words):
            self._note(word, answers[i * length : i * length + len(word)])

    def _note(self, word: Word, answers: Sequence[str]) -> None:
        node = 0
        for at, (letter, answer) in enumerate(zip(word, answers, strict=True), 1):
            if answer in (TIED, NOT_FINITE):
                shown = join_letters([self.model.letters[a] for a in word[:at]])
                raise KrohnError(f"the network gives no answer to {shown}: {answer}")
            if letter not in self._after[node]:
                self._after[node][letter] = len(self._said)
                self._after.append({})
                self._said.append(answer)
            node = self._after[node][letter]

    # AALpy would step through words by these; here they are asked whole.

    def pre(self) -> None:
        """Begin a word."""

    def post(self) -> None:
        """End it."""

    def step(self, letter: int | None) -> str:
        """Read one more letter."""
        raise NotImplementedError


# Learning machines from answers: L* with AALpy's observation table, and RPNI.
#
# Angluin (1987) for L*; Rivest and Schapire (1993) for what a wrong word teaches; Oncina
# and Garcia (1992) for RPNI.


@dataclass(frozen=True)
class Guess:
    """A machine that agrees with all answers so far.

    Attributes:
        machine: The machine; a state is called by a word that leads to it.
        access: Words to all states.
        suffixes: Words that tell any two states apart; none if they are not known.
    """

    machine: Automaton
    access: tuple[Word, ...] = ()
    suffixes: tuple[Word, ...] = ()


@dataclass(frozen=True)
class Last:
    """The last guess that was looked at.

    Attributes:
        guess: It.
        wrong: A word on which the network differs from it; None if none was found.
        rounds: How many guesses there were.
        spent: Why there is no better guess although a word is wrong; None if there was
            no need of one, or this method makes one guess only.
    """

    guess: Guess
    wrong: Word | None
    rounds: int
    spent: str | None = None


class Table(ObservationTable):  # type: ignore[misc]
    """AALpy's table, which asks for all its words at once before it reads them."""

    def update_obs_table(
        self, s_set: list[Word] | None = None, e_set: list[Word] | None = None
    ) -> None:
        """Fill in what is missing of some rows and columns."""
        rows = s_set or [*self.S, *self.s_dot_a()]
        self.sul.ask(s + e for s in rows for e in e_set or self.E)
        super().update_obs_table(list(rows), e_set)

    def close(self) -> None:
        """Add rows until each letter leads from a row to a row."""
        while rows := self.get_rows_to_close("shortest_first"):
            self.S.extend(rows)
            self.update_obs_table([row + a for row in rows for a in self.A])


def lstar(
    answers: Answers,
    kind: Kind,
    differs: Callable[[Guess], Word | None],
    progress: Progress,
) -> Last:
    """The machine that L* finds.

    Args:
        answers: The network.
        kind: Whether states or transitions show what is said.
        differs: Finds a word on which the network differs from a guess.
        progress: Told how many words were asked.

    Raises:
        KrohnError: If too few words may be asked for a first guess.
    """
    table = Table(list(range(len(answers.model.letters))), answers, kind, True)
    last: Last | None = None
    try:
        table.update_obs_table()
        while last is None or last.wrong is not None:
            table.close()
            hypothesis = table.gen_hypothesis()
            progress("asking words", answers.asked, answers.most)
            if (
                last is None
                or last.wrong is None
                or _explains_answer(answers, hypothesis, last)
            ):
                guess = Guess(
                    _machine(hypothesis, answers), tuple(table.S), tuple(table.E)
                )
                rounds = 1 if last is None else last.rounds + 1
                last = Last(guess, differs(guess), rounds)
            if last.wrong is not None:
                suffixes = rs_cex_processing(answers, last.wrong, hypothesis, False)
                table.update_obs_table(e_set=extend_set(table.E, suffixes))
    except Spent as reason:
        if last is None:
            raise KrohnError(f"no first guess could be made: {reason}") from None
        last = replace(last, spent=str(reason))
    return last


def _explains_answer(answers: Answers, found: Any, last: Last) -> bool:
    """Whether a guess says of the word that was wrong what the network says."""
    word = last.wrong
    assert word is not None
    outputs = found.execute_sequence(found.initial_state, word)
    return bool(outputs[-1] == answers.query(word)[-1])


def rpni(
    answers: Answers,
    kind: Kind,
    words: Sequence[Word],
    differs: Callable[[Guess], Word | None],
) -> Last:
    """The machine that RPNI makes of words with their answers.

    A letter on which no word tells where it leads stays where it is.

    Raises:
        KrohnError: If they are more words than may be asked.
    """
    try:
        answers.ask(words)
    except Spent as reason:
        raise KrohnError(f"no words could be read: {reason}") from None
    prefixes = sorted({word[:n] for word in words for n in range(len(word) + 1)})
    examples = [(w, answers.query(w)[-1]) for w in prefixes if w or kind == "moore"]
    hypothesis = run_RPNI(
        examples, kind, input_completeness="self_loop", print_info=False
    )
    guess = Guess(_machine(hypothesis, answers))
    return Last(guess, differs(guess), 1)


def _machine(found: Any, answers: Answers) -> Automaton:
    """A machine of AALpy, its states in breadth-first order."""
    letters = range(len(answers.model.letters))
    words: dict[int, Word] = {id(found.initial_state): ()}
    queue = [found.initial_state]
    for state in queue:
        for a in letters:
            after = state.transitions[a]
            if id(after) not in words:
                words[id(after)] = (*words[id(state)], a)
                queue.append(after)
    place = {key: i for i, key in enumerate(words)}
    table = [[place[id(q.transitions[a])] for q in queue] for a in letters]
    names = [
        join_letters([answers.model.letters[a] for a in w]) for w in words.values()
    ]
    return Automaton(
        Semiautomaton(
            np.array(table, dtype=np.int64),
            tuple(answers.model.letters),
            tuple(f"[{name}]" for name in names),
        ),
        output=_output(queue, letters),
        name="learned",
    )


def _output(states: Sequence[Any], letters: range) -> Output:
    moore = hasattr(states[0], "output")
    rows = (
        [q.output for q in states]
        if moore
        else [[q.output_fun[a] for q in states] for a in letters]
    )
    shown = np.array(rows, dtype=object)
    names = tuple(dict.fromkeys(shown.flatten().tolist()))
    index = {name: i for i, name in enumerate(names)}
    table = np.vectorize(index.__getitem__, otypes=[np.int64])(shown)
    return Output("states" if moore else "transitions", table, names)
