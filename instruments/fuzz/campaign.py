"""Whether a network gives the same answers in whatever way it is run."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import KrohnError
from krohn.algebra.minimisation import output_classes
from krohn.algebra.wording import cut
from krohn.foreign import own_machine
from krohn.instruments.fuzz.ways import (
    ORDERS,
    TORCH,
    WHOLE,
    Rng,
    Way,
    engines,
    is_installed,
    open_ways,
)
from krohn.loading import file_of
from krohn.network import modelfile
from krohn.network.architecture import kind_of
from krohn.network.modelfile import ModelFile
from krohn.network.reading import NOT_FINITE, TIED
from krohn.report import Progress, silent
from krohn.verify.testing.counterexample import at_once
from krohn.verify.testing.sampling import draws

FEWEST, MOST = 16, 2048
"""How many words a turn has; memory may allow fewer."""
LENGTH = 64
"""The longest word of a network that is for words of every length."""
SHOWN = 3
"""How many differences of a way are kept."""
REFERENCE = TORCH, WHOLE
"""The way that all others are held against."""


@dataclass(frozen=True)
class Difference:
    """An answer that depends on the way.

    Attributes:
        engine: The engine of the way.
        way: The way.
        word: The letters, up to where the answers differ.
        reference: The answer of torch, which reads many whole words at once.
        answer: The answer by the way.
    """

    engine: str
    way: str
    word: tuple[str, ...]
    reference: str
    answer: str

    def to_object(self) -> dict[str, Any]:
        """As ``--json`` prints it."""
        return {**vars(self), "word": list(self.word)}


@dataclass(frozen=True)
class Fuzz:
    """What was run, and how many answers differed.

    Attributes:
        length: The longest words.
        answers: How many answers each way gave, by engine and way. An answer is the class
            after one letter of one word.
        different: How many of them are not those of the reference.
        wrong: How many answers of the reference are not the machine's.
        orders: In how many orders sums of a layer were taken.
        differences: The first of them of each way.
        left_out: Engines and ways that could not be run, with the reason.
    """

    length: int
    answers: Mapping[tuple[str, str], int]
    different: Mapping[tuple[str, str], int]
    wrong: int
    orders: int
    differences: tuple[Difference, ...]
    left_out: Mapping[str, str]

    @property
    def has_passed(self) -> bool:
        """Whether no answer differed, and none was wrong."""
        return not self.wrong and not any(self.different.values())

    def to_object(self) -> dict[str, Any]:
        """As ``--json`` prints it."""
        return {
            "length": self.length,
            "answers": sum(self.answers.values()),
            "different": sum(self.different.values()),
            "wrong": self.wrong,
            "orders": self.orders,
            "ways": [
                {
                    "engine": engine,
                    "way": way,
                    "answers": count,
                    "different": self.different[engine, way],
                }
                for (engine, way), count in self.answers.items()
            ],
            "differences": [each.to_object() for each in self.differences],
            "left_out": dict(self.left_out),
        }


def fuzz(
    model: object,
    answers: int = 1_000_000,
    *,
    engine: Sequence[str] = (),
    seed: int = 0,
    progress: Progress | None = None,
) -> Fuzz:
    """Run a network in many ways that differ in nothing but rounding.

    Args:
        model: A model file of a network that says classes, or what `krohn.compile`
            returns; proved or not.
        answers: How many, all ways together: a little more are given.
        engine: The engines, by their names; all that there are if none is named.
        seed: Of words, orders and sizes of batches: the same gives the same result.
        progress: Called with how many answers there are, and of how many.

    Returns:
        The counts, and the first answers of each way that differ.

    Raises:
        KrohnError: If the file cannot be read, the network says no classes of a machine,
            there is no such engine, or one that is asked for is not installed.

    Example:
        >>> import krohn
        >>> network = krohn.compile("C3", length=8)
        >>> krohn.fuzz(network, 1000, engine=["torch"]).has_passed
        True
    """
    chosen = _choose_engines(engine)
    file = file_of(model) or modelfile.read(_path(model))
    if kind_of(file.architecture).answers != "classes":
        raise KrohnError("krohn fuzz is for networks that say states or outputs")
    machine = own_machine(file)
    run = _Run(file, machine, np.random.default_rng(seed))
    with ExitStack() as until, torch.inference_mode():
        run.open(chosen, until, {*engine})
        done = 0
        for now in run.turns(answers):
            done += now
            (progress or silent)("running", min(done, answers), answers)
    return run.result()


def _path(model: object) -> str | Path:
    if not isinstance(model, str | Path):
        raise KrohnError(f"krohn.fuzz takes a model file, not {model!r}")
    return model


def _choose_engines(names: Sequence[str]) -> tuple[str, ...]:
    """The engines, torch first.

    Raises:
        KrohnError: If there is none of a name.
    """
    known = engines()
    for name in names:
        if name not in known:
            raise KrohnError(f"--engine takes {', '.join(known)}, not {name!r}")
    return tuple(name for name in known if not names or name in names)


@dataclass
class _Run:
    """A run so far.

    Attributes:
        file: The network.
        machine: The machine that it is about.
        rng: Where chance comes from.
        ways: The ways, the reference first.
    """

    file: ModelFile
    machine: Automaton
    rng: Rng
    ways: list[Way] = field(default_factory=list)
    answers: Counter[tuple[str, str]] = field(default_factory=Counter)
    different: Counter[tuple[str, str]] = field(default_factory=Counter)
    wrong: int = 0
    orders: int = 0
    differences: list[Difference] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        shown = output_classes(self.machine, self.file.claim.shows.value)
        self.shown, self.names = shown.of, (*shown.names, TIED, NOT_FINITE)
        table = self.file.tensors.get("embed.position")
        room = LENGTH if table is None else len(table) - 1
        self.length = min(self.file.claim.length or room, room)

    def open(self, chosen: Sequence[str], until: ExitStack, asked: set[str]) -> None:
        """Open all ways of engines, and try each.

        Args:
            chosen: The engines.
            until: What closes them.
            asked: Those that somebody asked for by name.

        Raises:
            KrohnError: If one of these is not installed.
        """
        (reference,) = [
            way
            for way in open_ways(self.file, TORCH, self.length, until)
            if way.key == REFERENCE
        ]
        self.ways = [reference]
        for engine in chosen:
            try:
                ways = list(open_ways(self.file, engine, self.length, until))
            except (KrohnError, ImportError) as error:
                if engine in asked and not is_installed(engine):
                    raise
                self.left_out[engine] = str(error)
                continue
            self.ways += [
                way for way in ways if way.key != REFERENCE and self._can_run(way)
            ]

    def _can_run(self, way: Way) -> bool:
        """Whether a way can be gone here; else the reason is noted."""
        word = torch.zeros((1, self.length), dtype=torch.int64)
        try:
            way.run(word, np.random.default_rng(0))
        except (KrohnError, RuntimeError, OSError) as error:
            reason = str(error).strip().partition("\n")[0].partition(". ")[0]
            self.left_out[", ".join(way.key)] = cut(reason, 120)
            return False
        return True

    def turns(self, answers: int) -> Iterator[int]:
        """Run batches of words in turn, until there are so many answers."""
        most = FEWEST  # at first every way is tried on a few words
        while answers > 0:
            short = self.rng.random() < 1 / 4
            length = (
                int(self.rng.integers(1, self.length + 1)) if short else self.length
            )
            fitting = max(FEWEST, answers // (len(self.ways) * length))
            given = self._turn(self._draw_words(min(most, fitting), length))
            most = min(at_once(self.length) * max(1, 256 // self.length), MOST)
            answers -= given
            yield given

    def _draw_words(self, count: int, length: int) -> Tensor:
        """Words ``(count, length)`` of every strategy, shuffled."""
        seed = int(self.rng.integers(2**32))
        drawn = [words for _, words in draws(self.machine, count, length, seed)]
        return torch.from_numpy(self.rng.permutation(np.concatenate(drawn)))

    def _turn(self, words: Tensor) -> int:
        """Run words in the ways that lag behind; how many answers that gave."""
        reference, *others = self.ways
        right = choose(reference.run(words, self.rng))
        trace = self.machine.semiautomaton.trace(words.numpy(), self.machine.start)
        self.wrong += int((right != torch.from_numpy(self.shown[trace])).sum())
        self.answers[REFERENCE] += right.numel()
        behind = [
            way
            for way in others
            if self.answers[way.key] < way.share * self.answers[REFERENCE]
        ]
        given = right.numel()
        for way in behind:
            said = choose(way.run(words, self.rng))
            self._compare(way, words, said, right[: len(said)])
            self.orders += way.name == ORDERS
            given += said.numel()
        return given

    def _compare(self, way: Way, words: Tensor, said: Tensor, right: Tensor) -> None:
        key = way.key
        self.answers[key] += said.numel()
        if torch.equal(said, right):
            return
        places = (said != right).nonzero().tolist()
        kept = min(self.different[key], SHOWN)
        self.different[key] += len(places)
        for row, at in places[: SHOWN - kept]:
            letters = words[row, : at + 1].tolist()
            word = tuple(self.machine.letters[letter] for letter in letters)
            both = self.names[right[row, at]], self.names[said[row, at]]
            self.differences.append(Difference(*key, word, *both))

    def result(self) -> Fuzz:
        """The counts."""
        return Fuzz(
            self.length,
            self.answers,
            self.different,
            self.wrong,
            self.orders,
            tuple(self.differences),
            self.left_out,
        )


def choose(logits: Tensor) -> Tensor:
    """The class of the largest logit of ``(batch, time, classes)``.

    The number of classes where two are the largest, and one more where a logit is not
    finite: neither is an answer.
    """
    largest, best = logits.max(dim=-1)
    count = logits.shape[-1]
    tied = (logits == largest[..., None]).sum(dim=-1) != 1
    best = torch.where(tied, count, best)
    if not bool(logits.isfinite().all()):
        best = torch.where(logits.isfinite().all(dim=-1), best, count + 1)
    return best
