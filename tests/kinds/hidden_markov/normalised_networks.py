"""Networks of products that say beliefs, for tests: made, proved and run."""

from typing import Any

import numpy as np
from linear_networks import LOOSE, outputs

from krohn.compiler.pipeline import Options
from krohn.kinds.hidden_markov.build_normalised import normalised_network
from krohn.kinds.hidden_markov.source import (
    HiddenMarkovModel,
    find_by_name,
)
from krohn.network.modelfile import ModelFile
from krohn.network.precision import PRECISIONS, FloatArray


def model(name: str) -> HiddenMarkovModel:
    found = find_by_name(name)
    assert found is not None
    return found


def positive(
    states: int, letters: int, seed: int, least: float = 0.0
) -> HiddenMarkovModel:
    """Uniform laws and start; entries are at least ``least`` before they are divided."""
    random = np.random.default_rng(seed)
    step, say, start = (
        least + (1 - least) * random.random(shape)
        for shape in ((states, states), (letters, states), (states,))
    )
    if seed % 3 == 0:
        start = np.eye(states)[seed % states]
    name, laws = f"model {seed}", (step / step.sum(axis=0), say / say.sum(axis=0))
    return HiddenMarkovModel.of(name, *laws, before=start / start.sum())


def built(
    source: HiddenMarkovModel | str,
    length: int,
    dtype: str = "float64",
    scale: float | None = None,
    **options: bool,
) -> ModelFile:
    """The file of a network of products, with a claim that nothing can break."""
    source = model(source) if isinstance(source, str) else source
    precision = PRECISIONS[dtype]
    made = normalised_network(source, length, Options(precision, **options), scale)
    claim = {"kind": "within", "error": LOOSE, "length": length, "dtype": dtype}
    header = {
        "architecture": made.network.architecture,
        "source": source.to_wire(),
        "construction": "normalised-products",
        "claim": claim,
        "program": made.program,
    }
    tensors = {n: precision.round(t) for n, t in made.network.tensors.items()}
    return ModelFile(header, tensors, precision)


def errors(file: ModelFile, words: Any) -> FloatArray:
    """``(batch,)``: the largest error of any output on each word."""
    source = HiddenMarkovModel.from_wire(file.header["source"])
    beliefs, _ = source.filter(words)
    return np.asarray(np.abs(outputs(file, words) - beliefs).max(axis=(1, 2)))


def words_of(file: ModelFile, count: int, seed: int = 0) -> Any:
    """Random words, after those that repeat a letter."""
    letters, length = len(file.header["source"]["letters"]), file.header["claim"]
    shape = (count, length["length"])
    words = np.random.default_rng(seed).integers(letters, size=shape)
    constant = np.repeat(np.arange(letters)[:, None], shape[1], axis=1)
    return np.vstack([constant, words])


def climbed(file: ModelFile, steps: int, seed: int) -> tuple[float, float]:
    """The largest error of some words, and after a hill climb over words from there."""
    words = words_of(file, 40, seed)
    random, (count, length) = np.random.default_rng(seed), words.shape
    found, letters = errors(file, words), len(file.header["source"]["letters"])
    first = float(found.max())
    for _ in range(steps):
        tried = words.copy()
        for _ in range(random.integers(1, 5)):
            at = random.integers(length, size=count)
            tried[np.arange(count), at] = random.integers(letters, size=count)
        now = errors(file, tried)
        words[now > found] = tried[now > found]
        found = np.maximum(found, now)
    return first, float(found.max())
