"""The settings of a comparison that a user may choose: networks, sizes, lengths."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

from krohn.algebra.errors import KrohnError
from krohn.instruments.compare.models.architecture import Positions
from krohn.machine_reading import MachineKeywords, MachineReading

SEEDS = 2


class SettingKeywords(MachineKeywords, total=False):
    """The keywords of `krohn.compare` that `Settings` has."""

    layers: int | None
    seeds: int
    length: int | None
    positions: str | None
    jobs: int
    device: str
    runs: str | Path | None
    seconds: float | None
    steps: int | None
    width: int | None
    provable: bool


@dataclass(frozen=True)
class Settings(MachineReading):
    """The settings of a comparison that a user may choose, and how a machine is read.

    Attributes:
        preset: Sizes and recipes, by name.
        layers: Of the Transformer that is trained; None for those of the preset. On
            a hidden Markov model, of the deepest one.
        seeds: How many networks of each kind are trained.
        length: Letters in the words that are trained on; None for those of the preset.
        positions: How the Transformer knows where a letter is; None for the preset's.
        jobs: How many networks are trained side by side.
        device: Where torch computes.
        runs: The folder of runs, which can be interrupted and go on; None keeps nothing.
        seconds: After so long no further training is begun; None for no limit.
        steps: Of training; None for those of the preset.
        width: Of the Transformer; None for that of the preset.
        provable: Whether the LSTM is a small one that is trained with noise on its hidden
            states, so that it can be proved.
        named: Options that name the machine to `krohn run`; None if none do.

    Raises:
        KrohnError: If a number makes no sense.
    """

    preset: str = "desk"
    layers: int | None = None
    seeds: int = SEEDS
    length: int | None = None
    positions: str | None = None
    jobs: int = 2
    device: str = "cpu"
    runs: str | Path | None = None
    seconds: float | None = None
    steps: int | None = None
    width: int | None = None
    provable: bool = False
    named: tuple[str, ...] | None = None

    @property
    def known_positions(self) -> Positions | None:
        """The positions; other names are refused where the network is made."""
        return cast("Positions | None", self.positions)

    def __post_init__(self) -> None:
        for name in ("layers", "seeds", "length", "jobs", "steps", "width"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise KrohnError(f"{name} must be at least 1, not {value}")
        if self.seconds is not None and not self.seconds >= 0:
            raise KrohnError(f"seconds must not be negative: {self.seconds}")


@contextmanager
def run_folder(runs: str | Path | None) -> Iterator[Path]:
    """The folder of the runs; one that goes afterwards if none is named."""
    if runs is not None:
        yield Path(runs)
        return
    with TemporaryDirectory(prefix="krohn-") as folder:
        yield Path(folder)
