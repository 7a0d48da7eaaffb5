"""The positions that heads of sparse networks see on a random text, and their distance.

A row for each block with heads. Each position in turn is given another vector, and where
the heads then write something else they see it.
"""

import argparse
from collections.abc import Iterator

import numpy as np
import torch
from report import Row, Table, each, parser, publish
from seen_positions import Seen, equation_6, observe_heads

import krohn
from krohn.kinds.dynamic_programs.commands import ChainsOfThought
from krohn.kinds.dynamic_programs.source_examples import EXAMPLES
from krohn.network.model import Model
from krohn.network.transformer import Transformer

NAMES = (*EXAMPLES, "LocalEditDistance8,8:letters=4", "EditDistance12,12:letters=4")
TITLE = "what sparse heads see"
LOOKS = 0.01
"""The least weight of a look."""


def blocks(name: str) -> Iterator[Row]:
    """The rows of a source, one for each block with heads."""
    kind = ChainsOfThought()
    file = krohn.compile(name, attention="sparse").file
    source, network = kind.of_file(file), Model(file).network
    assert isinstance(network, Transformer)
    low, high = np.array(source.prompt).T
    prompt = np.random.default_rng(0).integers(low, high + 1, size=(1, len(low)))
    text = torch.from_numpy(source.continue_prompts(prompt)[0, :-1])
    for one in observe_heads(network, text):
        stated = file.header["architecture"]["blocks"][one.block]["attention"]
        size, windows, last = (stated[n] for n in ("block", "windows", "last"))
        shown = equation_6(len(one.depends), size, windows, last)
        yield {
            "source": name,
            "tokens": source.length,
            "block": one.block,
            "heads": len(one.weights),
            "m (farthest read)": source.locality,
            "kB": size * windows,
            **_looks(one, size * windows),
            "pairs seen": int(one.depends.sum()),
            "of all": len(one.depends) * (len(one.depends) + 1) // 2,
            "outside of the mask": int((one.depends & ~shown).sum()),
        }


def _looks(one: Seen, window: int) -> Row:
    """How far back heads look within the window, and beyond it; BOS is no look."""
    i, j = np.nonzero((one.weights[:, :, 1:] > LOOKS).any(axis=0))
    back = i - (j + 1)
    return {
        "farthest in the window": int(back[back < window].max(initial=0)),
        "farthest end of a block": int(back[back >= window].max(initial=0)) or None,
    }


def measure(name: str) -> Row:
    """All rows of a source, as one."""
    return {"source": name, "rows": list(blocks(name))}


def main() -> None:
    """Print the table."""
    options: argparse.Namespace = parser(__doc__).parse_args()
    rows = [row for found in each(measure, NAMES) for row in found["rows"]]
    publish([Table(TITLE, rows)], options)


if __name__ == "__main__":
    main()
