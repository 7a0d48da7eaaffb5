"""The type of a batch as JSON."""

from typing import TypedDict

from krohn.instruments.batch.work import RowResult


class Batch(TypedDict):
    """The rows of a table, each compiled, proved and run.

    Attributes:
        passed: How many rows are verified, and answer every labelled word as expected.
        by_job: How many rows are as the job file tells them.
    """

    rows: list[RowResult]
    passed: int
    failed: int
    by_job: int
