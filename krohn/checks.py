"""The options of `krohn.verify`, declared once."""

import re
from dataclasses import dataclass, replace
from pathlib import Path

from krohn.algebra.errors import KrohnError
from krohn.machine_reading import MachineKeywords, MachineReading
from krohn.program.claim import Claim
from krohn.report import Progress, silent
from krohn.verify.testing.simulation_result import BUDGET

UNITS = {"": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
UNITS |= {"kB": 10**3, "MB": 10**6, "GB": 10**9}
MEMORY = 2**31
RUN_WITH_FEW_DIGITS = 32
"""Inputs that are run with few digits where nobody says how many."""


@dataclass(frozen=True)
class Sharding:
    """How all words are to be run.

    Attributes:
        jobs: How many processes of this machine.
        memory: The most bytes that each process may take.
        part: (i, n): only every n-th shard, from the i-th on, counted from 1.
        job_file: The job file; what it says is done is not done again.
        cluster: Of Dask: the address of a scheduler, or ``local:N``.
        every_start: Whether networks for the other start states, compiled in the same
            way, are run as well.
    """

    jobs: int = 1
    memory: int = MEMORY
    part: tuple[int, int] = (1, 1)
    job_file: str | Path | None = None
    cluster: str | None = None
    every_start: bool = False


def sharding(
    jobs: int | None = None,
    memory: str | None = None,
    shard: str | None = None,
    job_file: Path | None = None,
    cluster: str | None = None,
    every_start: bool = False,
) -> Sharding | None:
    """The sharding that the options of a command ask for; None if they ask for none.

    Raises:
        KrohnError: If an amount of memory or a part cannot be read, or if both processes
            and a cluster are asked for.
    """
    if not any((jobs, memory, shard, job_file, cluster, every_start)):
        return None
    if jobs and cluster:
        raise KrohnError(
            "--jobs and --cluster exclude each other; say local:N for both"
        )
    amount = MEMORY if memory is None else bytes_of(memory)
    part = (1, 1) if shard is None else part_of(shard)
    return Sharding(jobs or 1, amount, part, job_file, cluster, every_start)


def bytes_of(amount: str) -> int:
    """An amount of memory such as ``2GiB`` in bytes.

    Raises:
        KrohnError: If it cannot be read.
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([A-Za-z]*)", amount)
    if match is None or match[2] not in UNITS:
        raise KrohnError(f"{amount!r} is no amount of memory; say 512MiB or 2GiB")
    return int(float(match[1]) * UNITS[match[2]])


def part_of(text: str) -> tuple[int, int]:
    """``i/n`` as a pair.

    Raises:
        KrohnError: If it is none, or there is no such part.
    """
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise KrohnError(f"{text!r} is no part; the third of eight is 3/8")
    return int(match[1]), int(match[2])


# The options.


class VerifyKeywords(MachineKeywords, total=False):
    """The keywords of `krohn.verify`; `Checks` says what they mean."""

    proof: bool | None
    exhaustive: int | None
    sample: int | None
    seed: int
    shorten: int
    length: int | None
    sharding: Sharding | None
    digest: str | None
    digits: int | None
    kernel: str
    progress: Progress | None


@dataclass(frozen=True)
class Checks(MachineReading):
    """How a model is verified, against what, and how that is read.

    ``observe`` is by default what the machine shows; only for models that say outputs.

    Attributes:
        machine: What it must compute, from its start state (anything that
            `krohn.automaton` takes), or another source, as ``my.dp``; by default the one
            that the file itself names.
        proof: Whether to prove it for all words up to the claimed length. By default
            yes, unless only simulations are asked for.
        exhaustive: Run every word of up to this many letters.
        sample: Run this many random and adversarial words of full length.
        seed: Of the sampled words.
        shorten: How many words may be run to make a wrong one minimal.
        length: The longest words to look at, if nothing is proved; by default those
            that the file claims, or has positions for.
        sharding: How to run every word: processes, memory, job file, cluster; by
            default by this process, in one sitting.
        digest: Of the claim that the verdict must be about, or its first digits, at
            least 32 (`krohn.program.claim`); by default any.
        digits: Also run it on as many inputs as `sample`, or 32, with numbers of so many
            binary digits, and find the fewest with which it is right.
        kernel: Whether a proof is that of the kernel (docs/kernel.md): ``auto`` where it
            is installed and covers the file, ``require`` to refuse any other, ``none`` for
            that of the rules in Python, or the path of a kernel that is built elsewhere.
        progress: Called with what is being done, how much is done, and of how much.
    """

    machine: object = None
    proof: bool | None = None
    exhaustive: int | None = None
    sample: int | None = None
    seed: int = 0
    shorten: int = BUDGET
    length: int | None = None
    sharding: Sharding | None = None
    digest: str | None = None
    digits: int | None = None
    kernel: str = "auto"
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

    def has_any_option(self, *options: str) -> bool:
        """Whether one of some options is given, that are None by default."""
        return any(getattr(self, name) is not None for name in options)


class AnotherClaim(KrohnError):
    """A file makes another claim than the one that was asked for.

    Attributes:
        exit_code: Of a command: that of a verdict, and not of a mistake.
    """

    exit_code = 1


def check_digest(claim: Claim, digest: str | None) -> None:
    """Refuse a claim that is not the one with a digest.

    Args:
        claim: What a verdict is to be about.
        digest: Of the claim that is asked for, or its first digits; None for any.

    Raises:
        AnotherClaim: If it is another one.
        KrohnError: If it is no digest.
    """
    if digest is None or not (problem := claim.problem(digest)):
        return
    if replace(claim, digest=digest.lower()).problem(digest):
        raise KrohnError(problem)
    raise AnotherClaim(f"not verified: {problem}")
