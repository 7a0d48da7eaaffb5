"""The rows of a batch, and what a process does with a row: compile, prove, run."""

import csv
import hashlib
import time
from collections.abc import Callable, Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields, replace
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, get_args

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import KrohnError
from krohn.algebra.formats import Complete, Kind
from krohn.algebra.formats.files import read_text
from krohn.algebra.wording import near
from krohn.instruments.batch.folder import read_folder
from krohn.jobs.worker_pool import Report
from krohn.machines import FORMAL, MODEL, REGEX, read
from krohn.network.modelfile import LARGEST_FILE, ModelFile
from krohn.option_rules import one_of_architectures
from krohn.program.files import Unreadable, read_bytes
from krohn.program.word_texts import join_letters
from krohn.source_kinds import find_source_to_compile, machines

if TYPE_CHECKING:
    from krohn.compiled_model import CompiledModel

# The rows of a batch: from a table in CSV, or the machine files of a folder.


COLUMNS = {
    "name": "what the row is called; without it, as the machine is written",
    "machine": "a name, a file, regex:…, or a model file, which is verified",
    "length": "the longest word (T)",
    "dtype": "the number format",
    "arch": one_of_architectures(),
    "construction": "how it is built",
    "start": "the start state",
    "observe": "what the network says instead of the state",
    "within": "how far an output of a hidden Markov model's network may be off",
    "complete": "missing transitions of the file: reject, sink or stay",
    "as": "what an AT&T text file is: acceptor or mealy",
    "words": "a file of labelled words",
    "labelled": "labelled words themselves: a b=accept; b=reject",
}
"""The columns that a table may have."""
OF_MODELS = ("name", "machine", "words", "labelled")
"""The columns that a model file has a use for; it states all others itself."""
FILES = ("machine", "words")
"""Columns that may name a file, from the folder of the table."""


@dataclass(frozen=True)
class Row:
    """A row of a table.

    Attributes:
        name: What it is called.
        machine: What is compiled, as the table has it.
        cells: Everything that the table says, by column; files as they are found from
            here.
        trouble: Why it cannot be read; empty if it can.
    """

    name: str
    machine: str
    cells: Mapping[str, str] = field(default_factory=dict)
    trouble: str = ""

    def describe_dependencies(self) -> list[Any]:
        """All that its result depends on: what it says, and hashes of its files."""
        files = {c: _hash(self.cells[c]) for c in FILES if c in self.cells}
        return [self.name, self.machine, dict(self.cells), files, self.trouble]


def rows(source: Path, note: Callable[[str], None] | None = None) -> list[Row]:
    """The rows of a table, or a row for each machine file of a folder, by name.

    Args:
        source: The table or the folder.
        note: Called with a line on the files of the folder that are left out.

    Raises:
        KrohnError: If it cannot be read, has an unknown column, or has no rows.
    """
    if source.is_dir():
        files = read_folder(source)
        if not files.machines:
            raise KrohnError(
                f"{source}: the folder has no file of a machine or another source"
                + f"; {files.remark}" * bool(files.left_out)
            )
        if note is not None:
            note(files.remark)
        return [Row(n, n, {"machine": str(source / n)}) for n in files.machines]
    if not (table_rows := _of_table(source)):
        raise KrohnError(f"{source}: the table has no rows below its first line")
    return table_rows


def _of_table(path: Path) -> list[Row]:
    lines = csv.reader(StringIO(read_text(path), newline=""), strict=True)
    try:
        table = [line for line in lines if any(cell.strip() for cell in line)]
    except csv.Error as error:
        raise KrohnError(f"{path}:{lines.line_num}: no CSV: {error}") from None
    columns = [cell.strip() for cell in table[0]] if table else []
    _check_columns(path, columns)
    return [_row(path.parent, columns, line) for line in table[1:]]


def _check_columns(path: Path, columns: list[str]) -> None:
    for column in columns:
        if column not in COLUMNS:
            raise KrohnError(
                f"{path}:1: there is no column {column!r}{near(column, COLUMNS)}; there "
                f"are {', '.join(COLUMNS)}"
            )
    if len(set(columns)) < len(columns):
        raise KrohnError(f"{path}:1: a column is there twice")
    if "machine" not in columns:
        raise KrohnError(
            f"{path}:1: there is no column machine, which names the machines to compile"
        )


def _row(folder: Path, columns: list[str], line: list[str]) -> Row:
    entries = zip(columns, (cell.strip() for cell in line), strict=False)
    cells = {column: cell for column, cell in entries if cell}
    machine = cells.get("machine", "")
    name = cells.get("name") or machine
    if len(line) != len(columns):
        trouble = (
            f"the row has {len(line)} cells and the first line {len(columns)}; put cells "
            "with commas in double quotes"
        )
        return Row(name, machine, cells, trouble)
    if not machine:
        return Row(name, machine, cells, "the row names no machine")
    return Row(name, machine, cells | _with_paths(folder, cells))


