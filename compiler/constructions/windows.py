"""Machines that the last letters decide, alone or with what a window of them wrote."""

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

import numpy as np

from krohn.algebra.automaton import Automaton, IntArray
from krohn.algebra.classification.digraph import equivalences
from krohn.algebra.minimisation import reachable
from krohn.algebra.windows import WindowMemory, as_window_memory
from krohn.compiler import CompileError
from krohn.compiler.constructions.first_looks import undecided
from krohn.compiler.machine_programs import letter_itself, machine_program, of_letter
from krohn.program import Latest, Map, Operation, Program, Row, Shift, table

# The memory of windows: a look at the last letters, then the latest one that wrote.

MOST_ROWS = 20_000


def window(machine: Automaton, length: int) -> Program:
    """The machine as a memory whose letters are windows of the last k letters.

    The two-layer network of the flip-flop language (thesis, section 3.5, Proposition 3)
    for every machine that is such a memory. Departures: letters are looked at by
    position instead of by the score of a write; BOS has written the value of the
    start; an absorbing state, such as the error of a language, is entered at the first
    letter that the memory says is illegal, which costs a third layer.

    Raises:
        CompileError: If the machine is no such memory, or has too many windows.
    """
    memory = as_window_memory(machine)
    if memory is None:
        raise CompileError(
            f"{machine.name} is no memory of windows: given the last few letters, "
            "each letter must lead all possible states to one or keep all of them "
            "apart"
        )
    build = _Windows(memory, len(machine.letters))
    operations = {
        **build.letters(),
        **build.stored_channels(),
        **build.verdict(),
        **build.kind(),
        **build.state(),
    }
    return machine_program(machine, length, operations, build.outputs, build.decode())


