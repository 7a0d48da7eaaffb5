"""Where efficient attention begins to pay: time and memory of a whole text, by its length.

    python benchmarks/rollout_cost.py

Networks of three kinds are compiled without a proof (efficient_attention.py has those that
are proved; weights do not depend on it), and each continues one prompt token by token. In
each round every kind writes the whole text, and reads it at once; times are ratios to
standard attention in the same round, the median of the rounds. Memory is what is kept of a
whole text, counted.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from statistics import median
from typing import Any

import numpy as np
import torch
from report import Row, Table, each, parser, publish

from krohn.compile_options import CompileOptions
from krohn.kinds.dynamic_programs.build import ATTENTION
from krohn.kinds.dynamic_programs.commands import ChainsOfThought
from krohn.kinds.dynamic_programs.source_memory import kept_numbers
from krohn.network.attention_cost import parts
from krohn.network.model import Model
from krohn.network.reading import decode
from krohn.network.stepping import stepping
from krohn.network.transformer import Transformer
from krohn.program.architectures.transformer import Transformer as Shape
from krohn.program.word_texts import BLANK

NAMES = (
    *(f"EditDistance{n},{n}:letters=4" for n in (8, 16, 32)),
    *(f"LocalEditDistance{n},{n}:letters=4" for n in (8, 14, 20)),
)
KIND, ROUNDS = ChainsOfThought(), 3
TITLE = "time and memory of a whole text"


def networks(name: str) -> tuple[torch.Tensor, int, Mapping[str, Model]]:
    """A text, its tokens that are the prompt, and a network of each kind, in float64."""
    source = KIND.find_by_name(name)
    assert source is not None
    asked, models = CompileOptions(formats=("float64",)), {}
    for kind in ATTENTION:
        built, claim = KIND.build(source, replace(asked, attention=kind))
        models[kind] = Model(KIND.file(source, built, claim, asked.options))
    chain = source.chain_of_thought
    low, high = np.array(chain.prompt).T
    prompt = np.random.default_rng(0).integers(low, high + 1)
    return torch.from_numpy(chain.continue_prompts(prompt[None])), len(prompt), models


def seconds(run: Callable[[], object]) -> float:
    """How long something takes."""
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def measure(name: str) -> Row:
    """The row of a text."""
    text, prompt, models = networks(name)
    blank = text.numpy().copy()
    blank[:, prompt:] = BLANK
    times: dict[str, list[float]] = {kind: [] for kind in models}
    passes: dict[str, list[float]] = {kind: [] for kind in models}
    shapes: dict[str, Any] = {k: m.header["architecture"] for k, m in models.items()}
    for _ in range(ROUNDS):
        for kind, model in models.items():
            network = model.network
            assert isinstance(network, Transformer)
            times[kind].append(seconds(partial(decode, stepping(network), blank)))
            passes[kind].append(seconds(partial(network, text[:, :-1])))
    tokens = text.shape[1]
    row: Row = {
        "source": name,
        "tokens": tokens,
        "token by token s": median(times["standard"]),
        "at once s": median(passes["standard"]),
    }
    for called, taken in (("token by token", times), ("at once", passes)):
        for kind in ("sparse", "linear"):
            pairs = zip(taken[kind], taken["standard"], strict=True)
            row[f"{kind}, {called}: ratio"] = median(a / b for a, b in pairs)
    each = {kind: Shape.of(shape) for kind, shape in shapes.items()}
    work = {kind: sum(parts(shape, tokens - 1)) for kind, shape in each.items()}
    for kind in ("sparse", "linear"):
        row[f"{kind}: operations"] = work[kind] / work["standard"]
    for kind, shape in shapes.items():
        row[f"{kind}: kept"] = kept_numbers(shape, tokens)
    return row


def tables(rows: Sequence[Row]) -> list[Table]:
    """One."""
    note = (
        "One thread, one text at a time, float64; times and operations relative to "
        "standard attention in the same run, whose seconds are told. At once: one pass "
        "over a text that is there. Kept: how many numbers heads need of the whole text to "
        "go on."
    )
    return [Table(TITLE, rows, note)]


def main() -> None:
    """Print the table."""
    options = parser(__doc__).parse_args()
    torch.set_num_threads(1)
    publish(tables(each(measure, NAMES)), options)


if __name__ == "__main__":
    main()
