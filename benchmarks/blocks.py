"""Block chain of thought, and Cyclic-HARD by few points: sizes, proofs, runs.

python benchmarks/blocks.py [--words COUNT]
"""

import argparse
import time
from typing import Any

import numpy as np
import torch

import krohn
from krohn.algebra.automaton import Automaton, Semiautomaton
from krohn.compiler.compiled_network import CompiledNetwork
from krohn.compiler.constructions.scan import levels, scan
from krohn.compiler.pipeline import Options, arrange, optimise
from krohn.compiler.planning import planning
from krohn.compiler.transformer import describe, lower
from krohn.kinds.blocks.commands import (
    TextsInBlocks,
    said_by,
)
from krohn.kinds.blocks.source import (
    blanks,
    completed_texts,
)
from krohn.kinds.blocks.statement import (
    Blocks,
    longest,
    passes,
)
from krohn.kinds.hidden_markov import source as hidden_markov
from krohn.kinds.hidden_markov.build_beliefs import machine_of
from krohn.kinds.hidden_markov.source_beliefs import reachable
from krohn.kinds.linear_systems import source as linear_systems
from krohn.network.modelfile import ModelFile
from krohn.network.precision import PRECISIONS
from krohn.verify.proof import prove

CYCLES, PRODUCTS, HARD = "Cyclic-DET5,5@3", "MatMul5,5@3", "Cyclic-HARD5,5@3"
TEXTS = (
    *((CYCLES, block, 120) for block in (None, 1, 4, 8, 12, 16, 60)),
    *((CYCLES, block, 1000) for block in (None, 8, 16)),
    *((name, 8, 120) for name in ("C2", "Q8", "Grid9", "A4")),
)
VECTORS = (*((PRODUCTS, block, 120) for block in (None, 1, 8, 12, 30, 60)),)
LESS = (8, 12, 16)


def words_of(letters: int, length: int, count: int) -> Any:
    """Random words, and those of one letter."""
    words = np.random.default_rng(1).integers(letters, size=(count, length))
    words[: min(letters, count)] = np.arange(min(letters, count))[:, None]
    return words


def row(*cells: object) -> None:
    """A line of a table."""
    print("|", " | ".join(str(cell) for cell in cells), "|", flush=True)


def header(*names: str) -> None:
    """The first two lines of a table."""
    print()
    row(*names)
    row(*("---" for _ in names))


def sizes(summary: Any) -> tuple[Any, ...]:
    """Layers, width and parameters."""
    return summary["layers"], summary["d_model"], f"{summary['parameters']:,}"


def texts(count: int) -> None:
    """Machines that write their states."""
    names = ("machine", "b", "T", "passes", "tokens", "layers", "width", "parameters")
    header(*names, "verdict", "s", "texts run", "wrong")
    for name, block, length in TEXTS:
        began = time.monotonic()
        model = krohn.compile(
            name, length, block=block, construction="auto" if block else "scan"
        )
        seconds, said = time.monotonic() - began, model.summary()
        told = (said["verdict"], f"{seconds:.1f}")
        if block is None:
            row(name, "–", length, 1, length, *sizes(said), *told, "–", "–")
            continue
        source = TextsInBlocks().of_source(krohn.read(name), block)
        some = count if length < 500 else count // 10
        wrong = wrong_texts(model.file, source, length, some)
        often = passes(length, block), longest(length, block)
        row(name, block, length, *often, *sizes(said), *told, some, wrong)


def wrong_texts(file: ModelFile, source: Blocks, length: int, count: int) -> int:
    """In how many texts some written state is another one."""
    words = words_of(len(source.letters), length, count)
    found = np.array(TextsInBlocks().texts(file, blanks(words, source.block).tolist()))
    return int((found != completed_texts(source, words)).any(axis=1).sum())


def one_layer_less(count: int) -> None:
    """Networks whose windows are too short for their blocks."""
    header("machine", "b", "T", "layers", "verdict", "texts run", "wrong")
    options = Options(PRECISIONS["float32"])
    for block in LESS:
        source = TextsInBlocks().of_source(krohn.read(CYCLES), block)
        names = source.tokens, source.states
        machine = Automaton(Semiautomaton(source.resets, *names), source.start)
        less = levels(block + 1, 2) - 1
        program = scan(machine, longest(120, block), window=2**less)
        layout, features = arrange(optimise(program, options), options)
        network = lower(layout, features, False)
        built = CompiledNetwork("blocks", network, describe(layout, network), None)
        claim = {"length": program.length, "letters": 120}
        file = TextsInBlocks().file(source, built, claim, options)
        verdict = "proved" if prove(file, None).verdict == "verified" else "refused"
        wrong = wrong_texts(file, source, 120, count)
        row(CYCLES, block, 120, less, verdict, count, wrong)


def vectors(count: int) -> None:
    """Linear systems that write their states."""
    names = ("system", "b", "T", "passes", "layers", "width", "parameters", "s")
    header(*names, "measured", "proved", "×")
    for name, block, length in VECTORS:
        began = time.monotonic()
        model = krohn.compile(name, length, block=block)
        seconds, said = time.monotonic() - began, model.summary()
        source = linear_systems.named(name)
        assert source is not None
        words = words_of(len(source.letters), length, count)
        if block is None:
            found = krohn_outputs(model.file, words)
        else:
            found = said_by(model.file, words)
        off = float(np.abs(found - source.run(words)).max())
        often = passes(length, block) if block else 1
        errors = f"{off:.1e}", f"{said['error']:.1e}", f"{said['error'] / off:.0f}"
        row(name, block or "–", length, often, *sizes(said), f"{seconds:.1f}", *errors)


def krohn_outputs(file: ModelFile, words: Any) -> Any:
    """The outputs of a network on words that run at once."""
    from krohn.source_kinds.real_outputs import outputs

    return outputs(file, words)


def hard() -> None:
    """Cyclic-HARD by 5 points and by its beliefs."""
    header("T", "network", "layers", "width", "parameters", "verdict", "error", "s")
    model = hidden_markov.named(HARD)
    assert model is not None
    found = reachable(model)
    assert found is not None
    for length in (16, 120, 1000):
        began = time.monotonic()
        said = krohn.compile(HARD, length, dtype="float32").summary()
        told = (
            said["verdict"],
            f"{said['error']:.1e}",
            f"{time.monotonic() - began:.1f}",
        )
        row(length, said["construction"], *sizes(said), *told)
        options = Options(PRECISIONS["float32"])
        vector = tuple(map(tuple, found.laws.tolist()))
        known = planning(machine_of(model, found), length, options, vectors=vector)
        plan = next(known.best_first())
        cost = plan.cost
        size = cost.layers, cost.d_model, f"{cost.parameters:,}"
        name = f"{len(found.weights)} beliefs, {plan.construction}"
        row(length, name, *size, "predicted, not made", "–", "–")


def main() -> None:
    """Print the tables of docs/kinds/blocks.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--words", type=int, default=200)
    count = parser.parse_args().words
    torch.set_num_threads(1)
    texts(count)
    one_layer_less(count)
    vectors(count)
    hard()


if __name__ == "__main__":
    main()