@dataclass(frozen=True)
class _Windows:
    """The parts of the Program of a memory of windows.

    Attributes:
        found: The memory.
        bos: How many letters there are; the value of BOS.
    """

    found: WindowMemory
    bos: int

    @property
    def labels(self) -> int:
        """How many labels there are."""
        return int(self.found.state.shape[1])

    @cached_property
    def kinds(self) -> tuple[IntArray, list[dict[int, int]]]:
        """Contexts of one kind mean the same state by the same label, if they mean one.

        Returns:
            ``(contexts,)`` the kind of each, and the state of each label for each kind.
        """
        kind = np.zeros(len(self.found.state), dtype=np.int64)
        meanings: list[dict[int, int]] = []
        for context, row in enumerate(self.found.state.tolist()):
            meant = {label: q for label, q in enumerate(row) if q >= 0}
            fits = (
                i
                for i, m in enumerate(meanings)
                if all(m.get(label, q) == q for label, q in meant.items())
            )
            kind[context] = next(fits, len(meanings))
            if kind[context] == len(meanings):
                meanings.append({})
            meanings[kind[context]].update(meant)
        return kind, meanings

    @cached_property
    def kind_after(self) -> IntArray:
        """``(contexts, letters)``: the kind of the context that the next letter has."""
        contexts, letters = self.found.writes.shape
        before, letter = np.indices((contexts, letters))
        return np.asarray(self.kinds[0][(before * (letters + 1) + letter) % contexts])

    @cached_property
    def cases(self) -> IntArray:
        """``(letters + 1,) * (k − 1) + (letters,)``: windows that do the same, numbered."""
        writes, after = self.found.writes[..., None], self.kind_after[..., None]
        rows = np.concatenate([writes, after, self.found.illegal], axis=2)
        _, number = np.unique(
            rows.reshape(-1, rows.shape[-1]), axis=0, return_inverse=True
        )
        shape = (self.bos + 1,) * (self.found.width - 1) + (self.bos,)
        return np.asarray(number.reshape(shape))

    @cached_property
    def classes(self) -> list[IntArray]:
        """For each place in the window, oldest first, letters that do the same there."""
        classes = []
        for axis in range(self.found.width):
            rows = np.moveaxis(self.cases, axis, 0).reshape(self.cases.shape[axis], -1)
            _, number = np.unique(rows, axis=0, return_inverse=True)
            classes.append(number.reshape(-1))
        return classes

    @property
    def window(self) -> tuple[str, ...]:
        """The channels that say the classes of the letters in the window."""
        k = self.found.width
        return (*(f"back{i}" for i in range(k - 1, 0, -1)), "letter")

    def letters(self) -> dict[str, Operation]:
        """The class of each letter for every place of the window, and the look-backs."""
        *before, now = self.classes
        own = int(now.max()) + 1  # BOS is no letter
        operations: dict[str, Operation] = {"letter": of_letter(now, own)}
        for i, name in enumerate(self.window[:-1]):
            by = self.found.width - 1 - i
            operations[f"letter{by}"] = of_letter(before[i][:-1], before[i][-1])
            operations[name] = Shift(f"letter{by}", by)
        return operations

    def stored_channels(self) -> dict[str, Operation]:
        """The channels of the window's value, of its flag, and of the last value."""
        writes = self.found.writes.reshape(-1)
        written = self._of_window(np.maximum(writes, 0), self.found.start)
        if (writes >= 0).all():
            return {"stored": written}
        return {
            "written": written,
            "writes": self._of_window((writes >= 0).astype(np.int64), 1),
            "stored": Latest("written", "writes"),
        }

    def verdict(self) -> dict[str, Operation]:
        """Whether a letter up to here was illegal."""
        if self.found.sink is None:
            return {}
        bad = self.found.illegal.reshape(-1, self.labels)
        _, judged = np.unique(bad, axis=0, return_inverse=True)
        judged = judged.reshape(-1)
        own = int(judged.max()) + 1
        rows: dict[Row, int] = {
            (label, case): int(case < own and bad[judged == case][0, label])
            for label in range(self.labels)
            for case in range(own + 1)
        }
        flags: dict[Row, int] = {r: int(v or r[1] == own) for r, v in rows.items()}
        return {
            "case": self._of_window(judged, own),
            "illegal": Map(table(rows), ("stored", "case")),
            "flagged": Map(table(flags), ("stored", "case")),
            "failed": Latest("illegal", "flagged"),
        }

    def kind(self) -> dict[str, Operation]:
        """The kind of the context that the next letter will have."""
        kinds, meanings = self.kinds
        if len(meanings) == 1:
            return {}
        at_bos = int(kinds[-1])
        return {"kind": self._of_window(self.kind_after.reshape(-1), at_bos)}

    @property
    def states_by_label(self) -> dict[Row, int]:
        """The state that a label means after a context of a kind."""
        pairs = enumerate(self.kinds[1])
        return {(label, k): q for k, row in pairs for label, q in row.items()}

    @property
    def plain(self) -> bool:
        """Whether label and kind name each state once, so that they can be outputs."""
        once = len(set(self.states_by_label.values())) == len(self.states_by_label)
        return self.found.sink is None and once

    @property
    def outputs(self) -> tuple[str, ...]:
        """The channels from which the state is read."""
        return ("stored", *self.kind()) if self.plain else ("state",)

    def decode(self) -> dict[Row, int]:
        """The state that each tuple of outputs means."""
        if self.plain:
            return {
                row[: len(self.outputs)]: q for row, q in self.states_by_label.items()
            }
        sink = () if self.found.sink is None else (self.found.sink,)
        return {(q,): q for q in (*self.states_by_label.values(), *sink)}

    def state(self) -> dict[str, Operation]:
        """The state as one channel, where label and kind do not do."""
        if self.plain:
            return {}
        names, sink = ("stored", *self.kind()), self.found.sink
        # Where there is no such label, any state will do.
        any_state = next(iter(self.states_by_label.values()))
        grid = product(range(self.labels), range(len(self.kinds[1])))
        rows = {
            row[: len(names)]: self.states_by_label.get(row, any_state) for row in grid
        }
        if sink is None:
            return {"state": Map(table(rows), names)}
        judged = {(0, *row): q for row, q in rows.items()}
        judged |= {(1, *row): sink for row in rows}
        return {"state": Map(table(judged), ("failed", *names))}

    def _of_window(self, values: IntArray, at_bos: int) -> Map:
        """A table of the window from ``(contexts · letters,)`` values."""
        places = [np.unique(c, return_index=True)[1] for c in self.classes]
        if prod(map(len, places)) > MOST_ROWS:
            raise CompileError(
                f"a memory of windows would need tables of {prod(map(len, places))} "
                "rows; choose another construction"
            )
        cube = np.asarray(values, dtype=np.int64).reshape(self.cases.shape)
        chosen = cube[np.ix_(*places)]
        rows = {place: int(value) for place, value in np.ndenumerate(chosen)}
        *before, now = self.classes
        bos = (*(int(c[self.bos]) for c in before), int(now.max()) + 1)
        return Map(table({**rows, bos: at_bos}), self.window)


# Machines that the last or the first letters decide: look-backs side by side.

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
    decode: dict[Row, int] = {
        (q,): machine.states.index(n) for q, n in enumerate(part.states)
    }
    return machine_program(machine, length, operations, outputs, decode)


def _together(part: Automaton, blocks: list[IntArray]) -> dict[str, Operation]:
    """``read{j}``: the class ``blocks[j]`` of the state after the oldest j letters."""
    letters, bos = range(len(part.letters)), len(part.letters)
    operations: dict[str, Operation] = {
        "letter": letter_itself(bos),
        "read0": of_letter([blocks[0][part.start]] * bos, blocks[0][part.start]),
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
    raise undecided(part)


def _kept_state(part: Automaton, width: int) -> dict[str, Operation]:
    """The state at the latest position that is no more than ``width`` letters in."""
    return {
        "begun": of_letter([0] * len(part.letters), 1),
        "early": Shift("begun", width),
        "kept": Latest(f"read{width}", "early"),
    }
