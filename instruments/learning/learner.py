"""Learning the machine that a network follows, and what came of it."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import torch

from krohn.algebra import formats
from krohn.algebra.automaton import Automaton
from krohn.algebra.bisimulation import Beside, Word, beside
from krohn.algebra.errors import KrohnError
from krohn.algebra.formats import json_format
from krohn.algebra.wording import count, takes
from krohn.drawing import check_suffix, draw_machine, save as save_picture
from krohn.instruments.learning.lstar import Answers, Last, lstar, rpni
from krohn.instruments.learning.opening import (
    CompileOptions,
    open_network,
)
from krohn.instruments.learning.teacher import (
    KINDS,
    Kind,
    Parted,
    Teacher,
    make_observable_machine,
    merge_start,
)
from krohn.machine_reading import MachineKeywords, MachineReading
from krohn.machines import machine_of
from krohn.network.forward_pass import evaluation_mode
from krohn.option_rules import HELD_IN_PYTHON, refuse
from krohn.report import Progress, silent
from krohn.verify.testing.examination import (
    EXHAUSTIVE_WORDS,
    SAMPLES,
    BlackBox,
)
from krohn.verify.testing.simulation_result import BUDGET
from krohn.verify.testing.word_counts import affordable

# The result of learning a machine.


@dataclass(frozen=True)
class Learned:
    """The machine that a network follows, and how far.

    Attributes:
        machine: It. A state is called by a word that leads to it.
        network: What the network is called.
        method: How it was learned: ``"lstar"`` or ``"rpni"``.
        kind: Whether its states show what is said (``"moore"``), or its transitions.
        length: No longer word taught anything.
        right: All words of up to so many letters are as the machine says; more were run.
        queries: How many words the learner asked.
        words: How many more were run to compare.
        rounds: How many guesses there were.
        spent: Why there is no better guess although it parts within `length`; None if
            it does not, or the method makes one guess only.
        chow: If the network follows any machine of up to so many states, it is this one;
            0 if that was not asked.
        parted: Where network and machine part.
        wanted: The minimal machine that the network should follow; None if none is known.
        beside: Both side by side; None without one.
        seconds: How long it took.
    """

    machine: Automaton
    network: str
    method: str
    kind: Kind
    length: int
    right: int
    queries: int
    words: int
    rounds: int
    spent: str | None
    chow: int
    parted: Parted
    wanted: Automaton | None
    beside: Beside | None
    seconds: float = field(default=0.0, compare=False)

    @property
    def states(self) -> Mapping[str, str] | None:
        """The state of the wanted machine for each of the learned one: an isomorphism.

        None if there is no such machine, or they are not isomorphic.
        """
        return None if self.beside is None else self.beside.states

    @property
    def differs(self) -> tuple[str, ...] | None:
        """A shortest word on which the learned machine and the wanted one differ."""
        if self.beside is None or self.beside.word is None:
            return None
        return tuple(self.machine.letters[a] for a in self.beside.word)

    @property
    def verdict(self) -> str:
        """``"isomorphic"``, ``"different"``, or ``"unnamed"``: nothing to compare with."""
        if self.beside is None:
            return "unnamed"
        return "different" if self.states is None else "isomorphic"

    def __repr__(self) -> str:
        states = count(len(self.machine.states), "state")
        return f"<Learned {self.network}: {states}, {self.verdict}>"

    def to_object(self) -> dict[str, Any]:
        """As ``krohn learn --json`` prints it."""
        word = self.parted.word
        return {
            "network": self.network,
            "verdict": self.verdict,
            "method": self.method,
            "kind": self.kind,
            "states": len(self.machine.states),
            "length": self.length,
            "right": self.right,
            "queries": self.queries,
            "words": self.words,
            "rounds": self.rounds,
            "spent": self.spent,
            "chow": self.chow or None,
            "parted": word.found.to_object() if word else None,
            "shortest": word.least if word else None,
            "minimality": word.summary if word else None,
            "searched": self.parted.searched,
            "wanted": None if self.wanted is None else self.wanted.name,
            "bijection": None if self.states is None else dict(self.states),
            "differs": None if self.differs is None else list(self.differs),
            "machine": json_format.to_object(self.machine),
            "seconds": round(self.seconds, 3),
        }


def check_output(path: Path) -> None:
    """Refuse a name that says no form in which a machine is written, before it is learned.

    Raises:
        KrohnError: If it ends in no format of machines and of no picture.
    """
    if not _is_machine(path):
        try:
            check_suffix(path)
        except KrohnError as error:
            raise KrohnError(
                f"{error}; or a machine: {', '.join(formats.WRITTEN_SUFFIXES)}"
            ) from None


def save(found: Learned, path: Path) -> None:
    """Write the machine, in a format of machines or as a picture.

    Raises:
        KrohnError: If it cannot be written.
    """
    if _is_machine(path):
        formats.write(found.machine, path)
    else:
        save_picture(draw_machine(found.machine), path)


def _is_machine(path: Path) -> bool:
    plain = path.name.lower().removesuffix(".gz")
    return any(plain.endswith(suffix) for suffix in formats.WRITTEN_SUFFIXES)


# Learning the machine that a network follows (docs/instruments/learning.md).


METHODS = ("lstar", "rpni")
QUERIES = 200_000
"""How many words a learner may ask, if nothing is said."""
READ = 2_000
"""How many words RPNI reads at most to read all of some length and below."""
USUAL = 32
"""How long words are from which a machine is learned, where nothing else is said."""
CAUSAL = 64
"""How many words are run to see whether answers depend on what follows."""
UNKNOWN = "(nothing said yet)"
"""The output of the start if it is not known, and no other state goes on as it does."""


class LessonKeywords(MachineKeywords, total=False):
    """The keywords of `krohn.learn` about words; `Lesson` says what they mean."""

    length: int | None
    queries: int
    exhaustive_words: int
    sample: int
    seed: int
    progress: Progress | None


@dataclass(frozen=True)
class Lesson(MachineReading):
    """From which words a machine is learned, and how the known one is read.

    ``observe`` is what of the machine the network says.

    Attributes:
        length: No longer word teaches anything. If nothing is said: what the file of a
            machine claims; of other networks the greatest length, up to 32, of which all
            words are run.
        queries: How many words the learner may ask; with fewer than it needs the last
            guess is what was learned.
        exhaustive_words: How many words may be run to run all of some length and below.
        sample: How many words of full length are run.
        seed: Of these.
        progress: Called with what is being done, how much is done, and of how much.
    """

    length: int | None = None
    queries: int = QUERIES
    exhaustive_words: int = EXHAUSTIVE_WORDS
    sample: int = SAMPLES
    seed: int = 0
    progress: Progress | None = None


def learn(
    model: object,
    machine: object = None,
    *,
    method: str = "lstar",
    form: str = "moore",
    vocabulary: int | None = None,
    **options: Unpack[LessonKeywords],
) -> Learned:
    """Learn the machine that a network follows, by asking the network only.

    Args:
        model: A model file or its path, a compiled or an open model, a trained network,
            its state dict or the file of that (``.pt``), or the folder of its run, the
            directory of an export; any module, such as one of Hugging Face, or function
            that `krohn.examine` takes. What it says after a letter may not depend on
            later ones.
        machine: What to hold the learned machine against; None for what the file states.
        method: ``"lstar"``, or ``"rpni"``: from all short words and some long ones.
        form: ``"moore"``: states show what is said; ``"mealy"``: transitions do.
        vocabulary: How many letters words are made of, the first ones, if no machine
            names those of a module or function; None for all that a module reads.
            Classes then are numbers, too.
        **options: From which words, by the names in `Lesson`, and
            how the machine is read, by those in `krohn.machine_reading.MachineReading`.

    Raises:
        KrohnError: If the network cannot be asked, or answers one word in different ways.

    Examples:
        >>> krohn.learn(krohn.compile("C2", 8))
        <Learned C2: 2 states, isomorphic>
    """
    began, how = time.monotonic(), Lesson(**options)
    for what, value, known in (("--method", method, METHODS), ("--form", form, KINDS)):
        if value not in known:
            raise KrohnError(takes(what, known, value))
    refuse(HELD_IN_PYTHON, {"machine": machine}, how.reading_options)
    reference = None if machine is None else machine_of(machine, how)
    kind: Kind = "moore" if form == "moore" else "mealy"
    asked = open_network(model, reference, how.observe, vocabulary)
    wanted = None
    if asked.machine is not None:
        wanted = make_observable_machine(asked.machine, asked.shows, kind)
    answers = Answers(asked.model, _before(wanted), how.queries)
    report_progress, samples, seed = how.progress or silent, how.sample, how.seed
    longest = _length(asked, how.length, how.exhaustive_words)
    teacher = Teacher(
        answers, wanted, longest, how.exhaustive_words, samples, seed, report_progress
    )
    with evaluation_mode(_reads(asked)):
        _check_causal(asked, longest, seed)
        if method == "rpni":
            words = _test_words(len(asked.model.letters), longest, samples, seed)
            last = rpni(answers, kind, words, teacher.differs)
        else:
            last = lstar(answers, kind, teacher.differs, report_progress)
        automaton = merge_start(last.guess.machine, UNKNOWN)
        parted = teacher.parting(automaton, last.wrong, BUDGET)
    seconds = time.monotonic() - began
    return _make_result(asked, method, kind, teacher, last, automaton, parted, seconds)


def _make_result(
    asked: CompileOptions,
    method: str,
    kind: Kind,
    teacher: Teacher,
    last: Last,
    machine: Automaton,
    parted: Parted,
    seconds: float,
) -> Learned:
    wanted = teacher.wanted
    # A machine whose start is not known may have one more state as it is learned.
    unknown = kind == "moore" and teacher.answers.before == UNKNOWN
    return Learned(
        machine=machine,
        network=asked.name,
        method=method,
        kind=kind,
        length=teacher.length,
        right=teacher.right,
        queries=teacher.answers.asked,
        words=teacher.words,
        rounds=last.rounds,
        spent=last.spent,
        chow=teacher.states and teacher.states - unknown,
        parted=parted,
        wanted=wanted,
        beside=None if wanted is None else beside(machine, wanted),
        seconds=seconds,
    )


def _before(wanted: Automaton | None) -> str:
    """The output of the start, as far as it is known."""
    if wanted is None or wanted.output is None or wanted.output.on != "states":
        return UNKNOWN
    return wanted.output.names[int(wanted.output.table[wanted.start])]


def _length(asked: CompileOptions, length: int | None, exhaustive_words: int) -> int:
    """How long the longest words are that teach something.

    Raises:
        KrohnError: If the network does not read such words.
    """
    longest = asked.model.longest
    if length is None:
        if asked.machine is not None and asked.length is not None:
            return asked.length
        most = min(USUAL, longest or USUAL)
        return affordable(len(asked.model.letters), most, exhaustive_words)
    if longest is not None and length > longest:
        raise KrohnError(f"the network reads words of up to {longest} letters (-T)")
    return length


def _reads(asked: CompileOptions) -> Any:
    model = asked.model
    return model.reads if isinstance(model, BlackBox) else model


def _check_causal(asked: CompileOptions, length: int, seed: int) -> None:
    """Run words and their first halves, of networks that are known from outside only.

    Raises:
        KrohnError: If the answers after the first halves differ.
    """
    if not isinstance(asked.model, BlackBox):
        return
    rng = np.random.default_rng(seed)
    words = rng.integers(len(asked.model.letters), size=(CAUSAL, max(length, 2)))
    half = words.shape[1] // 2
    with torch.inference_mode():
        whole = asked.model(torch.from_numpy(words).to(asked.model.device))
        first = asked.model(torch.from_numpy(words[:, :half]).to(asked.model.device))
    if not bool((whole[:, :half].argmax(-1) == first.argmax(-1)).all()):
        raise KrohnError(
            "the network's answers depend on later letters, so no machine gives them"
        )


def _test_words(letters: int, length: int, samples: int, seed: int) -> list[Word]:
    """All words of some length, and long ones by chance."""
    short = affordable(letters, length, READ)
    every = np.indices((letters,) * short).reshape(short, -1).T
    rng = np.random.default_rng(seed)
    long = rng.integers(letters, size=(samples if short < length else 0, length))
    return [tuple(word) for words in (every, long) for word in words.tolist()]
