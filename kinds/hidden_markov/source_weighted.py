"""Weighted automata: JSON of a start, a matrix for each letter and an end; OpenFst's text.

A word o_1 … o_t has the weight start · A_{o_1} ⋯ A_{o_t} · final: A[s, s'] is the weight
from s to s'. Weights are real numbers, or their negative logarithms.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from krohn.kinds.hidden_markov.source_model import HiddenMarkovModel
from krohn.program.att_text import read_lines
from krohn.program.domains import LARGEST_MATRIX, FloatArray
from krohn.program.errors import Refused, demand
from krohn.program.user_input import EPSILONS, may_be_epsilon, real_array

START, MATRICES, FINAL, WEIGHTS = "start", "matrices", "final", "weights"
KEYS = frozenset({START, MATRICES, FINAL})
READ = ("real", "log")
MANY = "there are {} states, two for each where weights are negative, not 1 to 255"
TEXT = re.compile(r"(?s)(?P<path>.+\.(?:att|fst\.txt)):weights=(?P<weights>.*)")
"""The name of a file of OpenFst's text, and how weights are read."""


def take_automaton(source: object) -> HiddenMarkovModel | None:
    """The automaton of a dict with ``start``, ``matrices`` and ``final``; None of others.

    Raises:
        Refused: If these are no arrays of one size.
    """
    if isinstance(source, Mapping) and set(source) >= KEYS:
        return model(source, "automaton")
    return None


def model(said: Mapping[str, Any], name: str) -> HiddenMarkovModel:
    """The automaton of such a dict, or object of JSON.

    Args:
        said: ``start`` and ``final``: ``(n,)``; ``matrices``: for each letter ``(n, n)``.
            ``states`` may name the states, ``name`` the automaton. ``weights`` is "real",
            or "log" if all numbers are negative logarithms.
        name: What it is called if that is not said.

    Raises:
        Refused: If an array is absent or has another shape.
    """
    read, matrices = said.get(WEIGHTS, READ[0]), said[MATRICES]
    demand(
        isinstance(matrices, Mapping),
        f"{MATRICES} must have a matrix for each letter, by its name",
    )
    states = said.get("states")
    named = states is None or isinstance(states, list | tuple)
    demand(named, "the states are no list of names")
    start, final = (real_array(said[key], key) for key in (START, FINAL))
    alike = start.shape == final.shape and start.ndim == 1
    demand(alike, f"{START} and {FINAL} must both have one weight for each state")
    demand(0 < len(start) < LARGEST_MATRIX, MANY.format(len(start)))
    count = len(start) if states is None else len(states)
    demand(count == len(start), f"{count} names for {len(start)} states")
    return _small(
        str(said.get("name", name)),
        _weights(start, read),
        {
            str(letter): _weights(real_array(rows, f"the matrix of {letter!r}"), read)
            for letter, rows in matrices.items()
        },
        _weights(final, read),
        None if states is None else map(str, states),
    )


def of_text(text: str, name: str, read: str) -> HiddenMarkovModel:
    """The automaton of OpenFst's text: ``source target letter [letter] [weight]``.

    A line ``state [weight]`` is of a state that may be the last. The first line begins
    with the start. A weight that is not written is that of the number 1.

    Raises:
        Refused: If a line is none of these, has an epsilon, or changes its letter.
    """
    one = 1.0 if read == READ[0] else 0.0
    lines = read_lines(text)
    letters_at = _letters_of_a_line([fields for _, fields in lines.arcs])
    number: dict[str, int] = {lines.start: 0}
    arcs: dict[str, list[tuple[int, int, float]]] = defaultdict(list)
    ends: dict[int, float] = defaultdict(float)
    for line, words in lines.arcs:
        source, target = (number.setdefault(q, len(number)) for q in words[:2])
        labels, rest = words[2 : 2 + letters_at], words[2 + letters_at :]
        demand(
            len(set(labels)) == 1,
            f"line {line}: it reads {labels[0]!r} and says another letter; an automaton "
            "only reads (fstproject)",
        )
        demand(
            not set(labels) & EPSILONS,
            f"line {line}: it reads no letter; remove epsilons first (fstrmepsilon)",
        )
        arcs[labels[0]].append((source, target, _number(rest, read, one, line)))
    for line, words in lines.finals:
        at = number.setdefault(words[0], len(number))
        ends[at] += _number(words[1:], read, one, line)
    demand(
        not may_be_epsilon(arcs.keys()),
        "the label '0' is epsilon where all labels are numbers; call the letter otherwise",
    )
    size = len(number)
    demand(size < LARGEST_MATRIX, MANY.format(size))
    matrices = {letter: np.zeros((size, size)) for letter in arcs}
    for letter, moves in arcs.items():
        for source, target, weight in moves:
            matrices[letter][source, target] += weight
    final = np.array([ends[at] for at in range(size)])
    return _small(name, np.eye(size)[0], matrices, final, number)


def _letters_of_a_line(lines: Sequence[list[str]]) -> int:
    """How often a line has its letter: twice if some line has a weight behind that."""
    demand(bool(lines), "there are no transitions")
    wide = max(map(len, lines))
    fours = [words for words in lines if len(words) == 4]
    unlike = wide != 4 or any(words[2] != words[3] for words in fours)
    demand(
        unlike,
        "the fourth part of each line is its letter or its weight, which are the same; "
        "write both the letter twice and the weight",
    )
    return 2 if wide == 5 else 1


def _small(
    name: str,
    start: FloatArray,
    matrices: Mapping[str, FloatArray],
    final: FloatArray,
    states: Iterable[str] | None,
) -> HiddenMarkovModel:
    automaton = HiddenMarkovModel.weighted(name, start, matrices, final, states)
    demand(automaton.size < LARGEST_MATRIX, MANY.format(automaton.size))
    return automaton


def _number(words: list[str], read: str, one: float, line: int) -> float:
    """The weight at the end of a line, as a real number."""
    demand(len(words) <= 1, f"line {line}: there is something behind the weight")
    try:
        return float(_weights(np.array([float(words[0]) if words else one]), read)[0])
    except ValueError:
        raise Refused(f"line {line}: {words[0]!r} is no weight") from None
    except Refused as reason:
        raise Refused(f"line {line}: {reason}") from None


def _weights(numbers: FloatArray, read: str) -> FloatArray:
    """Weights as real numbers; −log 0 is infinite.

    Raises:
        Refused: If ``read`` is none of `READ`, or float64 has no such number.
    """
    demand(read in READ, f"weights are real or log, not {str(read)[:40]!r}")
    if read == READ[0]:
        demand(np.isfinite(numbers), "a weight is no finite number")
        return numbers
    demand(~np.isnan(numbers), "a weight is no number")
    with np.errstate(over="ignore", under="ignore"):
        weights = np.exp(-numbers)
    representable = np.isfinite(weights) & ((weights > 0) | (numbers == np.inf))
    demand(
        representable,
        "e to the power of minus a weight is too large or too small for float64",
    )
    return weights
