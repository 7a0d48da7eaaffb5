"""The options of `krohn.verify`, declared once."""

from dataclasses import dataclass
from typing import TypedDict

from krohn.algebra.errors import KrohnError
from krohn.program.claim import Claim
from krohn.report import Progress, silent
from krohn.sharding import Sharding
from krohn.verify.testing.simulation_result import BUDGET


class VerifyKeywords(TypedDict, total=False):
    """The keywords of `krohn.verify`; `Checks` says what they mean."""

    proof: bool | None
    exhaustive: int | None
    sample: int | None
    seed: int
    budget: int
    observation: str | None
    length: int | None
    sharding: Sharding | None
    digest: str | None
    progress: Progress | None


@dataclass(frozen=True)
class Checks:
    """How a model is verified, and against what.

    Attributes:
        machine: What it must compute, from its start state (anything that
            `krohn.automaton` takes), or another source, as ``my.dp``; by default the one
            that the file itself names.
        proof: Whether to prove it for all words up to the claimed length. By default
            yes, unless only simulations are asked for.
        exhaustive: Run every word of up to this many letters.
        sample: Run this many random and adversarial words of full length.
        seed: Of the sampled words.
        budget: How many words may be run to make a wrong one minimal.
        observation: What to see of ``machine``, as in `krohn.compile`; by default its own
            outputs. Only for models that say outputs.
        length: The longest words to look at, if nothing is proved; by default those
            that the file claims, or has positions for.
        sharding: How to run every word: processes, memory, job file, cluster; by
            default by this process, in one sitting.
        digest: Of the claim that the verdict must be about, or its first digits, at
            least 8 (`krohn.program.claim`); by default any.
        progress: Called with what is being done, how much is done, and of how much.
    """

    machine: object = None
    proof: bool | None = None
    exhaustive: int | None = None
    sample: int | None = None
    seed: int = 0
    budget: int = BUDGET
    observation: str | None = None
    length: int | None = None
    sharding: Sharding | None = None
    digest: str | None = None
    progress: Progress | None = None

    @property
    def proves(self) -> bool:
        """Whether there is to be a proof: where nothing else is asked for, yes."""
        runs = self.exhaustive or self.sample or self.length
        return self.proof if self.proof is not None else not runs

    @property
    def method(self) -> str:
        """The methods that are asked for, joined by ``+``."""
        asked = {
            "proof": self.proves,
            "exhaustive": self.exhaustive,
            "sample": self.sample,
        }
        return "+".join(name for name, given in asked.items() if given)

    @property
    def report(self) -> Progress:
        """The function that is told of the progress."""
        return self.progress or silent

    def given(self, *options: str) -> bool:
        """Whether one of some options is given, that are None by default."""
        return any(getattr(self, name) is not None for name in options)

    def check_digest(self, claim: Claim) -> None:
        """Refuse a claim that is not the one with the digest.

        Raises:
            KrohnError: If it is another one, or no digest.
        """
        check_digest(claim, self.digest)


def check_digest(claim: Claim, digest: str | None) -> None:
    """Refuse a claim that is not the one with a digest.

    Args:
        claim: What a verdict is to be about.
        digest: Of the claim that is asked for, or its first digits; None for any.

    Raises:
        KrohnError: If it is another one, or no digest.
    """
    if digest is not None and (problem := claim.problem(digest)):
        raise KrohnError(problem)
