"""An attack on a proof from beginning to end, and attacks on generators."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from krohn.algebra.automaton import Automaton, IntArray
from krohn.architectures.generator.engine import Generator
from krohn.architectures.generator.find_words import (
    claimed_law,
    laws_of,
)
from krohn.instruments.attack import (
    rnns,
    transformers,
)
from krohn.instruments.attack.rounding import BLOCKS
from krohn.instruments.attack.worst_seen import (
    Batch,
    EvolutionarySearch,
    Record,
    Target,
    Worst,
    by_operation,
)
from krohn.network.modelfile import ModelFile
from krohn.network.precision import BoolArray
from krohn.verify.proof import Proof
from krohn.verify.testing.counterexample import CheckError

AT_ONCE = 1024
BATCHES = (1024, 1, 7, 64)


def legal_words(
    machine: Automaton, legal: BoolArray, genes: IntArray
) -> tuple[IntArray, IntArray]:
    """Words that are legal prefixes, each letter the one that a gene chooses.

    Args:
        machine: The stacks.
        legal: ``(states, letters)``: the letters that may come next.
        genes: ``(batch, time)`` whole numbers.

    Returns:
        ``(batch, time)`` letters, and ``(batch, time + 1)`` states before each letter and
        at the end.
    """
    # The letters of a state that are legal come first, in their order.
    first = np.argsort(~legal, axis=1, kind="stable")
    some = legal.sum(axis=1)
    words = np.empty_like(genes)
    states = np.full((len(genes), genes.shape[1] + 1), machine.start)
    for t in range(genes.shape[1]):
        here = states[:, t]
        words[:, t] = first[here, genes[:, t] % some[here]]
        states[:, t + 1] = machine.transitions[words[:, t], here]
    return words, states


# An attack on a proof from beginning to end, within a time or a number of positions.


Progress = Callable[[int, float], None]
"""Told after every batch how many positions were run, and how many seconds passed."""


@dataclass(frozen=True)
class Attack:
    """The result of an attack.

    Attributes:
        positions: How many positions of words were run.
        ways: How many of them by each way to run the network.
        left_out: Ways that cannot be gone here, and why.
        numbers: For each operation how many numbers were held against a bound.
        tightest: For each operation the number that came closest to its bound.
        violations: The first numbers beyond their bounds. One is an error of the proof
            or of its assumptions about arithmetic.
        seconds: How long it took.
    """

    positions: int
    ways: Mapping[str, int]
    left_out: Mapping[str, str]
    numbers: Mapping[str, int]
    tightest: Mapping[str, Worst]
    violations: tuple[Worst, ...]
    seconds: float

    @property
    def has_passed(self) -> bool:
        """Whether every bound held."""
        return not self.violations

    def to_object(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "positions": self.positions,
            "ways": dict(self.ways),
            "left_out": dict(self.left_out),
            "numbers": dict(self.numbers),
            "tightest": [worst.to_object() for worst in self.tightest.values()],
            "violations": [worst.to_object() for worst in self.violations],
            "seconds": round(self.seconds, 3),
        }


@dataclass(frozen=True)
class Extent:
    """How long an attack goes on: until one of both is reached.

    Attributes:
        seconds: Time.
        positions: Positions of words.
    """

    seconds: float = float("inf")
    positions: float = float("inf")


def check_attackable(file: ModelFile, proof: Proof) -> None:
    """Refuse a network whose bounds are not proved, or of which no attack is known.

    Raises:
        CheckError: With the reason.
        Refused: If its blocks have something of which no worst arithmetic is known.
    """
    if proof.verdict != "verified":
        raise CheckError(
            f"there is nothing to attack: the proof is {proof.verdict} ({proof.reason})"
        )
    shape = file.architecture
    BLOCKS.check(shape)
    if getattr(shape, "disguise", None) is not None:
        raise CheckError("there is no attack on disguised networks yet")
    if shape.kind not in ROUNDS or getattr(shape, "ranks", None) is not None:
        raise CheckError(f"there is no attack on networks of kind {shape.kind!r} yet")


def attack(
    file: ModelFile,
    machine: Automaton,
    proof: Proof,
    extent: Extent,
    seed: int = 0,
    compiled: bool = False,
    progress: Progress | None = None,
) -> Attack:
    """Try to violate every bound of a proof.

    An interruption from the keyboard ends it early, with the result so far.

    Args:
        file: The network.
        machine: The machine that it computes.
        proof: Its proof, which must have verified it.
        extent: How long to try.
        seed: Of words, orders and the worst arithmetic.
        compiled: Whether to run it through ``torch.compile`` as well.
        progress: Called after every batch.

    Raises:
        CheckError: If it is not verified: then there are no bounds to violate. Or if it
            is an LSTM or a GRU, of which no worst arithmetic is known yet.
        Refused: If its blocks have something of which none is known.
    """
    check_attackable(file, proof)
    kind = file.architecture.kind
    began, record = time.monotonic(), Record()
    rng = np.random.default_rng(seed)
    try:
        for _ in ROUNDS[kind](Target(file, machine, proof, rng, compiled), record):
            passed = time.monotonic() - began
            if progress is not None:
                progress(record.positions, passed)
            if record.positions >= extent.positions or passed >= extent.seconds:
                break
    except KeyboardInterrupt:
        pass
    return Attack(
        record.positions,
        record.ways,
        record.left_out,
        record.numbers,
        by_operation(record),
        tuple(record.violations),
        time.monotonic() - began,
    )


def _generator(target: Target, record: Record) -> Iterator[None]:
    """Run batch after batch of legal prefixes, without end, by sizes in turn."""
    error = next(e["law"]["error"] for e in target.proof.evidence if "law" in e)
    net = Generator(target.file)
    table = laws_of(claimed_law(target.file, target.machine)[0])
    laws, legal = torch.from_numpy(table), table > 0
    # The laws and the error itself are rounded to float64.
    bound = torch.tensor([error + 2.0**-53], dtype=torch.float64)
    breeding = EvolutionarySearch(target.machine, target.length, target.rng)
    while True:
        for most in BATCHES:
            genes = breeding.words(min(AT_ONCE, 16 * most))
            words, states = legal_words(target.machine, legal, genes.numpy())
            batch = Batch(torch.from_numpy(words), f"batches of {most}", record)
            with torch.inference_mode():
                outputs = torch.cat(
                    [net(part) for part in torch.split(batch.words, most)]
                )
            off = (outputs.double() - laws[torch.from_numpy(states)]).abs()
            keys = [("generator: law", "", -1)] * off.shape[2]
            breeding.learn(genes, batch.judge(keys, off, bound))
            record.numbers["generator: law"] += off.numel()
            record.ways[batch.way] += words.size
            yield


ROUNDS = {
    "transformer": transformers.rounds,
    "rnn": rnns.rounds,
    "generator": _generator,
}
