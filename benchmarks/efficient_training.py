"""How wide networks must be that learn dynamic programs, beside those that are compiled.

    python benchmarks/efficient_training.py --jobs 1

Texts of edit distance, of increasing subsequences (two numbers at a time) and of arithmetic
(leftmost handles), and three kinds of attention (Yang et al. 2024, section 5, at the scale
of a desk). A width is tried where the one before was right after less than nine of ten
prompts. Results are in results/efficient_training, one row for each network; what is there
is not done again.
"""

import argparse
from collections.abc import Iterator
from math import isqrt, log2
from typing import Any

import numpy as np
from experiment import options, spent, trained
from report import Row, Table, publish

import krohn
from krohn.algebra.errors import KrohnError
from krohn.compile_options import CompileOptions
from krohn.instruments.compare.measures.accuracy import text_scores
from krohn.instruments.compare.models import (
    EfficientGpt,
    Gpt,
)
from krohn.instruments.compare.tasks.texts import (
    Steps,
    TextTask,
)
from krohn.instruments.compare.training import (
    Cell,
    Recipe,
    Run,
)
from krohn.instruments.compare.training.sweep import Result
from krohn.kinds.dynamic_programs.build import ATTENTION
from krohn.source_kinds import find_source_to_compile

NAMES = (
    "EditDistance2,2:letters=3",
    "EditDistance3,3:letters=3",
    "EditDistance4,4:letters=3",
    "EditDistance5,5:letters=3",
    "LIS3:most=9",
    "LIS4:most=9",
    "LIS6:most=9",
    "LIS8:most=9",
    "Arithmetic2,11",
    "Arithmetic4,11",
)
TITLE = "widths that are learned and compiled"
WIDTHS, SEEDS = (16, 32, 64, 128), (0, 1, 2)
LENGTHS = (87, 221, 355, 505)
PUBLISHED = {
    "standard": (0.027, 0.266, 0.426, 0.605),
    "linear": (0.422, 4.220, 6.756, 9.584),
    "sparse": (0.106, 1.055, 1.690, 2.399),
}
"""Yang et al. (2024), Table 2: billions of operations at these lengths."""
STEPS, ENOUGH, PROMPTS, UNSEEN = 1200, 0.9, 500, 1 << 20


def task(name: str) -> TextTask:
    """The texts of a dynamic program; each prompt alike."""
    return TextTask(Steps(name))


def shape(name: str, kind: str, width: int) -> Gpt:
    """Three blocks of four heads; B = 2^⌊log2 √L⌋ where attention is sparse."""
    inner = {"inner": 4 * width, "positions": "learned"}
    if kind == "standard":
        return Gpt(3, width, 4, **inner)
    block = 2 ** (isqrt(task(name).length).bit_length() - 1)
    return EfficientGpt(3, width, 4, **inner, attention=kind, block=block)


def cell(name: str, kind: str, width: int, seed: int) -> Cell:
    """A network to train."""
    told = task(name)
    recipe = Recipe(STEPS, 64, told.length, 2e-3, 100, stop_at=0.999, every=150)
    return Cell(told, shape(name, kind, width), recipe, seed)


def measure(run: Run) -> Any:
    """Answers and texts that are right after fresh prompts."""
    assert isinstance(run.task, TextTask)
    rng = np.random.default_rng((UNSEEN, run.seed))
    found = text_scores(run.network, run.task, rng, PROMPTS)
    return {"prompts": PROMPTS, "texts": found.texts, "answers": found.answers}


