"""Exports, each read back and run beside the network that it was made from."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
import torch
from safetensors import SafetensorError
from torch import Tensor

from krohn.algebra.automaton import Automaton, Semiautomaton
from krohn.algebra.errors import KrohnError
from krohn.algebra.minimisation import Shows
from krohn.architectures.exports.circuit import labels
from krohn.architectures.exports.commands_card import (
    NAME,
    NOT_PROVED,
    card,
    program,
    verdict,
)
from krohn.architectures.exports.destinations import (
    Destination,
    destination,
)
from krohn.compiled_model import CompiledModel
from krohn.loading import file_of
from krohn.machine_verification import LONGEST_SAMPLE, SCORES
from krohn.network import ExportError, modelfile
from krohn.network.directions import without_masks
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.program.claim import Claim
from krohn.program.errors import Refused
from krohn.program.word_texts import join_letters
from krohn.program.writing import whole_directory
from krohn.report import Progress, silent
from krohn.source_kinds import of_file
from krohn.source_kinds.kind import Whole
from krohn.verification_target import DEFAULT_SAMPLE_LENGTH
from krohn.verify.checker.network import contents, open_model
from krohn.verify.proof import Proof, Verdict, prove
from krohn.verify.search.find import model_of
from krohn.verify.testing.counterexample import Counterexample, at_once, differs
from krohn.verify.testing.sampling import sample
from krohn.verify.testing.simulation_result import Progress as WordProgress

# The words on which an export is held against the network that it was made from.


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
    progress: WordProgress,
) -> Ran:
    """Read an export back and run words through it and through the network of the file.

    Raises:
        KrohnError: If an answer is wrong, or logits are numbers on one side only.
    """
    beside = Beside(Model(file), home.open(place))
    kind, rng = of_file(file), np.random.default_rng(seed)
    if (inputs := kind.whole(file, partial(_many, count=count), rng)) is not None:
        return _run_whole(inputs, beside, home, progress)
    limits = (beside.longest, file.claim.length or None)
    longest = min((n for n in limits if n is not None), default=DEFAULT_SAMPLE_LENGTH)
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

    def is_alike(self, word: Sequence[str]) -> bool:
        """Whether both give one answer after a word, so that a wrong one is the file's."""
        letters = [self.letters.index(letter) for letter in word]
        ours, theirs = self.both(torch.tensor([letters]))
        return bool(ours[0, -1].argmax() == theirs[0, -1].argmax())


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
    """The machine that answers are compared with, who says its answers, and its name."""
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


def _batches(words: int, length: int, progress: WordProgress) -> Iterator[slice]:
    batch = at_once(length)
    for first in range(0, words, batch):
        yield slice(first, first + batch)
        progress(min(words, first + batch), words)


def _run_whole(
    inputs: Whole, beside: Beside, home: Destination, progress: WordProgress
) -> Ran:
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
            shown = join_letters([inputs.tokens[token] for token in row[:start]])
            raise KrohnError(f"{home.title} writes another text after {shown}")
    _check(home, None, beside)
    against: Against = "nothing" if start is None else "the source"
    return Ran(words, inputs.length, beside.deviation, against)


def _check(home: Destination, wrong: Counterexample | None, beside: Beside) -> None:
    if wrong is not None:
        who, advice = home.title, ""
        if beside.is_alike(wrong.word):
            who, advice = "the file itself", "; `krohn verify` says more about it"
        answer, right, word = (
            wrong.actual[-1],
            wrong.expected[-1],
            join_letters(wrong.word),
        )
        said = f"answers {answer} after {word}, where {right} is right"
        if answer in ALIKE:
            said = f"answers otherwise than the file after {word}"
        raise KrohnError(f"{who} {said}, so nothing was written{advice}")
    if not np.isfinite(beside.deviation):
        raise KrohnError(
            f"a logit is finite in only one of the file and {home.title}, so nothing "
            "was written"
        )


# Exports, each read back, proved, and run beside the network that it was made from.


