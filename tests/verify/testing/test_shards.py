"""Shards hold every word once; job files keep exact counts, whatever interrupts them."""

import json
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import krohn
from krohn.algebra.automaton import Automaton, Semiautomaton
from krohn.jobs.worker_pool import WorkerPool, this_process
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.verify.testing import shards as cut
from krohn.verify.testing.counterexample import CheckError
from krohn.verify.testing.exhaustive import exhaustive
from krohn.verify.testing.sharded import AHEAD, ShardWork, run_shards, share, tally
from krohn.verify.testing.shards import Job, JobJournal, Outcome, Shard, job
from krohn.verify.testing.word_counts import words_below

MEMORY = 2**40
T = 9


@pytest.fixture(scope="module")
def parity() -> tuple[ModelFile, Automaton]:
    return krohn.compile("C2", T, "counter").file, krohn.zoo("C2")


@pytest.fixture(scope="module")
def wrong(parity: tuple[ModelFile, Automaton]) -> tuple[ModelFile, Automaton]:
    """Parity is no flip-flop: here "1" sets, and nothing resets but "0"."""
    machine = parity[1]
    table = np.array([[0, 1], [1, 1]])
    return parity[0], Automaton(
        Semiautomaton(table, machine.letters, machine.states), machine.start
    )


@pytest.fixture(autouse=True)
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cut, "LEAVES", 2**5)


def run(journal: JobJournal, part: tuple[int, int] = (1, 1)) -> None:
    workers = this_process(ShardWork(journal.job, MEMORY))
    run_shards(journal, share(journal, part), workers)


@contextmanager
def dying(todo: Job, after: int) -> Iterator[WorkerPool[Shard, Outcome]]:
    """Somebody who is interrupted after some shards."""
    left = [after]

    def hand(shard: Shard) -> Future[Outcome]:
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return pool.hand(shard)

    with this_process(ShardWork(todo, MEMORY)) as pool:
        yield WorkerPool(hand, pool.width)


@settings(max_examples=15)
@given(st.integers(1, 3), st.integers(1, 5), st.data())
def test_every_word_is_in_exactly_one_shard(
    letters: int, length: int, data: st.DataObject
) -> None:
    table = np.zeros((letters, 1), dtype=np.int64)
    names = tuple(f"a{i}" for i in range(letters))
    machine = Automaton(Semiautomaton(table, names, ("q",)), 0)
    depth = data.draw(st.integers(0, length - 1))
    todo = Job((("no model", machine),), length, depth)  # type: ignore[arg-type]
    shards = list(todo.shards())
    for n in range(1, length + 1):
        for word in product(range(letters), repeat=n):
            assert sum(holds(shard, word) for shard in shards) == 1
    assert sum(shard.words(letters) for shard in shards) == todo.words


def holds(shard: Shard, word: tuple[int, ...]) -> bool:
    depth = len(shard.root)
    return depth < len(word) <= shard.length and word[:depth] == shard.root


@pytest.mark.parametrize("root", [(), (1,), (0, 1, 1), (1,) * (T - 1)])
def test_words_below_a_root_are_run_and_no_others(
    parity: tuple[ModelFile, Automaton], root: tuple[int, ...]
) -> None:
    done = exhaustive(Model(parity[0]), parity[1], T, below=root)
    assert (done.has_passed, done.words) == (True, 2 ** (T + 1 - len(root)) - 2)


def test_a_wrong_word_below_a_root_is_the_first_of_the_shortest(
    wrong: tuple[ModelFile, Automaton],
) -> None:
    done = exhaustive(Model(wrong[0]), wrong[1], T, below=(0, 0))
    assert done.counterexample is not None
    assert done.counterexample.word == ("0", "0", "1", "1")


def test_shards_come_to_what_one_walk_comes_to(
    parity: tuple[ModelFile, Automaton], wrong: tuple[ModelFile, Automaton]
) -> None:
    for pair in (parity, wrong):
        whole = exhaustive(Model(pair[0]), pair[1], T)
        journal = JobJournal(job([pair], T))
        run(journal)
        found = tally(journal)
        assert found.complete
        assert found.shards > 8
        best = found.best.counterexample if found.best else None
        assert best == whole.counterexample
        if whole.has_passed:
            assert found.words == whole.words == 2 ** (T + 1) - 2


