"""Whole small networks: does the ideal network give the machine's answers?

All words of up to N letters are one question for each length. The claim is about the
*ideal* network: its weights as rational numbers, no rounding, and hard attention.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import z3

from krohn.algebra.automaton import Automaton
from krohn.algebra.minimisation import Shown, output_classes
from krohn.instruments.smt.encoding import (
    Vector,
    Words,
    encode,
)
from krohn.instruments.smt.gadgets import (
    Answer,
    Limits,
    ask,
    solver,
)
from krohn.network.meaning.arrays import whole
from krohn.network.meaning.net import Net
from krohn.network.meaning.rationals import (
    IdealRationals,
    Looking,
    Rationals,
    Scores,
    exact,
    first,
)
from krohn.network.modelfile import ModelFile
from krohn.program import MarkedSum, PrefixSum
from krohn.program.architectures.transformer import Transformer
from krohn.program.attention import Sight, Softmax, Sparse
from krohn.program.block_kinds import BlockKinds
from krohn.program.errors import told_as
from krohn.verify.errors import Rejected

Progress = Callable[[int, int], None]
ADD_UP = (PrefixSum.wire, MarkedSum.wire)


BLOCKS = BlockKinds("SMT", (Softmax, Sparse), (Sight.CAUSAL, Sight.WHOLE))
"""The ideal network chooses one of the positions that a head sees, and has ReLUs."""


@dataclass(frozen=True)
class Decision:
    """The decision about an ideal network.

    Attributes:
        verdict: ``verified``: it is right on all words of up to ``length`` letters.
            ``refuted``: it is wrong after a letter of ``word``, which was replayed in
            fractions. ``undecided``: the solver gave up, for ``reason``.
        length: The longest word that was decided.
        reason: Why it is undecided.
        word: Letter indices; no shorter word is wrong.
        least: Whether no wrong word of its length comes before it either.
        expected: The machine's class after each letter of the word.
        said: The class that the network says after each letter; where another logit is
            not less than the right one's, the class with the largest of the others.
        seconds: How long it took.
    """

    verdict: Literal["verified", "refuted", "undecided"]
    length: int
    reason: str = ""
    word: tuple[int, ...] = ()
    least: bool = False
    expected: tuple[int, ...] = ()
    said: tuple[int, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True)
class Question:
    """A network and a machine on all words of a length.

    Attributes:
        net: The network in fractions.
        machine: Its letters are in the order of the file.
        classes: What its states show.
        letters: For each position from 1 on, the condition of every letter.
        words: For each length from 1 on, the network as terms.
        wrong: For each length, the condition that the network is wrong.
    """

    net: Net[Rationals]
    machine: Automaton
    classes: Shown
    letters: list[list[Any]]
    words: list[Words]
    wrong: list[Any]

    def smt_lib(self) -> str:
        """The question as SMT-LIB 2: ``unsat`` says that the network is right."""
        conditions = [c for each in self.words for c in each.assumed]
        asked, goal = z3.Solver(), z3.Goal()
        for one in (asked, goal):
            one.add(*conditions, z3.Or(self.wrong))
        logic = "QF_LRA" if z3.Probe("is-qflra")(goal) else "QF_NRA"
        return f"(set-logic {logic})\n{asked.to_smt2()}"

    def decide(
        self, limits: Limits | None = None, progress: Progress | None = None
    ) -> Decision:
        """Ask for a wrong answer after each number of letters, the fewest first.

        Raises:
            Rejected: If the solver's model is no counterexample in fractions.
        """
        began, limits = time.monotonic(), limits or Limits()
        asked = solver(limits)
        decision = Decision("verified", len(self.wrong))
        for t, wrong in enumerate(self.wrong, start=1):
            asked.add(*self.words[t - 1].assumed)
            answer = ask(asked, [wrong], limits)
            if answer.outcome == "unknown":
                decision = Decision("undecided", t - 1, answer.reason)
                break
            if answer.outcome == "sat":
                answer, least = self._least(asked, answer, t, limits)
                decision = replace(self._refutation(answer, t), least=least)
                break
            if progress is not None:
                progress(t, len(self.wrong))
        return replace(decision, seconds=time.monotonic() - began)

    def _least(
        self, asked: Any, answer: Answer, length: int, limits: Limits
    ) -> tuple[Answer, bool]:
        """The first wrong word of a length, by asking for earlier letters one by one.

        Returns:
            An answer, and whether it is that word: not if the solver gives up.
        """
        taken = [self.wrong[length - 1]]
        for options in self.letters[:length]:
            for earlier in options[: _first(answer, options)]:
                other = ask(asked, [*taken, earlier], limits)
                if other.outcome == "unknown":
                    return answer, False
                if other.outcome == "sat":
                    answer = other
                    break
            taken.append(options[_first(answer, options)])
        return answer, True

    def _refutation(self, answer: Answer, length: int) -> Decision:
        word = tuple(_first(answer, options) for options in self.letters[:length])
        states = self.machine.semiautomaton.trace([list(word)], self.machine.start)[0]
        expected = tuple(int(self.classes.of[q]) for q in states)
        logits = self._replay(answer, word)
        actual = tuple(map(_choose_class, logits, expected))
        if actual == expected:
            raise Rejected("the solver's word is not wrong in fractions")
        return Decision("refuted", length, word=word, expected=expected, said=actual)

    def _replay(self, answer: Answer, word: Sequence[int]) -> Rationals:
        """The logits ``(time, classes)``, by the choices that the solver made."""
        choices = self.words[len(word) - 1].choices

        def choose(looking: Looking, scores: Scores) -> int:
            options = choices.get(looking)
            if options is None:
                return first(looking, scores)
            return next(j for j, taken in options.items() if answer.holds(taken))

        with told_as(Rejected):
            (logits,) = whole(self.net, IdealRationals(choose), np.array([word]))
        return np.asarray(logits)


def _choose_class(logits: Rationals, right: int) -> int:
    """The right class if its logit is the largest, else the largest of the others."""
    others = [c for c in range(len(logits)) if c != right]
    rival = max(others, key=lambda c: logits[c], default=right)
    return right if right < len(logits) and logits[right] > logits[rival] else rival


def _first(answer: Answer, conditions: Sequence[Any]) -> int:
    return [answer.holds(c) for c in conditions].index(True)


def question(file: ModelFile, machine: Automaton, length: int) -> Question:
    """The question whether an ideal network computes a machine on words up to a length.

    Args:
        file: A Transformer with ReLUs and heads that select.
        machine: Its letters must be the file's, in the same order; its states, or
            its outputs if the file claims to say these, are matched with the logits.
        length: The longest word.

    Raises:
        Rejected: If the file holds another kind of network.
    """
    _check(file, machine, length)
    classes = output_classes(machine, file.claim.shows.value)
    letters = [
        [z3.Bool(f"letter_{t}_{a}") for a in range(len(machine.letters))]
        for t in range(1, length + 1)
    ]
    with told_as(Rejected):
        net = exact(Net.of(file.architecture, file.tensors), length)
        words = encode(net, letters)
    states = _states(machine, letters)
    wrong = [
        z3.Or([_wrong(y, states[t - 1], classes) for t, y in each.logits.items()])
        for each in words
    ]
    return Question(net, machine, classes, letters, words, wrong)


def _check(file: ModelFile, machine: Automaton, length: int) -> None:
    shape = file.architecture
    if not isinstance(shape, Transformer):
        raise Rejected("SMT decides Transformers; this file holds another network")
    if shape.vocabulary != len(machine.letters) + 1:
        raise Rejected("the file has another number of letters than the machine")
    if not 1 <= length < shape.positions:
        raise Rejected(f"the model is for words of 1 to {shape.positions - 1} letters")
    with told_as(Rejected):
        BLOCKS.check(shape)
    if _adds_up(file):
        raise Rejected(
            "a head of this network adds up, so that hard attention is another function; "
            "use --proof"
        )


def _adds_up(file: ModelFile) -> bool:
    """Whether the file says that one of its heads is no choice."""
    program = file.header.get("program")
    channels = program.get("channels") if isinstance(program, dict) else None
    listed = channels if isinstance(channels, list) else []
    return any(isinstance(c, dict) and c.get("op") in ADD_UP for c in listed)


def _states(machine: Automaton, letters: list[list[Any]]) -> list[list[Any]]:
    """For each position from 1 on, the condition that the machine is in each state."""
    states = range(len(machine.states))
    now = [z3.BoolVal(q == machine.start) for q in states]
    conditions = []
    for options in letters:
        steps: list[list[Any]] = [[] for _ in states]
        for letter, condition in enumerate(options):
            for q in states:
                to = int(machine.transitions[letter, q])
                steps[to].append(z3.And(condition, now[q]))
        now = [z3.simplify(z3.Or(ways)) for ways in steps]
        conditions.append(now)
    return conditions


def _wrong(said: Vector, state: list[Any], classes: Shown) -> Any:
    """Some other logit is at least as large as the right class's."""
    ways = []
    for q, there in enumerate(state):
        right = int(classes.of[q])
        if right >= len(said):
            ways.append(there)
            continue
        rivals = [
            z3.BoolVal(y.low >= said[right].high)
            if y.is_constant and said[right].is_constant
            else y.expression >= said[right].expression
            for c, y in enumerate(said)
            if c != right and y.high >= said[right].low
        ]
        ways.append(z3.And(there, z3.Or(rivals)))
    return z3.Or(ways)
