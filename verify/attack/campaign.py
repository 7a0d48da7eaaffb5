"""An attack on a proof from beginning to end, within a time or a number of positions."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.semiautomaton import IntArray
from krohn.algebra.shown import output_classes
from krohn.network.attention_kind import Linear, attention_kind
from krohn.network.modelfile import ModelFile
from krohn.verify.attack import generators, rnns, transformers
from krohn.verify.attack.worst_seen import Record, Worst, by_operation
from krohn.verify.proof import Proof
from krohn.verify.testing.counterexample import CheckError

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
    def passed(self) -> bool:
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
            has linear attention or is an LSTM or a GRU, of which no worst arithmetic is
            known yet.
    """
    if proof.verdict != "verified":
        raise CheckError(
            f"there is nothing to attack: the proof is {proof.verdict} ({proof.reason})"
        )
    blocks = file.header["architecture"].get("blocks", [])
    if any(attention_kind(block) == Linear() for block in blocks):
        raise CheckError("there is no attack on blocks of linear attention yet")
    kind = file.header["architecture"]["kind"]
    if kind not in ROUNDS or "ranks" in file.header["architecture"]:
        raise CheckError(f"there is no attack on networks of kind {kind!r} yet")
    began, record = time.monotonic(), Record()
    rng = np.random.default_rng(seed)
    try:
        for _ in ROUNDS[kind](_Proved(file, machine, proof, rng, compiled), record):
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


@dataclass(frozen=True)
class _Proved:
    """A network that was proved, and how it is attacked.

    Attributes:
        file: The network.
        machine: What it computes.
        proof: Its proof.
        rng: Of words, orders and the worst arithmetic.
        compiled: Whether to run it through ``torch.compile`` as well.
    """

    file: ModelFile
    machine: Automaton
    proof: Proof
    rng: np.random.Generator
    compiled: bool

    @property
    def length(self) -> int:
        """T."""
        assert self.proof.length is not None
        return self.proof.length

    @property
    def shows(self) -> IntArray:
        """``(states,)``: the logit that must be the largest in each state."""
        return output_classes(
            self.machine, self.file.header["claim"].get("shows", "states")
        ).of


def _generator(todo: _Proved, record: Record) -> Iterator[None]:
    error = next(e["law"]["error"] for e in todo.proof.evidence if "law" in e)
    target = generators.Target(todo.file, todo.machine, error, todo.length)
    return generators.rounds(target, todo.rng, record)


def _rnn(todo: _Proved, record: Record) -> Iterator[None]:
    margin = float(todo.proof.evidence[-1]["margin"])
    target = rnns.Target(todo.file, todo.machine, todo.shows, margin)
    return rnns.rounds(target, todo.rng, record)


def _transformer(todo: _Proved, record: Record) -> Iterator[None]:
    bounds = todo.proof.bounds
    assert bounds is not None
    target = transformers.Target(
        todo.file, todo.machine, todo.shows, bounds, todo.length
    )
    found = transformers.ways(target, todo.rng, todo.compiled)
    return transformers.rounds(target, found, todo.rng, record)


ROUNDS = {"transformer": _transformer, "rnn": _rnn, "generator": _generator}
