"""Texts in blocks: 2^L ≥ b + 1 levels are enough, one less is refused; mutants."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from krohn.algebra.automaton import Automaton, Semiautomaton
from krohn.compile_options import CompileOptions
from krohn.compiler.compiled_network import CompiledNetwork
from krohn.compiler.constructions.scan import scan
from krohn.compiler.passes.simplify import InferDomains
from krohn.compiler.pipeline import Options, arrange, optimise
from krohn.compiler.transformer import describe, lower
from krohn.kinds.blocks.commands import TextsInBlocks
from krohn.kinds.blocks.source import (
    BLANK,
    blanks,
    completed_texts,
)
from krohn.kinds.blocks.statement import (
    Blocks,
    longest,
    passes,
)
from krohn.machines import read
from krohn.network.modelfile import ModelFile
from krohn.network.precision import PRECISIONS
from krohn.network.reading import decode
from krohn.network.stepping import stepping
from krohn.network.transformer import Transformer
from krohn.program import Map, Operation, Program, Row, Token, table
from krohn.program.domains import IntArray
from krohn.program.errors import Refused
from krohn.program.language import program_to_wire
from krohn.program.statement import Statement, parse
from krohn.verify.checker.model_file import Machine
from krohn.verify.checker.windows import enough
from krohn.verify.proof import prove
from krohn.verify.search.lemmas import ranks, windows

KIND, OPTIONS = TextsInBlocks(), Options(PRECISIONS["float32"])


def of_program(source: Blocks, program: Program, letters: int) -> ModelFile:
    """A file that claims that a Program writes the states of a machine."""
    layout, features = arrange(optimise(program, OPTIONS), OPTIONS)
    network = lower(layout, features, False)
    built = CompiledNetwork("blocks", network, describe(layout, network), None)
    claim = {"length": program.length, "letters": letters}
    return KIND.file(source, built, claim, OPTIONS)


def windowed(source: Blocks, letters: int, window: int) -> ModelFile:
    """The network whose maps are composed over ``window`` tokens."""
    names = source.tokens, source.states
    machine = Automaton(Semiautomaton(source.resets, *names), source.start)
    program = scan(machine, longest(letters, source.block), window=window)
    return of_program(source, program, letters)


def written(file: ModelFile, source: Blocks, words: IntArray) -> IntArray:
    """What the network makes of words."""
    form = getattr(torch, file.precision.name)
    tensors = {n: torch.from_numpy(t).to(form) for n, t in file.tensors.items()}
    network = Transformer(file.header["architecture"], tensors)
    texts = blanks(words, source.block)
    return decode(stepping(network), texts, len(source.letters))


def random_words(source: Blocks, letters: int, count: int) -> IntArray:
    """Words by fixed seeds."""
    return np.random.default_rng(1).integers(len(source.letters), size=(count, letters))


@pytest.mark.sample(1)
@pytest.mark.parametrize("block", [1, 3, 4, 8, 16])
def test_the_least_depth_is_that_of_a_block_and_one(block: int) -> None:
    """Row 13 of the ladder: b = 8 needs 4 layers, not 3."""
    source = KIND.of_source(read("Cyclic-DET5,5@3"), block)
    built, claim = KIND.build(source, CompileOptions(length=40, dtype="float32"))
    levels = (block).bit_length()  # ⌈log2(b + 1)⌉
    assert len(built.network.architecture["blocks"]) == levels
    file = KIND.file(source, built, claim, OPTIONS)
    assert prove(file, None).verdict == "verified"
    words = random_words(source, 40, 20)
    assert np.array_equal(written(file, source, words), completed_texts(source, words))


@pytest.mark.sample(1)
@pytest.mark.parametrize("block", [4, 8])
def test_one_layer_less_is_refused_and_wrong(block: int) -> None:
    source = KIND.of_source(read("Cyclic-DET5,5@3"), block)
    file = windowed(source, 40, 2 ** (block.bit_length() - 1))
    assert prove(file, None).verdict != "verified"
    words = random_words(source, 40, 20)
    wrong = written(file, source, words) != completed_texts(source, words)
    assert wrong.any(axis=1).mean() > 0.5


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ["FlipFlop", "Grid4", "Q8"])
@pytest.mark.parametrize("block", [1, 6])
def test_every_machine_writes_its_states(name: str, block: int) -> None:
    source = KIND.of_source(read(name), block)
    built, claim = KIND.build(source, CompileOptions(length=17, dtype="float32"))
    file = KIND.file(source, built, claim, OPTIONS)
    assert prove(file, None).verdict == "verified"
    words = random_words(source, 17, 40)
    assert np.array_equal(written(file, source, words), completed_texts(source, words))


def test_states_may_be_written_sooner() -> None:
    """The claim holds wherever no more than b letters come one after the other."""
    source = KIND.of_source(read("Cyclic-DET5,5@3"), 8)
    built, claim = KIND.build(source, CompileOptions(length=40, dtype="float32"))
    file = KIND.file(source, built, claim, OPTIONS)
    sooner = replace(source, block=5)
    words = random_words(source, 30, 40)
    assert np.array_equal(written(file, sooner, words), completed_texts(sooner, words))


@pytest.mark.sample(1)
@pytest.mark.parametrize("block", [5, 8, 15])
def test_a_network_serves_every_block_that_its_windows_hold(block: int) -> None:
    """4 levels hold 16 tokens: blocks of up to 15 letters."""
    machine = read("Cyclic-DET5,5@3")
    file = windowed(KIND.of_source(machine, 8), 40, 9)
    assert says(file, machine, block) == "verified"
    assert block < 15 or says(file, machine, 16) != "verified"


def says(file: ModelFile, machine: Automaton, block: int) -> str:
    """The verdict if the file claimed another block, and fewer letters."""
    source = KIND.of_source(machine, block).to_wire()
    claim = {**file.header["claim"], "letters": 30}
    changed = {**file.header, "source": source, "claim": claim}
    return prove(ModelFile(changed, file.tensors, file.precision), None).verdict


def forged(source: Any, **fields: Any) -> Any:
    """The source of a file with other fields."""
    return {**source, **fields}


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "fields",
    [
        {"start": 1},
        {"start": 7},
        {"block": 0},
        {"block": 2.5},
        {"classes": ["1", "2", "3", "4", "4"]},
        {"kind": "chain-of-thought"},
        {"transitions": [[0, 1, 2, 3, 4]] * 5},
    ],
)
def test_forged_sources_are_refused(fields: dict[str, Any]) -> None:
    machine = read("Cyclic-DET5,5@3")
    source = KIND.of_source(machine, 3)
    file = windowed(source, 12, 4)
    header = {**file.header, "source": forged(source.to_wire(), **fields)}
    forgery = ModelFile(header, file.tensors, file.precision)
    assert prove(forgery, None).verdict != "verified"


@pytest.mark.sample(1)
@pytest.mark.parametrize("letters", [0, 14, 10**9, -1, 2.5, None])
def test_longer_words_than_fit_are_not_claimed(letters: Any) -> None:
    """12 letters in blocks of 3 have texts of 15 tokens, of which 14 letters have 18."""
    file = windowed(KIND.of_source(read("C2"), 3), 12, 4)
    claim = {**file.header["claim"], "letters": letters}
    forgery = ModelFile({**file.header, "claim": claim}, file.tensors, file.precision)
    assert prove(file, None).verdict == "verified"
    assert prove(forgery, None).verdict == "undecided"


@pytest.mark.sample(8)
@pytest.mark.parametrize("seed", range(20))
def test_enough_is_never_less_than_the_longest_run(seed: int) -> None:
    """Theorem 2a by brute force, on random machines, maps and words that are possible."""
    random = np.random.default_rng(seed)
    letters, states, points = 3, 4, 3
    led = random.integers(-2, states, size=(letters, states)).clip(min=-1)
    maps = random.integers(points, size=(letters, points))
    maps[random.integers(letters, size=2)] = random.integers(points, size=(2, 1))
    names = [f"map[{p}]" for p in range(points)]
    operations: dict[str, Operation] = {"token": Token()}
    for p, name in enumerate(names):
        images: dict[Row, int] = {(a,): int(maps[a, p]) for a in range(letters)}
        operations[name] = Map(table({**images, (letters,): p}), ("token",))
    written = Program(("a", "b", "c"), states, 12, operations, tuple(names), {})
    told = program_to_wire(InferDomains().apply(written), {}, {})
    program = parse(told, letters, 12)
    found = shown(program, tuple(names), Machine(0, led, np.arange(states)))
    plain = [a for a in range(letters) if len(set(maps[a].tolist())) > 1]
    ends, run = set(range(states)), 0
    while ends and run < 12:
        ends = {int(led[a, q]) for q in ends for a in plain if led[a, q] >= 0}
        run += bool(ends)
    assert found == min(run + 1, 12)


def test_windows_are_enough_if_possible_words_reset_in_time() -> None:
    """Theorem 2a by brute force: the longest run without a reset, over all words."""
    source = KIND.of_source(read("Cyclic-DET3,2@1"), 3)
    file = windowed(source, 20, 4)
    program = statement(file)
    family = tuple(file_family(program))
    legal = Machine(*source.legal())
    assert shown(program, family, legal) == 4
    cells = legal.transitions.size
    assert shown(program, family, legal, 5 * cells) == 4
    assert shown(program, family, legal, cells) == program.length
    complete = Machine(source.start, source.resets, np.arange(3))
    assert shown(program, family, complete) == program.length


def test_ranks_rise_with_every_letter_that_is_no_reset() -> None:
    source = KIND.of_source(read("Cyclic-DET3,2@1"), 3)
    program = statement(windowed(source, 20, 4))
    family, legal = tuple(file_family(program)), Machine(*source.legal())
    found = ranks(program, family, legal)
    assert found is not None
    for state, rank in enumerate(found):
        lower = [*found[:state], rank - 1, *found[state + 1 :]]
        if rank:
            with pytest.raises(Refused, match=r"no higher rank|negative"):
                enough(program, family, legal, lower)
    with pytest.raises(Refused, match="not each state"):
        enough(program, family, legal, found[1:])


def shown(
    program: Statement, family: tuple[str, ...], machine: Machine, *work: int
) -> int:
    """The width that is enough, by the ranks that are found."""
    return enough(program, family, machine, ranks(program, family, machine, *work))


def statement(file: ModelFile) -> Statement:
    letters = len(file.header["source"]["letters"])
    return parse(file.header["program"], letters, file.header["claim"]["length"])


def file_family(program: Statement) -> list[str]:
    """The maps of one letter."""
    one = np.zeros((program.letters, 1), np.int64)
    found = windows(program, Machine(0, one, one[0]))
    return list(found["families"][0])


def test_texts_and_what_is_blank() -> None:
    source = KIND.of_source(read("C2"), 2)
    words = np.array([[1, 1, 1, 0, 1]])
    assert blanks(words, source.block).tolist() == [
        [1, 1, BLANK, 1, 0, BLANK, 1, BLANK]
    ]
    assert completed_texts(source, words).tolist() == [[1, 1, 2, 1, 0, 3, 1, 2]]
    assert (passes(5, source.block), longest(5, source.block)) == (3, 7)


def test_a_letter_that_is_called_like_a_written_state_is_refused() -> None:
    with pytest.raises(Refused, match="two letters have the same name"):
        Blocks("odd", ("(a)",), ("a",), np.zeros((1, 1), np.int64), 0, 2)


def test_a_block_that_would_not_fit_in_memory_is_refused() -> None:
    """A number of ten digits in a header, and a state for each letter of a block."""
    file = windowed(KIND.of_source(read("C2"), 2), 2, 4)
    file.header["source"]["block"] = 2**31 - 2
    file.header["claim"]["letters"] = 1
    assert "too large" in prove(file, None).reason


def test_a_source_of_no_kind_is_refused() -> None:
    file = windowed(KIND.of_source(read("C2"), 2), 2, 4)
    file.header["source"]["kind"] = "machine"
    assert "a claim of a wrong kind" in prove(file, None).reason
