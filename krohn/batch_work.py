"""What a process does with a row of a batch: compile, prove, run; or say why not."""

import time
from collections.abc import Callable, Mapping
from dataclasses import MISSING, asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, get_args

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import KrohnError
from krohn.algebra.formats import Complete, Kind
from krohn.batch_table import OF_MODELS, Row
from krohn.jobs.worker_pool import Report
from krohn.machines import MODEL, read
from krohn.network.modelfile import ModelFile, ModelFileError
from krohn.source_kinds import machines, named

if TYPE_CHECKING:
    from krohn.compiled_model import CompiledModel

LENGTH = 128
"""The longest word where neither the row nor the command says one."""
OUT_OF_MEMORY = "out of memory; ask for shorter words or a smaller machine"
Task = tuple[str, Row]
"""A row, by its key in the job file."""


@dataclass(frozen=True)
class RowResult:
    """What came of a row: a line of the table that is written.

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
        there is
            no network.
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
    def passed(self) -> bool:
        """Whether the network is verified and every labelled word answered as expected."""
        return self.verdict == "verified" and not self.wrong

    @classmethod
    def from_object(cls, said: Mapping[str, Any]) -> Self:
        """The result that `to_object` gave.

        Raises:
            TypeError: If there is another field, or another type of value.
        """
        found = cls(**said)
        for each in fields(cls):
            value = getattr(found, each.name)
            text = isinstance(each.default, str) or each.default is MISSING
            if type(value) is not (str if text else int) and (
                text or value is not None
            ):
                raise TypeError(each.name)
        if (found.words is None) != (found.wrong is None):
            raise TypeError("wrong")
        return found

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
        return lambda task, _: self._timed(task[1])

    def _timed(self, row: Row) -> Done:
        began, final = time.monotonic(), True
        try:
            result = self._done(row)
        except MemoryError:
            result, final = refused(row, OUT_OF_MEMORY), False
        return Done(result, round(time.monotonic() - began, 3), final)

    def _done(self, row: Row) -> RowResult:
        """The result; whatever is wrong with a row is said in its result."""
        found = RowResult(row.name, row.machine, "refused", row.trouble)
        if row.trouble:
            return found
        try:
            model, verdict, reason = _network(row.cells, self)
            found = _sizes(replace(found, verdict=verdict, reason=reason), model)
            found = _with_words(found, row.cells, model.file)
            return found if self.effort is None else _with_longest(found, model, self)
        except (KrohnError, ModelFileError) as error:
            reason = " ".join(str(error).split())
        except OSError as error:
            reason = f"{error.filename or 'input/output'}: {error.strerror}"
        return replace(found, verdict="refused", reason=reason)


def refused(row: Row, reason: str) -> RowResult:
    """The result of a row that no process could do."""
    return RowResult(row.name, row.machine, "refused", reason)


def _network(
    cells: Mapping[str, str], work: BatchWork
) -> "tuple[CompiledModel, str, str]":
    """The network of a row, the verdict about it, and why that is not `verified`."""
    if cells["machine"].endswith(MODEL):
        return _verified(cells)
    from krohn.compilation import compile as compiled

    kind, source = named(cells["machine"]) or (machines(), _machine(cells))
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
        observation=cells.get("observe"),
        within=_number(cells, "within", float),
    )
    return model, "verified", ""


def _machine(cells: Mapping[str, str]) -> Automaton:
    for column, known in (("complete", Complete), ("as", Kind)):
        if cells.get(column, get_args(known)[0]) not in get_args(known):
            raise KrohnError(
                f"{column} takes {', '.join(get_args(known))}, not {cells[column]!r}"
            )
    complete: Any = cells.get("complete", "reject")
    kind: Any = cells.get("as")
    return read(cells["machine"], complete, kind)


def _verified(cells: Mapping[str, str]) -> "tuple[CompiledModel, str, str]":
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
    report = verify(file)
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
    return replace(
        found,
        construction=facts["construction"],
        dtype=facts["dtype"],
        length=facts["length"],
        depth=facts["depth"],
        layers=facts["layers"],
        width=facts["d_model"],
        mlp_width=facts["mlp_width"],
        parameters=facts["parameters"],
        digest=facts["digest"],
    )


def _with_words(
    found: RowResult, cells: Mapping[str, str], file: ModelFile
) -> RowResult:
    """What the network says of the labelled words of a row."""
    from krohn.labelled_words import held, of_cell, of_file
    from krohn.running import Runner, runner_of

    words = of_file(Path(cells["words"])) if "words" in cells else []
    words += of_cell(cells["labelled"]) if "labelled" in cells else []
    if not words:
        return found
    runner = runner_of(file)
    if not isinstance(runner, Runner):
        raise KrohnError("labelled words are for networks that say states or outputs")
    came = held(runner, words)
    first = ""
    if came.first is not None:
        word, answer, label = came.first
        first = f"{' '.join(word)}: {answer}, not {label}"
    return replace(found, words=came.words, wrong=came.wrong, first_wrong=first)


def _with_longest(
    found: RowResult, model: "CompiledModel", work: BatchWork
) -> RowResult:
    """How long words may be in the format of the network."""
    from krohn.page.longest import longest

    if work.effort is None or model.proof is None:
        return found
    said = longest(model.file, True, work.effort, (found.dtype,))
    if isinstance(said, str):
        return found
    return replace(found, longest=said[0].length, refused_at=said[0].refused)
