"""A model and what it is held against: opened, aligned, and run on words."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import KrohnError
from krohn.algebra.minimisation import naming
from krohn.alignment import (
    Shown,
    align,
    align_machine,
)
from krohn.checks import Sharding
from krohn.foreign import names_machine, own_machine
from krohn.network import modelfile
from krohn.network.architecture import kind_of
from krohn.network.modelfile import ModelFile
from krohn.program.claim import Claim, Sense, Shows
from krohn.program.inputs import Inputs, Words as AllWords
from krohn.program.slices import needed_part
from krohn.report import Progress, silent
from krohn.verify.proof import Proof, prove
from krohn.verify.testing.simulation_result import BUDGET, Simulation

if TYPE_CHECKING:
    from krohn.network.model import Model
    from krohn.replaying import Replay
    from krohn.verify.checker.model_file import Model as Checked
    from krohn.verify.testing.counterexample import Counterexample
    from krohn.verify.testing.shortest_failing import Minimal

# A model and the machine that it is held against, and how words are run through it.


DEFAULT_SAMPLE_LENGTH = 256


@dataclass(frozen=True)
class Target:
    """A model and the machine it is held against, with the letters in its order.

    ``claim`` is what a verdict is about: that of the file, but for the machine. If that
    is one whose outputs are to be ``shown``, ``machine`` is the file's own.
    """

    file: ModelFile
    machine: Automaton
    progress: Progress
    claim: Claim
    sharding: Sharding | None = None
    budget: int = BUDGET
    asked: int | None = None
    notes: tuple[str, ...] = ()
    shown: Shown | None = None

    def prove(
        self, progress: Callable[[int, int], None], model: "Checked | None" = None
    ) -> Proof:
        """Try to prove the claim that a verdict is to be about."""
        problem = self.problem
        claim = None if problem else self.claim
        done = prove(self.file, self.machine, progress, model, claim)
        if not problem or done.verdict != "verified":
            return done
        return replace(done, verdict="undecided", reason=problem, proved=None, told={})

    @property
    def claimed_length(self) -> int | None:
        """The longest word that the file claims."""
        return self.file.claim.length

    @property
    def length(self) -> int | None:
        """The longest word that is asked about."""
        return (
            self.asked
            or self.claimed_length
            or (None if self.provable else self.positions)
        )

    @property
    def letters(self) -> int:
        """How many letters there are."""
        return len(self.machine.letters)

    @property
    def positions(self) -> int | None:
        """The longest word that the network can read."""
        table = self.file.tensors.get("embed.position")
        return None if table is None else len(table) - 1

    @property
    def provable(self) -> bool:
        """Whether there is anything that a proof could start from."""
        kind = kind_of(self.file.architecture)
        return not kind.program or "program" in self.file.header

    @property
    def model(self) -> "Model":
        """The network as a torch module."""
        from krohn.network.model import Model

        return Model(self.file)

    @property
    def says_classes(self) -> bool:
        """Whether answers are classes, not numbers."""
        return True

    @property
    def inputs(self) -> Inputs:
        """The inputs that are asked about."""
        return AllWords(self.letters, self.length)

    def run_all(self, length: int) -> Simulation:
        """Run every word of up to ``length`` letters."""
        # torch is there only where words are run.
        from krohn.exhaustive_job import run_job
        from krohn.verify.testing.exhaustive import exhaustive

        report = self.report("running all words")
        if self.sharding is not None:
            if self.shown is not None and self.sharding.every_start:
                raise KrohnError(
                    "--every-start is for machines with the states of the file's own"
                )
            return run_job(self.file, self.machine, length, self.sharding, report)
        return exhaustive(self.model, self.machine, length, report)

    def run_sample(
        self, count: int, seed: int, longest: int | None = None
    ) -> Simulation:
        """Run random and adversarial words, of ``longest`` letters if T is greater."""
        from krohn.verify.testing.sampling import sample

        length = self.length or DEFAULT_SAMPLE_LENGTH
        length = length if longest is None else min(length, longest)
        report = self.report("running samples")
        return sample(self.model, self.machine, count, length, seed, report)

    def minimise(self, found: "Counterexample") -> "Minimal":
        """The smallest wrong word that is found from this one."""
        from krohn.verify.testing.shortest_failing import minimise

        return minimise(self.model, self.machine, found, self.budget)

    @property
    def problem(self) -> str:
        """Why no proof about `machine` shows the claim; empty if it does."""
        return "" if self.shown is None else self.shown.problem(self.claim.length)

    def difference_from(self, own: Automaton) -> str:
        """A word on which the machine does something else than the file's own, in words.

        It is empty if no word of the claim tells the two apart, and where laws of the next
        letter are claimed, which two machines may share.
        """
        if self.shown is not None or self.claim.sense is Sense.LAWS:
            return self.problem
        states = self.claim.shows is Shows.STATES
        one, other = (naming(m) if states else m for m in (self.machine, own))
        return Shown.of(one, other).problem(self.claim.length)

    def find_counterexample(self, word: Sequence[str]) -> "Counterexample | None":
        """A word along which the states that the model says show what is wrong."""
        from krohn.verify.testing.counterexample import Counterexample, pair

        assert self.shown is not None
        right = self.shown.wanted.run(word)
        judge = pair(self.model, self.machine, len(word))
        for reading, states in judge.answers_by_reading(self.machine.encode(word)):
            outputs = self.shown.along(word, states)
            if outputs != right:
                return Counterexample(tuple(word), right, outputs, reading)
        return None

    def compare(self, word: Sequence[str], state: str | None = None) -> "Replay":
        """Hold the model against its machine along a word, or one state at its end.

        Args:
            word: The letters by name.
            state: What the model should say after the last letter, an output of the
                file's machine or a state; None for what the machine says after every
                letter.

        Raises:
            KrohnError: If a letter is unknown, the word is too long, or no model could
                give that answer.
        """
        from krohn.replaying import along, replay

        if self.shown is not None and state is None and word:
            right = self.shown.wanted.run(word)[-1]
            return along(word, self.find_counterexample(word), right)
        known = self.file.claim.shows is Shows.STATES and names_machine(self.file)
        shows = own_machine(self.file) if known else None
        return replay(self.model, self.machine, word, state, shows)

    def report(self, what: str) -> Callable[[int, int], None]:
        """The progress of one thing that is done."""
        return lambda done, total: self.progress(what, done, total)


@dataclass(frozen=True)
class Words:
    """Which words are to be run.

    Attributes:
        exhaustive: All of up to so many letters; None for none.
        sample: So many random and adversarial ones; None for none.
        seed: Of these.
        longest: How long these are at most; None for those that are asked about.
    """

    exhaustive: int | None
    sample: int | None
    seed: int
    longest: int | None = None

    def __bool__(self) -> bool:
        return bool(self.exhaustive or self.sample)

    def run(self, target: Target) -> tuple[Simulation, ...]:
        """Run them until something fails."""
        runs: list[Simulation] = []
        if self.exhaustive:
            runs.append(target.run_all(self.exhaustive))
        if self.sample and all(r.has_passed for r in runs):
            runs.append(target.run_sample(self.sample, self.seed, self.longest))
        return tuple(runs)


# Opening a model beside the machine that it is held against.


def open_target(
    model: str | Path | ModelFile,
    machine: object,
    observe: str | None,
    progress: Progress = silent,
    tokenizer: Mapping[str, Any] | None = None,
    length: int | None = None,
) -> Target:
    """A model and the machine that `verify` is given, ready to be compared.

    Args:
        model: A model file.
        machine: What it is held against; None for the machine that it states.
        observe: What is seen of it.
        progress: Called with what is done.
        tokenizer: By what a GPT-2 reads texts.
        length: The longest words that are asked about; by default those of its claim.

    Raises:
        KrohnError: If the file is damaged or the alphabets do not fit.
    """
    file = model if isinstance(model, ModelFile) else modelfile.read(model)
    outputs = file.claim.shows is Shows.OUTPUTS
    if observe is not None and not outputs:
        raise KrohnError(
            "--observe is for models of outputs, and this is one of states; compile it "
            "with --observe outputs, or leave --observe out"
        )
    kind = Target
    if file.claim.sense is Sense.LAWS:
        kind = needed_part("laws", "a generator")
    if machine is None:
        about = _claim_for_length(file.header, tokenizer, length)
        return kind(file, _stated_machine(file), progress, about, asked=length)
    alignment = align(file, machine, observe)
    about = _claim_for_length(alignment.header, tokenizer, length)
    target = kind(
        alignment.file, alignment.machine, progress, about, notes=alignment.notes
    )
    return replace(target, shown=alignment.shown, asked=length)


def _claim_for_length(
    header: Mapping[str, Any], tokenizer: Mapping[str, Any] | None, length: int | None
) -> Claim:
    """The claim of a header, or the same about words of up to another length."""
    longest = {} if length is None else {"length": length}
    return Claim.of({**header, "claim": {**header["claim"], **longest}}, tokenizer)


def _stated_machine(file: ModelFile) -> Automaton:
    """The machine that the file itself states."""
    if not names_machine(file):
        raise KrohnError(
            "the file does not say which machine it computes; say --machine MACHINE"
        )
    own = own_machine(file)
    return align_machine(own, own)
