"""Machines from files and into files; ``docs/formats.md`` describes the formats."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import MachineError
from krohn.algebra.formats.files import (
    STANDARD_INPUT,
    Complete,
    Kind,
    problem,
    read_text,
)
from krohn.program.writing import atomic_write

__all__ = [
    "FORMATS",
    "SUFFIXES",
    "WRITTEN_SUFFIXES",
    "Complete",
    "Format",
    "Kind",
    "form_of_text",
    "no_choice",
    "read",
    "write",
]


class Format(NamedTuple):
    """A format of machine files, whose module is imported when a file may be of it.

    Attributes:
        called: Its name in messages.
        suffixes: How names of such files end.
        module: The module of this package that reads and writes it.
        reader: The function that reads a text. It takes the first of these: the text, the
            name of the file in messages, the treatment of missing transitions, and the
            kind that is asked for.
        takes: How many of them it takes.
        sign: The function that says whether a text is of this format and no other, in
            linear time. It need not know every such text: a name with the suffix says as
            much. Empty if any text may be of this format.
        is_written: Whether the module writes it, too.
    """

    called: str
    suffixes: tuple[str, ...]
    module: str
    reader: str = "read"
    takes: int = 3
    sign: str = "has_sign"
    is_written: bool = False

    @property
    def has_kinds(self) -> bool:
        """Whether a text can be read as an acceptor or as a Mealy machine."""
        return self.takes == 4

    def has_sign(self, text: str) -> bool:
        """Whether a text is of this format and no other."""
        return bool(self.sign) and bool(self._function(self.sign)(text))

    def read(
        self, text: str, name: str, complete: Complete, kind: Kind | None
    ) -> Automaton:
        """The machine of a text.

        Raises:
            MachineError: If there is none.
        """
        machine: Automaton = self._function(self.reader)(
            *(text, name, complete, kind)[: self.takes]
        )
        return machine

    def write(self, machine: Automaton) -> str:
        """The text of a machine.

        Raises:
            MachineError: If the format cannot carry the machine.
        """
        text: str = self._function("write")(machine)
        return text

    def _function(self, name: str) -> Callable[..., Any]:
        function: Callable[..., Any] = getattr(
            import_module(f"{__name__}.{self.module}"), name
        )
        return function


FORMATS = (
    Format("JSON", (".json",), "json_format", is_written=True),
    Format("GraphViz DOT", (".dot", ".gv"), "dot", takes=4, is_written=True),
    Format("KISS2", (".kiss2", ".kiss"), "kiss2", is_written=True),
    Format("GAP", (".g", ".gap"), "gap", takes=2, is_written=True),
    Format("LearnLib's .dfa", (".dfa",), "learnlib", takes=2, is_written=True),
    Format("AT&T text", (".att", ".fst.txt"), "att", takes=4, is_written=True),
    Format("SCXML", (".scxml",), "scxml"),
    Format("JFLAP", (".jff",), "jflap"),
    Format("HOA", (".hoa",), "hoa"),
    Format("Aldébaran's AUT", (".aut",), "aut", "read_aut", sign="is_aut"),
    Format("BA", (".ba",), "aut", "read_ba", sign="is_ba"),
    Format("MATA", (".mata",), "aut", "read_mata", sign="is_mata"),
    Format("a table of transitions", (".csv", ".tsv"), "table", sign=""),
)
SUFFIXES = {suffix: form for form in FORMATS for suffix in form.suffixes}
WRITTEN_SUFFIXES = tuple(suffix for suffix, form in SUFFIXES.items() if form.is_written)


def read(
    source: str | Path, complete: Complete = "reject", kind: Kind | None = None
) -> Automaton:
    """The machine in a file of any known format.

    The format follows from the end of the name, one of `SUFFIXES`, which may have
    ``.gz`` behind it; for other names, from the sign that the text has.

    Args:
        source: The path of the file.
        complete: The treatment of missing transitions, where the format allows
            them: refuse the machine, lead them to a sink, or stay.
        kind: The kind as which an AT&T file or a drawing is read that could be either;
            None to go by its labels.

    Raises:
        MachineError: If the file cannot be read, its format is unknown, it is of another
            format than its name says, it does not describe a deterministic machine, or
            ``kind`` is given and there is nothing to choose.
    """
    text, name = read_text(Path(source)), str(source)
    form = _form_of_name(name)
    signed = form if form and form.has_sign(text) else form_of_text(text)
    form = form or signed
    if form is None:
        raise _unknown_name_error(name, text)
    if signed not in (None, form):
        raise _wrong_name_error(name, form, signed)
    if kind is not None and not form.has_kinds:
        raise no_choice(name)
    if not signed and (known := _known_as(text, by_looks=False)) is not None:
        raise problem(name, 0, f"not {form.called}: {known}")
    machine = form.read(text, name, complete, kind)
    if form.module != "att" or _form_of_name(name) is not None:
        return machine
    from krohn.algebra.formats.assembly import with_remark
    from krohn.algebra.formats.att import remark_on_numbers

    return with_remark(machine, remark_on_numbers(text, name))


def no_choice(name: str) -> MachineError:
    """The error for a kind that is given where there is nothing to choose."""
    return MachineError(
        f"{name}: --as says how to read an AT&T text file or a drawing; this is none, "
        "and says itself what it is"
    )


def write(machine: Automaton, path: str | Path) -> None:
    """Write the machine in the format that the end of the name asks for.

    Either all of the file is written or it stays as it was.

    Raises:
        MachineError: If the format is unknown, is only read or cannot carry the machine,
            or the file cannot be written.
    """
    form = _form_of_name(str(path))
    if form is None or not form.is_written:
        what = "unknown format" if form is None else f"{form.called} is only read"
        raise problem(str(path), 0, f"{what}; {_by_name(WRITTEN_SUFFIXES)}")
    text = form.write(machine)
    if not str(path).lower().endswith(".gz"):
        atomic_write(path, text)
        return
    import gzip

    # Without the time in its head, the same machine gives the same file.
    atomic_write(path, gzip.compress(text.encode(), mtime=0))


def _form_of_name(name: str) -> Format | None:
    plain = name.lower().removesuffix(".gz")
    forms = (form for suffix, form in SUFFIXES.items() if plain.endswith(suffix))
    return next(forms, None)


def form_of_text(text: str) -> Format | None:
    """The format whose sign a text has; None if it has none."""
    return next((form for form in FORMATS if form.has_sign(text)), None)


def _known_as(text: str, by_looks: bool = True) -> str | None:
    """What a text is that is no machine; None if nobody knows."""
    from krohn.program.known_files import recognise  # many patterns

    return recognise(text.encode(), by_looks)


def _wrong_name_error(name: str, form: Format, signed: Format) -> MachineError:
    return problem(
        name,
        0,
        f"not {form.called}: this is {signed.called}; end its name in "
        f"{signed.suffixes[0]}",
    )


def _unknown_name_error(name: str, text: str) -> MachineError:
    known = _known_as(text)
    if name == STANDARD_INPUT:
        reason = "standard input holds no machine in a format that is known by its text"
        advice = "save it to a file whose name ends in its format"
        if known and "name it" in known:
            known += "; so save it to a file"
    else:
        reason, advice = "unknown format", _by_name(tuple(SUFFIXES))
    return problem(name, 0, f"{reason}: {known}" if known else f"{reason}; {advice}")


def _by_name(suffixes: tuple[str, ...]) -> str:
    return (
        f"name the file with one of {', '.join(suffixes)}, each also with .gz behind it"
    )
