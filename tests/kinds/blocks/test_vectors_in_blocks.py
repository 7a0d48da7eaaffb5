"""Vectors in blocks (Theorem W11): errors of what is fed back add up, and no more."""

from typing import Any

import numpy as np
import pytest
import torch
from linear_networks import rounding, runner

from krohn.checks import Checks
from krohn.compile_options import CompileOptions
from krohn.compiler.compiled_network import CompiledNetwork
from krohn.compiler.pipeline import Options
from krohn.kinds.blocks.commands import LinearSystemsInBlocks
from krohn.kinds.blocks.source import (
    BLANK,
    blanks,
)
from krohn.kinds.blocks.statement import longest
from krohn.kinds.linear_systems.build_products import realise
from krohn.kinds.linear_systems.source import (
    VectorsInBlocks,
    find_by_name,
)
from krohn.network.modelfile import ModelFile
from krohn.network.precision import PRECISIONS, FloatArray
from krohn.network.stepping import fed_back
from krohn.program.domains import IntArray
from krohn.program.errors import Refused
from krohn.verify.checker.established import Established
from krohn.verify.search.find import model_of, search

KIND, OPTIONS = LinearSystemsInBlocks(), Options(PRECISIONS["float64"])


def built(
    source: VectorsInBlocks, letters: int, window: int, scale: float | None = None
) -> ModelFile:
    """The file of a network of windows, with a claim that nothing can break."""
    tokens = longest(letters, source.block)
    made = realise(source.affine, tokens, OPTIONS, scale, window)
    claim = {"length": tokens, "letters": letters, "error": 1e9}
    return KIND.file(source, CompiledNetwork("blocks", *made, None), claim, OPTIONS)


def shown(file: ModelFile) -> Established:
    """What the checker shows, without regard to what is claimed."""
    with np.errstate(all="ignore"):
        return search(model_of(file), None)[1]


def measured(file: ModelFile, source: VectorsInBlocks, words: IntArray) -> float:
    """The largest error at any letter, written vectors fed back."""
    texts = blanks(words, source.block)[:, :-1]
    channels = file.header["program"]["channels"]
    first = next(c["dims"][0] for c in channels if c["op"] == "letter-matrix")
    size = source.affine.size
    column = range(first + size - 1, first + size * (size - 1), size)
    said = fed_back(runner(file), torch.from_numpy(texts), column, 0.5)
    states: FloatArray = said.double().numpy()[:, (texts != BLANK)[0], :-1]
    return float(np.abs(states - source.system.run(words)).max())


def source_of(name: str, block: int) -> VectorsInBlocks:
    system = find_by_name(name)
    assert system is not None
    return VectorsInBlocks(system, block)


def words_of(source: VectorsInBlocks, letters: int, count: int) -> IntArray:
    """Random words, and those of one letter."""
    several = len(source.system.letters)
    words = np.random.default_rng(2).integers(several, size=(count, letters))
    words[:several] = np.arange(several)[:, None]
    return words


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("name", "block", "scale"),
    [
        ("MatMul3,3@1", 1, 2.0**8),
        ("MatMul5,5@3", 3, None),
        ("Cyclic-DET4,3@1", 8, 2.0**8),
        ("MatMul3,3@1", 8, None),
    ],
)
def test_no_word_is_further_off(name: str, block: int, scale: float | None) -> None:
    source = source_of(name, block)
    file = built(source, 24, block + 1, scale)
    found, words = shown(file), words_of(source, 24, 30)
    most = found.error + rounding(source.system, 24)
    assert measured(file, source, words) <= most
    assert found.error >= -(-24 // block) * found.told["window"]


@pytest.mark.slow
def test_a_coarse_gate_is_within_a_few_times_what_is_measured() -> None:
    """Where the curve of GeLU decides, and not rounding: it draws all in one direction."""
    source = source_of("MatMul5,5@3", 8)
    file = built(source, 40, 9, 2.0**8)
    off = measured(file, source, words_of(source, 40, 60))
    assert off > shown(file).error / 30


@pytest.mark.parametrize("block", [2, 8])
def test_one_layer_less_is_refused(block: int) -> None:
    """Windows must hold b + 1 tokens: 2^L ≥ b + 1."""
    source = source_of("MatMul3,3@1", block)
    file = built(source, 20, 2 ** (block.bit_length() - 1))
    with pytest.raises(Refused, match="letters only"):
        shown(file)
    assert measured(file, source, words_of(source, 20, 10)) > 0.1


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"block": 9}, "letters only"),
        ({"block": 0}, "not a sensible size"),
        ({"start": [0.0, 1.0, 0.0]}, "starts elsewhere"),
        ({"matrices": np.eye(3)[None].repeat(3, axis=0).tolist()}, "other matrices"),
    ],
)
def test_forged_sources_are_refused(fields: dict[str, Any], why: str) -> None:
    source = source_of("MatMul3,3@1", 7)
    file = built(source, 20, 8)
    said = {**file.header["source"], **fields}
    forgery = ModelFile({**file.header, "source": said}, file.tensors, file.precision)
    with pytest.raises(Refused, match=why):
        shown(forgery)


def test_longer_words_than_fit_are_not_claimed() -> None:
    file = built(source_of("MatMul3,3@1", 3), 12, 4)
    claim = {**file.header["claim"], "letters": 13}
    forgery = ModelFile({**file.header, "claim": claim}, file.tensors, file.precision)
    with pytest.raises(Refused, match="do not fit"):
        shown(forgery)


def test_a_longer_text_has_a_larger_error() -> None:
    source = source_of("MatMul3,3@1", 3)
    errors = [shown(built(source, letters, 4)).error for letters in (3, 6, 12, 24)]
    ratios = np.array(errors) / errors[0]
    assert np.allclose(ratios, [1, 2, 4, 8], rtol=1e-6)


def test_all_words_of_a_length_are_every_input_of_it() -> None:
    source = source_of("MatMul3,3@1", 2)
    model = KIND.compile(source, CompileOptions(length=3, formats=("float64",)))
    report = KIND.verify(model.file, Checks(proof=False, exhaustive=3))
    words = len(source.system.letters) ** 3
    assert (report.verdict, report.words) == ("undecided", words)


def test_a_letter_that_is_called_like_the_token_is_refused() -> None:
    system = source_of("MatMul3,3@1", 3).system
    letters = ("a", "b", "(b)")
    other = type(system)("odd", letters, system.matrices, system.start)
    with pytest.raises(Refused, match="called like the token"):
        VectorsInBlocks(other, 3)