class Grid:
    """The results of all networks."""

    def __init__(self, chosen: argparse.Namespace) -> None:
        """Train what is missing, narrow networks first."""
        self.results = dict[str, Result]()
        for width in WIDTHS:
            cells = list(self.missing(width))
            found = trained("efficient_training", cells, measure, chosen)
            self.results |= {result.cell.name: result for result in found}

    def missing(self, width: int) -> Iterator[Cell]:
        """The cells of a width where no narrower network was good enough."""
        narrower = [w for w in WIDTHS if w < width]
        for seed in SEEDS:
            for name in NAMES:
                for kind in ATTENTION:
                    if not any(self.is_enough(name, kind, w) for w in narrower):
                        yield cell(name, kind, width, seed)

    def shares(self, name: str, kind: str, width: int) -> list[float]:
        """The shares of right answers of the seeds that were trained."""
        named = [cell(name, kind, width, seed).name for seed in SEEDS]
        own = [self.results[n].measured_values for n in named if n in self.results]
        return [r["answers"] / r["prompts"] for r in own]

    def is_enough(self, name: str, kind: str, width: int) -> bool:
        """Whether the best of the seeds is right after nine of ten prompts."""
        return max(self.shares(name, kind, width), default=0.0) >= ENOUGH

    def row(self, name: str, kind: str) -> Row:
        """The shares of right answers at each width; what is compiled beside it."""
        told = {w: self.shares(name, kind, w) for w in WIDTHS}
        enough = [w for w in WIDTHS if self.is_enough(name, kind, w)]
        least = enough[0] if enough else f"above {WIDTHS[-1]}"
        return {
            "source": name,
            "tokens": task(name).texts.longest,
            "attention": kind,
            **{f"D = {w}": ", ".join(f"{x:.1%}" for x in s) for w, s in told.items()},
            "trained, 90 %": least if enough or told[WIDTHS[-1]] else None,
            **compiled(name, kind),
        }


def compiled(name: str, kind: str) -> Row:
    """The network that is right after every prompt, if there is one."""
    try:
        model = krohn.compile(name, attention=kind)
    except KrohnError:
        return {"compiled": None, "its verdict": "no construction"}
    assert model.proof is not None
    return {
        "compiled": model.summary()["d_model"],
        "its verdict": model.proof.verdict,
    }


def tables(grid: Grid) -> Iterator[Table]:
    """The grid."""
    rows = [grid.row(name, kind) for name in NAMES for kind in ATTENTION]
    note = (
        f"Right answers of {PROMPTS} fresh prompts by greedy decoding, after at most "
        f"{STEPS:,} batches of 64; of each of up to {len(SEEDS)} seeds. 3 blocks, 4 heads, "
        "MLPs of 4D. A width stands empty where the best seed of a narrower one was "
        "enough. What is compiled is right after every prompt. "
        f"{spent(list(grid.results.values()))}"
    )
    yield Table(TITLE, rows, note)
    fit = (
        "D, a power of two, and the share of 72·D²·L in the least operations that are "
        "published for nine right answers of ten (three blocks of 24·D² a token, nothing "
        "for where positions meet). D is fitted: the paper does not print it."
    )
    yield Table("arithmetic in the paper: widths that fit Table 2", list(fitted()), fit)


def fitted() -> Iterator[Row]:
    """The widths that the least operations of the paper imply, of three blocks."""
    for kind, published in PUBLISHED.items():
        row: Row = {"attention": kind}
        for length, billions in zip(LENGTHS, published, strict=True):
            width = 2 ** round(log2(billions * 1e9 / (72 * length)) / 2)
            share = 72 * width**2 * length / (billions * 1e9)
            row[f"L = {length}"] = f"{width} ({share:.3f})"
        if kind != "linear":
            row["compiled, 6 to 16 operators"] = ", ".join(map(str, arithmetic(kind)))
        yield row


def arithmetic(kind: str) -> list[int]:
    """The widths of networks of arithmetic modulo 11, as they are planned."""
    found = [find_source_to_compile(f"Arithmetic{n},11") for n in (6, 10, 13, 16)]
    asked = CompileOptions(attention=kind, formats=("float64",))
    built = [k.build(source, asked)[0] for k, source in filter(None, found)]
    return sorted({each.network.architecture["d_model"] for each in built})


def main() -> None:
    """Train what is missing, and print the tables."""
    chosen = options(__doc__).parse_args()
    publish(tables(Grid(chosen)), chosen)


if __name__ == "__main__":
    main()
