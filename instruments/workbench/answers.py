"""Words with right answers, and interchange interventions with what should follow."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from krohn.algebra.errors import KrohnError
from krohn.intervention import read_program, run_changed
from krohn.kinds.hidden_markov.source import HiddenMarkovModel
from krohn.network.model import name_answers
from krohn.open_model import Model
from krohn.program.domains import IntArray
from krohn.program.files import read_bytes
from krohn.program.interpreter import Held, interpret
from krohn.program.intervention import predict
from krohn.program.statement import Statement
from krohn.source_kinds import of_file
from krohn.verify.testing.sampling import draws

MODEL, WORDS, PAIRS = "model.safetensors", "words.jsonl", "pairs.jsonl"
"""The files of a network in a set."""
LARGEST = 2**28
"""In bytes, of a file of words or interchanges."""
Answers = list[str] | list[list[float]]
"""After each letter: the name of a class, or the numbers of a law."""
ROUNDING = 1e-12
"""Of laws in float64, beside the error that a file claims."""


def sample_inputs(
    model: Model, count: int, rng: np.random.Generator
) -> tuple[IntArray, int | None]:
    """Random inputs ``(count, length)``, as letter indices, and where texts begin.

    Networks that write texts get a prompt with its text, and those that say beliefs words
    that their hidden Markov model says; others get adversarial words. Where there are no
    texts, there is no such place.
    """
    kind = of_file(model.file)
    whole = kind.whole(model.file, lambda _: count, rng)
    if whole is not None and whole.told is not None:
        return whole.rows(slice(0, min(count, whole.count))), whole.told
    length, source = model.length or 1, kind.of_file(model.file)
    if isinstance(source, HiddenMarkovModel):
        return source.sample(count, length, rng)[0], None
    machine = kind.stated_machine(model.file)
    if machine is None:
        return rng.integers(len(model.letters), size=(count, length)), None
    seed = int(rng.integers(2**31))
    words = [each for _, each in draws(machine, count, length, seed)]
    return rng.permutation(np.concatenate(words)), None


def list_answers(
    model: Model, words: IntArray, start: int | None
) -> Iterator[dict[str, Any]]:
    """Words with the right answers after each letter, or prompts with their texts.

    Beliefs are those of the hidden Markov model; other answers those of the Program, which
    a proved network gives.
    """
    if start is not None:
        for row in words.tolist():
            letters = [model.letters[a] for a in row]
            yield {"word": letters[:-1], "from": start, "answers": letters[start:]}
        return
    source = of_file(model.file).of_file(model.file)
    if isinstance(source, HiddenMarkovModel):
        answers = source.filter(words)[0].tolist()
    else:
        answers = _name_classes(model, predict(read_program(model), words, {}).answers)
    for row, each in zip(words.tolist(), answers, strict=True):
        yield {"word": [model.letters[a] for a in row], "from": 1, "answers": each}


def interchanges(
    model: Model, words: IntArray, rng: np.random.Generator
) -> Iterator[dict[str, Any]]:
    """Interchange interventions: a variable is given its value in another word.

    They are those of which the Program predicts an answer after every letter.
    """
    program = read_program(model, laws=True)
    values = interpret(program, words)
    others = rng.permutation(len(words))
    at = rng.integers(1, words.shape[1] + 1, size=len(words))
    names = [n for n, c in program.channels.items() if c.stored and c.vectors is None]
    which = rng.integers(len(names), size=len(words))
    for i, name in enumerate(names):
        rows = np.flatnonzero(which == i)
        if not len(rows):
            continue
        given = values[name][others[rows], at[rows]]
        patch = held_at(at[rows], given, words.shape[1])
        predictions = predict(program, words[rows], {name: patch}).answers
        whole = np.flatnonzero((predictions >= 0).all(axis=1))
        answers = _write_answers(model, program, predictions[whole])
        for row, each in zip(rows[whole].tolist(), answers, strict=True):
            yield {
                "base": [model.letters[a] for a in words[row].tolist()],
                "source": [model.letters[a] for a in words[others[row]].tolist()],
                "variable": name,
                "position": int(at[row]),
                "value": int(values[name][others[row], at[row]]),
                "answers": each,
            }


def held_at(at: IntArray, given: IntArray, length: int) -> Held:
    """Values of a variable at one position of each word."""
    shape, each = (len(at), length + 1), np.arange(len(at))
    values, where = np.zeros(shape, np.int64), np.zeros(shape, np.bool_)
    values[each, at], where[each, at] = given, True
    return Held(values, where)


def _write_answers(model: Model, program: Statement, found: IntArray) -> list[Any]:
    """Answers as they are listed, of their numbers ``(batch, length)``."""
    vectors = program.channels[program.outputs[0]].vectors
    return _name_classes(model, found) if vectors is None else vectors[found].tolist()


def _name_classes(model: Model, found: IntArray) -> list[list[str]]:
    return [[model.classes[q] for q in row] for row in found.tolist()]


# How many answers of a network are right.


def right(model: Model, row: dict[str, Any]) -> float:
    """The share of the answers to a listed word that are right."""
    with torch.inference_mode():
        logits = model(model.encode(row["word"]))[0, row["from"] - 1 :]
    return share(model, logits, row["answers"])


def right_changed(model: Model, row: dict[str, Any]) -> float:
    """The share of the answers after a listed interchange that are as predicted."""
    tokens = model.encode(row["base"])
    assert isinstance(tokens, Tensor)
    given = np.array([row["position"]]), np.array([row["value"]])
    patches = {row["variable"]: held_at(*given, tokens.shape[1])}
    program = read_program(model, laws=True)
    with torch.inference_mode():
        logits, _ = run_changed(model, tokens, patches, program)
    return share(model, logits[0], row["answers"])


def share(model: Model, logits: Tensor, answers: Answers) -> float:
    """The share of right answers, of logits ``(length, classes)``.

    Raises:
        ValueError: If there are more, or fewer, answers.
    """
    if len(logits) != len(answers):
        raise ValueError("another number of answers")
    if isinstance(answers[0], str):
        names = name_answers(logits, model.classes)
        return float(np.mean([a == b for a, b in zip(names, answers, strict=True)]))
    most = model.file.claim.error + ROUNDING
    off = (logits.double() - torch.tensor(answers, dtype=torch.float64)).abs()
    return float((off.amax(dim=-1) <= most).double().mean())


# The files of words and interchanges.


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of a file, each an object of JSON.

    Raises:
        KrohnError: If one is none.
    """
    text = read_bytes(path, LARGEST).decode("utf-8", "replace")
    for i, line in enumerate(text.splitlines(), 1):
        try:
            yield json.loads(line)
        except ValueError:
            raise KrohnError(f"{path}:{i}: no JSON") from None
