"""A census: which hidden Markov models become networks, by each way in.

python benchmarks/hidden_markov_census.py [--models N] [--length T] [--within E]

Models are drawn anew by the seeds 0, 1, …: 2 to 8 states, 2 to 6 letters, with a
probability of 0, 0.5, 0.8 or 0.95 to stay in a state, with and without zeros. Rows of laws
are numbers uniform in (0, 1), divided by their sum. Each entry of a model with zeros is 0
with probability 0.3, but for the largest of its row.
"""

import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from time import process_time
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import torch
from report import Row, Table, each, parser, publish
from situations import measured

import krohn
from krohn.algebra.errors import KrohnError
from krohn.network.precision import FloatArray
from krohn.sources.hidden_markov import HiddenMarkovModel, files

STICKINESS = (0.0, 0.5, 0.8, 0.95)
ZERO = 0.3
CLIMB, WORDS = 2, 4
"""Steps of the search for words on which the error is large, and words at once."""


class Case(NamedTuple):
    """A model by its arrays, whose rows are laws.

    Attributes:
        name: What it is called.
        kind: In which row of the table it counts.
        start: ``(n,)``.
        step: ``(n, n)``.
        say: ``(n, m)``.
    """

    name: str
    kind: str
    start: FloatArray
    step: FloatArray
    say: FloatArray


