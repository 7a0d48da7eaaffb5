"""Every word up to a length, shard by shard, by many processes in several sittings."""

import ctypes
import os
import resource
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from krohn.algebra.errors import KrohnError
from krohn.jobs.worker_pool import Report, WorkerDied, WorkerPool
from krohn.network.model import Model
from krohn.verify.testing.counterexample import CheckError
from krohn.verify.testing.shards import Job, JobJournal, Outcome, Shard, run
from krohn.verify.testing.simulation_result import Progress

# glibc's names, from malloc.h.
M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_MAX = -1, -2, -4
KEPT = 2**26
"""How much freed memory a process keeps at the top of its heap."""

LEAST = 2**24
"""Below this much memory for words there is more bookkeeping than work."""


@dataclass(frozen=True)
class ShardWork:
    """The networks of a job, and how many bytes each process that runs them may take."""

    job: Job
    memory: int

    def open(self, own: bool) -> Callable[[Shard, Report], Outcome]:
        """Open the networks; a process of their own runs them on one thread.

        Raises:
            CheckError: If the memory is too small for this process.
        """
        if own:
            torch.set_num_threads(1)
            keep_memory()
        pairs = [(Model(file), machine) for file, machine in self.job.pairs]
        # A quarter is left to the holes between what is allocated.
        budget = (self.memory - resident()) * 3 // 4
        if budget < LEAST:
            needed = (resident() + 2 * LEAST) // 2**20 + 1
            raise CheckError(
                f"a process has {self.memory // 2**20} MiB, which is too little for the "
                f"network and its words; allow at least --memory {needed}MiB"
            )
        return lambda shard, _: run(*pairs[shard.network], shard, budget)


def resident() -> int:
    """How many bytes of memory this process has now, or has had at most."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return pages * os.sysconf("SC_PAGE_SIZE")


def keep_memory() -> None:
    """Do not give freed memory back after every pass, where the C library is glibc.

    Measured: processes that return and ask again for the same pages, side by side, take
    2.5 times as long.
    """
    with suppress(OSError, AttributeError):
        mallopt = ctypes.CDLL(None).mallopt
        for option in (M_TRIM_THRESHOLD, M_TOP_PAD):
            mallopt(option, KEPT)
        mallopt(M_MMAP_MAX, 0)


# Every word up to a length, shard by shard: by many processes, and in several sittings.
#
# What is done is in the job file, so a run that is stopped or killed goes on where it
# was, and a shard that is run twice is counted once.


AHEAD = 2
"""How many shards are handed out for each worker, so that none waits for the next."""


@dataclass(frozen=True)
class Tally:
    """How far a job is.

    Attributes:
        words: How many words were run; each is counted once.
        done: How many shards are settled.
        shards: How many there are.
        best: What the shard with the first of the shortest wrong words came to.
    """

    words: int
    done: int
    shards: int
    best: Outcome | None

    @property
    def complete(self) -> bool:
        """Whether every word up to the length was run, or up to a wrong one's."""
        return self.done == self.shards


def tally(journal: JobJournal) -> Tally:
    """The count of a job file: words, finished shards, and the best wrong word."""
    settled = [journal.is_settled(shard) for shard in journal.job.shards()]
    return Tally(journal.words, sum(settled), len(settled), journal.best)


def share(journal: JobJournal, part: tuple[int, int]) -> list[Shard]:
    """The shards of part i of n, counted from 1.

    Raises:
        CheckError: If there is no such part.
    """
    i, n = part
    if not 1 <= i <= n:
        raise CheckError(f"there is no shard {i}/{n}; name one of 1/{n} to {n}/{n}")
    return list(journal.job.shards())[i - 1 :: n]


def run_shards(
    journal: JobJournal,
    shards: Sequence[Shard],
    workers: AbstractContextManager[WorkerPool[Shard, Outcome]],
    progress: Progress | None = None,
) -> Tally:
    """Run the shards that are not settled yet.

    Args:
        journal: The outcomes so far; it grows.
        shards: The shards to run.
        workers: The workers; entered here.
        progress: Called after every shard with the words of these shards.

    Raises:
        KrohnError: If the run was interrupted or a worker died; finished shards are kept.
    """
    total = sum(shard.words(journal.job.letters) for shard in shards)
    known = (journal.outcomes.get(shard.name) for shard in shards)
    words = sum(done.words for done in known if done is not None)
    report = progress or (lambda done, total: None)
    report(words, total)
    try:
        with workers as pool:
            for _, done in pool.each(_open_shards(journal, shards), AHEAD):
                if isinstance(done, KrohnError):
                    raise done
                words += done.words * journal.add(done)
                report(words, total)
    except KeyboardInterrupt:
        raise CheckError(f"interrupted; {_kept_message(journal)}") from None
    except WorkerDied as error:
        raise CheckError(f"a worker died: {error}; {_kept_message(journal)}") from None
    return tally(journal)


def _open_shards(journal: JobJournal, shards: Sequence[Shard]) -> Iterator[Shard]:
    """The shards left to be run, each as far as is of interest when it is taken."""
    for shard in shards:
        if not journal.is_settled(shard):
            yield replace(shard, length=min(shard.length, journal.limit))


def _kept_message(journal: JobJournal) -> str:
    if journal.path is None:
        return "nothing was kept, because no job file was named (--job FILE)"
    count = tally(journal)
    return (
        f"{count.done} of {count.shards} shards are kept in {journal.path}; run the same "
        "command again to go on"
    )
