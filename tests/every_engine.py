"""A random Transformer, run in every way that there is, each as numbers of float64."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch
from random_networks import RandomNetwork
from slices_here import here

from krohn.network.cache import Tree
from krohn.network.forward_pass import Hooks
from krohn.network.meaning.arrays import Arrays, whole
from krohn.network.reading import plain_reader
from krohn.network.transformer import Transformer
from krohn.program.domains import FloatArray

NARROW = "float16", "bfloat16"
Run = Callable[[RandomNetwork], FloatArray | None]
"""The logits ``(batch, time, classes)``; None of what it does not run."""


def of_torch(given: RandomNetwork) -> Transformer:
    """The network as a module, in its format."""
    kind = getattr(torch, given.architecture["dtype"])
    tensors = {n: torch.from_numpy(x).to(kind) for n, x in given.tensors.items()}
    return Transformer(given.architecture, tensors).eval()


def whole_words(given: RandomNetwork) -> FloatArray:
    """By torch, at once."""
    said: FloatArray = of_torch(given)(torch.from_numpy(given.words)).double().numpy()
    return said


def hooked(given: RandomNetwork) -> FloatArray:
    """By torch, with a function that looks at each place."""
    network, seen = of_torch(given), list[torch.Tensor]()
    at = Hooks(dict.fromkeys(network.hook_places(), (seen.append,)))
    said = network.run_with_hooks(torch.from_numpy(given.words), at)
    assert len(seen) == len(network.hook_places())
    return said.double().numpy()  # type: ignore[no-any-return]


def letter_by_letter(given: RandomNetwork) -> FloatArray | None:
    """By torch, after each letter."""
    network, said = of_torch(given), []
    if not network.causal:
        return None
    cache = network.start(len(given.words))
    for letters in torch.from_numpy(given.words).T:
        logits, cache = network.step(letters, cache)
        said.append(logits.double())
    return torch.stack(said, dim=1).numpy()  # type: ignore[no-any-return]


def along_branches(given: RandomNetwork) -> FloatArray | None:
    """By torch, word by word, two letters on in all ways that there are."""
    network, said = of_torch(given), []
    if not network.causal:
        return None
    tree = Tree(given.architecture["vocabulary"] - 1, 2)
    letters = torch.arange(tree.branches)
    for word in given.words:
        cache, rows = network.start(), list[torch.Tensor]()
        for first, second in word[: len(word) // 2 * 2].reshape(-1, 2).tolist():
            logits, grow = network.branch(letters, cache, tree)
            leaf = first * tree.branches + second
            rows.append(logits[0, tree.paths[leaf]])
            cache = grow(leaf, leaf + 1)
        for last in word[len(word) // 2 * 2 :]:
            rows.append(network.step(torch.tensor([last]), cache)[0])
        said.append(torch.cat(rows).double())
    return torch.stack(said).numpy()  # type: ignore[no-any-return]


def by_numpy(given: RandomNetwork) -> FloatArray | None:
    """By numpy, which has no products of 16 bits."""
    dtype = given.architecture["dtype"]
    if dtype in NARROW:
        return None
    net = given.net.each(lambda x: x.astype(dtype))
    return np.asarray(whole(net, Arrays(), given.words), np.float64)


def numpy_by_letters(given: RandomNetwork) -> FloatArray | None:
    """By numpy, after each letter; words as a whole where heads see what comes later."""
    if given.architecture["dtype"] in NARROW:
        return None
    begin = plain_reader(given.file)
    assert begin is not None
    texts = begin(len(given.words))
    if not given.net.causal:
        return np.asarray(texts.read_on(given.words), np.float64)
    said = [texts.read(letters) for letters in given.words.T]
    return np.stack(said, axis=1).astype(np.float64)


def by_onnx(given: RandomNetwork) -> FloatArray | None:
    """By ONNX Runtime, whose kernels of GeLUs are of float32, and none of bfloat16."""
    from krohn.architectures.exports.destinations import destination

    dtype, place = given.architecture["dtype"], destination("onnx")
    if dtype == "bfloat16" or (dtype == "float64" and "gelu" in str(given.shape)):
        return None
    with TemporaryDirectory() as folder:
        place.write(given.file, Path(folder))
        said = place.open(Path(folder))(torch.from_numpy(given.words))
    return said.double().numpy()  # type: ignore[no-any-return]


RUNS: dict[str, Run] = {
    "whole words": whole_words,
    "hooked": hooked,
    "letter by letter": letter_by_letter,
    "branches": along_branches,
    "numpy": by_numpy,
    "numpy by letters": numpy_by_letters,
    **({"onnx": by_onnx} if here("architectures.exports") else {}),
}
