"""How differently networks that follow nested brackets attend, and a picture of it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from krohn.algebra.errors import KrohnError
from krohn.algebra.wording import probability
from krohn.drawing import check_suffix, save
from krohn.drawing.attention import draw_attention
from krohn.instruments.compare.measures.attention_variation import (
    Reader,
    baseline,
    function_error,
    mean_variation,
    on_top,
    probe,
    reader,
    variation,
)
from krohn.network import modelfile
from krohn.network.modelfile import ModelFile
from krohn.program.wording import at_most
from krohn.running import letters_of

SAMPLES = 64


def compare_attention(
    files: Sequence[str],
    word: str | None = None,
    seed: int = 0,
    output: Path | None = None,
) -> dict[str, Any]:
    """How much networks differ in attention and in function.

    Args:
        files: Model files of constructions ``balanced`` and ``dyck``, of one machine.
        word: The prefix on which attention is compared; None for one with all kinds
            and depths.
        seed: Of the prefixes on which functions are compared.
        output: A picture of the patterns.

    Raises:
        KrohnError: If the files do not fit each other, or the word is no prefix.
    """
    if output is not None:
        check_suffix(output)
    readers = _readers([modelfile.read(name) for name in files])
    result, patterns = _comparison(readers, files, word, seed)
    if output is not None:
        save(_picture(result, patterns), output)
        result["picture"] = str(output)
    return result


def attention_picture(file: ModelFile, word: str | None = None) -> Figure:
    """The picture of a network's attention on a prefix; if none is given, on a telling one.

    Raises:
        KrohnError: If it does not follow nested brackets.
    """
    return _picture(*_comparison(_readers([file]), [""], word, 0))


def _comparison(
    readers: Sequence[Reader], names: Sequence[str], word: str | None, seed: int
) -> tuple[dict[str, Any], list[Any]]:
    """The facts about networks, and their patterns."""
    law, machine = readers[0].law, readers[0].machine
    prefix = (
        probe(law)
        if word is None
        else machine.encode(letters_of(word, machine)).tolist()
    )
    law.stacks(prefix)
    patterns = [r.attention(prefix) for r in readers]
    letters = [machine.letters[a] for a in prefix]
    length = min(r.file.claim.length or 1 for r in readers)
    words = law.sample(np.random.default_rng(seed), SAMPLES, length)
    several = len(readers) > 1
    result: dict[str, Any] = {
        "word": letters,
        "networks": [
            {"file": name, **_facts(r), "weight on top": on_top(p, law, prefix)}
            for name, r, p in zip(names, readers, patterns, strict=True)
        ],
        "variations": [[variation(a, b) for b in patterns] for a in patterns],
        "mean variation": mean_variation(patterns) if several else None,
        "random baseline": float(baseline(len(prefix) + 1)),
        "function error": function_error(readers, words),
        "words": SAMPLES,
        "length": length,
    }
    return result, patterns


def _readers(loaded: Sequence[ModelFile]) -> list[Reader]:
    stated = {f.claim.opening for f in loaded if f.claim.opening}
    if len(stated) > 1:
        raise KrohnError(
            f"the networks have different laws: q = {', '.join(sorted(stated))}"
        )
    readers = [reader(f, *map(probability, stated)) for f in loaded]
    if any(r.machine != readers[0].machine for r in readers):
        raise KrohnError(
            "the networks are for different machines; compare those of one"
        )
    return readers


def _facts(r: Reader) -> dict[str, Any]:
    header = r.file.header
    return {
        "construction": header["construction"],
        **header.get("freedom", {}),
        **r.facts(),
    }


def _picture(result: dict[str, Any], patterns: Sequence[Any]) -> Figure:
    remarks = [
        f"On {result['words']} random prefixes of {result['length']} letters their laws "
        f"differ by at most {at_most(result['function error'])}."
    ]
    if result["mean variation"] is not None:
        remarks.append(
            f"Mean attention variation {result['mean variation']:.3g}; of random patterns "
            f"{result['random baseline']:.3g}."
        )
    titles = [title(network) for network in result["networks"]]
    labels = ["•", *result["word"]]
    return draw_attention(titles, patterns, labels, remarks)


def title(network: dict[str, Any]) -> str:
    """A network in a few words."""
    if "attention" not in network:
        return "stack-like (dyck)"
    if network["attention"] == "uniform":
        return f"uniform, depth {network['depth']}"
    return f"{network['attention']}, seed {network['seed']}, scale {network['scale']:g}"