def _with_paths(folder: Path, cells: Mapping[str, str]) -> dict[str, str]:
    """The cells that name files of the folder, as they are found from here."""
    paths = {c: str(folder / cells[c]) for c in FILES if c in cells}
    written = Path(cells["machine"])
    is_path = written.suffix != "" or len(written.parts) > 1
    if cells["machine"].startswith((REGEX, FORMAL)) or not (
        is_path and _is_file(paths)
    ):
        del paths["machine"]
    return paths


def _is_file(found: Mapping[str, str]) -> bool:
    try:
        return Path(found["machine"]).is_file()
    except (OSError, ValueError):
        return False


def _hash(name: str) -> str:
    try:
        return hashlib.sha256(read_bytes(name, LARGEST_FILE)).hexdigest()
    except Unreadable:
        return ""


# The work of a process on a row of a batch: compile, prove, run; or say why not.


LENGTH = 128
"""The longest word where neither the row nor the command says one."""
OUT_OF_MEMORY = "out of memory; ask for shorter words or a smaller machine"
Task = tuple[str, Row]
"""A row, by its key in the job file."""


@dataclass(frozen=True)
class RowResult:
    """The result of a row: a line of the table that is written.

    Attributes:
        name: What the row is called.
        machine: What was compiled, as the table has it.
        verdict: ``verified``, ``refuted``, ``undecided``; or ``refused`` if there is no
            network, or no way to run the words.
        reason: Why it is not verified.
        construction: How the network is built.
        dtype: The number format.
        length: The longest word that the verdict is about; None for every length.
        depth: Layers with attention.
        layers: All layers.
        width: Dimensions of the residual stream, or hidden units.
        mlp_width: The widest hidden layer.
        parameters: Entries of all tensors.
        words: How many labelled words were run; None if there are none.
        wrong: After how many of them the network gave another answer than the label.
        first_wrong: The first of these, with both answers.
        longest: The longest word that is certified for this construction and format;
            None if nobody asked.
        refused_at: The shortest length known to be refused; None if none is known.
        digest: Of the claim that the verdict is about (`krohn.program.claim`); empty if
            there is no network.
    """

    name: str
    machine: str
    verdict: str
    reason: str = ""
    construction: str = ""
    dtype: str = ""
    length: int | None = None
    depth: int | None = None
    layers: int | None = None
    width: int | None = None
    mlp_width: int | None = None
    parameters: int | None = None
    words: int | None = None
    wrong: int | None = None
    first_wrong: str = ""
    longest: int | None = None
    refused_at: int | None = None
    digest: str = ""

    @property
    def has_passed(self) -> bool:
        """Whether the network is verified and every labelled word answered as expected."""
        return self.verdict == "verified" and not self.wrong

    @classmethod
    def from_object(cls, said: Mapping[str, Any]) -> Self:
        """The result that `to_object` gave.

        Raises:
            TypeError: If there is another field, or another type of value.
        """
        result = cls(**said)
        for each in fields(cls):
            value = getattr(result, each.name)
            text = isinstance(each.default, str) or each.default is MISSING
            if type(value) is not (str if text else int) and (
                text or value is not None
            ):
                raise TypeError(each.name)
        if (result.words is None) != (result.wrong is None):
            raise TypeError("wrong")
        return result

    def to_object(self) -> dict[str, Any]:
        """Itself for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Done:
    """A row that was done.

    Attributes:
        result: What came of it.
        seconds: How long it took; it is in the job file only.
        final: Whether another run would come to the same.
    """

    result: RowResult
    seconds: float
    final: bool = True


@dataclass(frozen=True)
class BatchWork:
    """How rows are done.

    Attributes:
        length: The longest word of Transformers whose row says none.
        dtype: The number format where the row says none; None for what is usual.
        effort: How much work to do for the longest certified length of each row; None
            not to look for it.
    """

    length: int = LENGTH
    dtype: str | None = None
    effort: str | float | None = None

    def open(self, own: bool) -> Callable[[Task, Report], Done]:
        """Make the process ready; one of its own computes on one thread."""
        if own:
            import torch

            torch.set_num_threads(1)
        return lambda task, _: self._time_row(task[1])

    def _time_row(self, row: Row) -> Done:
        began, final = time.monotonic(), True
        try:
            result = self._result(row)
        except MemoryError:
            result, final = refuse_row(row, OUT_OF_MEMORY), False
        return Done(result, round(time.monotonic() - began, 3), final)

    def _result(self, row: Row) -> RowResult:
        """The result; whatever is wrong with a row is said in its result."""
        result = RowResult(row.name, row.machine, "refused", row.trouble)
        if row.trouble:
            return result
        try:
            model, verdict, reason = _network(row.cells, self)
            result = _sizes(replace(result, verdict=verdict, reason=reason), model)
            result = _with_words(result, row.cells, model.file)
            return result if self.effort is None else _with_longest(result, model, self)
        except KrohnError as error:
            reason = " ".join(str(error).split())
        except OSError as error:
            reason = f"{error.filename or 'input/output'}: {error.strerror}"
        return replace(result, verdict="refused", reason=reason)


def refuse_row(row: Row, reason: str) -> RowResult:
    """The result of a row that no process could do."""
    return RowResult(row.name, row.machine, "refused", reason)


def _network(
    cells: Mapping[str, str], work: BatchWork
) -> "tuple[CompiledModel, str, str]":
    """The network of a row, the verdict about it, and why that is not `verified`."""
    if cells["machine"].endswith(MODEL):
        return _verify_file(cells)
    from krohn.compilation import compile as compiled

    kind, source = find_source_to_compile(cells["machine"]) or (
        machines(),
        _machine(cells),
    )
    length = _number(cells, "length", int)
    arch: Any = cells.get("arch", "transformer")
    if length is None and arch == "transformer" and not kind.measured:
        length = work.length
    model = compiled(
        source,
        length,
        cells.get("construction", "auto"),
        arch=arch,
        dtype=cells.get("dtype", work.dtype),
        start=cells.get("start"),
        observe=cells.get("observe"),
        within=_number(cells, "within", float),
    )
    if model.proof is None:
        return model, "undecided", "it is not proved"
    return model, model.proof.verdict, model.proof.reason


def _machine(cells: Mapping[str, str]) -> Automaton:
    for column, known in (("complete", Complete), ("as", Kind)):
        if cells.get(column, get_args(known)[0]) not in get_args(known):
            raise KrohnError(
                f"{column} takes {', '.join(get_args(known))}, not {cells[column]!r}"
            )
    complete: Any = cells.get("complete", "reject")
    kind: Any = cells.get("as")
    return read(cells["machine"], complete, kind)


def _verify_file(cells: Mapping[str, str]) -> "tuple[CompiledModel, str, str]":
    """A model file, and what becomes of its claim."""
    from krohn.compiled_model import CompiledModel
    from krohn.network import modelfile
    from krohn.verification import verify

    for column in cells:
        if column not in OF_MODELS:
            raise KrohnError(
                f"the column {column} has no effect on a model file; leave the cell "
                "empty"
            )
    file = modelfile.read(cells["machine"])
    report = verify(file, proof=True)
    built = str(file.header.get("construction", ""))
    return CompiledModel(file, built, report.proof, 0.0), report.verdict, report.reason


def _number(
    cells: Mapping[str, str], column: str, kind: type[int] | type[float]
) -> Any:
    """A number of a cell; None if the cell is empty.

    Raises:
        KrohnError: If it is none.
    """
    if column not in cells:
        return None
    try:
        return kind(cells[column])
    except ValueError:
        raise KrohnError(f"{column} takes a number, not {cells[column]!r}") from None


def _sizes(found: RowResult, model: "CompiledModel") -> RowResult:
    facts = model.summary()
    named = ("construction", "dtype", "length", "depth", "layers", "mlp_width")
    sizes = {name: facts[name] for name in (*named, "parameters", "digest")}
    return replace(found, width=facts["d_model"], **sizes)


def _with_words(
    found: RowResult, cells: Mapping[str, str], file: ModelFile
) -> RowResult:
    """The result of a row, with the labelled words of the row run on its network."""
    from krohn.running import Runner, check_labels, of_cell, of_file, runner_of

    words = of_file(Path(cells["words"])) if "words" in cells else []
    words += of_cell(cells["labelled"]) if "labelled" in cells else []
    if not words:
        return found
    runner = runner_of(file)
    if not isinstance(runner, Runner):
        raise KrohnError("labelled words are for networks that say states or outputs")
    came = check_labels(runner, words)
    first = ""
    if came.first is not None:
        word, answer, label = came.first
        first = f"{join_letters(word)}: {answer}, not {label}"
    return replace(found, words=came.words, wrong=came.wrong, first_wrong=first)


def _with_longest(
    found: RowResult, model: "CompiledModel", work: BatchWork
) -> RowResult:
    """How long words may be in the format of the network."""
    from krohn.page.longest import longest

    if work.effort is None or model.proof is None:
        return found
    longest_words = longest(model.file, True, work.effort, (found.dtype,))
    if isinstance(longest_words, str):
        return found
    return replace(
        found, longest=longest_words[0].length, refused_at=longest_words[0].refused
    )
