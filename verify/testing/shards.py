"""All words up to a length, cut into shards that can be run apart and counted once.

The tree of words is cut at a depth d. One shard holds the words of up to d letters; each
word of d letters is the root of another, which holds the longer words that go on from
it. Every word up to the length is in exactly one shard, so the counts add up.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

from krohn.algebra.automaton import Automaton
from krohn.algebra.formats import json_format
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.verify.testing.counterexample import Counterexample
from krohn.verify.testing.exhaustive import BUDGET, exhaustive, words_below
from krohn.verify.testing.simulation_result import Progress, Simulation

LEAVES = 2**17
"""A shard has about so many longest words: some passes of a network, some seconds."""
MOST = 10_000
"""The most shards of a network: their roots are read again, and the job file grows."""
VERSION = 1


@dataclass(frozen=True)
class Shard:
    """The words that go on from a root.

    Attributes:
        network: Which of the networks of the job.
        root: Letter indices; its own word is in another shard.
        length: Of the longest words.
    """

    network: int
    root: tuple[int, ...]
    length: int

    @property
    def name(self) -> str:
        """Its name in the job file: network, and letters of the root."""
        return f"{self.network}:{'.'.join(map(str, self.root))}"

    def words(self, letters: int) -> int:
        """How many words it holds."""
        return words_below(letters, self.length - len(self.root))


@dataclass(frozen=True)
class Job:
    """Networks that are to be run on all words up to a length.

    Attributes:
        pairs: Each network with the machine that it is held against; all the machines
            have the same letters in the same order.
        length: Of the longest words.
        depth: Where the tree is cut.
    """

    pairs: tuple[tuple[ModelFile, Automaton], ...]
    length: int
    depth: int

    @property
    def letters(self) -> int:
        """How many letters there are."""
        return len(self.pairs[0][1].letters)

    @property
    def words(self) -> int:
        """How many words there are, counted for every network."""
        return len(self.pairs) * words_below(self.letters, self.length)

    @cached_property
    def key(self) -> str:
        """A hash of all that the counts depend on."""
        stated: dict[str, Any] = {
            "version": VERSION,
            "length": self.length,
            "depth": self.depth,
            "pairs": [[_model_hash(f), _machine_hash(m)] for f, m in self.pairs],
        }
        return _hash(json.dumps(stated, sort_keys=True).encode())

    def shards(self) -> Iterator[Shard]:
        """All shards: the short words of every network first, then root by root."""
        networks = range(len(self.pairs))
        if self.depth:
            for network in networks:
                yield Shard(network, (), self.depth)
        for root in product(range(self.letters), repeat=self.depth):
            for network in networks:
                yield Shard(network, root, self.length)


def job(pairs: Sequence[tuple[ModelFile, Automaton]], length: int) -> Job:
    """Cut all words of up to ``length`` letters so that shards have some `LEAVES`."""
    letters, depth = len(pairs[0][1].letters), 0
    most = MOST // len(pairs)
    while letters ** (depth + 1) <= most and letters ** (length - depth - 1) >= LEAVES:
        depth += 1
        if letters == 1:
            break
    return Job(tuple(pairs), length, depth)


@dataclass(frozen=True)
class Outcome:
    """The result of running a shard.

    Attributes:
        shard: Its name.
        length: No longer words were run: less than asked for only if a shorter word was
            known to be wrong.
        words: How many words were run.
        wrong: Letter indices of the first of the shortest wrong words.
        counterexample: The same word by names, with the right and the given answers.
    """

    shard: str
    length: int
    words: int
    wrong: tuple[int, ...] | None = None
    counterexample: Counterexample | None = None


def run(
    opened: Model,
    machine: Automaton,
    shard: Shard,
    budget: int = BUDGET,
    progress: Progress | None = None,
) -> Outcome:
    """Run the words of a shard, or the shorter ones of them.

    Raises:
        CheckError: If the letters differ, or the network has no room for the words.
    """
    if shard.length <= len(shard.root):
        return Outcome(shard.name, shard.length, 0)
    done = exhaustive(
        opened, machine, shard.length, progress, budget=budget, below=shard.root
    )
    return _outcome(machine, shard, done)


def _outcome(machine: Automaton, shard: Shard, done: Simulation) -> Outcome:
    found, wrong = done.counterexample, None
    if found is not None:
        wrong = tuple(machine.semiautomaton.encode(found.word).tolist())
    return Outcome(shard.name, shard.length, done.words, wrong, found)


def _model_hash(file: ModelFile) -> str:
    """Of header and tensors, whatever the order in which a file has them."""
    parts = [json.dumps(file.header, sort_keys=True, default=list).encode()]
    for name in sorted(file.tensors):
        array = file.tensors[name]
        parts += [f"{name} {array.shape}".encode(), array.tobytes()]
    return _hash(b"\0".join(parts))


def _machine_hash(machine: Automaton) -> str:
    return _hash(json.dumps(json_format.to_object(machine), sort_keys=True).encode())


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
