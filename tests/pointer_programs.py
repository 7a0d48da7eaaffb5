"""Programs of pointers: subsequences, half from the left and half from the right."""

from collections.abc import Mapping, Sequence

import numpy as np

from krohn.algebra.automaton import Automaton, Semiautomaton
from krohn.compiler.constructions import pointers
from krohn.program import Earliest, Map, Operation, Program, Token, table

LETTERS = "abc"


def machine(word: Sequence[int]) -> Automaton:
    """How many letters of a word have come, in order, other letters between them."""
    n = len(word)
    rows = [
        [q + (q < n and word[q] == a) for q in range(n + 1)]
        for a in range(len(LETTERS))
    ]
    names = tuple(map(str, range(n + 1)))
    return Automaton(Semiautomaton(np.array(rows), tuple(LETTERS), names), start=0)


def letter(chosen: int, bos: int) -> Operation:
    """1 at one letter, ``bos`` at BOS, else 0."""
    rows = {(a,): int(a == chosen) for a in range(len(LETTERS))}
    return Map(table({**rows, (len(LETTERS),): bos}), ("token",))


def program(
    word: Sequence[int], length: int, changed: Mapping[str, Operation] | None = None
) -> Program:
    """A test for each beginning of a word: ``seen1``, then ``test2``, ``test3`` and so on.

    Test k compares the first position of test m, the largest power of two below k, with
    a pointer to the letters m + 1, …, k. Some of the operations may be changed.
    """
    any_letter = {(a,): int(a < len(LETTERS)) for a in range(len(LETTERS) + 1)}
    operations: dict[str, Operation] = {
        "token": Token(),
        "letter": Map(table(any_letter), ("token",)),
        **pointers.places(length),
    }
    for a in range(len(LETTERS)):
        operations |= {f"is{a}": letter(a, 0), f"leaves{a}": letter(a, 1)}
        operations |= pointers.last(f"last{a}", f"leaves{a}", length)
    operations["seen1"] = Earliest("letter", f"is{word[0]}")
    flags = [f"is{word[0]}"]
    for k in range(2, len(word) + 1):
        half = 2 ** ((k - 1).bit_length() - 1)
        made, pointer = _pointer(word[half:k], length)
        operations |= made
        operations |= pointers.first(f"first{half}", flags[half - 1])
        operations |= pointers.has_happened(f"test{k}", f"first{half}", pointer, length)
        flags.append(f"test{k}")
    n = len(word)
    return Program(
        letters=tuple(LETTERS),
        states=n + 1,
        length=length,
        operations={**operations, **(changed or {})},
        outputs=("seen1", *flags[1:]),
        decode={(1,) * q + (0,) * (n - q): q for q in range(n + 1)},
    )


def _pointer(word: Sequence[int], length: int) -> tuple[dict[str, Operation], str]:
    if len(word) == 1:
        return {}, f"last{word[0]}"
    cut = len(word) // 2
    first, outer = _pointer(word[:cut], length)
    second, inner = _pointer(word[cut:], length)
    name = "last" + "".join(map(str, word))
    return {
        **first,
        **second,
        **pointers.compose_pointers(name, outer, inner, length),
    }, name
