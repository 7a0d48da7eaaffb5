"""How all words are shared out among processes, as the options of a command say it."""

import re
from dataclasses import dataclass
from pathlib import Path

from krohn.algebra.errors import KrohnError

UNITS = {"": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
UNITS |= {"kB": 10**3, "MB": 10**6, "GB": 10**9}
MEMORY = 2**31


@dataclass(frozen=True)
class Sharding:
    """How all words are to be run.

    Attributes:
        jobs: How many processes of this machine.
        memory: The most bytes that each process may take.
        part: (i, n): only every n-th shard, from the i-th on, counted from 1.
        file: The job file; what it says is done is not done again.
        cluster: Of Dask: the address of a scheduler, or ``local:N``.
        every_start: Whether networks for the other start states, compiled in the same
            way, are run as well.
    """

    jobs: int = 1
    memory: int = MEMORY
    part: tuple[int, int] = (1, 1)
    file: str | Path | None = None
    cluster: str | None = None
    every_start: bool = False


def sharding(
    jobs: int | None = None,
    memory: str | None = None,
    shard: str | None = None,
    file: Path | None = None,
    cluster: str | None = None,
    every_start: bool = False,
) -> Sharding | None:
    """The sharding that the options of a command ask for; None if they ask for none.

    Raises:
        KrohnError: If an amount of memory or a part cannot be read, or if both processes
            and a cluster are asked for.
    """
    if not any((jobs, memory, shard, file, cluster, every_start)):
        return None
    if jobs and cluster:
        raise KrohnError(
            "--jobs and --cluster exclude each other; say local:N for both"
        )
    amount = MEMORY if memory is None else bytes_of(memory)
    part = (1, 1) if shard is None else part_of(shard)
    return Sharding(jobs or 1, amount, part, file, cluster, every_start)


def bytes_of(amount: str) -> int:
    """An amount of memory such as ``2GiB`` in bytes.

    Raises:
        KrohnError: If it cannot be read.
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([A-Za-z]*)", amount)
    if found is None or found[2] not in UNITS:
        raise KrohnError(f"{amount!r} is no amount of memory; say 512MiB or 2GiB")
    return int(float(found[1]) * UNITS[found[2]])


def part_of(text: str) -> tuple[int, int]:
    """``i/n`` as a pair.

    Raises:
        KrohnError: If it is none, or there is no such part.
    """
    found = re.fullmatch(r"(\d+)/(\d+)", text)
    if found is None or not 1 <= int(found[1]) <= int(found[2]):
        raise KrohnError(f"{text!r} is no part; the third of eight is 3/8")
    return int(found[1]), int(found[2])
