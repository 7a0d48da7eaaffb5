"""All words up to a length as a job: processes, memory, parts, job files, a cluster."""

from collections.abc import Sequence
from contextlib import AbstractContextManager

from krohn.algebra.automaton import Automaton
from krohn.checks import Sharding
from krohn.compilation import compile as compiled
from krohn.foreign import own_machine
from krohn.jobs.cluster import cluster
from krohn.jobs.worker_pool import WorkerPool, processes, this_process
from krohn.machines import OWN
from krohn.network.modelfile import ModelFile
from krohn.program.claim import Shows
from krohn.verify.testing.sharded import ShardWork, Tally, run_shards, share
from krohn.verify.testing.shards import Job, JobJournal, Outcome, Shard, job
from krohn.verify.testing.simulation_result import Progress, Simulation


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
    journal = JobJournal(todo, how.job_file)
    parts = share(journal, how.part)
    recorded_shards = len(journal.outcomes)
    done = run_shards(journal, parts, _workers(todo, how), progress)
    counterexample = done.best.counterexample if done.best else None
    about, other = _about(todo, done, how), _elsewhere(todo, done)
    if recorded_shards and counterexample is None:  # which anybody may have written
        about += (
            f", {recorded_shards} of {done.shards} shards by the word of the job file"
        )
    return Simulation(done.words, length, counterexample, about, done.complete, other)


def _workers(
    todo: Job, how: Sharding
) -> AbstractContextManager[WorkerPool[Shard, Outcome]]:
    work = ShardWork(todo, how.memory)
    if how.cluster is not None:
        return cluster(work, how.cluster)
    return processes(work, how.jobs) if how.jobs > 1 else this_process(work)


def every_start(
    file: ModelFile, machine: Automaton
) -> Sequence[tuple[ModelFile, Automaton]]:
    """The network, and networks of its construction for the other start states.

    Raises:
        KrohnError: If one of them cannot be compiled.
    """
    own = own_machine(file)
    pairs = [(file, machine)]
    outputs = file.claim.shows is Shows.OUTPUTS
    arch = file.architecture.kind
    for state in own.states:
        if state == machine.states[machine.start]:
            continue
        other = compiled(
            own.with_start(state),
            file.claim.length,
            file.header["construction"],
            arch=arch,
            observe=OWN if outputs else None,
            dtype=file.precision.name,
            proof=False,
        )
        pairs.append((other.file, machine.with_start(state)))
    return pairs


def _wrong_machine(todo: Job, done: Tally) -> Automaton:
    number = 0 if done.best is None else int(done.best.shard.partition(":")[0])
    return todo.pairs[number][1]


def _elsewhere(todo: Job, done: Tally) -> str | None:
    """The start state of the network that is wrong, if it is none of a file."""
    first, machine = todo.pairs[0][1], _wrong_machine(todo, done)
    return None if machine.start == first.start else machine.states[machine.start]


def _about(todo: Job, done: Tally, how: Sharding) -> str:
    """The rest of the sentence on the words that were run: start states and shards."""
    text = ""
    if len(todo.pairs) > 1:
        text += f" from each of {len(todo.pairs)} start states"
    if done.best is not None and len(todo.pairs) > 1:
        machine = _wrong_machine(todo, done)
        text = f" from the start state {machine.states[machine.start]!r}"
    if not done.complete:
        text += (
            f" ({done.done} of {done.shards} shards; part {how.part[0]}/{how.part[1]})"
        )
    return text
