"""What is smaller here than in the thesis: sizes and recipes of its preset beside ours."""

from collections.abc import Iterator

from krohn.compare.models import Gpt
from krohn.compare.tasks.task import Task
from krohn.compare.training import presets
from krohn.compare.training.cells import Cell
from krohn.compare.training.presets import GPT_RATES, LSTM_RATES
from krohn.compare.training.recipe import Recipe
from krohn.comparison.measurements import FEWER, WORDS
from krohn.comparison.model_results import GPT, LSTM
from krohn.comparison.models import TITLES
from krohn.comparison.result import Reduction

THESIS = "paper"
DEPTHS = "1 to 16"
SEEDS = "20"
RATES = {GPT: GPT_RATES, LSTM: LSTM_RATES}


def reductions(
    task: Task, wanted: dict[str, tuple[Cell, ...]]
) -> tuple[Reduction, ...]:
    """What differs from the thesis, row by row.

    Args:
        task: What is trained on.
        wanted: What is trained, by model.
    """
    simulates = presets.family(task) == "simulation"
    rows = [*_networks(task, wanted, simulates)]
    if simulates:
        rows.append(
            Reduction("networks of a kind", SEEDS, str(min(map(len, wanted.values()))))
        )
    rows.append(Reduction("words at each point of a curve", f"{WORDS:,}", f"{FEWER:,}"))
    return tuple(row for row in rows if row.thesis != row.here)


def _networks(
    task: Task, wanted: dict[str, tuple[Cell, ...]], simulates: bool
) -> Iterator[Reduction]:
    theirs = {GPT: presets.gpt(THESIS, task), LSTM: presets.lstm(THESIS, task)}
    for key, (architecture, recipe) in theirs.items():
        cell, name = wanted[key][0], TITLES[key]
        if isinstance(architecture, Gpt) and isinstance(cell.architecture, Gpt):
            yield from _sizes(architecture, cell.architecture, simulates)
        yield from _recipes(name, recipe, cell.recipe, RATES[key] if simulates else ())


def _sizes(theirs: Gpt, ours: Gpt, simulates: bool) -> Iterator[Reduction]:
    depth = DEPTHS if simulates else str(theirs.depth)
    yield Reduction("Transformer: layers", depth, str(ours.depth))
    yield Reduction("Transformer: width", str(theirs.width), str(ours.width))
    yield Reduction("Transformer: heads", str(theirs.heads), str(ours.heads))
    yield Reduction("Transformer: width of MLPs", str(theirs.inner), str(ours.inner))
    yield Reduction("Transformer: positions", theirs.positions, ours.positions)
    yield Reduction("Transformer: dropout", f"{theirs.dropout:g}", f"{ours.dropout:g}")


def _recipes(
    name: str, theirs: Recipe, ours: Recipe, rates: tuple[float, ...]
) -> Iterator[Reduction]:
    tried = " or ".join(f"{r:g}" for r in rates) or f"{theirs.rate:g}"
    yield Reduction(
        f"{name}: letters in training words", str(theirs.length), str(ours.length)
    )
    yield Reduction(f"{name}: words of a batch", str(theirs.batch), str(ours.batch))
    yield Reduction(f"{name}: words in all, at most", _words(theirs), _words(ours))
    yield Reduction(f"{name}: learning rate", tried, f"{ours.rate:g}")
    decay = f"{theirs.weight_decay:g}", f"{ours.weight_decay:g}"
    yield Reduction(f"{name}: weight decay", *decay)
    yield Reduction(f"{name}: training stops", _stops(theirs), _stops(ours))


def _words(recipe: Recipe) -> str:
    return f"{recipe.steps * recipe.batch:,}"


def _stops(recipe: Recipe) -> str:
    if recipe.stop_at is None:
        return "after all words"
    return f"once {100 * recipe.stop_at:g} % of answers to {recipe.probe:,} words are right"
