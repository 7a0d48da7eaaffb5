"""A run is a function of task, architecture, recipe and seed, however often it stops."""

import multiprocessing
import random
import signal
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import krohn
from krohn.algebra.errors import KrohnError
from krohn.instruments.compare.models import (
    Architecture,
    Derived,
    Gpt,
    Lstm,
    build,
)
from krohn.instruments.compare.models.files import load
from krohn.instruments.compare.tasks.catalogue import task
from krohn.instruments.compare.training import (
    Cell,
    Recipe,
    Run,
    sweep,
    train,
)
from krohn.instruments.compare.training.folder import (
    CHECKPOINT,
    RECORD,
    WEIGHTS,
    RunFolder,
)
from krohn.instruments.compare.training.objective import Objective
from krohn.instruments.compare.training.run import identity
from krohn.instruments.compare.training.trainer import Trainer

PARITY = task("C2")
SMALL = Recipe(steps=60, batch=8, length=6, every=20, probe=32, warmup=5)
TINY = Lstm(4, 8)


def same_weights(one: Run, other: Run) -> bool:
    pairs = zip(one.network.parameters(), other.network.parameters(), strict=True)
    return all(torch.equal(p, q) for p, q in pairs)


def seen(run: Run) -> list[tuple[int, float, float]]:
    return [(p.step, p.loss, p.accuracy) for p in run.history]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("architecture", "recipe"),
    [
        (TINY, SMALL),
        (replace(TINY, layers=2, dropout=0.3), replace(SMALL, average=0.0)),
        (Gpt(1, 16, 2, 16, dropout=0.1), replace(SMALL, steps=12, shift=4)),
    ],
)
def test_equal_seeds_give_equal_weights_and_the_global_generator_is_left_alone(
    architecture: Architecture, recipe: Recipe
) -> None:
    torch.manual_seed(7)
    one = train(PARITY, architecture, recipe, 0)
    drawn = torch.rand(3)
    torch.manual_seed(7)
    assert torch.equal(drawn, torch.rand(3))
    torch.manual_seed(8)
    two = train(PARITY, architecture, recipe, 0)
    assert same_weights(one, two)
    assert seen(one) == seen(two)
    assert not same_weights(one, train(PARITY, architecture, recipe, 1))


def test_an_easy_task_is_learnt_and_training_stops_then() -> None:
    recipe = Recipe(
        400, 16, 6, 1e-2, warmup=5, every=20, probe=64, stop_at=1.0, decay="constant"
    )
    run = train(task("Dyck4,2 (stack-top)"), Lstm(8, 24), recipe, 0)
    assert run.outcome == "early"
    assert run.steps < 400
    assert run.history[-1].accuracy == 1.0
    assert [p.step for p in run.history] == list(range(20, run.steps + 1, 20))
    assert run.seconds > 0


def test_a_loss_that_is_no_number_is_a_result(tmp_path: Path) -> None:
    recipe = replace(SMALL, rate=1e30, warmup=0, clip=None)
    run = train(PARITY, TINY, recipe, 0, tmp_path)
    assert run.outcome == "diverged"
    assert run.steps < recipe.steps
    assert run.history[-1].accuracy == 0
    again = train(PARITY, TINY, recipe, 0, tmp_path)
    assert again.outcome == "diverged"
    assert again.history[-1].loss != again.history[-1].loss


@pytest.mark.slow
def test_a_finished_run_is_read_and_not_trained_again(tmp_path: Path) -> None:
    run = train(PARITY, TINY, SMALL, 0, tmp_path)
    steps: list[int] = []
    again = train(
        PARITY, TINY, SMALL, 0, tmp_path, report=lambda *s: steps.append(s[0])
    )
    assert not steps
    assert same_weights(run, again)
    assert (run.history, run.outcome) == (again.history, again.outcome)
    assert not again.network.training
    assert sorted(p.name for p in tmp_path.iterdir()) == [RECORD, WEIGHTS]


@pytest.mark.parametrize("architecture", [TINY, Gpt(1, 16, 2, 16)])
def test_the_weights_of_a_run_are_the_file_of_a_network(
    tmp_path: Path, architecture: Architecture
) -> None:
    run = train(PARITY, architecture, replace(SMALL, steps=5), 0, tmp_path)
    network = load(tmp_path / WEIGHTS)
    words = torch.tensor([[0, 1, 1, 0, 1]])
    with torch.no_grad():
        assert torch.equal(network(words), run.network(words))


