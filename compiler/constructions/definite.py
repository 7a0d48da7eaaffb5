"""Machines that the last or the first letters decide: look-backs side by side."""

import numpy as np

from krohn.algebra.automaton import Automaton, IntArray
from krohn.algebra.classification.digraph import equivalences
from krohn.algebra.minimisation import reachable
from krohn.compiler.errors import CompileError
from krohn.program import Latest, Map, Operation, Program, Row, Shift, Token, table

NAME = "definite"
SUMMARY = "look at the last letters side by side, or keep what the first ones decided"
# The proof follows every word of so many letters.
MOST_WORDS = 20_000
LONGEST_WINDOW = 13


def definite(machine: Automaton, length: int) -> Program:
    """The machine from its last k letters, or from its first k.

    *Last* (definite, Perles, Rabin and Shamir 1963): the letters are put together oldest
    first. After j of them only the class of the state under the words of the k − j that
    follow matters, which is the same from every state before; BOS stands for the start.
    *First*: while at most k letters were read, the same tables, with states instead of
    classes, are right, and the latest such position is kept.

    Raises:
        CompileError: If neither decides, or there are too many such words.
    """
    part = reachable(machine)
    blocks = equivalences(part.semiautomaton)
    if not blocks[-1].any():
        blocks = blocks[::-1]
        operations = _together(part, blocks)
        outputs, width = (f"read{len(blocks) - 1}",), len(blocks) - 1
    else:
        width = _decided_after(part)
        blocks = [np.arange(len(part.states))] * (width + 1)
        operations = _together(part, blocks) | _kept_state(part, width)
        outputs = ("kept",)
    if width > LONGEST_WINDOW or len(part.letters) ** width > MOST_WORDS:
        raise CompileError(f"there are too many words of {width} letters to look at")
    return Program(
        letters=machine.letters,
        states=len(machine.states),
        length=length,
        operations={"token": Token(), **operations},
        outputs=outputs,
        decode={(q,): machine.states.index(n) for q, n in enumerate(part.states)},
    )


def _together(part: Automaton, blocks: list[IntArray]) -> dict[str, Operation]:
    """``read{j}``: the class ``blocks[j]`` of the state after the oldest j letters."""
    letters, bos = range(len(part.letters)), len(part.letters)
    operations: dict[str, Operation] = {
        "letter": Map(table({(a,): a for a in range(bos + 1)}), ("token",)),
        "read0": Map(
            table({(a,): int(blocks[0][part.start]) for a in range(bos + 1)}),
            ("token",),
        ),
    }
    for j in range(1, len(blocks)):
        labels, one = np.unique(blocks[j - 1], return_index=True)
        rows: dict[Row, int] = {
            (int(label), a): int(blocks[j][part.transitions[a, q]])
            for label, q in zip(labels, one, strict=True)
            for a in letters
        }
        rows |= {(int(label), bos): int(blocks[j][part.start]) for label in labels}
        back = len(blocks) - 1 - j
        if back:
            operations[f"back{back}"] = Shift("letter", back)
        read = f"back{back}" if back else "letter"
        operations[f"read{j}"] = Map(table(rows), (f"read{j - 1}", read))
    return operations


def _decided_after(part: Automaton) -> int:
    """How many letters it takes from the start until nothing changes any more.

    Raises:
        CompileError: If it can change after more letters than are looked at.
    """
    fixed = (part.transitions == np.arange(len(part.states))).all(axis=0)
    now = np.array([part.start])
    for width in range(LONGEST_WINDOW + 1):
        if fixed[now].all():
            return max(width, 1)
        now = np.unique(part.transitions[:, now])
    raise CompileError(
        f"neither the last few letters nor the first few decide the state of {part.name}"
    )


def _kept_state(part: Automaton, width: int) -> dict[str, Operation]:
    """The state at the latest position that is no more than ``width`` letters in."""
    begun: dict[Row, int] = {(a,): 0 for a in range(len(part.letters))}
    return {
        "begun": Map(table({**begun, (len(part.letters),): 1}), ("token",)),
        "early": Shift("begun", width),
        "kept": Latest(f"read{width}", "early"),
    }
