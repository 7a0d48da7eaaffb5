"""The job file: which shards are done, a line for each (`krohn.jobs.journal`).

A line reaches the disk before its shard counts as done, and names the job by its hash.
"""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from krohn.jobs import journal
from krohn.verify.testing.counterexample import CheckError, Counterexample
from krohn.verify.testing.shards import Job, Outcome, Shard


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
            for record in journal.records(self.path):
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

    def settled(self, shard: Shard) -> bool:
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
            journal.append(self.path, {"job": self.job.key, **asdict(done)})
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
            done = _outcome(record)
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


def _outcome(record: dict[str, Any]) -> Outcome:
    wrong, found = record["wrong"], record["counterexample"]
    return Outcome(
        str(record["shard"]),
        int(record["length"]),
        int(record["words"]),
        None if wrong is None else tuple(map(int, wrong)),
        None if found is None else _counterexample(found),
    )


def _counterexample(found: dict[str, Any]) -> Counterexample:
    word, expected, actual = (
        tuple(map(str, found[k])) for k in ("word", "expected", "actual")
    )
    return Counterexample(word, expected, actual, found.get("reading", "at once"))
