"""The memory of a prompt that is needed, and the fewest digits to write its text.

    python benchmarks/prompt_memory.py

Lower bounds by counting (Yang et al. 2024, Theorem 4.4) at the sizes of the experiments of
the paper; two inputs that 16 memories confuse; and the fewest binary digits with which
compiled networks write 16 texts rightly, in all operations or in their heads alone.
"""

from collections.abc import Iterator
from itertools import permutations
from math import log2

import numpy as np
import torch
from report import Row, Table, each, parser, publish

import krohn
from krohn.checks import Checks
from krohn.instruments.compare.tasks.public_texts import subsequences
from krohn.kinds.dynamic_programs.build import ATTENTION
from krohn.kinds.dynamic_programs.source_memory import (
    bell,
    collision,
    least_width,
    linear_bits,
    sparse_bits,
)
from krohn.program.attention import Sparse
from krohn.verification import run_checks

LAYERS, HEADS, BITS = 3, 4, 16
PAPER = ((40, 8), (110, 8), (175, 16), (250, 16))
"""Numbers of a sequence, and B = 2^⌊log2 √L⌋."""
NAMES = tuple(f"EditDistance{n},{n}:letters=4" for n in (2, 4, 6, 8))
TEXTS, MOST, TRIED = 16, 24, 2000


def bounds() -> Iterator[Row]:
    """The widths that counting asks for, where trained networks have 32 to 1,024."""
    for n, block in PAPER:
        texts, kind = log2(bell(n)), Sparse(block, 1, 1)
        linear = least_width(texts, lambda d: linear_bits(LAYERS, HEADS, d, BITS))
        sparse = least_width(
            texts, lambda d, n=n, k=kind: sparse_bits(LAYERS, d, BITS, n, k)
        )
        yield {
            "numbers": n,
            "bits to be kept": round(texts),
            "linear: least width": linear,
            "sparse: least width": sparse,
        }


def confused() -> Iterator[Row]:
    """Of memories of 2·2 bits the one that keeps most texts of 5 numbers apart.

    A head of one number adds to two sums of two bits what a number at its place is worth.
    """
    numbers = np.array(list(permutations(range(1, 6))))
    texts = subsequences(numbers)
    rng, best = np.random.default_rng(0), np.zeros((len(numbers), 2))
    for _ in range(TRIED):
        worth = rng.integers(0, 4, size=(5, 6, 2))
        sums = sum(worth[t, numbers[:, t]] for t in range(5))
        kept = np.minimum(sums, 3).astype(float)
        if len(np.unique(kept, axis=0)) > len(np.unique(best, axis=0)):
            best = kept
    pair = collision(best, texts)
    assert pair is not None
    for i in pair:
        yield {
            "numbers": " ".join(map(str, numbers[i])),
            "text": " ".join(map(str, texts[i])),
            "kept": " ".join(str(int(x)) for x in best[i]),
        }


def digits(case: tuple[str, str]) -> Row:
    """The fewest binary digits that are enough, everywhere and in heads alone."""
    name, attention = case
    model = krohn.compile(name, attention=attention, dtype="float64", proof=False)
    checks = Checks(sample=TEXTS, proof=False, digits=MOST)
    fewest = run_checks(model, checks).digits
    assert fewest is not None
    return {
        "source": name,
        "attention": attention,
        "tokens": model.file.claim.longest + 1,
        "everywhere": fewest.everywhere,
        "in heads": fewest.in_heads,
    }


def main() -> None:
    """Print the tables."""
    options = parser(__doc__).parse_args()
    torch.set_num_threads(1)
    rows = each(digits, [(name, kind) for name in NAMES for kind in ATTENTION])
    publish(
        [
            Table(
                "widths that counting asks for",
                list(bounds()),
                f"Texts of increasing subsequences: {LAYERS} layers, {HEADS} heads, "
                f"{BITS}-bit numbers.",
            ),
            Table(
                "two inputs that 16 memories confuse",
                list(confused()),
                "5 numbers have 52 texts. Any such memory confuses two; this one of "
                f"{TRIED:,} drawn at random keeps most apart.",
            ),
            Table(
                "binary digits that are enough",
                rows,
                f"For {TEXTS} random prompts, greedily; tokens of the text are exact.",
            ),
        ],
        options,
    )


if __name__ == "__main__":
    main()
