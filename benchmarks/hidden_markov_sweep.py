"""Training on hidden Markov models: depth, width and heads, mixing, fixed words, blocks.

    python benchmarks/hidden_markov_sweep.py --jobs 1 --seconds 3600

The grid of Hu et al. 2024 (Figures 3 to 5, Tables 1, 2 and 4) at the scale of a desk: words
of 32 letters instead of 120, width 32 instead of 512, MLPs of 128, 2,000 batches of 64.
The rate is halved after each fifth of the steps, and training words double in length, as
there. Results are in results/hidden_markov_sweep, one row for each network; what is there
is not done again, and cheap networks come first. ``--seconds 0`` only shows it.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from experiment import options, rows_of, spent, trained
from hidden_markov_training import mixing, task
from report import Row, Table, publish

from krohn.instruments.compare.comparison.belief_comparison import MEASURED, look
from krohn.instruments.compare.comparison.belief_result import over_seeds
from krohn.instruments.compare.measures.beliefs import scores
from krohn.instruments.compare.models import Gpt
from krohn.instruments.compare.tasks.beliefs import BeliefBatch, BeliefTask
from krohn.instruments.compare.training.beliefs import doubling, outputs
from krohn.instruments.compare.training.presets import preset
from krohn.instruments.compare.training.provenance import content_name
from krohn.instruments.compare.training.run import Cell, Run, fresh
from krohn.instruments.compare.training.sweep import Result

FOLDER = "hidden_markov_sweep"
DESK, LENGTH = preset("desk"), 32
RECIPE = replace(DESK.recipe, length=LENGTH, decay="halving")
SEEDS, DEPTHS = (0, 1, 2), tuple(range(1, 8))
CYCLES = "Cyclic-DET5,2@3"
BACK = "Cyclic-RND5,2@3:epsilon="
MODELS = ("RanHMM5,2@3", CYCLES, f"{BACK}0.01", "MatMul5,2@3")
WIDTHS, HEADS, ABLATED = (16, 32, 64), (1, 2, 4, 8), 3
PRINTED_TIMES = {"0.15": 14.2, "0.1": 21.4, "0.05": 42.2, "0.03": 69.4, "0.01": 120.0}
"""Table 1, for 5 letters and T = 120, where the last one is cut off."""
MIXED, PLACES = 4, (1, 2, 4, 8, 16, 32)
POOL, REPEATS, POOLED = 10_000, 4000, 4
BLOCKS, LONG, TIMED, STEPS = (0, 12, 8, 1), 60, 3, 4
PRINTED_SECONDS = {
    "MatMul5,2@3": {0: 94, 12: 390, 8: 608, 1: 4838},
    CYCLES: {0: 94, 12: 393, 8: 620, 1: 4828},
}
"""Table 2: seconds for an epoch of 10⁶ words of 60 letters."""


@dataclass(frozen=True, eq=False)
class FixedWords(BeliefTask):
    """Beliefs after words from some that were drawn once, as the paper does.

    Attributes:
        pool: How many.
        longest: Letters of each; shorter words are their beginnings.
    """

    pool: int = POOL
    longest: int = LENGTH

    @cached_property
    def words(self) -> BeliefBatch:
        """All of them."""
        return self.fresh.batch(
            np.random.default_rng(self.pool), self.pool, self.longest
        )

    @property
    def fresh(self) -> BeliefTask:
        """The same task with new words."""
        return BeliefTask(self.source, self.asks, self.after)

    def batch(self, rng: np.random.Generator, count: int, length: int) -> BeliefBatch:
        """Some of them, with labels."""
        part, all_words = (
            (rng.integers(self.pool, size=count), slice(length)),
            self.words,
        )
        return BeliefBatch(
            all_words.letters[part],
            all_words.labels[part],
            all_words.truth[part],
            all_words.asked[part],
        )


def deep(
    asked: BeliefTask, depth: int, seed: int, shape: Gpt = DESK.transformer
) -> Cell:
    """A Transformer of some depth, with words that double in length."""
    made = replace(shape, depth=depth)
    return Cell(asked, made, replace(RECIPE, stages=doubling(depth, LENGTH)), seed)


def recurrent(asked: BeliefTask, seed: int) -> Cell:
    """The RNN of 64 units, which needs no curriculum."""
    return Cell(asked, DESK.recurrent, RECIPE, seed)


def ablated(width: int, heads: int, seed: int) -> Cell:
    """A Transformer of another width and other heads."""
    shape = replace(DESK.transformer, width=width, heads=heads)
    return deep(task(CYCLES), ABLATED, seed, shape)


def repeated(name: str, seed: int) -> Cell:
    """A Transformer that reads fixed words again and again."""
    told = task(name)
    cell = deep(FixedWords(told.source, told.asks, told.after), POOLED, seed)
    return replace(cell, recipe=replace(cell.recipe, steps=REPEATS, every=REPEATS // 8))


def cells() -> Iterator[Cell]:
    """All networks, cheap ones first, one seed after the other."""
    for seed in SEEDS:
        yield from (recurrent(task(name), seed) for name in MODELS)
        for depth in DEPTHS:
            yield from (deep(task(name), depth, seed) for name in MODELS)
            if depth == ABLATED:
                yield from (ablated(w, h, seed) for w in WIDTHS for h in HEADS)
            if depth == MIXED:
                names = [f"{BACK}{back}" for back in PRINTED_TIMES]
                yield from (deep(task(name), depth, seed) for name in names)
    yield from (repeated(name, 0) for name in MODELS[1:])


def measure(run: Run) -> Any:
    """What `look` says of fresh words; where words are fixed, the scores of those, too."""
    if not isinstance(run.task, FixedWords):
        return {"fresh": look(run)}
    own, network = run.task, run.network
    seen = scores(lambda w: outputs(network, own, w), own, LENGTH, MEASURED)
    return {"fresh": look(replace(run, task=own.fresh)), "seen": asdict(seen)}


class Sweep:
    """The results that are there."""

    def __init__(self, results: Sequence[Result]) -> None:
        self.results = {result.cell.name: result for result in results}

    def scores(self, asked: Sequence[Cell], of: str = "fresh") -> list[Any]:
        """The scores of those of some networks that are trained."""
        found = [self.results[c.name] for c in asked if c.name in self.results]
        all_measured = [r.measured_values[of] for r in found]
        return [m["scores"] if of == "fresh" else m for m in all_measured]

    def cost(self, asked: Sequence[Cell]) -> str:
        """How many are trained, and how long that took."""
        named = {cell.name for cell in asked}
        found = [r for name, r in self.results.items() if name in named]
        return spent(found, len(named))


def fits(found: Sequence[Any]) -> str | None:
    """The lengths that each seed fits."""
    return ", ".join(str(one["fits"][0]) for one in found) or None


def above(found: Sequence[Any]) -> str | None:
    """Cross entropy above its floor; where there is none, the error."""
    key = "error" if any(one["excess"] is None for one in found) else "excess"
    return over_seeds([one[key] for one in found]) if found else None


def by_depth(sweep: Sweep) -> Iterator[Table]:
    """Figure 3: how long the words are that each depth fits."""
    law: Row = {"model": "2^L, the law of the paper", "RNN": None}
    rows: list[Row] = [law | {f"L = {d}": min(2**d, LENGTH) for d in DEPTHS}]
    losses, every = list[Row](), list[Cell]()
    for name in MODELS:
        kinds = {"RNN": [recurrent(task(name), s) for s in SEEDS]}
        kinds |= {f"L = {d}": [deep(task(name), d, s) for s in SEEDS] for d in DEPTHS}
        own = {key: sweep.scores(some) for key, some in kinds.items()}
        rows.append({"model": name} | {key: fits(found) for key, found in own.items()})
        losses.append({"model": name} | {key: above(f) for key, f in own.items()})
        every += [cell for some in kinds.values() for cell in some]
    note = f"0.05-fit length of each seed, of {LENGTH} letters. {sweep.cost(every)}"
    yield Table("fit length by depth", rows, note)
    floors = "Cross entropy above its floor in nats, of MatMul the mean distance."
    yield Table("loss by depth", losses, floors)


def by_width(sweep: Sweep) -> Table:
    """Figure 5: width and heads."""
    rows, every = list[Row](), list[Cell]()
    for width in WIDTHS:
        row: Row = {"width": width}
        for heads in HEADS:
            own = [ablated(width, heads, seed) for seed in SEEDS]
            row[f"{heads} heads"] = fits(sweep.scores(own))
            every += own
        rows.append(row)
    note = f"0.05-fit lengths on {CYCLES}, {ABLATED} blocks. {sweep.cost(every)}"
    return Table("fit length by width and heads", rows, note)


def by_mixing(sweep: Sweep) -> Table:
    """Figure 4: where in a word slow mixing hurts."""
    rows, every = list[Row](), list[Cell]()
    for back, printed in PRINTED_TIMES.items():
        name = f"{BACK}{back}"
        own = [deep(task(name), MIXED, seed) for seed in SEEDS]
        found = sweep.scores(own)
        row: Row = {"ε": back, "mixing time": mixing(name), "in the paper": printed}
        row["0.05-fit"] = fits(found)
        for t in PLACES:
            errors = [one["errors"][t - 1] for one in found]
            row[f"error after {t}"] = over_seeds(errors, 2) if errors else None
        rows.append(row)
        every += own
    note = f"Cyclic-RND of 2 letters, {MIXED} blocks. {sweep.cost(every)}"
    return Table("errors by mixing", rows, note)


def on_fixed_words(sweep: Sweep) -> Table:
    """Table 4: the loss on words that are read again."""
    rows, every = list[Row](), [repeated(name, 0) for name in MODELS[1:]]
    for name, cell in zip(MODELS[1:], every, strict=True):
        row: Row = {"model": name}
        result = sweep.results.get(cell.name)
        for point in (result.record["history"] if result else [])[1::2]:
            epochs = point["step"] * cell.recipe.batch / POOL
            row[f"loss, epoch {epochs:.0f}"] = point["loss"]
        row["these words, above the floor"] = above(sweep.scores([cell], "seen"))
        row["fresh words, above the floor"] = above(sweep.scores([cell]))
        rows.append(row)
    note = (
        f"{POOL:,} words of {LENGTH} letters, {POOLED} blocks; losses of training. Of "
        f"MatMul the mean distance, not the excess. {sweep.cost(every)}"
    )
    return Table("fixed words", rows, note)


class Timing(NamedTuple):
    """Steps of training whose time is taken."""

    model: str
    block: int

    @property
    def name(self) -> str:
        """Of its row in the table of results."""
        return content_name(self._asdict())


def time_steps(timing: Timing) -> Row:
    """CPU seconds of a step of training with an answer read after each block."""
    recipe = replace(RECIPE, length=LONG, block=timing.block, steps=STEPS, warmup=0)
    shape = replace(DESK.transformer, depth=TIMED)
    trainer = fresh(Cell(task(timing.model), shape, replace(recipe, every=STEPS), 0))
    trainer.advance()  # the first step is slower, and the last one is evaluated
    began = time.process_time()
    for _ in range(STEPS - 2):
        trainer.advance()
    seconds = (time.process_time() - began) / (STEPS - 2)
    return timing._asdict() | {"seconds": seconds}


def by_block(known: dict[Timing, Row]) -> Table:
    """Table 2: the price of reading one's own answer."""
    rows = list[Row]()
    for name, printed in PRINTED_SECONDS.items():
        own = {t.block: row["seconds"] for t, row in known.items() if t.model == name}
        for block in own:
            times = own[block] / own[0] if 0 in own else None
            rows.append(
                {
                    "model": name,
                    "b": block or "none",
                    "s for a batch": own[block],
                    "ratio to none": times,
                    "in the paper": printed[block] / printed[0],
                }
            )
    note = f"Words of {LONG} letters, {TIMED} blocks, batches of {RECIPE.batch}; CPU."
    return Table("price of blocks", rows, note)


def main() -> None:
    """Train what is missing, and print the tables."""
    chosen = options(__doc__).parse_args()
    timings = [Timing(name, b) for name in PRINTED_SECONDS for b in BLOCKS]
    known = rows_of("hidden_markov_blocks", timings, time_steps, chosen.seconds)
    sweep = Sweep(trained(FOLDER, cells(), measure, chosen))
    tables = [
        *by_depth(sweep),
        by_width(sweep),
        by_mixing(sweep),
        on_fixed_words(sweep),
    ]
    publish([*tables, by_block(known)], chosen)


if __name__ == "__main__":
    main()
