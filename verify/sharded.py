"""Every word up to a length, shard by shard: by many processes, and in several sittings.

What is done is in the job file, so a run that is stopped or killed goes on where it was,
and a shard that is run twice is counted once.
"""

from collections.abc import Iterable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

from verify.counterexample import CheckError
from verify.crew import Crew, Stopped
from verify.ledger import Ledger
from verify.shards import Outcome, Shard
from verify.simulation import Progress

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


def tally(ledger: Ledger) -> Tally:
    """What a job file says."""
    done = shards = 0
    for shard in ledger.job.shards():
        shards += 1
        done += ledger.settled(shard)
    return Tally(ledger.words, done, shards, ledger.best)


def share(ledger: Ledger, part: tuple[int, int]) -> list[Shard]:
    """The shards of part i of n, counted from 1.

    Raises:
        CheckError: If there is no such part.
    """
    i, n = part
    if not 1 <= i <= n:
        raise CheckError(f"there is no shard {i}/{n}; name one of 1/{n} to {n}/{n}")
    return list(ledger.job.shards())[i - 1 :: n]


def run_shards(
    ledger: Ledger,
    shards: Iterable[Shard],
    crew: AbstractContextManager[Crew],
    width: int,
    progress: Progress | None = None,
) -> Tally:
    """Run the shards that are not settled yet.

    Args:
        ledger: What is done; it grows.
        shards: What is to be done.
        crew: Who does it; entered here.
        width: How many shards can run at once.
        progress: Called after every shard with the words of these shards.

    Raises:
        CheckError: If the run was interrupted or a worker died; what is done is kept.
    """
    try:
        with crew as hand:
            _Run(ledger, list(shards), hand, progress).work(AHEAD * width)
    except KeyboardInterrupt:
        raise CheckError(f"interrupted; {_kept(ledger)}") from None
    except (BrokenProcessPool, Stopped):
        raise CheckError(
            f"a worker died (it may have been out of memory); {_kept(ledger)}"
        ) from None
    return tally(ledger)


def _kept(ledger: Ledger) -> str:
    if ledger.path is None:
        return "nothing was kept, because no job file was named (--job FILE)"
    count = tally(ledger)
    return (
        f"{count.done} of {count.shards} shards are kept in {ledger.path}; run the same "
        "command again to go on"
    )


class _Run:
    """Shards on their way from those that are to be done into the ledger."""

    def __init__(
        self, ledger: Ledger, shards: list[Shard], hand: Crew, progress: Progress | None
    ) -> None:
        self.ledger, self.shards, self.hand = ledger, shards, hand
        self.progress = progress
        letters = ledger.job.letters
        self.total = sum(shard.words(letters) for shard in shards)
        known = (ledger.outcomes.get(shard.name) for shard in shards)
        self.words = sum(done.words for done in known if done is not None)

    def work(self, most: int) -> None:
        """Keep so many shards on their way until all are settled."""
        pending: set[Future[Outcome]] = set()
        self._report()
        for shard in self.shards:
            if self.ledger.settled(shard):
                continue
            length = min(shard.length, self.ledger.limit)
            pending.add(self.hand(replace(shard, length=length)))
            if len(pending) >= most:
                pending = self._note(pending)
        while pending:
            pending = self._note(pending)

    def _note(self, pending: set[Future[Outcome]]) -> set[Future[Outcome]]:
        """Wait for some of them, and write down what they came to."""
        done, left = wait(pending, return_when=FIRST_COMPLETED)
        for future in done:
            outcome = future.result()
            if self.ledger.add(outcome):
                self.words += outcome.words
        self._report()
        return left

    def _report(self) -> None:
        if self.progress is not None:
            self.progress(self.words, self.total)
