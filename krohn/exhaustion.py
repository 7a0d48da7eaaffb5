"""All words up to a length as a job: processes, memory, parts, job files, a cluster."""

import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from algebra.automaton import Automaton
from algebra.errors import KrohnError
from algebra.formats import json_format
from krohn.compilation import OWN
from krohn.compilation import compile as compiled
from network.modelfile import ModelFile
from verify import cluster
from verify.crew import Crew, processes, this_process
from verify.ledger import Ledger
from verify.sharded import Tally, run_shards, share
from verify.shards import Job, job
from verify.simulation import Progress, Simulation

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
    """What the options of a command ask for; None if they ask for nothing.

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


def run_job(
    file: ModelFile,
    machine: Automaton,
    length: int,
    how: Sharding,
    progress: Progress | None = None,
) -> Simulation:
    """Run what is not done yet of all words of up to ``length`` letters.

    Raises:
        CheckError: If the letters differ, the memory is too small, the job file is that
            of another job, or the run was interrupted.
        KrohnError: If the machine cannot be compiled from another start state.
    """
    pairs = every_start(file, machine) if how.every_start else [(file, machine)]
    todo = job(pairs, length)
    ledger = Ledger(todo, how.file)
    count = (cluster.workers(how.cluster) or 64) if how.cluster else how.jobs
    parts = share(ledger, how.part)
    done = run_shards(ledger, parts, _crew(todo, how), count, progress)
    found = done.best.counterexample if done.best else None
    about, other = _about(todo, done, how), _elsewhere(todo, done)
    return Simulation(done.words, length, found, about, done.complete, other)


def _crew(todo: Job, how: Sharding) -> AbstractContextManager[Crew]:
    if how.cluster is not None:
        return cluster.cluster(todo, how.cluster, how.memory)
    if how.jobs > 1:
        return processes(todo, how.jobs, how.memory)
    return this_process(todo, how.memory)


def every_start(
    file: ModelFile, machine: Automaton
) -> Sequence[tuple[ModelFile, Automaton]]:
    """The network, and networks of its construction for the other start states.

    Raises:
        KrohnError: If one of them cannot be compiled.
    """
    own = json_format.from_object(file.header["machine"])
    pairs = [(file, machine)]
    outputs = file.header["claim"].get("shows") == "outputs"
    arch = file.header["architecture"]["kind"]
    for state in own.states:
        if state == machine.states[machine.start]:
            continue
        other = compiled(
            own.with_start(state),
            file.header["claim"]["length"] or 1,
            "auto" if arch == "rnn" else file.header["construction"],
            arch=arch,
            observation=OWN if outputs else None,
            dtype=file.precision.name,
            proved=False,
        )
        pairs.append((other.file, machine.with_start(state)))
    return pairs


def _wrong_machine(todo: Job, done: Tally) -> Automaton:
    """The machine of the network that is wrong; the first one if none is."""
    number = 0 if done.best is None else int(done.best.shard.partition(":")[0])
    return todo.pairs[number][1]


def _elsewhere(todo: Job, done: Tally) -> str | None:
    """The start state of the network that is wrong, if it is none of a file."""
    first, machine = todo.pairs[0][1], _wrong_machine(todo, done)
    return None if machine.start == first.start else machine.states[machine.start]


def _about(todo: Job, done: Tally, how: Sharding) -> str:
    """What else is to be known of the words that were run."""
    said = ""
    if len(todo.pairs) > 1:
        said += f" from each of {len(todo.pairs)} start states"
    if done.best is not None and len(todo.pairs) > 1:
        machine = _wrong_machine(todo, done)
        said = f" from the start state {machine.states[machine.start]!r}"
    if not done.complete:
        said += (
            f" ({done.done} of {done.shards} shards; part {how.part[0]}/{how.part[1]})"
        )
    return said