def drawn(seed: int) -> Case:
    """The model of a seed; kinds take turns, so that each is as often drawn."""
    random = np.random.default_rng([29, seed])
    sticky, zeros = STICKINESS[seed % 4], bool(seed // 4 % 2)
    states, letters = int(random.integers(2, 9)), int(random.integers(2, 7))
    step = _laws(random, (states, states), zeros)
    step = sticky * np.eye(states) + (1 - sticky) * step
    start, say = (
        _laws(random, (1, states), zeros)[0],
        _laws(random, (states, letters), zeros),
    )
    kind = f"stays {sticky:g}" + (", zeros" if zeros else "")
    return Case(f"seed {seed}", kind, start, step, say)


def _laws(
    random: np.random.Generator, shape: tuple[int, int], zeros: bool
) -> FloatArray:
    found = random.random(shape)
    if zeros:
        kept = random.random(shape) >= ZERO
        found = found * (kept | (found == found.max(axis=1, keepdims=True)))
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def _nearly(rows: Sequence[Sequence[float]]) -> FloatArray:
    found = np.array(rows, np.float64)
    return np.asarray(found / found.sum(axis=-1, keepdims=True))


def known() -> list[Case]:
    """Models that people bring, among them hard ones."""
    even = np.full(2, 0.5)
    casino = _nearly([[0.95, 0.05], [0.1, 0.9]]), _nearly([[1] * 6, [1] * 5 + [5]])
    bases = _nearly([[0.15, 0.35, 0.35, 0.15], [0.3, 0.2, 0.2, 0.3]])
    islands = _nearly([[0.999, 0.001], [0.0002, 0.9998]])
    inside = [
        [0.18, 0.274, 0.426, 0.12],
        [0.171, 0.368, 0.274, 0.188],
        [0.161, 0.339, 0.375, 0.125],
        [0.079, 0.355, 0.384, 0.182],
    ]
    outside = [
        [0.3, 0.205, 0.285, 0.21],
        [0.322, 0.298, 0.078, 0.302],
        [0.248, 0.246, 0.298, 0.208],
        [0.177, 0.239, 0.292, 0.292],
    ]
    both = np.block(
        [
            [0.99 * _nearly(inside), np.full((4, 4), 0.0025)],
            [np.full((4, 4), 0.00125), 0.995 * _nearly(outside)],
        ]
    )
    forward = _nearly(
        [[0.7, 0.3, 0, 0], [0, 0.6, 0.4, 0], [0, 0, 0.8, 0.2], [0, 0, 0, 1]]
    )
    forward_say = _nearly([[6, 2, 1], [1, 6, 2], [2, 1, 6], [4, 4, 1]])
    tiny = _nearly([[0.9, 0.1], [1e-12, 1]])
    two = _nearly([[0.7, 0.3], [0.2, 0.8]])
    one = np.array([1.0, 0.0])
    three = np.array([1.0, 0, 0])
    found = [
        ("dishonest casino", even, *casino),
        ("CpG islands, 2 states", even, islands, bases),
        ("CpG islands, 8 states", np.full(8, 0.125), both, np.tile(np.eye(4), (2, 1))),
        ("left to right", np.eye(4)[0], forward, forward_say),
        (
            "absorbing",
            three,
            _nearly([[0.8, 0.15, 0.05], [0.1, 0.8, 0.1], [0, 0, 1]]),
            _nearly([[5, 3, 2], [2, 5, 3], [1, 2, 7]]),
        ),
        ("identity", even, np.eye(2), two),
        ("an entry of 1e-12", one, tiny, two),
        *(_fitted(states) for states in (3, 4, 6)),
    ]
    return [Case(name, "known", *map(np.asarray, arrays)) for name, *arrays in found]


def _fitted(states: int) -> tuple[Any, ...]:
    """As a fit leaves a model: a certain start, and entries from 1e-30 to 1."""
    random = np.random.default_rng([31, states])
    laws = [
        10.0 ** -random.gamma(1.0, 2.0, shape)
        for shape in ((states, states), (states, 4))
    ]
    step = _nearly(laws[0] + 5 * np.eye(states))
    return f"fitted, {states} states", np.eye(states)[0], step, _nearly(laws[1])


# The ways in. Arrays and fitted objects say the law of the state that says the first
# letter; `.pomdp` files and own ones that of the state before the first step.


def _arrays(case: Case) -> dict[str, FloatArray]:
    return {"startprob": case.start, "transmat": case.step, "emissionprob": case.say}


def _array_file(case: Case, folder: Path) -> str:
    np.savez(folder / "model.npz", **_arrays(case))
    return str(folder / "model.npz")


def _fitted_object(case: Case, folder: Path) -> object:
    return SimpleNamespace(
        **{f"{name}_": array for name, array in _arrays(case).items()}
    )


def _python(case: Case, folder: Path) -> HiddenMarkovModel:
    return HiddenMarkovModel.of(case.name, case.step.T, case.say.T, before=case.start)


def _own_file(case: Case, folder: Path) -> str:
    (folder / "model.json").write_text(files.text(_python(case, folder)))
    return str(folder / "model.json")


def _pomdp(case: Case, folder: Path) -> str:
    def told(rows: FloatArray) -> str:
        return "\n".join(" ".join(map(repr, row)) for row in rows.tolist())

    states, letters = case.say.shape
    text = (
        f"discount: 1\nvalues: reward\nstates: {states}\nactions: go\n"
        f"observations: {letters}\nstart: {told(case.start[None])}\n\n"
        f"T: go\n{told(case.step)}\n\nO: go\n{told(case.say)}\n"
    )
    (folder / "model.pomdp").write_text(text)
    return str(folder / "model.pomdp")


WAYS: dict[str, Callable[[Case, Path], Any]] = {
    "arrays, `.npz`": _array_file,
    "fitted object": _fitted_object,
    "Python": _python,
    "own file": _own_file,
    "`.pomdp`": _pomdp,
}


def tried(length: int, within: float, job: tuple[Case, str]) -> Row:
    """What became of a model by a way in."""
    case, way = job
    began = process_time()
    with tempfile.TemporaryDirectory() as folder:
        source = WAYS[way](case, Path(folder))
        try:
            model = krohn.compile(source, length, within=within)
        except KrohnError as reason:
            return {
                "model": case.name,
                "kind": case.kind,
                "way": way,
                "states": len(case.start),
                "network": None,
                "CPU s": process_time() - began,
                "why not": str(reason),
            }
    seconds, error = process_time() - began, model.file.header["claim"]["error"]
    found = measured(model, CLIMB, WORDS)
    return {
        "model": case.name,
        "kind": case.kind,
        "way": way,
        "states": len(case.start),
        "network": model.construction,
        "CPU s": seconds,
        "format": model.summary()["dtype"],
        "parameters": model.summary()["parameters"],
        "proved": error,
        "found": found,
    }


def summed(rows: Sequence[Row], keys: Sequence[str]) -> list[Row]:
    """A line for each way in, or kind of model: shares and medians."""
    found = list[Row]()
    for key in dict.fromkeys(tuple(row[k] for k in keys) for row in rows):
        of = [row for row in rows if tuple(row[k] for k in keys) == key]
        made = [row for row in of if row["network"]]
        networks = [row["network"] for row in made]
        counts = {
            name: networks.count(name) for name in dict.fromkeys(sorted(networks))
        }
        ratios = [r["proved"] / r["found"] for r in made if r["found"] > 1e-15]
        found.append(
            {
                **dict(zip(keys, key, strict=True)),
                "models": len(of),
                "compiled": f"{len(made) / len(of):.1%}",
                "parameters": _median([row["parameters"] for row in made]),
                "CPU s": _median([row["CPU s"] for row in of]),
                "proved": _median([row["proved"] for row in made]),
                "found": _median([row["found"] for row in made]),
                "proved / found": _median(ratios),
                "networks": ", ".join(f"{name} {n}" for name, n in counts.items()),
            }
        )
    return found


def _median(numbers: Sequence[float]) -> float | None:
    return float(np.median(numbers)) if numbers else None


def main() -> None:
    """Print the tables of docs/hidden-markov.md."""
    asked = parser(__doc__)
    asked.add_argument("--models", type=int, default=40, help="how many are drawn")
    asked.add_argument("--first", type=int, default=0, help="the first seed")
    asked.add_argument("--ways", nargs="*", default=list(WAYS), help="ways in")
    asked.add_argument("--length", type=int, default=64, help="T")
    asked.add_argument("--within", type=float, default=1e-3, help="the error")
    asked.add_argument(
        "--rows", action="store_true", help="print each drawn model, too"
    )
    options = asked.parse_args()
    torch.set_num_threads(1)
    seeds = range(options.first, options.first + options.models)
    work = partial(tried, options.length, options.within)
    rows = each(work, [(drawn(seed), way) for seed in seeds for way in options.ways])
    brought = each(work, [(case, next(iter(WAYS))) for case in known()])
    about = f"T = {options.length}, within {options.within:g}"
    tables = [
        Table(f"Models drawn anew, by way in: {about}", summed(rows, ("way",))),
        Table(f"The same by kind: {about}", summed(rows, ("kind",))),
        Table(
            f"Models that people bring, by arrays: {about}", list(map(short, brought))
        ),
    ]
    alone = [Table(f"Each model: {about}", rows)] if options.rows else []
    publish([*alone, *tables], options)


def short(row: Row) -> Row:
    """A row without what all rows of known models have in common."""
    return {key: cell for key, cell in row.items() if key not in ("kind", "way")}


if __name__ == "__main__":
    main()
