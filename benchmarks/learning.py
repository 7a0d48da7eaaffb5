"""Machines learned back from compiled and from trained networks.

The table stands in docs/instruments/learning.md.

python benchmarks/learning.py
"""

from collections.abc import Callable, Mapping

from report import Row, Table, each, parser, publish

import krohn
from krohn.instruments.compare.models import (
    Architecture,
    Gpt,
    Lstm,
)
from krohn.instruments.compare.tasks.catalogue import task
from krohn.instruments.compare.training.recipe import Recipe
from krohn.instruments.compare.training.run import train

COMPILED = "the machines of the zoo, learned back from networks for T = 32"
TRAINED = "machines that small trained networks follow"
LENGTH = 32
ARCHITECTURES: Mapping[str, Callable[[], Architecture]] = {
    "LSTM": lambda: Lstm(16, 32),
    "GPT-2": lambda: Gpt(2, 32, 2, 64),
}
TASKS = ("C2", "C3", "FlipFlop", "Grid4", "S3")
RECIPE = Recipe(steps=600, length=16, longest=128, rate=3e-3, stop_at=0.9999, every=100)
QUERIES = 20_000


def compiled(name: str) -> Row:
    """The row of a machine of the zoo."""
    model = krohn.compile(name, LENGTH)
    found = krohn.learn(model)
    return {
        "machine": name,
        "states": len(found.machine.states),
        "verdict": found.verdict,
        "words asked": found.queries,
        "words compared": found.words,
        "guesses": found.rounds,
        "all words up to": found.right,
        "s": found.seconds,
    }


def trained(job: tuple[str, str]) -> Row:
    """The row of a network that was trained for some seconds."""
    name, kind = job
    run = train(task(name), ARCHITECTURES[kind](), RECIPE, seed=0)
    found = krohn.learn(run.network, name, queries=QUERIES)
    word = found.parted.word
    return {
        "machine": name,
        "network": kind,
        "accuracy": run.history[-1].accuracy,
        "states": len(found.machine.states),
        "verdict": found.verdict,
        "all words up to": found.right,
        "parts after": None if word is None else " ".join(word.found.word),
        "letters": None if word is None else len(word.found.word),
        "shortest": None if word is None else word.least,
        "words asked": found.queries,
    }


def again(printed: Mapping[str, str]) -> Row:
    """A row of the first table, made anew."""
    return compiled(printed["machine"])


AGAIN = {COMPILED: again}


def main() -> None:
    """Compile, train, learn, and print the tables."""
    chosen = parser(__doc__).parse_args()
    first = each(compiled, list(krohn.zoo()))
    jobs = [(name, kind) for name in TASKS for kind in ARCHITECTURES]
    second = each(trained, jobs)
    note = (
        f"Trained on words of {RECIPE.length} letters for up to {RECIPE.steps} steps, seed "
        f"0, on one CPU; up to {QUERIES:,} words were asked. Other versions of torch may "
        "train other networks."
    )
    publish([Table(COMPILED, first), Table(TRAINED, second, note)], chosen)


if __name__ == "__main__":
    main()
