"""The work of a process on the shards of a job, within its share of the memory."""

import ctypes
import os
import resource
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import torch

from krohn.jobs.worker_pool import Report
from krohn.network.model import Model
from krohn.verify.testing.counterexample import CheckError
from krohn.verify.testing.shards import Job, Outcome, Shard, run

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
            _keep_memory()
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


def _keep_memory() -> None:
    """Do not give freed memory back after every pass, where the C library is glibc.

    Measured: processes that return and ask again for the same pages, side by side, take
    2.5 times as long.
    """
    with suppress(OSError, AttributeError):
        mallopt = ctypes.CDLL(None).mallopt
        for option in (M_TRIM_THRESHOLD, M_TOP_PAD):
            mallopt(option, KEPT)
        mallopt(M_MMAP_MAX, 0)
