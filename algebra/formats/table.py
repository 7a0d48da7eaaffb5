"""Tables of transitions (``.csv``, ``.tsv``): a row for a state, or for a transition.

``docs/formats.md`` shows both forms. Numbers in rows and columns are usually something
else, so a table is read only if its first line, or a mark of the start, says what it is.
"""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from io import StringIO

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import MachineError
from krohn.algebra.formats.acceptors import EMPTY, machine_of, machine_of_acceptor
from krohn.algebra.formats.assembly import Transition, with_remark
from krohn.algebra.formats.files import Complete, problem, quote
from krohn.program.user_input import EPSILONS, LIKE_EPSILON

START_MARKS, ACCEPTING_MARK = ("->", "→", ">"), "*"
_STATES = ("state", "states", "current state", "present state", "q")
_SOURCES = (*_STATES, "source", "from", "current")
_LETTERS = ("letter", "input", "symbol", "event", "label", "action", "read")
_TARGETS = ("next", "next state", "target", "to", "destination")
_OUTPUTS = ("output", "outputs")
_STARTING = ("start", "starting", "initial")
_ACCEPTING = ("accept", "accepts", "accepting", "accepted", "final", "terminal")
_FLAGS = ("", "0", "1", "yes", "no", "true", "false", "y", "n", "t", "f", "x", "✓")
"""What says of a state whether something is so."""
_MISSING = ("", "-", "–", "—", "∅", "{}")
FORMS = (
    "a table of transitions has a first line 'state,LETTER,LETTER,…' and a row for each "
    "state, or 'state,letter,next' (and ',output') and a row for each transition; -> marks "
    "the start state and * accepting ones"
)
_NO_OUTPUT = "the column of outputs has empty cells; fill them"
Row = tuple[int, list[str]]
"""A row of cells, and its line."""


def read(text: str, name: str, complete: Complete = "reject") -> Automaton:
    """The machine of a table of transitions.

    Cells with ``next/output``, or a column ``output`` of transitions, make a Mealy
    machine, a column ``output`` of states a Moore machine, marks of accepting states an
    acceptor; else the states are shown.

    Args:
        text: The file; commas, semicolons or tabs divide it.
        name: What to call it in messages.
        complete: The treatment of missing transitions.

    Raises:
        MachineError: If it is no such table, a cell is no state, or it says outputs in
            two of these ways.
    """
    (line, first), *rows = _rows(text, name)
    table = _Table(name)
    if order := _listing_order(first):
        table.read_listing(rows, order)
    elif _is_matrix(first, rows):
        table.read_matrix((line, first), rows)
    else:
        raise problem(name, line, f"no table of transitions; {FORMS}")
    return table.machine(complete)


def is_table(text: str) -> bool:
    """Whether a text is one of such tables, and not of other numbers or words."""
    try:
        (_, first), *rows = _rows(text, "")
    except MachineError:
        return False
    return bool(_listing_order(first)) or _is_matrix(first, rows)


def _rows(text: str, name: str) -> list[Row]:
    """The rows that hold something, without blanks around what cells hold."""
    line = text.partition("\n")[0]
    sign = "\t" if "\t" in line else ";" if ";" in line and "," not in line else ","
    reader = csv.reader(
        StringIO(text, newline=""), delimiter=sign, skipinitialspace=True, strict=True
    )
    rows = list[Row]()
    try:
        for cells in reader:
            cells = [cell.strip() for cell in cells]
            if any(cells):
                rows.append((reader.line_num, cells))
    except csv.Error as error:
        raise problem(name, reader.line_num, f"no table: {error}") from None
    if not rows:
        raise problem(name, 0, f"an empty table; {FORMS}")
    return rows


