"""What `krohn verify` can be asked about, and how each is opened, proved and run."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from krohn.checks import Checks
from krohn.compiled_model import CompiledModel
from krohn.gpt2 import Gpt2, is_export
from krohn.network import modelfile
from krohn.network.modelfile import ModelFile
from krohn.network.trained import is_network
from krohn.option_rules import OF_SOURCES
from krohn.report import Report
from krohn.source_kinds import of_file


class Subject(Protocol):
    """A model of which it can be decided what it computes."""

    @property
    def called(self) -> str:
        """What it is, for messages."""
        ...

    @property
    def takes(self) -> Collection[str] | None:
        """The options of `krohn verify` that matter; None for all."""
        ...

    @property
    def of_machine(self) -> bool:
        """Whether it is about a machine."""
        ...

    def verify(self, checks: Checks) -> Report:
        """What becomes of it; raises KrohnError if an option has no effect."""
        ...


@dataclass(frozen=True)
class Stated:
    """A model file, which states what it is about.

    Attributes:
        file: What it holds.
    """

    file: ModelFile

    @property
    def called(self) -> str:
        """What it is, for messages."""
        return f"a file about {of_file(self.file).called}"

    @property
    def takes(self) -> Collection[str] | None:
        """The options of `krohn verify` that matter; None for all."""
        return None if self.of_machine else OF_SOURCES + of_file(self.file).asks

    @property
    def of_machine(self) -> bool:
        """Whether it is about a machine."""
        return "source" not in self.file.header

    def verify(self, checks: Checks) -> Report:
        """What becomes of it; raises KrohnError if an option has no effect."""
        return of_file(self.file).verify(self.file, checks)


@dataclass(frozen=True)
class TrainedFile:
    """The file of a trained network, which states no machine.

    Attributes:
        path: The file.
    """

    path: str | Path
    called = "a trained network"
    takes = None
    of_machine = True

    def verify(self, checks: Checks) -> Report:
        """What becomes of it; raises KrohnError if an option has no effect."""
        from krohn.trained import examined  # torch, as for all that runs words

        return examined(self.path, checks)


def subject(model: str | Path | ModelFile | CompiledModel) -> Subject:
    """What a model is.

    Raises:
        ModelFileError: If it cannot be read.
    """
    model = model.file if isinstance(model, CompiledModel) else model
    if isinstance(model, ModelFile):
        return Stated(model)
    if is_export(model):
        return Gpt2(model)
    return TrainedFile(model) if is_network(model) else Stated(modelfile.read(model))
