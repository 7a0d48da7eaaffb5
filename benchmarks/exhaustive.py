"""All words of 20 letters: the job engine beside plain batched forward passes.

The engine runs the first shards of the tree, and checks; plain forward runs words of
full length in batches, and looks at no answer. They take turns in one run, each on one
core, in seconds of computing. Then the engine has two processes and torch two threads, by
the clock on the wall, which is kind to the engine where other programs run: threads wait
for one another after every operation.
A plain pass answers for all prefixes of its words, so *words* are words of full length
in both columns; *positions* are answers that were computed.
"""

import multiprocessing
import time
from statistics import median

import torch
from report import Row, Table, parser, publish

import krohn
from krohn.jobs.worker_pool import WorkerPool, processes, this_process
from krohn.network.model import Model
from krohn.verify.testing.sharded import ShardWork
from krohn.verify.testing.shards import Outcome, Shard, job

MODELS = [
    ("C2", "counter"),
    ("C2", "scan"),
    ("FlipFlop", "cascade"),
    ("C3", "counter"),
    ("C3", "scan"),
    ("C3", "cascade"),
]
PLAIN_BATCHES = (128, 256, 512, 1024, 2048)
"""The plain forward pass is measured with the fastest of them, chosen for each network."""
MEMORY = 2**31
RUNS = (("one process", 1, 4), ("two processes", 2, 8))
"""Processes, and shards."""


def clock() -> float:
    """Seconds of computing if one process does all of it, or seconds on the wall."""
    alone = multiprocessing.active_children() == []
    return time.process_time() if alone else time.perf_counter()


def plain(model: Model, words: torch.Tensor, batch: int) -> float:
    """Words of full length per second."""
    start = clock()
    with torch.inference_mode():
        for some in words.split(batch):
            model(some)
    return len(words) / (clock() - start)


def fastest(model: Model, words: torch.Tensor) -> int:
    """The batch with which plain forward passes are fastest."""
    rates = {
        batch: median(plain(model, words, batch) for _ in range(3))
        for batch in PLAIN_BATCHES
    }
    return max(rates, key=lambda batch: rates[batch])


def measure(
    name: str, construction: str, length: int, jobs: int, shards: int, repeats: int
) -> tuple[float, float, float]:
    """Median words per second of plain forward and of the tree, and answers of it."""
    machine = krohn.zoo(name)
    file = krohn.compile(machine, length, construction).file
    model, letters = Model(file), len(machine.letters)
    generator = torch.Generator().manual_seed(0)
    words = torch.randint(letters, (2**13, length), generator=generator)
    batch = fastest(model, words)
    todo = job([(file, machine)], length)
    work = ShardWork(todo, MEMORY)
    with this_process(work) if jobs == 1 else processes(work, jobs) as pool:
        roots = [s for s in todo.shards() if s.root or not todo.depth]
        for future in [pool.hand(s) for s in roots[:jobs]]:
            future.result()  # processes have started when this is there
        rates = [
            (plain(model, words, batch), *tree(pool, roots[:shards], letters))
            for _ in range(repeats)
        ]
    alone, full, answers = (median(column) for column in zip(*rates, strict=True))
    return alone, full, answers


def tree(
    pool: WorkerPool[Shard, Outcome], shards: list[Shard], letters: int
) -> tuple[float, float]:
    """Words of full length per second, and answers per second."""
    start = clock()
    futures = [pool.hand(shard) for shard in shards]
    outcomes = [future.result() for future in futures]
    seconds = clock() - start
    if any(done.wrong is not None for done in outcomes):
        raise SystemExit("a compiled network is wrong")
    leaves = sum(letters ** (s.length - len(s.root)) for s in shards)
    return leaves / seconds, sum(done.words for done in outcomes) / seconds


def rows(length: int, jobs: int, shards: int, repeats: int) -> list[Row]:
    """A row for each model."""
    torch.set_num_threads(jobs)
    found = []
    for name, construction in MODELS:
        alone, words, answers = measure(
            name, construction, length, jobs, shards, repeats
        )
        found.append(
            {
                "machine": name,
                "construction": construction,
                "letters": len(krohn.zoo(name).letters),
                "plain words/s": alone,
                "plain positions/s": alone * length,
                "tree words/s": words,
                "tree positions/s": answers,
                "words: tree/plain": words / alone,
            }
        )
    return found


def main() -> None:
    """Measure every model and print the tables."""
    found = parser(__doc__)
    found.add_argument("--length", type=int, default=20)
    found.add_argument("--repeats", type=int, default=3)
    given = found.parse_args()
    publish(
        [
            Table(
                f"words of {given.length} letters, {title}",
                rows(given.length, jobs, shards, given.repeats),
            )
            for title, jobs, shards in RUNS
        ],
        given,
    )


if __name__ == "__main__":
    main()
