"""Grammars by name or from files, and what a cut at some depth leaves out."""

from math import log
from pathlib import Path
from typing import Any

from krohn.algebra.errors import KrohnError
from krohn.kinds.grammars import source as grammars
from krohn.kinds.grammars.source import (
    END,
    HIDDEN,
    Grammar,
    Words,
)
from krohn.kinds.grammars.source_bounded import (
    compare_laws,
    cut,
    depths,
)
from krohn.kinds.grammars.source_examples import CATALOGUE
from krohn.kinds.grammars.source_words import (
    letters_of,
    numbers_of,
    sentences,
)


def grammar(source: str | Path) -> Grammar:
    """The grammar of a name, ``pcfg:Dyck2``, or of a ``.pcfg`` file.

    Args:
        source: The name, or the path of the file.

    Raises:
        KrohnError: If there is none, or it is wrong.

    Examples:
        >>> len(krohn.grammar("pcfg:Dyck2").rules)
        3
    """
    found = grammars.find_by_name(str(source))
    if found is None:
        known = ", ".join(f"{grammars.PREFIX}{name}" for name in CATALOGUE)
        raise KrohnError(
            f"{source} names no grammar; there are {known}, and .pcfg files"
        )
    return found


def facts(source: Grammar, deepest: int) -> dict[str, Any]:
    """The facts of a grammar, and the probability that each cut of it holds, exactly.

    Raises:
        KrohnError: If the depth is out of range.
    """
    within = depths(source, deepest).sentences
    return {
        "name": source.name,
        **({"remark": source.remark} if source.remark else {}),
        "symbols": len(source.of),
        "rules": len(source.rules),
        "letters": list(source.letters),
        "mean_length": float(source.mean_length),
        "depths": [
            {"depth": depth, "within": str(mass), "probability": float(mass)}
            for depth, mass in enumerate(within)
        ],
    }


def against(source: Grammar, depth: int, length: int) -> dict[str, Any]:
    """The law of the next letter of a cut beside that of the grammar, by length.

    Raises:
        KrohnError: If there is no such cut, or there are too many prefixes.
    """
    model = cut(source, depth)
    rows = compare_laws(source, model, length)
    mass = depths(source, depth).sentences[depth]
    return {
        "depth": depth,
        "states": model.size,
        "divergence": -log(mass) if mass < 1 else 0.0,
        "lengths": [row._asdict() for row in rows],
    }


def ask(source: Grammar, words: list[str]) -> dict[str, Any]:
    """The exact probabilities of a word in a grammar, or the laws of its hidden letters.

    Args:
        source: The grammar.
        words: Letters, ``_`` for a hidden one.

    Raises:
        KrohnError: If a letter is unknown, or no sentence is like the word.
    """
    word, exact = letters_of(source, words), Words(source, exact=True)
    if HIDDEN in word:
        laws = exact.predict_hidden(word)
        told = {
            str(at + 1): dict(zip(source.letters, map(str, law), strict=True))
            for at, law in laws.items()
        }
        return {"word": list(word), "hidden": told}
    numbers = numbers_of(source, word)[None]
    following = exact.following(numbers)[0]
    begun = following.sum()
    law = following / begun if begun else following
    return {
        "word": list(word),
        "probability": str(following[-1]),
        "prefix": str(begun),
        "next": dict(zip((*source.letters, END), map(str, law), strict=True)),
    }


def draw_sentences(source: Grammar, count: int, seed: int) -> list[dict[str, Any]]:
    """Random sentences, with their depths.

    Raises:
        KrohnError: If one is too long.
    """
    found = list(sentences(source, count, seed))
    return [{"sentence": list(word), "depth": depth} for word, depth in found]