def proof_of(
    file: ModelFile,
    home: Destination,
    place: Path,
    progress: Progress = silent,
) -> Proof:
    """The proof of what stands in a directory, for what its file claims.

    Raises:
        ExportError: If it holds another network than that of the file.
    """
    length = file.claim.length
    try:
        if home.read is None:
            with np.errstate(all="ignore"):
                model = open_model(contents(place))
        else:
            there = home.read(file, place)
            model = model_of(there.file, there.gain)
    except Refused as refused:
        return Proof("undecided", str(refused), length)
    if Claim.of(model.header).digest != Claim.of(file.header).digest:
        raise ExportError("what was written claims something else than the file")
    done = prove(file, None, partial(progress, "proving"), model)
    if done.verdict == "refuted":  # its Program is, and nobody runs the word here
        return Proof("undecided", done.reason, length)
    if done.verdict == "verified" and (problem := of_file(file).problem(file)):
        return Proof("undecided", problem, length)
    if not home.unproved or done.verdict != "verified":
        return done
    reason = f"whether {home.unproved} is as docs/soundness.md assumes was not checked"
    return replace(done, verdict="undecided", reason=reason, told={})


@dataclass(frozen=True)
class Export:
    """The export that was written, and how it compares with the model file.

    Attributes:
        to: Where it went.
        directory: What was written.
        ran: The words that were run there, and by how much logits differ.
        arithmetic: What is computed there, beside what the model file computes.
        verdict: That of the checker on what was written.
        proved: The same in a sentence, with what is proved, or why nothing is.
        classes: What classes are called by there, ``"states"`` or ``"answers"``.
        hides_outputs: Whether they are states of a machine whose transitions show outputs.
    """

    to: str
    directory: str
    ran: Ran
    arithmetic: str
    verdict: Verdict
    proved: str
    classes: str
    hides_outputs: bool

    @property
    def warning(self) -> str:
        """What is to be known of a network that is not proved; empty if it is."""
        unproved = self.proved.startswith(NOT_PROVED)
        return f"{self.directory} is {self.proved}" if unproved else ""

    def to_object(self) -> dict[str, Any]:
        """Itself for JSON."""
        facts = asdict(self)
        ran = facts.pop("ran")
        del facts["hides_outputs"]
        return {**facts, **ran, "wrong": 0}


def export(
    model: str | Path | ModelFile | CompiledModel | Model,
    *,
    to: str,
    directory: str | Path,
    states: bool = False,
    sample: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Export:
    """Write a network for another library, read it back, prove and run it there.

    Nothing is left on disk unless every answer is right, and the program of its README.md
    prints what it should.

    Args:
        model: A model file, what `krohn.compile` returned, or an open network.
        to: A place, as the `exports` of slices name it.
        directory: Where to write; it must not exist, or be empty.
        states: Call classes by the states of the machine, though it has outputs.
        sample: How many adversarial words to run; by default 10,000, fewer of long words.
        seed: Of these.
        progress: Called with what is being done, how much is done, and of how much.

    Raises:
        KrohnError: If a word is answered wrongly, or the directory has something in it.
        ModelFileError: If the file is damaged, the network cannot go there, or what is
            needed for it is not installed.

    Examples:
        >>> model = krohn.compile("C2", 8)
        >>> krohn.export(model, to="huggingface", directory="c2", sample=20).verdict
        'verified'
    """
    file = file_of(model) or modelfile.read(cast("str | Path", model))
    file = without_masks(file)
    home = destination(to)
    if why := of_file(file).stays:
        raise ExportError(f"this network does not go to {home.title}: {why}")
    with whole_directory(Path(directory)) as place:
        _write(home, file, place, states)
        proof = proof_of(file, home, place, progress or silent)
        report = partial(progress or silent, "running words")
        ran = run(file, home, place, sample, seed, report)
        names = labels(file, states)
        shown = program(file, home, names)
        if shown is not None:
            shown.check(place)
        text = card(file, home, names, proof, shown, place)
        (place / NAME).write_text(text, encoding="utf-8")
    verdicts = proof.verdict, verdict(proof)
    hidden = bool(file.claim.outputs) and names.means == "states" and not states
    return Export(
        to, str(directory), ran, home.arithmetic, *verdicts, names.means, hidden
    )


def _write(home: Destination, file: ModelFile, place: Path, states: bool) -> None:
    try:
        home.write(file, place, states)
    except SafetensorError as error:  # so it calls a full disk
        raise KrohnError(f"cannot write {place}: {error}") from None
