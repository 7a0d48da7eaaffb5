"""Verifying a generator: its laws are held against those of brackets."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from krohn.algebra.errors import KrohnError
from krohn.verify.testing.simulation_result import Simulation

if TYPE_CHECKING:
    from krohn.replaying import Replay
    from krohn.verify.testing.counterexample import Counterexample
    from krohn.verify.testing.shortest_failing import Minimal
from krohn.architectures.generator import find_words
from krohn.verification_target import DEFAULT_SAMPLE_LENGTH, Target

LONGEST_PREFIX = 1024
"""Longer prefixes are not drawn for a generator, whose claim needs no positions."""


@dataclass(frozen=True)
class GeneratorTarget(Target):
    """A generator and its stacks: each output is held against a law of brackets."""

    @property
    def says_classes(self) -> bool:
        """No: they are laws."""
        return False

    def run_all(self, length: int) -> Simulation:
        """Run every legal prefix of up to ``length`` letters."""
        if self.sharding is not None:
            raise KrohnError(
                "the words of a generator are run by one process only; leave --jobs, "
                "--job, --shard and --cluster out"
            )
        report = self.report("running all words")
        return find_words.run_all(self.file, self.machine, length, report)

    def run_sample(
        self, count: int, seed: int, longest: int | None = None
    ) -> Simulation:
        """Run random prefixes."""
        most = LONGEST_PREFIX if longest is None else min(longest, LONGEST_PREFIX)
        length = min(self.length or DEFAULT_SAMPLE_LENGTH, most)
        report = self.report("running samples")
        return find_words.run_sample(
            self.file, self.machine, count, length, seed, report
        )

    def minimise(self, found: "Counterexample") -> "Minimal":
        """The smallest wrong prefix that is found from this one."""
        return find_words.minimise(self.file, self.machine, found, self.budget)

    def compare(self, word: Sequence[str], state: str | None = None) -> "Replay":
        """Hold every law along a prefix against the right one.

        Raises:
            KrohnError: If a state is given, or the word is no legal prefix.
        """
        from krohn.replaying import along

        if state is not None:
            raise KrohnError(
                "a generator gives laws, not states; use --expect without a state, "
                "which compares every law with the right one"
            )
        letters = self.machine.encode(word)
        found = find_words.replay(self.file, self.machine, letters)
        return along(word, found, "(the right law)")