def _listing_order(first: Sequence[str]) -> list[int]:
    """The columns of source, letter, target and perhaps output; none of other tables."""
    known = (_SOURCES, _LETTERS, _TARGETS, _OUTPUTS)[: len(first)]
    heads = [cell.lower().replace("_", " ") for cell in first]
    columns = [[i for i, head in enumerate(heads) if head in words] for words in known]
    fits = len(heads) > 2 and len(known) == len(heads)
    return [i for (i,) in columns] if fits and all(len(i) == 1 for i in columns) else []


def _is_matrix(first: Sequence[str], rows: Iterable[Row]) -> bool:
    heads = [cell.lower().replace("_", " ") for cell in first]
    # An edge list such as from,to has no letters.
    named = heads[0] in _STATES and not {*heads} & {*_TARGETS}
    return len(heads) > 1 and (named or any(_strip_marks(row[0])[1] for _, row in rows))


def _strip_marks(cell: str) -> tuple[str, bool, bool]:
    """The name in a cell, and whether its marks say that it starts, and that it accepts."""
    starts = accepts = False
    while True:
        mark = next((m for m in START_MARKS if cell.startswith(m)), "")
        if mark:
            starts, cell = True, cell.removeprefix(mark).lstrip()
        elif cell.startswith(ACCEPTING_MARK):
            accepts, cell = True, cell.removeprefix(ACCEPTING_MARK).lstrip()
        else:
            return cell, starts, accepts