@pytest.mark.sample(1)
@pytest.mark.parametrize("after", [0, 1, 5, 16])
def test_a_run_that_is_interrupted_goes_on_with_an_exact_count(
    parity: tuple[ModelFile, Automaton], tmp_path: Path, after: int
) -> None:
    kept = after // AHEAD * AHEAD
    todo, path = job([parity], T), tmp_path / "job.jsonl"
    journal = JobJournal(todo, path)
    with pytest.raises(CheckError, match=rf"{kept} of 17 shards are kept"):
        run_shards(journal, list(todo.shards()), dying(todo, after))
    again = JobJournal(todo, path)
    assert len(again.outcomes) == kept
    run(again)
    assert (tally(again).words, tally(again).complete) == (2 ** (T + 1) - 2, True)
    assert len(path.read_text().splitlines()) == 17


@pytest.mark.sample(1)
@pytest.mark.parametrize("lost", [1, 30, 400, 10**6])
def test_a_line_that_was_cut_off_is_run_again(
    parity: tuple[ModelFile, Automaton], tmp_path: Path, lost: int
) -> None:
    todo, path = job([parity], T), tmp_path / "job.jsonl"
    run(JobJournal(todo, path))
    whole = path.read_bytes()
    path.write_bytes(whole[: max(0, len(whole) - lost)])
    again = JobJournal(todo, path)
    assert lost == 1 or not tally(again).complete
    run(again)
    read = JobJournal(todo, path)
    assert tally(read) == tally(again)
    assert (tally(read).words, tally(read).complete) == (2 ** (T + 1) - 2, True)


def test_parts_joined_are_the_whole_and_repeated_shards_count_once(
    parity: tuple[ModelFile, Automaton], tmp_path: Path
) -> None:
    todo = job([parity], T)
    paths = [tmp_path / f"{i}.jsonl" for i in (1, 2, 3)]
    for i, path in enumerate(paths, start=1):
        journal = JobJournal(todo, path)
        run(journal, (i, 3))
        assert not tally(journal).complete
    joined = tmp_path / "all.jsonl"
    joined.write_bytes(b"".join(p.read_bytes() for p in [*paths, paths[0]]))
    assert tally(JobJournal(todo, joined)).complete
    assert tally(JobJournal(todo, joined)).words == 2 ** (T + 1) - 2


def test_a_changed_job_does_not_go_on(
    parity: tuple[ModelFile, Automaton],
    wrong: tuple[ModelFile, Automaton],
    tmp_path: Path,
) -> None:
    path = tmp_path / "job.jsonl"
    run(JobJournal(job([parity], T), path))
    file = parity[0]
    name = min(file.tensors)
    tensors = {**file.tensors, name: np.nextafter(file.tensors[name], 9)}
    touched = ModelFile(file.header, tensors, file.precision)
    for todo in (job([parity], T - 1), job([wrong], T), job([(touched, parity[1])], T)):
        with pytest.raises(CheckError, match="file of another job"):
            JobJournal(todo, path)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "change", [{"words": 3}, {"shard": "7:0"}, {"length": T + 1}, {"words": "many"}]
)
def test_a_record_that_cannot_be_is_refused(
    parity: tuple[ModelFile, Automaton], tmp_path: Path, change: dict[str, object]
) -> None:
    todo, path = job([parity], T), tmp_path / "job.jsonl"
    run(JobJournal(todo, path))
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[3] |= change
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(CheckError, match="is damaged"):
        JobJournal(todo, path)


def test_a_wrong_word_survives_the_job_file(
    wrong: tuple[ModelFile, Automaton], tmp_path: Path
) -> None:
    todo, path = job([wrong], T), tmp_path / "job.jsonl"
    journal = JobJournal(todo, path)
    run(journal)
    best = JobJournal(todo, path).best
    assert best is not None
    assert best == journal.best
    assert best.wrong == (1, 1)


@pytest.mark.slow
def test_networks_of_all_start_states_are_counted_together(
    machine: Callable[[str], Automaton],
) -> None:
    pairs = [
        (krohn.compile(start, 4, "scan").file, start)
        for start in map(machine("C3").with_start, machine("C3").states)
    ]
    journal = JobJournal(job(pairs, 4))
    run(journal)
    assert tally(journal).words == 3 * words_below(len(machine("C3").letters), 4)


def test_too_little_memory_is_said(parity: tuple[ModelFile, Automaton]) -> None:
    with pytest.raises(CheckError, match="allow at least memory="):
        ShardWork(job([parity], T), 2**20).open(own=False)


def test_there_is_no_part_beyond_the_last(
    parity: tuple[ModelFile, Automaton],
) -> None:
    with pytest.raises(CheckError, match="no shard 4/3"):
        share(JobJournal(job([parity], T)), (4, 3))
