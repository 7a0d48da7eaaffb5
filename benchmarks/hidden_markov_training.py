"""Training on hidden Markov models: depth, hard instances, mixing, blocks.

    python benchmarks/hidden_markov_training.py

The experiments of Hu et al. 2024, section 4, at the scale of a desk: words of 16 letters,
Transformers of width 32, 2,000 batches of 64 (4,000 where little is asked). Results are in
results/hidden_markov, one row for each network; what is there is not done again.
``--seconds 0`` only shows it. ``--picture FILE`` draws beliefs of Mess3 in a triangle, for
which the weights must be there.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from experiment import options, trained
from report import Row, Table, publish

from krohn.algebra.errors import KrohnError
from krohn.drawing import render
from krohn.drawing.canvas import PAPER, SOFT
from krohn.instruments.compare.comparison.belief_comparison import (
    BeliefMeasurements,
    derive_beliefs,
    look,
    rules,
    triangle,
)
from krohn.instruments.compare.comparison.belief_result import (
    BeliefModel,
    over_seeds,
)
from krohn.instruments.compare.draw_belief_page import triangles
from krohn.instruments.compare.models import (
    Architecture,
    Gpt,
)
from krohn.instruments.compare.tasks.beliefs import BeliefTask, belief_task
from krohn.instruments.compare.training.beliefs import (
    BeliefRecipe,
    doubling,
)
from krohn.instruments.compare.training.presets import preset
from krohn.instruments.compare.training.run import Cell
from krohn.instruments.compare.training.sweep import Result
from krohn.kinds.hidden_markov.source import drive_system
from krohn.kinds.hidden_markov.source_structure import mixing_time
from krohn.kinds.linear_systems.source import LinearSystem
from krohn.program.errors import Refused
from krohn.program.results import from_object
from krohn.program.writing import atomic_write

DESK = preset("desk")
RNN, LENGTH = DESK.recurrent, DESK.recipe.length
BLOCK, MORE = 4, 4000
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
FRACTAL = "Mess3"
SAMPLES = 500
Shape = tuple[str, Architecture, BeliefRecipe]


def task(name: str) -> BeliefTask:
    """The task of a model; of the fractal one, the next letter (as Shai et al. train)."""
    found = belief_task(name)
    assert found is not None
    return BeliefTask(found.source, "next") if name == FRACTAL else found


def gpt(depth: int) -> Gpt:
    """A Transformer of so many blocks."""
    return DESK.of_depth(depth)[0]


def recipe(
    stages: tuple[int, ...] = (), block: int = 0, steps: int = DESK.recipe.steps
) -> BeliefRecipe:
    """How a network is trained."""
    return replace(DESK.recipe, stages=stages, block=block, steps=steps)


def deep(depth: int) -> Shape:
    """A Transformer of some depth, with the doubling curriculum."""
    return (
        f"Transformer, {depth} block{'s' * (depth > 1)}",
        gpt(depth),
        recipe(doubling(depth, LENGTH)),
    )


PLAIN: Shape = ("RNN of 64 ReLUs", RNN, recipe())
TWO: Shape = ("Transformer, 2 blocks", gpt(2), recipe())
FED: Shape = (
    f"2 blocks, reads its answer every {BLOCK} letters",
    gpt(2),
    recipe(doubling(2, LENGTH), BLOCK),
)
SHAPES: dict[str, tuple[Shape, ...]] = {
    CYCLES: (PLAIN, *map(deep, DEPTHS), FED),
    HARD: (
        (PLAIN[0], RNN, recipe(steps=MORE)),
        (TWO[0], gpt(2), recipe(steps=MORE)),
        (deep(4)[0], gpt(4), recipe(doubling(4, LENGTH), steps=MORE)),
    ),
    **dict.fromkeys(SWEEP, (PLAIN, TWO)),
    FRACTAL: (PLAIN, TWO),
}
"""The networks that are trained on each model, most telling first."""


def cells() -> Iterator[Cell]:
    """The networks, one seed after the other; of the fractal model there is one."""
    for seed in SEEDS:
        for name, shapes in SHAPES.items():
            if name != FRACTAL or seed == SEEDS[0]:
                for _, shape, taught in shapes:
                    yield Cell(task(name), shape, taught, seed)


def those(results: Sequence[Result], name: str, shape: Shape) -> list[Result]:
    """The results of one kind of network on one model."""
    return [
        r
        for r in results
        if r.cell.task.name == task(name).name
        and (r.cell.architecture, r.cell.recipe) == shape[1:]
    ]


def beside(name: str) -> list[BeliefModel]:
    """The n-gram, the exact filter, and a compiled network if there is one."""
    found = rules(task(name), LENGTH)[::-1]
    with suppress(KrohnError, Refused):  # nothing can be certified
        found.append(derive_beliefs(task(name), LENGTH).model)
    return found


def row(title: str, looked: Sequence[BeliefMeasurements]) -> Row:
    """The measurements of one kind of network over its seeds."""
    found = [one.scores for one in looked]
    line: Row = {"network": title}
    if found:
        line["0.05-fit"] = ", ".join(str(s.fits[0]) for s in found)
        line["0.1-fit"] = ", ".join(str(s.fits[1]) for s in found)
        line["error"] = over_seeds([s.error for s in found])
        line["nats above the floor"] = over_seeds([s.excess for s in found])
    return line


def table(results: Sequence[Result], name: str, others: Sequence[BeliefModel]) -> Table:
    """All that is known of one model."""
    looked = {
        shape[0]: [
            from_object(BeliefMeasurements, r.measured_values, name)
            for r in those(results, name, shape)
        ]
        for shape in SHAPES[name]
    }
    rows = [row(title, found) for title, found in looked.items()]
    for model in others:
        one = model.ones[0]
        title = f"{model.title} ({model.about})"
        rows.append(row(title, [BeliefMeasurements(one.scores, (), (), 0)]))
    floor = others[0].ones[0].scores.floor or 0.0
    note = f"Floor of the cross entropy: {floor:.3f} nats. Mixing time: {mixing(name)}."
    return Table(name, rows, note)


def mixing(name: str) -> str:
    """The mixing time in letters; of Cyclic-HARD, that of its cycles: none."""
    source = task(name).source
    model = drive_system(source) if isinstance(source, LinearSystem) else source
    if name in (CYCLES, HARD):
        return "none"
    return f"{mixing_time(model, SAMPLES, longest=512).time} letters"


def probed(results: Sequence[Result], others: Sequence[BeliefModel]) -> Table:
    """The probes after each layer, of the first seed; of compiled networks, each block."""
    shown = {}
    for shape in SHAPES[CYCLES]:
        found = those(results, CYCLES, shape)[:1]
        if found:
            shown[shape[0]] = from_object(
                BeliefMeasurements, found[0].measured_values, CYCLES
            )
    for model in others:
        if model.key == "compiled":
            one = model.ones[0]
            shown["compiled"] = BeliefMeasurements(
                one.scores, one.probes[::2], one.moved, 0
            )
    rows: list[Row] = [
        {
            "network": title,
            "belief, R²": each(p.belief for p in found.probes),
            "likeliest state": each(p.state for p in found.probes),
            "letter before": each(p.letters[1] for p in found.probes),
            "3 before": each(p.letters[3] for p in found.probes),
            "attention moves": each(found.moved),
        }
        for title, found in shown.items()
    ]
    note = "After the embedding, and after each block; on words held out."
    return Table(f"What can be read ({CYCLES})", rows, note)


def each(values: Iterable[float]) -> str:
    """Numbers of layers."""
    return " ".join(f"{v:.2f}" for v in values) or "–"


def tables(results: Sequence[Result]) -> Iterator[Table]:
    """All of it."""
    for name in SHAPES:
        others = beside(name)
        yield table(results, name, others)
        if name == CYCLES:
            yield probed(results, others)


def draw(results: Sequence[Result], path: Path) -> None:
    """Beliefs of the fractal model, exact and as read from what was trained on it."""
    found = [(s[0], those(results, FRACTAL, s)[0].run()) for s in SHAPES[FRACTAL]]
    shown = [
        triangle(title, task(FRACTAL), LENGTH, run.network, 4000)
        for title, run in found
    ]
    atomic_write(path, render(triangles(shown, SOFT, PAPER), path.suffix))


def main() -> None:
    """Train what is missing, and print the tables."""
    asked = options(__doc__)
    asked.add_argument("--picture", type=Path, help="where the triangle is drawn")
    chosen = asked.parse_args()
    results = trained("hidden_markov", cells(), look, chosen)
    publish(tables(results), chosen)
    if chosen.picture is not None:
        draw(results, chosen.picture)


if __name__ == "__main__":
    main()