def stopped_after(steps: int, folder: Path, recipe: Recipe = SMALL) -> None:
    def stop(done: int, total: int) -> None:
        if done == steps:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(PARITY, TINY, recipe, 0, folder, report=stop)


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize("average", [0.9, 0.0])
@pytest.mark.parametrize("steps", [1, 20, 33])
def test_ctrl_c_leaves_a_folder_that_goes_on(
    tmp_path: Path, steps: int, average: float
) -> None:
    recipe = replace(SMALL, average=average)
    stopped_after(steps, tmp_path, recipe)
    whole = train(PARITY, TINY, recipe, 0)
    rest: list[int] = []
    run = train(PARITY, TINY, recipe, 0, tmp_path, report=lambda *s: rest.append(s[0]))
    assert same_weights(run, whole)
    assert seen(run) == seen(whole)
    assert rest == list(range(rest[0], SMALL.steps + 1))
    assert rest[0] == 1 if steps == 1 else 1 < rest[0] <= steps


def put_to_death(architecture: Architecture, recipe: Recipe, folder: Path) -> None:
    """A process that trains until it is done or killed."""
    torch.set_num_threads(1)
    train(PARITY, architecture, recipe, 0, folder)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(
    ("architecture", "steps"),
    [(Lstm(4, 8, layers=2, dropout=0.2), 120), (Gpt(1, 16, 2, 16, dropout=0.1), 60)],
)
def test_runs_that_are_killed_at_random_points_end_with_the_same_weights(
    tmp_path: Path, architecture: Architecture, steps: int, seed: int
) -> None:
    recipe, context = replace(SMALL, steps=steps), multiprocessing.get_context("spawn")
    whole = train(PARITY, architecture, recipe, 0)
    rng, killed = random.Random(seed), 0
    for _ in range(3):
        process = context.Process(
            target=put_to_death, args=(architecture, recipe, tmp_path)
        )
        process.start()
        while not (tmp_path / CHECKPOINT).exists() and process.is_alive():
            time.sleep(0.001)
        time.sleep(rng.random() * whole.seconds / 2)
        process.kill()
        process.join()
        killed += process.exitcode == -signal.SIGKILL
    assert killed
    run = train(PARITY, architecture, recipe, 0, tmp_path)
    assert same_weights(run, whole)
    assert seen(run) == seen(whole)


@pytest.mark.parametrize(
    ("other", "named"),
    [
        ({"seed": 1}, "seed differ"),
        ({"recipe": replace(SMALL, rate=0.1)}, "recipe differ"),
        ({"task": task("C3"), "architecture": Lstm(4, 9)}, "task and architecture"),
    ],
)
def test_the_folder_of_another_run_is_refused(
    tmp_path: Path, other: dict[str, object], named: str
) -> None:
    stopped_after(1, tmp_path)
    asked = {"task": PARITY, "architecture": TINY, "recipe": SMALL, "seed": 0} | other
    with pytest.raises(KrohnError, match=f"another run.*{named}"):
        train(**asked, folder=tmp_path)


@pytest.mark.sample(3)
@pytest.mark.parametrize("file", [RECORD, CHECKPOINT, WEIGHTS])
@pytest.mark.parametrize("harm", ["cut", "flip", "empty"])
def test_damaged_files_are_refused(tmp_path: Path, file: str, harm: str) -> None:
    recipe = replace(SMALL, steps=3)
    if file == CHECKPOINT:
        stopped_after(2, tmp_path, recipe)
    else:
        train(PARITY, TINY, recipe, 0, tmp_path)
    data = bytearray((tmp_path / file).read_bytes())
    if harm == "flip":
        data[-30 if file == RECORD else -5] ^= 1
    (tmp_path / file).write_bytes({"cut": data[:-20], "flip": data, "empty": b""}[harm])
    with pytest.raises(KrohnError, match=r"damaged; delete|another run"):
        train(PARITY, TINY, recipe, 0, tmp_path)