@dataclass
class _Table:
    """What a table says of a machine.

    Attributes:
        name: What to call the file in messages.
        moves: The transitions.
        states: What each state shows in a column of outputs; else "".
        letters: The letters, in the order of columns.
        starts: The states that are marked as the start.
        accepting: The states that are marked as accepting.
    """

    name: str
    moves: list[Transition] = field(default_factory=list)
    states: dict[str, str] = field(default_factory=dict)
    letters: list[str] = field(default_factory=list)
    starts: dict[str, None] = field(default_factory=dict)
    accepting: dict[str, None] = field(default_factory=dict)

    def read_listing(self, rows: Iterable[Row], order: Sequence[int]) -> None:
        """Take rows of a state, a letter, a next state and perhaps an output."""
        width = len(order)
        for line, row in rows:
            cells = [row[i] for i in order] if len(row) == width else []
            if not cells or not all(cells[:3]):
                raise self.wrong(
                    line, f"{width} cells are needed, as in the first line"
                )
            if not all(cells):
                raise self.wrong(line, _NO_OUTPUT)
            source, target = self.state(cells[0], line), self.state(cells[2], line)
            output = cells[3] if width > 3 else None
            move = Transition(source, self.letter(cells[1]), target, output, line)
            self.moves.append(move)

    def read_matrix(self, first: Row, rows: Sequence[Row]) -> None:
        """Take rows of a state and, for each letter, where it leads."""
        line, (_, *heads) = first
        shows = bool({*heads[-1].lower().replace("_", " ").split()} & {*_OUTPUTS})
        letters = heads[:-1] if shows else heads
        self.check_heads(letters, line, rows)
        if not all(letters) or len({*letters}) < len(letters):
            raise self.wrong(
                line, "each column needs a letter, and each letter one column"
            )
        self.letters = [a for a in map(self.letter, letters) if a != EMPTY]
        for line, cells in rows:
            if len(cells) != len(heads) + 1:
                reason = (
                    f"{len(cells)} cells, where the first line has {len(heads) + 1}"
                )
                raise self.wrong(line, reason)
            if _strip_marks(cells[0])[0] in self.states:
                raise self.wrong(line, f"a second row of {quote(cells[0])}; keep one")
            self.states[self.state(cells[0], line)] = cells[-1] if shows else ""
            if shows and not cells[-1]:
                raise self.wrong(line, _NO_OUTPUT)
        for line, cells in rows:
            source = _strip_marks(cells[0])[0]
            for letter, cell in zip(letters, cells[1:], strict=False):
                self.add_cell(source, self.letter(letter), cell, line)

    def check_heads(
        self, letters: Sequence[str], line: int, rows: Iterable[Row]
    ) -> None:
        """Refuse columns that may say something of a state and be no letters."""
        columns = zip(*(cells[1 : len(letters) + 1] for _, cells in rows), strict=False)
        for head, column in zip(letters, columns, strict=False):
            words = {*head.lower().strip("?").replace("_", " ").split()}
            if words & {*_OUTPUTS}:
                reason = f"the column {quote(head)} is to be the last one"
                raise self.wrong(line, reason)
            marks = {"->": _STARTING, ACCEPTING_MARK: _ACCEPTING}
            mark = next((m for m, known in marks.items() if words & {*known}), "")
            if mark and {cell.lower() for cell in column} <= {*_FLAGS}:
                reason = (
                    f"the column {quote(head)} may be a letter, or say this of states; "
                    f"leave it out and mark such states by {mark}, or rename the letter"
                )
                raise self.wrong(line, reason)

    def add_cell(self, source: str, letter: str, cell: str, line: int) -> None:
        """Take where a letter leads: a state, ``state/output``, or ``{state,state}``."""
        if cell in _MISSING:
            return
        several = cell.startswith("{") and cell.endswith("}")
        for each in cell[1:-1].split(",") if several else [cell]:
            whole = each.strip()
            head, _, tail = whole.partition("/")
            known = whole in self.states
            target, output = (whole, None) if known else (head.strip(), tail.strip())
            if target not in self.states or output == "":
                reason = f"{quote(each)} is no state of the first column; {FORMS}"
                raise self.wrong(line, reason)
            self.moves.append(Transition(source, letter, target, output, line))

    def state(self, cell: str, line: int) -> str:
        """The name of a state, whose marks are taken."""
        state, starts, accepts = _strip_marks(cell)
        if not state:
            raise self.wrong(line, "a row without the name of a state")
        self.states.setdefault(state, "")
        self.starts |= {state: None} if starts else {}
        self.accepting |= {state: None} if accepts else {}
        return state

    def letter(self, cell: str) -> str:
        """A letter, or the one of a move that reads none."""
        return EMPTY if cell in EPSILONS else cell

    def machine(self, complete: Complete) -> Automaton:
        """The machine."""
        moore = any(self.states.values())
        if moore and not all(self.states.values()):
            raise self.wrong(0, _NO_OUTPUT)
        mealy = [move for move in self.moves if move.output is not None]
        if moore + bool(mealy) + bool(self.accepting) > 1:
            reason = (
                "a machine shows outputs in one way: in cells, in a column, or by *"
            )
            raise self.wrong(0, reason)
        if mealy and len(mealy) < len(self.moves):
            bare = next(move for move in self.moves if move.output is None)
            raise self.wrong(bare.line, "a cell without an output, but others have one")
        empty = any(move.letter == EMPTY for move in self.moves)
        unclear = next((m for m in self.moves if m.letter in LIKE_EPSILON), None)
        if self.accepting and unclear:
            reason = (
                f"{quote(unclear.letter)} may be a letter or none; write ε where none is "
                "read, or rename the letter"
            )
            raise self.wrong(unclear.line, reason)
        if not self.accepting and (empty or len(self.starts) > 1):
            reason = (
                "empty moves and several starts are for acceptors; mark states by *"
            )
            raise self.wrong(0, reason)
        first = next(iter(self.states))
        remark = (
            f"{self.name}: no state is marked by ->, so it starts in {quote(first)}"
        )
        starts = [*self.starts] or [first]
        names = {"states": self.states, "letters": self.letters}
        if self.accepting:
            machine = machine_of_acceptor(
                self.moves, starts, self.accepting, self.name, complete, **names
            )
        else:
            shown = self.states if moore else None
            machine = machine_of(
                self.moves, starts[0], self.name, complete, **names, shown=shown
            )
        return with_remark(machine, "" if self.starts else remark)

    def wrong(self, line: int, reason: str) -> MachineError:
        """The error of a line; 0 for the table."""
        return problem(self.name, line, reason)
