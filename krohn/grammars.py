"""Grammars by name or from files, and what a cut at some depth leaves out."""

from math import log
from pathlib import Path
from typing import Any

from krohn.algebra.errors import KrohnError
from krohn.program.errors import Refused
from krohn.sources import grammars
from krohn.sources.grammars import END, HIDDEN, Grammar, Words
from krohn.sources.grammars.bounded import cut, depths
from krohn.sources.grammars.laws import compared
from krohn.sources.grammars.normal import numbers_of
from krohn.sources.grammars.words import letters_of, sentences


def grammar(source: str | Path) -> Grammar:
    """The grammar of a name, ``pcfg:Dyck2``, or of a ``.pcfg`` file.

    Raises:
        KrohnError: If there is none, or it is wrong.
    """
    try:
        found = grammars.named(str(source))
    except Refused as reason:
        raise KrohnError(str(reason)) from None
    if found is None:
        known = ", ".join(f"{grammars.PREFIX}{name}" for name in grammars.CATALOGUE)
        raise KrohnError(
            f"{source} names no grammar; there are {known}, and .pcfg files"
        )
    return found


def facts(source: Grammar, deepest: int) -> dict[str, Any]:
    """What a grammar is, and how much of it each cut holds, exactly.

    Raises:
        KrohnError: If the depth is out of range.
    """
    try:
        within = depths(source, deepest).sentences
    except Refused as reason:
        raise KrohnError(str(reason)) from None
    return {
        "name": source.name,
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
    try:
        model = cut(source, depth)
        rows = compared(source, model, length)
        mass = depths(source, depth).sentences[depth]
    except Refused as reason:
        raise KrohnError(str(reason)) from None
    return {
        "depth": depth,
        "states": model.size,
        "divergence": -log(mass) if mass < 1 else 0.0,
        "lengths": [row._asdict() for row in rows],
    }


def asked(source: Grammar, words: list[str]) -> dict[str, Any]:
    """What a grammar says of a word: exact probabilities, or the laws of hidden letters.

    Args:
        source: The grammar.
        words: Letters, ``_`` for a hidden one.

    Raises:
        KrohnError: If a letter is unknown, or no sentence is like the word.
    """
    word, exact = letters_of(source, words), Words(source, exact=True)
    try:
        if HIDDEN in word:
            laws = exact.hidden(word)
            told = {
                str(at + 1): dict(zip(source.letters, map(str, law), strict=True))
                for at, law in laws.items()
            }
            return {"word": list(word), "hidden": told}
        numbers = numbers_of(source, word)[None]
    except Refused as reason:
        raise KrohnError(str(reason)) from None
    following = exact.following(numbers)[0]
    begun = following.sum()
    law = following / begun if begun else following
    return {
        "word": list(word),
        "probability": str(following[-1]),
        "prefix": str(begun),
        "next": dict(zip((*source.letters, END), map(str, law), strict=True)),
    }


def drawn(source: Grammar, count: int, seed: int) -> list[dict[str, Any]]:
    """Random sentences, with their depths.

    Raises:
        KrohnError: If one is too long.
    """
    try:
        found = list(sentences(source, count, seed))
    except Refused as reason:
        raise KrohnError(str(reason)) from None
    return [{"sentence": list(word), "depth": depth} for word, depth in found]
