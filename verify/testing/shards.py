"""All words up to a length, cut into shards, and the job file that says which are done."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

from krohn.algebra.automaton import Automaton
from krohn.algebra.formats import json_format
from krohn.jobs.worker_pool import add_record, records
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.verify.testing.counterexample import CheckError, Counterexample
from krohn.verify.testing.exhaustive import BUDGET, exhaustive
from krohn.verify.testing.simulation_result import Progress
from krohn.verify.testing.word_counts import words_below

# All words up to a length, cut into shards that can be run apart and counted once.
#
# The tree of words is cut at a depth d. One shard holds the words of up to d letters;
# each word of d letters is the root of another, which holds the longer words that go on
# from it. Every word up to the length is in exactly one shard, so the counts add up.


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
    counterexample, wrong = done.counterexample, None
    if counterexample is not None:
        wrong = tuple(machine.semiautomaton.encode(counterexample.word).tolist())
    return Outcome(shard.name, shard.length, done.words, wrong, counterexample)


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


# The job file: which shards are done, a line for each (`krohn.jobs.worker_pool`).
#
# A line reaches the disk before its shard counts as done, and names the job by its hash.


class JobJournal:
    """The outcomes of a job, in memory and in its file.

    Attributes:
        job: The job.
        outcomes: By the names of their shards; a shard is counted once.
        best: The outcome with the shortest wrong word, and of these the first.
    """

    def __init__(self, job: Job, path: str | Path | None = None) -> None:
        """Read the job file if there is one.

        Raises:
            CheckError: If it is the file of another job, or has impossible records.
            OSError: If it cannot be read.
        """
        self.job = job
        self.path = None if path is None else Path(path)
        self.outcomes: dict[str, Outcome] = {}
        self.best: Outcome | None = None
        self._full = {shard.name: shard for shard in job.shards()}
        if self.path is not None and self.path.exists():
            for record in records(self.path):
                self._take(self._read_outcome(record))

    @property
    def words(self) -> int:
        """How many words were run."""
        return sum(done.words for done in self.outcomes.values())

    @property
    def limit(self) -> int:
        """No word longer than this one is of interest."""
        best = self.best
        return self.job.length if best is None else _order(best)[0]

    def is_settled(self, shard: Shard) -> bool:
        """Whether a shard was run as far as is of interest."""
        done = self.outcomes.get(shard.name)
        return done is not None and done.length >= min(shard.length, self.limit)

    def add(self, done: Outcome) -> bool:
        """Note a shard, first in the file.

        Returns:
            Whether it is new; a shard that was run twice is counted once.

        Raises:
            OSError: If the file cannot be written.
        """
        if not self._news(done):
            return False
        if self.path is not None:
            add_record(self.path, {"job": self.job.key, **asdict(done)})
        self._take(done)
        return True

    def _news(self, done: Outcome) -> bool:
        known = self.outcomes.get(done.shard)
        return known is None or known.length < done.length

    def _take(self, done: Outcome) -> None:
        if not self._news(done):
            return
        self.outcomes[done.shard] = done
        if done.wrong is not None:
            best = self.best
            self.best = done if best is None else min(best, done, key=_order)

    def _read_outcome(self, record: dict[str, Any]) -> Outcome:
        if record.get("job") != self.job.key:
            raise CheckError(
                f"{self.path} is the file of another job: the model, the machine or the "
                "length has changed; name another file, or delete this one"
            )
        try:
            done = _read_outcome(record)
            shard = self._full[done.shard]
        except (KeyError, TypeError, ValueError):
            raise self._damaged_error() from None
        whole = Shard(shard.network, shard.root, done.length)
        right = done.wrong is not None or done.words == whole.words(self.job.letters)
        if not right or done.length > shard.length:
            raise self._damaged_error()
        return done

    def _damaged_error(self) -> CheckError:
        return CheckError(
            f"{self.path} is damaged: a line is not what a shard of this job comes to; "
            "delete the file and run the job again"
        )


def _order(done: Outcome) -> tuple[int, tuple[int, ...], str]:
    """The shortest wrong word first, then in the order of letters, then of networks."""
    word = done.wrong or ()
    return len(word), word, done.shard


def _read_outcome(record: dict[str, Any]) -> Outcome:
    wrong, counterexample = record["wrong"], record["counterexample"]
    return Outcome(
        str(record["shard"]),
        int(record["length"]),
        int(record["words"]),
        None if wrong is None else tuple(map(int, wrong)),
        None if counterexample is None else _counterexample(counterexample),
    )


def _counterexample(found: dict[str, Any]) -> Counterexample:
    word, expected, actual = (
        tuple(map(str, found[k])) for k in ("word", "expected", "actual")
    )
    return Counterexample(word, expected, actual, found.get("reading", "at once"))
