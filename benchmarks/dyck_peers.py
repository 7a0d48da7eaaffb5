"""Balanced brackets of two kinds, compiled and proved, beside another compiler.

The networks of Krohn say after every letter whether the word so far is balanced, open or
wrong, for words of up to n letters and depths of up to n/2, which is as deep as a balanced
word can be. They are proved for all words; in addition, all balanced words of 10 letters
and random ones of 20 are run.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np
from parity_peers import beside
from peers import BRACKETS
from report import Row, Table, each, parser, publish

import krohn
from krohn.algebra import zoo
from krohn.algebra.automaton import IntArray
from krohn.algebra.observation import observe
from krohn.network.model import Model
from krohn.verify.testing.counterexample import pair

KINDS = 2
LISTED = 10
DRAWN = 20_000
SEED = 0


@dataclass(frozen=True)
class Job:
    """Brackets for words up to a length, in the plain or the strict form."""

    length: int
    strict: bool


def balanced(length: int) -> IntArray:
    """``(count, length)``: all balanced words, or random ones if they are too many."""
    shapes = _shapes(length)
    choices = np.array(list(product(range(KINDS), repeat=length // 2)))
    if length > LISTED:
        rng = np.random.default_rng(SEED)
        drawn = rng.integers(len(shapes), size=DRAWN)
        return _words(shapes[drawn], rng.integers(KINDS, size=(DRAWN, length // 2)))
    each_shape = np.repeat(np.arange(len(shapes)), len(choices))
    return _words(shapes[each_shape], np.tile(choices, (len(shapes), 1)))


def _shapes(length: int) -> IntArray:
    """All balanced words of one kind: for each position the pair that it belongs to.

    Opening brackets are 2·pair, closing ones 2·pair + 1; pairs are numbered as they open.
    """
    todo: list[tuple[list[int], list[int]]] = [([], [])]
    for position in range(length):
        after = []
        for word, stack in todo:
            opened = sum(x % 2 == 0 for x in word)
            if len(stack) < length - position:
                after.append(([*word, 2 * opened], [*stack, opened]))
            if stack:
                after.append(([*word, 2 * stack[-1] + 1], stack[:-1]))
        todo = after
    return np.array([word for word, _ in todo])


def _words(shapes: IntArray, kinds: IntArray) -> IntArray:
    """Letters ``2·kind + side`` from shapes ``(count, n)``, kinds ``(count, n/2)``."""
    kind = np.take_along_axis(kinds, shapes // 2, axis=1)
    return 2 * kind + shapes % 2


def measure(job: Job) -> Row:
    """The row of one network; the first compilation is not counted."""
    name = f"Dyck{job.length // 2},{KINDS}"
    machine = observe(zoo.machine(name), "balance")
    for _ in range(2):
        model = krohn.compile(
            machine,
            job.length,
            "dyck",
            observe="outputs",
            strict=job.strict,
        )
    found, words = model.summary(), balanced(job.length)
    judge = pair(Model(model.file), machine, job.length)
    wrong = sum(
        int((judge.good(part) < job.length).sum())
        for part in np.array_split(words, max(1, len(words) // 256))
    )
    peer = next(m.parameters for m in BRACKETS if m.length == job.length)
    assert peer is not None
    return {
        "n": job.length,
        "form": "strict" if job.strict else "plain",
        "verdict": found["verdict"],
        "wrong": f"{wrong} of {len(words):,} balanced",
        "depth": found["depth"],
        "parameters": found["parameters"],
        "nonzero": found["nonzero"],
        "of the peer's %": 100 * found["parameters"] / peer,
        "compile and prove s": model.seconds,
    }


def main() -> None:
    """Compile, run, and print both tables."""
    options = parser(__doc__).parse_args()
    jobs = [Job(n, strict) for n in (10, 20) for strict in (False, True)]
    ours = Table("brackets by Krohn, float32", each(measure, jobs))
    note = (
        "Balanced words of full length. The program counts each kind by itself (shuffle "
        "of two languages), which is less than nesting them: ([)] is balanced for it. "
        "Settings can be changed by their users."
    )
    rows = [beside(m) for m in BRACKETS]
    publish([ours, Table("brackets by another compiler", rows, note)], options)


if __name__ == "__main__":
    main()
