"""What training finds of hidden Markov models: depth, hard instances, mixing, blocks.

    python benchmarks/hidden_markov_training.py

The experiments of arXiv 2406.04089, section 4, at the scale of a desk: words of 16 letters,
Transformers of width 32, 2,000 batches of 64
(3,000 where little is asked). Results are in results/hidden_markov, one
file for each network; what is there is not done again. ``--seconds 0`` only shows it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from experiment import options, trained
from report import Row, Table, publish
from scipy import stats

from compare.measures.belief_scores import BeliefScores, scores
from compare.measures.beliefs import fit
from compare.measures.windows import best_window
from compare.models import Architecture, Gpt, Rnn
from compare.tasks.beliefs import BeliefTask, task_of
from compare.training.beliefs import BeliefRecipe, doubling, outputs
from compare.training.cells import Cell
from compare.training.run import Run
from compare.training.sweep import Result
from sources import hidden_markov, linear_systems

LENGTH, BATCH, WIDTH, BLOCK = 16, 64, 32, 4
STEPS, MORE = 2000, 3000
SEEDS = (0, 1, 2)
DEPTHS = (1, 2, 3, 4)
CYCLES = "Cyclic-DET5,2@3"
HARD = "Cyclic-HARD5,2@3:alpha=0.0625"
SWEEP = (
    "RanHMM5,2@3",
    "Cyclic-RND5,2@3:epsilon=0.15",
    "Cyclic-RND5,2@3:epsilon=0.01",
)
"""The faster a model mixes, the earlier it stands."""
UNSEEN = 1 << 20
"""The seed of the words that networks are measured on; runs have small ones."""
RNN = Rnn(64)


def task(name: str) -> BeliefTask:
    """The task of a model of a family."""
    source = linear_systems.named(name) or hidden_markov.named(name)
    assert source is not None
    return task_of(source)


def gpt(depth: int) -> Gpt:
    """A Transformer of so many blocks."""
    return Gpt(depth, WIDTH, 4, 4 * WIDTH, positions="learned")


def recipe(
    stages: tuple[int, ...] = (), block: int = 0, steps: int = STEPS
) -> BeliefRecipe:
    """How a network is trained."""
    return BeliefRecipe(
        steps, BATCH, LENGTH, 2e-3, 100, every=200, stages=stages, block=block
    )


def cells() -> Iterator[Cell]:
    """The networks, those first of which the tables say most."""
    for seed in SEEDS:
        yield Cell(task(CYCLES), RNN, recipe(), seed)
        for depth in DEPTHS:
            yield Cell(task(CYCLES), gpt(depth), recipe(doubling(depth, LENGTH)), seed)
        for shape in (RNN, gpt(2)):
            yield Cell(task(HARD), shape, recipe(steps=MORE), seed)
        stages = doubling(2, LENGTH)
        yield Cell(task(CYCLES), gpt(2), recipe(stages, BLOCK), seed)
        for name in SWEEP:
            for shape in (RNN, gpt(2)):
                yield Cell(task(name), shape, recipe(), seed)


def measure(run: Run) -> Any:
    """Scores on fresh words of the training length, and fit lengths over evaluations."""
    assert isinstance(run.task, BeliefTask)
    asked = run.task
    found = scores(
        lambda words: outputs(run.network, asked, words), asked, LENGTH, UNSEEN
    )
    errors = [point.errors for point in run.history if point.errors is not None]
    return asdict(found) | {"since": fit(errors, 0.05).since}


def mean(values: Sequence[float]) -> str:
    """The mean, and Student's 95 % interval of it over seeds."""
    found = np.array(values)
    if len(found) < 2:
        return f"{found.mean():.3g}"
    half = stats.t.ppf(0.975, len(found) - 1) * found.std(ddof=1) / len(found) ** 0.5
    return f"{found.mean():.3g} ± {half:.2g} ({len(found)})"


def row(said: str, found: Sequence[Result]) -> Row:
    """What seeds of one kind of network came to."""
    measured = [r.measured for r in found]
    line: Row = {"network": said}
    if measured:
        for at, epsilon in enumerate(("0.05", "0.1")):
            fits = sorted(m["fits"][at] for m in measured)
            line[f"{epsilon}-fit length"] = ", ".join(map(str, fits))
        line["mean error"] = mean([m["error"] for m in measured])
        if all(m["excess"] is not None for m in measured):
            line["nats above the floor"] = mean([m["excess"] for m in measured])
    return line


def reference(asked: BeliefTask, said: str, found: BeliefScores) -> Row:
    """What needs no training."""
    return {
        "network": said,
        "0.05-fit length": str(found.fits[0]),
        "0.1-fit length": str(found.fits[1]),
        "mean error": f"{found.error:.3g}",
        "nats above the floor": None if found.excess is None else f"{found.excess:.3g}",
    }


def beside(name: str) -> list[Row]:
    """The n-gram and the exact filter."""
    asked = task(name)
    window = best_window(asked, UNSEEN + 1, LENGTH)
    exact = asked.label
    rows = [(f"n-gram (last {window.orders[-1]} letters)", window)]
    found = [
        reference(asked, said, scores(answers, asked, LENGTH, UNSEEN))
        for said, answers in rows
    ]
    if asked.asks == "belief":
        filtered = scores(lambda w: exact(w).truth, asked, LENGTH, UNSEEN)
        found.append(reference(asked, "exact filter", filtered))
        if filtered.floor is not None:
            found[-1]["network"] += f" (floor {filtered.floor:.3f} nats)"
    return found


def table(
    title: str,
    results: Sequence[Result],
    name: str,
    shapes: Sequence[tuple[str, Architecture, BeliefRecipe]],
    note: str,
) -> Table:
    """A table about one model."""
    rows = []
    for said, shape, taught in shapes:
        same = [
            r
            for r in results
            if r.cell.task.name == task(name).name
            and r.cell.architecture == shape
            and r.cell.recipe == taught
        ]
        rows.append(row(said, same))
    return Table(f"{title}: {name}", [*rows, *beside(name)], note)


def tables(results: Sequence[Result]) -> Iterator[Table]:
    """All of it."""
    blocks = doubling(2, LENGTH)
    plain = ("RNN of 64 ReLUs", RNN, recipe())
    fed = f"Transformer, 2 blocks, reads its answer every {BLOCK} letters"
    yield table(
        "Depth",
        results,
        CYCLES,
        [
            plain,
            *(
                (f"Transformer, {d} blocks", gpt(d), recipe(doubling(d, LENGTH)))
                for d in DEPTHS
            ),
            (fed, gpt(2), recipe(blocks, BLOCK)),
        ],
        "Transformers with the doubling curriculum. 2^L is what the theorem asks for.",
    )
    longer = recipe(steps=MORE)
    yield table(
        "Hard",
        results,
        HARD,
        [(plain[0], RNN, longer), ("Transformer, 2 blocks", gpt(2), longer)],
        "The next letter is asked for; it counts after *, where the state is revealed.",
    )
    for name in SWEEP:
        shapes = [("Transformer, 2 blocks", gpt(2), recipe())]
        yield table("Mixing", results, name, [plain, *shapes], "No curriculum.")


def main() -> None:
    """Train what is missing, and print the tables."""
    chosen = options(__doc__).parse_args()
    publish(tables(trained("hidden_markov", cells(), measure, chosen)), chosen)


if __name__ == "__main__":
    main()
