"""Where networks can go: a module for each place writes a model file there and reads it.

`destination` imports a module only when it is asked for: each needs a library of its own.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from krohn.network import ExportError
from krohn.network.modelfile import ModelFile
from krohn.program.extras import name_missing_extra
from krohn.program.slices import slice_exports
from krohn.program.word_texts import join_letters

if TYPE_CHECKING:
    from torch import Tensor

    from krohn.architectures.exports.circuit import Labels

    Logits = Callable[[Tensor], Tensor]
    """Letter indices ``(batch, time)`` without BOS to logits ``(batch, time, classes)``."""


@contextmanager
def read_back() -> Iterator[None]:
    """What is wrong with a directory in one way: it may hold anything at all.

    Raises:
        ExportError: Whatever else was raised.
    """
    try:
        yield
    except (ExportError, MemoryError):
        raise
    except Exception as error:
        raise ExportError(f"what was written cannot be read back: {error}") from None


@dataclass(frozen=True)
class StoredNetwork:
    """A network as it stands in a directory.

    Attributes:
        file: Its header and its tensors.
        gain: By how much scores are divided there, a power of two. Queries are as many
            times larger than those of the file.
    """

    file: ModelFile
    gain: float = 1.0


@dataclass(frozen=True)
class Destination:
    """A place that networks can go to.

    Attributes:
        name: As `krohn export --to` takes it.
        title: The place, as people call it.
        write: Writes a model file into an empty directory; raises `ExportError` if that
            place cannot hold such a network. With True, classes that are states have the
            names of these, though the machine has outputs.
        open: Reads what was written, by the place's own library and from the directory
            alone; what comes back computes there.
        arithmetic: What is computed there, beside what the model file computes.
        read: Reads back the network that a directory holds, of which the model file says
            what it computes; raises `ExportError` if there is none, or one that must be
            that of the file is another. None where the checker reads it by itself.
        program: Lines of Python that set ``logits``, a row after each letter, and
            ``classes``, the names of their columns. ``{text}`` in them is a word as a
            text, ``{letters}`` the indices of its letters. Empty if there are none.
        note: What who runs the program must know, for the card; or nothing.
        streams: Where the places that `circuit.csv` names are found there, for the card;
            empty where they have these names.
        spell: A word as a text that is read there, of the word and all letters.
        classes: The names of the columns, for a file and its labels.
        opened_by: The library that opens it, as the Hub of Hugging Face calls that.
        pipeline: The pipeline of Hugging Face's library that runs a network; or nothing.
        digest: The digest of the claim of what was written, for its file.
        unproved: What no proof speaks about there, as a noun, so that nothing is proved;
            or nothing.
    """

    name: str
    title: str
    write: Callable[[ModelFile, Path, bool], None]
    open: Callable[[Path], "Logits"]
    arithmetic: str
    read: Callable[[ModelFile, Path], StoredNetwork] | None
    program: str = ""
    note: str = ""
    streams: str = ""
    spell: Callable[[Sequence[str], Sequence[str]], str] = lambda word, letters: (
        join_letters(word)
    )
    classes: "Callable[[ModelFile, Labels], Sequence[str]]" = lambda _, of: of.classes
    opened_by: str = ""
    pipeline: Callable[[ModelFile], str] = lambda _: ""
    digest: Callable[[ModelFile, Path], str] = lambda file, _: file.claim.digest
    unproved: str = ""


def destination(name: str) -> Destination:
    """A place by its name.

    Raises:
        ExportError: If there is none of this name, or what it needs is not installed.
    """
    known = slice_exports()
    if name not in known:
        raise ExportError(f"--to takes {', '.join(known)}, not {name!r}")
    home = known[name]
    with name_missing_extra(f"an export to {name}", ExportError):
        for library in home.imports:
            import_module(library)
    place = import_module(home.module).DESTINATION
    assert isinstance(place, Destination)
    return place
