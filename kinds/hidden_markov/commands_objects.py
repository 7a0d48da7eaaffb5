"""Hidden Markov models and grammars: by name, from files, of machines."""

from math import log
from pathlib import Path
from typing import Any, Unpack

import numpy.typing as npt

from krohn.algebra.errors import KrohnError
from krohn.kinds.grammars import source as grammars
from krohn.kinds.grammars.source import (
    END,
    HIDDEN,
    Grammar,
    Words,
)
from krohn.kinds.grammars.source_bounded import (
    compared,
    cut,
    depths,
)
from krohn.kinds.grammars.source_words import (
    letters_of,
    numbers_of,
    sentences,
)
from krohn.kinds.hidden_markov.source import (
    HiddenMarkovModel,
    driven,
)
from krohn.kinds.hidden_markov.statement_masked import Task
from krohn.kinds.linear_systems.commands import as_model
from krohn.kinds.linear_systems.source import LinearSystem
from krohn.kinds.posterior_heads.source import (
    PosteriorHead,
    gaussian,
    of_model,
)
from krohn.machine_objects import MachineKeywords, MachineReading
from krohn.machines import machine_of, with_outputs
from krohn.option_rules import refuse_others
from krohn.program.retelling import told_as
from krohn.program.user_input import real_array
from krohn.source_kinds import named

# Hidden Markov models by name, from files, of machines and of linear systems.


def hidden_markov(
    source: object, **reading: Unpack[MachineKeywords]
) -> HiddenMarkovModel:
    """The hidden Markov model of a name, a file, arrays, or a fitted object of hmmlearn.

    A linear system whose letters are stochastic, and every machine, is one whose letters
    are chosen.

    Args:
        source: A name; a file (docs/kinds/hidden_markov.md says which); a dict of the
            arrays ``startprob``, ``transmat`` and ``emissionprob``, whose rows are laws; an
            object that holds them as ``startprob_`` and so on; or a machine. In arrays the
            first letter is said by a state of the law startprob; in Krohn's JSON and in
            ``.pomdp`` files the start is the law before the first step.
        **reading: How a machine is read, by the names in
            `krohn.machine_objects.MachineReading`.

    Raises:
        KrohnError: If there is none of this name, or the source states none.
    """
    other, how = named(source), MachineReading(**reading)
    if isinstance(source, list | tuple):
        raise KrohnError(
            "a hidden Markov model is three arrays, as a dict: {'startprob': …, "
            "'transmat': …, 'emissionprob': …}, each row of which adds up to 1"
        )
    if other is None:
        return as_model(with_outputs(machine_of(source, how), how.observe))
    found = other[1]
    refuse_others(how.reading_options, (), other[0].called)
    with told_as(about=f"{source} is no hidden Markov model: "):
        if isinstance(found, LinearSystem):
            return driven(found)
    if not isinstance(found, HiddenMarkovModel):
        raise KrohnError(f"{source} is no hidden Markov model")
    if found.final is not None:
        raise KrohnError(
            f"{found.name} is a weighted automaton, and its weights are no probabilities; "
            "krohn.compile takes it"
        )
    return found


def gaussian_hmm(
    means: npt.ArrayLike,
    transition: npt.ArrayLike,
    task: str = "2given1",
    radius: float | None = None,
    name: str = "points",
) -> PosteriorHead:
    """A hidden Markov model that says points, and what is guessed of it.

    Args:
        means: ``(d, k)``: the mean in each state; covariances are 1.
        transition: ``(k, k)``: T[s', s] = Pr(s' | s); columns add up to 1. The chain is
            stationary.
        task: What is guessed: ``2given1``, ``13given2``, ….
        radius: The largest |x_i| that is asked about; 8 more than that of a mean if absent.
        name: What it is called.

    Raises:
        KrohnError: If these are no such model.
    """
    centres, step = real_array(means, "means"), real_array(transition, "transition")
    return gaussian(name, centres, step, Task.of(task), radius)


def masked(model: str | Path | HiddenMarkovModel, task: str) -> PosteriorHead:
    """The law of masked letters of a hidden Markov model in its stationary law.

    Args:
        model: A name, a file, or a model; it says letters in states.
        task: What is guessed: ``2given1``, ``23given1``, ….

    Raises:
        KrohnError: If it is no such model, or has more than one stationary law.
    """
    source = model if isinstance(model, HiddenMarkovModel) else hidden_markov(model)
    return of_model(source, Task.of(task))


# Grammars by name or from files, and what a cut at some depth leaves out.


def grammar(source: str | Path) -> Grammar:
    """The grammar of a name, ``pcfg:Dyck2``, or of a ``.pcfg`` file.

    Raises:
        KrohnError: If there is none, or it is wrong.
    """
    found = grammars.named(str(source))
    if found is None:
        known = ", ".join(f"{grammars.PREFIX}{name}" for name in grammars.CATALOGUE)
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
    rows = compared(source, model, length)
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
        laws = exact.hidden(word)
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
