"""Block chain of thought, and Cyclic-HARD by few points: sizes, proofs, runs."""

import time
from functools import partial
from typing import Any

import numpy as np
import torch
from report import Row, Table, each, parser, publish

import krohn
from krohn.algebra.automaton import Automaton, Semiautomaton
from krohn.compiler.compiled_network import CompiledNetwork
from krohn.compiler.constructions.scan import scan
from krohn.compiler.cost import levels
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
from krohn.source_kinds.real_outputs import outputs
from krohn.verify.proof import prove

CYCLES, PRODUCTS, HARD = "Cyclic-DET5,5@3", "MatMul5,5@3", "Cyclic-HARD5,5@3"
TEXTS = (
    *((CYCLES, block, 120) for block in (None, 1, 4, 8, 12, 16, 60)),
    *((CYCLES, block, 1000) for block in (None, 8, 16)),
    *((name, 8, 120) for name in ("C2", "Q8", "Grid9", "A4")),
)
VECTORS = (*((PRODUCTS, block, 120) for block in (None, 1, 8, 12, 30, 60)),)
LESS = (8, 12, 16)
HARDS = (16, 120, 1000)


def words_of(letters: int, length: int, count: int) -> Any:
    """Random words, and those of one letter."""
    words = np.random.default_rng(1).integers(letters, size=(count, length))
    words[: min(letters, count)] = np.arange(min(letters, count))[:, None]
    return words


def sizes(summary: Any) -> Row:
    """Layers, width and parameters."""
    names = {"layers": "layers", "width": "d_model", "parameters": "parameters"}
    return {name: summary[key] for name, key in names.items()}


def text(count: int, case: tuple[str, int | None, int]) -> Row:
    """A machine that writes its states; without a b all letters are read at once."""
    name, block, length = case
    began = time.monotonic()
    model = krohn.compile(
        name, length, block=block, construction="auto" if block else "scan"
    )
    seconds, said = time.monotonic() - began, model.summary()
    made = {
        "machine": f"`{name}`",
        "b": block,
        "T": length,
        "passes": passes(length, block) if block else 1,
        "tokens": longest(length, block) if block else length,
        **sizes(said),
        "verdict": said["verdict"],
        "s": seconds,
    }
    if block is None:
        return made
    source = TextsInBlocks().of_source(krohn.read(name), block)
    some = count if length < 500 else count // 10
    wrong = wrong_texts(model.file, source, length, some)
    return made | {"texts run": some, "wrong": wrong}


def wrong_texts(file: ModelFile, source: Blocks, length: int, count: int) -> int:
    """In how many texts some written state is another one."""
    words = words_of(len(source.letters), length, count)
    found = np.array(TextsInBlocks().texts(file, blanks(words, source.block).tolist()))
    return int((found != completed_texts(source, words)).any(axis=1).sum())


def one_layer_less(count: int, block: int) -> Row:
    """A network whose windows are too short for its blocks."""
    options = Options(PRECISIONS["float32"])
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
    proof = prove(file, None)
    return {
        "machine": f"`{CYCLES}`",
        "b": block,
        "T": 120,
        "layers": less,
        "verdict": "proved" if proof.verdict == "verified" else "refused",
        "texts run": count,
        "wrong": wrong_texts(file, source, 120, count),
    }


def vector(count: int, case: tuple[str, int | None, int]) -> Row:
    """A linear system that writes its states."""
    name, block, length = case
    began = time.monotonic()
    model = krohn.compile(name, length, block=block)
    seconds, said = time.monotonic() - began, model.summary()
    source = linear_systems.find_by_name(name)
    assert source is not None
    words = words_of(len(source.letters), length, count)
    found = said_by(model.file, words) if block else outputs(model.file, words)
    off = float(np.abs(found - source.run(words)).max())
    return {
        "system": f"`{name}`",
        "b": block,
        "T": length,
        "passes": passes(length, block) if block else 1,
        **sizes(said),
        "s": seconds,
        "measured": off,
        "proved": said["error"],
        "×": said["error"] / off,
    }


def hard(length: int) -> list[Row]:
    """Cyclic-HARD by 5 points, and by its beliefs, of which only the size is found."""
    model = hidden_markov.find_by_name(HARD)
    assert model is not None
    found = reachable(model)
    assert found is not None
    began = time.monotonic()
    said = krohn.compile(HARD, length, dtype="float32").summary()
    told = {"verdict": said["verdict"], "error": said["error"]}
    points: Row = {"T": length, "network": said["construction"], **sizes(said), **told}
    points["s"] = time.monotonic() - began
    options = Options(PRECISIONS["float32"])
    laws = tuple(map(tuple, found.laws.tolist()))
    known = planning(machine_of(model, found), length, options, vectors=laws)
    plan = next(known.best_first())
    name = f"{len(found.weights)} beliefs, {plan.construction}"
    cost = {"layers": plan.cost.layers, "width": plan.cost.d_model}
    size = cost | {"parameters": plan.cost.parameters}
    beliefs = {"T": length, "network": name, **size, "verdict": "predicted, not made"}
    return [points, beliefs]


def main() -> None:
    """Print the tables."""
    options = parser(__doc__)
    options.add_argument("--words", type=int, default=200)
    chosen = options.parse_args()
    torch.set_num_threads(1)
    count = chosen.words
    tables = [
        Table("texts in blocks", each(partial(text, count), TEXTS)),
        Table("one layer less", each(partial(one_layer_less, count), LESS)),
        Table("vectors that are written", each(partial(vector, count), VECTORS)),
        Table("Cyclic-HARD", [row for length in HARDS for row in hard(length)]),
    ]
    publish(tables, chosen)


if __name__ == "__main__":
    main()
