"""The words on which an export is held against the network that it was made from."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import KrohnError
from krohn.algebra.semiautomaton import Semiautomaton
from krohn.algebra.shown import Shows
from krohn.machine_verification import LONGEST_SAMPLE, SCORES
from krohn.network.exports import Destination
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.source_kinds import of_file
from krohn.source_kinds.kind import Whole
from krohn.verification_target import DEFAULT_SAMPLE_LENGTH
from krohn.verify.testing.counterexample import Counterexample, at_once, differs
from krohn.verify.testing.sampling import sample
from krohn.verify.testing.simulation_result import Progress

WORDS = 10_000
"""So many words are run, fewer where a head would have more than `SCORES` scores."""
Against = Literal["the machine", "the source", "the network", "nothing"]
ALIKE = ("as the file", "otherwise")


@dataclass(frozen=True)
class Ran:
    """Words that were run, with no wrong answer among them.

    Attributes:
        words: How many.
        length: Of how many letters the longest are.
        deviation: By how much a logit differs at most from that of the Krohn network in
            the same format, after every letter.
        against: What answers were held against: the machine; the text of a dynamic
            program; the network of the file, where each of its words has an answer;
            or nothing, where outputs are numbers or only some words are texts.
    """

    words: int
    length: int
    deviation: float
    against: Against


def run(
    file: ModelFile,
    home: Destination,
    place: Path,
    count: int | None,
    seed: int,
    progress: Progress,
) -> Ran:
    """Read an export back and run words through it and through the network of the file.

    Raises:
        KrohnError: If an answer is wrong, or logits are numbers on one side only.
    """
    beside = Beside(Model(file), home.open(place))
    kind, rng = of_file(file), np.random.default_rng(seed)
    if (inputs := kind.whole(file, partial(_many, count=count), rng)) is not None:
        return _whole(inputs, beside, home, progress)
    longest = beside.longest or DEFAULT_SAMPLE_LENGTH
    longest = min(longest, LONGEST_SAMPLE)
    machine, judge, against = _judge(file, beside)
    words = _many(longest, count)
    done = sample(judge, machine, words, longest, seed, progress)
    _check(home, done.counterexample, beside)
    return Ran(done.words, done.length, beside.deviation, against)


class Beside:
    """A network of a file, and what an export of it says: a `Simulator` of the latter.

    Attributes:
        deviation: By how much two logits differed most so far.
    """

    shows: Shows
    letters: tuple[str, ...]
    classes: tuple[str, ...]

    def __init__(self, model: Model, logits: Callable[[Tensor], Tensor]) -> None:
        self.model, self.logits, self.deviation = model, logits, 0.0
        self.letters, self.classes = model.letters, model.classes
        self.longest, self.device = model.longest, model.device
        self.shows = model.shows

    def __call__(self, tokens: Tensor) -> Tensor:
        """Logits of the export ``(count, length, classes)``."""
        return self.both(tokens)[1]

    def both(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Logits of the network and of the export, each ``(count, length, classes)``.

        Raises:
            KrohnError: If they do not have the same shape.
        """
        with torch.inference_mode():
            ours, theirs = self.model(tokens), self.logits(tokens)
        if ours.shape != theirs.shape:
            raise KrohnError("what was exported does not answer after every letter")
        apart = (ours.double() - theirs.double()).abs()
        apart[(ours == theirs) | (ours.isnan() & theirs.isnan())] = 0.0
        self.deviation = max(self.deviation, float(apart.nan_to_num(torch.inf).max()))
        return ours, theirs


class _Alike:
    """Whether an export answers as the network of its file does, as a `Simulator`.

    Where nothing is chosen among the outputs, they are only compared as numbers.
    """

    shows: Shows = "states"
    classes = ALIKE

    def __init__(self, beside: Beside, chooses: bool) -> None:
        self.beside, self.chooses = beside, chooses
        self.letters, self.longest = beside.letters, beside.longest
        self.device = beside.device

    def __call__(self, tokens: Tensor) -> Tensor:
        """By how much the class that the network chooses leads ``(count, length, 2)``."""
        ours, theirs = self.beside.both(tokens)
        if not self.chooses:
            return torch.eye(2)[0].expand(*tokens.shape, 2)
        chosen = ours.argmax(dim=-1, keepdim=True)
        others = theirs.scatter(-1, chosen, -torch.inf).amax(dim=-1, keepdim=True)
        return torch.cat([theirs.gather(-1, chosen), others], dim=-1)


def _judge(
    file: ModelFile, beside: Beside
) -> tuple[Automaton, "Beside | _Alike", Against]:
    """What answers are held against, who gives them, and what that is called."""
    kind = of_file(file)
    if (machine := kind.stated_machine(file)) is not None:
        return machine, beside, "the machine"
    chooses = kind.claim == "exact"
    still = Semiautomaton(
        np.zeros((len(beside.letters), 1), dtype=np.int64), beside.letters, ALIKE[:1]
    )
    against: Against = "the network" if chooses else "nothing"
    return Automaton(still, name="the file"), _Alike(beside, chooses), against


def _many(length: int, count: int | None) -> int:
    """How many words are run, of so many letters; as many as asked for."""
    return count or max(4, min(WORDS, SCORES // length**2))


def _batches(words: int, length: int, progress: Progress) -> Iterator[slice]:
    """As many words at once as fit."""
    batch = at_once(length)
    for first in range(0, words, batch):
        yield slice(first, first + batch)
        progress(min(words, first + batch), words)


def _whole(inputs: Whole, beside: Beside, home: Destination, progress: Progress) -> Ran:
    """Inputs of one form; where something follows, each token is to be what follows."""
    start, words = inputs.told, inputs.count
    for rows in _batches(words, inputs.length, progress):
        texts = inputs.rows(rows)
        if start is None:
            beside(torch.from_numpy(texts))
            continue
        logits = beside(torch.from_numpy(texts[:, :-1]))[:, start - 1 :]
        wrong = differs(logits, torch.from_numpy(texts[:, start:]))
        if wrong is not None:
            row = texts[int(wrong.any(dim=1).int().argmax())]
            shown = " ".join(inputs.tokens[token] for token in row[:start])
            raise KrohnError(f"{home.title} writes another text after {shown}")
    _check(home, None, beside)
    against: Against = "nothing" if start is None else "the source"
    return Ran(words, inputs.length, beside.deviation, against)


def _check(home: Destination, wrong: Counterexample | None, beside: Beside) -> None:
    if wrong is not None:
        raise KrohnError(
            f"{home.title} answers {wrong.actual[-1]} after {' '.join(wrong.word)}, which "
            f"leads to {wrong.expected[-1]}, so nothing was written; logits differ by "
            f"{beside.deviation:.3g}"
        )
    if not np.isfinite(beside.deviation):
        raise KrohnError(
            f"a logit is finite in only one of the file and {home.title}, so nothing "
            "was written"
        )
