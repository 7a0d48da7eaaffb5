"""A model and the machine that it is held against, and how words are run through it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from krohn.algebra.automaton import Automaton
from krohn.network.architecture import kind_of
from krohn.network.modelfile import ModelFile
from krohn.program.claim import Claim
from krohn.progress import Progress
from krohn.sharding import Sharding
from krohn.verify.testing.simulation_result import BUDGET, Simulation

if TYPE_CHECKING:
    from krohn.network.model import Model
    from krohn.replaying import Replay
    from krohn.verify.testing.counterexample import Counterexample
    from krohn.verify.testing.shortest_failing import Minimal

DEFAULT_SAMPLE_LENGTH = 256


@dataclass(frozen=True)
class Target:
    """A model and the machine it is held against, with the letters in its order.

    ``claim`` is what a verdict is about: that of the file, but for the machine.
    """

    file: ModelFile
    machine: Automaton
    progress: Progress
    claim: Claim
    sharding: Sharding | None = None
    budget: int = BUDGET
    asked: int | None = None
    notes: tuple[str, ...] = ()

    @property
    def claimed(self) -> int | None:
        """The longest word that the file claims."""
        length = self.file.header["claim"].get("length")
        return length if type(length) is int else None

    @property
    def length(self) -> int | None:
        """The longest word that is asked about."""
        return self.asked or self.claimed or (None if self.provable else self.positions)

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
        kind = kind_of(self.file.header["architecture"])
        return not kind.program or "program" in self.file.header

    @property
    def model(self) -> "Model":
        """The network as a torch module."""
        from krohn.network.model import Model

        return Model(self.file)

    @property
    def exhaustible(self) -> bool:
        """Whether it is a verdict to run every word that is asked about."""
        return self.length is not None

    @property
    def proved(self) -> str:
        """What a proof is about, in words."""
        letters, length = self.letters, self.length
        if length is None:
            return f"all words of every length over {letters} letters"
        return f"all {letters}^{length} words of length {length}, and all shorter"

    def run_all(self, length: int) -> Simulation:
        """Run every word of up to ``length`` letters."""
        # torch is there only where words are run.
        from krohn.exhaustive_job import run_job
        from krohn.verify.testing.exhaustive import exhaustive

        report = self.report("running all words")
        if self.sharding is not None:
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
        """What a wrong word comes to."""
        from krohn.verify.testing.shortest_failing import minimise

        return minimise(self.model, self.machine, found, self.budget)

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
        from krohn.foreign import names_machine, own_machine
        from krohn.replaying import held

        says_states = self.file.header["claim"].get("shows", "states") == "states"
        known = says_states and names_machine(self.file)
        shows = own_machine(self.file) if known else None
        return held(self.model, self.machine, word, state, shows)

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
        if self.sample and all(r.passed for r in runs):
            runs.append(target.run_sample(self.sample, self.seed, self.longest))
        return tuple(runs)
