"""Patches every variable at every position with every value, beside the prediction."""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np
import torch
from report import Row, Table, each, parser, publish

import krohn
from krohn.intervention import read_program, run_changed
from krohn.open_model import Model
from krohn.program.domains import IntArray
from krohn.program.interpreter import Held

LENGTH, WORDS = 8, 8
NETWORKS: tuple[tuple[str, str], ...] = (
    ("FlipFlop", "auto"),
    ("S3", "auto"),
    ("S3", "scan"),
    ("Grid4", "auto"),
    ("S4", "cascade"),
    ("Dyck4,2", "auto"),
)


def some_words(net: Model, count: int, length: int) -> IntArray:
    """``(count, length)`` random tokens, the same at each call."""
    return np.random.default_rng(0).integers(len(net.letters), size=(count, length))


def single(net: Model, words: IntArray) -> Iterator[tuple[IntArray, dict[str, Held]]]:
    """For each variable all words, at each position with each value that it has."""
    count, length = words.shape
    for name in net.places():
        values = read_program(net).channels[name].later
        each = len(values)
        rows = np.repeat(words, length * each, axis=0)
        at = np.tile(np.repeat(np.arange(1, length + 1), each), count)
        where = np.zeros((len(rows), length + 1), np.bool_)
        where[np.arange(len(rows)), at] = True
        value = np.tile(values, length * count)[:, None]
        yield rows, {name: Held(np.where(where, value, 0), where)}


def counted(net: Model, words: IntArray, held: Mapping[str, Held]) -> list[int]:
    """Cases, those that agree wherever something is predicted, letters, predicted ones."""
    logits, prediction = run_changed(net, torch.from_numpy(words), held)
    known = prediction.answers >= 0
    wrong = (logits.argmax(dim=-1).numpy() != prediction.answers) & known
    agree = int((~wrong.any(axis=1)).sum())
    return [len(words), agree, words.size, int(known.sum())]


def total(net: Model, words: IntArray) -> list[int]:
    """The counts of all patches of one variable at one position, added up."""
    counts = [counted(net, *each) for each in single(net, words)]
    summed: list[int] = np.sum(counts, axis=0).tolist()
    return summed


def row(case: tuple[tuple[str, str], bool]) -> Row:
    """A network, and how often it does what is predicted."""
    (name, construction), strict = case
    how: dict[str, Any] = {"construction": construction, "strict": strict}
    net = krohn.compile(name, LENGTH, **how).model
    kind = {"construction": net.header["construction"], "strict": strict}
    counts = total(net, some_words(net, WORDS, LENGTH))
    names = ("patches", "agree", "letters", "predicted")
    return {"machine": name} | kind | dict(zip(names, counts, strict=True))


def main() -> None:
    """Print the table."""
    options = parser(__doc__).parse_args()
    cases = [*product(NETWORKS, (False, True))]
    publish([Table("patches of every variable", each(row, cases))], options)


if __name__ == "__main__":
    main()
