"""Chains of thought as vectors of four parts (Yang et al. 2024, equation 10)."""

import numpy as np

from krohn.kinds.dynamic_programs.statement import ChainOfThought
from krohn.program.domains import IntArray
from krohn.program.errors import demand

INPUT, CELL, NUMBER, ANSWER = range(4)


def continue_prompt(source: ChainOfThought, prompt: str) -> IntArray:
    """``(tokens,)``: the text after a prompt, whose tokens have blanks between them.

    The sign at its end may be left out.

    Raises:
        Refused: If it is no prompt.
    """
    index = {name: token for token, name in enumerate(source.tokens)}
    tokens, (low, high) = [index.get(n, -1) for n in prompt.split()], source.prompt[-1]
    tokens += [low] * (low == high and len(tokens) == len(source.prompt) - 1)
    return np.asarray(source.continue_prompts(np.array([tokens], np.int64))[0])


def vectors_of(source: ChainOfThought, text: IntArray) -> IntArray:
    """``(tokens, 4)``: inputs (s, 0, 0, 0), cells (0, i, dp, 0), the answer (0, 0, 0, u).

    Cells are counted from 1. Signs are 0: their places tell them apart, as the paper gives
    its sign no part of its own.

    Args:
        source: The chain of thought.
        text: ``(tokens,)``: a text of it, or how one begins.
    """
    rows, cell = np.zeros((len(text), 4), np.int64), 0
    content, start = np.array(source.contents)[text], len(source.prompt)
    rows[:start, INPUT] = content[:start]
    for t, step in enumerate(source.steps[: max(0, len(text) - start)], start):
        if step.token is None and t + 1 < source.answer:
            cell += 1
            rows[t, [CELL, NUMBER]] = cell, content[t]
        elif step.token is None or t + 1 == source.answer:
            rows[t, ANSWER] = content[t]
    return rows


def text_of(source: ChainOfThought, vectors: IntArray) -> IntArray:
    """``(tokens,)``: the text that vectors stand for.

    Raises:
        Refused: If one is no vector of its place; noise is not rounded.
    """
    rows, start = np.asarray(vectors), len(source.prompt)
    right = rows.ndim == 2 and rows.shape[1] == 4 and len(rows) <= source.length
    demand(right, f"a text has up to {source.length} vectors of 4 parts")
    text, contents = np.zeros(len(rows), np.int64), np.array(source.contents)
    for t, row in enumerate(rows):
        number = row.sum() - row[CELL]
        if t < start:
            low, high = source.prompt[t]
            text[t] = low + (contents[low : high + 1] == number).argmax()
        else:
            fixed = source.steps[t - start].token
            said = int(number) if 0 <= number < source.numbers else 0
            text[t] = said if fixed is None else fixed
    wrong = np.flatnonzero((vectors_of(source, text) != rows).any(axis=1))
    place = int(wrong[0]) + 1 if len(wrong) else 0
    demand(not place, f"no token at place {place} has the vector that is there")
    return text
