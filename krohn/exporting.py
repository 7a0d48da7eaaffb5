"""Exports, each read back and run beside the network that it was made from."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from safetensors import SafetensorError

from krohn.algebra.errors import KrohnError
from krohn.compiled_model import CompiledModel
from krohn.export_words import Ran, run
from krohn.model_card import NAME, card
from krohn.network import modelfile
from krohn.network.exports import Destination, destination
from krohn.network.exports.labels import labels
from krohn.network.modelfile import ModelFile
from krohn.progress import Progress, silent


@dataclass(frozen=True)
class Export:
    """What was written, and how it compares.

    Attributes:
        to: Where it went.
        directory: What was written.
        ran: The words that were run there, and by how much logits differ.
        arithmetic: What is computed there, beside what the model file computes.
        proved: What holds of the export for all words.
    """

    to: str
    directory: str
    ran: Ran
    arithmetic: str
    proved: str

    def to_object(self) -> dict[str, Any]:
        """Itself for JSON."""
        told = asdict(self)
        ran = told.pop("ran")
        return {**told, **ran, "wrong": 0}


def export(
    model: str | Path | ModelFile | CompiledModel,
    *,
    to: str,
    directory: str | Path,
    states: bool = False,
    sample: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Export:
    """Write a network for another library, read it back, and run it beside the original.

    Nothing is left on disk unless every answer is right.

    Args:
        model: A model file, or what `krohn.compile` returned.
        to: A name of `krohn.network.exports.HOMES`.
        directory: Where to write; it must not exist, or be empty.
        states: Call classes by the states of the machine, though it has outputs.
        sample: How many adversarial words to run; by default 10,000, fewer of long words.
        seed: Of these.
        progress: Called with what is being done, how much is done, and of how much.

    Raises:
        KrohnError: If a word is answered wrongly, or the directory has something in it.
        ModelFileError: If the file is damaged, the network cannot go there, or what is
            needed for it is not installed.
    """
    if isinstance(model, CompiledModel):
        model = model.file
    file = model if isinstance(model, ModelFile) else modelfile.read(model)
    home = destination(to)
    with _whole(Path(directory)) as place:
        _write(home, file, place, states)
        proved = home.proved(file, place)
        report = partial(progress or silent, "running words")
        ran = run(file, home, place, sample, seed, report)
        text = card(file, home, labels(file, states), proved)
        (place / NAME).write_text(text, encoding="utf-8")
    return Export(to, str(directory), ran, home.arithmetic, proved)


def _write(home: Destination, file: ModelFile, place: Path, states: bool) -> None:
    try:
        home.write(file, place, states)
    except SafetensorError as error:  # so it calls a full disk
        raise KrohnError(f"cannot write {place}: {error}") from None


@contextmanager
def _whole(directory: Path) -> Iterator[Path]:
    """A directory to write into, which takes its place in the end, or disappears.

    Raises:
        KrohnError: If there is something in its place.
    """
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise KrohnError(f"{directory} exists and is not empty; name another directory")
    if not directory.parent.is_dir():
        raise KrohnError(f"there is no directory {directory.parent}")
    temporary = tempfile.mkdtemp(dir=directory.parent, prefix=f".{directory.name}.")
    try:
        yield Path(temporary)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o777 & ~mask)
        os.replace(temporary, directory)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