@pytest.mark.parametrize("text", ["[]", "1", '{"format": "krohn-run", "version": 1}'])
def test_a_record_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    stopped_after(1, tmp_path)
    (tmp_path / RECORD).write_text(text)
    with pytest.raises(KrohnError, match="damaged; delete"):
        train(PARITY, TINY, SMALL, 0, tmp_path)
    whole = '{"format": "krohn-run", "version": 1, "run": []}'
    (tmp_path / RECORD).write_text(whole)
    with pytest.raises(KrohnError, match="damaged; delete"):
        train(PARITY, TINY, SMALL, 0, tmp_path)


def test_a_checkpoint_of_weights_with_other_names_is_refused(tmp_path: Path) -> None:
    """As another release of a library may call them."""
    kept = RunFolder(tmp_path, identity(PARITY, TINY, SMALL, 0))
    other = build(replace(TINY, layers=2), 2, 2, 6, 0)
    kept.keep(Trainer(Objective(PARITY, SMALL, 0), other, "cpu"))
    with pytest.raises(KrohnError, match="damaged; delete"):
        train(PARITY, TINY, SMALL, 0, tmp_path)


@pytest.mark.parametrize("device", ["abacus", "cuda:99", "meta"])
def test_a_device_that_is_not_there_is_refused(tmp_path: Path, device: str) -> None:
    with pytest.raises(KrohnError, match=f"cannot compute on '{device}'"):
        train(PARITY, TINY, SMALL, 0, tmp_path / "run", device)
    with pytest.raises(KrohnError, match=f"cannot compute on '{device}'"):
        sweep([Cell(PARITY, TINY, SMALL, 0)], tmp_path / "all", device=device)
    assert not any(tmp_path.iterdir())


def test_what_cannot_be_trained_is_said_at_once(tmp_path: Path) -> None:
    for seed in (-1, 2**32):
        with pytest.raises(KrohnError, match="a seed is"):
            train(PARITY, TINY, SMALL, seed)
    (tmp_path / "file").write_text("")
    with pytest.raises(KrohnError, match="no folder"):
        train(PARITY, TINY, SMALL, 0, tmp_path / "file")


def test_bfloat16_is_a_format_of_the_forward_pass_only() -> None:
    recipe = replace(SMALL, steps=6, format="bfloat16")
    run = train(PARITY, Gpt(1, 16, 2, 16), recipe, 0)
    assert {p.dtype for p in run.network.parameters()} == {torch.float32}
    full = train(PARITY, Gpt(1, 16, 2, 16), replace(recipe, format="float32"), 0)
    assert not same_weights(run, full)


@pytest.mark.slow
def test_a_compiled_network_with_noise_learns_its_way_back(tmp_path: Path) -> None:
    file = tmp_path / "parity.safetensors"
    compiled = krohn.compile("C2", 6, construction="counter", dtype="float32")
    compiled.save(file)
    recipe = replace(SMALL, rate=1e-3, probe=128)
    for noise, low, high in ((0.0, 1.0, 1.0), (0.3, 0.4, 0.999)):
        start = Derived(str(file), trains=True, noise=noise)
        short = train(PARITY, start, replace(recipe, steps=1, rate=0.0), 0)
        assert low <= short.history[-1].accuracy <= high
    run = train(PARITY, start, recipe, 0, tmp_path / "run")
    assert run.history[-1].accuracy > short.history[-1].accuracy
    assert same_weights(run, train(PARITY, start, recipe, 0, tmp_path / "run"))
    with pytest.raises(KrohnError, match="no weight of this network is free"):
        train(PARITY, Derived(str(file)), recipe, 0)
    with pytest.raises(KrohnError, match="cannot be read"):
        train(PARITY, Derived(str(tmp_path / "none")), recipe, 0)


def test_what_a_run_starts_from_is_known_by_content_and_not_by_place(
    tmp_path: Path,
) -> None:
    krohn.compile("C2", 6, construction="counter").save(tmp_path / "one")
    krohn.compile("C2", 7, construction="counter").save(tmp_path / "two")
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "one").write_bytes((tmp_path / "one").read_bytes())
    files = [tmp_path / "one", tmp_path / "there" / "one", tmp_path / "two"]
    one, there, two = (
        identity(PARITY, Derived(str(file), trains=True), SMALL, 0) for file in files
    )
    assert one == there != two


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
def test_runs_go_on_on_another_device(tmp_path: Path) -> None:
    stopped_after(20, tmp_path)
    run = train(PARITY, TINY, SMALL, 0, tmp_path, device="cuda")
    assert next(run.network.parameters()).is_cuda
    assert run.steps == SMALL.steps
